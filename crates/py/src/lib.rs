//! The Python binding: takes a scenario, returns `NumPy` columns, and does nothing else.
//!
//! The interpreter is released while a scenario loads and runs. Every 50 ms of wall time a run looks for
//! signals and calls back, so that a program can show progress and stop it.

// Python hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod plan;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clearway_proto::swift::target::FabricTarget;
use clearway_sim::model::Protocol;
use clearway_sim::record::{Column, Outcome, Progress, Table, Value};
use clearway_sim::scenario::{self, Loaded};
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Map;

/// Wall time between two calls of a run's progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

create_exception!(clearway, ScenarioError, PyValueError, "A scenario that cannot be run, and why.");
create_exception!(
    clearway,
    PlanError,
    PyValueError,
    "Options that cannot be planned for, each with its fault."
);
create_exception!(clearway, Interrupted, PyRuntimeError, "The progress function told the run to stop.");

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

    /// When the run ends at the latest, in microseconds.
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

    /// An upper bound of the memory that a run takes, in bytes, beyond the few megabytes that any run does.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        scenario::estimate_bytes(&self.loaded.scenario)
    }

    /// Runs to the end, or until `progress(simulated_us, end_us, packet_hops)` returns False; on so many `threads`, at
    /// most one a host, or as many as the simulator sees fit. The result is the same for any number.
    #[pyo3(signature = (progress=None, threads=None))]
    fn run(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<RunResult> {
        let scenario = &self.loaded.scenario;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = clearway_sim::threads_for(scenario, threads, cores);
        let started = now();
        let mut observer = Observer { callback: progress, due: started + PROGRESS_INTERVAL, failure: None };
        let outcome = py.detach(|| clearway_sim::run_on(scenario, threads, &mut |at| observer.observe(at)));
        let wall_s = started.elapsed().as_secs_f64();
        match (outcome, observer.failure) {
            (_, Some(failure)) => Err(failure),
            (Ok(outcome), None) => RunResult::new(py, outcome, wall_s, threads),
            (Err(_), None) => Err(Interrupted::new_err("the run was interrupted")),
        }
    }
}

/// Looks at the wall clock, and now and then at Python.
struct Observer {
    callback: Option<Py<PyAny>>,
    due: Instant,
    failure: Option<PyErr>,
}

impl Observer {
    fn observe(&mut self, at: Progress) -> ControlFlow<()> {
        if now() < self.due {
            return ControlFlow::Continue(());
        }
        let answer = Python::attach(|py| self.ask(py, at));
        // From here, not from when it was due: a slow callback must not be called back to back.
        self.due = now() + PROGRESS_INTERVAL;
        match answer {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    /// Whether to continue.
    fn ask(&self, py: Python<'_>, at: Progress) -> PyResult<bool> {
        py.check_signals()?;
        match &self.callback {
            None => Ok(true),
            Some(callback) => callback
                .bind(py)
                .call1((microseconds(at.simulated_ps), microseconds(at.end_ps), at.packet_hops))?
                .is_truthy(),
        }
    }
}

/// The result of a run.
#[pyclass(frozen, name = "Result", module = "clearway._clearway")]
struct RunResult {
    /// Digest over every flow's completion and every counter.
    #[pyo3(get)]
    digest: String,
    /// One packet over one link is one hop.
    #[pyo3(get)]
    packet_hops: u64,
    /// Wall time the run took, in seconds.
    #[pyo3(get)]
    wall_s: f64,
    /// How many threads it ran on.
    #[pyo3(get)]
    threads: usize,
    /// Figures of the whole run, as JSON.
    #[pyo3(get)]
    summary: String,
    /// Table by name, column by name, `NumPy` arrays.
    #[pyo3(get)]
    tables: Py<PyDict>,
}

impl RunResult {
    fn new(py: Python<'_>, outcome: Outcome, wall_s: f64, threads: usize) -> PyResult<Self> {
        let tables = PyDict::new(py);
        for table in outcome.tables {
            tables.set_item(table.name, columns(py, table)?)?;
        }
        Ok(Self {
            digest: outcome.digest,
            packet_hops: outcome.packet_hops,
            wall_s,
            threads,
            summary: json(&outcome.summary).to_string(),
            tables: tables.unbind(),
        })
    }
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Integers(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Floats(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Texts(values) => columns.set_item(name, texts(py, &values)?)?,
        }
    }
    Ok(columns)
}

/// A `NumPy` array of fixed-width text.
fn texts<'py>(py: Python<'py>, values: &[String]) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    let mut last: Option<(&str, Bound<'py, PyString>)> = None;
    for value in values {
        // Names come in runs: one Python string serves them all.
        let text = match last.take() {
            Some((same, text)) if same == value => text,
            _ => PyString::new(py, value),
        };
        list.append(&text)?;
        last = Some((value, text));
    }
    py.import("numpy")?.call_method1("array", (list, "str"))
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Missing => serde_json::Value::Null,
        Value::Integer(count) => (*count).into(),
        Value::Float(figure) => (*figure).into(),
        Value::Names(names) => names.clone().into(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), json(value)));
            serde_json::Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

fn microseconds(picoseconds: u64) -> f64 {
    picoseconds as f64 / 1e6
}

/// The wall clock, which decides when Python is asked and nothing else.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

/// Reads and checks a scenario file; `sets` are (dotted key, TOML text) that override it.
#[pyfunction]
#[pyo3(signature = (path, sets=Vec::new(), seed=None))]
fn load(py: Python<'_>, path: PathBuf, sets: Vec<(String, String)>, seed: Option<u64>) -> PyResult<Scenario> {
    scenario_of(py.detach(|| scenario::load(&path, &sets, seed)))
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
    sets: Vec<(String, String)>,
    seed: Option<u64>,
) -> PyResult<Scenario> {
    let base_dir: &Path = &base_dir;
    scenario_of(py.detach(|| scenario::load_text(text, name, base_dir, &sets, seed)))
}

fn scenario_of(loaded: Result<Loaded, scenario::ScenarioError>) -> PyResult<Scenario> {
    match loaded {
        Ok(loaded) => Ok(Scenario { loaded }),
        Err(error) => Err(ScenarioError::new_err(error.to_string())),
    }
}

/// JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    scenario::schema().to_string()
}

/// What a long link needs to be lossless, as JSON, for options as a person writes them. Raises `PlanError` with a list of (name,
/// fault).
#[pyfunction]
fn plan_dci_buffer(given: BTreeMap<String, String>) -> PyResult<String> {
    plan::dci_buffer(&given).map(|answer| answer.to_string()).map_err(PlanError::new_err)
}

#[pymodule]
mod _clearway {
    #[pymodule_export]
    use super::{
        load, load_text, plan_dci_buffer, schema, Interrupted, PlanError, RunResult, Scenario, ScenarioError,
    };

    /// The version of the simulator; the Python package has the same.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
