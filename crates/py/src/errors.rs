//! The exceptions that Python code sees.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(clearway, ScenarioError, PyValueError, "A scenario that cannot be run, and why.");
create_exception!(
    clearway,
    LosslessDrop,
    PyRuntimeError,
    "A frame of a lossless class was dropped, and why."
);
create_exception!(
    clearway,
    Standstill,
    PyRuntimeError,
    "A job can never end, and which operations wait for each other."
);
create_exception!(clearway, Interrupted, PyRuntimeError, "The progress function told the run to stop.");
