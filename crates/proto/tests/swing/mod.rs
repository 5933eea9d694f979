//! Lossless long links: the arithmetic against simulations that know none of it.

mod headroom;
mod laws;
mod model;
mod relay;
