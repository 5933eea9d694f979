//! The receiving half of a session: takes packets, and gathers an acknowledgement for each.

use std::collections::BTreeMap;
use std::io;

use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::{Packet, HEADER_BYTES};
use clearway_proto::transport::{Ack, Arrival as Seen, Data};
use clearway_proto::units::{Span, Time};

use super::driver::Arrival;
use super::figures::ReceivedFlow;
use super::flow::{Carried, Incoming, Keep};
use super::scheme::AnyReceiver;

/// What a packet led to, beside its acknowledgement.
#[derive(Debug)]
pub(super) enum Taken {
    /// Nothing that anyone has to know.
    Quietly,
    /// It was the last one that was missing.
    Complete,
    /// It makes no sense.
    Senseless,
    /// Its bytes could not be kept; the flow takes no more.
    Failed(io::Error),
}

/// An acknowledgement that has not left.
#[derive(Clone, Copy, Debug)]
struct Owed {
    flow: u32,
    ack: Ack,
    received: Time,
}

struct Flow {
    receiver: AnyReceiver,
    carried: Carried,
    keep: Option<Box<dyn Keep>>,
    figures: ReceivedFlow,
    /// Bytes that have not come.
    missing: u64,
    failed: bool,
}

/// The flows that come in one session.
#[derive(Default)]
pub(super) struct Receiving {
    flows: BTreeMap<u32, Flow>,
    owed: Vec<Owed>,
    /// How many of `owed` have left.
    left: usize,
    /// Switches on the way from the peer, by the latest packet.
    pub(super) hops: Option<u8>,
}

impl Receiving {
    /// Expects a flow, unless one of this number is known.
    pub(super) fn expect(&mut self, flow: Incoming) {
        let bytes = flow.carried.layout.bytes_of(flow.carried.part);
        self.flows.entry(flow.id.flow).or_insert_with(|| Flow {
            receiver: flow.receiver,
            carried: flow.carried,
            keep: flow.keep,
            figures: ReceivedFlow::default(),
            missing: bytes,
            failed: false,
        });
    }

    /// What a flow has measured, and whether all of it came.
    pub(super) fn figures(&self, flow: u32) -> Option<ReceivedFlow> {
        self.flows.get(&flow).map(|flow| flow.figures)
    }

    /// What all flows have measured.
    pub(super) fn all_figures(&self) -> impl Iterator<Item = (u32, ReceivedFlow)> + '_ {
        self.flows.iter().map(|(&id, flow)| (id, flow.figures))
    }

    /// Takes a packet, whose acknowledgement is owed from now on.
    pub(super) fn handle_data(
        &mut self,
        now: Time,
        arrival: &Arrival,
        id: u32,
        data: &Data,
        payload: &[u8],
    ) -> Taken {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| !flow.failed) else { return Taken::Senseless };
        let place = flow.carried.layout.place(flow.carried.part, data.seq);
        let Some(place) = place.filter(|place| (place.payload, place.last) == (data.payload, data.last))
        else {
            return Taken::Senseless;
        };
        let seen = flow.receiver.handle_data(now, arrival.received, data, arrival.hops);
        let mut taken = Taken::Quietly;
        match seen {
            Seen::New => {
                if let Err(error) =
                    flow.keep.as_mut().map_or(Ok(()), |keep| keep.write(place.offset, payload))
                {
                    flow.failed = true;
                    return Taken::Failed(error);
                }
                flow.figures.bytes += u64::from(data.payload);
                flow.figures.began.get_or_insert(now);
                flow.figures.ended = Some(now);
                flow.missing -= u64::from(data.payload);
                if flow.missing == 0 {
                    flow.keep = None;
                    taken = Taken::Complete;
                }
            }
            Seen::Duplicate => flow.figures.duplicates += 1,
            // Go-back-N drops what comes beyond a gap, and asks for it again.
            Seen::OutOfOrder => flow.figures.out_of_order += 1,
            Seen::BeyondReach => return Taken::Senseless,
        }
        flow.figures.packets += 1;
        flow.figures.operations += u64::from(flow.receiver.poll_completed());
        self.hops = Some(arrival.hops);
        while flow.receiver.readiness() == Readiness::Ready {
            let ack = flow.receiver.transmit(now);
            self.owed.push(Owed { flow: id, ack, received: arrival.received });
        }
        taken
    }

    /// Returns whether acknowledgements are to be sent.
    pub(super) fn owes(&self) -> bool {
        self.left < self.owed.len()
    }

    /// Writes as many acknowledgements as fit, and returns their length.
    pub(super) fn write(&mut self, now: Time, text: &mut [u8]) -> usize {
        let each = HEADER_BYTES as usize;
        let count = (text.len() / each).min(self.owed.len() - self.left);
        for (owed, bytes) in self.owed[self.left..][..count].iter().zip(text.chunks_exact_mut(each)) {
            // The acknowledgement leaves now (t4), and not when its packet was taken.
            let waited_us = now.since(owed.received).as_ps() / Span::from_us(1).as_ps();
            let remote_queuing_us = u32::try_from(waited_us).unwrap_or(u32::MAX);
            Packet::Ack(Ack { remote_queuing_us, ..owed.ack }).encode(owed.flow, bytes);
        }
        self.left += count;
        if self.left == self.owed.len() {
            self.owed.clear();
            self.left = 0;
        }
        count * each
    }
}
