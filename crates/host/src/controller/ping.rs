//! How an agent's clock differs from the controller's.

use super::trouble::Trouble;
use crate::control::{Channel, Failure};
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, ToAgent};

/// Pings to an agent, of which the one that took the shortest time counts.
const PINGS: u32 = 10;

/// An agent's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What the agent's monotonic clock is ahead of the controller's, in nanoseconds; wrong by half of the round trip at most.
    pub offset_ns: i64,
    /// The round trip, in nanoseconds.
    pub rtt_ns: u64,
}

impl Clock {
    /// What a ping tells: sent and heard again by the controller's clock, answered by the agent's.
    fn new(sent: u64, answered: u64, heard: u64) -> Clock {
        let rtt_ns = heard.saturating_sub(sent);
        Clock { offset_ns: 0_i64.wrapping_add_unsigned(answered.wrapping_sub(sent + rtt_ns / 2)), rtt_ns }
    }

    /// The instant of the agent's clock that is this one of the controller's.
    pub fn of_agent(&self, controller_ns: u64) -> u64 {
        controller_ns.wrapping_add_signed(self.offset_ns)
    }

    /// The instant of the controller's clock that is this one of the agent's.
    pub fn of_controller(&self, agent_ns: u64) -> u64 {
        agent_ns.wrapping_add_signed(self.offset_ns.wrapping_neg())
    }
}

/// Measures an agent's clock.
pub async fn measure(channel: &mut Channel) -> Result<Clock, Trouble> {
    let mut best: Option<Clock> = None;
    for number in 0..PINGS {
        let sent = monotonic_ns();
        channel.send(&ToAgent::Ping { number }).await?;
        let clock = match channel.receive().await? {
            FromAgent::Pong { number: answered, monotonic_ns: at } if answered == number => {
                Clock::new(sent, at, monotonic_ns())
            }
            other => return Err(Failure::Senseless(format!("{other:?} out of turn")).into()),
        };
        best = Some(best.filter(|best| best.rtt_ns <= clock.rtt_ns).unwrap_or(clock));
    }
    best.ok_or_else(|| Failure::NoAnswer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_that_of_the_middle_of_the_round_trip() {
        let clock = Clock::new(1000, 501_050, 1100);
        assert_eq!(clock, Clock { offset_ns: 500_000, rtt_ns: 100 });
        assert_eq!((clock.of_agent(2000), clock.of_controller(502_000)), (502_000, 2000));
        let behind = Clock::new(501_000, 1050, 501_100);
        assert_eq!(
            (behind.offset_ns, behind.of_agent(502_000), behind.of_controller(2000)),
            (-500_000, 2000, 502_000)
        );
    }
}
