//! A host as under Linux: its stack gets received frames when the NIC interrupts it, all that wait at once.
//!
//! A NIC that has been quiet for longer than the wake interval interrupts as soon as a frame arrives. Then it keeps quiet
//! until the interval is over, whatever arrives meanwhile (interrupt moderation). From the interrupt until the stack takes
//! the frames there is a further random time (the softirq). Frames that the stack sends reach the NIC some time later, in
//! their order, and a host may send no faster than its processor can. Now and then the stack stands still.

use std::collections::VecDeque;
use std::sync::Arc;

use clearway_proto::units::{Bytes, Rate};

use super::pauses::{Length, Pauses};
use crate::engine::event::Frame;
use crate::model::InterruptHost;
use crate::random::{Entity, Stream};

/// The interrupts of one host, and what is on its way to its NIC.
#[derive(Debug)]
pub struct Interrupts {
    /// The shortest time from one interrupt of this host to the next, in picoseconds.
    interval: u64,
    /// The earliest that the NIC may interrupt again.
    next_at: u64,
    /// Frames that the stack has still to take of those of the present wake-up.
    left: usize,
    draws: Stream,
    /// The most that this host's flows send together.
    send_rate: Option<Rate>,
    /// When the stack stands still, as those of its frames see it that leave, and those that have arrived. These ask about
    /// later instants than those, and a list of pauses can only be read forwards: so each has its own, of the same pauses.
    send_stalls: Pauses,
    wake_stalls: Pauses,
    /// Frames between stack and NIC, and when they reach it.
    delayed: VecDeque<(u64, Frame)>,
    /// What it costs; the same for all hosts of a kind.
    model: Arc<InterruptHost>,
}

impl Interrupts {
    /// The interrupts of this host, before the first.
    pub fn new(seed: u64, host: u32, model: &Arc<InterruptHost>) -> Interrupts {
        let mut draws = Stream::new(seed, Entity::HostInterrupt, u64::from(host));
        let mean = model.wake_interval.as_ps();
        let spread = (mean as f64 * model.wake_spread) as u64;
        let interval = mean - spread + draws.below(2 * spread + 1);
        let send_rate = model.send_rate.map(|rate| spread_rate(rate, model.send_spread, &mut draws));
        let stalls =
            Pauses::new(seed, host, model.stall_interval.as_ps(), Length::AroundMean(model.stall.as_ps()));
        Interrupts {
            interval,
            next_at: 0,
            left: 0,
            draws,
            send_rate,
            send_stalls: stalls.clone(),
            wake_stalls: stalls,
            delayed: VecDeque::new(),
            model: Arc::clone(model),
        }
    }

    /// Returns when the stack takes the first of the frames that wait. Where it has begun to take them: at once.
    pub fn wake(&mut self, now: u64) -> u64 {
        if self.left > 0 {
            return now;
        }
        let interrupt = now.max(self.next_at);
        self.next_at = interrupt + self.interval;
        let random = self.draws.exponential(self.model.softirq_mean.as_ps() as f64) as u64;
        self.wake_stalls.end(interrupt + self.model.softirq.as_ps() + random)
    }

    /// The stack takes a frame, the first of `waiting`.
    pub fn take(&mut self, waiting: usize) {
        if self.left == 0 {
            self.left = waiting;
        }
        self.left -= 1;
    }

    /// The earliest that a transmission can begin that the NIC asks for at `asked`.
    pub fn sends_at(&mut self, asked: u64) -> u64 {
        self.send_stalls.end(asked)
    }

    /// For how long sending a frame of this size keeps the host from sending the next, in picoseconds.
    pub fn send_time(&self, size: u32) -> u64 {
        self.send_rate.map_or(0, |rate| rate.transmission(Bytes::new(size.into())).as_ps())
    }

    /// Returns whether frames take time from the stack to the NIC.
    pub fn has_delay(&self) -> bool {
        self.model.send_delay.as_ps() + self.model.send_jitter.as_ps() > 0
    }

    /// A frame leaves the stack. If it is the only one between stack and NIC, it answers when it reaches that.
    pub fn delay(&mut self, now: u64, frame: &Frame) -> Option<u64> {
        let jitter = match self.model.send_jitter.as_ps() {
            0 => 0,
            most => self.draws.below(most + 1),
        };
        let before = self.delayed.back().map_or(0, |(at, _)| *at);
        let at = before.max(now + self.model.send_delay.as_ps() + jitter);
        self.delayed.push_back((at, *frame));
        (self.delayed.len() == 1).then_some(at)
    }

    /// The frames that reach the NIC now, in their order, go into `frames`. Answers when the next does, if one is to.
    pub fn release(&mut self, now: u64, frames: &mut Vec<Frame>) -> Option<u64> {
        while let Some(&(at, frame)) = self.delayed.front() {
            if at > now {
                return Some(at);
            }
            frames.push(frame);
            self.delayed.pop_front();
        }
        None
    }

    /// Frames on their way from stack to NIC.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.delayed.iter().map(|(_, frame)| *frame)
    }
}

/// One host's rate of hosts whose rates differ by a part `spread` of their mean at most; nothing is drawn where there is no
/// choice.
fn spread_rate(mean: Rate, spread: f64, draws: &mut Stream) -> Rate {
    let most = (mean.as_bps() as f64 * spread) as u64;
    if most == 0 {
        return mean;
    }
    Rate::from_bps(mean.as_bps() - most + draws.below(2 * most + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::Meta;
    use clearway_proto::units::{Rate, Span};

    /// Interrupts at least 70 us apart, which the stack answers after 3 us.
    fn model() -> InterruptHost {
        InterruptHost {
            wake_interval: Span::from_us(70),
            wake_spread: 0.0,
            softirq: Span::from_us(3),
            softirq_mean: Span::ZERO,
            ..InterruptHost::default()
        }
    }

    fn interrupts(model: InterruptHost) -> Interrupts {
        Interrupts::new(1, 0, &Arc::new(model))
    }

    const US: u64 = 1_000_000;

    #[test]
    fn a_frame_interrupts_as_it_arrives_or_when_the_interval_is_over() {
        let mut host = interrupts(model());
        // The first, at once; one 10 us later, 70 us after that; one after a silence, at once.
        for (arrives, taken) in [(100, 103), (110, 173), (180, 243), (500, 503), (569, 573), (640, 643)] {
            assert_eq!(host.wake(arrives * US), taken * US, "at {arrives} us");
            host.take(1);
        }
    }

    #[test]
    fn a_wake_up_is_for_all_that_wait() {
        let mut host = interrupts(model());
        assert_eq!(host.wake(0), 3 * US);
        for waiting in [5, 4, 3, 2] {
            host.take(waiting);
            assert_eq!(host.wake(3 * US), 3 * US);
        }
        host.take(1);
        // What comes in the very instant in which the last is taken waits for the next.
        assert_eq!(host.wake(3 * US), 73 * US);
    }

    #[test]
    fn each_host_has_an_interval_of_its_own() {
        let model = Arc::new(InterruptHost { wake_spread: 0.1, ..model() });
        let intervals: Vec<u64> = (0..2000).map(|host| Interrupts::new(1, host, &model).interval).collect();
        assert!(intervals.iter().all(|interval| (63 * US..=77 * US).contains(interval)));
        let share = |below: u64| intervals.iter().filter(|interval| **interval < below * US).count();
        // Uniform: a standard deviation of 22 around a half, and 13 around a tenth.
        assert!(share(70).abs_diff(1000) < 66, "{}", share(70));
        assert!(share(64).abs_diff(143) < 39, "{}", share(64));
    }

    #[test]
    fn the_stack_answers_after_a_constant_and_an_exponential_time() {
        let model = InterruptHost { wake_interval: Span::ZERO, softirq_mean: Span::from_us(2), ..model() };
        let mut host = interrupts(model);
        let mut waits = Vec::new();
        for arrival in 0..20_000_u64 {
            let now = arrival * 100 * US;
            waits.push((host.wake(now) - now) as f64 / 1e6);
            host.take(1);
        }
        assert!(waits.iter().all(|wait| *wait >= 3.0));
        // Standard errors of 2 / sqrt(20000) = 0.014 us, and of sqrt(e^-1 (1 - e^-1) / 20000) = 0.0034.
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        assert!((mean - 5.0).abs() < 0.045, "{mean}");
        let longer = waits.iter().filter(|wait| **wait > 5.0).count() as f64 / waits.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.011, "{longer}");
    }

    #[test]
    fn nothing_is_taken_or_sent_in_a_stall() {
        let stalled = InterruptHost {
            stall_interval: Span::from_ms(10),
            stall: Span::from_ms(1),
            wake_interval: Span::ZERO,
            ..model()
        };
        let mut list = Pauses::new(1, 0, 10_000 * US, Length::AroundMean(1000 * US));
        let mut host = interrupts(stalled);
        let mut delayed = 0;
        for arrival in 0..50_000_u64 {
            let now = arrival * 20 * US;
            let taken = list.end(now + 3 * US);
            assert_eq!(host.wake(now), taken);
            host.take(1);
            delayed += usize::from(taken > now + 3 * US);
        }
        // A second with a stall of 1 ms in 11 ms: 91 of them, and a standard error of 0.008.
        assert!((delayed as f64 / 50_000.0 - 1.0 / 11.0).abs() < 0.025, "{delayed}");
        // What is sent asks later than what arrives, and about the same stalls.
        let mut list = Pauses::new(1, 0, 10_000 * US, Length::AroundMean(1000 * US));
        for instant in 0..50_000_u64 {
            assert_eq!(host.sends_at(instant * 20 * US), list.end(instant * 20 * US));
        }
    }

    #[test]
    fn frames_reach_the_nic_a_constant_time_later_in_their_order() {
        let mut host = interrupts(InterruptHost { send_delay: Span::from_us(8), ..model() });
        assert!(host.has_delay());
        let frame = |size| Frame { stamp: 0, route_seq: 0, meta: Meta::new(size, 0) };
        assert_eq!(host.delay(0, &frame(3)), Some(8 * US));
        assert_eq!(host.delay(0, &frame(1)), None);
        assert_eq!(host.delay(US, &frame(2)), None);
        assert_eq!(host.frames().count(), 3);
        let mut frames = Vec::new();
        assert_eq!(host.release(8 * US, &mut frames), Some(9 * US));
        assert_eq!(frames, [frame(3), frame(1)]);
        assert_eq!(host.release(9 * US, &mut frames), None);
        assert_eq!(host.delay(10 * US, &frame(4)), Some(18 * US));
    }

    #[test]
    fn frames_reach_the_nic_late_by_up_to_a_jitter_and_in_their_order() {
        let mut host = interrupts(InterruptHost { send_jitter: Span::from_us(5), ..model() });
        assert!(host.has_delay());
        let frame = Frame { stamp: 0, route_seq: 0, meta: Meta::new(1, 0) };
        let mut late = Vec::new();
        for sent in (0..10_000_u64).map(|number| number * 10 * US) {
            let at = host.delay(sent, &frame).expect("the one before has left");
            late.push(at - sent);
            assert_eq!(host.release(at, &mut Vec::new()), None);
        }
        assert!(late.iter().all(|late| *late <= 5 * US));
        // A mean of half the jitter, with a standard error of 5 / sqrt(12 * 10000) = 0.0144 us.
        let mean = late.iter().sum::<u64>() as f64 / 1e10;
        assert!((mean - 2.5).abs() < 0.045, "{mean}");
        // Frames that leave together arrive with the latest so far.
        host.delay(0, &frame);
        (1..100).for_each(|_| assert_eq!(host.delay(0, &frame), None));
        let instants: Vec<u64> = host.delayed.iter().map(|(at, _)| *at).collect();
        assert!(instants.is_sorted() && *instants.last().unwrap() > 4 * US, "{instants:?}");
    }

    #[test]
    fn each_host_has_a_send_rate_of_its_own() {
        let rate = Some(Rate::from_gbps(5));
        let model = Arc::new(InterruptHost { send_rate: rate, send_spread: 0.02, ..model() });
        let rates: Vec<u64> =
            (0..2000).map(|host| Interrupts::new(1, host, &model).send_rate.unwrap().as_bps()).collect();
        assert!(rates.iter().all(|rate| (4_900_000_000..=5_100_000_000).contains(rate)));
        // Uniform: a standard deviation of 22 around a half.
        let below = rates.iter().filter(|rate| **rate < 5_000_000_000).count();
        assert!(below.abs_diff(1000) < 66, "{below}");
    }

    #[test]
    fn a_send_rate_says_how_long_a_frame_takes() {
        let host = interrupts(InterruptHost { send_rate: Some(Rate::from_gbps(4)), ..model() });
        assert_eq!(host.send_time(1500), 3 * US);
        assert_eq!(interrupts(model()).send_time(1500), 0);
    }
}
