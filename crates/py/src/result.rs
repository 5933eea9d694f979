//! What a run leaves: figures as JSON, and tables as `NumPy` columns.

use clearway_sim::record::{Column, Covers, Definition, Outcome, Table, Texts, Value};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{json as object, Map};

/// The result of a run.
#[pyclass(frozen, name = "Result", module = "clearway._clearway")]
pub struct RunResult {
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
    /// Whether it was stopped before its end: everything is of what was simulated until then.
    #[pyo3(get)]
    interrupted: bool,
    /// Figures of the whole run, as JSON.
    #[pyo3(get)]
    summary: String,
    /// Table by name, column by name, `NumPy` arrays.
    #[pyo3(get)]
    tables: Py<PyDict>,
}

impl RunResult {
    /// Returns the result of a run with this outcome that took `wall_s` seconds on `threads` threads.
    pub fn new(py: Python<'_>, outcome: Outcome, wall_s: f64, threads: usize) -> PyResult<Self> {
        let tables = PyDict::new(py);
        for table in outcome.tables {
            tables.set_item(table.name, columns(py, table)?)?;
        }
        Ok(Self {
            digest: outcome.digest,
            packet_hops: outcome.packet_hops,
            wall_s,
            threads,
            interrupted: outcome.interrupted,
            summary: json(&outcome.summary).to_string(),
            tables: tables.unbind(),
        })
    }
}

/// Returns what the tables of runs mean, as JSON: for each its name, what has a row, and its columns.
pub fn definitions() -> serde_json::Value {
    let covers = |covers| match covers {
        Covers::Nothing => "nothing",
        Covers::Measured => "measured",
        Covers::Run => "run",
        Covers::Step => "step",
    };
    let table = |table: Definition| {
        let columns = table.columns.iter().map(|column| {
            object!({
                "name": column.name, "covers": covers(column.covers), "meaning": column.meaning.trim_start(),
            })
        });
        object!({
            "name": table.name, "rows": table.rows.trim_start(), "columns": columns.collect::<Vec<_>>(),
        })
    };
    clearway_sim::record::definitions().into_iter().map(table).collect()
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Integers(values) => columns.set_item(name, array(py, values))?,
            Column::Floats(values) => columns.set_item(name, array(py, values))?,
            Column::Texts(values) => columns.set_item(name, texts(py, &values)?)?,
        }
    }
    Ok(columns)
}

/// A `NumPy` array of numbers, which are not copied; room for more is given back.
fn array<T: Element>(py: Python<'_>, mut values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.shrink_to_fit();
    PyArray1::from_vec(py, values)
}

/// A `NumPy` array of fixed-width text: four bytes a character, and no object a row.
fn texts<'py>(py: Python<'py>, texts: &Texts) -> PyResult<Bound<'py, PyAny>> {
    let names: Vec<Vec<u32>> =
        texts.names().iter().map(|name| name.chars().map(u32::from).collect()).collect();
    let width = names.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let array = py.import("numpy")?.call_method1("zeros", (texts.len(), format!("U{width}")))?;
    let characters = array.call_method1("view", ("u4",))?.cast_into::<PyArray1<u32>>()?;
    let mut characters = characters.readwrite();
    for (cells, &name) in characters.as_slice_mut()?.chunks_exact_mut(width).zip(texts.rows()) {
        let name = &names[name as usize];
        cells[..name.len()].copy_from_slice(name);
    }
    Ok(array)
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Missing(_) => serde_json::Value::Null,
        Value::Integer(count) => (*count).into(),
        Value::Float(figure) => (*figure).into(),
        Value::Names(names) => names.clone().into(),
        Value::Reasons(reasons) => {
            let entries = reasons.iter().map(|(name, why)| (name.clone(), (*why).into()));
            serde_json::Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), json(value)));
            serde_json::Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}
