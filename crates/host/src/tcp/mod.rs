//! Swift as a congestion control of the kernel's own TCP, for applications that know nothing of it.
//!
//! The algorithm runs in the kernel: `bpf/swift.bpf.c` is loaded by `kernel::install` (feature `tcp`) and registered under the name `swift` (BPF
//! `struct_ops`). Sockets then choose it by `setsockopt(TCP_CONGESTION)`, by `sysctl net.ipv4.tcp_congestion_control`, or by a
//! route (`congctl swift`). What is installed lasts until it is removed or the machine restarts: it is held by files in the BPF
//! file system, and by no process.
//!
//! [`parameters`] turns [`SwiftParams`](clearway_proto::swift::SwiftParams) into the integers that the kernel computes with, and
//! [`sockets`] reads what each socket has counted.

#[cfg(feature = "tcp")]
pub mod kernel;
pub mod parameters;
pub mod sockets;
