//! The network: nodes and links, the routes through them, the ports that feed links, and the hosts at the edge.

pub mod classes;
pub mod engine;
pub mod fabric;
pub mod host;
pub mod ideal;
pub mod marking;
pub mod port;
pub mod routing;
pub mod topology;
pub mod transport;
