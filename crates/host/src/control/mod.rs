//! Control channels: QUIC connections with mutual TLS, on which two processes say what they want and agree on keys.
//!
//! [`dial()`] and [`Listener::accept`] give a [`Channel`] whose two ends have shown certificates of one authority and have said
//! [`Hello`]. What follows is messages in JSON, each behind its length (four bytes, network byte order), on one stream.
//! [`Channel::secret`] is what both ends alone know (RFC 8446 §7.5).

mod channel;
mod failure;
mod hello;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn::{ClientConfig, Endpoint, IdleTimeout, ServerConfig, TransportConfig, VarInt};

use crate::daemon::output::Problem;
use crate::keys::{Identity, ANY_PEER};
pub use channel::{Channel, Receiving, Sending, MOST_BYTES};
pub use failure::{Failure, REASONS};
pub use hello::{Hello, VERSION};

/// The longest time that a channel lives without a sign of its peer, and how often one is given.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a handshake may take.
    pub answer: Duration,
    /// How long a peer may be silent.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { answer: Duration::from_secs(5), silence: Duration::from_secs(2) }
    }
}

impl Patience {
    fn transport(&self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        let longest = Duration::from_millis(u64::from(VarInt::MAX).min(u64::from(u32::MAX)));
        let idle = IdleTimeout::try_from(self.silence.min(longest)).ok();
        transport
            .max_idle_timeout(idle)
            .keep_alive_interval(Some(self.silence / 4))
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(0));
        Arc::new(transport)
    }
}

/// Dials the peer at `to` and says what for. With a `name` the peer must have the certificate of that name, else any of the same
/// authority will do.
pub async fn dial(
    identity: &Identity,
    to: SocketAddr,
    name: Option<&str>,
    purpose: &str,
    patience: Patience,
) -> Result<Channel, Failure> {
    dial_with(identity, to, name, Hello::of(purpose), patience).await
}

async fn dial_with(
    identity: &Identity,
    to: SocketAddr,
    name: Option<&str>,
    hello: Hello,
    patience: Patience,
) -> Result<Channel, Failure> {
    let any: SocketAddr = match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let mut config = ClientConfig::new(Arc::new(identity.client().map_err(Failure::Problem)?));
    config.transport_config(patience.transport());
    let endpoint = Endpoint::client(any).map_err(Failure::Socket)?;
    let connecting = endpoint
        .connect_with(config, to, name.unwrap_or(ANY_PEER))
        .map_err(|error| Failure::Socket(std::io::Error::other(error)))?;
    let open = async {
        let connection = connecting.await.map_err(|error| failure::of_dialing(&error, name))?;
        let (send, receive) = connection.open_bi().await.map_err(|error| failure::of(&error))?;
        let channel = Channel::new(endpoint, connection, send, receive);
        channel.greeted(&hello).await.map(|(channel, _)| channel)
    };
    tokio::time::timeout(patience.answer, open).await.unwrap_or(Err(Failure::NoAnswer))
}

/// Where others dial.
#[derive(Debug)]
pub struct Listener {
    endpoint: Endpoint,
    patience: Patience,
}

/// One that has dialed and has not shown who it is.
#[derive(Debug)]
pub struct Caller {
    incoming: quinn::Incoming,
    endpoint: Endpoint,
    answer: Duration,
}

fn server_config(identity: &Identity, patience: Patience) -> Result<ServerConfig, Problem> {
    let mut config = ServerConfig::with_crypto(Arc::new(identity.server()?));
    config.transport_config(patience.transport());
    Ok(config)
}

impl Listener {
    /// Listens at an address; port 0 for any that is free. Must be called within a runtime.
    pub fn bind(identity: &Identity, at: SocketAddr, patience: Patience) -> Result<Listener, Problem> {
        let config = server_config(identity, patience)?;
        let remedy = "take an address of this host and a port that is free";
        let endpoint =
            Endpoint::server(config, at).map_err(|error| Problem::new(format!("{at}: {error}"), remedy))?;
        Ok(Listener { endpoint, patience })
    }

    /// Shows another certificate to those who dial from here on. Channels that are open stay as they are.
    pub fn set_identity(&self, identity: &Identity) -> Result<(), Problem> {
        self.endpoint.set_server_config(Some(server_config(identity, self.patience)?));
        Ok(())
    }

    /// The address that it is bound to.
    pub fn local_address(&self) -> std::io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Waits for the next one that dials; none once the listener is closed. Who has dialed is [answered](Caller::answer) beside
    /// others, so that nobody waits for one that is slow.
    pub async fn accept(&self) -> Option<Caller> {
        let incoming = self.endpoint.accept().await?;
        Some(Caller { incoming, endpoint: self.endpoint.clone(), answer: self.patience.answer })
    }
}

impl Caller {
    /// Where it dials from.
    pub fn address(&self) -> SocketAddr {
        self.incoming.remote_address()
    }

    /// Lets it show who it is, and gives the channel with what it said.
    pub async fn answer(self) -> Result<(Channel, Hello), Failure> {
        self.answer_with(Hello::of("")).await
    }

    async fn answer_with(self, own: Hello) -> Result<(Channel, Hello), Failure> {
        let open = async {
            let connection = self.incoming.await.map_err(|error| failure::of(&error))?;
            let (send, receive) = connection.accept_bi().await.map_err(|error| failure::of(&error))?;
            Channel::new(self.endpoint, connection, send, receive).greeted(&own).await
        };
        tokio::time::timeout(self.answer, open).await.unwrap_or(Err(Failure::NoAnswer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{make, Validity};

    /// One that dials and one that answers, each with its version, and what becomes of both.
    async fn meet(dialing: u32, answering: u32) -> [Result<(), Failure>; 2] {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["here".into()], Validity::days(1)).unwrap();
        let identity = Identity::read(folder.path(), Some("here")).unwrap();
        let listener =
            Listener::bind(&identity, (Ipv4Addr::LOCALHOST, 0).into(), Patience::default()).unwrap();
        let address = listener.local_address().unwrap();
        let hello = |version| Hello { version, clearway: "9.9.9".into(), ..Hello::of("meet") };
        let dialed = dial_with(&identity, address, None, hello(dialing), Patience::default());
        let answered = async { listener.accept().await.unwrap().answer_with(hello(answering)).await };
        let (dialed, answered) = tokio::join!(dialed, answered);
        [dialed.map(|_| ()), answered.map(|_| ())]
    }

    #[test]
    fn peers_of_another_version_are_told_both_versions() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (dialing, answering) in [(VERSION + 1, VERSION), (VERSION, VERSION + 1)] {
            let ends = runtime.block_on(meet(dialing, answering));
            let [old, new] = if dialing == VERSION {
                ends
            } else {
                let [new, old] = ends;
                [old, new]
            };
            // The older end knows; the newer one, of which only the number is ours, speaks as this one does.
            let failure = old.expect_err("another version");
            assert_eq!(
                failure.to_string(),
                format!(
                    "it is Clearway 9.9.9 and speaks version {}, where this one speaks {VERSION}",
                    VERSION + 1
                )
            );
            assert!(failure.remedy().unwrap().contains("the same Clearway"));
            new.expect("an end that hears this version");
        }
        let [dialed, answered] = runtime.block_on(meet(VERSION, VERSION));
        dialed.and(answered).expect("the same version");
    }
}
