//! What sets the isolator's patience.

use crate::units::Span;

/// When a link counts as failed, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsolatorParams {
    /// The length of a timeslot: no source can have sent more packets than there were slots. Default: 1.25128 us, that of the
    /// authors' release.
    pub slot: Span,
    /// What was reported longer ago than this is forgotten; than half of it, may be. Default: 20 ms.
    pub window: Span,
    /// How often the reports are weighed. Default: 1 ms.
    pub interval: Span,
    /// One packet of so many lost on a link is a fault: below this rate nothing is done. Default: 400, so 0.25 %. Fastpass
    /// loses nothing to congestion, so that even modest loss points to a fault (§6).
    pub one_in: u32,
    /// Fewer losses on a link are none. Default: 16.
    pub least_lost: u32,
    /// How long a path is excluded before it gets packets again. Twice as long each time that it fails again within ten times
    /// as long as it was excluded. At least `window`. Default: 100 ms.
    pub probation: Span,
    /// The longest that a path is excluded. Default: 10 s.
    pub longest: Span,
}

impl Default for IsolatorParams {
    fn default() -> IsolatorParams {
        IsolatorParams {
            slot: Span::from_ps(1_251_280),
            window: Span::from_ms(20),
            interval: Span::from_ms(1),
            one_in: 400,
            least_lost: 16,
            probation: Span::from_ms(100),
            longest: Span::from_secs(10),
        }
    }
}

impl IsolatorParams {
    /// Whether so many losses are a fault.
    pub(super) fn is_lossy(&self, lost: u64, sent: u64) -> bool {
        lost > 0 && lost * u64::from(self.one_in) >= sent
    }
}
