//! An agent's conversation with its controller.

use tokio::sync::mpsc::{unbounded_channel, UnboundedSender};
use tokio::sync::watch;

use super::refusal::Refusal;
use super::run::Run;
use super::state::{Held, Phase, State};
use crate::control::{Channel, Failure};
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, ToAgent};

/// Does what the controller at the other end of a channel says, until the channel ends or the agent is `leaving`, which says why. Returns why
/// it ended; `None` if the controller was done. The run is gone then.
pub async fn converse(
    held: &Held,
    channel: &mut Channel,
    mut leaving: watch::Receiver<Option<String>>,
) -> Option<String> {
    let (told, mut heard) = unbounded_channel();
    let mut session = Session { held, run: None, told, is_over: false };
    if let Err(failure) = channel.send(&State::welcome()).await {
        return Some(failure.to_string());
    }
    let (sending, receiving) = channel.halves();
    loop {
        let said = tokio::select! {
            message = receiving.receive::<ToAgent>() => match message {
                Ok(message) => session.handle(message),
                Err(Failure::Closed) if session.is_over => return None,
                Err(failure) => return Some(failure.to_string()),
            },
            Some(message) = heard.recv() => Some(message),
            changed = leaving.changed() => {
                let reason = leaving.borrow_and_update().clone().filter(|_| changed.is_ok());
                let reason = reason.unwrap_or_default();
                // Who does not hear it hears the channel's end.
                let _ = sending.send(&FromAgent::Leaving { reason: reason.clone() }).await;
                return Some(reason);
            }
        };
        if let Some(message) = said {
            if let Err(failure) = sending.send(&message).await {
                return Some(failure.to_string());
            }
        }
    }
}

struct Session<'a> {
    held: &'a Held,
    run: Option<Run>,
    told: UnboundedSender<FromAgent>,
    is_over: bool,
}

impl Session<'_> {
    /// Does what it is told. Returns what there is to say at once; the rest comes in its time.
    fn handle(&mut self, message: ToAgent) -> Option<FromAgent> {
        let done = match message {
            ToAgent::Ping { number } => {
                return Some(FromAgent::Pong { number, monotonic_ns: monotonic_ns() });
            }
            ToAgent::Prepare(task) => {
                let state = self.held.state();
                Run::prepare(*task, &state.identity, state.data, self.told.clone()).map(|run| {
                    self.held.set_run(&run);
                    let port = run.port();
                    self.run = Some(run);
                    Some(FromAgent::Prepared { port })
                })
            }
            ToAgent::Connect { ends } => self.with_run(|run| run.connect(ends)),
            ToAgent::Start { at_ns } => {
                self.held.set_phase(Phase::Running);
                self.with_run(|run| run.start(at_ns))
            }
            ToAgent::Stop => {
                self.held.set_phase(Phase::Stopping);
                self.is_over = true;
                let told = self.told.clone();
                self.with_run(|run| {
                    run.stop();
                    // Behind what the flows told.
                    let _ = told.send(run.spent());
                    Ok(())
                })
            }
        };
        done.unwrap_or_else(|refusal| Some(refusal.into()))
    }

    fn with_run(
        &mut self,
        work: impl FnOnce(&mut Run) -> Result<(), Refusal>,
    ) -> Result<Option<FromAgent>, Refusal> {
        let run = self.run.as_mut().ok_or_else(|| Refusal::failure("there is no run to do that with"))?;
        work(run).map(|()| None)
    }
}
