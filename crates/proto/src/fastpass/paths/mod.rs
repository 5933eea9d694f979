//! Path selection (Fastpass §4): which way each packet of a timeslot takes, so that no link carries two of them.
//!
//! The packets of a slot are the edges of a bipartite multigraph between racks that send and racks that receive, and the paths
//! are colours: in a leaf-spine network a path is a spine switch. To give every packet a path so that no uplink and no
//! downlink is used twice is to colour these edges so that no two edges at one rack have the same colour. Where a rack has more
//! packets than there are paths, the colours are dealt out evenly: of a rack's `d` packets each path carries `d / paths`, rounded
//! down or up, out of the rack and likewise into it. Packets within a rack need no path ([`BYPASS`]).
//!
//! How it is done, a file for each part:
//!
//! 1. `colouring` counts the packets of each pair of racks. Whole multiples of the number of colours need no thought:
//!    they go round. So the counts matter only modulo that number, and are kept as bit planes.
//! 2. `tree` halves the graph again and again. A pair's even packets fall in equal parts to both halves; the odd ones
//!    form a simple graph, a bit for each pair of racks, and have to be split.
//! 3. `split` splits such a graph so that each rack has as many edges in one half as in the other, or one more: first
//!    `squares` takes out cycles of four edges, many at once with word-wide operations, then `chains` the rest.
//! 4. `turns` says which colour the n-th packet of a pair has, from n and the splits alone.
//! 5. `transfer`, where the number of paths is no power of two, moves the packets of the colours too many.
//! 6. `mender`, where links are dead ([`DeadLinks`]), moves packets from them to living ones, over `seats`, which knows the packets
//!    of each link; `pods` has it spare aggregation switches whose links to the core are dead. A dead link is avoided by itself,
//!    in its direction, and all others are used. A packet that no path has room for is [`BLOCKED`], so that no link ever
//!    carries more than it can.
//! 7. `balancer` is all of this for one graph; `leaf_spine` and `fat_tree` are what an arbiter uses.
//!
//! The paper colours with Euler splits too, after padding the graph with dummy edges to equal degrees (its footnote 4).
//! Everything here depends on nothing but the slot's packets in their order, and allocates nothing once it is made.

mod balancer;
mod chains;
mod colouring;
mod dead_links;
mod error;
mod fat_tree;
mod law;
mod layout;
mod leaf_spine;
mod link;
mod mender;
mod path_set;
mod pods;
mod racks;
mod seats;
mod shape;
mod slot;
mod split;
mod squares;
mod transfer;
mod tree;
mod turns;

pub use dead_links::DeadLinks;
pub use error::PathError;
pub use fat_tree::{FatTree, FatTreePath};
pub use leaf_spine::LeafSpine;
pub use link::Link;
pub use path_set::PathSet;
pub use racks::Racks;
pub use shape::FatTreeShape;
pub use slot::{Pair, BLOCKED, BYPASS, MAX_ENDPOINTS, MAX_PATHS, MAX_RACKS};
