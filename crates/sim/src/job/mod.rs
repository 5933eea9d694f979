//! What jobs do, apart from any network: graphs of operations are made and read here, and a rank goes through them.

mod builder;
pub mod collective;
pub mod goal;
mod messages;
mod problem;
mod rank;
mod rehearsal;
pub mod storage;
pub mod training;

pub use builder::{Draft, GraphBuilder, Position, RankDraft, MOST_OPERATIONS};
pub use problem::Problem;
pub use rank::{Activity, Doing, Note, Noting, Progress, Rank};
pub use rehearsal::{never_ends, Standstill};
