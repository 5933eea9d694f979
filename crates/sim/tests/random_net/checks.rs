//! What must hold of a scenario: it is accepted, runs to its end, passes its audit, and says the same however it is run
//! and however it is written.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::Once;

use clearway_sim::check::{load_text, Loaded};
use clearway_sim::record::{Outcome, Progress, Stopped};

use crate::random_net::case::{Case, Folder, Table};
use crate::random_net::draw::LONG_ENOUGH;
use crate::random_net::outcomes::{difference, faster_than_links, figure, impossible};
use crate::random_net::rewriting::REWRITINGS;

type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A mode of running a scenario. Whichever it is, the outcome is the same.
pub struct RunMode {
    pub name: &'static str,
    pub run: Run,
}

type Run = fn(&Loaded, OnProgress) -> Result<Outcome, Stopped>;

/// The modes in which every scenario is run after the first time.
pub const RUN_MODES: &[RunMode] = &[
    RunMode { name: "a second time", run: as_usual },
    RunMode { name: "on 2 threads", run: on_threads::<2> },
    RunMode { name: "on 3 threads", run: on_threads::<3> },
    RunMode { name: "on 7 threads", run: on_threads::<7> },
];

fn as_usual(loaded: &Loaded, progress: OnProgress) -> Result<Outcome, Stopped> {
    clearway_sim::run(&loaded.scenario, progress)
}

/// Runs the network on `N` threads, a domain on each.
fn on_threads<const N: usize>(loaded: &Loaded, progress: OnProgress) -> Result<Outcome, Stopped> {
    clearway_sim::run_on(&loaded.scenario, N, progress)
}

/// Packet-hops after which a run is given up. What is drawn stays well below; what comes of it by simplification, such
/// as leaving out the rate of a link, may not.
const MOST_HOPS: u64 = 1_000_000;

/// Packet-hops after which a case that has been run once is given up. On several threads the simulator reports what its
/// first thread has done times the number of threads, which may be that many times what there is.
const MOST_HOPS_REPORTED: u64 = 7 * MOST_HOPS;

/// How often the simulator may report progress: every few thousand events, and at every sample.
const MOST_REPORTS: u64 = 10_000_000;

/// What became of a case in which nothing is wrong.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    Ran(Box<Outcome>),
    /// The scenario was not accepted, and why.
    Refused(String),
    /// The run was given up.
    TooLong,
}

/// The fault of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The check that fails. Two failures of the same check are taken for the same mistake.
    pub check: String,
    pub says: String,
}

impl Failure {
    fn of(check: impl Into<String>, says: impl Into<String>) -> Failure {
        Failure { check: check.into(), says: says.into() }
    }
}

/// Checks a case in every way there is.
pub fn check(case: &Case) -> Result<Verdict, Failure> {
    let Some(first) = run(case, as_usual, MOST_HOPS)? else { return Ok(Verdict::TooLong) };
    let first = match first {
        Ok(outcome) => outcome,
        Err(refusal) => return Ok(Verdict::Refused(refusal)),
    };
    if let Some(what) = impossible(&first) {
        return Err(Failure::of("what is measured is possible", what));
    }
    let warmup = case.top().number("warmup").unwrap_or(0.0) / 1e6;
    if let Some(what) = faster_than_links(&first, warmup, case.full_frame()) {
        return Err(Failure::of("links carry no more than they can", what));
    }
    if must_end(case) && !has_ended(&first) {
        let says = "after 3 s not all flows are complete, none of which should take so long";
        return Err(Failure::of("it ends with its flows", says));
    }
    for way in RUN_MODES {
        let check = format!("it is the same when it is run {}", way.name);
        let Some(Ok(again)) = run(case, way.run, MOST_HOPS_REPORTED)? else {
            return Err(Failure::of(check, "it is not run to its end"));
        };
        if let Some(difference) = difference(&first, &again) {
            return Err(Failure::of(check, difference));
        }
    }
    for rewriting in REWRITINGS {
        let Some(rewritten) = (rewriting.rewrite)(case, &first) else { continue };
        let check = format!("it is the same {}", rewriting.name);
        let again = match run(&rewritten, as_usual, MOST_HOPS_REPORTED)? {
            Some(Ok(again)) => again,
            Some(Err(refusal)) => return Err(Failure::of(check, format!("it is refused: {refusal}"))),
            None => return Err(Failure::of(check, "it is not run to its end")),
        };
        if let Some(difference) = (rewriting.difference)(&first, &again) {
            return Err(Failure::of(check, difference));
        }
    }
    Ok(Verdict::Ran(Box::new(first)))
}

/// Reads a case and runs it once, as [`run`] says.
pub fn read_and_run(case: &Case, most_hops: u64) -> Result<Option<Result<Outcome, String>>, Failure> {
    run(case, as_usual, most_hops)
}

/// Reads and runs a case. The inner error is a refusal; `None` if it was given up after `most_hops` packet-hops; a panic is a
/// failure.
fn run(case: &Case, run: Run, most_hops: u64) -> Result<Option<Result<Outcome, String>>, Failure> {
    let folder = Folder::of(case);
    catch(|| {
        let loaded = match load_text(&case.text(), "scenario.toml", folder.path(), &[], None) {
            Ok(loaded) => loaded,
            Err(problems) => return Some(Err(problems.to_string())),
        };
        let mut reports = 0;
        let outcome = run(&loaded, &mut |progress| {
            reports += 1;
            if progress.packet_hops > most_hops || reports > MOST_REPORTS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        match outcome {
            Ok(outcome) => Some(Ok(outcome)),
            Err(Stopped::Interrupted) => None,
            // It was said before.
            Err(Stopped::Dropped(_)) if loaded.warnings.iter().any(|said| said.contains("pfc_xon")) => None,
            Err(Stopped::Dropped(why)) => panic!("a lossless class has lost a frame: {why}"),
            Err(Stopped::Standstill(why)) => panic!("a job stands still: {why}"),
        }
    })
    .map_err(|message| {
        // The first line says where it is.
        let place = message.lines().next().unwrap_or_default().to_string();
        Failure::of(format!("it runs without a panic ({place})"), message)
    })
}

thread_local! {
    /// What the last panic that is to be caught has said; none outside of [`catch`].
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The result, or place and message of the panic, which is not printed.
fn catch<T>(what: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let otherwise = take_hook();
        set_hook(Box::new(move |panic| {
            let caught = SAID.with_borrow_mut(|said| said.as_mut().map(|said| *said = panic.to_string()));
            if caught.is_none() {
                otherwise(panic);
            }
        }));
    });
    SAID.set(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(what));
    let said = SAID.take().unwrap_or_default();
    result.map_err(|_| said)
}

/// Packets of the largest flows that are drawn where all flows are to be complete.
const MOST_PACKETS: f64 = 25.0;

/// No less than what a full frame takes there and its acknowledgement back over the longest path, in picoseconds.
fn longest_trip(case: &Case) -> f64 {
    // Paths have ten links at most, and uplinks four times less capacity than what is below them.
    const LINKS: f64 = 10.0;
    const OVERSUBSCRIPTION: f64 = 4.0;
    let tables = || case.all("network").chain(&case.topology);
    let delays = tables().flat_map(|table| ["delay", "bottleneck_delay"].map(|key| table.number(key)));
    let long = tables().filter_map(|table| table.number("long_km")).map(|km| km * 5e6);
    let delay = delays.flatten().chain(long).fold(0.0, f64::max);
    let rates = tables().flat_map(|table| ["rate", "bottleneck", "long_rate"].map(|key| table.number(key)));
    let slowest = rates.flatten().fold(f64::INFINITY, f64::min) / OVERSUBSCRIPTION;
    2.0 * LINKS * (delay + case.full_frame() * 8e12 / slowest)
}

/// Returns whether all flows of a case are sure to be complete within 3 s, if nothing is wrong: where frames are lost often,
/// timers that double may take any time.
pub fn must_end(case: &Case) -> bool {
    let long_enough = case.top().number("duration").is_some_and(|ps| ps >= LONG_ENOUGH as f64);
    let often = |fault: &Table| fault.number("probability").is_none_or(|probability| probability > 0.1);
    let lasts = |fault: &Table| fault.number("until").is_none_or(|until| until > 1e11);
    let slow = |network: &Table| network.number("rate").is_some_and(|rate| rate < 1e9);
    // Windows of a fifth of a packet are a packet in five round trips.
    let trip = longest_trip(case);
    let crawls = |transport: &Table| {
        let floor = transport.number("min_cwnd").unwrap_or(0.001);
        let below_one = transport.says("protocol", "swift") && !transport.gives("cwnd_below_one");
        below_one && (floor < 0.1 || MOST_PACKETS * trip / floor > LONG_ENOUGH as f64 / 2.0)
    };
    // One lost packet waits for its timer, which may double.
    let waits = |transport: &Table| {
        ["min_rto", "initial_rto", "rto"]
            .iter()
            .any(|key| transport.number(key) > Some(LONG_ENOUGH as f64 / 10.0))
    };
    // Warned of: the slots that it is granted may all be over when a host that waits for interrupts hears of them.
    let late = case.any("transport", |transport| transport.says("protocol", "fastpass"))
        && case.any("host", |host| host.says("model", "interrupts"));
    let room = |table: &Table, key: &str| table.number(key).unwrap_or(f64::INFINITY);
    let full_frame = case.full_frame();
    long_enough
        && !late
        && case.top().gives("stop_when_complete")
        && !case.any("network", slow)
        && !case.any("transport", |transport| crawls(transport) || waits(transport))
        && !case.any("fault", |fault| often(fault) && lasts(fault))
        && !case.any("switch", |switch| room(switch, "buffer") < full_frame * 12.0)
        && !case.any("switch", |switch| switch.number("alpha").is_some_and(|alpha| alpha < 0.5))
        && !(is_paused(case) && case.any("network", |network| network.says("topology", "file")))
        && !case.any("host", |host| room(host, "receive_queue") < full_frame * 12.0)
}

/// Returns whether switches pause what sends to them: links of a network with cycles may then wait for each other for ever.
pub fn is_paused(case: &Case) -> bool {
    case.any("switch", |switch| switch.gives("pfc"))
}

fn has_ended(outcome: &Outcome) -> bool {
    figure(outcome, "simulated_us").is_some_and(|us| us < LONG_ENOUGH as f64 / 1e6)
}
