//! A plain port: one queue with a buffer of its own, first in, first out.
//!
//! Nothing that comes later can change when a frame in such a queue leaves, so that is computed when the frame joins:
//! a hop is one event, the frame's arrival at the link's end, whether it had to wait or not. What the queue holds at
//! an instant is read off a list of the times at which its frames have left.

use super::backlog::{Departures, NONE};
use super::counters::AllCounters;
use super::port::{Port, PortFigures, PortKind};
use crate::engine::event::{Frame, Meta};

/// A frame comes to a plain port. Answers when it arrives at the link's end, or that there is no room for it.
#[inline(always)]
pub(super) fn send(
    port: &mut Port,
    departures: &mut Departures,
    counters: &mut AllCounters,
    at: u32,
    kinds: &[PortKind],
    now: u64,
    meta: &mut Meta,
) -> Option<u64> {
    let size = meta.size();
    let kind = &kinds[port.kind as usize];
    let transmission = kind.transmission(size);
    let left;
    if port.busy_until <= now {
        if port.backlog.head != NONE {
            departures.clear(&mut port.backlog);
        }
        port.backlog.held = size;
        left = now + transmission;
    } else {
        left = port.busy_until + transmission;
        let Some(held) = join(port, departures, kind.capacity, (now, left), size) else {
            counters.count_drop(at, size);
            return None;
        };
        if held > kind.mark_above && meta.contains(Meta::ECT) {
            *meta = meta.with(Meta::CE);
            counters.count_mark(at);
        }
    }
    port.busy_until = left;
    port.sent_bytes += u64::from(size);
    port.sent_frames += 1;
    Some(left + kind.delay.as_ps())
}

/// A frame joins the queue of a busy port with room for `capacity` bytes, to have left at `left`. Answers with the bytes
/// that it finds at the port, or that there is no room for it. Its arguments and its answer fit the processor's registers,
/// so that a call costs little; inlined, it would take these from the loop of a switch.
#[inline(never)]
fn join(
    port: &mut Port,
    departures: &mut Departures,
    capacity: u32,
    (now, left): (u64, u64),
    size: u32,
) -> Option<u32> {
    let backlog = &mut port.backlog;
    if backlog.head == NONE {
        // The frame in transmission, which has not left.
        departures.append(backlog, port.busy_until, backlog.held);
    } else {
        departures.settle(backlog, now);
    }
    let held = backlog.held;
    if capacity - held.min(capacity) < size {
        return None;
    }
    departures.append(backlog, left, size);
    backlog.held = held + size;
    port.peak = port.peak.max(held + size);
    port.count_wait(port.busy_until - now, size);
    Some(held)
}

/// What a plain port has sent and what waits, at `now`.
pub(super) fn figures(port: &Port, departures: &Departures, now: u64) -> PortFigures {
    let mut figures = PortFigures {
        sent_bytes: port.sent_bytes,
        sent_frames: port.sent_frames,
        waited: port.waited(),
        busy_until: port.busy_until,
        ..PortFigures::default()
    };
    // A frame begins when the one before it has left; the list's first has begun. What happens at `now` has not yet.
    let mut departures = departures.iter(port.backlog);
    let Some(first) = departures.next() else { return figures };
    figures.busy_until = first.at;
    let mut begins = first.at;
    for departure in departures {
        if begins >= now {
            figures.waiting_bytes += departure.size;
            figures.waiting_frames += 1;
            figures.waited -= u128::from(begins - now) * u128::from(departure.size);
        } else {
            figures.busy_until = departure.at;
        }
        begins = departure.at;
    }
    figures.sent_bytes -= u64::from(figures.waiting_bytes);
    figures.sent_frames -= figures.waiting_frames;
    figures
}

/// Whether a frame that is on its way from a plain port, to arrive at `arrival`, still waits there at `now`.
pub(super) fn waits(kind: &PortKind, frame: &Frame, arrival: u64, now: u64) -> bool {
    arrival - kind.delay.as_ps() - kind.transmission(frame.meta.size()) >= now
}
