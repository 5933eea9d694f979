//! An arbiter and an endpoint of a Fastpass network, as processes.

use std::net::SocketAddr;
use std::sync::Arc;

use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::units::Span;
use rustix::io::Errno;
use rustix::process::{getppid, set_parent_process_death_signal, Signal};
use tracing::info;

use super::channels::{identity, runtime};
use super::outcome::{metrics_address, trouble};
use super::BAD_INPUT;
use crate::daemon::args::{FastpassArgs, LogForm};
use crate::daemon::output::{print, Problem};
use crate::daemon::service::Service;
use crate::daemon::{log, stops};
use crate::fastpass::arbiter::node::ArbiterNode;
use crate::fastpass::endpoint::node::{EndpointNode, Make};
use crate::fastpass::endpoint::open_carriage;
use crate::fastpass::kept::Kept;
use crate::fastpass::link::node::Handle;
use crate::fastpass::link::opening::Party;
use crate::fastpass::link::wire::Peer;
use crate::fastpass::serve::Doors;
use crate::fastpass::settings::{endpoint_params, Deployment, Mode};
use crate::fastpass::status::Shown;
use crate::keys::Identity;
use crate::realtime::SPIN;

/// Is an arbiter until a signal comes.
pub(super) fn arbiter(args: &FastpassArgs) -> Result<u8, Problem> {
    with_log(args, |deployment, identity| {
        let rank = deployment.rank(identity.name()).ok_or_else(|| {
            let names: Vec<&str> = deployment.arbiters.iter().map(|host| host.name.as_str()).collect();
            let message = format!("{} is no arbiter of this deployment", identity.name());
            Problem::new(
                message,
                &format!("arbiter.at names {}; choose a certificate by --name", names.join(", ")),
            )
        })?;
        let control = deployment.arbiters[usize::from(rank)].control;
        let kept = Kept::open(&args.state, &format!("{}.term", identity.name()))?;
        let params = deployment.clone();
        let handle = Handle::start("arbiter", control.ip(), deployment.arbiter.slot, move |start| {
            let params = params.arbiter_params(rank, start.timeslots).map_err(Problem::bare)?;
            ArbiterNode::new(&params, kept, &start)
        })
        .map_err(|trouble| at_control(trouble, control))?;
        serve(args, Party::new(deployment, Peer::Arbiter(rank), identity), control, handle)
    })
}

/// Is an endpoint until a signal comes.
pub(super) fn endpoint(args: &FastpassArgs) -> Result<u8, Problem> {
    with_log(args, |deployment, identity| {
        let address = deployment.address(identity.name()).ok_or_else(|| {
            let message = format!("{} is no endpoint of this deployment", identity.name());
            Problem::new(
                message,
                "it needs a [[host]] with prefixes of this name; choose a certificate by --name",
            )
        })?;
        let control = deployment.endpoints[usize::from(address)].control;
        let kept = Kept::open(&args.state, &format!("{}.life", identity.name()))?;
        let of = deployment.clone();
        let handle = Handle::start("endpoint", control.ip(), deployment.arbiter.slot, move |start| {
            let nodes = of.endpoints.len() as u16;
            let timeslots = Timeslots::new(of.arbiter.slot);
            let params = endpoint_params(nodes, timeslots, &of.endpoint, of.network.paths());
            let carriage = open_carriage(&of, address, &start)?;
            let spin = if of.mode == Mode::Slots { SPIN } else { Span::from_us(3) };
            let (arbiters, guard) = (of.arbiters.len() as u8, of.carriage.guard);
            let make = Make { params, address, arbiters, kept, carriage, spin, guard };
            EndpointNode::new(make, &start).map_err(|error| trouble("the state directory", &error))
        })
        .map_err(|trouble| at_control(trouble, control))?;
        serve(args, Party::new(deployment, Peer::Endpoint(address), identity), control, handle)
    })
}

/// Lifts the limits of sockets when the endpoint that has started this process has died.
#[cfg(feature = "tcp")]
pub(super) fn lift_limits() -> Result<u8, Problem> {
    let lifted = crate::fastpass::rates::watch::run();
    lifted.map(|()| 0).map_err(|error| Problem::new(error.message, &error.remedy))
}

/// Nobody starts this where no rates are set.
#[cfg(not(feature = "tcp"))]
pub(super) fn lift_limits() -> Result<u8, Problem> {
    Err(Problem::bare("this clearwayd was built without what sets rates of TCP sockets"))
}

/// A problem with a socket at the address of this host's control channel.
fn at_control(problem: Problem, control: SocketAddr) -> Problem {
    match problem.remedy {
        Some(_) => problem,
        None => Problem::new(
            format!("{}: {}", control.ip(), problem.message),
            "control, in the deployment's file, is an address of the host of this name",
        ),
    }
}

/// Has this process told to end when its parent, which has this number, ends, however that does.
fn end_with(parent: i32) -> Result<(), Problem> {
    let failed = |error: Errno| trouble("--with-parent", &error.into());
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(failed)?;
    // One that has ended before gives no signal.
    match getppid() {
        Some(now) if now.as_raw_nonzero().get() == parent => Ok(()),
        _ => {
            Err(Problem::bare(format!("--with-parent {parent}: that process is not the parent of this one")))
        }
    }
}

/// Reads what the options name, and does the work with the log that they say.
fn with_log(
    args: &FastpassArgs,
    work: impl FnOnce(Deployment, Identity) -> Result<u8, Problem>,
) -> Result<u8, Problem> {
    args.with_parent.map_or(Ok(()), end_with)?;
    stops::reload_at_hangup();
    let deployment = match Deployment::read(&args.file) {
        Ok(deployment) => deployment,
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return Ok(BAD_INPUT);
        }
    };
    let form = args.log.unwrap_or_default();
    log::start(form)?;
    match identity(&args.keys).and_then(|identity| work(deployment, identity)) {
        // Whoever reads a log of JSON reads no other line.
        Err(problem) if form == LogForm::Json => {
            log::problem("process cannot go on", &problem);
            Ok(stops::status().unwrap_or(BAD_INPUT))
        }
        done => done,
    }
}

fn serve<S: Shown + Send + 'static>(
    args: &FastpassArgs,
    party: Party,
    control: SocketAddr,
    handle: Arc<Handle<S>>,
) -> Result<u8, Problem> {
    let metrics = metrics_address(args.metrics.as_ref())?;
    let mut service = Service::from_environment().map_err(|error| trouble("NOTIFY_SOCKET", &error))?;
    runtime()?.block_on(async {
        let own = party.identity();
        let doors = Doors::open(&own, control, metrics).await?;
        let role = match party.who {
            Peer::Arbiter(_) => "arbiter",
            Peer::Endpoint(_) => "endpoint",
        };
        info!(version = env!("CARGO_PKG_VERSION"), role, name = own.name(), fcp = %handle.address(), "process starts");
        print(&format!("listening at {control}\n"))?;
        if let Some(metrics) = doors.metrics() {
            print(&format!("metrics at http://{metrics}/metrics\n"))?;
        }
        doors.serve(Arc::new(party), handle, &mut service, || identity(&args.keys)).await
    })
}
