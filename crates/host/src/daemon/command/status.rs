//! What an agent is doing.

use std::net::SocketAddr;

use serde::Deserialize;

use super::channels::{identity, runtime};
use super::outcome::{addresses, FAILED};
use crate::control::{dial, Failure, Patience};
use crate::daemon::args::AgentStatusArgs;
use crate::daemon::output::{print, Problem};
use crate::fastpass::status as fastpass;
use crate::keys::Identity;
use crate::testbed::message::{Status, STATUS};

/// Asks an agent what it does, and prints it.
pub(super) fn status(args: &AgentStatusArgs) -> Result<u8, Problem> {
    let identity = identity(&args.keys)?;
    let address = addresses("--agent", &args.agent)?[0];
    let asked = crate::daemon::stops::unless_stopped(|| {
        runtime().map(|runtime| runtime.block_on(ask(&identity, address)))
    })?;
    let status = match asked {
        Ok(status) => status,
        Err(Failure::Problem(problem)) => return Err(problem),
        Err(failure) => {
            failure.problem(&args.agent.to_string()).show();
            return Ok(FAILED);
        }
    };
    if args.json {
        let text = match &status {
            Told::Agent(status) => serde_json::to_string_pretty(status),
            Told::Fastpass(status) => serde_json::to_string_pretty(status),
        };
        let text = text.map_err(|error| Problem::bare(error.to_string()))?;
        return print(&format!("{text}\n")).map(|()| 0);
    }
    let text = match &status {
        Told::Agent(status) => table(status),
        Told::Fastpass(status) => table_of_fastpass(status),
    };
    print(&text).map(|()| 0)
}

/// The status of whoever was asked.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    /// An arbiter or an endpoint.
    Fastpass(Box<fastpass::Status>),
    /// An agent of a testbed.
    Agent(Box<Status>),
}

async fn ask(identity: &Identity, address: SocketAddr) -> Result<Told, Failure> {
    let mut channel = dial(identity, address, None, STATUS, Patience::default()).await?;
    let status = channel.receive().await?;
    channel.close().await;
    Ok(status)
}

fn table(status: &Status) -> String {
    let seconds = |ns: u64| format!("{:.1} s", ns as f64 / 1e9);
    let run = status.carrier.as_ref().map(|carrier| {
        let elapsed = status.elapsed_ns.map_or(String::new(), |ns| format!(", for {}", seconds(ns)));
        format!("{carrier}{elapsed}")
    });
    let of_run = |text: String| status.carrier.as_ref().map(|_| text);
    let rows = [
        ("agent", Some(status.name.clone())),
        ("state", Some(status.state.clone())),
        ("controller", status.controller.clone()),
        ("run", run),
        (
            "flows sent",
            of_run(format!(
                "{} active, {} over, of {}",
                status.flows_active, status.flows_done, status.flows
            )),
        ),
        ("runs so far", Some(status.runs.to_string())),
        ("running for", Some(seconds(status.uptime_ns))),
        ("certificate", Some(status.certificate.clone())),
        ("Clearway", Some(status.version.clone())),
        ("kernel", Some(status.kernel.clone())),
    ];
    rows.into_iter().filter_map(|(label, value)| Some(format!("  {label:<11}  {}\n", value?))).collect()
}

fn table_of_fastpass(status: &fastpass::Status) -> String {
    let us = |ns: f64| format!("{:.1} us", ns / 1e3);
    let mut rows = vec![
        (status.what.clone(), status.name.clone()),
        ("state".into(), format!("{}, term {}", status.state, status.term)),
        ("running for".into(), format!("{:.1} s", status.uptime_ns as f64 / 1e9)),
        ("certificate".into(), status.certificate.clone()),
        ("Clearway".into(), status.version.clone()),
    ];
    rows.extend(status.guard_ns.map(|ns| ("guard".into(), us(ns as f64))));
    for session in &status.sessions {
        let clock = session.clock.map_or("clock unknown".into(), |clock| {
            format!("clock {} ahead, within {}", us(clock.ahead_ns as f64), us(clock.within_ns as f64))
        });
        let silent = format!("heard {:.1} s ago", session.silent_ns as f64 / 1e9);
        rows.push((session.with.clone(), format!("{}, {silent}, {clock}", session.address)));
    }
    rows.extend(status.failed_links.iter().map(|link| ("failed link".into(), link.clone())));
    rows.extend(status.counts.iter().map(|(name, value)| (name.replace('_', " "), value.to_string())));
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        rows.into_iter().map(|(label, value)| format!("  {label:<width$}  {value}\n")).collect();
    lines.concat()
}
