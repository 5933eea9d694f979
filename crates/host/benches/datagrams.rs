//! Swift over UDP on loopback, beside what only sends: as fast as quinn-udp sends joined datagrams (GSO) and receives them, and as fast
//! as they go one by one, sixteen to a system call.
//!
//!     cargo bench -p clearway-host --bench datagrams [-- --seconds 1 --rounds 3 NAME...]
//!
//! A round measures each in turn, so that the ratios at the end compare like with like. Both ends of each take a core.

#![allow(clippy::disallowed_methods, reason = "what is measured takes real time")]

use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clearway_host::datagram::flow::{Carried, FlowId, Incoming, Outgoing};
use clearway_host::datagram::scheme::{AnyReceiver, AnyScheme};
use clearway_host::datagram::seal::Secret;
use clearway_host::datagram::session::Peer;
use clearway_host::datagram::{Endpoint, Settings};
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::Scheme;
use clearway_proto::units::Span;
use quinn_udp::{RecvMeta, Transmit, UdpSocketState, BATCH_SIZE};

const PAYLOAD: u32 = 1400;
const ANY: &str = "127.0.0.1:0";

/// Gigabits of payload in a second.
type Gbps = f64;
/// A name, and what measures for a number of seconds.
type Measurement = (&'static str, fn(f64) -> Gbps);

fn socket() -> (UdpSocket, UdpSocketState) {
    let socket = UdpSocket::bind(ANY).expect("a socket");
    let state = UdpSocketState::new((&socket).into()).expect("its state");
    socket.set_nonblocking(false).expect("blocking");
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let _ = state.set_recv_buffer_size((&socket).into(), 8 << 20);
    let _ = state.set_send_buffer_size((&socket).into(), 8 << 20);
    (socket, state)
}

/// What arrives while `send` sends as fast as it can.
fn blast(seconds: f64, mut send: impl FnMut(&UdpSocket, &UdpSocketState, SocketAddr) + Send) -> Gbps {
    let (sender, sending) = socket();
    let (receiver, receiving) = socket();
    let to = receiver.local_addr().expect("bound");
    let (stop, bytes) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffers = vec![vec![0_u8; 65_536]; BATCH_SIZE];
            while !stop.load(Ordering::Relaxed) {
                let mut meta = [RecvMeta::default(); BATCH_SIZE];
                let mut slices: Vec<_> = buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
                if let Ok(count) = receiving.recv((&receiver).into(), &mut slices, &mut meta) {
                    let length: usize = meta[..count].iter().map(|meta| meta.len).sum();
                    bytes.fetch_add(length as u64, Ordering::Relaxed);
                }
            }
        });
        let began = Instant::now();
        while began.elapsed().as_secs_f64() < seconds {
            send(&sender, &sending, to);
        }
        let took = began.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        bytes.load(Ordering::Relaxed) as f64 * 8.0 / took / 1e9
    })
}

fn gso(seconds: f64) -> Gbps {
    let bytes = vec![0_u8; PAYLOAD as usize * 44];
    blast(seconds, |socket, state, destination| {
        let segment_size = Some(PAYLOAD as usize);
        let transmit = Transmit { destination, ecn: None, contents: &bytes, segment_size, src_ip: None };
        let _ = state.send(socket.into(), &transmit);
    })
}

fn mmsg(seconds: f64) -> Gbps {
    use nix::sys::socket::{sendmmsg, MsgFlags, MultiHeaders, SockaddrStorage};
    use std::io::IoSlice;
    use std::os::fd::AsRawFd;
    let bytes = vec![0_u8; PAYLOAD as usize];
    blast(seconds, |socket, _, to| {
        let slices = [[IoSlice::new(&bytes)]; 16];
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(16, None);
        let to = [Some(SockaddrStorage::from(to)); 16];
        let _ = sendmmsg(socket.as_raw_fd(), &mut headers, slices.iter(), to, [], MsgFlags::empty());
    })
}

/// One flow without end, or several that share a session.
fn swift(seconds: f64, flows: u32, sealed: bool) -> Gbps {
    let settings = Settings { bind: ANY.parse().expect("an address"), measure: false };
    let [from, to] = [0, 1].map(|_| Endpoint::start(settings, |_| {}).expect("an endpoint"));
    let peer = |end: &Endpoint, dialed| Peer {
        address: end.local_addr(),
        endpoint: end.id(),
        session: 0,
        dialed,
        secret: Secret([7; 32]),
        sealed,
    };
    from.open(0, peer(&to, true));
    to.open(0, peer(&from, false));
    let params = SwiftParams {
        base_target: Span::from_us(200),
        endpoint_target: Span::from_us(1000),
        min_rto: Span::from_ms(5),
        initial_rto: Some(Span::from_ms(10)),
        ..SwiftParams::default()
    };
    let sender = AnyScheme::Swift(params.clone()).sender(PAYLOAD);
    for flow in 0..flows {
        let (id, carried) = (FlowId { session: 0, flow }, Carried::endless(PAYLOAD));
        to.expect(Incoming { id, carried, receiver: AnyReceiver::selective(params.reach()), keep: None });
    }
    for flow in 0..flows {
        let (id, carried) = (FlowId { session: 0, flow }, Carried::endless(PAYLOAD));
        from.send(Outgoing {
            id,
            carried,
            outstanding: 1,
            content: None,
            sender: sender.clone(),
            shown: Arc::default(),
        });
    }
    let received = || {
        let seen = to.look().expect("an endpoint at work");
        (seen.at, seen.received.iter().map(|(_, flow)| flow.bytes).sum::<u64>())
    };
    std::thread::sleep(Duration::from_secs_f64(seconds / 4.0));
    let (began, before) = received();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let (ended, after) = received();
    if std::env::var_os("VERBOSE").is_some() {
        let seen = from.look().expect("an endpoint at work");
        let flow = &seen.sending[0].1;
        println!(
            "  cwnd {:.1}, RTT {:.0} us mean, {} retransmissions, {} timeouts, {:?} {} drops",
            flow.cwnd,
            flow.rtt.mean_ns().unwrap_or(0.0) / 1e3,
            flow.retransmissions,
            flow.timeouts,
            to.look().expect("an endpoint").counted.ignored,
            to.look().expect("an endpoint").socket_drops,
        );
    }
    (after - before) as f64 * 8.0 / ended.since(began).as_secs_f64() / 1e9
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let (mut seconds, mut rounds, mut names) = (1.0, 3, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse::<f64>().ok()).expect("a number");
        match arg.as_str() {
            "--seconds" => seconds = number(),
            "--rounds" => rounds = number() as usize,
            "--bench" => {}
            _ => names.push(arg),
        }
    }
    let all: [Measurement; 6] = [
        ("gso", gso),
        ("mmsg", mmsg),
        ("swift", |seconds| swift(seconds, 1, true)),
        ("swift-plain", |seconds| swift(seconds, 1, false)),
        ("swift-64", |seconds| swift(seconds, 64, true)),
        ("swift-5000", |seconds| swift(seconds, 5000, true)),
    ];
    let chosen: Vec<_> =
        all.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|one| one == name)).collect();
    let mut figures = vec![Vec::new(); chosen.len()];
    for _ in 0..rounds {
        for (figures, (_, measure)) in figures.iter_mut().zip(&chosen) {
            figures.push(measure(seconds));
        }
    }
    let medians: Vec<f64> = figures.iter_mut().map(|figures| median(figures)).collect();
    for ((name, _), gbps) in chosen.iter().zip(&medians) {
        println!("{name:12} {gbps:6.2} Gb/s");
    }
    let of = |name: &str| chosen.iter().position(|(one, _)| *one == name).map(|at| medians[at]);
    for (name, over, bar) in [("swift", "gso", 0.3), ("swift", "mmsg", 2.5), ("swift", "swift-plain", 0.8)] {
        if let (Some(one), Some(other)) = (of(name), of(over)) {
            let ratio = one / other;
            let verdict = if ratio >= bar { "ok" } else { "short" };
            println!("testbed {name}-over-{over} {ratio:.2} {bar} {verdict}");
        }
    }
}
