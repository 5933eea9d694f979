//! A plain port: one queue with a buffer of its own, first in, first out.
//!
//! Nothing that comes later can change when a frame in such a queue leaves, so that is computed when the frame joins:
//! a hop is one event, the frame's arrival at the link's end, whether it had to wait or not. What the queue holds at
//! an instant is read off a list of the times at which its frames have left.

use super::backlog::{Departures, NONE, NOT_CAPABLE};
use super::counters::AllCounters;
use super::port::{Port, PortFigures, PortKind};
use crate::engine::event::Meta;

/// A frame comes to a plain port; its arrival at the link's end will stand in `slot`. Answers when that is, or that there is no
/// room for it. A NIC marks nothing.
#[inline(always)]
pub(super) fn send<const NIC: bool>(
    port: &mut Port,
    departures: &mut Departures,
    counters: &mut AllCounters,
    kinds: &[PortKind],
    (at, now): (u32, u64),
    meta: &mut Meta,
    slot: u32,
) -> Option<u64> {
    let size = meta.size();
    let kind = &kinds[port.kind as usize];
    let transmission = kind.transmission(size);
    let left;
    if port.busy_until <= now {
        if port.backlog.head != NONE {
            if !NIC && port.intersects(Port::LISTED) {
                settle(port, departures, counters, kind.mark_behind, (at, now));
            } else {
                departures.clear(&mut port.backlog);
            }
        }
        port.backlog.held = size;
        left = now + transmission;
    } else {
        left = port.busy_until + transmission;
        let has_joined = if !NIC && port.intersects(Port::MARKS) {
            let slot = if meta.contains(Meta::ECT) { slot } else { NOT_CAPABLE };
            let marks = join_marking(port, departures, kind, (at, now, left), (size, slot));
            if let Some(marks @ Marks { count: 1.., .. }) = marks {
                counters.count_marks(at, u64::from(marks.count));
                if marks.is_marked {
                    *meta = meta.with(Meta::CE);
                }
            }
            marks.is_some()
        } else {
            join(port, departures, kind.capacity, (now, left), size)
        };
        if !has_joined {
            counters.count_drop(at, size);
            return None;
        }
    }
    port.busy_until = left;
    port.sent_bytes += u64::from(size);
    port.sent_frames += 1;
    Some(left + kind.delay.as_ps())
}

/// Frees the frames of a port that have left by `now`. Those that began to leave meanwhile with more than `threshold` bytes
/// behind are to be marked.
#[inline(never)]
pub(super) fn settle(
    port: &mut Port,
    departures: &mut Departures,
    counters: &mut AllCounters,
    threshold: u32,
    (at, now): (u32, u64),
) {
    let marked = departures.settle_and_judge(&mut port.backlog, now, threshold);
    if marked > 0 {
        counters.count_marks(at, u64::from(marked));
    }
}

/// The marks that a port makes as a frame joins its queue.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// How many there are, on that frame and on those before it.
    count: u32,
    /// The frame is marked by what it finds.
    is_marked: bool,
}

/// Does what [`join`] does, at a port that marks; a frame without a slot is not to be marked. Returns the marks; `None` if there is
/// no room for the frame.
#[inline(never)]
fn join_marking(
    port: &mut Port,
    departures: &mut Departures,
    kind: &PortKind,
    (at, now, left): (u32, u64, u64),
    (size, slot): (u32, u32),
) -> Option<Marks> {
    let mut marks = Marks::default();
    if port.backlog.head != NONE {
        marks.count = departures.settle_and_judge(&mut port.backlog, now, kind.mark_behind);
    }
    let held = port.backlog.held;
    if !append(port, departures, kind.capacity, (now, left), (size, slot)) {
        return None;
    }
    if held > kind.mark_above && slot != NOT_CAPABLE {
        marks = Marks { count: marks.count + 1, is_marked: true };
    }
    if port.backlog.held > kind.mark_behind && !port.intersects(Port::LISTED) {
        port.flags |= Port::LISTED;
        departures.marking.push(at);
    }
    Some(marks)
}

/// Adds a frame to the list of a busy port with room for `capacity` bytes. Returns whether there is room for it.
#[inline(always)]
fn append(
    port: &mut Port,
    departures: &mut Departures,
    capacity: u32,
    (now, left): (u64, u64),
    (size, slot): (u32, u32),
) -> bool {
    let backlog = &mut port.backlog;
    if backlog.head == NONE {
        // The frame in transmission, which has not left.
        departures.append(backlog, port.busy_until, backlog.held, NOT_CAPABLE);
    }
    let held = backlog.held;
    if capacity - held.min(capacity) < size {
        return false;
    }
    departures.append(backlog, left, size, slot);
    backlog.held = held + size;
    port.peak = port.peak.max(held + size);
    port.count_wait(port.busy_until - now, size);
    true
}

/// A frame joins the queue of a busy port with room for `capacity` bytes, to have left at `left`. Returns whether there is room
/// for it. Its arguments and its answer fit the processor's registers,
/// so that a call costs little; inlined, it would take these from the loop of a switch.
#[inline(never)]
fn join(
    port: &mut Port,
    departures: &mut Departures,
    capacity: u32,
    (now, left): (u64, u64),
    size: u32,
) -> bool {
    if port.backlog.head != NONE {
        departures.settle(&mut port.backlog, now);
    }
    append(port, departures, capacity, (now, left), (size, NOT_CAPABLE))
}

/// Returns what a plain port has sent and what waits, at `now`.
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

/// Returns how many frames that began to leave a plain port before `now` are marked by what waited behind them and not counted
/// yet.
pub(super) fn uncounted_marks(port: &Port, departures: &Departures, threshold: u32, now: u64) -> u64 {
    let (mut held, mut marked) = (port.backlog.held, 0);
    let frames = departures.iter(port.backlog);
    for (leaves, begins) in frames.clone().zip(frames.skip(1)).take_while(|(leaves, _)| leaves.at < now) {
        held -= leaves.size;
        marked += u64::from(held - begins.size > threshold && begins.slot != NOT_CAPABLE);
    }
    marked
}
