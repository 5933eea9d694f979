//! A sending flow: hands operations to its scheme's sender, and knows what has been acknowledged.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clearway_proto::histogram::Histogram;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::{Packet, HEADER_BYTES};
use clearway_proto::transport::{Ack, Windows};
use clearway_proto::units::{Bytes, Span, Time};

use super::driver::Arrival;
use super::figures::SentFlow;
use super::flow::{Carried, Content, FlowId, Outgoing};
use super::scheme::AnySender;

/// What one acknowledgement showed.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// The round-trip time, t6 - t1.
    pub rtt: Span,
    /// The part of the round trip that was spent in the two hosts.
    pub endpoint: Span,
    /// The windows after the acknowledgement.
    pub windows: Windows,
}

/// A flow that is being sent.
pub(super) struct Sending {
    pub(super) id: FlowId,
    sender: AnySender,
    carried: Carried,
    content: Option<Box<dyn Content>>,
    /// Operations not yet handed to the sender.
    waiting: u64,
    outstanding: u32,
    /// When each operation that is under way was handed to the sender.
    issued: VecDeque<Time>,
    /// Every packet before this one has been acknowledged.
    cumulative: u32,
    packets: u32,
    shown: Arc<Mutex<SentFlow>>,
    /// Whether the flow is in the queue of those that may send.
    pub(super) queued: bool,
    /// The earliest instant at which the timers will look at it.
    pub(super) armed: Time,
}

impl Sending {
    pub(super) fn new(now: Time, flow: Outgoing) -> Sending {
        let Outgoing { id, carried, outstanding, content, sender, shown } = flow;
        let mut sending = Sending {
            id,
            sender,
            content,
            waiting: carried.layout.operations_of(carried.part),
            outstanding,
            issued: VecDeque::new(),
            cumulative: 0,
            packets: carried.packets(),
            carried,
            shown,
            queued: false,
            armed: Time::NEVER,
        };
        sending.shown().began = now;
        sending.issue(now);
        sending
    }

    fn shown(&self) -> MutexGuard<'_, SentFlow> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether everything is acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.cumulative == self.packets
    }

    /// Hands operations to the sender until as many as may be are under way.
    fn issue(&mut self, now: Time) {
        while self.waiting > 0 && self.issued.len() < self.outstanding as usize {
            self.waiting -= 1;
            self.issued.push_back(now);
            self.sender.handle_message(Bytes::new(self.carried.layout.size));
        }
    }

    pub(super) fn readiness(&self, now: Time) -> Readiness {
        self.sender.readiness(now)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.sender.poll_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
    }

    /// Takes an acknowledgement and returns what it showed; none if it cannot be. `latency` gets the time of each operation
    /// that it completes.
    pub(super) fn handle_ack(
        &mut self,
        now: Time,
        arrival: &Arrival,
        ack: &Ack,
        latency: &mut Histogram,
    ) -> Option<Delays> {
        // An echo of the future is of no packet of ours either.
        if !self.sender.believes(ack) || ack.echo > now {
            return None;
        }
        // The acknowledgement cannot have come before the packet went; a wall clock that is set may say so.
        let received = arrival.received.max(ack.echo);
        self.sender.handle_ack(now, received, ack);
        let (rtt, endpoint) = (now.since(ack.echo), ack.remote_queuing() + now.since(received));
        let progress = ack.cumulative > self.cumulative;
        self.cumulative = self.cumulative.max(ack.cumulative);
        let mut shown = self.shown();
        shown.rtt.record(rtt);
        shown.latest_rtt = Some(rtt);
        if progress {
            shown.ended = Some(now);
        }
        self.measure(&mut shown);
        drop(shown);
        for _ in 0..self.sender.poll_completed() {
            if let Some(issued) = self.issued.pop_front() {
                latency.record(now.since(issued));
            }
        }
        self.issue(now);
        Some(Delays { rtt, endpoint, windows: self.sender.windows() })
    }

    /// Writes the packet that is ready, and returns its length; the sender must be ready.
    pub(super) fn transmit(&mut self, now: Time, text: &mut [u8]) -> io::Result<usize> {
        let data = self.sender.transmit(now);
        let Carried { layout, part } = self.carried;
        let place = layout.place(part, data.seq).expect("the sender sends what it was given");
        let (header, rest) = text.split_at_mut(HEADER_BYTES as usize);
        let payload = &mut rest[..data.payload as usize];
        if let Some(content) = &mut self.content {
            content.read(place.offset, payload)?;
        }
        Packet::Data(data).encode(self.id.flow, header);
        Ok(HEADER_BYTES as usize + data.payload as usize)
    }

    /// What the flow has measured.
    pub(super) fn figures(&self) -> SentFlow {
        let mut shown = self.shown();
        self.measure(&mut shown);
        shown.clone()
    }

    fn measure(&self, shown: &mut SentFlow) {
        let flight = self.sender.flight();
        shown.bytes = self.carried.layout.bytes_before(self.cumulative);
        shown.packets = flight.sent;
        shown.retransmissions = u64::from(flight.retransmissions);
        shown.timeouts = u64::from(flight.timeouts);
        shown.cwnd = self.sender.windows().cwnd;
    }
}
