//! 1 GB between two network namespaces over a veth pair, through a relay that loses, repeats and reorders: every byte
//! arrives. Needs root and `ip` (iproute2); says so and passes where there is neither.
//!
//! Without the test harness: the relay has to run inside a namespace, so this program is also the relay.

#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod veth_pair;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return veth_pair::main();
    #[cfg(not(target_os = "linux"))]
    std::process::ExitCode::SUCCESS
}
