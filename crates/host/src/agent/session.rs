//! An agent's conversation with its controller.

use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tracing::{info, warn};

use super::refusal::Refusal;
use super::run::Run;
use super::state::{Held, Phase, State};
use super::totals::Outcome;
use crate::control::{Channel, Failure};
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, ToAgent};

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why; none if the controller was done.
    pub why: Option<String>,
    /// How its run ended, if there was one.
    pub outcome: Option<Outcome>,
}

/// Does what the controller at the other end of a channel, called `who`, says, until the channel ends or the agent is `leaving`, which says
/// why. The run is gone then.
pub async fn converse(
    held: &Held,
    who: &str,
    channel: &mut Channel,
    leaving: watch::Receiver<Option<String>>,
) -> Ended {
    let (told, heard) = unbounded_channel();
    let mut session = Session { held, who, run: None, told, is_over: false, is_refused: false };
    let is_leaving = leaving.clone();
    let why = session.hold(channel, heard, leaving).await;
    let outcome = match (session.is_refused, session.is_over) {
        (true, _) => Some(Outcome::Refused),
        (_, true) => Some(Outcome::Completed),
        _ if session.run.is_none() => None,
        _ if is_leaving.borrow().is_some() => Some(Outcome::Left),
        _ => Some(Outcome::Lost),
    };
    Ended { why, outcome }
}

struct Session<'a> {
    held: &'a Held,
    who: &'a str,
    run: Option<Run>,
    told: UnboundedSender<FromAgent>,
    is_over: bool,
    is_refused: bool,
}

impl Session<'_> {
    /// Hears and does, until there is a reason to end, which it returns; none if the controller was done.
    async fn hold(
        &mut self,
        channel: &mut Channel,
        mut heard: UnboundedReceiver<FromAgent>,
        mut leaving: watch::Receiver<Option<String>>,
    ) -> Option<String> {
        if let Err(failure) = channel.send(&State::welcome()).await {
            return Some(failure.to_string());
        }
        let (sending, receiving) = channel.halves();
        loop {
            let said = tokio::select! {
                message = receiving.receive::<ToAgent>() => match message {
                    Ok(message) => self.handle(message),
                    Err(Failure::Closed) if self.is_over => return None,
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

    /// Does what it is told. Returns what there is to say at once; the rest comes in its time.
    fn handle(&mut self, message: ToAgent) -> Option<FromAgent> {
        let done = match message {
            ToAgent::Ping { number } => {
                return Some(FromAgent::Pong { number, monotonic_ns: monotonic_ns() });
            }
            ToAgent::Prepare(task) => {
                let state = self.held.state();
                let (sent, received) = (task.sending.len(), task.receiving.len());
                let (identity, told) = (state.identity(), self.told.clone());
                Run::prepare(*task, &identity, state.data(), told, state.totals()).map(|run| {
                    self.held.set_run(&run);
                    let (port, carrier) = (run.port(), run.carrier());
                    info!(
                        controller = self.who,
                        carrier,
                        port,
                        flows_sent = sent,
                        flows_received = received,
                        "run is prepared"
                    );
                    self.run = Some(run);
                    Some(FromAgent::Prepared { port })
                })
            }
            ToAgent::Connect { ends } => self.with_run(|run| run.connect(ends)),
            ToAgent::Start { at_ns } => {
                self.held.set_phase(Phase::Running);
                info!(controller = self.who, "run starts");
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
        done.unwrap_or_else(|refusal| {
            self.is_refused = true;
            warn!(controller = self.who, reason = refusal.to_string(), "run is refused");
            Some(refusal.into())
        })
    }

    fn with_run(
        &mut self,
        work: impl FnOnce(&mut Run) -> Result<(), Refusal>,
    ) -> Result<Option<FromAgent>, Refusal> {
        let run = self.run.as_mut().ok_or_else(|| Refusal::failure("there is no run to do that with"))?;
        work(run).map(|()| None)
    }
}
