//! One run, from a scenario to its outcome: lets the simulator go from one point of a fixed time grid to the next and
//! observes it there. Sampling does not change what happens in the network.

use std::ops::ControlFlow;

use clearway_proto::units::{Span, Time};

use crate::alone;
use crate::model::Scenario;
use crate::record::explanation::{explain, Explanation};
use crate::record::observer::Observer;
use crate::record::{slowest, Outcome, Progress, Stopped};
use crate::simulation::footprint::HOSTS_A_THREAD;
use crate::simulation::Simulation;
use crate::topology::shape;

/// Grid on which a run that ends with its flows ends.
const COMPLETION_GRID: Span = Span::from_us(10);

/// How often a run looks whether a frame of a lossless class was dropped, or a job or flow can never end.
const LOOKS: u64 = 100;

/// The threads that a run of this scenario takes: as many as `asked` for, but at most one a host; without that as many
/// as it is worth.
pub fn threads_for(scenario: &Scenario, asked: Option<usize>, cores: usize) -> usize {
    match asked {
        Some(threads) => threads.clamp(1, hosts_of(scenario).max(1)),
        None => worthwhile_threads(scenario, cores),
    }
}

/// The threads that a run of this scenario is worth: one for each 256 hosts, at least one and at most `cores`. With more
/// it takes longer.
pub fn worthwhile_threads(scenario: &Scenario, cores: usize) -> usize {
    (hosts_of(scenario) / HOSTS_A_THREAD).clamp(1, cores.max(1))
}

fn hosts_of(scenario: &Scenario) -> usize {
    shape::of(&scenario.network.topology).hosts() as usize
}

/// Simulates a scenario on this thread; see [`run_on`].
pub fn run(
    scenario: &Scenario,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Stopped> {
    run_on(scenario, 1, progress)
}

/// Simulates a scenario on at most `threads` threads; the outcome is the same for any number. `progress` is called every
/// few thousand events and at every look, and may stop the run.
///
/// Panics when the simulator has lost track of a frame: conservation is checked at the end of every run.
pub fn run_on(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Stopped> {
    simulate(scenario, threads, progress, Aim::default()).map(|(outcome, _)| outcome)
}

/// Simulates a scenario as [`run_on`] does, but keeps what there is when `progress` stops it: the run then ends, audit
/// included, as it would if `duration` had been the time reached, and its outcome says that it was interrupted.
pub fn run_keeping_part(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Stopped> {
    let aim = Aim { keep_part: true, ..Aim::default() };
    simulate(scenario, threads, progress, aim).map(|(outcome, _)| outcome)
}

/// Simulates a scenario as [`run_on`] does, with the same outcome, and explains the completion times of these flows: of those that
/// have a size and are complete, by number. `None` in place of the explanations if there was no room for what has to be
/// written down.
pub fn run_explaining(
    scenario: &Scenario,
    threads: usize,
    flows: &[u32],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Outcome, Option<Vec<Explanation>>), Stopped> {
    simulate(scenario, threads, progress, Aim { explain: flows, ..Aim::default() })
}

/// The things that a run is to leave beside its outcome.
#[derive(Clone, Copy, Default)]
struct Aim<'a> {
    /// A run that is stopped leaves the part that it has simulated.
    keep_part: bool,
    /// The explanations of these flows.
    explain: &'a [u32],
}

/// Simulates a scenario, twice if the first run has to tell which flows are recorded. Each is half of the progress, and a first
/// run that is stopped is what there is.
fn simulate(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    aim: Aim,
) -> Result<(Outcome, Option<Vec<Explanation>>), Stopped> {
    let Some(first) = slowest::first_run(scenario) else {
        return simulate_once(scenario, threads, progress, aim);
    };
    let mut half = |at: Progress| progress(Progress { simulated_ps: at.simulated_ps / 2, ..at });
    let (first, _) = simulate_once(&first, threads, &mut half, Aim { explain: &[], ..aim })?;
    if first.interrupted {
        return Ok((first, None));
    }
    let (digest, hops) = (first.digest.clone(), first.packet_hops);
    let second = slowest::second_run(scenario, &first);
    drop(first);
    let mut half = |at: Progress| {
        let simulated_ps = at.end_ps.midpoint(at.simulated_ps);
        progress(Progress { simulated_ps, packet_hops: hops + at.packet_hops, ..at })
    };
    let (outcome, explanations) = simulate_once(&second, threads, &mut half, aim)?;
    assert!(
        outcome.interrupted || outcome.digest == digest,
        "a second run of a scenario is not as the first"
    );
    Ok((outcome, explanations))
}

fn simulate_once(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    aim: Aim,
) -> Result<(Outcome, Option<Vec<Explanation>>), Stopped> {
    let end = Time::ZERO + scenario.duration;
    let alone =
        if scenario.record.alone { alone::iterations(scenario, threads, progress)? } else { Vec::new() };
    let mut simulation = Simulation::new(scenario, threads);
    if !aim.explain.is_empty() {
        simulation.watch(aim.explain);
    }
    if let Some(packets) = &scenario.record.packets {
        simulation.capture(packets);
    }
    let mut observer = Observer::new(scenario, &simulation);
    simulation.meter(observer.flows_with_series());
    let mut proceed =
        |simulated_ps, packet_hops| progress(Progress { simulated_ps, end_ps: end.as_ps(), packet_hops });
    let grid = (scenario.duration / LOOKS).max(COMPLETION_GRID);
    let has_jobs = scenario.jobs().next().is_some();
    let mut now = Time::ZERO;
    let mut interrupted = false;
    while now < end && !interrupted {
        let completion = scenario.stop_when_complete.then(|| {
            let possible = simulation.not_complete_before().clamp(now, end);
            next_on_grid(possible, COMPLETION_GRID)
        });
        let look_for_drops = scenario.switches.any_pfc().then(|| now + grid);
        let waits = has_jobs || simulation.cuts_off();
        let looks = [completion, look_for_drops, waits.then(|| now + grid)];
        now = looks.into_iter().flatten().fold(observer.next_look().min(end), Time::min);
        // Asked here too: where little happens, there may be many looks between two of the simulation's questions.
        let asked = proceed(simulation.time().as_ps(), simulation.packet_hops());
        interrupted = asked.is_break() || simulation.run_until(now, &mut proceed).is_break();
        if interrupted && !aim.keep_part {
            return Err(Stopped::Interrupted);
        }
        now = simulation.time();
        if let Some(drop) = simulation.first_lossless_drop().filter(|_| !scenario.allow_loss) {
            return Err(Stopped::Dropped(drop));
        }
        if let Some(why) = simulation.standstill().or_else(|| simulation.stranded(scenario)) {
            return Err(Stopped::Standstill(why));
        }
        if look_for_drops.is_some() {
            simulation.assert_accounts_hold();
        }
        observer.look(&mut simulation, now);
        if completion == Some(now) && simulation.all_complete() {
            interrupted = false;
            break;
        }
    }
    simulation.assert_conservation();
    simulation.free_event_memory();
    let explanations = simulation.journals().map(|journals| journals.iter().map(explain).collect());
    let outcome = observer.finish(&simulation, now, alone);
    Ok((Outcome { interrupted: interrupted && now < end, ..outcome }, explanations))
}

/// The first multiple of `step` after `now`.
fn next_on_grid(now: Time, step: Span) -> Time {
    Time::from_ps((now.as_ps() / step.as_ps() + 1) * step.as_ps())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{threads_for, worthwhile_threads};
    use crate::check::load_text;

    #[test]
    fn a_run_is_worth_a_thread_for_each_256_hosts_and_no_more_than_there_are_cores() {
        for (hosts, cores, worth) in
            [(2, 8, 1), (511, 8, 1), (512, 8, 2), (2048, 8, 8), (2048, 2, 2), (2048, 0, 1)]
        {
            let text = format!(
                "format = 1\nname = 'x'\nduration = '1ms'\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
                 [transport.a]\nprotocol = 'swift'\n[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n"
            );
            let scenario =
                load_text(&text, "x", Path::new("."), &[], None).expect("a good scenario").scenario;
            assert_eq!(worthwhile_threads(&scenario, cores), worth, "{hosts} hosts, {cores} cores");
            assert_eq!(threads_for(&scenario, None, cores), worth);
            // As many as asked for, but none without a host.
            assert_eq!(threads_for(&scenario, Some(4), cores), hosts.min(4));
        }
    }
}
