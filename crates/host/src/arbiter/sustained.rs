//! The throughput that allocation sustains in real time on this machine (experiment F, §7.3).
//!
//! As in the authors' stress test: requests arrive as a Poisson process while batches of timeslots are due by the clock; the rate
//! doubles from step to step until what is asked for and not granted exceeds a limit, and then closes in on the rate at
//! which it does, by half of the distance each time. Requests are drawn beforehand. An arbiter that is late works off what is
//! due as fast as it can.

use std::ops::ControlFlow;
use std::time::Duration;

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::arbiter::{ArbiterParams, Batches, PathParams, Selector};
use clearway_proto::fastpass::paths::Racks;
use clearway_proto::fastpass::workload::{Request, Requests, Sizes};

use super::pipeline::Pipeline;
use super::stopwatch::{waited, Clock};

/// The mean number of slots in a request.
const REQUESTED: u32 = 10;
/// The bits of a slot, which is as long as a full frame on the wire.
const SLOT_BITS: f64 = 1538.0 * 8.0;
/// The number of requests that are drawn; a measurement goes through them again and again.
const DRAWN: usize = 1 << 18;
/// The most requests that are handed over before the clock is read again.
const AT_ONCE: usize = 1024;
/// The mean time between two requests of an endpoint at the first rate, in seconds.
const FIRST_GAP_S: f64 = 0.5e-3;
/// The most times that the rate doubles: 256 endpoints reach 257 Tb/s with it.
const MOST_DOUBLINGS: usize = 12;
/// The number of rates tried between the last one that was sustained and the first one that was not.
const CLOSER: usize = 7;
/// The number of times that a rate is tried before it counts as not sustained.
const ATTEMPTS: usize = 3;
/// The time between two calls of `go_on`.
const LOOK: Duration = Duration::from_millis(10);

/// Which threads do the arbiter's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One thread allocates.
    Allocation,
    /// One thread allocates and selects paths.
    Both,
    /// One thread allocates, another selects paths, and a third makes the requests.
    BothOnTwo,
}

/// The network, the load and the effort of a measurement of sustained throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct SustainedParams {
    /// The number of racks.
    pub racks: usize,
    /// The number of hosts in each rack.
    pub hosts: usize,
    /// The number of paths between two racks, where paths are selected.
    pub paths: usize,
    /// The rate of the hosts' links in Gb/s, which decides how long a slot is.
    pub gbps: f64,
    /// The number of slots in a batch.
    pub batch: u32,
    /// Which threads do the arbiter's work.
    pub work: Work,
    /// How long each rate is tried.
    pub step: Duration,
    /// A rate is not sustained when more slots than this are asked for and not granted yet.
    pub backlog: u64,
}

/// One rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The throughput that was asked for, in Gb/s.
    pub offered_gbps: f64,
    /// The throughput that was granted, in Gb/s.
    pub granted_gbps: f64,
    /// The most slots that were asked for and not granted yet.
    pub backlog: u64,
    /// Whether the backlog stayed within the limit.
    pub sustained: bool,
    /// How long the rate was tried, in seconds.
    pub seconds: f64,
    /// How long the threads waited meanwhile for a processor that had other work, in seconds. It counts where the clock does.
    pub waited_seconds: f64,
}

/// Returns the rates that were tried, in their order; none if `go_on`, which is asked some 100 times a second and told how
/// much is done, from 0 to about 1, said no. An error names the parameters that exclude each other.
pub fn measure(
    params: &SustainedParams,
    seed: u64,
    go_on: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<Vec<Step>>, String> {
    Arbiter::new(params)?;
    let nodes = params.racks * params.hosts;
    let mut requests = Requests::new(seed, nodes as u16, REQUESTED, Sizes::Exponential);
    let drawn: Vec<(f64, Request)> = (0..DRAWN).map(|_| (requests.gap(), requests.one())).collect();
    let mut steps = Vec::new();
    let mut rate = nodes as f64 / FIRST_GAP_S;
    let (mut held, mut failed) = (0.0, f64::INFINITY);
    for number in 0..MOST_DOUBLINGS + CLOSER {
        let mut go_on = || go_on(number as f64 / (MOST_DOUBLINGS + CLOSER) as f64);
        let Some(step) = try_often(params, &drawn, rate, &mut go_on)? else { return Ok(None) };
        steps.push(step);
        *(if step.sustained { &mut held } else { &mut failed }) = rate;
        if failed.is_finite() && steps.len() > CLOSER && closer(&steps) >= CLOSER {
            break;
        }
        rate = if failed.is_finite() { f64::midpoint(held, failed) } else { 2.0 * rate };
    }
    Ok(Some(steps))
}

/// The number of rates that were tried after the first one that was not sustained.
fn closer(steps: &[Step]) -> usize {
    steps.iter().position(|step| !step.sustained).map_or(0, |first| steps.len() - 1 - first)
}

fn parts(params: &SustainedParams) -> Result<(ArbiterParams, Selector), String> {
    let nodes = params.racks * params.hosts;
    let racks = Racks::uniform(params.racks, params.hosts).map_err(|error| error.to_string())?;
    let of = ArbiterParams {
        allocator: AllocatorParams { nodes, slots: params.batch, ..AllocatorParams::default() },
        paths: PathParams::LeafSpine { racks, paths: params.paths },
        ..ArbiterParams::default()
    };
    let selector = Selector::new(&of).map_err(|error| error.to_string())?;
    Ok((of, selector))
}

/// What an arbiter has that serves requests, by the threads that do its work: the parts of
/// [`Arbiter`](clearway_proto::fastpass::arbiter::Arbiter) that experiment F is about, without requests and allocations as packets.
enum Arbiter {
    Allocation(Box<Allocator>, u64),
    Both(Box<(Batches, Selector)>, u64),
    BothOnTwo(Box<(Batches, Pipeline)>),
}

impl Arbiter {
    fn new(params: &SustainedParams) -> Result<Arbiter, String> {
        let (of, selector) = parts(params)?;
        let batches = || Batches::new(&of).map_err(|error| error.to_string());
        Ok(match params.work {
            Work::Allocation => {
                let allocator = Allocator::new(&of.allocator).map_err(|error| error.to_string())?;
                Arbiter::Allocation(Box::new(allocator), 0)
            }
            Work::Both => Arbiter::Both(Box::new((batches()?, selector)), 0),
            Work::BothOnTwo => Arbiter::BothOnTwo(Box::new((batches()?, Pipeline::new(selector)))),
        })
    }

    /// Asks for the slots of a request.
    fn request(&mut self, request: Request) {
        let Request { source, destination, slots } = request;
        // A pair that waits for too much is not served more: that stays in the backlog.
        let _ = match self {
            Arbiter::Allocation(allocator, _) => allocator.request(source.into(), destination.into(), slots),
            Arbiter::Both(parts, _) => parts.0.request(0, source, destination, slots),
            Arbiter::BothOnTwo(parts) => parts.0.request(0, source, destination, slots),
        };
    }

    /// Has the next batch planned; false if there is no room for another batch now.
    fn order(&mut self) -> bool {
        match self {
            Arbiter::Allocation(allocator, granted) => *granted += allocator.allocate().packets() as u64,
            Arbiter::Both(parts, granted) => {
                let (batches, selector) = &mut **parts;
                let mut batch = batches.allocate();
                selector.select(batch.avoided.as_ref(), &mut batch.slots);
                *granted += batches.handle_selected(batch, |_, _| ()).granted;
            }
            Arbiter::BothOnTwo(parts) => {
                let (batches, pipeline) = &mut **parts;
                if !batches.has_room() {
                    pipeline.relieve();
                    return false;
                }
                pipeline.select(batches.allocate());
            }
        }
        true
    }

    /// The slots granted since this was last called, in batches that are ready.
    fn take(&mut self) -> u64 {
        match self {
            Arbiter::Allocation(_, granted) | Arbiter::Both(_, granted) => std::mem::take(granted),
            Arbiter::BothOnTwo(parts) => {
                let (batches, pipeline) = &mut **parts;
                let ready = std::iter::from_fn(|| pipeline.poll_selected());
                ready.map(|batch| batches.handle_selected(batch, |_, _| ()).granted).sum()
            }
        }
    }
}

/// Tries a rate, in requests a second, until it is sustained or was tried often enough.
fn try_often(
    params: &SustainedParams,
    drawn: &[(f64, Request)],
    rate: f64,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Step>, String> {
    let mut step = try_rate(params, drawn, rate, go_on)?;
    for _ in 1..ATTEMPTS {
        if step.is_some_and(|step| !step.sustained) {
            step = try_rate(params, drawn, rate, go_on)?;
        }
    }
    Ok(step)
}

fn try_rate(
    params: &SustainedParams,
    drawn: &[(f64, Request)],
    rate: f64,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Step>, String> {
    let mut arbiter = Arbiter::new(params)?;
    let batch_s = f64::from(params.batch) * SLOT_BITS / (params.gbps * 1e9);
    let mut drawn = drawn.iter().cycle();
    let (mut gap, mut request) = next_of(&mut drawn);
    let mut arrives = gap / rate;
    let (mut asked, mut granted, mut batches, mut backlog) = (0_u64, 0_u64, 0_u64, 0_u64);
    let before = waited();
    let clock = if params.work == Work::BothOnTwo { Clock::wall() } else { Clock::of_thread() };
    let mut look = LOOK;
    loop {
        let elapsed = clock.elapsed();
        let seconds = elapsed.as_secs_f64();
        if elapsed >= params.step || backlog > params.backlog {
            let gbps = |slots: u64| slots as f64 * SLOT_BITS / seconds / 1e9;
            let sustained = backlog <= params.backlog;
            let (offered_gbps, granted_gbps) = (rate * f64::from(REQUESTED) * SLOT_BITS / 1e9, gbps(granted));
            let waited_seconds = waited().saturating_sub(before).as_secs_f64();
            return Ok(Some(Step {
                offered_gbps,
                granted_gbps,
                backlog,
                sustained,
                seconds,
                waited_seconds,
            }));
        }
        if elapsed >= look {
            look = elapsed + LOOK;
            if go_on().is_break() {
                return Ok(None);
            }
        }
        for _ in 0..AT_ONCE {
            if arrives > seconds {
                break;
            }
            arbiter.request(request);
            asked += u64::from(request.slots);
            (gap, request) = next_of(&mut drawn);
            arrives += gap / rate;
        }
        if batches as f64 * batch_s <= seconds && arbiter.order() {
            batches += 1;
        } else if params.work == Work::BothOnTwo {
            std::thread::yield_now();
        }
        granted += arbiter.take();
        // Requests that have arrived and were not handed over yet wait as well.
        let waiting = ((seconds - arrives).max(0.0) * rate * f64::from(REQUESTED)) as u64;
        backlog = backlog.max(asked - granted + waiting);
    }
}

fn next_of<'a>(drawn: &mut impl Iterator<Item = &'a (f64, Request)>) -> (f64, Request) {
    *drawn.next().expect("a cycle of requests has no end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(work: Work) -> SustainedParams {
        SustainedParams {
            racks: 4,
            hosts: 4,
            paths: 4,
            gbps: 10.0,
            batch: 16,
            work,
            step: Duration::from_millis(3),
            backlog: 2000,
        }
    }

    #[test]
    fn rates_double_until_one_is_not_sustained_and_then_close_in() {
        for work in [Work::Allocation, Work::Both, Work::BothOnTwo] {
            let steps = measure(&params(work), 1, &mut |_| ControlFlow::Continue(())).unwrap().unwrap();
            let first = steps.iter().position(|step| !step.sustained).expect("sixteen endpoints have an end");
            for (before, after) in steps[..=first].iter().zip(&steps[1..=first]) {
                assert!((after.offered_gbps / before.offered_gbps - 2.0).abs() < 1e-9, "{work:?}");
            }
            assert_eq!(steps.len(), first + 1 + CLOSER, "{work:?}");
            for step in &steps {
                assert_eq!(step.sustained, step.backlog <= 2000, "{step:?}");
                // Sixteen endpoints have 160 Gb/s, and as late as they are, no more is granted than asked for.
                assert!(step.granted_gbps <= 1.1 * step.offered_gbps + 10.0, "{step:?}");
            }
            let held =
                steps.iter().filter(|step| step.sustained).map(|step| step.offered_gbps).fold(0.0, f64::max);
            let lost =
                steps.iter().filter(|step| !step.sustained).map(|step| step.offered_gbps).fold(1e9, f64::min);
            assert!(held < lost, "{work:?}: {held} held, {lost} not");
        }
    }

    #[test]
    fn who_is_told_to_stop_does() {
        let mut asked = 0;
        let long = SustainedParams { step: Duration::from_secs(1000), ..params(Work::Allocation) };
        let found = measure(&long, 1, &mut |_| {
            asked += 1;
            if asked == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!((found, asked), (Ok(None), 3));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let none = SustainedParams { paths: 0, ..params(Work::Both) };
        let error = measure(&none, 1, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.contains("path"), "{error}");
    }
}
