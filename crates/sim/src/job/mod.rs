//! What jobs do, apart from any network: graphs of operations are made and read here, and a rank goes through them.

mod builder;
pub mod collective;
pub mod goal;
mod rank;
mod rehearsal;

pub use builder::{Draft, GraphBuilder, Problem, RankDraft, MOST_OPERATIONS};
pub use rank::{Doing, Progress, Rank};
pub use rehearsal::{never_ends, Standstill};
