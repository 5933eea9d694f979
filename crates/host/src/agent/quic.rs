//! Flows over QUIC by quinn, under Swift: a connection each, all of one UDP socket. Both ends show their certificates.
//!
//! Ends say the same as [over TCP](super::tcp), but for the way back: the receiver tells the bytes that have come (8 bytes, network byte order), every
//! [`REPORT`] and when all have, as quinn does not tell which bytes are acknowledged.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clearway_proto::swift::SwiftParams;
use quinn::{
    AckFrequencyConfig, ClientConfig, Connection, Endpoint, EndpointConfig, RecvStream, SendStream,
    ServerConfig, TokioRuntime, TransportConfig, VarInt,
};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{interval, timeout, MissedTickBehavior};

use super::expected::{preamble, Expected, MOST_STRANGERS, PATIENCE, PREAMBLE_BYTES, YES};
use super::probe::Probe;
use super::refusal::Refusal;
use super::tcp::no_address;
use super::ticket::Ticket;
use crate::keys::Identity;

/// The time between two reports of a receiver on the bytes that have come.
const REPORT: Duration = Duration::from_millis(10);
/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(10);
/// Connections that are being opened at once: each handshake costs both processors a millisecond.
const AT_ONCE: usize = 32;
/// Bytes that are given to quinn at once.
const CHUNK: usize = 64 << 10;
/// Bytes that may be under way on a connection: more than any window.
const WINDOW: u32 = 32 << 20;
/// Bytes of buffer that the kernel is asked for, for the socket; it may give less.
const SOCKET_BYTES: usize = 4 << 20;

/// The congestion control is Swift, acknowledgements wait for a millisecond at most, and a connection lives as long as the run: whether the
/// peer does is known from the control channels.
fn transport(swift: &SwiftParams) -> Arc<TransportConfig> {
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements.max_ack_delay(Some(Duration::from_millis(1)));
    let mut transport = TransportConfig::default();
    transport
        .ack_frequency_config(Some(acknowledgements))
        .congestion_controller_factory(Arc::new(clearway_quic::quinn::Swift::new(swift.clone())))
        .max_idle_timeout(None)
        .send_window(u64::from(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0));
    Arc::new(transport)
}

/// The socket of all connections, of those that come and those that go. Must be called within a runtime.
pub fn endpoint(local: IpAddr, identity: &Identity, swift: &SwiftParams) -> Result<Endpoint, Refusal> {
    let at = SocketAddr::new(local, 0);
    let socket = Socket::new(Domain::for_address(at), Type::DGRAM.nonblocking(), Some(Protocol::UDP));
    let socket = socket.map_err(|error| Refusal::failure(format!("a UDP socket: {error}")))?;
    // The kernel may have a lower limit; what is lost for it is counted.
    let _ = socket.set_recv_buffer_size(SOCKET_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BYTES);
    socket.bind(&at.into()).map_err(|error| no_address(local, &error))?;
    let crypto = identity.server().map_err(|problem| Refusal::failure(problem.message))?;
    let mut server = ServerConfig::with_crypto(Arc::new(crypto));
    server.transport_config(transport(swift));
    let runtime = Arc::new(TokioRuntime);
    Endpoint::new(EndpointConfig::default(), Some(server), socket.into(), runtime)
        .map_err(|error| Refusal::failure(format!("a UDP socket: {error}")))
}

/// The sending end of flows over QUIC.
pub struct Source {
    endpoint: Endpoint,
    config: ClientConfig,
    token: [u8; 16],
    ends: BTreeMap<u32, (String, SocketAddr)>,
    gate: Semaphore,
    zeros: Bytes,
}

impl Source {
    /// Sends to `ends`, the name and the address of each host by its index in the plan.
    pub fn new(
        endpoint: Endpoint,
        identity: &Identity,
        swift: &SwiftParams,
        token: [u8; 16],
        ends: BTreeMap<u32, (String, SocketAddr)>,
    ) -> Result<Source, Refusal> {
        let crypto = identity.client().map_err(|problem| Refusal::failure(problem.message))?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(swift));
        let zeros = Bytes::from(vec![0; CHUNK]);
        Ok(Source { endpoint, config, token, ends, gate: Semaphore::new(AT_ONCE), zeros })
    }

    /// Sends a flow. Returns whether it is complete; an error says what went wrong.
    pub async fn send(&self, ticket: &mut Ticket) -> Result<bool, String> {
        let (to, id, bytes) = (ticket.flow().to, ticket.flow().id, ticket.flow().bytes);
        let Some((name, to)) = self.ends.get(&to) else { return Err("its destination is unknown".into()) };
        let told = |error: String| format!("{to}: {error}");
        let (connection, send, mut receive) = {
            let _gate = self.gate.acquire().await.map_err(|error| error.to_string())?;
            let silent = |_| format!("{to}: no answer within {} s", CONNECTING.as_secs());
            timeout(CONNECTING, self.connect(name, *to, id)).await.map_err(silent)?.map_err(told)?
        };
        let came = Arc::new(AtomicU64::new(0));
        if !ticket.wait(|| Probe::Quic(connection.clone(), came.clone())).await {
            return Ok(false);
        }
        let bytes = bytes.unwrap_or(u64::MAX);
        let told = |error: String| format!("{to}: {error}");
        let written = async {
            self.write(send, bytes).await.map_err(told)?;
            std::future::pending().await
        };
        let done = tokio::select! {
            failed = written => failed,
            read = read_until(&mut receive, bytes, &came) => read.map_err(told),
        };
        connection.close(VarInt::from_u32(0), b"");
        done.map(|()| true)
    }

    async fn connect(
        &self,
        name: &str,
        to: SocketAddr,
        id: u64,
    ) -> Result<(Connection, SendStream, RecvStream), String> {
        let connecting = self.endpoint.connect_with(self.config.clone(), to, name);
        let connection =
            connecting.map_err(|error| error.to_string())?.await.map_err(|error| error.to_string())?;
        let (mut send, mut receive) = connection.open_bi().await.map_err(|error| error.to_string())?;
        send.write_all(&preamble(&self.token, id)).await.map_err(|error| error.to_string())?;
        let mut said = [0];
        receive.read_exact(&mut said).await.map_err(|error| error.to_string())?;
        Ok((connection, send, receive))
    }

    /// Writes bytes that nobody looks at.
    async fn write(&self, mut send: SendStream, bytes: u64) -> Result<(), String> {
        let mut left = bytes;
        while left > 0 {
            let length = left.min(CHUNK as u64);
            let chunk = self.zeros.slice(..length as usize);
            send.write_chunk(chunk).await.map_err(|error| error.to_string())?;
            left -= length;
        }
        // A stream that is dropped is finished: what was written arrives.
        send.finish().map_err(|error| error.to_string())
    }
}

/// Hears how many bytes have come, until all have.
async fn read_until(receive: &mut RecvStream, bytes: u64, came: &AtomicU64) -> Result<(), String> {
    let mut said = [0; 8];
    while came.load(Ordering::Relaxed) < bytes {
        receive.read_exact(&mut said).await.map_err(|error| error.to_string())?;
        came.store(u64::from_be_bytes(said), Ordering::Relaxed);
    }
    Ok(())
}

/// Takes the connections of flows, for as long as the runtime lives.
pub async fn receive(endpoint: Endpoint, expected: Arc<Expected>) {
    let strangers = Arc::new(Semaphore::new(MOST_STRANGERS));
    while let Some(incoming) = endpoint.accept().await {
        let Ok(permit) = strangers.clone().acquire_owned().await else { return };
        let expected = expected.clone();
        tokio::spawn(async move {
            // A connection that breaks off is its source's to tell.
            if let Ok(Ok(connection)) = timeout(PATIENCE, incoming).await {
                let _ = sink(&connection, &expected, permit).await;
            }
        });
    }
}

async fn sink(connection: &Connection, expected: &Expected, permit: OwnedSemaphorePermit) -> Option<()> {
    let mut preamble = [0; PREAMBLE_BYTES];
    let introduced = async {
        let (send, mut receive) = connection.accept_bi().await.ok()?;
        receive.read_exact(&mut preamble).await.ok()?;
        Some((send, receive))
    };
    let (mut send, mut receive) = timeout(PATIENCE, introduced).await.ok()??;
    let bytes = expected.claim(&preamble)?;
    drop(permit);
    send.write_all(&[YES]).await.ok()?;
    let mut ticks = interval(REPORT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut came, mut told) = (0_u64, 0_u64);
    while came < bytes {
        tokio::select! {
            chunk = receive.read_chunk(usize::MAX, true) => came += chunk.ok()??.bytes.len() as u64,
            _ = ticks.tick(), if came > told => {
                told = came;
                send.write_all(&told.to_be_bytes()).await.ok()?;
            }
        }
    }
    send.write_all(&came.to_be_bytes()).await.ok()?;
    // The source closes.
    connection.closed().await;
    Some(())
}
