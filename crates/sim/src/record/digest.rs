//! What a run's digest covers (version 2): the packet-hops, every flow's completion and counters, every link's
//! counters, with traffic classes also those of each class at every link, every engine's counters, and when every
//! operation was issued and done.

use crate::engine::digest::Digest;
use crate::simulation::Simulation;

/// The digest of a simulation that has ended.
pub fn digest(simulation: &Simulation) -> Digest {
    let mut digest = Digest::new();
    digest.add(simulation.packet_hops());
    let ends = simulation.flows().iter().zip(simulation.landings());
    for ((flow, landing), lost) in ends.zip(simulation.losses()) {
        let flight = flow.sender.flight();
        digest.add(landing.completed_at.as_ps());
        digest.add(landing.receiver.payload());
        digest.add(flight.sent);
        for count in [flight.retransmissions, flight.timeouts, flight.inflight] {
            digest.add(u64::from(count));
        }
        for count in [landing.arrived, landing.acks, flow.acks, lost.data, lost.acks] {
            digest.add(count);
        }
    }
    add_links(&mut digest, simulation);
    add_classes(&mut digest, simulation);
    for engine in simulation.engines() {
        for count in [engine.served_frames, engine.dropped_frames, engine.busy, engine.held, engine.peak] {
            digest.add(count);
        }
    }
    for (flow, done, trace) in simulation.operations().traces() {
        digest.add(u64::from(flow));
        digest.add(u64::from(done));
        digest.add(trace);
    }
    simulation.operations().refused().for_each(|refused| digest.add(refused));
    digest
}

fn add_links(digest: &mut Digest, simulation: &Simulation) {
    let fabric = simulation.fabric();
    for link in 0..fabric.len() as u32 {
        let port = fabric.port(link);
        let counters = fabric.counters(link);
        let waited = fabric.waited(link, simulation.time().as_ps());
        for count in [port.sent_bytes, port.sent_frames, waited as u64, (waited >> 64) as u64] {
            digest.add(count);
        }
        for count in [port.waiting, port.peak].map(u64::from) {
            digest.add(count);
        }
        for count in [counters.dropped_frames, counters.marked_frames, counters.lost_frames] {
            digest.add(count);
        }
    }
}

/// Nothing where there are no classes.
fn add_classes(digest: &mut Digest, simulation: &Simulation) {
    let fabric = simulation.fabric();
    for link in 0..fabric.len() as u32 {
        for queue in fabric.classes().queues(link) {
            let counters = &queue.counters;
            for count in [counters.sent_frames, counters.sent_bytes, counters.marked_frames] {
                digest.add(count);
            }
            for count in [counters.dropped_frames, counters.dropped_bytes, u64::from(queue.waiting)] {
                digest.add(count);
            }
        }
    }
}
