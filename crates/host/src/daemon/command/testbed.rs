//! A plan run on the agents of a testbed.

use std::sync::Arc;

use super::channels::{identity, runtime};
use super::outcome::{trouble, BAD_INPUT, FAILED};
use crate::controller::conduct;
use crate::controller::hosts;
use crate::controller::lines::Lines;
use crate::controller::plan::Plan;
use crate::daemon::args::TestbedArgs;
use crate::daemon::output::Problem;
use crate::daemon::stops;

/// Runs a plan, and returns the exit status.
pub(super) fn testbed(args: &TestbedArgs) -> Result<u8, Problem> {
    let plan = match Plan::read(&args.plan) {
        Ok(plan) => plan,
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return Ok(BAD_INPUT);
        }
    };
    let hosts = stops::unless_stopped(|| hosts::read(&args.hosts, &plan.hosts))?;
    let identity = Arc::new(identity(&args.keys)?);
    let lines = Lines::start().map_err(|error| trouble("a thread", &error))?;
    let ending = runtime()?.block_on(conduct(&plan, &hosts, &identity, &lines));
    ending.problems.iter().for_each(Problem::show);
    let written = lines.finish();
    let Some(reason) = ending.reason else { return written.map(|()| 0) };
    if ending.problems.is_empty() {
        Problem::bare(reason).show();
    }
    if let Err(problem) = written {
        problem.show();
    }
    Ok(stops::status().unwrap_or(if ending.is_input { BAD_INPUT } else { FAILED }))
}
