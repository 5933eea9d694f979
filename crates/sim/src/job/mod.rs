//! What jobs do, apart from any network: graphs of operations are made and read here, and a rank goes through them.

mod builder;
pub mod collective;
pub mod goal;
mod messages;
mod rank;
mod rehearsal;
pub mod storage;
pub mod training;

pub use builder::{Draft, GraphBuilder, Position, Problem, RankDraft, MOST_OPERATIONS};
pub use rank::{Activity, Doing, Note, Noting, Progress, Rank};
pub use rehearsal::{never_ends, Standstill};
