//! What sets the isolator's patience.

use crate::units::Span;

/// When a link counts as failed, and what brings it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsolatorParams {
    /// The length of a timeslot: no source can have sent more packets than there were slots. Default: 1.25128 us, that of the
    /// authors' release.
    pub slot: Span,
    /// What was reported longer ago than this is forgotten; than half of it, may be. Default: 20 ms.
    pub window: Span,
    /// How often the reports are weighed. Default: 1 ms.
    pub interval: Span,
    /// One packet lost of this many on a link is a fault: below this rate nothing is done. Default: 400, so 0.25 %. Fastpass
    /// loses nothing to congestion, so that even modest loss points to a fault (§6).
    pub one_in: u32,
    /// A link without a fault may lose one packet of this many. Default: 10,000.
    pub background: u32,
    /// The bits by which a fault has to be a likelier reason for the losses on a link than chance. Default: 50, odds of 10^15 to
    /// 1: four packets of four, 8 of 300 or 13 of 4000.
    pub bits: u32,
    /// How often a link that is avoided is tried with a packet that nobody waits for. Default: 100 us.
    pub trial_interval: Span,
    /// A trial that is not answered for this long is lost. Default: 1 ms.
    pub trial_timeout: Span,
    /// Trials in a row that have to be answered before a link is used again; of one that did not lose everything, up to four
    /// times as many, as it answers some. Twice as many each time that it fails again within 1 s: a link that loses one packet in
    /// 100 soon has to answer more than it can. Default: 16.
    pub trials: u32,
    /// The most trials in a row that are asked for. Default: 100,000, which take 10 s.
    pub most_trials: u32,
    /// How long a link is avoided that nobody can try, before it gets packets again. Twice as long each time that it fails again
    /// within ten times as long as it was avoided. At least `window`. Default: 100 ms.
    pub probation: Span,
    /// The longest that a link is avoided that nobody can try. Default: 10 s.
    pub longest: Span,
}

impl Default for IsolatorParams {
    fn default() -> IsolatorParams {
        IsolatorParams {
            slot: Span::from_ps(1_251_280),
            window: Span::from_ms(20),
            interval: Span::from_ms(1),
            one_in: 400,
            background: 10_000,
            bits: 50,
            trial_interval: Span::from_us(100),
            trial_timeout: Span::from_ms(1),
            trials: 16,
            most_trials: 100_000,
            probation: Span::from_ms(100),
            longest: Span::from_secs(10),
        }
    }
}

impl IsolatorParams {
    /// Returns whether `lost` packets of `sent` are at or above the rate from which on something is done.
    pub(super) fn is_lossy(&self, lost: u64, sent: u64) -> bool {
        lost > 0 && lost * u64::from(self.one_in) >= sent
    }

    /// Answered trials in a row after a failure in which `lost` packets of `sent` were lost. No more than four times as many as
    /// always, as what passed before the fault may be among them.
    pub(super) fn trials_after(&self, (lost, sent): (u64, u64)) -> u32 {
        let wanted = IsolatorParams::proof((lost, sent)).min(4 * u64::from(self.trials));
        (wanted as u32).max(self.trials)
    }

    /// Returns how many trials in a row a link that loses packets at this rate answers one time in e^7, 1100: 7 divided by the
    /// rate.
    pub(super) fn proof((lost, sent): (u64, u64)) -> u64 {
        (7 * sent).div_ceil(lost.max(1))
    }
}
