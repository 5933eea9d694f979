//! Sends some megabytes over quinn with Swift, and with the library's own CUBIC. A server and a client in one program:
//!
//! `cargo run --release -p clearway-quic --features quinn --example quinn -- [--address IP:PORT] [--megabytes N]`

use std::sync::Arc;

mod transfer;
use transfer::{in_time, quinn, Arguments, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let Arguments { address, bytes } = Arguments::read()?;
    let swift = Arc::new(clearway_quic::quinn::Swift::new(clearway_quic::defaults()));
    println!("swift {}", in_time(quinn::transfer(address, bytes, Some(swift))).await?);
    println!("cubic {}", in_time(quinn::transfer(address, bytes, None)).await?);
    Ok(())
}
