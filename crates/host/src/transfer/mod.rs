//! One transfer from one process to another: a file, or a stream of operations, over [`datagram`](crate::datagram) endpoints that
//! two peers tell each other of on a [control channel](crate::control).
//!
//! | sender | receiver |
//! |--------|----------|
//! | [`Message::Offer`]: what comes, and where the sender's endpoint is | |
//! | | [`Message::Accept`]: where the receiver's is; or [`Message::Close`] |
//! | all flows, acknowledged | |
//! | [`Message::Finish`]: packets sent | |
//! | | [`Message::Finished`]: all of it is kept; or [`Message::Close`] |
//!
//! Either says [`Message::Close`] when it cannot go on. The keys of the datagrams come from the control channel.

pub mod receiving;
pub mod sending;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};

use crate::control::Channel;
use crate::datagram::layout::Layout;
use crate::datagram::machine::Event;
use crate::datagram::seal::Secret;
use crate::datagram::session::Peer;
use crate::datagram::{Endpoint, Settings};

/// The number of a transfer's only session, at both ends.
const SESSION: u32 = 0;

/// Where an end's datagrams are received: the address is that of its control channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The UDP port.
    pub port: u16,
    /// The endpoint's number.
    pub endpoint: u32,
}

/// What the two ends of a transfer say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Message {
    /// What the sender has.
    Offer {
        /// Operations, and the packets that they come in.
        layout: Layout,
        /// How far ahead of the lowest unacknowledged packet each flow may be, in packets.
        reach: u32,
        /// Where the sender's datagrams come from.
        place: Place,
    },
    /// The receiver takes it.
    Accept {
        /// Where the receiver's datagrams are received.
        place: Place,
    },
    /// Everything is acknowledged.
    Finish {
        /// Data packets sent, retransmissions included.
        packets: u64,
    },
    /// Everything is kept.
    Finished {
        /// Data packets that arrived, duplicates included.
        packets: u64,
    },
    /// The end that says it does not go on.
    Close {
        /// The reason.
        reason: Reason,
    },
}

/// Why an end does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The receiver is busy with another sender.
    Busy,
    /// The receiver does not accept this amount of data, or packets of this size.
    Layout,
    /// It could not read or write its file.
    File,
    /// Nothing came or went for too long.
    Idle,
    /// It was interrupted.
    Interrupted,
    /// Its socket failed.
    Socket,
}

/// An endpoint whose events can be waited for.
struct Line {
    endpoint: Arc<Endpoint>,
    events: UnboundedReceiver<Event>,
}

impl Line {
    /// An endpoint at the address of a channel's own end, or of all for a sender.
    fn start(settings: Settings) -> std::io::Result<Line> {
        let (told, events) = unbounded_channel();
        // A receiver that is gone has ended its endpoint, too.
        let endpoint = Endpoint::start(settings, move |event| _ = told.send(event))?;
        Ok(Line { endpoint: Arc::new(endpoint), events })
    }

    fn place(&self) -> Place {
        Place { port: self.endpoint.local_addr().port(), endpoint: self.endpoint.id() }
    }

    /// Opens the session with the peer at the other end of a channel.
    fn open(&self, channel: &Channel, peer: Place, dialed: bool) {
        let mut address = channel.remote_address();
        address.set_port(peer.port);
        self.endpoint.open(
            SESSION,
            Peer {
                address,
                endpoint: peer.endpoint,
                session: SESSION,
                dialed,
                secret: Secret(channel.secret(SESSION)),
                sealed: true,
            },
        );
    }
}
