//! Measurements of Fastpass's arbiter on this machine, as things that run like a scenario: arguments in, a table out.
//!
//! What they measure is time: another machine, or this one with other work to do, gives other figures.

use std::ops::ControlFlow;
use std::time::Duration;

use clearway_host::arbiter::selection_time::{self, SelectionParams};
use clearway_host::arbiter::sustained::{self, Step, SustainedParams, Work};
use clearway_sim::record::{Column, Outcome, Table, Value};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{json, Map, Value as Json};

use crate::errors::{Interrupted, ScenarioError};
use crate::progress::{now, Observer};
use crate::result::RunResult;

/// One measurement with its arguments, read and checked.
#[pyclass(frozen, module = "clearway._clearway")]
pub struct Measurement {
    name: String,
    seed: u64,
    kind: Kind,
    resolved: Json,
}

/// The kinds of measurement, each with its arguments.
#[derive(Clone)]
enum Kind {
    Allocation(SustainedParams),
    Paths(SelectionParams),
}

#[pymethods]
impl Measurement {
    /// Returns what a person calls it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The root of what is drawn.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns what progress counts up to.
    #[classattr]
    fn duration_us() -> f64 {
        1.0
    }

    /// The arguments with every default filled in, as JSON.
    #[getter]
    fn resolved(&self) -> String {
        self.resolved.to_string()
    }

    /// Returns no warnings: what is odd is refused.
    #[classattr]
    fn warnings() -> Vec<String> {
        Vec::new()
    }

    /// An upper bound of the memory that it takes, in bytes: an allocator knows each pair of 8192 endpoints.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Allocation(params) => 64 * (params.racks * params.hosts).pow(2) as u64 + (64 << 20),
            Kind::Paths(_) => 64 << 20,
        }
    }

    /// Measures, or stops when `progress(done, 1.0, 0)` returns False. `threads` and `keep_partial` are there for the sake
    /// of others: a part of a measurement is none.
    #[pyo3(signature = (progress=None, threads=None, keep_partial=false))]
    fn run(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        threads: Option<usize>,
        keep_partial: bool,
    ) -> PyResult<RunResult> {
        let _ = (threads, keep_partial);
        let started = now();
        let mut observer = Observer::new(progress, false);
        let outcome =
            py.detach(|| self.kind.measure(self.seed, &mut |done| observer.observe(|| (done, 1.0, 0))));
        match (outcome, observer.failure) {
            (_, Some(failure)) => Err(failure),
            (Ok(Some(outcome)), None) => {
                RunResult::new(py, outcome, started.elapsed().as_secs_f64(), self.kind.threads())
            }
            (Ok(None), None) => Err(Interrupted::new_err("the measurement was interrupted")),
            (Err(message), None) => Err(PyRuntimeError::new_err(message)),
        }
    }
}

impl Kind {
    fn threads(&self) -> usize {
        match self {
            Kind::Allocation(params) if params.work == Work::BothOnTwo => 2,
            _ => 1,
        }
    }

    fn measure(
        &self,
        seed: u64,
        go_on: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Outcome>, String> {
        match self {
            Kind::Allocation(params) => {
                let by_the_clock = params.work == Work::BothOnTwo;
                Ok(sustained::measure(params, seed, go_on)?.map(|steps| of_steps(&steps, by_the_clock)))
            }
            Kind::Paths(params) => Ok(selection_time::measure(params, seed, go_on)?.map(of_times)),
        }
    }
}

fn of_steps(steps: &[Step], by_the_clock: bool) -> Outcome {
    let floats = |value: fn(&Step) -> f64| Column::Floats(steps.iter().map(value).collect());
    let most =
        |value: fn(&Step) -> f64| steps.iter().filter(|step| step.sustained).map(value).fold(0.0, f64::max);
    let table = Table {
        name: "steps",
        columns: vec![
            ("offered_gbps", floats(|step| step.offered_gbps)),
            ("granted_gbps", floats(|step| step.granted_gbps)),
            ("backlog_slots", Column::Integers(steps.iter().map(|step| step.backlog).collect())),
            ("sustained", Column::Integers(steps.iter().map(|step| step.sustained.into()).collect())),
            ("seconds", floats(|step| step.seconds)),
            ("waited_seconds", floats(|step| step.waited_seconds)),
        ],
    };
    let mut summary = vec![("sustained_gbps".into(), Value::Float(most(|step| step.offered_gbps)))];
    if by_the_clock {
        let sum = |value: fn(&Step) -> f64| steps.iter().map(value).sum::<f64>();
        let share = sum(|step| step.waited_seconds) / sum(|step| step.seconds);
        summary.push(("waited_share".into(), Value::Float(share)));
    }
    outcome(summary, table)
}

fn of_times(times: Vec<f64>) -> Outcome {
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let summary = vec![
        ("slot_least_us".into(), Value::Float(sorted[0])),
        ("slot_median_us".into(), Value::Float(sorted[sorted.len() / 2])),
    ];
    outcome(summary, Table { name: "repeats", columns: vec![("slot_us", Column::Floats(times))] })
}

fn outcome(summary: Vec<(String, Value)>, table: Table) -> Outcome {
    Outcome {
        digest: String::new(),
        packet_hops: 0,
        summary: Value::Object(summary),
        tables: vec![table],
        interrupted: false,
    }
}

/// Reads and checks a measurement: its kind, `allocation` or `paths`, and its arguments as JSON. `name` stands for it in
/// messages.
#[pyfunction]
pub fn measurement(kind: &str, arguments: &str, name: &str, seed: u64) -> PyResult<Measurement> {
    read(kind, arguments, name, seed).map_err(|message| ScenarioError::new_err(format!("{name}: {message}")))
}

fn read(kind: &str, arguments: &str, name: &str, seed: u64) -> Result<Measurement, String> {
    let given = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let mut reader = Reader { given, resolved: Map::new() };
    let measured = match kind {
        "allocation" => Kind::Allocation(reader.allocation()?),
        "paths" => Kind::Paths(reader.paths()?),
        _ => return Err(format!("measure: found {kind}, expected allocation or paths")),
    };
    if let Some(key) = reader.given.keys().next() {
        let known: Vec<_> = reader.resolved.keys().cloned().collect();
        return Err(format!("arguments.{key}: unknown key\n  one of {}", known.join(", ")));
    }
    let resolved = json!({ "name": name, "measure": kind, "seed": seed, "arguments": reader.resolved });
    Ok(Measurement { name: name.into(), seed, kind: measured, resolved })
}

/// Takes arguments one by one, and notes what they are.
struct Reader {
    given: Map<String, Json>,
    resolved: Map<String, Json>,
}

impl Reader {
    fn allocation(&mut self) -> Result<SustainedParams, String> {
        Ok(SustainedParams {
            racks: self.whole("racks", 16, 1, 128)? as usize,
            hosts: self.whole("hosts", 16, 1, 64)? as usize,
            paths: self.whole("paths", 4, 1, 32)? as usize,
            gbps: self.number("gbps", 10.0, 0.1, 10_000.0)?,
            batch: self.whole("batch", 64, 1, 64)? as u32,
            work: self.work()?,
            step: Duration::from_secs_f64(self.number("step_ms", 200.0, 1.0, 1e6)? / 1e3),
            backlog: self.whole("backlog", 100_000, 1, 1 << 40)?,
        })
    }

    fn paths(&mut self) -> Result<SelectionParams, String> {
        Ok(SelectionParams {
            racks: self.whole("racks", 16, 1, 128)? as usize,
            hosts: self.whole("hosts", 32, 1, 64)? as usize,
            paths: self.whole("paths", 4, 1, 32)? as usize,
            utilisation: self.number("utilisation", 0.9, 0.01, 1.0)?,
            repeats: self.whole("repeats", 41, 1, 1_000_000)? as usize,
        })
    }

    fn work(&mut self) -> Result<Work, String> {
        let found = self.given.remove("work").unwrap_or_else(|| "allocation".into());
        let work = match found.as_str() {
            Some("allocation") => Work::Allocation,
            Some("both") => Work::Both,
            Some("both_on_two") => Work::BothOnTwo,
            _ => {
                return Err(format!(
                    "arguments.work: found {found}, expected allocation, both or both_on_two"
                ))
            }
        };
        self.resolved.insert("work".into(), found);
        Ok(work)
    }

    fn whole(&mut self, key: &str, default: u64, least: u64, most: u64) -> Result<u64, String> {
        let found = self.given.remove(key).unwrap_or_else(|| default.into());
        let wrong =
            || format!("arguments.{key}: found {found}, expected a whole number from {least} to {most}");
        let value = found.as_u64().filter(|value| (least..=most).contains(value)).ok_or_else(wrong)?;
        self.resolved.insert(key.into(), value.into());
        Ok(value)
    }

    fn number(&mut self, key: &str, default: f64, least: f64, most: f64) -> Result<f64, String> {
        let found = self.given.remove(key).unwrap_or_else(|| default.into());
        let wrong = || format!("arguments.{key}: found {found}, expected a number from {least} to {most}");
        let value = found.as_f64().filter(|value| (least..=most).contains(value)).ok_or_else(wrong)?;
        self.resolved.insert(key.into(), value.into());
        Ok(value)
    }
}
