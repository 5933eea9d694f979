//! The thread that schedules: it lets flows be connected and begun when their time comes, and ends the run at its end.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::flows::Flows;
use super::refusal::Refusal;
use super::schedule::Schedule;
use super::ticket::Happened;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::FromAgent;

/// The longest wait for something to happen, which ends by itself when the run does.
const LONG: Duration = Duration::from_secs(3600);

/// How far the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connections of flows that begin first are being opened.
    Connecting,
    /// All is ready to start.
    Ready,
    /// It starts at this instant of the monotonic clock, in nanoseconds.
    Starting(u64),
    /// It goes on.
    Running,
    /// It is over.
    Over,
}

/// The pace of a run's flows.
pub struct Pace {
    flows: Arc<Flows>,
    schedule: Schedule,
    begins: Vec<Option<oneshot::Sender<()>>>,
    until_ns: u64,
    phase: Phase,
}

impl Pace {
    /// Paces `flows` by a schedule of them, until `until_ns` nanoseconds after the start.
    pub fn new(flows: Arc<Flows>, schedule: Schedule, until_ns: u64) -> Pace {
        let begins = (0..flows.count()).map(|_| None).collect();
        Pace { flows, schedule, begins, until_ns, phase: Phase::Connecting }
    }

    /// Paces until the run is over. `open` begins to connect a flow, which begins when what it is given resolves; `over` is called when nothing
    /// more is sent.
    pub fn run(
        mut self,
        happened: &Receiver<Happened>,
        open: impl Fn(usize, oneshot::Receiver<()>),
        over: impl Fn(),
    ) {
        while self.phase != Phase::Over {
            self.go_on(&open);
            match happened.recv_timeout(self.wait()) {
                Ok(event) => {
                    self.handle(event);
                    while let Ok(event) = happened.try_recv() {
                        self.handle(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.phase = Phase::Over,
            }
        }
        self.flows.stop();
        over();
    }

    /// Does what is due.
    fn go_on(&mut self, open: &impl Fn(usize, oneshot::Receiver<()>)) {
        if let Phase::Starting(at) = self.phase {
            if monotonic_ns() >= at {
                self.phase = Phase::Running;
                self.flows.say(FromAgent::Started { at_ns: monotonic_ns() });
            }
        }
        let now = self.flows.now();
        if self.phase == Phase::Running {
            while let Some(index) = self.schedule.poll_begin(now).filter(|_| now < self.until_ns) {
                if let Some(begin) = self.begins[index].take() {
                    let _ = begin.send(());
                }
            }
            if now >= self.until_ns || self.schedule.is_over() {
                self.flows.stop();
                self.flows.say(FromAgent::Done);
                self.phase = Phase::Over;
                return;
            }
        }
        while let Some(index) = self.schedule.poll_open(now) {
            let (begin, begun) = oneshot::channel();
            self.begins[index] = Some(begin);
            open(index, begun);
        }
        if self.phase == Phase::Connecting && self.schedule.is_connected() {
            self.phase = Phase::Ready;
            self.flows.say(FromAgent::Connected);
        }
    }

    /// How long there is nothing to do.
    fn wait(&self) -> Duration {
        match self.phase {
            Phase::Starting(at) => Duration::from_nanos(at.saturating_sub(monotonic_ns())),
            Phase::Running => {
                let next = self.schedule.poll_timeout().map_or(self.until_ns, |due| due.min(self.until_ns));
                Duration::from_nanos(next.saturating_sub(self.flows.now()))
            }
            Phase::Over => Duration::ZERO,
            Phase::Connecting | Phase::Ready => LONG,
        }
    }

    fn handle(&mut self, event: Happened) {
        match event {
            Happened::Opened(index) => self.schedule.handle_open(index),
            Happened::Done(index) => self.schedule.handle_done(index, self.flows.now()),
            Happened::Failed(index, error) if self.phase == Phase::Connecting => {
                let id = self.flows.of(index).id;
                self.flows.say(Refusal::failure(format!("flow {id}: {error}")).into());
                self.phase = Phase::Over;
            }
            Happened::Failed(index, error) => self.fail(index, error),
            Happened::Start(at) => {
                self.flows.set_origin(at);
                self.phase = Phase::Starting(at);
            }
            Happened::Stop => self.phase = Phase::Over,
        }
    }

    fn fail(&mut self, index: usize, error: String) {
        let id = self.flows.of(index).id;
        self.flows.fail(index, error);
        for behind in self.schedule.handle_failed(index) {
            self.begins[behind] = None;
            self.flows.fail(behind, format!("flow {id} failed, which it comes after"));
        }
    }
}
