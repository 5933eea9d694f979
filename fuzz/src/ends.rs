//! A sending and a receiving end, a network that does what a script says, and strangers.
//!
//! The script is the bytes: each step lets time pass, lets an end transmit, delivers, drops or repeats what is under
//! way, or brings a datagram that nobody of the two has sent. When the script is over the network is silent, and both
//! ends must come to an end by themselves.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};

use clearway_host::daemon::content::{generate, Source};
use clearway_host::daemon::driver::{Arrival, Endpoint};
use clearway_host::daemon::layout::Layout;
use clearway_host::daemon::packet::{Body, Datagram, PREFIX_BYTES};
use clearway_host::daemon::receive::{Place, Receiving, Transfer};
use clearway_host::daemon::report::{received_figures, sent_figures, Effort};
use clearway_host::daemon::send::{Sending, Task};
use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::Packet;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Span, Time};

use crate::bytes::Bytes;

const CONNECTION: u64 = 0x0123_4567_89ab_cdef;
const IDLE: Span = Span::from_ms(20);
/// Datagrams under way to one end at most; what is more is dropped, as a full queue does.
const MOST_UNDER_WAY: usize = 64;
/// More than the ends need to come to an end in silence, and few enough to notice that they do not.
const MOST_SILENT_STEPS: u32 = 100_000;

fn address(last: u8) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(10, 0, 0, last), 4000))
}

/// What happens as the bytes say, see the module: nothing panics, nothing waits for ever, no end believes more than
/// there is, and where nobody forged a datagram, a sender that is content has sent everything.
pub fn ends(bytes: &[u8]) {
    let mut script = Bytes(bytes);
    let mut stage = Stage::new(&mut script);
    while let Some(step) = script.next() {
        stage.step(step, &mut script);
        stage.check();
    }
    stage.fall_silent();
    stage.conclude();
}

/// The two ends and what is between them.
struct Stage {
    now: Time,
    layout: Layout,
    sending: Sending,
    receiving: Receiving,
    /// Under way to the receiver and to the sender: who sent it and its bytes.
    to_receiver: VecDeque<(SocketAddr, Vec<u8>)>,
    to_sender: VecDeque<(SocketAddr, Vec<u8>)>,
    transfers: Vec<Transfer>,
    /// A datagram was delivered that neither end has sent.
    forged: bool,
    /// What the ends say at the end is put into words. That takes longer than all the rest, so few scripts do it.
    shown: bool,
    buffer: Vec<u8>,
}

impl Stage {
    fn new(script: &mut Bytes) -> Stage {
        let first = script.byte();
        let layout = Layout {
            operations: u64::from(first % 40),
            size: 1 + u64::from(script.short() % 5000),
            mtu: 1 + u32::from(script.short() % 2000),
            flows: 1 + u32::from(script.byte() % 4),
        };
        let now = Time::ZERO + Span::from_ms(1);
        let task = Task {
            peer: address(2),
            connection: CONNECTION,
            layout,
            outstanding: 1 + u32::from(script.byte() % 8),
            source: Source::Generated,
            swift: SwiftParams { reach: 64, max_cwnd: 64.0, ..SwiftParams::default() },
            answer_timeout: IDLE,
            idle_timeout: IDLE,
        };
        assert_eq!(layout.check(), Ok(()));
        Stage {
            now,
            layout,
            sending: Sending::new(now, task),
            receiving: Receiving::new(Place { out: None, idle_timeout: IDLE }),
            to_receiver: VecDeque::new(),
            to_sender: VecDeque::new(),
            transfers: Vec::new(),
            forged: false,
            shown: first >= 240,
            buffer: vec![0; 4096],
        }
    }

    /// One step of the script, whose further bytes say how.
    fn step(&mut self, step: u8, script: &mut Bytes) {
        let (argument, receiver) = (step >> 4, step & 8 != 0);
        match step & 7 {
            0 => self.pass(Span::from_ns(1 << (2 * argument))),
            1 => (0..=argument).for_each(|_| self.transmit_one(receiver)),
            2 => (0..=argument).for_each(|_| self.deliver(receiver, Span::from_us(u64::from(argument)))),
            3 => drop(self.way(receiver).pop_front()),
            4 => {
                let again = self.way(receiver).front().cloned();
                self.way(receiver).extend(again);
            }
            5 => {
                let way = self.way(receiver);
                way.rotate_left(usize::from(argument).min(way.len()));
            }
            6 => self.change(receiver, argument, script),
            _ => self.forge(receiver, argument, script),
        }
        self.transfers.extend(self.receiving.poll_transfer());
    }

    /// Returns what is under way to the receiver or to the sender.
    fn way(&mut self, receiver: bool) -> &mut VecDeque<(SocketAddr, Vec<u8>)> {
        if receiver {
            &mut self.to_receiver
        } else {
            &mut self.to_sender
        }
    }

    /// Lets time pass, and wakes the ends as their driver does.
    fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        if self.sending.poll_timeout().is_some_and(|timeout| timeout <= self.now) {
            self.sending.handle_timeout(self.now);
        }
        if self.receiving.poll_timeout().is_some_and(|timeout| timeout <= self.now) {
            self.receiving.handle_timeout(self.now);
        }
    }

    /// Lets an end send what is ready, if anything is.
    fn transmit_one(&mut self, receiver: bool) {
        let now = self.now;
        let sent = if receiver {
            let ready = self.receiving.readiness(now) == Readiness::Ready;
            ready.then(|| self.receiving.transmit(now, &mut self.buffer)).flatten()
        } else {
            let ready = self.sending.readiness(now) == Readiness::Ready;
            ready.then(|| self.sending.transmit(now, &mut self.buffer)).flatten()
        };
        let Some((len, to)) = sent else { return };
        let bytes = self.buffer[..len].to_vec();
        self.check_sent(receiver, to, &bytes);
        let way = self.way(!receiver);
        if way.len() < MOST_UNDER_WAY && to == address(if receiver { 1 } else { 2 }) {
            way.push_back((address(if receiver { 2 } else { 1 }), bytes));
        }
    }

    /// What an end sends can be read, and a data packet holds the bytes that belong there.
    fn check_sent(&self, receiver: bool, to: SocketAddr, bytes: &[u8]) {
        let (datagram, payload) = Datagram::decode(bytes).expect("an end sends what can be read");
        if receiver {
            return;
        }
        assert_eq!((datagram.connection, to), (CONNECTION, address(2)));
        if let Body::Flow(flow, Packet::Data(data)) = datagram.body {
            let place = self.layout.place(flow, data.seq).expect("a packet that there is");
            let mut expected = vec![0; place.payload as usize];
            generate(place.offset, &mut expected);
            assert_eq!((payload, data.last), (&expected[..], place.last));
        }
    }

    /// Delivers what has been under way longest, which the kernel saw some time ago.
    fn deliver(&mut self, receiver: bool, ago: Span) {
        let Some((from, bytes)) = self.way(receiver).pop_front() else { return };
        self.hand_in(receiver, from, ago, 1, &bytes);
    }

    fn hand_in(&mut self, receiver: bool, from: SocketAddr, ago: Span, hops: u8, bytes: &[u8]) {
        let received = Time::from_ps(self.now.as_ps().saturating_sub(ago.as_ps()));
        let arrival = Arrival { from, received, hops };
        if receiver {
            self.receiving.handle_datagram(self.now, &arrival, bytes);
        } else {
            self.sending.handle_datagram(self.now, &arrival, bytes);
        }
    }

    /// Changes bytes of the next datagram, or cuts it.
    fn change(&mut self, receiver: bool, argument: u8, script: &mut Bytes) {
        let (at, with) = (usize::from(script.byte()), script.take(1 + usize::from(argument & 7)));
        let Some((_, bytes)) = self.way(receiver).front_mut() else { return };
        if argument & 8 != 0 {
            bytes.truncate(at);
        } else {
            bytes.iter_mut().skip(at).zip(with).for_each(|(byte, with)| *byte = *with);
        }
        self.forged = true;
    }

    /// Brings a datagram of which the script says everything, but for what the argument says: the peer's address, the
    /// right connection.
    fn forge(&mut self, receiver: bool, argument: u8, script: &mut Bytes) {
        let from = if argument & 1 == 0 { address(if receiver { 1 } else { 2 }) } else { address(3) };
        let mut bytes = vec![0; PREFIX_BYTES];
        bytes[..8].copy_from_slice(&CONNECTION.to_be_bytes());
        bytes[8] = 0x10 | script.byte() & 0x0f;
        if argument & 2 != 0 {
            bytes[7] ^= script.byte();
        }
        // Overwrites some bytes, from an offset on: fields that are zero in most datagrams are left out of the script.
        let at = 9 + usize::from(script.byte()) % (PREFIX_BYTES - 9);
        let fields = script.take(usize::from(argument | 3));
        bytes.iter_mut().skip(at).zip(fields).for_each(|(byte, with)| *byte = *with);
        if argument & 4 != 0 {
            let payload = usize::from(script.short() % 2048);
            bytes.resize(PREFIX_BYTES + payload, 0);
            bytes[20..24].copy_from_slice(&(payload as u32).to_be_bytes());
        }
        self.forged = true;
        self.hand_in(receiver, from, Span::ZERO, argument, &bytes);
    }

    /// What holds at any time.
    fn check(&mut self) {
        let report = self.sending.report();
        assert!(report.bytes <= self.layout.bytes() && report.completed <= u64::from(self.layout.flows));
        assert!(report.retransmissions <= report.packets);
        if self.sending.is_over() {
            assert_eq!(self.sending.readiness(self.now), Readiness::Idle);
            assert_eq!(self.sending.poll_timeout(), None);
        } else {
            assert!(self.sending.poll_timeout().is_some(), "nothing wakes the sender");
        }
        for now in [self.sending.readiness(self.now), self.receiving.readiness(self.now)] {
            assert!(!matches!(now, Readiness::At(at) if at <= self.now), "ready at a time that has come");
        }
        if let Some(received) = self.receiving.report() {
            assert!(received.payload <= received.layout.bytes(), "more payload than was announced");
            assert!(received.duplicates <= received.packets);
        }
        if !self.receiving.is_quiet() && self.receiving.poll_timeout().is_none() {
            assert_eq!(self.receiving.readiness(self.now), Readiness::Ready, "nothing wakes the receiver");
        }
    }

    /// The network carries nothing any more: both ends come to an end.
    fn fall_silent(&mut self) {
        for _ in 0..MOST_SILENT_STEPS {
            self.to_receiver.clear();
            self.to_sender.clear();
            if self.sending.is_over() && self.receiving.is_quiet() {
                return;
            }
            self.transmit_one(false);
            self.transmit_one(true);
            self.transfers.extend(self.receiving.poll_transfer());
            let readiness = [self.sending.readiness(self.now), self.receiving.readiness(self.now)];
            if readiness.contains(&Readiness::Ready) {
                continue;
            }
            let paced = readiness.iter().filter_map(|ready| match ready {
                Readiness::At(at) => Some(*at),
                _ => None,
            });
            let timers = [self.sending.poll_timeout(), self.receiving.poll_timeout()];
            let next = timers.into_iter().flatten().chain(paced).min();
            self.pass(next.map_or(Span::ZERO, |next| next.since(self.now)));
        }
        panic!("an end waits for ever");
    }

    /// What they say in the end can be shown, and is true.
    fn conclude(self) {
        let (sent, error) = self.sending.into_report();
        let effort = Effort { cpu: Span::from_us(1), overflow: 0 };
        assert!(!self.shown || !sent_figures(&sent, &self.layout, &effort).table().is_empty());
        for transfer in &self.transfers {
            assert!(!self.shown || !received_figures(&transfer.received, &effort).table().is_empty());
            if transfer.error.is_none() {
                assert_eq!(transfer.received.payload, transfer.received.layout.bytes());
            }
        }
        if !self.forged && error.is_none() {
            let [transfer] = &self.transfers[..] else { panic!("the sender is content with nothing") };
            assert!(transfer.error.is_none(), "the sender is content, the receiver is not");
        }
        // Whoever can forge a verdict cannot forge the digest of something.
        let whole = |transfer: &Transfer| {
            transfer.error.is_none() && transfer.received.payload == self.layout.bytes()
        };
        if error.is_none() && self.layout.bytes() > 0 {
            assert!(self.transfers.iter().any(whole), "the sender is content with less than everything");
            assert_eq!(sent.bytes, self.layout.bytes());
        }
    }
}
