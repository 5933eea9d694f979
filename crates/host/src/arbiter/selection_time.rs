//! What selecting the paths of a timeslot takes on this machine (experiment G, §7.3): random matchings, one
//! thread, by its processor time, so that other work on the machine takes nothing from it.

use std::hint::black_box;
use std::ops::ControlFlow;

use clearway_proto::fastpass::paths::{LeafSpine, Racks};
use clearway_proto::fastpass::workload::Matchings;

use super::stopwatch::Clock;

/// Different slots that are timed together, so that no branch can be learned.
const SLOTS: usize = 64;

/// The network, the load and the effort of a measurement of path selection.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionParams {
    /// The number of racks.
    pub racks: usize,
    /// The number of hosts in each rack.
    pub hosts: usize,
    /// The number of paths between two racks.
    pub paths: usize,
    /// The share of the hosts that send in a slot.
    pub utilisation: f64,
    /// How often the selection for the same slots is timed.
    pub repeats: usize,
}

/// Returns the microseconds that a slot took in each repeat, in their order; none if `go_on`, which is asked after each
/// repeat and told how much is done, from 0 to 1, said no. An error names the parameters that exclude each other.
pub fn measure(
    params: &SelectionParams,
    seed: u64,
    go_on: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<Vec<f64>>, String> {
    let racks = Racks::uniform(params.racks, params.hosts).map_err(|error| error.to_string())?;
    let mut matchings = Matchings::new(seed, racks.endpoints() as u16);
    let mut network = LeafSpine::new(racks, params.paths).map_err(|error| error.to_string())?;
    let slots: Vec<_> = (0..SLOTS).map(|_| matchings.one(params.utilisation)).collect();
    let mut times = Vec::with_capacity(params.repeats);
    for repeat in 0..=params.repeats {
        let clock = Clock::of_thread();
        for slot in &slots {
            black_box(network.select(black_box(slot)).map_err(|error| error.to_string())?);
        }
        let us = clock.elapsed().as_nanos() as f64 / 1e3 / SLOTS as f64;
        // The first repeat fetches memory and trains the branch predictor, so it does not count.
        if repeat > 0 {
            times.push(us);
        }
        if go_on(repeat as f64 / params.repeats as f64).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: SelectionParams =
        SelectionParams { racks: 4, hosts: 4, paths: 4, utilisation: 0.5, repeats: 7 };

    #[test]
    fn each_repeat_has_a_time() {
        let mut shares = Vec::new();
        let times = measure(&SMALL, 1, &mut |share| {
            shares.push(share);
            ControlFlow::Continue(())
        });
        let times = times.unwrap().unwrap();
        assert_eq!((times.len(), shares.len()), (7, 8));
        assert!(times.iter().all(|us| *us > 0.0), "{times:?}");
        assert_eq!((shares[0], shares[7]), (0.0, 1.0));
    }

    #[test]
    fn who_is_told_to_stop_does() {
        assert_eq!(measure(&SMALL, 1, &mut |_| ControlFlow::Break(())), Ok(None));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let many = SelectionParams { racks: 1000, ..SMALL };
        let error = measure(&many, 1, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.contains("rack"), "{error}");
    }
}
