//! TCP connections between network namespaces, and waiting for what happens there.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

/// The port of flows.
const FLOW_PORT: u16 = 5001;

/// Waits until something is so.
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let since = std::time::Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A TCP connection through which bytes flow.
pub struct Flow {
    ends: Arc<AtomicBool>,
    /// Bytes that have been read.
    pub read: Arc<AtomicU64>,
    sender: JoinHandle<u64>,
    receiver: JoinHandle<u64>,
}

impl Flow {
    /// Starts one between two namespaces, to this address, as fast as it can.
    pub fn start(from: &str, to: &str, address: &str) -> Flow {
        let (ends, read) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (listens, listening) = std::sync::mpsc::channel();
        let (at, counts) = (to.to_string(), read.clone());
        let receiver = std::thread::spawn(move || {
            enter(&at);
            let listener = TcpListener::bind(("0.0.0.0", FLOW_PORT)).unwrap();
            listens.send(()).unwrap();
            receive(&mut listener.accept().unwrap().0, &counts)
        });
        listening.recv().expect("the receiver listens");
        let (at, to, stops) = (from.to_string(), format!("{address}:{FLOW_PORT}"), ends.clone());
        let sender = std::thread::spawn(move || {
            enter(&at);
            send(&mut TcpStream::connect(to).unwrap(), &stops)
        });
        Flow { ends, read, sender, receiver }
    }

    /// Ends it, and returns the bytes written and those read; panics if another byte was read than was written.
    pub fn end(self) -> (u64, u64) {
        self.ends.store(true, Ordering::SeqCst);
        (self.sender.join().unwrap(), self.receiver.join().unwrap())
    }
}

/// The length after which a flow's bytes repeat.
const PERIOD: u64 = 65_521;

fn byte(at: u64) -> u8 {
    ((at % PERIOD * 31) >> 4) as u8
}

fn send(stream: &mut TcpStream, stops: &AtomicBool) -> u64 {
    let text: Vec<u8> = (0..PERIOD).map(byte).collect();
    let mut sent = 0;
    while !stops.load(Ordering::SeqCst) {
        stream.write_all(&text).unwrap();
        sent += PERIOD;
    }
    sent
}

fn receive(stream: &mut TcpStream, counts: &AtomicU64) -> u64 {
    let (mut buffer, mut read) = (vec![0; 1 << 16], 0_u64);
    let text: Vec<u8> = (0..PERIOD + (1 << 16)).map(byte).collect();
    loop {
        let got = stream.read(&mut buffer).unwrap();
        if got == 0 {
            return read;
        }
        let from = (read % PERIOD) as usize;
        assert!(buffer[..got] == text[from..from + got], "other bytes than were sent, after {read}");
        read += got as u64;
        counts.store(read, Ordering::Relaxed);
    }
}

/// Enters a namespace, which the calling thread never leaves.
pub fn enter(namespace: &str) {
    let entry = std::fs::File::open(Path::new("/run/netns").join(namespace)).unwrap();
    move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}
