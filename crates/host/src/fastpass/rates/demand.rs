//! The number of slots that the bytes waiting for a destination need.

use clearway_proto::units::Span;

/// Slots that are to be granted beyond those that are granted already, of length `slot`, for bytes that take `waiting` of link time,
/// of which grants not used yet cover `outstanding`.
///
/// Where an application has more than its socket takes (`is_full`), the next slots are needed whatever waits: as many as the link
/// has within `horizon`. For what waits then is no measure of the need. A socket's buffer holds two windows, and grows with what it
/// is allowed to send; were the demand what the buffer holds, a slow pair would stay slow. So its demand never runs dry between two
/// looks if `horizon` is longer than a look and the time that an arbiter takes to answer. At its end, up to `horizon` of slots of
/// the link go unused.
///
/// No more than four horizons are needed at a time: demand that runs far ahead would be granted long after the flow has changed.
pub(super) fn needed(waiting: Span, outstanding: Span, is_full: bool, slot: Span, horizon: Span) -> u32 {
    let slots = |span: Span| span.as_ps().div_ceil(slot.as_ps());
    let next = slots(horizon);
    let waiting = slots(waiting.saturating_sub(outstanding)).min(4 * next);
    waiting.max(if is_full { next } else { 0 }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Span = Span::from_us(500);
    const HORIZON: Span = Span::from_ms(5);

    fn of(waiting_us: u64, outstanding_us: u64, is_full: bool) -> u32 {
        needed(Span::from_us(waiting_us), Span::from_us(outstanding_us), is_full, SLOT, HORIZON)
    }

    #[test]
    fn a_begun_slot_is_needed_whole_and_what_is_granted_is_not_needed_again() {
        assert_eq!((of(0, 0, false), of(1, 0, false), of(500, 0, false), of(501, 0, false)), (0, 1, 1, 2));
        assert_eq!((of(2000, 1000, false), of(2000, 2000, false), of(1000, 2000, false)), (2, 0, 0));
    }

    #[test]
    fn a_full_buffer_needs_the_slots_of_the_horizon_whatever_it_holds() {
        assert_eq!((of(600, 5000, true), of(0, 0, true), of(8000, 1000, true)), (10, 10, 14));
    }

    #[test]
    fn demand_does_not_run_far_ahead() {
        assert_eq!((of(1_000_000, 0, false), of(1_000_000, 0, true)), (40, 40));
    }
}
