//! What a flow's task has in hand, and what it tells the thread that schedules.

use std::sync::mpsc::Sender;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::flows::Flows;
use super::probe::Probe;
use crate::testbed::message::Outgoing;

/// An event for the thread that schedules.
#[derive(Debug)]
pub enum Happened {
    /// A flow's connection is open.
    Opened(usize),
    /// A flow has failed.
    Failed(usize, String),
    /// A flow is complete.
    Done(usize),
    /// The run starts at this instant of the monotonic clock, in nanoseconds.
    Start(u64),
    /// The run is over.
    Stop,
}

/// The means of a flow's task to tell what becomes of its flow.
pub struct Ticket {
    /// The flow's index.
    pub index: usize,
    /// The flows that it is one of.
    pub flows: Arc<Flows>,
    /// Whom it tells what happens.
    pub happened: Sender<Happened>,
    /// Resolves when the flow begins; an error if it never does.
    pub begin: oneshot::Receiver<()>,
}

impl Ticket {
    /// The flow.
    pub fn flow(&self) -> &Outgoing {
        self.flows.of(self.index)
    }

    /// Tells that the connection is open, and waits for the flow's time. Returns false if it never begins.
    pub async fn wait(&mut self, probe: impl FnOnce() -> Probe) -> bool {
        // Who is told is gone only when the run is.
        let _ = self.happened.send(Happened::Opened(self.index));
        (&mut self.begin).await.is_ok() && self.flows.begin(self.index, probe())
    }
}
