//! Marking of ECN-capable frames at a queue.

use crate::engine::event::Meta;
use crate::model::MarkPoint;
use crate::random::Stream;

/// How a queue marks.
#[derive(Debug)]
pub struct Marking {
    /// Where frames meet the queue.
    pub at: MarkPoint,
    /// Nothing is marked that meets no more bytes.
    pub above: u32,
    /// What decides of frames that meet more; `None` where all ECN-capable ones are marked.
    pub red: Option<Box<RedMarking>>,
}

impl Marking {
    /// No marking.
    pub const NONE: Marking = Marking { at: MarkPoint::Dequeue, above: u32::MAX, red: None };

    /// Returns whether a frame that meets `held` bytes of the queue at this point is to be marked. Only ECN-capable ones are.
    #[inline]
    pub(super) fn marks_frame(&mut self, at: MarkPoint, held: u32, meta: Meta) -> bool {
        at == self.at && self.marks(held) && meta.contains(Meta::ECT)
    }

    fn marks(&mut self, held: u32) -> bool {
        held > self.above && self.red.as_mut().is_none_or(|red| red.marks(held))
    }
}

/// Marking with a probability that rises with the queue, as in random early detection (Floyd and Jacobson, 1993), of
/// the queue as it is and not of its average.
#[derive(Debug)]
pub struct RedMarking {
    /// Bytes up to which nothing is marked.
    pub min: u64,
    /// Bytes above which everything is marked.
    pub max: u64,
    /// Probability at `max`.
    pub pmax: f64,
    /// The random stream that decides.
    pub stream: Stream,
}

impl RedMarking {
    fn marks(&mut self, held: u32) -> bool {
        let held = u64::from(held);
        debug_assert!(held > self.min, "so few bytes are nothing to decide about");
        if held > self.max {
            return true;
        }
        let rise = (held - self.min) as f64 / (self.max - self.min) as f64;
        self.stream.unit() < self.pmax * rise
    }
}
