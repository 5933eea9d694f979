//! Cubic (RFC 9438): after a loss the window follows a cubic of time that is flat where the loss was, or the window
//! that Reno would have, whichever is larger.
//!
//! Its answer to marks (§4.6) is left out: its packets are not ECN-capable. Slow start is RFC 5681's, without
//! `HyStart++` (§4.10); spurious losses are not undone (§4.9).

use super::tcp::{self, TcpParams, TcpScheme, TcpWindow};
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::{AckSample, CongestionControl, Timeout, Windows};
use crate::units::{Span, Time};

/// Cubic's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CubicParams {
    /// Steepness of the cubic, in packets a cubed second (`C`). 0.4 (RFC 9438 §5.1).
    pub c: f64,
    /// What a loss leaves of the window (`β_cubic`). 0.7 (RFC 9438 §4.6).
    pub beta: f64,
    /// A loss below the last maximum lowers the next one further, for others to grow (RFC 9438 §4.7). Yes.
    pub fast_convergence: bool,
    /// What every TCP has.
    pub tcp: TcpParams,
}

impl Default for CubicParams {
    fn default() -> CubicParams {
        CubicParams { c: 0.4, beta: 0.7, fast_convergence: true, tcp: TcpParams::default() }
    }
}

impl Parameters for CubicParams {
    fn read(r: &mut impl ParameterReader, d: &CubicParams) -> CubicParams {
        let c = Parameter::new("c", "Steepness of the cubic, in packets a cubed second.", 1e-6..=1e12);
        let beta = Parameter::new("beta", "What a loss leaves of the window.", 0.01..=0.99);
        let convergence = "Let a loss below the last maximum lower the next one further.";
        CubicParams {
            c: r.value(&c, d.c),
            beta: r.value(&beta, d.beta),
            fast_convergence: r.flag("fast_convergence", convergence, d.fast_convergence),
            tcp: TcpParams::read(r, &d.tcp, tcp::PACKETS_AN_ACK),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.tcp.conflicts()
    }
}

impl TcpScheme for CubicParams {
    type Control = Cubic;

    fn tcp(&self) -> &TcpParams {
        &self.tcp
    }
}

/// Cubic's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Cubic {
    tcp: TcpWindow,
    /// Window at which the cubic is flat, in packets (`W_max`); zero where no loss has set it.
    w_max: f64,
    /// Window just before the last cut, in packets (`cwnd_prior`).
    cwnd_prior: f64,
    /// Congestion avoidance since the last cut; none before its first acknowledgement. Boxed to keep a flow small.
    epoch: Option<Box<Epoch>>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// How long it has lasted, less what the sender did not use its window (`t`).
    elapsed: Span,
    last_ack: Time,
    /// When the cubic is flat, in seconds of `elapsed` (`K`).
    k: f64,
    /// The window that Reno would have, in packets (`W_est`).
    w_est: f64,
}

impl Cubic {
    /// Window at which the cubic is flat, in packets (`W_max`); zero where no loss has set it.
    pub fn w_max(&self) -> f64 {
        self.w_max
    }

    /// RFC 9438 §4.2, fig. 2. Where no loss set a maximum above the window, after a timeout (§4.8) or where slow start
    /// ended without a loss (§4.10), the cubic is flat at the window, now.
    fn begin(&mut self, params: &CubicParams, now: Time) -> Epoch {
        let cwnd = self.tcp.cwnd;
        if self.w_max <= cwnd {
            (self.w_max, self.cwnd_prior) = (cwnd, cwnd);
        }
        let k = cube_root((self.w_max - cwnd) / params.c);
        Epoch { elapsed: Span::ZERO, last_ack: now, k, w_est: cwnd }
    }

    /// RFC 9438 §4.2, fig. 1.
    fn w_cubic(&self, params: &CubicParams, elapsed: Span, k: f64) -> f64 {
        let t = elapsed.as_secs_f64() - k;
        params.c * t * t * t + self.w_max
    }

    /// Congestion avoidance for `acked` packets (RFC 9438 §4.2 to §4.5).
    fn avoid_congestion(&mut self, params: &CubicParams, now: Time, acked: f64, sample: &AckSample) {
        let mut epoch = self.epoch.take().unwrap_or_else(|| Box::new(self.begin(params, now)));
        // Time in which nothing was under way is the application's: an acknowledgement tells of one round trip at most.
        epoch.elapsed += now.since(epoch.last_ack).min(sample.rtt);
        epoch.last_ack = now;
        let cwnd = self.tcp.cwnd;
        let beta = params.beta;
        let alpha = if epoch.w_est < self.cwnd_prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        // As in `TcpWindow::grow`.
        let share = acked / cwnd.max(1.0);
        epoch.w_est += alpha * share;
        self.tcp.cwnd = if self.w_cubic(params, epoch.elapsed, epoch.k) < epoch.w_est {
            // The window may be ahead of the cubic by a round trip, and then does not fall to Reno's.
            cwnd.max(epoch.w_est)
        } else {
            let target =
                self.w_cubic(params, epoch.elapsed + self.tcp.rto.srtt, epoch.k).clamp(cwnd, 1.5 * cwnd);
            // An acknowledgement of more than a window goes there and no further.
            cwnd + (target - cwnd) * share.min(1.0)
        };
        self.tcp.cwnd = self.tcp.cwnd.min(params.tcp.max_cwnd);
        self.epoch = Some(epoch);
    }

    /// The maximum that a cut at the window as it is leaves behind (RFC 9438 §4.7).
    fn remember(&mut self, params: &CubicParams) {
        let cwnd = self.tcp.cwnd;
        let lower = params.fast_convergence && cwnd < self.w_max;
        self.w_max = if lower { cwnd * (1.0 + params.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }
}

impl CongestionControl for Cubic {
    type Shared = CubicParams;
    type Telemetry = ();

    fn new(params: &CubicParams) -> Cubic {
        Cubic {
            tcp: TcpWindow::new(params.tcp.initial_cwnd, params.tcp.max_cwnd),
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
        }
    }

    #[inline]
    fn on_ack(&mut self, params: &CubicParams, now: Time, sample: &AckSample) {
        self.tcp.on_ack(sample);
        if self.tcp.recovering {
            return;
        }
        if !self.tcp.is_limiting(sample) {
            // RFC 9438 §5.8: neither the window grows nor does time pass.
            if let Some(epoch) = &mut self.epoch {
                epoch.last_ack = now;
            }
            return;
        }
        let acked = self.tcp.slow_start(f64::from(sample.newly_acked), params.tcp.max_cwnd);
        if acked > 0.0 {
            self.avoid_congestion(params, now, acked, sample);
        }
    }

    /// RFC 9438 §4.6.
    fn on_loss(&mut self, params: &CubicParams, _now: Time, cumulative: u32, next: u32) {
        if self.tcp.is_new_loss(cumulative) {
            self.remember(params);
            let ssthresh = self.tcp.flight_size(cumulative, next) * params.beta;
            self.tcp.recover(ssthresh, params.tcp.min_cwnd, next);
        }
    }

    /// RFC 9438 §4.8.
    fn on_timeout(&mut self, params: &CubicParams, _now: Time, timeout: &Timeout) {
        let ssthresh = self.tcp.flight_size(timeout.cumulative, timeout.next) * params.beta;
        self.tcp.on_timeout(ssthresh, params.tcp.min_cwnd, timeout);
        (self.w_max, self.epoch) = (0.0, None);
    }

    #[inline]
    fn window(&self, _params: &CubicParams) -> f64 {
        self.tcp.cwnd
    }

    #[inline]
    fn retransmission_timeout(&self, params: &CubicParams, _timeouts: u32) -> Span {
        self.tcp.rto.timeout(params.tcp.min_rto, params.tcp.initial_rto)
    }

    fn windows(&self, _params: &CubicParams) -> Windows {
        Windows::new(self.tcp.cwnd, self.tcp.rto.srtt)
    }
}

/// The cube root of a number that is not negative, the same on every machine: Newton's method from
/// `x^(1/4 + 1/16 + 1/64 + 1/256)`, whose exponent lacks 1/768 of a third.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let fourth = |x: f64| x.sqrt().sqrt();
    let mut root = 1.0;
    let mut factor = x;
    for _ in 0..4 {
        factor = fourth(factor);
        root *= factor;
    }
    // Off by 4 % at 1e12 and by 2 % at 1e-6, and each step squares the error.
    for _ in 0..5 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cube_roots_of_cubes() {
        for root in [0.0, 1.0, 2.0, 3.0, 10.0, 100.0, 1e4] {
            assert!((cube_root(root * root * root) - root).abs() <= 4e-16 * root, "{root}");
        }
    }

    proptest! {
        #[test]
        fn a_cube_root_cubed_is_the_number(exponent in -8_i32..13, mantissa in 1.0_f64..10.0) {
            let x = mantissa * 10_f64.powi(exponent);
            let root = cube_root(x);
            prop_assert!((root * root * root / x - 1.0).abs() < 2e-15, "{}", root);
        }
    }
}
