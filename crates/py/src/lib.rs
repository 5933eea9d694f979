//! The Python binding: takes a scenario, returns `NumPy` columns, and does nothing else.
//!
//! The interpreter is released while a scenario loads and runs. Every 50 ms of wall time a run looks for
//! signals and calls back, so that a program can show progress and stop it.

// Python hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod allocator;
mod errors;
mod explaining;
mod host_flows;
mod long_link;
mod network;
mod plan;
mod preview;
mod progress;
mod rehearsal;
mod result;
mod timing;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clearway_proto::swift::target::FabricTarget;
use clearway_sim::check::{self, Loaded};
use clearway_sim::model::Protocol;
use clearway_sim::record::{Progress, Stopped};
use clearway_sim::scenario;
use clearway_sim::topology::Graph;
use errors::{Interrupted, LosslessDrop, ScenarioError, Standstill};
use progress::{now, Observer};
use pyo3::prelude::*;
use result::RunResult;

/// One experiment, read, checked and resolved.
#[pyclass(frozen, module = "clearway._clearway")]
struct Scenario {
    loaded: Loaded,
}

#[pymethods]
impl Scenario {
    /// The experiment's name.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.scenario.name
    }

    /// The root of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.scenario.seed
    }

    /// Returns when the run ends at the latest, in microseconds.
    #[getter]
    fn duration_us(&self) -> f64 {
        microseconds(self.loaded.scenario.duration.as_ps())
    }

    /// The scenario with every default filled in, as JSON.
    #[getter]
    fn resolved(&self) -> String {
        self.loaded.resolved.to_string()
    }

    /// Swift's fabric target in microseconds for a window of `cwnd` packets over `hops` switches, with the parameters of
    /// the transport of this name; None if there is none, or if it is not Swift.
    fn swift_target_us(&self, transport: &str, cwnd: f64, hops: u8) -> Option<f64> {
        let found = self.loaded.scenario.transports.iter().find(|known| known.name == transport)?;
        let Protocol::Swift(params) = &found.protocol else { return None };
        Some(microseconds(FabricTarget::new(params).at(cwnd, hops).as_ps()))
    }

    /// A sentence for each thing that can be run but is unlikely to be meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.clone()
    }

    /// Returns whether every seed gives the same run, for certain; false says nothing.
    #[getter]
    fn leaves_nothing_to_chance(&self) -> bool {
        self.loaded.scenario.leaves_nothing_to_chance()
    }

    /// An upper bound of the memory that a run takes, in bytes, beyond the few megabytes that any run does.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        check::estimate_bytes(&self.loaded.scenario)
    }

    /// The most bytes that the page of its replay may have; None where none is recorded.
    #[getter]
    fn replay_page_bytes(&self) -> Option<u64> {
        check::replay_page_bytes(&self.loaded.scenario).map(|bytes| bytes as u64)
    }

    /// The threads that a run of it is worth on this machine: with more it takes longer.
    #[getter]
    fn worthwhile_threads(&self) -> usize {
        clearway_sim::worthwhile_threads(&self.loaded.scenario, cores())
    }

    /// The flows that agents on real hosts are to send, at most `most`: of each its number in a simulated run, its traffic table,
    /// whether it is an operation of a loop, source, destination, start and stop in nanoseconds (None: with the run), bytes
    /// (None: it never ends), and whether it starts again when it is complete. Raises `ScenarioError` for what agents cannot send.
    fn host_flows(&self, py: Python<'_>, most: usize) -> PyResult<Vec<host_flows::Row>> {
        py.detach(|| host_flows::host_flows(&self.loaded.scenario, most))
    }

    /// The nodes and directed links of its network as JSON, with the thresholds of flow control where no frame is longer than `frame`
    /// bytes on the wire, or than those of the scenario.
    fn network(&self, frame: u64) -> String {
        network::network(&self.loaded.scenario, frame)
    }

    /// Returns as JSON the network before a run: its ports, base round trips, and the load that the known traffic will ask of each link;
    /// and, if two different hosts are given by number, the paths between them.
    #[pyo3(signature = (between=None))]
    fn preview(&self, py: Python<'_>, between: Option<(u32, u32)>) -> String {
        py.detach(|| preview::preview(&self.loaded.scenario, between))
    }

    /// Runs to the end, or until `progress(simulated_us, end_us, packet_hops)` returns False (None goes on); on `threads`
    /// threads, at most one a host, or as many as the simulator sees fit. The result is the same for any number. With
    /// `keep_partial` a run that is stopped, by `progress` or by Ctrl-C, has a result too: of what was simulated until then.
    #[pyo3(signature = (progress=None, threads=None, keep_partial=false))]
    fn run(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        threads: Option<usize>,
        keep_partial: bool,
    ) -> PyResult<RunResult> {
        let scenario = &self.loaded.scenario;
        let threads = clearway_sim::threads_for(scenario, threads, cores());
        let started = now();
        let mut observer = Observer::new(progress, keep_partial);
        let run = if keep_partial { clearway_sim::run_keeping_part } else { clearway_sim::run_on };
        let outcome = py.detach(|| run(scenario, threads, &mut |at| observer.observe(|| arguments(at))));
        let wall_s = started.elapsed().as_secs_f64();
        RunResult::new(py, finished(outcome, observer)?, wall_s, threads)
    }

    /// Runs to the end as `run` does, with the same result, and returns as JSON its digest, and what a flow waited for in parts that
    /// add up to its completion time: null if the flow has no size or is not complete. Raises `ScenarioError` if there
    /// was no room for what has to be written down.
    #[pyo3(signature = (flow, progress=None, threads=None))]
    fn explain(
        &self,
        py: Python<'_>,
        flow: u32,
        progress: Option<Py<PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<String> {
        let scenario = &self.loaded.scenario;
        let threads = clearway_sim::threads_for(scenario, threads, cores());
        let mut observer = Observer::new(progress, false);
        let outcome = py.detach(|| {
            let observe = &mut |at| observer.observe(|| arguments(at));
            clearway_sim::run_explaining(scenario, threads, &[flow], observe)
        });
        let (outcome, explanations) = finished(outcome, observer)?;
        let explanations = explanations.ok_or_else(|| {
            ScenarioError::new_err(format!("flow {flow} has more packets than there is room to write down"))
        })?;
        let graph = Graph::build(&scenario.network);
        Ok(explaining::explanation(&outcome, &graph, explanations.first()).to_string())
    }
}

/// Returns a run's progress as Python is told of it: the time and the end in microseconds, and packet-hops.
fn arguments(at: Progress) -> (f64, f64, u64) {
    (microseconds(at.simulated_ps), microseconds(at.end_ps), at.packet_hops)
}

/// Returns the result of a run, or the exception that Python is to raise instead.
fn finished<T>(outcome: Result<T, Stopped>, observer: Observer) -> PyResult<T> {
    match (outcome, observer.failure) {
        (_, Some(failure)) => Err(failure),
        (Ok(outcome), None) => Ok(outcome),
        (Err(Stopped::Interrupted), None) => Err(Interrupted::new_err("the run was interrupted")),
        (Err(Stopped::Dropped(drop)), None) => Err(LosslessDrop::new_err(drop)),
        (Err(Stopped::Standstill(why)), None) => Err(Standstill::new_err(why)),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

fn microseconds(picoseconds: u64) -> f64 {
    picoseconds as f64 / 1e6
}

/// Reads and checks a scenario file; `sets` are (dotted key, TOML text) that override it; None removes the key.
#[pyfunction]
#[pyo3(signature = (path, sets=Vec::new(), seed=None))]
fn load(
    py: Python<'_>,
    path: PathBuf,
    sets: Vec<scenario::Override>,
    seed: Option<u64>,
) -> PyResult<Scenario> {
    scenario_of(py.detach(|| check::load(&path, &sets, seed)))
}

/// Reads and checks a scenario from text; `name` stands for the file in messages, and files that it names are sought in
/// `base_dir`.
#[pyfunction]
#[pyo3(signature = (text, name="scenario", base_dir=PathBuf::from("."), sets=Vec::new(), seed=None))]
fn load_text(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: PathBuf,
    sets: Vec<scenario::Override>,
    seed: Option<u64>,
) -> PyResult<Scenario> {
    let base_dir: &Path = &base_dir;
    scenario_of(py.detach(|| check::load_text(text, name, base_dir, &sets, seed)))
}

fn scenario_of(loaded: Result<Loaded, scenario::ScenarioError>) -> PyResult<Scenario> {
    match loaded {
        Ok(loaded) => Ok(Scenario { loaded }),
        Err(error) => Err(ScenarioError::new_err(error.to_string())),
    }
}

/// The memory that runs may use, in bytes. Raises `ScenarioError` where `CLEARWAY_MEMORY_LIMIT` is no size.
#[pyfunction]
fn memory_limit() -> PyResult<u64> {
    check::memory_limit().map_err(ScenarioError::new_err)
}

/// JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    scenario::schema().to_string()
}

/// Returns what each table of a run, and each of its columns, means, as JSON.
#[pyfunction]
fn tables() -> String {
    result::definitions().to_string()
}

#[pymodule]
mod _clearway {
    #[pymodule_export]
    use super::errors::{Interrupted, LosslessDrop, ScenarioError, Standstill};
    #[pymodule_export]
    use super::long_link::long_link;
    #[pymodule_export]
    use super::plan::plan_dci_buffer;
    #[pymodule_export]
    use super::rehearsal::rehearse;
    #[pymodule_export]
    use super::result::RunResult;
    #[pymodule_export]
    use super::timing::{time_grants, time_paths, try_rate};
    #[pymodule_export]
    use super::{load, load_text, memory_limit, schema, tables, Scenario};

    /// The version of the simulator; the Python package has the same.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
