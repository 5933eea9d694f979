//! The soonest that a train of frames can cross a path: what a flow's slowdown is measured against.

use clearway_proto::units::{Bytes, Rate, Span};

/// The time from the start of the first bit at the NIC to the last bit's arrival at the destination, when `frames`
/// frames are sent back to back over these store-and-forward links with nothing else on them. All but the last frame
/// weigh `full_frame`. The result is exact to the picosecond: each transmission takes `ceil(bits / rate)`. The
/// computation takes time in proportion to the links, not to the frames. Panics without a frame.
fn ideal_completion(links: &[(Rate, Span)], full_frame: Bytes, last_frame: Bytes, frames: u64) -> Span {
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

/// The time that no schedule of these frames over any of `paths` beats, from the first bit at the NIC to the last bit's
/// arrival. All paths begin with one NIC's link and end with one host's. Over a single path it is the time that a train of frames
/// takes.
///
/// Two bounds, of which the larger counts. All frames cross the NIC's link one after the other, and the last of them then
/// crosses the quickest path alone. And all cross the last link one after the other, which none reaches before the first
/// full frame has left the NIC and a frame of the smaller size has crossed the quickest path. What the links between carry
/// together is not asked: with less than the hosts' rate the true time is longer.
pub fn ideal_over_paths(
    paths: &[Vec<(Rate, Span)>],
    full_frame: Bytes,
    last_frame: Bytes,
    frames: u64,
) -> Span {
    let [(nic_rate, nic_delay), .., (rate, delay)] = paths[0][..] else {
        return ideal_completion(&paths[0], full_frame, last_frame, frames);
    };
    if paths.len() == 1 {
        return ideal_completion(&paths[0], full_frame, last_frame, frames);
    }
    let crossing = |frame: Bytes| {
        let between = |path: &Vec<(Rate, Span)>| {
            let links = &path[1..path.len() - 1];
            links.iter().fold(Span::ZERO, |sum, (rate, delay)| sum + rate.transmission(frame) + *delay)
        };
        paths.iter().map(between).min().expect("there are paths")
    };
    let in_a_row = |rate: Rate| rate.transmission(full_frame) * (frames - 1) + rate.transmission(last_frame);
    let by_nic =
        in_a_row(nic_rate) + nic_delay + crossing(last_frame) + rate.transmission(last_frame) + delay;
    let (first, smaller) =
        if frames == 1 { (last_frame, last_frame) } else { (full_frame, full_frame.min(last_frame)) };
    let by_receiver = nic_rate.transmission(first) + nic_delay + crossing(smaller) + in_a_row(rate) + delay;
    by_nic.max(by_receiver)
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

    /// Returns when the last of some frames arrives of which each takes the path with this number, every link serving in order of
    /// arrival.
    fn over_paths(paths: &[Vec<(Rate, Span)>], sizes: &[Bytes], choice: &[usize]) -> Span {
        let (mut nic_free, mut ready) = (Span::ZERO, Vec::new());
        let mut free = vec![vec![Span::ZERO; paths[0].len()]; paths.len()];
        for (&size, &path) in sizes.iter().zip(choice) {
            nic_free += paths[0][0].0.transmission(size);
            let mut at = nic_free + paths[0][0].1;
            for link in 1..paths[path].len() - 1 {
                let (rate, delay) = paths[path][link];
                free[path][link] = at.max(free[path][link]) + rate.transmission(size);
                at = free[path][link] + delay;
            }
            ready.push((at, size));
        }
        ready.sort_unstable();
        let &(rate, delay) = paths[0].last().expect("links");
        ready.iter().fold(Span::ZERO, |free, (at, size)| free.max(*at) + rate.transmission(*size)) + delay
    }

    #[test]
    fn no_choice_of_paths_beats_the_bound_and_one_comes_near_where_paths_are_quick() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        for round in 0..300 {
            let mut link = |least: u64| {
                let rate = Rate::from_bps(least + stream.below(100_000_000_000));
                (rate, Span::from_ps(stream.below(2_000_000)))
            };
            let (nic, host) = (link(1_000_000_000), link(1_000_000_000));
            let quick = round % 2 == 0;
            let least = if quick { 1_000_000_000_000_000 } else { 1_000_000_000 };
            let paths: Vec<Vec<_>> = (0..3).map(|_| vec![nic, link(least), link(least), host]).collect();
            let (full, frames) = (Bytes::new(1500), 1 + stream.below(5));
            let last = Bytes::new(1 + stream.below(1500));
            let mut sizes = vec![full; frames as usize];
            sizes[frames as usize - 1] = last;
            let choices = 3usize.pow(frames as u32);
            let took = (0..choices).map(|number| {
                let choice: Vec<usize> = (0..frames).map(|at| number / 3usize.pow(at as u32) % 3).collect();
                over_paths(&paths, &sizes, &choice)
            });
            let best = took.min().expect("choices");
            let bound = ideal_over_paths(&paths, full, last, frames);
            assert!(bound <= best, "{paths:?} {frames}: {bound:?} above {best:?}");
            // No link between is ever busy for long, so the bound misses at most what a frame in the way takes.
            if quick {
                let slack = nic.0.transmission(full) + host.0.transmission(full);
                assert!(best <= bound + slack, "{paths:?} {frames}: {best:?} far above {bound:?}");
            }
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
