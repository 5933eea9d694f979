//! The workloads of the paper's experiments F and G (§7.3), for whoever measures the allocator and path selection.
//!
//! F: requests arrive as a Poisson process, between endpoints drawn uniformly, for 10 timeslots each; the authors' release draws
//! these exponentially, with that mean. G: the packets of a timeslot, a random matching of a share of the endpoints.

use clearway_proto::fastpass::paths::Pair;

/// How the slots that requests ask for are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All requests ask for the mean.
    Fixed,
    /// Exponentially, in whole slots and at least one.
    Exponential,
}

/// A request for timeslots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The endpoint that is to send.
    pub source: u16,
    /// The endpoint that is to receive.
    pub destination: u16,
    /// Timeslots.
    pub slots: u32,
}

/// Requests of experiment F, as many as are wanted.
#[derive(Clone, Debug)]
pub struct Requests {
    random: Random,
    nodes: u16,
    mean: u32,
    sizes: Sizes,
}

impl Requests {
    /// Returns requests between `nodes` endpoints, at least two, for `mean` slots each on average; the same for the same seed.
    ///
    /// Panics if there is only one endpoint, or none.
    pub fn new(seed: u64, nodes: u16, mean: u32, sizes: Sizes) -> Requests {
        assert!(nodes > 1, "an endpoint sends to another");
        Requests { random: Random(seed), nodes, mean, sizes }
    }

    /// Returns the requests that arrive in a time in which `mean` arrive on average.
    pub fn batch(&mut self, mean: f64) -> Vec<Request> {
        (0..self.random.poisson(mean)).map(|_| self.one()).collect()
    }

    /// Returns the next request.
    pub fn one(&mut self) -> Request {
        let (source, destination) = self.random.pair(self.nodes.into());
        let slots = match self.sizes {
            Sizes::Fixed => self.mean,
            Sizes::Exponential => self.random.geometric(f64::from(self.mean)),
        };
        Request { source, destination, slots }
    }

    /// The time from one arrival to the next, of which the mean is 1.
    pub fn gap(&mut self) -> f64 {
        -self.random.share().ln()
    }
}

/// The packets of timeslots, as experiment G's: random matchings.
#[derive(Clone, Debug)]
pub struct Matchings {
    random: Random,
    endpoints: usize,
}

impl Matchings {
    /// Returns matchings of `endpoints` endpoints; the same for the same seed.
    pub fn new(seed: u64, endpoints: u16) -> Matchings {
        Matchings { random: Random(seed), endpoints: endpoints.into() }
    }

    /// The packets of a slot in which this share of the endpoints send: each to another one or to itself.
    pub fn one(&mut self, load: f64) -> Vec<Pair> {
        let (sources, destinations) = (self.shuffled(), self.shuffled());
        let busy = (self.endpoints as f64 * load).round() as usize;
        sources.into_iter().zip(destinations).take(busy).collect()
    }

    fn shuffled(&mut self) -> Vec<u16> {
        let mut items: Vec<_> = (0..self.endpoints as u16).collect();
        for last in (1..self.endpoints).rev() {
            items.swap(last, self.random.below(last as u64 + 1) as usize);
        }
        items
    }
}

/// A small generator: what it draws need not be of high quality.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() * bound) >> 32
    }

    /// Two different endpoints.
    fn pair(&mut self, nodes: u64) -> (u16, u16) {
        let source = self.below(nodes);
        let other = self.below(nodes - 1);
        (source as u16, (other + u64::from(other >= source)) as u16)
    }

    /// Returns a number from 0 to 1, without 0.
    fn share(&mut self) -> f64 {
        (self.next() + 1) as f64 / (1_u64 << 32) as f64
    }

    /// Whole and at least 1, otherwise exponential, with this mean.
    fn geometric(&mut self, mean: f64) -> u32 {
        1 + (self.share().ln() / (1.0 - 1.0 / mean).ln()) as u32
    }

    /// Returns how many of a Poisson process's arrivals fall into a time in which `mean` do on average.
    fn poisson(&mut self, mean: f64) -> usize {
        let mut time = 0.0;
        let mut arrivals = 0;
        loop {
            time -= self.share().ln();
            if time > mean {
                return arrivals;
            }
            arrivals += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 40_000;

    #[test]
    fn requests_are_between_different_endpoints_drawn_uniformly() {
        let mut requests = Requests::new(1, 8, 10, Sizes::Fixed);
        let mut counts = [[0_u32; 8]; 8];
        for _ in 0..DRAWS {
            let request = requests.one();
            assert_eq!(request.slots, 10);
            counts[usize::from(request.source)][usize::from(request.destination)] += 1;
        }
        // 714 of each pair, with a standard deviation of 27.
        for (source, row) in counts.iter().enumerate() {
            for (destination, &count) in row.iter().enumerate() {
                let expected = if source == destination { 0..=0 } else { 580..=850 };
                assert!(expected.contains(&count), "{source} to {destination}: {count}");
            }
        }
    }

    #[test]
    fn sizes_and_gaps_are_exponential() {
        let mut requests = Requests::new(1, 8, 10, Sizes::Exponential);
        let sizes: Vec<f64> = (0..DRAWS).map(|_| f64::from(requests.one().slots)).collect();
        let gaps: Vec<f64> = (0..DRAWS).map(|_| requests.gap()).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&sizes) - 10.0).abs() < 0.2, "{}", mean(&sizes));
        assert!((mean(&gaps) - 1.0).abs() < 0.02, "{}", mean(&gaps));
        // Of an exponential distribution 1/e is above its mean.
        let above = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / DRAWS as f64;
        assert!((above - 0.368).abs() < 0.01, "{above}");
        assert!(sizes.iter().all(|size| *size >= 1.0));
    }

    #[test]
    fn batches_have_as_many_requests_as_they_should_on_average() {
        let mut requests = Requests::new(1, 8, 10, Sizes::Fixed);
        let total: usize = (0..4000).map(|_| requests.batch(7.5).len()).sum();
        assert!((total as f64 / 4000.0 - 7.5).abs() < 0.2, "{total}");
    }

    #[test]
    fn a_matching_has_each_endpoint_once() {
        let mut matchings = Matchings::new(1, 64);
        for (load, packets) in [(0.25, 16), (1.0, 64)] {
            let slot = matchings.one(load);
            assert_eq!(slot.len(), packets);
            for side in [|pair: &Pair| pair.0, |pair: &Pair| pair.1] {
                let mut ends: Vec<u16> = slot.iter().map(side).collect();
                ends.sort_unstable();
                ends.dedup();
                assert_eq!(ends.len(), packets);
            }
        }
        assert_ne!(matchings.one(1.0), matchings.one(1.0));
    }
}
