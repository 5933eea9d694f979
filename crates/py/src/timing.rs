//! What Fastpass's arbiter takes on this machine, one measurement a call: another machine, or this one with other work to do, gives
//! other figures.

use std::time::Duration;

use clearway_host::arbiter::timing::{self, RateParams, Work};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::Interrupted;
use crate::progress::Observer;

/// Tries a rate of requests, in requests a second of each host: offered and granted throughput in Gb/s, the longest backlog in
/// slots, and how long it was tried and threads waited for a processor, in seconds. `work` is `allocation`, `both` or
/// `both_on_two`. Raises `Interrupted` when `progress(done, 1.0, 0)` returns False.
#[pyfunction]
#[pyo3(signature = (rate, seed, *, racks, hosts, paths, gbps, batch, work, step_ms, backlog, done=0.0, progress=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub fn try_rate(
    py: Python<'_>,
    rate: f64,
    seed: u64,
    racks: usize,
    hosts: usize,
    paths: usize,
    gbps: f64,
    batch: u32,
    work: &str,
    step_ms: f64,
    backlog: u64,
    done: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(f64, f64, u64, f64, f64)> {
    let work = match work {
        "allocation" => Work::Allocation,
        "both" => Work::Both,
        _ => Work::BothOnTwo,
    };
    let step = Duration::from_secs_f64(step_ms / 1e3);
    let params = RateParams { racks, hosts, paths, gbps, batch, work, step, backlog };
    let tried = watched(py, progress, |observer| {
        timing::try_rate(&params, rate, seed, &mut || observer.observe(|| (done, 1.0, 0)))
    })?;
    Ok((tried.offered_gbps, tried.granted_gbps, tried.backlog, tried.seconds, tried.waited_seconds))
}

/// Returns the microseconds that the paths of a slot take, once for each repeat. Raises `Interrupted` when
/// `progress(done, 1.0, 0)` returns False.
#[pyfunction]
#[pyo3(signature = (seed, *, racks, hosts, paths, utilisation, repeats, progress=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub fn time_paths(
    py: Python<'_>,
    seed: u64,
    racks: usize,
    hosts: usize,
    paths: usize,
    utilisation: f64,
    repeats: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<f64>> {
    watched(py, progress, |observer| {
        let mut go_on = |done| observer.observe(|| (done, 1.0, 0));
        timing::time_paths([racks, hosts, paths], utilisation, repeats, seed, &mut go_on)
    })
}

/// Returns the nanoseconds that a grant takes in batches of `batch` slots for `hosts` hosts.
#[pyfunction]
pub fn time_grants(py: Python<'_>, hosts: u16, batch: u32) -> PyResult<f64> {
    py.detach(|| timing::time_grants(hosts, batch)).map_err(PyRuntimeError::new_err)
}

/// Measures without the interpreter, and raises what there was to raise.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    measure: impl FnOnce(&mut Observer) -> Result<Option<T>, String> + Send,
) -> PyResult<T> {
    let mut observer = Observer::new(progress, false);
    let outcome = py.detach(|| measure(&mut observer));
    match (outcome, observer.failure) {
        (_, Some(failure)) => Err(failure),
        (Ok(Some(outcome)), None) => Ok(outcome),
        (Ok(None), None) => Err(Interrupted::new_err("the measurement was interrupted")),
        (Err(message), None) => Err(PyRuntimeError::new_err(message)),
    }
}
