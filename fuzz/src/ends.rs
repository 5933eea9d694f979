//! Two endpoints with a session, a network that does what a script says, and strangers.
//!
//! The script is the bytes: each step lets time pass, lets an end transmit, delivers, drops or repeats what is under
//! way, or brings a datagram that nobody of the two has sent. When the script is over the network carries everything, and all
//! must arrive.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use clearway_host::daemon::content::{generate, Source};
use clearway_host::datagram::driver::{Arrival, Endpoint};
use clearway_host::datagram::flow::{Carried, Content, FlowId, Incoming, Keep, Outgoing};
use clearway_host::datagram::layout::Layout;
use clearway_host::datagram::machine::{Event, Machine};
use clearway_host::datagram::scheme::{AnyReceiver, AnyScheme};
use clearway_host::datagram::seal::Secret;
use clearway_host::datagram::session::Peer;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Span, Time};

use crate::bytes::Bytes;

const IDS: [u32; 2] = [0x0102_0304, 0x0506_0708];
/// Datagrams under way to one end at most; what is more is dropped, as a full queue does.
const MOST_UNDER_WAY: usize = 64;
/// More than the ends need to come to an end, and few enough to notice that they do not.
const MOST_CLEAN_STEPS: u32 = 200_000;

fn address(last: u8) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(10, 0, 0, last), 4000))
}

/// What happens as the bytes say, see the module: nothing panics, nothing waits for ever, no byte is kept twice or elsewhere
/// than it belongs, and once the network carries everything, everything arrives.
pub fn ends(bytes: &[u8]) {
    let mut script = Bytes(bytes);
    let mut stage = Stage::new(&mut script);
    while let Some(step) = script.next() {
        stage.step(step, &mut script);
        stage.check();
    }
    stage.run_clean();
    stage.conclude();
}

/// Bytes as they come, each of which may come once, and as it was sent.
struct Checked(Arc<Mutex<Vec<bool>>>);

impl Keep for Checked {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut expected = vec![0; bytes.len()];
        generate(offset, &mut expected);
        assert_eq!(expected, bytes, "other bytes than were sent");
        let mut kept = self.0.lock().expect("one thread");
        for byte in &mut kept[offset as usize..][..bytes.len()] {
            assert!(!std::mem::replace(byte, true), "a byte that is kept twice");
        }
        Ok(())
    }
}

/// The two ends and what is between them.
struct Stage {
    now: Time,
    layout: Layout,
    ends: [Machine; 2],
    /// Under way to each end: who sent it and its bytes.
    ways: [VecDeque<(SocketAddr, Vec<u8>)>; 2],
    kept: Arc<Mutex<Vec<bool>>>,
    sent: u32,
    received: u32,
    buffer: Vec<u8>,
}

impl Stage {
    fn new(script: &mut Bytes) -> Stage {
        let layout = Layout {
            operations: u64::from(script.byte() % 40),
            size: 1 + u64::from(script.short() % 5000),
            mtu: 1 + u32::from(script.short() % 2000),
            flows: 1 + u32::from(script.byte() % 4),
        };
        let outstanding = 1 + u32::from(script.byte() % 8);
        assert_eq!(layout.check(), Ok(()));
        let (now, mut ends) = (Time::ZERO + Span::from_ms(1), IDS.map(|id| Machine::new(id, true)));
        for (end, machine) in ends.iter_mut().enumerate() {
            let peer = Peer {
                address: address(2 - end as u8),
                endpoint: IDS[1 - end],
                session: 0,
                dialed: end == 0,
                secret: Secret([5; 32]),
                sealed: true,
            };
            machine.open(now, 0, &peer);
        }
        let kept = Arc::new(Mutex::new(vec![false; layout.bytes() as usize]));
        let swift = SwiftParams { reach: 64, max_cwnd: 64.0, ..SwiftParams::default() };
        let sender = AnyScheme::Swift(swift).sender(layout.mtu);
        for part in 0..layout.flows {
            let (id, carried) = (FlowId { session: 0, flow: part }, Carried { layout, part });
            let keep = Some(Box::new(Checked(kept.clone())) as Box<dyn Keep>);
            assert!(ends[1].expect(Incoming { id, carried, receiver: AnyReceiver::selective(64), keep }));
            let content = Some(Box::new(Source::Generated) as Box<dyn Content>);
            assert!(ends[0].send(
                now,
                Outgoing { id, carried, outstanding, content, sender: sender.clone(), shown: Arc::default() }
            ));
        }
        let ways = [VecDeque::new(), VecDeque::new()];
        Stage { now, layout, ends, ways, kept, sent: 0, received: 0, buffer: vec![0; 8192] }
    }

    /// One step of the script, whose further bytes say how.
    fn step(&mut self, step: u8, script: &mut Bytes) {
        let (argument, end) = (step >> 4, usize::from(step & 8 != 0));
        match step & 7 {
            0 => self.pass(Span::from_ns(1 << (2 * argument))),
            1 => (0..=argument).for_each(|_| self.transmit_one(end)),
            2 => (0..=argument).for_each(|_| self.deliver(end, Span::from_us(u64::from(argument)))),
            3 => drop(self.ways[end].pop_front()),
            4 => {
                let again = self.ways[end].front().cloned();
                self.ways[end].extend(again);
            }
            5 => {
                let way = &mut self.ways[end];
                way.rotate_left(usize::from(argument).min(way.len()));
            }
            6 => self.change(end, argument, script),
            _ => self.forge(end, argument, script),
        }
    }

    /// Lets time pass, and wakes the ends as their driver does.
    fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|timeout| timeout <= self.now) {
                end.handle_timeout(self.now);
            }
        }
    }

    /// Lets an end send what is ready, if anything is.
    fn transmit_one(&mut self, end: usize) {
        if self.ends[end].readiness(self.now) != Readiness::Ready {
            return;
        }
        let Some((length, to)) = self.ends[end].transmit(self.now, &mut self.buffer) else { return };
        assert_eq!(to, address(2 - end as u8), "a stranger has moved the peer");
        let way = &mut self.ways[1 - end];
        if way.len() < MOST_UNDER_WAY {
            way.push_back((address(1 + end as u8), self.buffer[..length].to_vec()));
        }
    }

    /// Delivers what has been under way longest, which the kernel saw some time ago.
    fn deliver(&mut self, end: usize, ago: Span) {
        let Some((from, mut bytes)) = self.ways[end].pop_front() else { return };
        self.hand_in(end, from, ago, 1, &mut bytes);
    }

    fn hand_in(&mut self, end: usize, from: SocketAddr, ago: Span, hops: u8, bytes: &mut [u8]) {
        let received = Time::from_ps(self.now.as_ps().saturating_sub(ago.as_ps()));
        self.ends[end].handle_datagram(self.now, &Arrival { from, received, hops }, bytes);
        while let Some(event) = self.ends[end].poll_event() {
            match event {
                Event::Sent(..) => self.sent += 1,
                Event::Received(..) => self.received += 1,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Changes bytes of the next datagram, or cuts it.
    fn change(&mut self, end: usize, argument: u8, script: &mut Bytes) {
        let (at, with) = (usize::from(script.byte()), script.take(1 + usize::from(argument & 7)));
        let Some((_, bytes)) = self.ways[end].front_mut() else { return };
        if argument & 8 != 0 {
            bytes.truncate(at);
        } else {
            bytes.iter_mut().skip(at).zip(with).for_each(|(byte, with)| *byte = *with);
        }
    }

    /// Brings a datagram that a stranger made, to the endpoint and with a counter as the script says.
    fn forge(&mut self, end: usize, argument: u8, script: &mut Bytes) {
        let mut bytes = [&IDS[end].to_be_bytes()[..], &[0, 0, 0, script.byte() & 1], &[0; 8]].concat();
        bytes[8 + usize::from(argument & 7)] = script.byte();
        let length = 8 * usize::from(script.byte());
        bytes.extend(script.take(length));
        self.hand_in(end, address(3), Span::ZERO, argument, &mut bytes);
    }

    /// What holds at any time.
    fn check(&self) {
        for (_, figures) in self.ends[0].sending() {
            assert!(figures.bytes <= self.layout.bytes() && figures.retransmissions <= figures.packets);
            assert!(
                self.ends[0].poll_timeout().is_some() || self.ends[0].readiness(self.now) == Readiness::Ready
            );
        }
        assert_eq!(self.ends[1].counted().ignored.senseless, 0, "the peer makes sense");
    }

    /// The network carries everything: both ends come to an end.
    fn run_clean(&mut self) {
        for _ in 0..MOST_CLEAN_STEPS {
            for end in 0..2 {
                self.deliver(end, Span::ZERO);
                self.transmit_one(end);
            }
            let busy = self.ends.iter().any(|end| end.readiness(self.now) == Readiness::Ready);
            if busy || self.ways.iter().any(|way| !way.is_empty()) {
                self.pass(Span::from_us(1));
                continue;
            }
            let Some(next) = self.ends.iter().filter_map(Endpoint::poll_timeout).min() else { return };
            self.pass(next.since(self.now));
        }
        panic!("an end waits for ever");
    }

    /// Everything arrived, once and where it belongs.
    fn conclude(&self) {
        let flows = (0..self.layout.flows).filter(|&flow| self.layout.packets_of(flow) > 0).count() as u32;
        assert_eq!(self.received, flows);
        // Flows without a packet were done before they began, and told of at once.
        assert!(self.sent + self.layout.flows - flows >= self.layout.flows, "{} of {flows} sent", self.sent);
        assert!(self.kept.lock().expect("one thread").iter().all(|&kept| kept), "a byte that never came");
    }
}
