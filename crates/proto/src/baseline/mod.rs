//! What people compare with: one file a scheme, its parameters beside it.

pub mod cubic;
pub mod dctcp;
pub mod gcn;
pub mod go_back_n;
pub mod ndp;
pub mod none;
pub mod rdma;
pub mod reno;
pub mod tcp;
pub mod uec;
