//! TAP devices: what the host sends there a process reads as Ethernet frames, and what the process writes comes in at the host.

use std::io::{self, ErrorKind};

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::daemon::output::Problem;

/// Makes a TAP device that is down, and from which reading does not block. `frames` of them wait in the kernel for the process; the
/// kernel drops what comes then. It goes when the file is closed.
pub fn open(name: &str, mtu: u16, frames: u32) -> Result<SyncDevice, Problem> {
    let refused = |error: io::Error| {
        let remedy = match error.kind() {
            ErrorKind::PermissionDenied => "run it as root, or give it CAP_NET_ADMIN",
            ErrorKind::NotFound => "load the kernel's module for TAP devices: modprobe tun",
            ErrorKind::ResourceBusy => "end the process that has it already",
            _ => "see whether the kernel has TAP devices",
        };
        Problem::new(format!("TAP device {name}: {error}"), remedy)
    };
    let builder = DeviceBuilder::new().name(name).layer(Layer::L2).packet_information(false);
    let device = builder.mtu(mtu).tx_queue_len(frames).enable(false).build_sync().map_err(refused)?;
    device.set_nonblocking(true).map_err(refused)?;
    Ok(device)
}
