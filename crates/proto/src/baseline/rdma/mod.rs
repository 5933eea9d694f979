//! What RDMA network adapters run over Ethernet: RoCE with go-back-N or selective repeat, IRN, DCQCN over any of them, and
//! HPCC and TIMELY, which have RoCE's recovery.
//!
//! A queue pair is a flow. Its packets leave at the rate of the NIC, in a fixed window or in none, until DCQCN slows them
//! down. The switch's part of DCQCN (the congestion point) is ECN by random early detection; the receiver's (the
//! notification point) is in [`receiver`], the sender's (the reaction point) in [`reaction_point`].

pub mod control;
pub mod dcqcn;
pub mod hpcc;
pub mod irn;
pub mod reaction_point;
pub mod receiver;
pub mod roce;
pub mod timely;
