//! What the wall clock decides: when a program that waits is told how far a run is, and may stop it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Wall time between two calls of a run's progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// Looks at the wall clock, and now and then at Python.
pub struct Observer {
    callback: Option<Py<PyAny>>,
    due: Instant,
    /// Whether Ctrl-C is an order to end the run and keep what there is, as the progress function's False is.
    keeps_part: bool,
    /// What the progress function raised, or a signal.
    pub failure: Option<PyErr>,
}

impl Observer {
    /// One that calls this function.
    pub fn new(callback: Option<Py<PyAny>>, keeps_part: bool) -> Observer {
        Observer { callback, due: now() + PROGRESS_INTERVAL, keeps_part, failure: None }
    }

    /// Returns whether to continue; the arguments of the progress function are asked for when it is due.
    pub fn observe(&mut self, arguments: impl FnOnce() -> (f64, f64, u64)) -> ControlFlow<()> {
        if now() < self.due {
            return ControlFlow::Continue(());
        }
        let answer = Python::attach(|py| self.ask(py, arguments()));
        // From here, not from when it was due: a slow callback must not be called back to back.
        self.due = now() + PROGRESS_INTERVAL;
        match answer {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(failure) => {
                let is_order = Python::attach(|py| failure.is_instance_of::<PyKeyboardInterrupt>(py));
                self.failure = (!is_order || !self.keeps_part).then_some(failure);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns whether to continue: a function that returns nothing only wants to know.
    fn ask(&self, py: Python<'_>, arguments: (f64, f64, u64)) -> PyResult<bool> {
        py.check_signals()?;
        match &self.callback {
            None => Ok(true),
            Some(callback) => {
                let answer = callback.bind(py).call1(arguments)?;
                Ok(answer.is_none() || answer.is_truthy()?)
            }
        }
    }
}

/// The wall clock, which decides when Python is asked and how long a run took, and nothing else.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}
