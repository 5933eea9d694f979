//! Lossless long links: the arithmetic against simulations that know none of it.

mod headroom;
mod model;
mod relay;
