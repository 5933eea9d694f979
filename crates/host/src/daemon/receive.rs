//! The receiving end: accepts one sender at a time, keeps what is new, and says at the end whether it was all.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::Packet;
use clearway_proto::transport::common::REACH;
use clearway_proto::transport::{AckPolicy, Arrival as Seen, Receiver, SelectiveReceiver};
use clearway_proto::units::{Span, Time};

use crate::daemon::content::{Digest, Sink};
use crate::daemon::driver::{Arrival, Endpoint};
use crate::daemon::layout::Layout;
use crate::daemon::packet::{Body, Datagram, Finish, Finished, Open, Reason, Verdict, PREFIX_BYTES};
use crate::daemon::report::{Ignored, Received};

/// How long an end that is done answers a sender that has not heard of it.
const LINGER: Span = Span::from_ms(500);
/// The most answers that wait; a sender asks again for one that does not fit.
const MAX_REPLIES: usize = 64;

/// Where to put what comes, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file to write; none to discard what arrives.
    pub out: Option<PathBuf>,
    /// The longest time without progress before the transfer is given up.
    pub idle_timeout: Span,
}

/// Why a transfer failed.
#[derive(Debug)]
pub enum ReceiveError {
    /// The sender was silent, or made no progress, for this long.
    Stopped(Span),
    /// The sender ended the connection.
    Closed(Reason),
    /// Other bytes arrived than were sent.
    Differs,
    /// The file could not be written.
    Sink(io::Error),
    /// The transfer was interrupted here.
    Interrupted,
}

/// A transfer that has ended, well or not.
#[derive(Debug)]
pub struct Transfer {
    /// The figures that this end measured.
    pub received: Received,
    /// The reason why the transfer failed, if it did.
    pub error: Option<ReceiveError>,
}

/// A connection that is open.
#[derive(Debug)]
struct Connection {
    id: u64,
    peer: SocketAddr,
    layout: Layout,
    flows: Vec<SelectiveReceiver>,
    /// Flows that have an acknowledgement to send, each once.
    owing: VecDeque<u32>,
    sink: Sink,
    digest: Digest,
    last_progress: Time,
    received: Received,
}

/// A connection that is done, kept as long as its sender may not know.
#[derive(Clone, Copy, Debug)]
struct Linger {
    id: u64,
    peer: SocketAddr,
    finished: Finished,
    until: Time,
}

/// A receiving end.
#[derive(Debug)]
pub struct Receiving {
    place: Place,
    connection: Option<Box<Connection>>,
    linger: Option<Linger>,
    /// The latest connection that is over: a late open of it opens nothing.
    over: Option<u64>,
    /// Answers to send, beside acknowledgements.
    replies: VecDeque<(SocketAddr, Datagram)>,
    transfer: Option<Transfer>,
    /// Datagrams that were ignored while there was no connection.
    ignored: Ignored,
}

impl Receiving {
    /// A receiving end without a sender yet.
    pub fn new(place: Place) -> Receiving {
        Receiving {
            place,
            connection: None,
            linger: None,
            over: None,
            replies: VecDeque::new(),
            transfer: None,
            ignored: Ignored::default(),
        }
    }

    /// A transfer that has ended since this was last asked.
    pub fn poll_transfer(&mut self) -> Option<Transfer> {
        self.transfer.take()
    }

    /// Ends the transfer under way, if there is one; nothing of it is kept, and the sender is told once.
    pub fn interrupt(&mut self) {
        if let Some(connection) = &self.connection {
            let (peer, id) = (connection.peer, connection.id);
            self.end(ReceiveError::Interrupted);
            self.reply(peer, id, Body::Close(Reason::Interrupted));
        }
    }

    /// Returns whether no sender is open, and none that is done has to be told again.
    pub fn is_quiet(&self) -> bool {
        self.connection.is_none() && self.linger.is_none() && self.replies.is_empty()
    }

    /// Returns whether answers wait to be sent, beside acknowledgements.
    pub fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// The report so far of a transfer under way.
    pub fn report(&self) -> Option<&Received> {
        self.connection.as_ref().map(|connection| &connection.received)
    }

    /// Returns where ignored datagrams are counted: in the connection's report, or in that of the next one.
    fn ignored(&mut self) -> &mut Ignored {
        self.connection.as_mut().map_or(&mut self.ignored, |connection| &mut connection.received.ignored)
    }

    fn reply(&mut self, to: SocketAddr, connection: u64, body: Body) {
        if self.replies.len() < MAX_REPLIES {
            self.replies.push_back((to, Datagram { connection, body }));
        }
    }

    fn open(&mut self, now: Time, from: SocketAddr, id: u64, open: &Open) {
        if let Some(connection) = &self.connection {
            let again = connection.id == id && connection.peer == from;
            let answer = if again { Body::Accept } else { Body::Close(Reason::Busy) };
            return self.reply(from, id, answer);
        }
        if self.over == Some(id) {
            self.ignored().unexpected += 1;
            return;
        }
        let reach_is_possible = open.reach.is_power_of_two() && REACH.contains(&open.reach);
        if open.layout.check().is_err() || !reach_is_possible {
            return self.reply(from, id, Body::Close(Reason::Layout));
        }
        let sink = match &self.place.out {
            None => Sink::Discard,
            Some(path) => match Sink::file(path) {
                Ok(sink) => sink,
                Err(error) => {
                    let received = Received::new(from, open.layout, std::mem::take(&mut self.ignored));
                    self.transfer = Some(Transfer { received, error: Some(ReceiveError::Sink(error)) });
                    return self.reply(from, id, Body::Close(Reason::File));
                }
            },
        };
        let flow = |_| SelectiveReceiver::new(AckPolicy::EveryPacket, open.reach);
        let mut received = Received::new(from, open.layout, std::mem::take(&mut self.ignored));
        received.began = Some(now);
        self.connection = Some(Box::new(Connection {
            id,
            peer: from,
            layout: open.layout,
            flows: (0..open.layout.flows).map(flow).collect(),
            owing: VecDeque::new(),
            sink,
            digest: Digest::default(),
            last_progress: now,
            received,
        }));
        self.reply(from, id, Body::Accept);
    }

    /// The connection is over, and nothing of it will be asked for again.
    fn end(&mut self, error: ReceiveError) {
        if let Some(connection) = self.connection.take() {
            self.over = Some(connection.id);
            self.transfer = Some(Transfer { received: connection.received, error: Some(error) });
        }
    }

    fn finish(&mut self, now: Time, finish: Finish) {
        let Some(connection) = &mut self.connection else { return };
        if !connection.is_whole() {
            // Nobody finishes before everything was acknowledged.
            connection.received.ignored.unexpected += 1;
            return;
        }
        let Connection { id, peer, sink, digest, mut received, .. } =
            *self.connection.take().expect("just seen");
        received.sent = Some(finish.sent);
        received.ended.get_or_insert(now);
        let (verdict, error) = if digest.value() != finish.digest {
            (Verdict::Differs, Some(ReceiveError::Differs))
        } else if let Err(error) = sink.keep() {
            (Verdict::NotKept, Some(ReceiveError::Sink(error)))
        } else {
            (Verdict::Whole, None)
        };
        let finished = Finished { verdict, arrived: received.packets, digest: digest.value() };
        self.over = Some(id);
        self.linger = Some(Linger { id, peer, finished, until: now + LINGER });
        self.transfer = Some(Transfer { received, error });
        self.reply(peer, id, Body::Finished(finished));
    }

    /// Handles a datagram of a connection that is done, or of none.
    fn handle_stray(&mut self, now: Time, from: SocketAddr, datagram: &Datagram) {
        match (&mut self.linger, datagram.body) {
            (Some(linger), Body::Finish(_)) if linger.id == datagram.connection && linger.peer == from => {
                linger.until = now + LINGER;
                let finished = linger.finished;
                self.reply(from, datagram.connection, Body::Finished(finished));
            }
            (Some(linger), Body::Close(_)) if linger.id == datagram.connection && linger.peer == from => {
                self.linger = None;
            }
            (Some(linger), _) if linger.id == datagram.connection && linger.peer == from => {}
            _ => self.ignored().connection += 1,
        }
    }
}

impl Connection {
    fn is_whole(&self) -> bool {
        self.received.payload == self.layout.bytes()
    }

    /// Handles a data packet: its payload is kept if it is new. An error comes from the sink.
    fn handle_data(
        &mut self,
        now: Time,
        arrival: &Arrival,
        id: u32,
        packet: Packet,
        payload: &[u8],
    ) -> io::Result<()> {
        let Packet::Data(data) = packet else {
            self.received.ignored.unexpected += 1;
            return Ok(());
        };
        let place = self.layout.place(id, data.seq);
        let Some(place) = place.filter(|place| (place.payload, place.last) == (data.payload, data.last))
        else {
            self.received.ignored.sequence += 1;
            return Ok(());
        };
        let receiver = &mut self.flows[id as usize];
        match receiver.handle_data(now, arrival.received, &data, false, arrival.hops) {
            Seen::New => {
                self.digest.add(place.offset, payload);
                self.sink.write(place.offset, payload)?;
                self.received.payload += u64::from(data.payload);
                self.received.ended = Some(now);
                self.last_progress = now;
            }
            Seen::Duplicate => self.received.duplicates += 1,
            Seen::BeyondReach | Seen::OutOfOrder => {
                self.received.ignored.sequence += 1;
                return Ok(());
            }
        }
        self.received.packets += 1;
        self.received.messages += u64::from(receiver.poll_completed());
        self.received.hops = Some(arrival.hops);
        if receiver.readiness() == Readiness::Ready && !self.owing.contains(&id) {
            self.owing.push_back(id);
        }
        Ok(())
    }
}

impl Endpoint for Receiving {
    const ANSWERS_EACH: bool = true;

    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &[u8]) {
        let Some((datagram, payload)) = self.ignored().decoded(bytes) else { return };
        if let Body::Open(open) = &datagram.body {
            return self.open(now, arrival.from, datagram.connection, open);
        }
        let Some(connection) = self.connection.as_mut().filter(|c| c.id == datagram.connection) else {
            return self.handle_stray(now, arrival.from, &datagram);
        };
        if !connection.received.ignored.of_connection(true, arrival.from, connection.peer) {
            return;
        }
        match datagram.body {
            Body::Flow(id, packet) => {
                if let Err(error) = connection.handle_data(now, arrival, id, packet, payload) {
                    let (peer, id) = (connection.peer, connection.id);
                    self.end(ReceiveError::Sink(error));
                    self.reply(peer, id, Body::Close(Reason::File));
                }
            }
            Body::Finish(finish) => self.finish(now, finish),
            Body::Close(reason) => self.end(ReceiveError::Closed(reason)),
            Body::Open(_) | Body::Accept | Body::Finished(_) => connection.received.ignored.unexpected += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.linger = self.linger.filter(|linger| now < linger.until);
        let idle = self.place.idle_timeout;
        if self.connection.as_ref().is_some_and(|c| now.since(c.last_progress) >= idle) {
            self.end(ReceiveError::Stopped(idle));
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let idle = self.connection.as_ref().map(|c| c.last_progress + self.place.idle_timeout);
        self.linger.map(|linger| linger.until).into_iter().chain(idle).min()
    }

    fn readiness(&self, _now: Time) -> Readiness {
        let owing = self.connection.as_ref().is_some_and(|connection| !connection.owing.is_empty());
        if owing || !self.replies.is_empty() {
            Readiness::Ready
        } else {
            Readiness::Idle
        }
    }

    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        if let Some((to, datagram)) = self.replies.pop_front() {
            datagram.encode(buffer);
            return Some((PREFIX_BYTES, to));
        }
        let connection = self.connection.as_mut()?;
        let flow = connection.owing.pop_front()?;
        let receiver = &mut connection.flows[flow as usize];
        let ack = receiver.transmit(now);
        if receiver.readiness() == Readiness::Ready {
            connection.owing.push_back(flow);
        }
        connection.received.acks += 1;
        let body = Body::Flow(flow, Packet::Ack(ack));
        Datagram { connection: connection.id, body }.encode(buffer);
        Some((PREFIX_BYTES, connection.peer))
    }

    /// An answer that could not be sent is lost: the sender asks again, or gives up.
    fn handle_send_error(&mut self, _now: Time, _error: &io::Error) {
        let unsendable = self.connection.as_mut().map(|connection| &mut connection.received.unsendable);
        if let Some(count) = unsendable {
            *count += 1;
        }
    }
}
