//! What an arbiter for a network needs: cores, what its link carries, how far ahead it must allocate, and how long packets wait.
//!
//! How often endpoints ask and are told, and how long messages wait for their slots, is rehearsed with the allocator itself
//! ([`rehearsal`]); what that costs is arithmetic with figures that were measured ([`Costs`]).

pub mod rehearsal;

use clearway_proto::fastpass::allocator::ParamsError;
use clearway_proto::fastpass::arbiter::ArbiterParams;
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::units::{Bytes, Rate, Span};
use rehearsal::{rehearse, Rehearsal, RehearsalParams};

/// An acknowledgement of 64 bytes on the wire, with its framing.
const ACK_BYTES: u64 = 102;
/// No more endpoints are rehearsed: how long a message waits hardly depends on how many others there are.
const MOST_REHEARSED: u16 = 256;
/// Grants of a rehearsal, about, for waits that chance changes little: some tenths of a second.
pub const GRANTS: f64 = 1e6;
/// Slots of a rehearsal at least, and at most.
const LEAST_SLOTS: f64 = 5_000.0;
const MOST_SLOTS: f64 = 400_000.0;

/// A network and its arbiter.
#[derive(Clone, Debug, PartialEq)]
pub struct ArbiterPlan {
    /// Hosts that send in slots.
    pub hosts: u16,
    /// The rate of a host's link.
    pub rate: Rate,
    /// The rate of the arbiter's link.
    pub arbiter_rate: Rate,
    /// A full frame on the wire.
    pub frame: Bytes,
    /// Payload of a full frame.
    pub payload: Bytes,
    /// The length of a slot.
    pub slot: Span,
    /// Racks; paths are selected if there are several.
    pub racks: u16,
    /// Paths between two racks.
    pub paths: u16,
    /// Slots of a batch.
    pub batch: u32,
    /// Slots from a batch's allocation to its first one.
    pub ahead: u32,
    /// The least time between two requests of an endpoint.
    pub interval: Span,
    /// The share of the slots in which a host sends data.
    pub load: f64,
    /// Slots of a message.
    pub message: u32,
    /// The delay of a link.
    pub delay: Span,
    /// The arbiter's time beside what its work takes, such as that of a pipeline.
    pub latency: Span,
    /// Arbiters that hear every request.
    pub arbiters: u16,
    /// What the arbiter's work costs.
    pub costs: Costs,
}

/// What the arbiter's work costs a core, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The cost to allocate a slot to a pair: [`Costs::grant_ns`].
    pub grant: f64,
    /// The cost to select a packet's path: [`Costs::path_ns`].
    pub path: f64,
    /// The cost of a control packet that comes or leaves: [`Costs::PACKET_NS`].
    pub packet: f64,
}

impl Costs {
    /// 660 ns. Fitted to the paper's experiment E, whose core that talks to the network is full at 170 Gb/s of traffic: it
    /// counts a network card and its driver, of which encoding and decoding are 30 to 100 ns.
    pub const PACKET_NS: f64 = 660.0;

    /// Returns what a grant costs, as measured at a load of 0.86 (docs/PERFORMANCE.md): 3.1, 3.4 and 4.5 ns for 256, 1024 and
    /// 4096 endpoints in batches of 64 slots, and 1.6 times as much in batches of 16.
    pub fn grant_ns(hosts: u16, batch: u32) -> f64 {
        let doublings = f64::from(hosts.max(256)).log2() - 8.0;
        let whole = if doublings <= 2.0 { 3.1 + 0.15 * doublings } else { 3.4 + 0.55 * (doublings - 2.0) };
        whole * (1.0 + 0.3 * (64.0 / f64::from(batch)).log2().max(0.0))
    }

    /// Returns what selecting a packet's path costs, as measured: 6.8 ns for up to 32 racks and 23 ns for 100
    /// (docs/PERFORMANCE.md).
    pub fn path_ns(racks: u16) -> f64 {
        6.8 + f64::from(racks.saturating_sub(32)) * (23.0 - 6.8) / 68.0
    }
}

/// What a plan comes to.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Requests of all endpoints a second, each counted once.
    pub requests: f64,
    /// Allocations a second.
    pub allocations: f64,
    /// Slots granted a second.
    pub grants: f64,
    /// Slots granted for each slot of data.
    pub slots_a_packet: f64,
    /// Bytes of a request on the wire, on average.
    pub request_bytes: f64,
    /// Bytes of an allocation on the wire, on average.
    pub allocation_bytes: f64,
    /// Cores for allocation, which one must do alone; for path selection; and for control packets.
    pub cores: [f64; 3],
    /// The share of the arbiter's link that requests and allocations take.
    pub arbiter_link: [f64; 2],
    /// The share of a host's link that they take.
    pub host_link: [f64; 2],
    /// The share of a host's link that slots leave to them.
    pub left: f64,
    /// The time from a message's coming to its first slot: mean and 99th percentile.
    pub first_slot: Option<[Span; 2]>,
    /// The time from a message's coming to its last slot: mean and 99th percentile.
    pub last_slot: Option<[Span; 2]>,
    /// The time from an allocation's decision until the last endpoint has heard of it.
    pub told: Span,
    /// Slots that [`ArbiterPlan::ahead`] must be at least, and may be at most.
    pub ahead: [u32; 2],
    /// The payload that all hosts get a second, in bits, if the allocator keeps up with what is asked.
    pub goodput: f64,
    /// Whether more is asked for than a matching can grant.
    pub falls_behind: bool,
}

impl ArbiterPlan {
    /// Links between a host and the arbiter.
    fn links(&self) -> u64 {
        if self.racks > 1 {
            4
        } else {
            2
        }
    }

    /// The time of a control packet from a host to the arbiter, or back.
    pub fn way(&self) -> Span {
        (self.delay + self.rate.transmission(Bytes::new(84))) * self.links()
    }

    fn rehearsal(&self, grants: f64) -> RehearsalParams {
        let slots = |span: Span| span.as_ps() as f64 / self.slot.as_ps() as f64;
        let hosts = self.hosts.min(MOST_REHEARSED);
        let wanted = grants / (f64::from(hosts) * self.load);
        // A message's end is to be seen, and the beginning left out.
        let long =
            40.0 * (f64::from(self.message) / self.load + f64::from(self.ahead) + slots(self.interval));
        RehearsalParams {
            hosts,
            batch: self.batch,
            ahead: self.ahead,
            load: self.load,
            message: self.message,
            interval: slots(self.interval),
            acks_a_slot: (self.frame.get() / ACK_BYTES).max(1) as u32,
            way: slots(self.way()),
            slots: wanted.clamp(LEAST_SLOTS, MOST_SLOTS).max(long.min(MOST_SLOTS)) as u64,
        }
    }

    /// Returns what the plan comes to, rehearsed with what `seed` draws for `grants` grants: [`GRANTS`], or fewer for less exact
    /// waits.
    ///
    /// Errors: as an allocator's.
    pub fn needs(&self, seed: u64, grants: f64) -> Result<Needs, ParamsError> {
        let params = self.rehearsal(grants);
        let done = rehearse(&params, seed)?;
        let seconds = done.slots as f64 * self.slot.as_secs_f64();
        // Of the endpoints rehearsed, as if they were all.
        let a_second = |count: u64| count as f64 / seconds * f64::from(self.hosts) / f64::from(params.hosts);
        let falls_behind = done.falls_behind(params.hosts, self.message);
        let slots_a_packet = done.granted as f64 / done.data.max(1) as f64;
        // What is offered is known without what chance has made of it.
        let offered = f64::from(self.hosts) * self.load / self.slot.as_secs_f64();
        let data = if falls_behind { a_second(done.data) } else { offered };
        let (requests, grants) = (a_second(done.requests), data * slots_a_packet);
        let allocations = a_second(done.allocations) + self.empty_allocations();
        let [request_bytes, allocation_bytes] = self.bytes(&done);
        let Costs { grant, path, packet } = self.costs;
        let several = f64::from(u8::from(self.racks > 1));
        let cores =
            [grants * grant, grants * path * several, (requests + allocations) * packet].map(|ns| ns / 1e9);
        let share = |packets: f64, bytes: f64, rate: Rate| packets * bytes * 8.0 / rate.as_bps() as f64;
        let one = f64::from(self.hosts);
        let told = self.told(&cores, allocations, allocation_bytes);
        let span = |[mean, p99]: [f64; 2]| [self.slot.scaled(mean), self.slot.scaled(p99)];
        Ok(Needs {
            requests,
            allocations,
            grants,
            slots_a_packet,
            request_bytes,
            allocation_bytes,
            cores,
            arbiter_link: [
                share(requests, request_bytes, self.arbiter_rate),
                share(allocations, allocation_bytes, self.arbiter_rate),
            ],
            host_link: [
                share(requests / one * f64::from(self.arbiters), request_bytes, self.rate),
                share(allocations / one, allocation_bytes, self.rate),
            ],
            left: 1.0 - self.rate.transmission(self.frame).as_ps() as f64 / self.slot.as_ps() as f64,
            first_slot: done.first_slot().map(span),
            last_slot: done.last_slot().map(span),
            told,
            ahead: [told.as_ps().div_ceil(self.slot.as_ps()) as u32, self.most_ahead()],
            goodput: data * self.payload.get() as f64 * 8.0,
            falls_behind,
        })
    }

    /// Allocations without grants that acknowledge requests where batches are far apart.
    fn empty_allocations(&self) -> f64 {
        let batch = self.slot * u64::from(self.batch);
        let each = (batch.as_ps() / ArbiterParams::default().acknowledge.as_ps()) as f64;
        f64::from(self.hosts) * each / batch.as_secs_f64()
    }

    /// Bytes on the wire of a request and of an allocation: a shortest frame of 84 or 38 of framing, the IP header, some 15 and
    /// 25 of the packets' own, 5 for each destination, and in an allocation a slot of a byte and its path.
    fn bytes(&self, done: &Rehearsal) -> [f64; 2] {
        let demands = done.demands as f64 / done.requests.max(1) as f64;
        let allocations = done.allocations.max(1) as f64;
        let (destinations, slots) =
            (done.destinations as f64 / allocations, done.granted as f64 / allocations);
        let path = match self.racks {
            1 => 0.0,
            _ => f64::from(self.paths.max(2)).log2().ceil() / 8.0,
        };
        [(73.0 + 5.0 * demands).max(84.0), (83.0 + 5.0 * destinations + slots * (1.0 + path)).max(84.0)]
    }

    /// The time from the decision on a batch until the last endpoint has heard: allocation and path selection of a batch, its
    /// allocations one after the other through the core or the link, whichever takes longer, and the way.
    fn told(&self, cores: &[f64; 3], allocations: f64, bytes: f64) -> Span {
        let batch = self.slot * u64::from(self.batch);
        let work = batch.scaled(cores[0] + cores[1]);
        let packets = allocations * batch.as_secs_f64();
        let cpus = cores[2].ceil().max(1.0);
        let through = (packets * self.costs.packet * 1e-9 / cpus)
            .max(packets * bytes * 8.0 / self.arbiter_rate.as_bps() as f64);
        work + Span::from_ps((through * 1e12) as u64) + self.latency + self.way()
    }

    /// Endpoints refuse grants that are further ahead.
    fn most_ahead(&self) -> u32 {
        let early = EndpointSettings::default().early;
        let slots = (early.as_ps() / self.slot.as_ps()).max(EndpointSettings::EARLY_SLOTS.into());
        (slots as u32).saturating_sub(self.batch)
    }
}

impl Needs {
    /// Cores that do all, if work is divided among them.
    pub fn whole_cores(&self) -> u32 {
        self.cores.iter().sum::<f64>().ceil().max(1.0) as u32
    }

    /// Returns how many of `hosts` hosts the arbiter's link can tell of their slots.
    pub fn hosts_told(&self, hosts: u16) -> u32 {
        (f64::from(hosts) / self.arbiter_link[0].max(self.arbiter_link[1])) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: f64 = 1e5;

    fn plan(hosts: u16) -> ArbiterPlan {
        ArbiterPlan {
            hosts,
            rate: Rate::from_gbps(10),
            arbiter_rate: Rate::from_gbps(10),
            frame: Bytes::new(1538),
            payload: Bytes::new(1448),
            slot: Span::from_ps(1_242_828),
            racks: 1,
            paths: 1,
            batch: 16,
            ahead: 40,
            interval: Span::from_us(34),
            load: 0.6,
            message: 10,
            delay: Span::from_us(1),
            latency: Span::ZERO,
            arbiters: 1,
            costs: Costs { grant: 5.0, path: 7.0, packet: 600.0 },
        }
    }

    #[test]
    fn costs_are_those_that_were_measured() {
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.02, "{found} {wanted}");
        for (hosts, ns) in [(256, 3.1), (1024, 3.4), (4096, 4.5)] {
            near(Costs::grant_ns(hosts, 64), ns);
        }
        near(Costs::grant_ns(256, 16), 5.0);
        near(Costs::grant_ns(16, 64), 3.1);
        near(Costs::path_ns(16), 6.8);
        near(Costs::path_ns(100), 23.0);
    }

    #[test]
    fn what_each_core_does_adds_up() {
        let needs = plan(64).needs(1, FEW).expect("a plan");
        // 0.6 of the slots of 64 hosts, and some of acknowledgements.
        let grants = 64.0 * 0.6 * needs.slots_a_packet / 1.242_828e-6;
        assert!((needs.grants / grants - 1.0).abs() < 0.02, "{}", needs.grants);
        assert!(needs.slots_a_packet > 1.05 && needs.slots_a_packet < 1.2, "{}", needs.slots_a_packet);
        assert!((needs.cores[0] - needs.grants * 5e-9).abs() < 1e-9);
        assert_eq!(needs.cores[1], 0.0);
        assert!((needs.cores[2] - (needs.requests + needs.allocations) * 600e-9).abs() < 1e-9);
        // Hosts ask every 34 us at most, and are told once a batch.
        assert!(needs.requests <= 64.0 / 34e-6 * 1.01 && needs.requests > 0.9 * 64.0 / 34e-6);
        assert!((needs.allocations * 1.242_828e-6 * 16.0 / 64.0) > 0.9);
        let racks = ArbiterPlan { racks: 4, paths: 4, ..plan(64) }.needs(1, FEW).expect("a plan");
        assert!((racks.cores[1] - racks.grants * 7e-9).abs() < 1e-9);
        assert_eq!(racks.whole_cores(), racks.cores.iter().sum::<f64>().ceil() as u32);
    }

    #[test]
    fn who_is_farther_or_slower_needs_to_be_further_ahead() {
        let of = |change: &dyn Fn(&mut ArbiterPlan)| {
            let mut plan = plan(16);
            change(&mut plan);
            plan.needs(1, FEW).expect("a plan")
        };
        let near = of(&|_| ());
        let far = of(&|plan| plan.delay = Span::from_us(20));
        // Two links of 19 us more; how many allocations there are hardly changes.
        assert!((far.told.as_us_f64() - near.told.as_us_f64() - 38.0).abs() < 0.1);
        assert_eq!(of(&|plan| plan.latency = Span::from_us(50)).ahead[0], near.ahead[0] + 40);
        assert_eq!(near.ahead[1], 48);
        // At ten times the rate a slot is a tenth, and what is told takes a tenth on the link, but as much of a core.
        let fast = of(&|plan| {
            (plan.rate, plan.arbiter_rate) = (Rate::from_gbps(100), Rate::from_gbps(100));
            plan.slot = plan.slot / 10;
        });
        assert!(fast.cores[0] > 9.0 * near.cores[0] && fast.ahead[0] > near.ahead[0]);
        assert!((fast.goodput / near.goodput / 10.0 - 1.0).abs() < 0.02);
    }

    #[test]
    fn an_arbiters_link_has_room_for_so_many_hosts() {
        let needs = plan(64).needs(1, FEW).expect("a plan");
        let told = needs.hosts_told(64);
        let more = plan(told as u16 + 20).needs(1, FEW).expect("a plan");
        assert!(
            needs.arbiter_link[1] < 1.0 && more.arbiter_link[1] > 1.0,
            "{told}: {}",
            more.arbiter_link[1]
        );
        assert!(ArbiterPlan { load: 1.0, ..plan(16) }.needs(1, FEW).expect("a plan").falls_behind);
    }
}
