//! An agent of a testbed: it starts by its options and by a file that has them, and reads the file again while it runs.

mod file;

use std::net::SocketAddr;

use tracing::{info, warn};

use super::channels::runtime;
use super::outcome::{addresses, trouble};
use super::BAD_INPUT;
use crate::agent::{Agent, Reloaded, Settings};
use crate::daemon::address::HostPort;
use crate::daemon::args::{AgentArgs, LogForm};
use crate::daemon::output::{print, Problem};
use crate::daemon::service::Service;
use crate::daemon::user::become_user;
use crate::daemon::{log, stops};
use crate::keys::Identity;

/// Serves controllers until a signal comes. What is wrong with the options or their file is shown, with the status of bad input.
pub(super) fn agent(given: &AgentArgs) -> Result<u8, Problem> {
    stops::reload_at_hangup();
    let args = match file::with_file(given) {
        Ok(args) => args,
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return Ok(BAD_INPUT);
        }
    };
    let form = args.log.unwrap_or_default();
    log::start(form)?;
    match work(given, args) {
        // Whoever reads a log of JSON reads no other line.
        Err(problem) if form == LogForm::Json => {
            log::problem("agent cannot start", &problem);
            Ok(stops::status().unwrap_or(BAD_INPUT))
        }
        done => done,
    }
}

fn work(given: &AgentArgs, args: AgentArgs) -> Result<u8, Problem> {
    let identity = identity(&args)?;
    let settings = Settings {
        listen: address("listen", &args.listen())?,
        data: args.data,
        metrics: args.metrics.as_ref().map(|metrics| address("metrics", metrics)).transpose()?,
    };
    let mut service = Service::from_environment().map_err(|error| trouble("NOTIFY_SOCKET", &error))?;
    runtime()?.block_on(async {
        let name = identity.name().to_string();
        let agent = Agent::open(&settings, identity).await?;
        let (control, metrics) = agent.addresses()?;
        if let Some(user) = &args.user {
            give_up_root(user, &args)?;
        }
        info!(
            version = env!("CARGO_PKG_VERSION"),
            name,
            listen = %control,
            metrics = metrics.map(tracing::field::display),
            user = args.user,
            "agent starts"
        );
        print(&format!("listening at {control}\n"))?;
        if let Some(metrics) = metrics {
            print(&format!("metrics at http://{metrics}/metrics\n"))?;
        }
        let mut in_force = args;
        agent.serve(&mut service, || reload(given, &mut in_force)).await
    })
}

fn address(option: &str, host: &HostPort) -> Result<SocketAddr, Problem> {
    Ok(addresses(&format!("--{option}"), host)?[0])
}

/// This host's certificate, which must hold.
fn identity(args: &AgentArgs) -> Result<Identity, Problem> {
    let remedy = "name it by --keys, or in the file: keys = \"DIR\"";
    let none = || Problem::new("keys: there is no directory of certificates", remedy);
    let keys = args.keys.as_ref().ok_or_else(none)?;
    let identity = Identity::read(keys, args.name.as_deref())?;
    identity.check()?;
    Ok(identity)
}

/// Becomes the user that the agent is to run as, and warns of what that user cannot do.
fn give_up_root(user: &str, args: &AgentArgs) -> Result<(), Problem> {
    become_user(user)?;
    if let Err(problem) = identity(args) {
        let why = problem.message;
        warn!(user, why, "certificates cannot be read again by this user, a reload will fail");
    }
    Ok(())
}

/// Reads the file and the certificates again, into what is in force if all is right.
fn reload(given: &AgentArgs, in_force: &mut AgentArgs) -> Result<Reloaded, Vec<Problem>> {
    let args = file::with_file(given)?;
    let identity = identity(&args).map_err(|problem| vec![problem])?;
    let fixed = [
        ("listen", args.listen != in_force.listen),
        ("metrics", args.metrics != in_force.metrics),
        ("log", args.log != in_force.log),
        ("user", args.user != in_force.user),
    ];
    for (key, _) in fixed.iter().filter(|(_, is_other)| *is_other) {
        warn!(key, "this cannot change while the agent runs: restart it");
    }
    let data = args.data;
    // Told once: what was refused is what the file has from now on.
    *in_force = args;
    Ok(Reloaded { identity, data })
}
