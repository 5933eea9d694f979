//! How a sender recovers from loss: which packets it takes for lost, and which of them it sends again. One file a way.

mod contract;
mod go_back_n;
mod nack_bitmap;
mod selective_repeat;

pub use contract::{Change, Recovery};
pub use go_back_n::GoBackN;
pub use nack_bitmap::NackBitmap;
pub use selective_repeat::SelectiveRepeat;
