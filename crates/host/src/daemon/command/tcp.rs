//! `clearwayd tcp`: Swift in the kernel's TCP is installed, looked at, changed and removed.

use clearway_proto::parameter::Shown;
use clearway_proto::swift::SwiftParams;
use serde_json::{json, Value};

use crate::daemon::args::{InstallArgs, KernelSwift, StatusArgs, TcpCommand};
use crate::daemon::metrics::Kind::{Counter, Gauge};
use crate::daemon::metrics::{Buckets, Page};
use crate::daemon::output::{print, Problem};
use crate::tcp::kernel::{self, KernelError, NAME};
use crate::tcp::parameters::{decode, defaults, encode, BYTES};
use crate::tcp::sockets::{Counters, Socket};

/// Where the kernel lists the congestion controls that sockets can choose.
const AVAILABLE: &str = "sysctl net.ipv4.tcp_available_congestion_control";

impl From<KernelError> for Problem {
    fn from(error: KernelError) -> Problem {
        Problem::new(error.message, &error.remedy)
    }
}

/// Does what is asked, and returns the exit status.
pub(super) fn tcp(command: &TcpCommand) -> Result<u8, Problem> {
    match command {
        TcpCommand::Install(args) => install(args),
        TcpCommand::Status(args) => status(args),
        TcpCommand::Set(given) => set(given),
        TcpCommand::Remove => remove(),
    }
}

/// The kernel's parameters of what was given over `otherwise`; all but the last of several problems are shown.
fn encoded(given: &KernelSwift, otherwise: &SwiftParams) -> Result<[u8; BYTES], Problem> {
    let params = given.params(otherwise).map_err(|mut problems| {
        let last = problems.pop().expect("an error is a problem");
        problems.iter().for_each(Problem::show);
        last
    })?;
    encode(&params).map_err(|unfit| {
        Problem::new(format!("--{} {}", unfit.name.replace('_', "-"), unfit.what), unfit.remedy)
    })
}

fn install(args: &InstallArgs) -> Result<u8, Problem> {
    kernel::install(&encoded(&args.swift, &defaults())?, args.echo)?;
    print(&format!(
        "TCP sockets can choose {NAME} now ({AVAILABLE}):\n\
         \x20 all new ones:    sysctl net.ipv4.tcp_congestion_control={NAME}\n\
         \x20 those of a route: ip route change PREFIX via ROUTER congctl {NAME}\n\
         \x20 one:             setsockopt(TCP_CONGESTION), such as iperf3 -C {NAME}\n\
         It measures round trips: give the receiver's route quickack 1, so that no acknowledgement is delayed.\n"
    ))?;
    Ok(0)
}

fn set(given: &KernelSwift) -> Result<u8, Problem> {
    if !given.says_anything() {
        return Err(Problem::new("nothing to set", "name a parameter: clearwayd tcp set --help lists them"));
    }
    kernel::set_parameters(&encoded(given, &decode(&kernel::parameters()?))?)?;
    Ok(0)
}

fn remove() -> Result<u8, Problem> {
    if !kernel::remove()? {
        print(&format!("{NAME} was not installed\n"))?;
    }
    Ok(0)
}

fn status(args: &StatusArgs) -> Result<u8, Problem> {
    if !kernel::is_installed()? {
        if args.json {
            print(&format!("{}\n", json!({ "installed": false })))?;
        } else if args.metrics {
            print("clearway_tcp_installed 0\n")?;
        } else {
            print(&format!("{NAME} is not installed\n  install it: clearwayd tcp install\n"))?;
        }
        return Ok(0);
    }
    let (params, sockets) = (decode(&kernel::parameters()?), kernel::sockets()?);
    if args.json {
        let sockets: Vec<Value> = sockets.iter().map(socket_json).collect();
        let status = json!({ "installed": true, "echo": kernel::echoes()?, "parameters": params_json(&params), "sockets": sockets });
        print(&format!("{status}\n"))?;
    } else if args.metrics {
        print(&metrics(&sockets, &kernel::closed()?))?;
    } else {
        print(&readable(&params, &sockets))?;
    }
    Ok(0)
}

fn params_json(params: &SwiftParams) -> Value {
    json!({
        "base_target": params.base_target.shown(),
        "fs_range": params.fs_range.shown(),
        "fs_min_cwnd": params.fs_min_cwnd,
        "fs_max_cwnd": params.fs_max_cwnd,
        "flow_scaling": params.flow_scaling,
        "ai": params.ai,
        "beta": params.beta,
        "max_mdf": params.max_mdf,
        "min_cwnd": params.min_cwnd,
        "cwnd_below_one": params.cwnd_below_one,
        "pacing": params.pacing,
        "gap_limit": params.gap_limit.shown(),
        "gap_limit_max": params.gap_limit_max.shown(),
        "max_cwnd": params.max_cwnd,
        "initial_cwnd": params.initial_cwnd,
        "retx_reset_threshold": params.retx_reset_threshold,
    })
}

fn socket_json(socket: &Socket) -> Value {
    json!({
        "local": socket.local.to_string(),
        "remote": socket.remote.to_string(),
        "cwnd": socket.cwnd,
        "target_us": socket.target_ns as f64 / 1e3,
        "srtt_us": socket.srtt_ns as f64 / 1e3,
        "mean_rtt_us": socket.counters.mean_rtt_us(),
        "pacing_gap_us": socket.pacing_gap_ns as f64 / 1e3,
        "remote_wait_us": socket.waited_ns as f64 / 1e3,
        "acks": socket.counters.acks,
        "acked_packets": socket.counters.acked_packets,
        "delay_decreases": socket.counters.delay_decreases,
        "loss_decreases": socket.counters.loss_decreases,
        "timeouts": socket.counters.timeouts,
        "below_one_packet_s": socket.counters.below_one_ns as f64 / 1e9,
        "rtt_us_from_power_of_two": socket.counters.rtt,
    })
}

fn readable(params: &SwiftParams, sockets: &[Socket]) -> String {
    let mut text = format!(
        "{NAME} is installed: target {} and up to {} for small windows\n",
        params.base_target.shown(),
        params.fs_range.shown()
    );
    if sockets.is_empty() {
        return text + "no socket has it\n";
    }
    let row = |cells: [String; 9]| {
        let [local, remote, cwnd, target, srtt, mean, delay, loss, timeouts] = cells;
        format!("{local:<24} {remote:<24} {cwnd:>9} {target:>9} {srtt:>9} {mean:>9} {delay:>9} {loss:>6} {timeouts:>8}\n")
    };
    text +=
        &row(["local", "remote", "packets", "target us", "srtt us", "mean us", "slowed", "lost", "timeouts"]
            .map(Into::into));
    for socket in sockets {
        text += &row([
            socket.local.to_string(),
            socket.remote.to_string(),
            format!("{:.3}", socket.cwnd),
            format!("{:.0}", socket.target_ns as f64 / 1e3),
            format!("{:.0}", socket.srtt_ns as f64 / 1e3),
            socket.counters.mean_rtt_us().map_or("-".into(), |mean| format!("{mean:.0}")),
            socket.counters.delay_decreases.to_string(),
            socket.counters.loss_decreases.to_string(),
            socket.counters.timeouts.to_string(),
        ]);
    }
    text
}

/// What Prometheus reads: sums over all sockets since Swift was installed, open or closed.
fn metrics(sockets: &[Socket], closed: &Counters) -> String {
    let mut all = closed.clone();
    for socket in sockets {
        all.add(&socket.counters);
    }
    let below_one = sockets.iter().filter(|socket| socket.cwnd < 1.0).count();
    let mut page = Page::new("clearway_tcp");
    page.one(Gauge, "installed", "Whether Swift is installed.", 1);
    page.one(Gauge, "sockets", "Sockets that have Swift.", sockets.len());
    let help = "Of these, with a window below one packet.";
    page.one(Gauge, "sockets_below_one_packet", help, below_one);
    page.one(Counter, "acked_packets_total", "Packets acknowledged.", all.acked_packets);
    page.one(Counter, "delay_decreases_total", "Decreases of windows by delay.", all.delay_decreases);
    page.one(Counter, "loss_decreases_total", "Decreases of windows by loss.", all.loss_decreases);
    page.one(Counter, "timeouts_total", "Timeouts.", all.timeouts);
    let trips = Buckets { counts: &all.rtt, sum_seconds: all.rtt_sum_us as f64 / 1e6 };
    page.histogram("rtt_seconds", "Round trips.", "", [(String::new(), trips)]);
    page.text()
}
