//! What Swift makes of s2n-quic's connections, held against the library's own CUBIC:
//!
//! `cargo run --release -p clearway-quic --features s2n --example bench -- [loopback] [queue] [many]`
//!
//! Without a name it measures all three.
//! Each figure is the median of five, and a ratio is of two transfers, one after the other. A line is `swift NAME FIGURE BAR ok|short`, or
//! `swift NAME skipped: REASON`. What goes through a bottleneck needs root and network namespaces; those that it makes are named
//! `cqA`, `cqR` and `cqB`, and are gone at the end.

use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::Duration;

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;
use s2n_quic::provider::congestion_controller::Cubic;
use tokio::task::JoinSet;

#[path = "../transfer/mod.rs"]
mod transfer;
use transfer::{in_time, s2n, Identity, Outcome, Result};

#[cfg(target_os = "linux")]
mod bottleneck;

/// How often each figure is measured.
const ROUNDS: usize = 5;

/// What a figure is held against.
#[derive(Clone, Copy)]
enum Bar {
    /// It is to be this at least.
    Least(f64),
    /// It is to be this at most.
    Most(f64),
}

fn swift() -> clearway_quic::s2n::Swift {
    clearway_quic::s2n::Swift::new(clearway_quic::defaults())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn report(name: &str, figures: Vec<f64>, bar: Bar) {
    let figure = median(figures);
    let (bar, kept) = match bar {
        Bar::Least(bar) => (bar, figure >= bar),
        Bar::Most(bar) => (bar, figure <= bar),
    };
    println!("swift {name} {figure:.3} {bar} {}", if kept { "ok" } else { "short" });
}

fn note(what: &str, [swift, cubic]: [Outcome; 2]) {
    println!("# {what}: swift {swift}; cubic {cubic}");
}

/// Goodput over loopback, where nothing but the processors limits it.
async fn unlimited() -> Result<()> {
    const BYTES: u64 = 200_000_000;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let address = "127.0.0.1:0".parse()?;
        let swift = in_time(s2n::transfer(address, BYTES, swift())).await?;
        let cubic = in_time(s2n::transfer(address, BYTES, Cubic::default())).await?;
        note("loopback", [swift, cubic]);
        ratios.push(swift.gbps() / cubic.gbps());
    }
    report("loopback_goodput_of_cubic", ratios, Bar::Least(0.95));
    Ok(())
}

/// The round trip through 1 Gb/s with a queue of 10 ms.
#[cfg(target_os = "linux")]
async fn queue() -> Result<()> {
    const BYTES: u64 = 600_000_000;
    let network = bottleneck::Network::new("1gbit", 1_250_000)?;
    let (mut rtt, mut goodput) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let [from, to] = network.sockets()?;
        let swift = in_time(s2n::transfer_between(from, to, BYTES, swift())).await?;
        let [from, to] = network.sockets()?;
        let cubic = in_time(s2n::transfer_between(from, to, BYTES, Cubic::default())).await?;
        note("1 Gb/s, 10 ms", [swift, cubic]);
        rtt.push(swift.rtt.as_secs_f64() / cubic.rtt.as_secs_f64());
        goodput.push(swift.gbps() / cubic.gbps());
    }
    println!("# 1 Gb/s, 10 ms: {:.3} of cubic's goodput", median(goodput));
    report("bottleneck_rtt_of_cubic", rtt, Bar::Most(0.3));
    Ok(())
}

/// Fairness of 64 connections through 20 Mb/s: a packet takes .6 ms, so each has a quarter of one in a round trip of 10 ms.
#[cfg(target_os = "linux")]
async fn many() -> Result<()> {
    let network = bottleneck::Network::new("20mbit", 250_000)?;
    let params = SwiftParams {
        base_target: Span::from_ms(5),
        fs_range: Span::from_ms(20),
        fs_min_cwnd: 0.02,
        fs_max_cwnd: 10.0,
        gap_limit: Span::from_ms(200),
        ..clearway_quic::defaults()
    };
    let mut fairness = Vec::new();
    for _ in 0..ROUNDS {
        let [from, to] = network.sockets()?;
        fairness.push(in_time(jain_of_many(from, to, &params)).await?);
    }
    report("64_flows_below_one_packet_jain", fairness, Bar::Least(0.9));
    Ok(())
}

/// Jain's index of 64 connections by what arrives in 10 s, after 5 s in which they find their shares.
#[cfg(target_os = "linux")]
async fn jain_of_many(from: UdpSocket, to: UdpSocket, params: &SwiftParams) -> Result<f64> {
    const FLOWS: usize = 64;
    const WARMUP: Duration = Duration::from_secs(5);
    const MEASURED: Duration = Duration::from_secs(10);
    let identity = Identity::new()?;
    let (to, received) = s2n::serve(to, &identity)?;
    let (client, seen) = s2n::client(from, &identity, clearway_quic::s2n::Swift::new(params.clone()))?;
    let mut senders = JoinSet::new();
    for _ in 0..FLOWS {
        let client = client.clone();
        senders.spawn(async move {
            let mut connection = s2n::connect(&client, to).await?;
            let endless = s2n::send(&mut connection, u64::from(u32::MAX));
            // What is still buffered then is not sent: the next round has the link alone.
            let _ = tokio::time::timeout(WARMUP + MEASURED, endless).await;
            connection.close(0_u32.into());
            Result::Ok(())
        });
    }
    tokio::time::sleep(WARMUP).await;
    let before = received.bytes();
    tokio::time::sleep(MEASURED).await;
    let after = received.bytes();
    while senders.join_next().await.transpose()?.transpose()?.is_some() {}
    let share = |flow| (after[flow] - before.get(flow).unwrap_or(&0)) as f64;
    let shares: Vec<f64> = (0..after.len()).map(share).collect();
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
    println!(
        "# {} flows, 20 Mb/s: Jain {:.3}, {:.1} Mb/s, mean RTT {:.1} ms, {:.0} % of round trips end with a window below one packet",
        shares.len(),
        sum * sum / (FLOWS as f64 * squares),
        sum * 8e-6 / MEASURED.as_secs_f64(),
        seen.rtt.mean().as_secs_f64() * 1e3,
        seen.below_one_packet() * 100.0
    );
    // A flow that does not get through counts as one with nothing.
    Ok(sum * sum / (FLOWS as f64 * squares))
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    // What is measured when a signal comes is dropped, and its namespaces with it.
    tokio::select! {
        measured = measure() => measured.map(|()| ExitCode::SUCCESS),
        status = signal() => Ok(ExitCode::from(status?)),
    }
}

/// Waits for SIGINT or SIGTERM, and gives the exit status of it.
#[cfg(unix)]
async fn signal() -> Result<u8> {
    use tokio::signal::unix::{signal, SignalKind};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt.map(|()| 130).map_err(Into::into),
        _ = terminate.recv() => Ok(143),
    }
}

#[cfg(not(unix))]
async fn signal() -> Result<u8> {
    Ok(tokio::signal::ctrl_c().await.map(|()| 130)?)
}

async fn measure() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    if wants("loopback") {
        unlimited().await?;
    }
    #[cfg(target_os = "linux")]
    let reason = bottleneck::missing();
    #[cfg(not(target_os = "linux"))]
    let reason = Some("namespaces are Linux's");
    if let Some(reason) = reason {
        println!("swift bottleneck_rtt_of_cubic skipped: {reason}");
        println!("swift 64_flows_below_one_packet_jain skipped: {reason}");
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        if wants("queue") {
            queue().await?;
        }
        if wants("many") {
            many().await?;
        }
    }
    Ok(())
}
