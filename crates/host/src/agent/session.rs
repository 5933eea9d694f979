//! An agent's conversation with its controller.

use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tracing::{info, warn};

use super::fastpass::Member;
use super::refusal::Refusal;
use super::run::Run;
use super::state::{Held, Phase, State};
use super::totals::Outcome;
use crate::control::{Channel, Failure};
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, Task, ToAgent};

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
    let mut session = Session { held, who, run: None, member: None, told, is_over: false, is_refused: false };
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
    /// Dropped after the run, whose traffic it carries.
    member: Option<Member>,
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
                    Ok(message) => self.handle(message).await,
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
    async fn handle(&mut self, message: ToAgent) -> Option<FromAgent> {
        let done = match message {
            ToAgent::Ping { number } => {
                return Some(FromAgent::Pong { number, monotonic_ns: monotonic_ns() });
            }
            ToAgent::Prepare(task) => self.prepare(*task).await.map(Some),
            ToAgent::Connect { ends } => {
                if let Some(member) = &mut self.member {
                    member.acquaint(&self.held.state().identity()).await;
                }
                self.with_run(|run| run.connect(ends))
            }
            ToAgent::Start { at_ns } => {
                self.held.set_phase(Phase::Running);
                info!(controller = self.who, "run starts");
                self.with_run(|run| run.start(at_ns))
            }
            ToAgent::Stop => self.stop().await.map(|()| None),
        };
        done.unwrap_or_else(|refusal| {
            self.is_refused = true;
            warn!(controller = self.who, reason = refusal.to_string(), "run is refused");
            Some(refusal.into())
        })
    }

    /// Prepares a run, as a member of its Fastpass deployment where there is one.
    async fn prepare(&mut self, task: Task) -> Result<FromAgent, Refusal> {
        let state = self.held.state();
        let identity = state.identity();
        let mut data = state.data();
        if let Some(file) = &task.fastpass {
            let is_idle = task.sending.is_empty() && task.receiving.is_empty();
            let member = Member::start(file, &identity, is_idle).await?;
            // What goes to an inner address comes from one.
            data = data.filter(|_| !member.has_inner_addresses());
            self.member = Some(member);
        }
        let (sent, received) = (task.sending.len(), task.receiving.len());
        let run = Run::prepare(task, &identity, data, self.told.clone(), state.totals())?;
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
        Ok(FromAgent::Prepared { port })
    }

    /// Ends the run, and says what it was and what it took.
    async fn stop(&mut self) -> Result<(), Refusal> {
        self.held.set_phase(Phase::Stopping);
        self.is_over = true;
        self.with_run(|run| {
            run.stop();
            Ok(())
        })?;
        if let Some(member) = &mut self.member {
            let said = member.status(&self.held.state().identity()).await;
            let _ = self.told.send(said);
        }
        let told = self.told.clone();
        // Behind what the flows told.
        self.with_run(|run| {
            let _ = told.send(run.spent());
            Ok(())
        })?;
        Ok(())
    }

    fn with_run(
        &mut self,
        work: impl FnOnce(&mut Run) -> Result<(), Refusal>,
    ) -> Result<Option<FromAgent>, Refusal> {
        let run = self.run.as_mut().ok_or_else(|| Refusal::failure("there is no run to do that with"))?;
        work(run).map(|()| None)
    }
}
