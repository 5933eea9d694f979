//! What an agent is doing, for those who ask, and whose it is.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::flows::Flows;
use super::limits;
use super::run::Run;
use super::udp::Datagrams;
use crate::keys::Identity;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, Status};

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

/// A run as others see it.
struct View {
    carrier: String,
    began_ns: u64,
    flows: Arc<Flows>,
    datagrams: Option<Arc<Datagrams>>,
}

struct Inner {
    controller: Option<String>,
    phase: Phase,
    view: Option<View>,
    runs: u64,
}

/// What an agent is and does.
pub struct State {
    /// Its certificate.
    pub identity: Arc<Identity>,
    /// The address of its data, where it does not follow the plan.
    pub data: Option<IpAddr>,
    since_ns: u64,
    inner: Mutex<Inner>,
}

impl State {
    /// An agent that does nothing.
    pub fn new(identity: Identity, data: Option<IpAddr>) -> Arc<State> {
        let inner = Inner { controller: None, phase: Phase::Idle, view: None, runs: 0 };
        let (identity, since_ns) = (Arc::new(identity), monotonic_ns());
        Arc::new(State { identity, data, since_ns, inner: Mutex::new(inner) })
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

    /// What it does.
    pub fn status(&self) -> Status {
        let inner = self.inner();
        let (active, done) = inner.view.as_ref().map_or((0, 0), |view| view.flows.progress());
        let state = match inner.phase {
            Phase::Idle => "idle",
            Phase::Preparing => "preparing",
            Phase::Running => "running",
            Phase::Stopping => "stopping",
        };
        Status {
            name: self.identity.name().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            kernel: limits::kernel(),
            uptime_ns: monotonic_ns().saturating_sub(self.since_ns),
            state: state.into(),
            controller: inner.controller.clone(),
            carrier: inner.view.as_ref().map(|view| view.carrier.clone()),
            elapsed_ns: inner.view.as_ref().map(|view| monotonic_ns().saturating_sub(view.began_ns)),
            flows_active: active,
            flows_done: done,
            flows: inner.view.as_ref().map_or(0, |view| view.flows.count() as u64),
            runs: inner.runs,
            certificate: self.identity.state().to_string(),
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
        inner.view = Some(View {
            carrier: run.carrier(),
            began_ns: monotonic_ns(),
            flows: run.flows().clone(),
            datagrams: run.datagrams(),
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
        (inner.controller, inner.view, inner.phase) = (None, None, Phase::Idle);
    }
}
