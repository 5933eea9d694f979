//! The closed forms of sections 4.1 and 5.2: what PFC and the relay make of a long link, as fluids.
//!
//! A source that always has data sends at the line rate R (the paper's BW) or not at all, over a link of delay D one way,
//! into a buffer of B bytes that drains at a share α of R. One bandwidth-delay product, "1 BDP", is 2·D·R. The threshold X
//! serves as XOFF and XON. A cycle of PFC, while α stays as it is:
//!
//! ```text
//!           count rises to X     PAUSE under way        count falls to X      RESUME under way
//!           t1                   2D, to X + 2D(1-α)R    t2                    2D, down to X - 2DαR or to empty at t3
//! input     R                    R                      0                     0
//! ```
//!
//! Two laws follow, which the paper draws together:
//! - **nothing is dropped** if `B - X >= 2D(1-α)R` for the lowest share α that there is;
//! - **no throughput is lost** if `X >= 2DαR` for the highest.
//!
//! Whoever knows nothing of α needs both with α of 0 and of 1: two BDP, as the paper says. Who knows that α lies between
//! `least` and `most` needs `2DR(1 - least + most)`. Frames add to both ([`crate::pfc::headroom`]).

use crate::units::{Bytes, Rate, Span};

const PS_PER_SECOND: f64 = 1e12;

/// A link between two datacenters, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongLink {
    /// The rate of the link (BW, R).
    pub rate: Rate,
    /// Propagation one way (D).
    pub delay: Span,
}

/// The value that is plotted where a buffer is smaller than one BDP, so that not even a threshold of zero leaves a BDP of headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortOfHeadroom {
    /// Zero, as the drain might stop and frames would be dropped: figures 5 and 12.
    Zero,
    /// What a drain that never changes leaves: `α / (1 + α)` with a threshold of zero, and zero from where that drops, at
    /// `2D(1-α)R > B`.
    ConstantDrain,
}

/// One cycle of PFC at a constant drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The time from the lowest count, with input, up to the threshold: equation (2).
    pub t1: Span,
    /// The time from the highest count, without input, down to the threshold: equation (3).
    pub t2: Span,
    /// The time from the threshold, without input, until the buffer is empty: equation (1).
    pub t3: Span,
    /// How long the link carries data in each cycle (`t_active`).
    pub active: Span,
    /// The length of a cycle (T).
    pub period: Span,
    /// The lowest count.
    pub lowest: Bytes,
    /// The highest count.
    pub highest: Bytes,
}

impl LongLink {
    /// 2·D·R, rounded up to the byte.
    pub fn bdp(&self) -> Bytes {
        self.rate.sent_in(self.delay * 2)
    }

    /// The threshold at which `buffer` absorbs a BDP, or zero if it cannot: `X = B - 2DR`.
    pub fn paper_threshold(&self, buffer: Bytes) -> Bytes {
        Bytes::new(buffer.get().saturating_sub(self.bdp().get()))
    }

    /// A cycle at this threshold while the share `drain` drains, more than none of it and less than all: equations (1) to
    /// (3).
    pub fn cycle(&self, threshold: Bytes, drain: f64) -> Cycle {
        assert!(drain > 0.0 && drain < 1.0, "there is a cycle only where a part drains, not {drain}");
        let bytes_per_s = self.bytes_per_s();
        let (x, round_trip) = (threshold.get() as f64, 2.0 * self.delay.as_secs_f64());
        let t3 = x / (drain * bytes_per_s);
        let runs_empty = t3 < round_trip;
        let t1 =
            if runs_empty { x / ((1.0 - drain) * bytes_per_s) } else { round_trip * drain / (1.0 - drain) };
        let t2 = round_trip * (1.0 - drain) / drain;
        let lowest = if runs_empty { 0.0 } else { x - self.of_bdp(drain) };
        Cycle {
            t1: span(t1),
            t2: span(t2),
            t3: span(t3),
            active: span(t1 + round_trip),
            period: span(t1 + t2 + 2.0 * round_trip),
            lowest: Bytes::new(lowest.round() as u64),
            highest: Bytes::new((x + self.of_bdp(1.0 - drain)).round() as u64),
        }
    }

    /// The share of the link's rate that PFC carries with `buffer` and the paper's threshold: equation (4), both branches.
    pub fn pfc_utilisation(&self, buffer: Bytes, drain: f64, short: ShortOfHeadroom) -> f64 {
        let (b, bdp) = (buffer.get() as f64, self.of_bdp(1.0));
        let drain = checked(drain);
        if bdp > b {
            let overflows = short == ShortOfHeadroom::Zero || self.of_bdp(1.0 - drain) > b;
            // Equation (4) with X = 0; a drain of the whole rate never pauses.
            return match (overflows, drain) {
                (true, _) => 0.0,
                (false, 1.0) => 1.0,
                (false, _) => drain / (1.0 + drain),
            };
        }
        // t3 >= 2D, or never a PAUSE.
        if b - bdp >= self.of_bdp(drain) || drain == 1.0 {
            return drain;
        }
        drain * (bdp * drain - b) / (bdp * (-1.0 + drain + drain * drain) - drain * b)
    }

    /// The share of the link's rate that the relay carries with `buffer` at its port R: equation (6).
    pub fn relay_utilisation(&self, buffer: Bytes, drain: f64, short: ShortOfHeadroom) -> f64 {
        let drain = checked(drain);
        let needed = match short {
            ShortOfHeadroom::Zero => self.of_bdp(1.0),
            ShortOfHeadroom::ConstantDrain => self.of_bdp(1.0 - drain),
        };
        if needed > buffer.get() as f64 {
            0.0
        } else {
            drain
        }
    }

    /// Returns what waits in the relay at a constant drain, for as long as the source has data: what waits there and what is
    /// under way with permission are one BDP together. The paper does not say so.
    pub fn standing_queue(&self, drain: f64) -> Bytes {
        Bytes::new(self.of_bdp(1.0 - checked(drain)).round() as u64)
    }

    /// `share` of 2·D·R, in bytes.
    fn of_bdp(&self, share: f64) -> f64 {
        2.0 * self.delay.as_secs_f64() * self.bytes_per_s() * share
    }

    fn bytes_per_s(&self) -> f64 {
        self.rate.as_bps() as f64 / 8.0
    }
}

fn checked(share: f64) -> f64 {
    assert!((0.0..=1.0).contains(&share), "a share from 0 to 1, not {share}");
    share
}

fn span(seconds: f64) -> Span {
    Span::from_ps((seconds * PS_PER_SECOND).round() as u64)
}
