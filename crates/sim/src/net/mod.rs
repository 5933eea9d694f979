//! The network: nodes and links, the routes through them, and what a lone flow could reach on a route.

pub mod ideal;
pub mod routing;
pub mod topology;
