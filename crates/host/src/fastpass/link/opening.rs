//! Sessions are opened here: the messages on a control channel, of the end that dials and of the one that answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};
use tokio::sync::watch;
use tracing::{info, warn};

use super::node::Handle;
use super::wire::Peer;
use crate::control::{dial, Channel, Failure, Patience};
use crate::datagram::seal::Secret;
use crate::datagram::session;
use crate::fastpass::settings::{Agreed, Deployment};
use crate::keys::Identity;

/// The purpose of channels on which sessions are opened.
pub const FASTPASS: &str = "fastpass";
/// How long after a dial that failed the next follows, at first and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How long an arbiter that is dialed may take to answer: one that has just started has not heard the first words.
const DIAL: Duration = Duration::from_secs(1);
/// How often a dial that fails in the same way is told.
const TELL_EVERY: u32 = 30;

/// The message of the end that dials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The parts of its deployment in which all must agree.
    pub agreed: Agreed,
    /// The arbiter or endpoint that dials, by its certificate.
    pub who: Peer,
    /// The address of its socket.
    pub at: SocketAddr,
    /// The number that its socket admits.
    pub endpoint: u32,
    /// Its number of the session.
    pub session: u32,
}

/// The answer of the other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It has opened the session.
    Opened {
        /// The port of its socket, at the address that was dialed.
        port: u16,
        /// The number that its socket admits.
        endpoint: u32,
        /// Its number of the session.
        session: u32,
    },
    /// It has not.
    Refused {
        /// The reason, in words.
        why: String,
    },
}

/// A process of a deployment: the file that it has read, its part there and its certificate.
#[derive(Debug)]
pub struct Party {
    /// The deployment.
    pub deployment: Deployment,
    /// The part of this process.
    pub who: Peer,
    identity: Mutex<Arc<Identity>>,
}

impl Party {
    /// A process that is `who`, and shows this certificate.
    pub fn new(deployment: Deployment, who: Peer, identity: Identity) -> Party {
        Party { deployment, who, identity: Mutex::new(Arc::new(identity)) }
    }

    /// The certificate that it shows.
    pub fn identity(&self) -> Arc<Identity> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shows another certificate from now on.
    pub fn set_identity(&self, identity: Identity) {
        *self.identity.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(identity);
    }

    /// The name of a peer; none if the deployment has no such peer.
    pub fn name_of(&self, peer: Peer) -> Option<&str> {
        match peer {
            Peer::Endpoint(address) => {
                self.deployment.endpoints.get(usize::from(address)).map(|place| place.name.as_str())
            }
            Peer::Arbiter(rank) => {
                self.deployment.arbiters.get(usize::from(rank)).map(|host| host.name.as_str())
            }
        }
    }

    /// The arbiters that it has to dial, with the addresses of their control channels: all but itself.
    pub fn to_dial(&self) -> Vec<(u8, SocketAddr)> {
        let all = (0..).zip(self.deployment.arbiters.iter().map(|host| host.control));
        match self.who {
            Peer::Endpoint(_) => all.collect(),
            Peer::Arbiter(own) => all.filter(|(rank, _)| *rank != own).collect(),
        }
    }

    /// Returns whether one that dials is who it says, by the name of its certificate, and has the same deployment; else why not.
    fn admits(&self, name: &str, opening: &Opening) -> Result<(), String> {
        let meant = self.name_of(opening.who).ok_or_else(|| format!("there is no {}", told(opening.who)))?;
        if name != meant {
            return Err(format!(
                "the {} is {meant}, and this certificate is that of {name}",
                told(opening.who)
            ));
        }
        let rightful = match (self.who, opening.who) {
            (Peer::Arbiter(_), Peer::Endpoint(_)) => true,
            (Peer::Arbiter(own), Peer::Arbiter(other)) => other != own,
            (Peer::Endpoint(_), _) => false,
        };
        if !rightful {
            return Err(format!("this is the {}, which nobody asks for this", told(self.who)));
        }
        self.deployment
            .agreed()
            .difference(&opening.agreed)
            .map_or(Ok(()), |difference| Err(format!("the deployment's file is another: {difference}")))
    }
}

fn told(peer: Peer) -> String {
    match peer {
        Peer::Endpoint(address) => format!("endpoint of address {address}"),
        Peer::Arbiter(rank) => format!("arbiter of rank {rank}"),
    }
}

/// Answers one that has dialed for a session. Returns why it was refused, if it was.
pub async fn answer<S: Send + 'static>(
    party: &Party,
    handle: &Handle<S>,
    channel: &mut Channel,
) -> Result<Option<String>, Failure> {
    let opening: Opening = tokio::time::timeout(Patience::default().answer, channel.receive())
        .await
        .map_err(|_| Failure::NoAnswer)??;
    if let Err(why) = party.admits(&channel.peer_name(), &opening) {
        channel.send(&Answer::Refused { why: why.clone() }).await?;
        return Ok(Some(why));
    }
    let number = handle.new_session();
    let peer = session::Peer {
        address: opening.at,
        endpoint: opening.endpoint,
        session: opening.session,
        dialed: false,
        secret: Secret(channel.secret(opening.session)),
        sealed: true,
    };
    handle.open(number, opening.who, peer);
    let (endpoint, port) = (handle.id(), handle.address().port());
    channel.send(&Answer::Opened { port, endpoint, session: number }).await?;
    Ok(None)
}

/// Keeps sessions with all arbiters that this process has to dial, until `leaving` says that it ends.
pub async fn keep_all<S: Send + 'static>(
    party: Arc<Party>,
    handle: Arc<Handle<S>>,
    leaving: watch::Receiver<bool>,
) {
    let Some(mut lost) = handle.take_lost() else { return };
    let mut tasks = tokio::task::JoinSet::new();
    let mut told = Vec::new();
    for (rank, at) in party.to_dial() {
        let (tell, hear) = unbounded_channel();
        told.push(tell);
        tasks.spawn(keep(party.clone(), handle.clone(), (rank, at), hear, leaving.clone()));
    }
    while let Some(number) = lost.recv().await {
        for tell in &told {
            // Who does not listen any more has ended.
            let _ = tell.send(number);
        }
    }
}

/// Keeps a session with one arbiter.
async fn keep<S: Send + 'static>(
    party: Arc<Party>,
    handle: Arc<Handle<S>>,
    (rank, at): (u8, SocketAddr),
    mut lost: UnboundedReceiver<u32>,
    mut leaving: watch::Receiver<bool>,
) {
    let (mut failures, mut before) = (0_u32, String::new());
    loop {
        let opened = tokio::select! {
            opened = open(&party, &handle, rank, at) => opened,
            _ = leaving.changed() => return,
        };
        match opened {
            Ok(number) => {
                info!(arbiter = rank, at = %at, "session is open");
                (failures, before) = (0, String::new());
                loop {
                    tokio::select! {
                        ended = lost.recv() => match ended {
                            Some(ended) if ended == number => break,
                            Some(_) => {}
                            None => return,
                        },
                        _ = leaving.changed() => return,
                    }
                }
                warn!(arbiter = rank, at = %at, "session is lost");
            }
            Err(why) => {
                if why != before || failures % TELL_EVERY == 0 {
                    warn!(arbiter = rank, at = %at, why, failures, "session cannot be opened");
                }
                before = why;
                let wait = (AGAIN[0] * 2_u32.saturating_pow(failures.min(16))).min(AGAIN[1]);
                failures = failures.saturating_add(1);
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    _ = leaving.changed() => return,
                }
            }
        }
    }
}

/// Opens a session with an arbiter; its number, or why there is none.
async fn open<S: Send + 'static>(
    party: &Party,
    handle: &Handle<S>,
    rank: u8,
    at: SocketAddr,
) -> Result<u32, String> {
    let said = |failure: Failure| failure.to_string();
    let name = party.name_of(Peer::Arbiter(rank));
    let patience = Patience { answer: DIAL, ..Patience::default() };
    let mut channel = dial(&party.identity(), at, name, FASTPASS, patience).await.map_err(said)?;
    let number = handle.new_session();
    let opening = Opening {
        agreed: party.deployment.agreed(),
        who: party.who,
        at: handle.address(),
        endpoint: handle.id(),
        session: number,
    };
    channel.send(&opening).await.map_err(said)?;
    let answer = tokio::time::timeout(patience.answer, channel.receive()).await;
    let secret = Secret(channel.secret(number));
    let answer: Answer = answer.map_err(|_| said(Failure::NoAnswer))?.map_err(said)?;
    tokio::spawn(channel.close());
    match answer {
        Answer::Opened { port, endpoint, session } => {
            let address = (at.ip(), port).into();
            let peer = session::Peer { address, endpoint, session, dialed: true, secret, sealed: true };
            handle.open(number, Peer::Arbiter(rank), peer);
            Ok(number)
        }
        Answer::Refused { why } => Err(format!("it refuses: {why}")),
    }
}
