//! How wrong clocks are, and what reads them.

use clearway_proto::units::Span;

/// How wrong the clocks of a host are, and whether its transports read them. By default they are exact.
///
/// **What a clock shows.** A clock draws an offset uniformly from `-offset..=offset` and a rate error `e` uniformly from
/// `-drift..=drift`, once. A reading at simulated time `t` is
///
/// `BASE + t + e * t + offset + error of the reading`,
///
/// the last drawn for each reading, uniformly from `-jitter..=jitter`. [`Clock::BASE`] keeps readings above zero. Two
/// readings of one clock may be in the wrong order. An agent stamps its messages by readings; its timers go by what the
/// clock shows without their errors. A switch's clock is exact.
///
/// **A host has two clocks.** The stack reads Swift's t1, t3, t4 and t6 from the host's clock; the NIC stamps t2 and t5
/// from a clock of its own (Swift §3.2, figure 2). The two draw from the same limits, independently of each other.
/// Agents, such as a probe's, read the host's clock. Nothing ties the clocks of two hosts to each other.
///
/// **The map between the two** (Swift, appendix A). A NIC's stamp `n` is put onto the host's clock as
/// `host = ratio * n + offset` through the two latest readings of both clocks, `(n0, h0)` and after it `(n1, h1)`:
///
/// `ratio = (h1 - h0) / (n1 - n0)`, `map(n) = h1 + ratio * (n - n1)`.
///
/// Both clocks are read at every multiple of [`Clock::MAP_INTERVAL`], zero and the negative ones among them: a host is up
/// before the run begins. The paper says "periodically" and gives no interval; this one is the daemon's. A reading of
/// both has the errors of two readings, drawn from the number of its multiple and not from what was read before, so
/// that a map that is made only when a stamp needs it is the same map.
///
/// **What becomes of t1 to t6** at a host with [`Timestamps::Clock`]. Machines go on living in simulated time: timers,
/// pacing and the order of events are as with exact clocks, and only the differences between stamps are what the clocks
/// make of them. Frames carry exact times too: as a reading is a function of the time and of an error that no one else
/// sees, it can be taken when a difference is. `H` is the host's clock and `N` its NIC's; every term below is a reading
/// with an error of its own. A difference below zero counts as zero.
///
/// | instant | clock | what is made of it |
/// |---|---|---|
/// | t1: the sender's stack hands out a data packet | sender's `H` | the frame carries t1 and the acknowledgement brings it back; read at t6 |
/// | t2: the packet is whole at the receiver's NIC | receiver's `N` | stays with the packet; read at t3 |
/// | t3: the receiver's stack takes the packet | receiver's `H` | `a = H(t3) - map(N(t2))`; the receiver is told that the packet arrived at `t3 - a` |
/// | t4: the receiver's stack hands out the acknowledgement | none | the receiver takes `t4 - (t3 - a)` for the remote queuing, in what the header carries: the stretch from t3 to t4 is exact |
/// | t5: the acknowledgement is whole at the sender's NIC | sender's `N` | stays with the acknowledgement; read at t6 |
/// | t6: the sender's stack takes the acknowledgement | sender's `H`, one reading | `rtt = H(t6) - H(t1)` and `b = H(t6) - map(N(t5))`; the sender is told of an echo of `t6 - rtt` and an arrival at `t6 - b` |
///
/// The sending host's kind decides on t1, t5 and t6, the receiving host's on t2 and t3. On an ideal host t2 = t3 = t4 and
/// t5 = t6, and the clocks are read all the same. A run's tables hold exact times: what is measured wrongly shows in
/// what transports do.
///
/// From this follows what a test can hold it to. Offsets alone change nothing, to the picosecond. A rate error of the
/// host's clock changes each of `rtt`, `a` and `b` by that part of it; one of the NIC's changes nothing, to rounding.
/// Jitter changes `rtt` by two of its lengths at most, and `a` and `b` by two and what it adds to the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Clock {
    /// The largest offset, either way.
    pub offset: Span,
    /// The largest rate error, either way.
    pub drift: PartsPerBillion,
    /// The largest error of one reading, either way.
    pub jitter: Span,
    /// Whether the host's transports read the clocks.
    pub timestamps: Timestamps,
}

impl Clock {
    /// What a clock without error shows at simulated time zero: more than any offset, rate error and jitter can take
    /// from it.
    pub const BASE: Span = Span::from_secs(10);

    /// Simulated time from one reading of both of a host's clocks to the next, for the map between them.
    pub const MAP_INTERVAL: Span = Span::from_ms(100);

    /// Returns whether every reading is [`Clock::BASE`] and the simulated time.
    pub fn is_exact(&self) -> bool {
        (self.offset, self.drift, self.jitter) == (Span::ZERO, PartsPerBillion(0), Span::ZERO)
    }
}

/// What a host's transports take for the time of their stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Timestamps {
    /// Simulated time.
    #[default]
    Exact,
    /// Readings of the host's clock and its NIC's, as [`Clock`] says.
    Clock,
}

/// A rate error, in parts of a thousand million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct PartsPerBillion(pub u64);
