//! The main loop of an arbiter's or an endpoint's process: control channels, metrics, signals, and the service manager.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::link::node::Handle;
use super::link::opening::{answer, keep_all, Party, FASTPASS};
use super::status::Shown;
use crate::control::{Caller, Listener, Patience};
use crate::daemon::log::Sparing;
use crate::daemon::output::Problem;
use crate::daemon::service::Service;
use crate::daemon::{http, log, stops};
use crate::keys::Identity;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::STATUS;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How many looks there are for each line that the service manager is told.
const LOOKS_A_LINE: u32 = 20;

/// The sockets of a process' main loop, open.
pub struct Doors {
    listener: Listener,
    metrics: Option<TcpListener>,
}

impl Doors {
    /// Opens the control channel's socket, and that of the metrics if an address is given. Must be called within a runtime.
    pub async fn open(
        identity: &Identity,
        control: SocketAddr,
        metrics: Option<SocketAddr>,
    ) -> Result<Doors, Problem> {
        let listener = Listener::bind(identity, control, Patience::default())?;
        let metrics = http::bind(metrics).await?;
        Ok(Doors { listener, metrics })
    }

    /// The address of the metrics, where there are any.
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|metrics| metrics.local_addr().ok())
    }

    /// Serves until a signal comes, and returns the exit status. `reload` reads the certificate again.
    pub async fn serve<S: Shown + Send + 'static>(
        self,
        party: Arc<Party>,
        handle: Arc<Handle<S>>,
        service: &mut Service,
        mut reload: impl FnMut() -> Result<Identity, Problem>,
    ) -> Result<u8, Problem> {
        let Doors { listener, metrics } = self;
        if let Some(metrics) = metrics {
            let (party, handle) = (party.clone(), handle.clone());
            tokio::spawn(http::serve(metrics, move || {
                handle.look().map_or_else(String::new, |seen| seen.page(&party))
            }));
        }
        let (leave, leaving) = watch::channel(false);
        let keeping = tokio::spawn(keep_all(party.clone(), handle.clone(), leaving));
        let mut callers = JoinSet::new();
        let refusals = Arc::new(Mutex::new(Sparing::default()));
        let (mut look, mut looks) = (tokio::time::interval(LOOK), 0_u32);
        service.ready();
        let status = loop {
            tokio::select! {
                caller = listener.accept() => match caller {
                    Some(caller) => _ = {
                        let (party, handle, refusals) = (party.clone(), handle.clone(), refusals.clone());
                        callers.spawn(serve_caller(party, handle, caller, refusals))
                    },
                    None => return Err(Problem::bare("the socket of the control channel is closed")),
                },
                Some(_) = callers.join_next() => {}
                _ = look.tick() => {
                    if let Some(status) = stops::status() {
                        break status;
                    }
                    if handle.has_ended() {
                        let why = handle.end().err().map_or("its thread has ended".into(), |error| error.to_string());
                        return Err(Problem::bare(format!("it cannot go on: {why}")));
                    }
                    if stops::take_reload() {
                        service.reloading();
                        take_over(&party, &listener, reload());
                        service.ready();
                    }
                    service.alive();
                    looks += 1;
                    if looks % LOOKS_A_LINE == 0 && service.is_there() {
                        handle.look().iter().for_each(|seen| service.status(&seen.line()));
                    }
                }
            }
        };
        info!(signal = status.saturating_sub(stops::STATUS), "process ends");
        service.stopping();
        let _ = leave.send(true);
        keeping.abort();
        handle.end().map_err(|error| Problem::bare(format!("the socket of FCP: {error}")))?;
        Ok(status)
    }
}

/// Shows the certificate that was read again from here on, if it was.
fn take_over(party: &Party, listener: &Listener, read: Result<Identity, Problem>) {
    let done = read.and_then(|identity| {
        listener.set_identity(&identity)?;
        info!(certificate = identity.name(), state = %identity.state(), "certificate was read again");
        party.set_identity(identity);
        Ok(())
    });
    if let Err(problem) = done {
        log::problem("reload failed, everything stays as it was", &problem);
    }
}

/// Answers one that dials.
async fn serve_caller<S: Shown + Send + 'static>(
    party: Arc<Party>,
    handle: Arc<Handle<S>>,
    caller: Caller,
    refusals: Arc<Mutex<Sparing>>,
) {
    let address = caller.address();
    // Strangers who dial do not fill a disk.
    let refused = |peer: &str, why: &str| {
        let let_through = refusals.lock().unwrap_or_else(PoisonError::into_inner).let_through(monotonic_ns());
        if let Some(left_off) = let_through {
            warn!(peer, at = %address, why, left_off, "session is refused");
        }
    };
    let (mut channel, hello) = match caller.answer().await {
        Ok(answered) => answered,
        Err(failure) => return refused("nobody", &failure.to_string()),
    };
    let peer = channel.peer_name();
    match hello.purpose.as_str() {
        FASTPASS => match answer(&party, &handle, &mut channel).await {
            Ok(None) => info!(peer, at = %address, "session is open"),
            Ok(Some(why)) => refused(&peer, &why),
            Err(failure) => refused(&peer, &failure.to_string()),
        },
        STATUS => {
            if let Some(seen) = handle.look() {
                // Who does not hear it has gone.
                let _ = channel.send(&seen.status(&party)).await;
            }
        }
        purpose => refused(&peer, &format!("it wants {purpose:?}, which is not done here")),
    }
    channel.close().await;
}
