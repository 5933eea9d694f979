//! NICs whose receivers grant credit: the pacer of each, and which receiving ends it serves.

use std::collections::BTreeMap;

use clearway_proto::baseline::uec::pull_pacer::PullPacer;
use clearway_proto::transport::PullTerms;
use clearway_proto::units::Time;

/// A NIC that grants credit to the flows that end there.
#[derive(Debug)]
pub struct PullingNic {
    /// The machine.
    pub pacer: PullPacer,
    /// The receiving end of each flow, by its number with the pacer.
    pub ends: Vec<u32>,
    /// The pending entry of the pacer's next grant.
    pub wakes_at: Time,
}

/// Where a receiving end has its pacer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PullPlace {
    /// The NIC, by its number among those that grant credit.
    pub nic: u32,
    /// The flow's number with that NIC's pacer.
    pub flow: u32,
}

/// The NICs of a domain that grant credit. Empty where no receiver does.
#[derive(Debug, Default)]
pub struct Pulls {
    /// The NICs.
    pub nics: Vec<PullingNic>,
    /// The place of each receiving end that grants credit, by receiving end; meaningless for others.
    places: Vec<PullPlace>,
    /// The NIC of each host that has one, by host.
    of_host: BTreeMap<u32, u32>,
}

impl Pulls {
    /// Adds a receiving end of a host, which grants credit on these terms.
    pub fn add(&mut self, host: u32, end: u32, terms: PullTerms) {
        let next = self.nics.len() as u32;
        let nic = *self.of_host.entry(host).or_insert(next);
        if nic == next {
            self.nics.push(PullingNic {
                pacer: PullPacer::default(),
                ends: Vec::new(),
                wakes_at: Time::NEVER,
            });
        }
        let of = &mut self.nics[nic as usize];
        let flow = of.pacer.add(terms);
        of.ends.push(end);
        self.places.resize(end as usize + 1, PullPlace::default());
        self.places[end as usize] = PullPlace { nic, flow };
    }

    /// The place of a receiving end that grants credit.
    pub fn place(&self, end: u32) -> PullPlace {
        self.places[end as usize]
    }
}
