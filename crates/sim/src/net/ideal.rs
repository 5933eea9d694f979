//! The soonest that a train of frames can cross a path: what a flow's slowdown is measured against.

use clearway_proto::units::{Bytes, Rate, Span};

/// The time from the start of the first bit at the NIC to the last bit's arrival at the destination, when `frames`
/// frames are sent back to back over these store-and-forward links with nothing else on them. All but the last frame
/// weigh `full_frame`. The result is exact to the picosecond: each transmission takes `ceil(bits / rate)`. The
/// computation takes time in proportion to the links, not to the frames. Panics without a frame.
pub fn ideal_completion(links: &[(Rate, Span)], full_frame: Bytes, last_frame: Bytes, frames: u64) -> Span {
    assert!(frames > 0, "a train without a frame");
    let full_frames = frames - 1;
    // Frames alike leave each hop at the pace of the slowest so far, so the last of the full ones leaves a
    // hop when the first one does, plus one slowest transmission for each that follows the first.
    let mut first_full = Span::ZERO;
    let mut slowest = Span::ZERO;
    let mut last = Span::ZERO;
    for &(rate, delay) in links {
        let transmission = rate.transmission(full_frame);
        first_full += transmission;
        slowest = slowest.max(transmission);
        let port_free = if full_frames == 0 { Span::ZERO } else { first_full + slowest * (full_frames - 1) };
        last = last.max(port_free) + rate.transmission(last_frame) + delay;
        first_full += delay;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Entity, Stream};

    /// Computes the same frame by frame and hop by hop: each starts when it has arrived and the port is free.
    fn frame_by_frame(links: &[(Rate, Span)], full: Bytes, last: Bytes, frames: u64) -> Span {
        let mut port_free = vec![Span::ZERO; links.len()];
        let mut arrived = Span::ZERO;
        for frame in 1..=frames {
            arrived = Span::ZERO;
            for (&(rate, delay), free) in links.iter().zip(&mut port_free) {
                let size = if frame == frames { last } else { full };
                *free = arrived.max(*free) + rate.transmission(size);
                arrived = *free + delay;
            }
        }
        arrived
    }

    #[test]
    fn it_is_what_the_frames_do_one_by_one() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        for round in 0..3000 {
            let links: Vec<(Rate, Span)> = (0..=stream.below(6))
                .map(|_| {
                    (
                        Rate::from_bps(1 + stream.below(400_000_000_000)),
                        Span::from_ps(stream.below(5_000_000)),
                    )
                })
                .collect();
            let full = Bytes::new(1 + stream.below(9000));
            // Mostly a shorter last frame, as in use; now and then a longer one.
            let last = Bytes::new(1 + stream.below(if round % 4 == 0 { 9000 } else { full.get() }));
            let frames = 1 + stream.below(40);
            assert_eq!(
                ideal_completion(&links, full, last, frames),
                frame_by_frame(&links, full, last, frames),
                "{links:?} {full} {last} {frames}"
            );
        }
    }

    #[test]
    fn one_frame_takes_the_sum_of_its_hops() {
        let links = [(Rate::from_gbps(100), Span::from_us(1)), (Rate::from_gbps(40), Span::from_us(2))];
        let frame = Bytes::new(4000);
        assert_eq!(ideal_completion(&links, frame, frame, 1), Span::from_ns(320 + 800 + 3000));
    }

    #[test]
    fn a_burst_adds_the_slowest_transmission_for_each_further_frame() {
        let links = [(Rate::from_gbps(100), Span::from_us(1)), (Rate::from_gbps(40), Span::from_us(2))];
        let frame = Bytes::new(4000);
        assert_eq!(
            ideal_completion(&links, frame, frame, 1001),
            Span::from_ns(320 + 800 + 3000 + 1000 * 800)
        );
    }
}
