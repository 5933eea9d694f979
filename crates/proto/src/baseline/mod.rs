//! What people compare with: one file a scheme, its parameters beside it.

pub mod dctcp;
pub mod none;
