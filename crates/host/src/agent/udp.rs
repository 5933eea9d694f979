//! Flows over sealed datagrams: one endpoint for all, and a session with each host that is sent to or sends.
//!
//! A source dials the agent of its destination on a control channel and tells it [`Session`]: the keys of the session are that
//! channel's secret. Then the channel is closed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, OnceCell};

use super::expected::{preamble, Expected};
use super::probe::Probe;
use super::refusal::Refusal;
use super::tcp::no_address;
use super::ticket::Ticket;
use crate::control::{dial, Channel, Failure, Patience};
use crate::datagram::figures::Ignored;
use crate::datagram::flow::{Carried, FlowId, Incoming, Outgoing};
use crate::datagram::layout::Layout;
use crate::datagram::machine::Event;
use crate::datagram::scheme::{AnyScheme, AnySender};
use crate::datagram::seal::Secret;
use crate::datagram::session::Peer;
use crate::datagram::{Endpoint, Settings};
use crate::keys::Identity;
use crate::testbed::message::{self, End, DATAGRAMS};

/// A session that a source asks the agent of its destination for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The run's token.
    pub token: [u8; 16],
    /// The address that the source's datagrams come from.
    pub from: SocketAddr,
    /// Its endpoint's number.
    pub endpoint: u32,
    /// Its number of the session.
    pub number: u32,
    /// The flows of the session by their numbers in the plan. In the session each has the number of its place here.
    pub flows: Vec<u64>,
}

/// The destination's answer to a source that asks for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It has opened the session.
    Opened {
        /// Its endpoint's number.
        endpoint: u32,
        /// Its number of the session.
        session: u32,
    },
    /// It does not know of the run, or of a flow.
    Refused,
}

/// How a flow that is sent ended; an error says what went wrong.
type Ended = Result<(), String>;
/// The tasks that wait for the end of their flows.
type Waiting = Arc<Mutex<BTreeMap<FlowId, oneshot::Sender<Ended>>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The endpoint of a run, and the flows that it expects.
pub struct Datagrams {
    endpoint: Endpoint,
    expected: Expected,
    mtu: u32,
    scheme: AnyScheme,
    waiting: Waiting,
}

impl Datagrams {
    /// An endpoint at an address of this host.
    pub fn bind(
        local: IpAddr,
        scheme: &AnyScheme,
        mtu: u32,
        expected: Expected,
    ) -> Result<Datagrams, Refusal> {
        let layout: Layout = Carried::endless(mtu).layout;
        layout.check().map_err(|what| Refusal::input(what, "lower mtu"))?;
        let waiting = Waiting::default();
        let told = waiting.clone();
        let settings = Settings { bind: SocketAddr::new(local, 0), measure: false };
        let endpoint = Endpoint::start(settings, move |event| {
            let (id, ended) = match event {
                Event::Sent(id, _) => (id, Ok(())),
                Event::Unreadable(id, error) => (id, Err(error.to_string())),
                Event::Received(..) | Event::Unkept(..) | Event::Fragmented(_) => return,
            };
            if let Some(waiting) = locked(&told).remove(&id) {
                // Who does not wait any more has ended the run.
                let _ = waiting.send(ended);
            }
        });
        let endpoint = endpoint.map_err(|error| no_address(local, &error))?;
        Ok(Datagrams { endpoint, expected, mtu, scheme: scheme.clone(), waiting })
    }

    /// The port where datagrams come.
    pub fn port(&self) -> u16 {
        self.endpoint.local_addr().port()
    }

    /// Datagrams that the kernel dropped at the socket.
    pub fn drops(&self) -> Option<u64> {
        self.endpoint.look().map(|seen| u64::from(seen.socket_drops))
    }

    /// Datagrams that were ignored, and those that the kernel dropped at the socket; none if the endpoint has ended.
    pub fn ignored(&self) -> Option<(Ignored, u64)> {
        self.endpoint.look().map(|seen| (seen.counted.ignored, u64::from(seen.socket_drops)))
    }

    fn carried(&self, bytes: Option<u64>) -> Carried {
        bytes.map_or_else(|| Carried::endless(self.mtu), |bytes| Carried::whole(bytes, self.mtu))
    }

    /// Opens the session that a source asks for at the other end of a channel.
    pub async fn answer(&self, channel: &mut Channel) -> Result<(), Failure> {
        let asked: Session = channel.receive().await?;
        let claimed: Option<Vec<u64>> =
            asked.flows.iter().map(|&id| self.expected.claim(&preamble(&asked.token, id))).collect();
        let Some(claimed) = claimed else { return channel.send(&Answer::Refused).await };
        let number = self.endpoint.new_session();
        self.endpoint.open(
            number,
            Peer {
                address: asked.from,
                endpoint: asked.endpoint,
                session: asked.number,
                dialed: false,
                secret: Secret(channel.secret(asked.number)),
                sealed: true,
            },
        );
        for (place, bytes) in (0..).zip(claimed) {
            let carried = self.carried(Some(bytes).filter(|&bytes| bytes != u64::MAX));
            let id = FlowId { session: number, flow: place };
            let receiver = self.scheme.receiver();
            self.endpoint.expect(Incoming { id, carried, receiver, keep: None });
        }
        // Whoever has looked knows that the commands before were done.
        self.endpoint.look();
        channel.send(&Answer::Opened { endpoint: self.endpoint.id(), session: number }).await
    }
}

/// A host that is sent to.
struct Destination {
    end: End,
    /// The flows that go there, by their numbers in the plan: each one's number in the session.
    flows: BTreeMap<u64, u32>,
    session: OnceCell<u32>,
}

/// The sending end of flows over sealed datagrams.
pub struct Source {
    datagrams: Arc<Datagrams>,
    identity: Arc<Identity>,
    token: [u8; 16],
    sender: AnySender,
    destinations: BTreeMap<u32, Destination>,
}

impl Source {
    /// Sends `flows` to `ends`, by the index of each host in the plan.
    pub fn new(
        datagrams: Arc<Datagrams>,
        identity: Arc<Identity>,
        token: [u8; 16],
        ends: Vec<End>,
        flows: &[message::Outgoing],
    ) -> Source {
        let sender = datagrams.scheme.sender(datagrams.mtu);
        let destination = |end: End| {
            let there: BTreeSet<u64> =
                flows.iter().filter(|flow| flow.to == end.host).map(|flow| flow.id).collect();
            let flows = there.into_iter().zip(0..).collect();
            (end.host, Destination { end, flows, session: OnceCell::new() })
        };
        let destinations = ends.into_iter().map(destination).collect();
        Source { datagrams, identity, token, sender, destinations }
    }

    /// Sends a flow. Returns whether it is complete; an error says what went wrong.
    pub async fn send(&self, ticket: &mut Ticket) -> Result<bool, String> {
        let (to, id, bytes) = (ticket.flow().to, ticket.flow().id, ticket.flow().bytes);
        let Some(destination) = self.destinations.get(&to) else {
            return Err("its destination is unknown".into());
        };
        let session = *destination.session.get_or_try_init(|| self.open(destination)).await?;
        let id = FlowId { session, flow: destination.flows.get(&id).copied().unwrap_or_default() };
        let shown: Arc<Mutex<_>> = Arc::default();
        if !ticket.wait(|| Probe::Datagrams(shown.clone())).await {
            return Ok(false);
        }
        let (done, ended) = oneshot::channel();
        locked(&self.datagrams.waiting).insert(id, done);
        self.datagrams.endpoint.send(Outgoing {
            id,
            carried: self.datagrams.carried(bytes),
            outstanding: 1,
            content: None,
            sender: self.sender.clone(),
            shown,
        });
        match ended.await {
            Ok(ended) => ended.map(|()| true),
            Err(_) => Err("the socket failed".into()),
        }
    }

    /// Opens the session with a destination.
    async fn open(&self, destination: &Destination) -> Result<u32, String> {
        let End { name, address, control, .. } = &destination.end;
        let told = |failure: Failure| format!("{name} at {control}: {failure}");
        let patience = Patience::default();
        let mut channel =
            dial(&self.identity, *control, Some(name), DATAGRAMS, patience).await.map_err(told)?;
        let endpoint = &self.datagrams.endpoint;
        let number = endpoint.new_session();
        let asked = Session {
            token: self.token,
            from: endpoint.local_addr(),
            endpoint: endpoint.id(),
            number,
            flows: destination.flows.keys().copied().collect(),
        };
        channel.send(&asked).await.map_err(told)?;
        let answer = tokio::time::timeout(patience.answer, channel.receive::<Answer>()).await;
        let Answer::Opened { endpoint: theirs, session } =
            answer.map_err(|_| told(Failure::NoAnswer))?.map_err(told)?
        else {
            return Err(format!("{name} at {control} does not expect these flows"));
        };
        let secret = Secret(channel.secret(number));
        let peer = Peer { address: *address, endpoint: theirs, session, dialed: true, secret, sealed: true };
        endpoint.open(number, peer);
        tokio::spawn(channel.close());
        Ok(number)
    }
}
