//! What an agent is doing.

use std::net::SocketAddr;

use super::channels::{identity, runtime};
use super::outcome::addresses;
use crate::control::{dial, Failure, Patience};
use crate::daemon::args::AgentStatusArgs;
use crate::daemon::output::{print, Problem};
use crate::keys::Identity;
use crate::testbed::message::{Status, STATUS};

/// Asks an agent what it does, and prints it.
pub(super) fn status(args: &AgentStatusArgs) -> Result<u8, Problem> {
    let identity = identity(&args.keys)?;
    let address = addresses("--agent", &args.agent)?[0];
    let asked = crate::daemon::stops::unless_stopped(|| {
        runtime().map(|runtime| runtime.block_on(ask(&identity, address)))
    })?;
    let status = asked.map_err(|failure| failure.problem(&args.agent.to_string()))?;
    if args.json {
        let text = serde_json::to_string_pretty(&status).map_err(|error| Problem::bare(error.to_string()))?;
        return print(&format!("{text}\n")).map(|()| 0);
    }
    print(&table(&status)).map(|()| 0)
}

async fn ask(identity: &Identity, address: SocketAddr) -> Result<Status, Failure> {
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
