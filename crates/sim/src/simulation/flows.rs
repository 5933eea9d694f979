//! The two ends of a flow, and the paths between them.

use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ack, Data, Receiver};
use clearway_proto::units::Time;

use crate::engine::event::{Frame, Meta};
use crate::engine::prefetch::prefetch;
use crate::schemes::AnySender;

/// Where a path ends.
pub(super) const END: u32 = u32::MAX;

/// The sending end.
#[derive(Debug)]
#[repr(align(64))]
pub struct Flow {
    /// The machine.
    pub sender: AnySender,
    /// The pending entry of its timer.
    pub timer_at: Time,
    /// The pending entry of its pacing.
    pub pace_at: Time,
    /// Acknowledgements received.
    pub acks: u64,
    /// The round in which it waits for its NIC: its host's, and with classes that of its class.
    pub round: u32,
    /// The host's first link.
    pub nic: u32,
    /// The next flow that waits for the same NIC.
    pub next_waiting: u32,
    /// Bytes of a data frame beside its payload.
    pub overhead: u32,
    /// Index of its transport.
    pub transport: u16,
    /// Its data may be marked.
    pub ecn_capable: bool,
    /// It waits for the NIC.
    pub waiting: bool,
    /// It carries writes: operations that are done when they are acknowledged.
    pub writes: bool,
}

/// Frames of a flow that were lost anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLosses {
    /// Of data.
    pub data: u64,
    /// Of acknowledgements.
    pub acks: u64,
}

impl Flow {
    /// The next packet's frame.
    #[inline]
    pub(super) fn transmit(&mut self, flow: u32, now: Time) -> Frame {
        let data = self.sender.transmit(now);
        let flags = if self.ecn_capable { Meta::ECT } else { 0 } | if data.last { Meta::LAST } else { 0 };
        Frame {
            stamp: data.sent.as_ps(),
            flow_seq: u64::from(flow) << 32 | u64::from(data.seq),
            meta: Meta::new(data.payload + self.overhead, flags),
        }
    }
}

/// The receiving end.
#[derive(Debug)]
#[repr(align(64))]
pub struct Landing {
    /// The machine.
    pub receiver: Receiver,
    /// The pending entry of its timer.
    pub timer_at: Time,
    /// When a sized flow had arrived whole; [`Time::NEVER`] before that.
    pub completed_at: Time,
    /// Data frames that came, new or not.
    pub arrived: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Bytes of a data frame beside its payload.
    pub overhead: u32,
    /// Bytes of an acknowledgement's frame.
    pub ack_frame: u32,
    /// The flow has a size.
    pub sized: bool,
}

impl Landing {
    /// Takes a data frame; how many messages are whole with it.
    #[inline]
    pub(super) fn handle(&mut self, now: Time, received: Time, frame: &Frame) -> u32 {
        let data = Data {
            seq: frame.seq(),
            payload: frame.meta.size() - self.overhead,
            last: frame.meta.has(Meta::LAST),
            sent: Time::from_ps(frame.stamp),
        };
        // The last link leads to a host, not to a switch.
        let switches = frame.meta.hop() - 1;
        self.arrived += 1;
        self.receiver.handle_data(now, received, &data, frame.meta.has(Meta::CE), switches as u8);
        self.receiver.poll_completed()
    }

    /// The next acknowledgement that is due.
    #[inline]
    pub(super) fn acknowledgement(&mut self, now: Time) -> Option<Ack> {
        if self.receiver.readiness() != Readiness::Ready {
            return None;
        }
        self.acks += 1;
        Some(self.receiver.transmit(now))
    }
}

/// Every flow's links, there and back, one line of memory a flow.
#[derive(Debug)]
pub struct Paths {
    links: Vec<u32>,
    /// Places for one direction, a power of two.
    half: usize,
    /// The host whose NIC feeds a link, for the links that one does.
    nic_hosts: Vec<u32>,
}

impl Paths {
    /// Room for paths of up to `longest` links.
    pub(super) fn new(longest: usize, nic_hosts: Vec<u32>) -> Paths {
        Paths { links: Vec::new(), half: (longest + 1).next_power_of_two(), nic_hosts }
    }

    /// Adds the next flow's paths.
    pub(super) fn add(&mut self, there: &[u32], back: &[u32]) {
        for path in [there, back] {
            assert!(path.len() < self.half, "a path longer than the longest");
            self.links.extend(path);
            self.links.resize(self.links.len() + self.half - path.len(), END);
        }
    }

    /// The link that a frame takes next, or [`END`].
    #[inline]
    pub(super) fn link(&self, flow: u32, meta: Meta) -> u32 {
        let back = usize::from(meta.has(Meta::ACK));
        self.links[(flow as usize * 2 + back) * self.half + meta.hop() as usize]
    }

    /// The links from sender to receiver.
    pub fn there(&self, flow: u32) -> impl Iterator<Item = u32> + '_ {
        let from = flow as usize * 2 * self.half;
        self.links[from..from + self.half].iter().copied().take_while(|&link| link != END)
    }

    /// The first link of the way back.
    #[inline]
    pub(super) fn first_back(&self, flow: u32) -> u32 {
        self.links[(flow as usize * 2 + 1) * self.half]
    }

    /// The host whose NIC feeds this link.
    #[inline]
    pub(super) fn host_of_nic(&self, link: u32) -> Option<u32> {
        Some(self.nic_hosts[link as usize]).filter(|&host| host != END)
    }

    /// Hints that a flow's paths will be used.
    #[inline]
    pub(super) fn expect(&self, flow: u32) {
        prefetch(&self.links, flow as usize * 2 * self.half);
    }
}
