//! What an arbiter would have to do for a network, as its allocator does it: for those who plan one.

use clearway_host::arbiter::rehearsal::{self, RehearsalParams};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Rehearses with what `seed` draws. Times are in slots; the counts are of four fifths of the slots, the waits for a message's
/// first and last slot are pairs of mean and 99th percentile.
#[pyfunction]
#[pyo3(signature = (seed, *, hosts, batch, ahead, load, message, interval, acks_a_slot, way, slots))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub fn rehearse(
    py: Python<'_>,
    seed: u64,
    hosts: u16,
    batch: u32,
    ahead: u32,
    load: f64,
    message: u32,
    interval: f64,
    acks_a_slot: u32,
    way: f64,
    slots: u64,
) -> PyResult<Bound<'_, PyDict>> {
    let params = RehearsalParams { hosts, batch, ahead, load, message, interval, acks_a_slot, way, slots };
    let done = py.detach(|| rehearsal::rehearse(&params, seed));
    let done = done.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let counts = [
        ("slots", done.slots),
        ("requests", done.requests),
        ("demands", done.demands),
        ("allocations", done.allocations),
        ("destinations", done.destinations),
        ("granted", done.granted),
        ("data", done.data),
    ];
    let answer = PyDict::new(py);
    for (name, count) in counts {
        answer.set_item(name, count)?;
    }
    answer.set_item("first_slot", done.first_slot().map(|[mean, p99]| (mean, p99)))?;
    answer.set_item("last_slot", done.last_slot().map(|[mean, p99]| (mean, p99)))?;
    answer.set_item("falls_behind", done.falls_behind(hosts, message))?;
    Ok(answer)
}
