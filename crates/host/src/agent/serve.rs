//! The agent's main loop: who dials, and what for.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::limits;
use super::session;
use super::state::State;
use super::udp::Answer;
use crate::control::{Caller, Channel, Listener, Patience};
use crate::daemon::output::{write_error, Problem};
use crate::daemon::stops;
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
}

/// Serves controllers until a signal comes, and returns the exit status. `listening` is told the address once there is one.
pub async fn serve(
    settings: &Settings,
    identity: Identity,
    listening: impl FnOnce(SocketAddr) -> Result<(), Problem>,
) -> Result<u8, Problem> {
    limits::raise_open_files();
    let listener = Listener::bind(&identity, settings.listen, Patience::default())?;
    let local = listener.local_address().map_err(|error| Problem::bare(format!("the socket: {error}")))?;
    listening(local)?;
    let state = State::new(identity, settings.data);
    let (leave, leaving) = watch::channel(None);
    let mut sessions = JoinSet::new();
    let mut look = tokio::time::interval(LOOK);
    let status = loop {
        tokio::select! {
            caller = listener.accept() => match caller {
                Some(caller) => _ = sessions.spawn(answer(state.clone(), caller, leaving.clone())),
                None => return Err(Problem::bare("the socket of the control channel is closed")),
            },
            Some(_) = sessions.join_next() => {}
            _ = look.tick() => if let Some(status) = stops::status() {
                break status;
            },
        }
    };
    let _ = leave.send(Some("its agent was told to end".to_string()));
    let _ = tokio::time::timeout(FAREWELL, async { while sessions.join_next().await.is_some() {} }).await;
    Ok(status)
}

/// Answers one that dials.
async fn answer(state: Arc<State>, caller: Caller, leaving: watch::Receiver<Option<String>>) {
    let address = caller.address();
    match caller.answer().await {
        Ok((channel, hello)) => match hello.purpose.as_str() {
            TESTBED => control(&state, channel, leaving).await,
            STATUS => tell(&state, channel).await,
            DATAGRAMS => open_session(&state, channel).await,
            other => {
                log(&format!("warning: {address} wants {other:?}, which an agent does not do"));
                channel.close().await;
            }
        },
        Err(failure) => log(&format!("warning: {address} dialed: {failure}")),
    }
}

async fn control(state: &Arc<State>, mut channel: Channel, leaving: watch::Receiver<Option<String>>) {
    let who = format!("{} ({})", channel.peer_name(), channel.remote_address());
    match state.take(&who) {
        Ok(held) => {
            log(&format!("{who} controls this agent"));
            let ended = session::converse(&held, &mut channel, leaving).await;
            drop(held);
            let why = ended.map_or("it was done".to_string(), |why| format!("{why}; its run is dropped"));
            log(&format!("{who} does so no longer: {why}"));
        }
        Err(with) => {
            // Who does not hear it hears the channel's end.
            let _ = channel.send(&FromAgent::Busy { with }).await;
        }
    }
    channel.close().await;
}

/// Opens a session of sealed datagrams, if there is a run that has them.
async fn open_session(state: &State, mut channel: Channel) {
    let answered = match state.datagrams() {
        Some(datagrams) => datagrams.answer(&mut channel).await,
        None => channel.send(&Answer::Refused).await,
    };
    if let Err(failure) = answered {
        log(&format!("warning: {} dialed for datagrams: {failure}", channel.peer_name()));
    }
    channel.close().await;
}

async fn tell(state: &State, mut channel: Channel) {
    // Who does not hear it may ask again.
    let _ = channel.send(&state.status()).await;
    channel.close().await;
}

fn log(line: &str) {
    write_error(&format!("{line}\n"));
}
