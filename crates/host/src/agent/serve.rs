//! The agent's main loop: who dials, and what for; signals; and what the service manager hears.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::limits;
use super::metrics;
use super::session;
use super::state::State;
use super::udp::Answer;
use crate::control::{Caller, Channel, Failure, Listener, Patience};
use crate::daemon::output::Problem;
use crate::daemon::service::Service;
use crate::daemon::{http, log, stops};
use crate::keys::Identity;
use crate::testbed::message::{FromAgent, DATAGRAMS, STATUS, TESTBED};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a controller may take to hear that the agent leaves.
const FAREWELL: Duration = Duration::from_secs(1);

/// How an agent is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of its control channel.
    pub listen: SocketAddr,
    /// The address that data comes to and leaves from; none for what the plan has.
    pub data: Option<IpAddr>,
    /// The address where Prometheus reads its metrics; none for nowhere.
    pub metrics: Option<SocketAddr>,
}

/// What an agent has after a reload.
#[derive(Debug)]
pub struct Reloaded {
    /// Its certificate.
    pub identity: Identity,
    /// The address that data comes to and leaves from; none for what the plan has.
    pub data: Option<IpAddr>,
}

/// An agent whose sockets are open.
pub struct Agent {
    listener: Listener,
    metrics: Option<TcpListener>,
    state: Arc<State>,
}

impl Agent {
    /// Opens the sockets of an agent. Must be called within a runtime.
    pub async fn open(settings: &Settings, identity: Identity) -> Result<Agent, Problem> {
        limits::raise_open_files();
        let listener = Listener::bind(&identity, settings.listen, Patience::default())?;
        let metrics = http::bind(settings.metrics).await?;
        Ok(Agent { listener, metrics, state: State::new(identity, settings.data) })
    }

    /// The addresses of the control channel and of the metrics, where there are any.
    pub fn addresses(&self) -> Result<(SocketAddr, Option<SocketAddr>), Problem> {
        let metrics = self.metrics.as_ref().map(TcpListener::local_addr).transpose();
        let found = self.listener.local_address().and_then(|control| Ok((control, metrics?)));
        found.map_err(|error| Problem::bare(format!("the socket: {error}")))
    }

    /// Serves controllers until a signal comes, and returns the exit status. `service` hears of it; at SIGHUP, `reload` is asked for what
    /// there is from then on, and its problems leave everything as it is.
    pub async fn serve(
        self,
        service: &mut Service,
        mut reload: impl FnMut() -> Result<Reloaded, Vec<Problem>>,
    ) -> Result<u8, Problem> {
        let Agent { listener, metrics, state } = self;
        if let Some(metrics) = metrics {
            let state = state.clone();
            tokio::spawn(http::serve(metrics, move || metrics::page(&state)));
        }
        let (leave, leaving) = watch::channel(None);
        let mut sessions = JoinSet::new();
        let mut look = tokio::time::interval(LOOK);
        service.ready();
        let status = loop {
            tokio::select! {
                caller = listener.accept() => match caller {
                    Some(caller) => _ = sessions.spawn(answer(state.clone(), caller, leaving.clone())),
                    None => return Err(Problem::bare("the socket of the control channel is closed")),
                },
                Some(_) = sessions.join_next() => {}
                _ = look.tick() => {
                    if let Some(status) = stops::status() {
                        break status;
                    }
                    if stops::take_reload() {
                        service.reloading();
                        take_over(&listener, &state, reload());
                        service.ready();
                    }
                    service.alive();
                    service.status(&state.line());
                }
            }
        };
        info!(signal = status.saturating_sub(stops::STATUS), "agent ends");
        service.stopping();
        let _ = leave.send(Some("its agent was told to end".to_string()));
        let _ = tokio::time::timeout(FAREWELL, async { while sessions.join_next().await.is_some() {} }).await;
        Ok(status)
    }
}

/// Has what was read at a reload from here on, if all of it is right.
fn take_over(listener: &Listener, state: &State, reloaded: Result<Reloaded, Vec<Problem>>) {
    let done = reloaded.and_then(|Reloaded { identity, data }| {
        listener.set_identity(&identity).map_err(|problem| vec![problem])?;
        info!(certificate = identity.name(), state = %identity.state(), "settings and certificates were read again");
        state.replace(identity, data);
        Ok(())
    });
    state.totals().reloaded(done.is_ok());
    for problem in done.err().into_iter().flatten() {
        log::problem("reload failed, everything stays as it was", &problem);
    }
}

/// Answers one that dials.
async fn answer(state: Arc<State>, caller: Caller, leaving: watch::Receiver<Option<String>>) {
    let address = caller.address();
    match caller.answer().await {
        Ok((channel, hello)) => match hello.purpose.as_str() {
            TESTBED => control(&state, channel, leaving).await,
            STATUS => tell(&state, channel).await,
            DATAGRAMS => open_session(&state, channel).await,
            _ => {
                let wanted = format!("it wants {:?}, which an agent does not do", hello.purpose);
                refused(&state, &format!("{} ({address})", channel.peer_name()), "purpose", &wanted);
                channel.close().await;
            }
        },
        Err(failure) => failed(&state, &address.to_string(), &failure),
    }
}

/// Counts a control channel that failed before it did anything.
fn failed(state: &State, who: &str, failure: &Failure) {
    refused(state, who, failure.reason(), &failure.to_string());
}

fn refused(state: &State, who: &str, reason: &'static str, why: &str) {
    if let Some(left_off) = state.refuse(reason) {
        warn!(peer = who, reason, why, left_off, "control channel is refused");
    }
}

async fn control(state: &Arc<State>, mut channel: Channel, leaving: watch::Receiver<Option<String>>) {
    let who = format!("{} ({})", channel.peer_name(), channel.remote_address());
    match state.take(&who) {
        Ok(held) => {
            state.totals().channel_opened(TESTBED);
            info!(controller = who, "controller takes this agent");
            let ended = session::converse(&held, &who, &mut channel, leaving).await;
            drop(held);
            if let Some(outcome) = ended.outcome {
                state.totals().run_ended(outcome);
            }
            let outcome = ended.outcome.map_or("none", super::totals::Outcome::name);
            let why = ended.why.unwrap_or_else(|| "it was done".into());
            info!(controller = who, run = outcome, why, "controller leaves this agent");
        }
        Err(with) => {
            refused(state, &who, "busy", &format!("this agent is {with}'s"));
            // Who does not hear it hears the channel's end.
            let _ = channel.send(&FromAgent::Busy { with }).await;
        }
    }
    channel.close().await;
}

/// Opens a session of sealed datagrams, if there is a run that has them.
async fn open_session(state: &State, mut channel: Channel) {
    state.totals().channel_opened(DATAGRAMS);
    let answered = match state.datagrams() {
        Some(datagrams) => datagrams.answer(&mut channel).await,
        None => channel.send(&Answer::Refused).await,
    };
    if let Err(failure) = answered {
        failed(state, &channel.peer_name(), &failure);
    }
    channel.close().await;
}

async fn tell(state: &State, mut channel: Channel) {
    state.totals().channel_opened(STATUS);
    // Who does not hear it may ask again.
    let _ = channel.send(&state.status()).await;
    channel.close().await;
}
