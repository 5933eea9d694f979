//! What an arbiter's work takes on this machine: the rates of requests that allocation keeps up with (experiment F, §7.3), and the
//! time of a timeslot's paths (experiment G) and of a grant.
//!
//! As in the authors' stress test, requests arrive as a Poisson process while batches of timeslots are due by the clock, and an
//! arbiter that is late works off what is due as fast as it can. What one thread does is timed by the processor time that it
//! had, so that other work on the machine takes nothing from it.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::arbiter::{ArbiterParams, Batches, PathParams, Selector};
use clearway_proto::fastpass::paths::{LeafSpine, Racks};

use super::pipeline::Pipeline;
use super::workload::{Matchings, Request, Requests, Sizes};
#[cfg(target_os = "linux")]
use crate::processor;

/// The mean number of slots in a request.
const REQUESTED: u32 = 10;
/// The bits of a slot, which is as long as a full frame on the wire.
const SLOT_BITS: f64 = 1538.0 * 8.0;
/// The number of requests that are drawn; a measurement goes through them again and again.
const DRAWN: usize = 1 << 18;
/// The most requests that are handed over before the clock is read again.
const AT_ONCE: usize = 1024;
/// The time between two calls of `go_on`.
const LOOK: Duration = Duration::from_millis(10);
/// Different slots that are timed together, so that no branch can be learned.
const SLOTS: usize = 64;
/// The share of slots that are asked for where a grant is timed.
const LOAD: f64 = 0.86;
/// Batches in which grants are timed; in a quarter of as many before, memory is fetched and the queue fills.
const TIMED: usize = 300;

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

/// The network and the load of a measurement of sustained throughput, and how long a rate is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct RateParams {
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
    /// How long the rate is tried.
    pub step: Duration,
    /// A rate is not sustained when more slots than this are asked for and not granted yet.
    pub backlog: u64,
}

/// A rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The throughput that was asked for, in Gb/s.
    pub offered_gbps: f64,
    /// The throughput that was granted, in Gb/s.
    pub granted_gbps: f64,
    /// The most slots that were asked for and not granted yet.
    pub backlog: u64,
    /// How long the rate was tried, in seconds.
    pub seconds: f64,
    /// How long the threads waited meanwhile for a processor that had other work, in seconds. It counts where the clock does.
    pub waited_seconds: f64,
}

/// Tries a rate, in requests a second of each host: none if `go_on`, which is asked some 100 times a second, said no. An error
/// names the parameters that exclude each other.
pub fn try_rate(
    params: &RateParams,
    rate: f64,
    seed: u64,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Tried>, String> {
    let mut arbiter = Arbiter::new(params)?;
    let nodes = params.racks * params.hosts;
    let rate = rate * nodes as f64;
    let mut requests = Requests::new(seed, nodes as u16, REQUESTED, Sizes::Exponential);
    let drawn: Vec<(f64, Request)> = (0..DRAWN).map(|_| (requests.gap(), requests.one())).collect();
    let mut drawn = drawn.iter().cycle();
    let mut next = || *drawn.next().expect("a cycle of requests has no end");
    let batch_s = f64::from(params.batch) * SLOT_BITS / (params.gbps * 1e9);
    let (gap, mut request) = next();
    let mut arrives = gap / rate;
    let (mut asked, mut granted, mut batches, mut backlog) = (0_u64, 0_u64, 0_u64, 0_u64);
    let before = waited();
    let since = if params.work == Work::BothOnTwo { by_the_clock() } else { by_this_thread() };
    let mut look = LOOK;
    loop {
        let elapsed = since();
        let seconds = elapsed.as_secs_f64();
        if elapsed >= params.step || backlog > params.backlog {
            return Ok(Some(Tried {
                offered_gbps: rate * f64::from(REQUESTED) * SLOT_BITS / 1e9,
                granted_gbps: granted as f64 * SLOT_BITS / seconds / 1e9,
                backlog,
                seconds,
                waited_seconds: waited().saturating_sub(before).as_secs_f64(),
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
            let gap;
            (gap, request) = next();
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

/// Returns the microseconds that selecting the paths of a slot takes, with the share `load` of the hosts sending, once for each
/// repeat; none if `go_on`, which is asked after each repeat and told how much is done, from 0 to 1, said no. An error names the
/// parameters that exclude each other.
pub fn time_paths(
    [racks, hosts, paths]: [usize; 3],
    load: f64,
    repeats: usize,
    seed: u64,
    go_on: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<Vec<f64>>, String> {
    let racks = Racks::uniform(racks, hosts).map_err(|error| error.to_string())?;
    let mut matchings = Matchings::new(seed, racks.endpoints() as u16);
    let mut network = LeafSpine::new(racks, paths).map_err(|error| error.to_string())?;
    let slots: Vec<_> = (0..SLOTS).map(|_| matchings.one(load)).collect();
    let mut times = Vec::with_capacity(repeats);
    for repeat in 0..=repeats {
        let since = by_this_thread();
        for slot in &slots {
            black_box(network.select(black_box(slot)).map_err(|error| error.to_string())?);
        }
        // The first repeat fetches memory and trains the branch predictor, so it does not count.
        if repeat > 0 {
            times.push(since().as_nanos() as f64 / 1e3 / SLOTS as f64);
        }
        if go_on(repeat as f64 / repeats as f64).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(times))
}

/// Returns the nanoseconds that a grant takes in batches of `slots` slots for `nodes` endpoints, most of whose slots are asked for.
pub fn time_grants(nodes: u16, slots: u32) -> Result<f64, String> {
    let params = AllocatorParams { nodes: nodes.into(), slots, ..AllocatorParams::default() };
    let mut allocator = Allocator::new(&params).map_err(|error| error.to_string())?;
    let mut requests = Requests::new(1, nodes, REQUESTED, Sizes::Fixed);
    let mean = LOAD * f64::from(nodes) * f64::from(slots) / f64::from(REQUESTED);
    let drawn: Vec<_> = (0..TIMED / 3 + TIMED).map(|_| requests.batch(mean)).collect();
    let (before, timed) = drawn.split_at(TIMED / 3);
    let mut grant_all = |batches: &[Vec<Request>]| {
        let grant = |batch: &Vec<Request>| {
            for one in batch {
                // A pair that waits for too much is refused, as it would be.
                let _ = allocator.request(one.source.into(), one.destination.into(), one.slots);
            }
            allocator.allocate().packets()
        };
        batches.iter().map(grant).sum::<usize>()
    };
    grant_all(before);
    let since = by_this_thread();
    let grants = grant_all(timed);
    Ok(since().as_nanos() as f64 / grants.max(1) as f64)
}

/// The time since this was called, by the wall clock.
#[allow(clippy::disallowed_methods)]
fn by_the_clock() -> Box<dyn Fn() -> Duration> {
    let started = Instant::now();
    Box::new(move || started.elapsed())
}

/// The processor time of this thread, which alone may ask, since this was called; where the system does not tell, that of the
/// wall clock.
fn by_this_thread() -> Box<dyn Fn() -> Duration> {
    #[cfg(target_os = "linux")]
    {
        let started = processor::thread_time();
        Box::new(move || Duration::from_nanos((processor::thread_time().as_ps() - started.as_ps()) / 1000))
    }
    #[cfg(not(target_os = "linux"))]
    by_the_clock()
}

/// Returns how long the threads of this process have waited for a processor that had other work, so far; zero where the system
/// does not tell.
fn waited() -> Duration {
    #[cfg(target_os = "linux")]
    return Duration::from_nanos(processor::waited_time().map_or(0, |time| time.as_ps() / 1000));
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

fn parts(params: &RateParams) -> Result<(ArbiterParams, Selector), String> {
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
    fn new(params: &RateParams) -> Result<Arbiter, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn params(work: Work) -> RateParams {
        let (step, backlog) = (Duration::from_millis(3), 2000);
        RateParams { racks: 4, hosts: 4, paths: 4, gbps: 10.0, batch: 16, work, step, backlog }
    }

    #[test]
    fn a_rate_is_sustained_until_it_is_too_high() {
        for work in [Work::Allocation, Work::Both, Work::BothOnTwo] {
            let tried =
                |rate| try_rate(&params(work), rate, 1, &mut || ControlFlow::Continue(())).unwrap().unwrap();
            let (slow, fast) = (tried(2e3), tried(2e6));
            assert!((fast.offered_gbps / slow.offered_gbps - 1e3).abs() < 1e-6, "{work:?}");
            assert!((slow.offered_gbps - 16.0 * 2e3 * 10.0 * 12_304e-9).abs() < 1e-9, "{slow:?}");
            // Sixteen endpoints have 160 Gb/s.
            assert!(fast.backlog > 2000, "{work:?}: {fast:?}");
            assert!(fast.granted_gbps <= fast.offered_gbps, "{fast:?}");
            assert!(slow.seconds >= 3e-3 || slow.backlog > 2000, "{slow:?}");
        }
    }

    #[test]
    fn each_repeat_has_a_time() {
        let mut shares = Vec::new();
        let times = time_paths([4, 4, 4], 0.5, 7, 1, &mut |share| {
            shares.push(share);
            ControlFlow::Continue(())
        });
        let times = times.unwrap().unwrap();
        assert_eq!((times.len(), shares.len()), (7, 8));
        assert!(times.iter().all(|us| *us > 0.0), "{times:?}");
        assert_eq!((shares[0], shares[7]), (0.0, 1.0));
    }

    #[test]
    fn a_grant_takes_time() {
        assert!(time_grants(16, 16).unwrap() > 0.0);
    }

    #[test]
    fn who_is_told_to_stop_does() {
        let mut asked = 0;
        let long = RateParams { step: Duration::from_secs(1000), ..params(Work::Allocation) };
        let found = try_rate(&long, 1.0, 1, &mut || {
            asked += 1;
            if asked == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!((found, asked), (Ok(None), 3));
        assert_eq!(time_paths([4, 4, 4], 0.5, 7, 1, &mut |_| ControlFlow::Break(())), Ok(None));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let none = RateParams { paths: 0, ..params(Work::Both) };
        let error = try_rate(&none, 1.0, 1, &mut || ControlFlow::Continue(())).unwrap_err();
        assert!(error.contains("path"), "{error}");
        let error = time_paths([1000, 4, 4], 0.5, 7, 1, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.contains("rack"), "{error}");
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn who_sleeps_has_no_processor_time() {
        let (wall, thread) = (by_the_clock(), by_this_thread());
        std::thread::sleep(Duration::from_millis(20));
        assert!(wall() >= Duration::from_millis(20));
        assert!(cfg!(not(target_os = "linux")) || thread() < Duration::from_millis(10));
        let before = thread();
        while thread() == before {}
    }
}
