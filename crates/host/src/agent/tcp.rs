//! Flows over the kernel's TCP: a connection each.
//!
//! | source | destination |
//! |--------|-------------|
//! | token and number of the flow | |
//! | | one byte: it knows both |
//! | the flow's bytes, from its start on | |
//! | | one byte: all have come |
//!
//! The source closes by a reset: nothing is under way then, or nobody wants it any more, and no port is left waiting.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use rustix::net::RecvFlags;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::expected::{preamble, Expected, MOST_STRANGERS, PATIENCE, PREAMBLE_BYTES, YES};
use super::limits::is_out_of_files;
use super::probe::Probe;
use super::refusal::Refusal;
use super::ticket::Ticket;

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(5);
/// Connections that are being opened at once.
const AT_ONCE: usize = 64;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;
/// Bytes that are given to the kernel at once.
const CHUNK: usize = 256 << 10;
/// The bytes that flows carry.
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// A socket under a congestion control, bound to an address of this host.
fn socket(local: SocketAddr, control: &str) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_tcp_congestion(control.as_bytes())?;
    Ok(socket)
}

/// Listens for data; refuses a congestion control that the kernel does not have.
pub fn listen(local: IpAddr, control: &str) -> Result<std::net::TcpListener, Refusal> {
    let at = SocketAddr::new(local, 0);
    let socket = socket(at, control).map_err(|error| no_control(control, &error))?;
    let bound = socket.bind(&at.into()).and_then(|()| socket.listen(BACKLOG));
    bound.map_err(|error| no_address(local, &error))?;
    Ok(socket.into())
}

fn no_control(control: &str, error: &io::Error) -> Refusal {
    let remedy = match (error.kind(), control) {
        (io::ErrorKind::PermissionDenied, _) => {
            "add it to net.ipv4.tcp_allowed_congestion_control there, or run the agent with CAP_NET_ADMIN"
                .into()
        }
        (io::ErrorKind::NotFound, "swift") => "install it there: clearwayd tcp install".into(),
        (io::ErrorKind::NotFound, _) => format!("load it there: modprobe tcp_{control}"),
        _ => return Refusal::failure(format!("a TCP socket: {error}")),
    };
    let why = if error.kind() == io::ErrorKind::NotFound { "does not have" } else { "does not let it use" };
    Refusal::input(format!("its kernel {why} the congestion control {control}"), &remedy)
}

/// Refuses an address that this host cannot bind a socket to.
pub fn no_address(local: IpAddr, error: &io::Error) -> Refusal {
    let remedy = "data of hosts.toml is an address of that host; where it is reached by another one, the agent's --data names its own";
    Refusal::input(format!("data address {local}: {error}"), remedy)
}

/// The sending end of flows over TCP.
pub struct Source {
    control: String,
    local: IpAddr,
    token: [u8; 16],
    ends: BTreeMap<u32, SocketAddr>,
    gate: Semaphore,
}

impl Source {
    /// Sends to `ends`, by the plan's index of each host, from the address `local`.
    pub fn new(control: &str, local: IpAddr, token: [u8; 16], ends: BTreeMap<u32, SocketAddr>) -> Source {
        Source { control: control.into(), local, token, ends, gate: Semaphore::new(AT_ONCE) }
    }

    /// Sends a flow. Returns whether it is complete; an error says what went wrong.
    pub async fn send(&self, ticket: &mut Ticket) -> Result<bool, String> {
        let (to, id, bytes) = (ticket.flow().to, ticket.flow().id, ticket.flow().bytes);
        let Some(&to) = self.ends.get(&to) else { return Err("its destination is unknown".into()) };
        let told = |error: io::Error| {
            let remedy = if is_out_of_files(&error) { "; raise RLIMIT_NOFILE" } else { "" };
            format!("{to}: {error}{remedy}")
        };
        let stream = {
            let _gate = self.gate.acquire().await.map_err(|error| error.to_string())?;
            let silent = |_| format!("{to}: no answer within {} s", CONNECTING.as_secs());
            timeout(CONNECTING, self.connect(to, id)).await.map_err(silent)?.map_err(told)?
        };
        let stream = Arc::new(stream);
        if !ticket.wait(|| Probe::tcp(&stream)).await {
            return Ok(false);
        }
        write(&stream, bytes.unwrap_or(u64::MAX)).await.map_err(told)?;
        read_yes(&stream).await.map_err(told)?;
        Ok(true)
    }

    async fn connect(&self, to: SocketAddr, id: u64) -> io::Result<TcpStream> {
        let socket = socket(to, &self.control)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_linger(Some(Duration::ZERO))?;
        // The port is chosen when it is known where to, so that there can be more connections than ports.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        if self.local.is_ipv4() == to.is_ipv4() {
            socket.bind(&SocketAddr::new(self.local, 0).into())?;
        }
        let stream = TcpSocket::from_std_stream(socket.into()).connect(to).await?;
        let mut preamble = &preamble(&self.token, id)[..];
        while !preamble.is_empty() {
            stream.writable().await?;
            match stream.try_write(preamble) {
                Ok(written) => preamble = &preamble[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        read_yes(&stream).await?;
        Ok(stream)
    }
}

/// Writes bytes that nobody looks at.
async fn write(stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        stream.writable().await?;
        match stream.try_write(&ZEROS[..left.min(CHUNK as u64) as usize]) {
            Ok(written) => left -= written as u64,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn read_yes(stream: &TcpStream) -> io::Result<()> {
    let mut said = [0];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut said) {
            Ok(1) if said == [YES] => return Ok(()),
            Ok(_) => return Err(io::Error::other("the connection was closed")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes the connections of flows, for as long as the runtime lives.
pub async fn receive(listener: std::net::TcpListener, expected: Arc<Expected>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let strangers = Arc::new(Semaphore::new(MOST_STRANGERS));
    loop {
        let Ok(permit) = strangers.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let expected = expected.clone();
                // A connection that breaks off is its source's to tell.
                tokio::spawn(async move { drop(sink(&stream, &expected, permit).await) });
            }
            // Too many files, until one is closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn sink(stream: &TcpStream, expected: &Expected, permit: OwnedSemaphorePermit) -> io::Result<()> {
    let mut preamble = [0; PREAMBLE_BYTES];
    timeout(PATIENCE, read_exact(stream, &mut preamble)).await??;
    let Some(bytes) = expected.claim(&preamble) else { return Ok(()) };
    drop(permit);
    stream.set_nodelay(true)?;
    stream.try_write(&[YES])?;
    let mut left = bytes;
    while left > 0 {
        let came = discard(stream).await?;
        if came == 0 {
            return Ok(());
        }
        left = left.saturating_sub(came);
    }
    stream.try_write(&[YES])?;
    // The source closes.
    discard(stream).await.map(drop)
}

async fn read_exact(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<()> {
    let mut length = 0;
    while length < buffer.len() {
        stream.readable().await?;
        match stream.try_read(&mut buffer[length..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes what has come, and returns how many bytes that is; zero at the end. The kernel does not copy them.
async fn discard(stream: &TcpStream) -> io::Result<u64> {
    thread_local! {
        static BUFFER: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::new(vec![0; 4 * CHUNK]);
    }
    stream
        .async_io(Interest::READABLE, || {
            BUFFER.with_borrow_mut(|buffer| {
                let (_, came) = rustix::net::recv(stream, &mut buffer[..], RecvFlags::TRUNC)?;
                Ok(came as u64)
            })
        })
        .await
}
