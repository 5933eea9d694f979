//! Both ends of transfers over s2n-quic.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s2n_quic::client::{Client, Connect};
use s2n_quic::provider::congestion_controller::Provider;
use s2n_quic::provider::event::{events, ConnectionInfo, ConnectionMeta, Subscriber};
use s2n_quic::provider::io::tokio::Provider as Io;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Connection, Server};

use super::{now, Identity, MeanRtt, Outcome, Result, CHUNK, NAME};

/// The smallest full packet of QUIC (RFC 9000 §14).
const LEAST_PACKET: u32 = 1200;

/// Bytes that each connection of a server has received, in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub struct Received(Arc<Mutex<Vec<Arc<AtomicU64>>>>);

impl Received {
    /// What there is now.
    pub fn bytes(&self) -> Vec<u64> {
        let counters = self.0.lock().expect("no thread panics with it");
        counters.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect()
    }

    fn counter(&self) -> Arc<AtomicU64> {
        let counter = Arc::default();
        self.0.lock().expect("no thread panics with it").push(Arc::clone(&counter));
        counter
    }
}

/// What a client's connections go through.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The mean of all round trips.
    pub rtt: MeanRtt,
    /// Round trips, and those at whose end the window was less than a packet.
    windows: Arc<(AtomicU64, AtomicU64)>,
}

impl Seen {
    /// The share of round trips at whose end the window was less than a packet.
    pub fn below_one_packet(&self) -> f64 {
        let (all, below) = (&self.windows.0, &self.windows.1);
        below.load(Ordering::Relaxed) as f64 / all.load(Ordering::Relaxed).max(1) as f64
    }
}

/// Notes every new round trip of a client's connections.
#[derive(Debug)]
struct Watch(Seen);

impl Subscriber for Watch {
    type ConnectionContext = Option<Duration>;

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) -> Option<Duration> {
        None
    }

    fn on_recovery_metrics(
        &mut self,
        last: &mut Option<Duration>,
        _meta: &ConnectionMeta,
        event: &events::RecoveryMetrics,
    ) {
        // The first is what the library assumes of a path that it does not know.
        if last.replace(event.latest_rtt).is_some_and(|last| last != event.latest_rtt) {
            self.0.rtt.add(event.latest_rtt);
            self.0.windows.0.fetch_add(1, Ordering::Relaxed);
            self.0.windows.1.fetch_add(u64::from(event.congestion_window < LEAST_PACKET), Ordering::Relaxed);
        }
    }
}

/// Windows that limit no transfer here, and acknowledgements that wait for a millisecond at most.
fn limits() -> Result<Limits> {
    Ok(Limits::new()
        .with_max_ack_delay(Duration::from_millis(1))?
        .with_data_window(32_000_000)?
        .with_bidirectional_local_data_window(32_000_000)?
        .with_bidirectional_remote_data_window(32_000_000)?
        .with_unidirectional_data_window(32_000_000)?
        .with_max_send_buffer_size(8_000_000)?)
}

fn io(socket: UdpSocket) -> Result<Io> {
    Ok(Io::builder().with_rx_socket(socket)?.build()?)
}

/// Starts a server that reads what it is sent and counts it. Returns its address.
pub fn serve(socket: UdpSocket, identity: &Identity) -> Result<(SocketAddr, Received)> {
    let (certificate, key) = (identity.certificate.pem(), identity.key.serialize_pem());
    let tls = rustls::Server::builder().with_certificate(certificate.as_str(), key.as_str())?.build()?;
    let mut server =
        Server::builder().with_tls(tls)?.with_limits(limits()?)?.with_io(io(socket)?)?.start()?;
    let (address, received) = (server.local_addr()?, Received::default());
    let counters = received.clone();
    tokio::spawn(async move {
        while let Some(connection) = server.accept().await {
            tokio::spawn(drain(connection, counters.counter()));
        }
    });
    Ok((address, received))
}

async fn drain(mut connection: Connection, counter: Arc<AtomicU64>) {
    while let Ok(Some(mut stream)) = connection.accept_receive_stream().await {
        while let Ok(Some(bytes)) = stream.receive().await {
            counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    }
}

/// A client whose connections have this congestion control, and what they go through.
pub fn client<C>(socket: UdpSocket, identity: &Identity, control: C) -> Result<(Client, Seen)>
where
    C: Provider,
{
    let certificate = identity.certificate.pem();
    let tls = rustls::Client::builder().with_certificate(certificate.as_str())?.build()?;
    let seen = Seen::default();
    let client = Client::builder()
        .with_tls(tls)?
        .with_limits(limits()?)?
        .with_congestion_controller(control)?
        .with_event(Watch(seen.clone()))?
        .with_io(io(socket)?)?
        .start()?;
    Ok((client, seen))
}

/// A connection to a server.
pub async fn connect(client: &Client, to: SocketAddr) -> Result<Connection> {
    Ok(client.connect(Connect::new(to).with_server_name(NAME)).await?)
}

/// Sends `bytes` and waits until the server has them. Returns how long that took.
pub async fn send(connection: &mut Connection, bytes: u64) -> Result<Duration> {
    let mut stream = connection.open_send_stream().await?;
    let (start, chunk) = (now(), bytes::Bytes::from(vec![0; CHUNK]));
    let mut left = bytes;
    while left > 0 {
        let size = left.min(CHUNK as u64);
        stream.send(chunk.slice(..size as usize)).await?;
        left -= size;
    }
    stream.close().await?;
    Ok(start.elapsed())
}

/// A transfer from a client to a server, both over `address`' network.
pub async fn transfer<C: Provider>(address: SocketAddr, bytes: u64, control: C) -> Result<Outcome> {
    let from = UdpSocket::bind(SocketAddr::new(address.ip(), 0))?;
    transfer_between(from, UdpSocket::bind(address)?, bytes, control).await
}

/// A transfer from a client to a server with these sockets.
pub async fn transfer_between<C: Provider>(
    from: UdpSocket,
    to: UdpSocket,
    bytes: u64,
    control: C,
) -> Result<Outcome> {
    let identity = Identity::new()?;
    let (to, _) = serve(to, &identity)?;
    let (client, seen) = client(from, &identity, control)?;
    let elapsed = send(&mut connect(&client, to).await?, bytes).await?;
    Ok(Outcome { bytes, elapsed, rtt: seen.rtt.mean() })
}
