//! A channel that is open: messages both ways, and the secret of its two ends.

use std::net::SocketAddr;
use std::time::Duration;

use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use rustls::pki_types::CertificateDer;
use serde::de::DeserializeOwned;
use serde::Serialize;

use super::failure::{self, Failure};
use super::hello::{Hello, VERSION};
use crate::keys;

/// The longest message, in bytes: the flows of a large run.
pub const MOST_BYTES: usize = 256 << 20;
/// How long the peer may take to hear that this end has closed.
const FAREWELL: Duration = Duration::from_millis(500);

/// One end of a channel.
#[derive(Debug)]
pub struct Channel {
    endpoint: Endpoint,
    connection: Connection,
    sending: Sending,
    receiving: Receiving,
}

/// The half of a channel that sends.
#[derive(Debug)]
pub struct Sending(SendStream);

/// The half of a channel that receives. A message that was begun is gone on with, so that waiting for one may be given up.
#[derive(Debug)]
pub struct Receiving {
    stream: RecvStream,
    begun: Vec<u8>,
}

impl Channel {
    pub(super) fn new(
        endpoint: Endpoint,
        connection: Connection,
        send: SendStream,
        receive: RecvStream,
    ) -> Channel {
        let receiving = Receiving { stream: receive, begun: Vec::new() };
        Channel { endpoint, connection, sending: Sending(send), receiving }
    }

    /// Says `own` and hears the peer's hello. Of another version this much is alike, so that each end hears of the other's.
    pub(super) async fn greeted(mut self, own: &Hello) -> Result<(Channel, Hello), Failure> {
        self.send(own).await?;
        let hello: Hello = self.receive().await?;
        if hello.version == VERSION {
            return Ok((self, hello));
        }
        self.close().await;
        Err(Failure::Version { theirs: hello.version, clearway: hello.clearway })
    }

    /// Says something.
    pub async fn send(&mut self, message: &impl Serialize) -> Result<(), Failure> {
        self.sending.send(message).await
    }

    /// Hears the next thing.
    pub async fn receive<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        self.receiving.receive().await
    }

    /// The two halves, for one that says and hears at the same time.
    pub fn halves(&mut self) -> (&mut Sending, &mut Receiving) {
        (&mut self.sending, &mut self.receiving)
    }

    /// The peer's address.
    pub fn remote_address(&self) -> SocketAddr {
        self.connection.remote_address()
    }

    /// The name in the peer's certificate.
    pub fn peer_name(&self) -> String {
        let shown =
            self.connection.peer_identity().and_then(|shown| shown.downcast::<Vec<CertificateDer>>().ok());
        let names = shown.and_then(|shown| shown.first().map(keys::names_of)).unwrap_or_default();
        names.into_iter().next().unwrap_or_else(|| "nobody".into())
    }

    /// What the two ends of this channel share and nobody else knows, another one for each `number`.
    pub fn secret(&self, number: u32) -> [u8; 32] {
        let mut secret = [0; 32];
        let exported =
            self.connection.export_keying_material(&mut secret, b"clearway datagram", &number.to_be_bytes());
        exported.expect("TLS exports 32 bytes");
        secret
    }

    /// The latest round trip of the channel.
    pub fn rtt(&self) -> Duration {
        self.connection.rtt()
    }

    /// Closes the channel, once the peer has what was said or a while has passed.
    pub async fn close(mut self) {
        let _ = self.sending.0.finish();
        let _ = tokio::time::timeout(FAREWELL, self.sending.0.stopped()).await;
        self.connection.close(VarInt::from_u32(0), b"");
        let _ = tokio::time::timeout(FAREWELL, self.endpoint.wait_idle()).await;
    }
}

impl Sending {
    /// Says something.
    pub async fn send(&mut self, message: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_vec(message).map_err(|error| Failure::Senseless(error.to_string()))?;
        let length = u32::try_from(text.len()).ok().filter(|&length| length as usize <= MOST_BYTES);
        let length = length.ok_or(Failure::TooLong(text.len()))?;
        let written = async {
            self.0.write_all(&length.to_be_bytes()).await?;
            self.0.write_all(&text).await
        };
        written.await.map_err(|error| failure::of_writing(&error))
    }
}

impl Receiving {
    /// Hears the next thing.
    pub async fn receive<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        self.fill(4).await?;
        let length =
            u32::from_be_bytes([self.begun[0], self.begun[1], self.begun[2], self.begun[3]]) as usize;
        if length > MOST_BYTES {
            return Err(Failure::TooLong(length));
        }
        self.fill(4 + length).await?;
        let text: Vec<u8> = self.begun.drain(..4 + length).skip(4).collect();
        serde_json::from_slice(&text).map_err(|error| Failure::Senseless(error.to_string()))
    }

    /// Reads until `length` bytes are there.
    async fn fill(&mut self, length: usize) -> Result<(), Failure> {
        while self.begun.len() < length {
            let missing = length - self.begun.len();
            match self.stream.read_chunk(missing, true).await.map_err(|error| failure::of_reading(&error))? {
                Some(chunk) => self.begun.extend_from_slice(&chunk.bytes),
                None => return Err(Failure::Closed),
            }
        }
        Ok(())
    }
}
