//! Swift over UDP: an endpoint is one socket, of which many peers have sessions and each session many flows.
//!
//! [`Endpoint`] is the handle of a thread that [drives](driver::drive) a [`machine::Machine`], which knows neither clock nor
//! socket, over a [`socket::Socket`] by a [`clock::Clock`]. The machine holds, for each flow, `clearway-proto`'s
//! [`Sender`](clearway_proto::transport::Sender) under [`Swift`](clearway_proto::swift::control::Swift), or another [`scheme`], at one end and its
//! [`SelectiveReceiver`](clearway_proto::transport::SelectiveReceiver) at the other.
//!
//! Where the paper's six instants (§3.2) are taken: t1 and t4 when a packet is written for the batch that leaves next,
//! t2 and t5 by the kernel as it receives (`SO_TIMESTAMPING`, in software), t3 and t6 when the loop takes what came with it.
//! So fabric delay holds what the two kernels need to send and, from NIC to stamp, to receive; endpoint delay holds
//! the wait in socket buffers, the scheduler's wake-up, and the loop's own work. Every packet is acknowledged; the
//! acknowledgements of packets that came together leave in one datagram.
//!
//! Every datagram is [sealed](seal). The keys of a session, and which flows there are, both ends know from elsewhere: a control
//! channel. So a flipped bit, a forged datagram and a replayed one are each a lost packet, and no more. What does not begin with
//! the endpoint's number the kernel drops before it takes room.

pub mod clock;
pub mod driver;
mod endpoint;
pub mod figures;
pub mod flow;
pub mod layout;
pub mod machine;
pub mod measured;
mod reached;
mod receiving;
mod replay;
pub mod scheme;
pub mod seal;
mod sending;
pub mod session;
pub mod socket;

pub use endpoint::{Endpoint, Settings, Snapshot};
pub use sending::Delays;
