//! Path selectors: which of several paths a sender's next packet takes. One file a selector that remembers anything.
//!
//! Paths have numbers from 0 on, and every scheme's packets may take any of them. What acknowledgements say of the path that
//! their packet took comes back as a [`PathFeedback`]. Draws are an input, as all randomness: 64 random bits for each packet.

mod draws;
mod feedback;
mod flowlet;
mod mixed;
mod reps;
mod selector;

pub use draws::{drawn, in_turn};
pub use feedback::PathFeedback;
pub use flowlet::{Flowlet, FLOWLET_GAP};
pub use mixed::Mixed;
pub use reps::{Reps, REPS_FREEZE};
pub use selector::PathSelector;
