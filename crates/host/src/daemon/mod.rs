//! Swift over UDP on Linux.
//!
//! A file, or a stream of operations, moves from one process to another: [`send::Sending`] and [`receive::Receiving`]
//! are the two ends, themselves machines without clock or I/O, which hold `clearway-proto`'s
//! [`Sender`](clearway_proto::transport::Sender) under [`Swift`](clearway_proto::swift::control::Swift) and its
//! [`SelectiveReceiver`](clearway_proto::transport::SelectiveReceiver). [`driver::drive`] moves datagrams between one of
//! them and a [`socket::Socket`], by [`clock::Clock`]. The daemon `clearwayd` is [`command`].
//!
//! Where the paper's six instants (§3.2) are taken: t1 and t4 when a packet is written for the batch that leaves next,
//! t2 and t5 by the kernel as it receives (`SO_TIMESTAMPING`, in software), t3 and t6 when the loop takes a datagram.
//! So fabric delay holds what the two kernels need to send and, from NIC to stamp, to receive; endpoint delay holds
//! the wait in socket buffers, the scheduler's wake-up, and the loop's own work.
//!
//! This is a first host, to hold the machines to a second driver. It does **not** encrypt or authenticate: whoever can
//! send from the peer's address and has seen the connection's number can disturb it. It takes one sender at a time, uses
//! no ECN mark, no hardware stamps, keeps no metrics beyond a report at the end, and is for Linux only.

pub mod address;
pub mod args;
pub mod clock;
pub mod command;
pub mod content;
pub mod destination;
pub mod driver;
pub mod layout;
pub mod output;
pub mod packet;
mod reached;
pub mod receive;
pub mod report;
pub mod send;
pub mod socket;
pub mod stops;
