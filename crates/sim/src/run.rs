//! One run, from a scenario to its outcome: lets the simulator go from one point of a fixed time grid to the next and
//! observes it there. Sampling does not change what happens in the network.

use std::ops::ControlFlow;

use clearway_proto::units::{Span, Time};

use crate::model::Scenario;
use crate::net::shape;
use crate::record::observer::Observer;
use crate::record::{Outcome, Progress, Stopped};
use crate::simulation::Simulation;

/// Grid on which a run that ends with its flows ends.
const COMPLETION_GRID: Span = Span::from_us(10);

/// How often a run looks whether a frame of a lossless class was dropped.
const DROP_LOOKS: u64 = 100;

/// How many hosts are worth a thread: with fewer, threads wait for each other longer than they work.
const HOSTS_A_THREAD: usize = 256;

/// The threads that a run of this scenario takes: as many as `asked` for, but at most one a host; without that one for
/// each 256 hosts, at least one and at most `cores`.
pub fn threads_for(scenario: &Scenario, asked: Option<usize>, cores: usize) -> usize {
    let hosts = shape::of(&scenario.network.topology).hosts() as usize;
    match asked {
        Some(threads) => threads.clamp(1, hosts.max(1)),
        None => (hosts / HOSTS_A_THREAD).clamp(1, cores.max(1)),
    }
}

/// Simulates a scenario on this thread; see [`run_on`].
pub fn run(
    scenario: &Scenario,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Stopped> {
    run_on(scenario, 1, progress)
}

/// Simulates a scenario on at most so many threads; the outcome is the same for any number. `progress` is called every
/// few thousand events and at every look, and may stop the run.
///
/// Panics when the simulator has lost track of a frame: conservation is checked at the end of every run.
pub fn run_on(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Stopped> {
    let end = Time::ZERO + scenario.duration;
    let mut simulation = Simulation::new(scenario, threads);
    let mut observer = Observer::new(scenario, &simulation);
    let mut proceed =
        |simulated_ps, packet_hops| progress(Progress { simulated_ps, end_ps: end.as_ps(), packet_hops });
    let drop_grid = (scenario.duration / DROP_LOOKS).max(COMPLETION_GRID);
    let mut now = Time::ZERO;
    while now < end {
        let completion = scenario.stop_when_complete.then(|| {
            let possible = simulation.not_complete_before().clamp(now, end);
            next_on_grid(possible, COMPLETION_GRID)
        });
        let look_for_drops = scenario.switches.any_pfc().then(|| now + drop_grid);
        now = observer.next_look().min(completion.unwrap_or(end)).min(look_for_drops.unwrap_or(end)).min(end);
        // Asked here too: where little happens, there may be many looks between two of the simulation's questions.
        let asked = proceed(simulation.time().as_ps(), simulation.packet_hops());
        if asked.is_break() || simulation.run_until(now, &mut proceed).is_break() {
            return Err(Stopped::Interrupted);
        }
        if let Some(drop) = simulation.first_lossless_drop().filter(|_| !scenario.allow_loss) {
            return Err(Stopped::Dropped(drop));
        }
        observer.look(&mut simulation, now);
        if completion == Some(now) && simulation.all_complete() {
            break;
        }
    }
    simulation.assert_conservation();
    simulation.forget_what_is_to_come();
    Ok(observer.finish(&simulation, now))
}

/// The first multiple of `step` after `now`.
fn next_on_grid(now: Time, step: Span) -> Time {
    Time::from_ps((now.as_ps() / step.as_ps() + 1) * step.as_ps())
}
