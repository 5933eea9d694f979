//! Sends some megabytes over s2n-quic with Swift, and with the library's own CUBIC. A server and a client in one program:
//!
//! `cargo run --release -p clearway-quic --features s2n --example s2n -- [--address IP:PORT] [--megabytes N]`

use s2n_quic::provider::congestion_controller::Cubic;

mod transfer;
use transfer::{in_time, s2n, Arguments, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let Arguments { address, bytes } = Arguments::read()?;
    let swift = clearway_quic::s2n::Swift::new(clearway_quic::defaults());
    println!("swift {}", in_time(s2n::transfer(address, bytes, swift)).await?);
    println!("cubic {}", in_time(s2n::transfer(address, bytes, Cubic::default())).await?);
    Ok(())
}
