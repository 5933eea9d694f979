//! Both ends of a transfer over quinn.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AckFrequencyConfig, ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::RootCertStore;

use super::{now, Identity, MeanRtt, Outcome, Result, CHUNK, NAME};

/// How often the round trip is looked at.
const INTERVAL: Duration = Duration::from_millis(2);

/// Windows that limit no transfer here, and acknowledgements that wait for a millisecond at most.
fn transport(control: Option<Arc<dyn ControllerFactory + Send + Sync>>) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements.max_ack_delay(Some(Duration::from_millis(1)));
    transport
        .ack_frequency_config(Some(acknowledgements))
        .send_window(32_000_000)
        .receive_window(VarInt::from_u32(32_000_000))
        .stream_receive_window(VarInt::from_u32(32_000_000));
    if let Some(control) = control {
        transport.congestion_controller_factory(control);
    }
    Arc::new(transport)
}

/// Starts a server that reads what it is sent. Returns its address.
fn serve(address: SocketAddr, identity: &Identity) -> Result<SocketAddr> {
    let key = PrivatePkcs8KeyDer::from(identity.key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key.into())?;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport(None));
    let endpoint = Endpoint::server(config, address)?;
    let address = endpoint.local_addr()?;
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(async move {
                let connection = incoming.await?;
                let mut stream = connection.accept_uni().await?;
                while stream.read_chunk(usize::MAX, true).await?.is_some() {}
                connection.closed().await;
                Result::Ok(())
            });
        }
    });
    Ok(address)
}

/// A transfer from a client to a server, both over `address`' network, with a congestion control or the library's own.
pub async fn transfer(
    address: SocketAddr,
    bytes: u64,
    control: Option<Arc<dyn ControllerFactory + Send + Sync>>,
) -> Result<Outcome> {
    let identity = Identity::new()?;
    let to = serve(address, &identity)?;
    let mut roots = RootCertStore::empty();
    roots.add(identity.certificate.der().clone())?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(transport(control));
    let endpoint = Endpoint::client(SocketAddr::new(to.ip(), 0))?;
    let connection = endpoint.connect_with(config, to, NAME)?.await?;

    let rtt = MeanRtt::default();
    let (watched, samples) = (connection.clone(), rtt.clone());
    let watch = tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            samples.add(watched.rtt());
        }
    });
    let mut stream = connection.open_uni().await?;
    let (start, chunk) = (now(), bytes::Bytes::from(vec![0; CHUNK]));
    let mut left = bytes;
    while left > 0 {
        let size = left.min(CHUNK as u64);
        stream.write_chunk(chunk.slice(..size as usize)).await?;
        left -= size;
    }
    stream.finish()?;
    stream.stopped().await?;
    let elapsed = start.elapsed();
    watch.abort();
    connection.close(VarInt::from_u32(0), b"");
    Ok(Outcome { bytes, elapsed, rtt: rtt.mean() })
}
