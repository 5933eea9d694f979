//! A driver for machines against a timed script: one sender, one receiver, and a clock that the script sets.
//!
//! ```text
//! offer BYTES | endless | stop      the application's part
//! send N                            N packets go out; each must be ready
//! arrive SEQ [ce] [hops N] [remote SPAN]   a data packet is processed, SPAN after the NIC had it
//! take [local SPAN] | drop          the oldest ack under way is processed, SPAN after the NIC had it, or lost
//! trim SEQ [...]                    only a data packet's header arrives, and the sender is told at once
//! ack SEQ [...]                     `arrive`, then `take` of every ack under way
//! notice                            the sender is told that the flow meets congestion
//! pull QUANTA                       the sender is told how much credit it was granted since it began
//! timeout                           both machines are told that time has passed
//! expect NAME VALUE | expect ready | expect idle | expect paced SPAN
//! ```
//! `at SPAN` before a statement sets the clock; statements end with `;` or the line; `#` begins a comment.

use std::collections::{BTreeMap, VecDeque};
use std::str::SplitWhitespace;

use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ack, Data, Header, Notice, Path, Receiver, Scheme, SenderOf};
use clearway_proto::units::{Bytes, Rate, Span, Time};

/// What a script may ask of a congestion control by name, beside its windows.
pub trait Probe {
    fn probe(&self, _name: &str) -> Option<f64> {
        None
    }
}

/// Runs `script` for a flow of packets of 1000 bytes; panics with the statement that does not hold.
pub fn run<P: Scheme<Control: Probe>>(params: &P, script: &str) {
    let mut driver = Driver::<P> {
        now: Time::ZERO,
        sender: params.sender(1000, Path::new(Bytes::new(1000), Rate::from_gbps(10))),
        receiver: params.receiver(),
        sent: BTreeMap::new(),
        acks: VecDeque::new(),
        processed: Ack {
            seq: 0,
            cumulative: 0,
            sack: 0,
            echo: Time::ZERO,
            congestion_experienced: false,
            hops: 0,
            remote_queuing_us: 0,
        },
        completed: 0,
        delivered: 0,
        sent_seq: 0,
    };
    for line in script.lines() {
        let line = line.split('#').next().unwrap_or_default();
        for statement in line.split(';').filter(|s| !s.trim().is_empty()) {
            driver.statement(statement.trim());
        }
    }
}

struct Driver<P: Scheme> {
    now: Time,
    sender: SenderOf<P>,
    receiver: P::Receiver,
    /// The last transmission of each packet.
    sent: BTreeMap<u32, Data>,
    acks: VecDeque<Ack>,
    /// The last ack that the sender took.
    processed: Ack,
    completed: u32,
    delivered: u32,
    /// The packet that was sent last.
    sent_seq: u32,
}

/// What may follow a packet: `ce`, `hops 3`, `remote 5us`, `local 5us`.
#[derive(Default)]
struct Circumstances {
    ce: bool,
    hops: u8,
    remote: Span,
    local: Span,
}

impl Circumstances {
    fn parse(mut words: SplitWhitespace) -> Circumstances {
        let mut found = Circumstances { hops: 1, ..Circumstances::default() };
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value");
            match word {
                "ce" => found.ce = true,
                "hops" => found.hops = value().parse().expect("a number of hops"),
                "remote" => found.remote = span(value()),
                "local" => found.local = span(value()),
                other => panic!("unknown circumstance {other:?}"),
            }
        }
        found
    }
}

fn span(text: &str) -> Span {
    let digits = text.find(|c: char| !c.is_ascii_digit()).expect("a unit");
    let number = text[..digits].parse().expect("a number");
    match &text[digits..] {
        "ps" => Span::from_ps(number),
        "ns" => Span::from_ns(number),
        "us" => Span::from_us(number),
        "ms" => Span::from_ms(number),
        "s" => Span::from_secs(number),
        other => panic!("unknown unit {other:?}"),
    }
}

impl<P: Scheme<Control: Probe>> Driver<P> {
    fn statement(&mut self, statement: &str) {
        let mut words = statement.split_whitespace();
        let mut verb = words.next().expect("a statement");
        if verb == "at" {
            self.now = Time::ZERO + span(words.next().expect("a time"));
            verb = words.next().expect("a verb after the time");
        }
        match verb {
            "offer" => self.sender.handle_message(Bytes::new(number(words.next()) as u64)),
            "endless" => self.sender.handle_endless(),
            "stop" => self.sender.handle_stop(),
            "send" => (0..number(words.next()) as u32).for_each(|_| self.send(statement)),
            "arrive" => self.arrive(number(words.next()) as u32, &Circumstances::parse(words)),
            "take" => self.take(Circumstances::parse(words).local),
            "drop" => drop(self.acks.pop_front().expect("an ack under way")),
            "ack" => {
                let seq = number(words.next()) as u32;
                let found = Circumstances::parse(words);
                self.arrive(seq, &found);
                while !self.acks.is_empty() {
                    self.take(found.local);
                }
            }
            "trim" => self.trim(number(words.next()) as u32, &Circumstances::parse(words)),
            "notice" => self.sender.handle_notice(self.now, Notice::Congestion),
            "pull" => self.sender.handle_notice(self.now, Notice::Pull(number(words.next()) as u64)),
            "timeout" => {
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
                self.collect_acks();
            }
            "expect" => self.expect(statement, words),
            other => panic!("unknown statement {other:?}"),
        }
    }

    fn send(&mut self, statement: &str) {
        assert_eq!(self.sender.readiness(self.now), Readiness::Ready, "{statement}");
        let data = self.sender.transmit(self.now);
        self.sent_seq = data.seq;
        self.sent.insert(data.seq, data);
    }

    fn arrive(&mut self, seq: u32, found: &Circumstances) {
        let data = self.sent.get(&seq).expect("a packet that was sent");
        // Processed so long before now that the sender's own queue fits between.
        let processed = Time::from_ps(self.now.as_ps() - found.local.as_ps());
        let received = Time::from_ps(processed.as_ps() - found.remote.as_ps());
        self.receiver.handle_data(processed, received, data, found.ce, found.hops);
        self.delivered += self.receiver.poll_completed();
        while self.receiver.readiness() == Readiness::Ready {
            self.acks.push_back(self.receiver.transmit(processed));
        }
    }

    fn trim(&mut self, seq: u32, found: &Circumstances) {
        let data = *self.sent.get(&seq).expect("a packet that was sent");
        let header = Header { data, hops: found.hops, last_hop: true };
        match self.receiver.handle_header(self.now, self.now, &header) {
            Some(nack) => self.sender.handle_nack(self.now, self.now, &nack),
            None => self.collect_acks(),
        }
    }

    fn collect_acks(&mut self) {
        while self.receiver.readiness() == Readiness::Ready {
            self.acks.push_back(self.receiver.transmit(self.now));
        }
    }

    fn take(&mut self, local: Span) {
        let ack = self.acks.pop_front().expect("an ack under way");
        self.sender.handle_ack(self.now, Time::from_ps(self.now.as_ps() - local.as_ps()), &ack);
        self.completed += self.sender.poll_completed();
        self.processed = ack;
    }

    fn expect(&self, statement: &str, mut words: SplitWhitespace) {
        let name = words.next().expect("what to expect");
        let (flight, windows) = (self.sender.flight(), self.sender.windows());
        let us_until = |at: Option<Time>| at.map_or(-1.0, Time::as_us_f64);
        let actual = match name {
            "ready" => return assert_eq!(self.sender.readiness(self.now), Readiness::Ready, "{statement}"),
            "idle" => return assert_eq!(self.sender.readiness(self.now), Readiness::Idle, "{statement}"),
            "paced" => {
                let at = Time::ZERO + span(words.next().expect("an instant"));
                return assert_eq!(self.sender.readiness(self.now), Readiness::At(at), "{statement}");
            }
            "inflight" => f64::from(flight.inflight),
            "sent" => flight.sent as f64,
            "sent-seq" => f64::from(self.sent_seq),
            "retransmissions" => f64::from(flight.retransmissions),
            "timeouts" => f64::from(flight.timeouts),
            "completed" => f64::from(self.completed),
            "delivered" => f64::from(self.delivered),
            "payload" => self.receiver.payload() as f64,
            "acks" => self.acks.len() as f64,
            "acked-seq" => f64::from(self.processed.seq),
            "cumulative" => f64::from(self.processed.cumulative),
            "echoed-ce" => f64::from(u8::from(self.processed.congestion_experienced)),
            "timeout-us" => us_until(self.sender.poll_timeout()),
            "ack-timeout-us" => us_until(self.receiver.poll_timeout()),
            "window" | "cwnd" => windows.cwnd,
            "fcwnd" => windows.fcwnd,
            "ecwnd" => windows.ecwnd,
            "srtt-us" => windows.srtt.as_us_f64(),
            "asked" => self.sender.ask(1).target as f64,
            "asks-again" => f64::from(u8::from(self.sender.ask(1).again)),
            other => self.sender.control().probe(other).expect("a name the congestion control knows"),
        };
        let expected = number(words.next());
        assert!((actual - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{statement}: it is {actual}");
    }
}

fn number(word: Option<&str>) -> f64 {
    word.expect("a number").parse().expect("a number")
}
