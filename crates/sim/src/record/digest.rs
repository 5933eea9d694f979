//! What a run's digest covers (version 2): the packet-hops, every flow's completion and counters, every link's
//! counters, with traffic classes also those of each class at every link, every processor's counters, and when every
//! operation was issued and done. Where there are probes, also when each of their packets was sent and its round trip. With
//! Fastpass, also what endpoints and arbiters have counted; with flow control, what it did to links; where packets were cut, how
//! often and by how much at each link; with jobs, when their iterations began and ended; with routes around dead links, what was
//! lost beside them.

use clearway_proto::units::Span;

use crate::engine::digest::Digest;
use crate::simulation::Simulation;

/// The digest of a simulation that has ended.
pub fn digest(simulation: &Simulation) -> Digest {
    let mut digest = Digest::new();
    digest.add(simulation.packet_hops());
    for flow in 0..simulation.specs().len() as u32 {
        let (sender, receiver, lost) =
            (simulation.sender(flow), simulation.receiver(flow), simulation.losses(flow));
        let flight = sender.sender.flight();
        digest.add(receiver.completed_at.as_ps());
        digest.add(receiver.receiver.payload());
        digest.add(flight.sent);
        for count in [flight.retransmissions, flight.timeouts, flight.inflight] {
            digest.add(u64::from(count));
        }
        for count in [receiver.arrived, receiver.acks, sender.acks, lost.data, lost.acks] {
            digest.add(count);
        }
    }
    add_links(&mut digest, simulation);
    add_classes(&mut digest, simulation);
    for (_, of) in simulation.processors() {
        for count in [of.served_frames, of.dropped_frames, of.busy, of.held, of.peak] {
            digest.add(count);
        }
    }
    for (flow, done, trace) in simulation.operation_traces() {
        digest.add(u64::from(flow));
        digest.add(u64::from(done));
        digest.add(trace);
    }
    simulation.refused_operations().into_iter().for_each(|refused| digest.add(refused));
    for iteration in simulation.jobs().flat_map(|job| job.iterations) {
        digest.add(iteration.began.as_ps());
        digest.add(iteration.ended.as_ps());
        digest.add(u64::from(iteration.ranks));
    }
    for (sent, round_trip) in simulation.probes().flatten() {
        digest.add(sent.as_ps());
        digest.add(round_trip.map_or(u64::MAX, Span::as_ps));
    }
    if simulation.routes_around() {
        simulation.taken_by_faults().into_iter().for_each(|count| digest.add(count));
    }
    add_fastpass(&mut digest, simulation);
    add_pauses(&mut digest, simulation);
    add_trims(&mut digest, simulation);
    digest
}

/// Adds what endpoints and arbiters have counted; there are none without Fastpass.
fn add_fastpass(digest: &mut Digest, simulation: &Simulation) {
    for (_, endpoint, slots) in simulation.endpoints() {
        let of = endpoint.counters();
        for count in [of.requests, of.demanded, of.granted, of.used, of.allocations, of.fallbacks] {
            digest.add(count);
        }
        digest.add(slots.filling.used());
        digest.add(slots.filling.unused());
    }
    for (_, arbiter) in simulation.arbiters() {
        for machine in arbiter.machines() {
            let of = machine.counters();
            digest.add(machine.term().into());
            for count in [of.requests, of.demanded, of.granted, of.allocations, of.resets, of.watchdogs] {
                digest.add(count);
            }
        }
    }
    if simulation.arbiters().next().is_some() {
        simulation.control_bytes().into_iter().for_each(|bytes| digest.add(bytes));
    }
}

/// Adds what flow control has done to links; nothing where there is none.
fn add_pauses(digest: &mut Digest, simulation: &Simulation) {
    for row in (0..simulation.links()).flat_map(|link| simulation.link_pauses(link)) {
        for count in [row.paused.as_ps(), row.pauses, row.frames, row.lost, row.peak, row.peak_headroom] {
            digest.add(count);
        }
    }
}

/// Adds what ports have cut off packets; nothing where none ever did.
fn add_trims(digest: &mut Digest, simulation: &Simulation) {
    for link in 0..simulation.links() {
        let counters = simulation.port_counters(link);
        if counters.trimmed_frames > 0 {
            digest.add(u64::from(link));
            digest.add(counters.trimmed_frames);
            digest.add(counters.trimmed_bytes);
        }
    }
}

fn add_links(digest: &mut Digest, simulation: &Simulation) {
    for link in 0..simulation.links() {
        let (port, counters) = (simulation.port_figures(link), simulation.port_counters(link));
        for count in [port.sent_bytes, port.sent_frames, port.waited as u64, (port.waited >> 64) as u64] {
            digest.add(count);
        }
        for count in [port.waiting_bytes, simulation.port(link).peak].map(u64::from) {
            digest.add(count);
        }
        for count in [counters.dropped_frames, counters.marked_frames, counters.lost_frames] {
            digest.add(count);
        }
    }
}

/// Adds the counters of each class at each link; there are none without classes.
fn add_classes(digest: &mut Digest, simulation: &Simulation) {
    for queue in (0..simulation.links()).flat_map(|link| simulation.port_classes(link)) {
        let counters = &queue.counters;
        for count in [counters.sent_frames, counters.sent_bytes, counters.marked_frames] {
            digest.add(count);
        }
        for count in [counters.dropped_frames, counters.dropped_bytes, u64::from(queue.waiting)] {
            digest.add(count);
        }
    }
}
