//! The fabric's target delay (§3.5): a base, more for every hop, and more for small windows.
//!
//! With N flows of random phase the mean queue grows as sqrt(N) (figure 4), and a flow's window is
//! proportional to 1/N; so the target grows with 1/sqrt(cwnd). As a slower flow thus has a larger target, this
//! is also what makes flows fair.

use super::SwiftParams;
use crate::units::Span;

/// `t = base_target + hops * ħ + max(0, min(α / sqrt(fcwnd) + β, fs_range))`, with
/// `α = fs_range / (1/sqrt(fs_min_cwnd) - 1/sqrt(fs_max_cwnd))` and `β = -α / sqrt(fs_max_cwnd)`.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricTarget {
    base: Span,
    per_hop: Span,
    range_ps: f64,
    /// α, in picoseconds times the square root of a packet.
    slope_ps: f64,
    /// β, in picoseconds. (Not the β of Algorithm 1.)
    intercept_ps: f64,
}

impl FabricTarget {
    /// The target for these parameters, with each scaling on or off.
    pub fn new(params: &SwiftParams) -> FabricTarget {
        let range_ps = if params.flow_scaling { params.fs_range.as_ps_f64() } else { 0.0 };
        let (steepest, flattest) = (1.0 / params.fs_min_cwnd.sqrt(), 1.0 / params.fs_max_cwnd.sqrt());
        let slope_ps = range_ps / (steepest - flattest);
        FabricTarget {
            base: params.base_target,
            per_hop: if params.topology_scaling { params.hop_scaling } else { Span::ZERO },
            range_ps,
            slope_ps,
            intercept_ps: -slope_ps * flattest,
        }
    }

    /// The target for a window of `fcwnd` packets on a path of `hops` switches, to the picosecond.
    #[inline]
    pub fn at(&self, fcwnd: f64, hops: u8) -> Span {
        let scaling = (self.slope_ps / fcwnd.sqrt() + self.intercept_ps).clamp(0.0, self.range_ps);
        self.base + self.per_hop * u64::from(hops) + Span::from_ps_f64(scaling + 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chosen so that every square root is exact: windows from 0.01 to 1, range 90 us.
    fn target(change: impl FnOnce(&mut SwiftParams)) -> FabricTarget {
        let mut params = SwiftParams {
            base_target: Span::from_us(20),
            hop_scaling: Span::from_us(2),
            fs_range: Span::from_us(90),
            fs_min_cwnd: 0.01,
            fs_max_cwnd: 1.0,
            ..SwiftParams::default()
        };
        change(&mut params);
        FabricTarget::new(&params)
    }

    #[test]
    fn windows_at_and_below_the_least_get_the_whole_range() {
        let target = target(|_| ());
        assert_eq!(target.at(0.01, 3), Span::from_us(20 + 6 + 90));
        assert_eq!(target.at(0.001, 3), Span::from_us(20 + 6 + 90));
    }

    #[test]
    fn windows_at_and_above_the_largest_get_nothing() {
        let target = target(|_| ());
        assert_eq!(target.at(1.0, 3), Span::from_us(26));
        assert_eq!(target.at(100.0, 3), Span::from_us(26));
    }

    #[test]
    fn between_the_clamps_the_scaling_is_in_one_over_the_root() {
        // α = 90 / (10 - 1) = 10 us, β = -10 us; at 0.25: 10 / 0.5 - 10 = 10 us.
        assert_eq!(target(|_| ()).at(0.25, 1), Span::from_us(20 + 2 + 10));
        assert_eq!(target(|_| ()).at(0.0625, 0), Span::from_us(20 + 30));
    }

    #[test]
    fn each_scaling_can_be_off() {
        assert_eq!(target(|p| p.flow_scaling = false).at(0.01, 3), Span::from_us(26));
        assert_eq!(target(|p| p.topology_scaling = false).at(0.01, 3), Span::from_us(110));
    }
}
