//! `clearwayd relay`: Swing's relay between two interfaces.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clearway_proto::parameter::Shown;
use clearway_proto::swing::relay::RelayParams;
use clearway_proto::units::{Bytes, Span};
use rustix::event::{poll, Timespec};
use serde_json::{json, Value};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::channels::runtime;
use super::outcome::{metrics_address, trouble};
use super::BAD_INPUT;
use crate::daemon::args::{LogForm, RelayArgs};
use crate::daemon::output::{print, Problem};
use crate::daemon::service::Service;
use crate::daemon::{http, log, stops};
use crate::relay::device::{ports, remove, Devices};
use crate::relay::drivers::{obstacle, Obstacle};
use crate::relay::handle::{Handle, Succession};
use crate::relay::page::page;
use crate::relay::predecessor::Predecessor;
use crate::relay::settings::Settings;
use crate::relay::{status, succession};
use crate::testbed::clock::monotonic_ns;

/// How often signals and the ports are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often an address is tried that another still has.
const ATTEMPTS: u32 = 50;
/// Answers to probes that a measurement waits for.
const PROBES: u64 = 3;
/// How often a measurement looks for them.
const LOOK_AT_LINK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// A frame that waits takes up to this many times its bytes on the wire: the shortest do.
const MEMORY_A_BYTE: u64 = 2;

/// Is a relay until a signal comes, tells what one is doing, or takes away what one has left.
pub(super) fn relay(args: &RelayArgs) -> Result<u8, Problem> {
    if args.status {
        let told = status::ask(&args.local, &args.remote)?;
        print(&if args.json { format!("{told}\n") } else { status::table(&told) })?;
        return Ok(0);
    }
    if args.measure {
        return measure(args);
    }
    let Some(config) = &args.config else {
        // Not under a relay that is at work.
        let _name = status::listen(&args.local, &args.remote, false)?;
        remove(&args.local, &args.remote)?;
        print(&format!("nothing passes between {} and {} now\n", args.local, args.remote))?;
        return Ok(0);
    };
    let settings = match Settings::read(config) {
        Ok(settings) => settings,
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return Ok(BAD_INPUT);
        }
    };
    check_memory(&settings)?;
    let ports = ports(&args.local, &args.remote)?;
    if ports[0].mtu != settings.mtu {
        let message = format!(
            "relay.mtu is {}, and the MTU of {} and {} is {}",
            settings.mtu, args.local, args.remote, ports[0].mtu
        );
        let remedy = format!("write mtu = \"{}B\": the planner counts frames of that length", ports[0].mtu);
        return Err(Problem::new(message, &remedy));
    }
    let form = args.log.unwrap_or_default();
    log::start(form)?;
    match serve(args, settings, ports) {
        // Whoever reads a log of JSON reads no other line.
        Err(problem) if form == LogForm::Json => {
            log::problem("process cannot go on", &problem);
            Ok(stops::status().unwrap_or(BAD_INPUT))
        }
        done => done,
    }
}

/// Waits until the relay at work has heard of some more probes, and tells what they say of the long link.
fn measure(args: &RelayArgs) -> Result<u8, Problem> {
    let ask = || status::ask(&args.local, &args.remote).map(|told| told["link"].clone());
    let count = |link: &Value, name: &str| link[name].as_u64().unwrap_or(0);
    let began = monotonic_ns();
    let first = ask()?;
    if count(&first, "every_ns") == 0 {
        let problem = format!("the relay between {} and {} sends no probes", args.local, args.remote);
        return Err(Problem::new(problem, "take probe_every = \"0s\" out of its file, and start it again"));
    }
    // Two round trips, as the link may be longer than planned.
    let patience_ns = (PROBES + 1) * count(&first, "every_ns") + 4 * count(&first, "planned_delay_ns");
    let link = loop {
        let link = ask()?;
        if count(&link, "answers") >= count(&first, "answers") + PROBES
            || monotonic_ns() - began > patience_ns
        {
            break link;
        }
        if let Some(status) = stops::status() {
            return Ok(status);
        }
        let _ = poll(&mut [], Some(&LOOK_AT_LINK));
    };
    print(&if args.json { format!("{link}\n") } else { status::long_link(&link) })?;
    Ok(u8::from(link["finding"] != json!("as_planned")))
}

/// Sees whether there is memory for all that may wait.
fn check_memory(settings: &Settings) -> Result<(), Problem> {
    let params = &settings.params;
    let room = (params.local_buffer.get() + params.remote_buffer.get()) * params.priorities as u64;
    let wanted = room.saturating_mul(MEMORY_A_BYTE);
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    match available.map(|kib| kib * 1024) {
        Some(available) if wanted > available => {
            let message = format!(
                "relay: up to {} may wait, for which {} of memory are wanted, and {} are there",
                Bytes::new(room).shown(),
                Bytes::new(wanted).shown(),
                Bytes::new(available).shown()
            );
            Err(Problem::new(message, "check rate and delay, or set remote_buffer and local_buffer"))
        }
        _ => Ok(()),
    }
}

/// Takes the address of the metrics, which one that has handed over may still have for a moment. Without it the relay goes on.
async fn bind_after(metrics: Option<SocketAddr>) -> Option<TcpListener> {
    for _ in 0..ATTEMPTS {
        match http::bind(metrics).await {
            Ok(bound) => return bound,
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    }
    warn!(at = ?metrics, "nobody can read metrics: the address is taken");
    None
}

/// Notes in the log what has started.
fn announce(args: &RelayArgs, params: &RelayParams, short_response: Option<Span>, replaces: bool) {
    info!(
        version = env!("CARGO_PKG_VERSION"),
        local = args.local,
        remote = args.remote,
        remote_buffer = params.remote_buffer.shown(),
        xoff = params.xoff.shown(),
        safety = params.safety.map(Shown::shown),
        replaces,
        "relay starts"
    );
    for interface in [&args.local, &args.remote] {
        if let Some(Obstacle { driver, does }) = obstacle(interface) {
            warn!(
                interface,
                driver, does, "the card cannot be a relay's as it is; docs/LOSSLESS.md says what can be done"
            );
        }
    }
    if let Some(response) = short_response {
        let response = response.shown();
        warn!(
            response,
            "a PAUSE is short at this rate: a host that stands still for longer than this response may lose frames; give it a \
             core of its own, or write response in the file"
        );
    }
}

fn serve(
    args: &RelayArgs,
    settings: Settings,
    ports: [crate::relay::device::Device; 2],
) -> Result<u8, Problem> {
    let metrics = metrics_address(args.metrics.as_ref())?;
    let mut service = Service::from_environment().map_err(|error| trouble("NOTIFY_SOCKET", &error))?;
    runtime()?.block_on(async {
        let (params, short_response) = (settings.params.clone(), settings.short_response);
        let former = if args.replace { Predecessor::find(&args.local, &args.remote)? } else { None };
        let replaces = former.is_some();
        let bound = if replaces { None } else { Some(http::bind(metrics).await?) };
        let taken = if replaces { None } else { Some(status::listen(&args.local, &args.remote, false)?) };
        let handle = Arc::new(Handle::start(Devices::open(ports)?, settings, former)?);
        let listener = taken.map_or_else(|| status::listen(&args.local, &args.remote, true), Ok)?;
        let metrics = match bound {
            Some(bound) => bound,
            None => bind_after(metrics).await,
        };
        let served = status::serve(listener, handle.clone());
        if let Err(error) = served.and_then(|()| succession::serve(&args.local, &args.remote, handle.clone()))
        {
            // As if it had never started.
            let _ = (handle.end(), remove(&args.local, &args.remote));
            return Err(trouble("the thread of the status", &error));
        }
        announce(args, &params, short_response, replaces);
        print(&format!("relaying between {} and {}\n", args.local, args.remote))?;
        if let Some(at) = metrics.as_ref().and_then(|metrics| metrics.local_addr().ok()) {
            print(&format!("metrics at http://{at}/metrics\n"))?;
        }
        if let Some(metrics) = metrics {
            let handle = handle.clone();
            tokio::spawn(http::serve(metrics, move || handle.look().as_ref().map_or_else(String::new, page)));
        }
        service.ready();
        let mut look = tokio::time::interval(LOOK);
        let status = loop {
            look.tick().await;
            if let Some(status) = stops::status() {
                break status;
            }
            match handle.succession() {
                Succession::Works => {}
                Succession::HandsOver => continue,
                Succession::HandedOver => {
                    info!("another process has taken this one's place: process ends");
                    return Ok(0);
                }
            }
            if handle.has_ended() {
                let why = handle.end().err().map_or("its thread has ended".into(), |problem| problem.message);
                return Err(Problem::bare(format!("the relay cannot go on: {why}")));
            }
            if let Err(problem) = handle.look_at_ports() {
                let _ = handle.end();
                return Err(Problem {
                    message: format!("the relay cannot go on: {}", problem.message),
                    ..problem
                });
            }
            service.alive();
        };
        service.stopping();
        handle.end()?;
        info!(signal = status.saturating_sub(stops::STATUS), "process ends");
        Ok(status)
    })
}
