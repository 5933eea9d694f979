//! What an agent is doing, for those who ask, and whose it is.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::flows::Flows;
use super::limits;
use super::run::Run;
use super::totals::Totals;
use super::udp::Datagrams;
use crate::daemon::log::Sparing;
use crate::datagram::figures::Ignored;
use crate::keys::Identity;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, Status};

/// The names of an agent's states.
pub const STATES: [&str; 4] = ["idle", "preparing", "running", "stopping"];

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is none.
    Idle,
    /// Sockets and connections are being opened.
    Preparing,
    /// It goes on.
    Running,
    /// It is over, and its controller collects what it did.
    Stopping,
}

impl Phase {
    /// The name of an agent's state, one of [`STATES`].
    fn name(self) -> &'static str {
        match self {
            Phase::Idle => STATES[0],
            Phase::Preparing => STATES[1],
            Phase::Running => STATES[2],
            Phase::Stopping => STATES[3],
        }
    }
}

/// A run as others see it.
struct View {
    carrier: String,
    began_ns: u64,
    flows: Arc<Flows>,
    datagrams: Option<Arc<Datagrams>>,
    /// Datagrams that its endpoint had ignored and the kernel dropped when this was looked at last.
    ignored: (Ignored, u64),
}

struct Inner {
    identity: Arc<Identity>,
    data: Option<IpAddr>,
    /// Datagrams of runs that are over.
    ignored: (Ignored, u64),
    controller: Option<String>,
    phase: Phase,
    view: Option<View>,
    runs: u64,
}

/// What an agent is and does.
pub struct State {
    since_ns: u64,
    totals: Totals,
    refusals: Mutex<Sparing>,
    inner: Mutex<Inner>,
}

impl Inner {
    /// Datagrams that were ignored, and those that the kernel dropped, since the agent's start.
    fn ignored(&mut self) -> (Ignored, u64) {
        let before = self.ignored;
        let Some(view) = &mut self.view else { return before };
        if let Some(now) = view.datagrams.as_ref().and_then(|datagrams| datagrams.ignored()) {
            view.ignored = now;
        }
        (before.0.and(view.ignored.0), before.1 + view.ignored.1)
    }
}

impl State {
    /// An agent that does nothing.
    pub fn new(identity: Identity, data: Option<IpAddr>) -> Arc<State> {
        let inner = Inner {
            identity: Arc::new(identity),
            data,
            ignored: Default::default(),
            controller: None,
            phase: Phase::Idle,
            view: None,
            runs: 0,
        };
        Arc::new(State {
            since_ns: monotonic_ns(),
            totals: Totals::default(),
            refusals: Mutex::default(),
            inner: Mutex::new(inner),
        })
    }

    /// Its certificate.
    pub fn identity(&self) -> Arc<Identity> {
        self.inner().identity.clone()
    }

    /// The address of its data, where it does not follow the plan.
    pub fn data(&self) -> Option<IpAddr> {
        self.inner().data
    }

    /// Has another certificate and address of data from the next run on.
    pub fn replace(&self, identity: Identity, data: Option<IpAddr>) {
        let mut inner = self.inner();
        (inner.identity, inner.data) = (Arc::new(identity), data);
    }

    /// What it has counted.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Datagrams that were ignored, and those that the kernel dropped, since its start.
    pub fn ignored(&self) -> (Ignored, u64) {
        self.inner().ignored()
    }

    /// Counts a control channel that was refused. Returns whether the log may have it: then the number of those before it that the log
    /// does not have.
    pub fn refuse(&self, reason: &'static str) -> Option<u64> {
        self.totals.channel_refused(reason);
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).let_through(monotonic_ns())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the agent to a controller; an error names the one that has it.
    pub fn take(self: &Arc<State>, controller: &str) -> Result<Held, String> {
        let mut inner = self.inner();
        if let Some(other) = &inner.controller {
            return Err(other.clone());
        }
        inner.controller = Some(controller.into());
        drop(inner);
        Ok(Held(self.clone()))
    }

    /// The endpoint of the run's sealed datagrams, while there is one.
    pub fn datagrams(&self) -> Option<Arc<Datagrams>> {
        self.inner().view.as_ref()?.datagrams.clone()
    }

    /// What an agent says to a controller that has it.
    pub fn welcome() -> FromAgent {
        FromAgent::Welcome {
            version: env!("CARGO_PKG_VERSION").into(),
            kernel: limits::kernel(),
            congestion_control: limits::congestion_controls(),
        }
    }

    /// What it does, in a few words.
    pub fn line(&self) -> String {
        let inner = self.inner();
        match (&inner.view, &inner.controller) {
            (Some(view), Some(controller)) => {
                format!("{} {} for {controller}", inner.phase.name(), view.carrier)
            }
            (None, Some(controller)) => format!("{controller} has taken it"),
            _ => inner.phase.name().into(),
        }
    }

    /// What the agent does.
    pub fn status(&self) -> Status {
        let inner = self.inner();
        let (active, done) = inner.view.as_ref().map_or((0, 0), |view| view.flows.progress());
        Status {
            name: inner.identity.name().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            kernel: limits::kernel(),
            uptime_ns: monotonic_ns().saturating_sub(self.since_ns),
            state: inner.phase.name().into(),
            controller: inner.controller.clone(),
            carrier: inner.view.as_ref().map(|view| view.carrier.clone()),
            elapsed_ns: inner.view.as_ref().map(|view| monotonic_ns().saturating_sub(view.began_ns)),
            flows_active: active,
            flows_done: done,
            flows: inner.view.as_ref().map_or(0, |view| view.flows.count() as u64),
            runs: inner.runs,
            certificate: inner.identity.state().to_string(),
        }
    }
}

/// An agent that has a controller, until this is dropped.
pub struct Held(Arc<State>);

impl Held {
    /// The agent.
    pub fn state(&self) -> &Arc<State> {
        &self.0
    }

    /// A run is there.
    pub fn set_run(&self, run: &Run) {
        let mut inner = self.0.inner();
        inner.ignored = inner.ignored();
        inner.view = Some(View {
            carrier: run.carrier(),
            began_ns: monotonic_ns(),
            flows: run.flows().clone(),
            datagrams: run.datagrams(),
            ignored: Default::default(),
        });
        inner.phase = Phase::Preparing;
    }

    /// The run is at another phase.
    pub fn set_phase(&self, phase: Phase) {
        let mut inner = self.0.inner();
        inner.runs += u64::from(phase == Phase::Running);
        inner.phase = phase;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.ignored = inner.ignored();
        (inner.controller, inner.view, inner.phase) = (None, None, Phase::Idle);
    }
}
