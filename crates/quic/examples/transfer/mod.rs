//! What the examples and the tests share: a certificate, arguments, what a transfer took.

#![allow(dead_code, reason = "each program uses a part")]
#![allow(clippy::disallowed_methods, reason = "real transfers take real time")]

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "quinn")]
pub mod quinn;
#[cfg(feature = "s2n")]
pub mod s2n;

/// Any error ends a program.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The name in the certificate, which a client asks for.
pub const NAME: &str = "localhost";

/// What a write hands over.
pub const CHUNK: usize = 64 * 1024;

/// How long a transfer may take before it counts as failed.
pub const LONGEST: Duration = Duration::from_secs(60);

/// A certificate that vouches for itself.
pub struct Identity {
    /// The certificate.
    pub certificate: rcgen::Certificate,
    /// Its key.
    pub key: rcgen::KeyPair,
}

impl Identity {
    /// A new one.
    pub fn new() -> Result<Identity> {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([NAME.to_string()])?;
        Ok(Identity { certificate: cert, key: signing_key })
    }
}

/// What a program is asked for: `[--address IP:PORT] [--megabytes N]`.
pub struct Arguments {
    /// Where the server listens; port 0 takes one that is free.
    pub address: SocketAddr,
    /// Size of a transfer, in bytes.
    pub bytes: u64,
}

impl Arguments {
    /// Reads the arguments of this program.
    pub fn read() -> Result<Arguments> {
        let mut arguments = Arguments { address: "127.0.0.1:0".parse()?, bytes: 64_000_000 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--address" => arguments.address = value.parse()?,
                "--megabytes" => arguments.bytes = value.parse::<u64>()? * 1_000_000,
                _ => return Err(format!("{word}: not --address IP:PORT or --megabytes N").into()),
            }
        }
        Ok(arguments)
    }
}

/// The mean of what several threads add to.
#[derive(Clone, Debug, Default)]
pub struct MeanRtt(Arc<(AtomicU64, AtomicU64)>);

impl MeanRtt {
    /// Takes a sample.
    pub fn add(&self, rtt: Duration) {
        self.0 .0.fetch_add(rtt.as_nanos() as u64, Ordering::Relaxed);
        self.0 .1.fetch_add(1, Ordering::Relaxed);
    }

    /// The mean of the samples; zero without one.
    pub fn mean(&self) -> Duration {
        let (sum, count) = (self.0 .0.load(Ordering::Relaxed), self.0 .1.load(Ordering::Relaxed));
        Duration::from_nanos(sum / count.max(1))
    }
}

/// What a transfer took.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Bytes of payload that the peer has acknowledged.
    pub bytes: u64,
    /// From the first write until the peer had it all.
    pub elapsed: Duration,
    /// Mean round trip.
    pub rtt: Duration,
}

impl Outcome {
    /// Bits of payload a second, in thousand millions.
    pub fn gbps(&self) -> f64 {
        self.bytes as f64 * 8e-9 / self.elapsed.as_secs_f64()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6.3} Gb/s, mean RTT {:7.3} ms", self.gbps(), self.rtt.as_secs_f64() * 1e3)
    }
}

/// Waits for a transfer, for [`LONGEST`] at most.
pub async fn in_time<T>(transfer: impl std::future::Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(LONGEST, transfer).await.map_err(|_| "the transfer takes too long")?
}

/// The present.
pub fn now() -> Instant {
    Instant::now()
}
