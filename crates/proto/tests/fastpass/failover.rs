//! The primary arbiter crashes, stands still and goes on, or is cut off; clocks are apart and control packets are lost.

use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterOutput, ArbiterParams, Role};
use clearway_proto::fastpass::fcp::Watchdog;
use clearway_proto::units::{Span, Time};

use crate::fastpass::net::{us, Mischief, Net, Random, PLAIN};
use crate::fastpass::{arbiter, endpoint};

const NODES: u16 = 8;

/// What befalls the primary.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Crash,
    CrashAndRestart,
    Pause,
    CutOff,
}

/// A network under full load whose primary meets a fault.
struct Trial {
    net: Net,
    fault: Fault,
    /// When it happens.
    at: Time,
}

impl Trial {
    /// Makes a trial; `skew` has the picoseconds that clocks of endpoints, and of arbiters, are at most from real time.
    fn new(seed: u64, arbiters: u8, skew: (u64, u64), mischief: Mischief) -> Trial {
        let mut random = Random(seed);
        let signed = |span: u64| i64::try_from(span).expect("a skew of less than a second");
        let mut offset = |skew| signed(random.below(2 * skew + 1)) - signed(skew);
        let skews = (0..NODES).map(|_| skew.0).chain((0..arbiters).map(|_| skew.1));
        let offsets: Vec<i64> = skews.map(&mut offset).collect();
        let params = ArbiterParams { arbiters, ..arbiter(NODES) };
        let mut net = Net::with_clocks(endpoint(NODES), params, random.next(), &offsets);
        net.mischief = mischief;
        let faults = [Fault::Crash, Fault::CrashAndRestart, Fault::Pause, Fault::CutOff];
        let fault = faults[random.below(4) as usize];
        let at = us(2000) + Span::from_ps(random.below(100_000_000));
        Trial { net, fault, at }
    }

    /// Every endpoint sends to every other, until there is nothing left to send.
    fn run(&mut self) {
        for source in 0..NODES {
            for destination in (0..NODES).filter(|&destination| destination != source) {
                self.net.offer(us(100), source, destination, 400);
            }
        }
        let span = Span::from_us(300 + self.net.random.below(2000));
        match self.fault {
            Fault::Crash => self.net.crash(self.at, 0),
            Fault::CrashAndRestart => {
                self.net.crash(self.at, 0);
                self.net.restart(self.at + span, 0);
            }
            Fault::Pause => self.net.pause(self.at, usize::from(NODES), span),
            Fault::CutOff => self.net.cut(self.at, usize::from(NODES), self.at + span),
        }
        let mut until = us(6000);
        self.net.run(until);
        while self.net.waiting() > 0 && until < us(100_000) {
            until = until + Span::from_us(1000);
            self.net.run(until);
        }
    }

    /// The longest time around the fault in which no packet left.
    fn interruption(&self) -> Span {
        let around: Vec<Time> = self.net.sent.iter().map(|sent| sent.at).collect();
        let gaps =
            around.windows(2).filter(|pair| pair[1] > self.at && pair[0] < self.at + Span::from_us(400));
        gaps.map(|pair| pair[1].since(pair[0])).max().unwrap_or(Span::ZERO)
    }

    fn primaries(&self) -> usize {
        self.net.arbiters.iter().flatten().filter(|arbiter| arbiter.role() == Role::Primary).count()
    }
}

/// Returns how many seeds to run: 50, or as many as the environment says.
fn seeds() -> u64 {
    std::env::var("CLEARWAY_FASTPASS_SEEDS").map_or(50, |seeds| seeds.parse().expect("a number of seeds"))
}

#[test]
fn a_takeover_loses_no_demand_and_uses_no_slot_twice() {
    for seed in 0..seeds() {
        let arbiters = 2 + (seed % 2) as u8;
        let mischief =
            Mischief { jitter: Span::from_us(seed % 7), lost: seed % 11, doubled: seed % 3, ..PLAIN };
        let mut trial = Trial::new(seed, arbiters, (300_000, 300_000), mischief);
        trial.run();
        let (net, fault) = (&trial.net, trial.fault);
        assert_eq!(net.waiting(), 0, "seed {seed}, {fault:?}");
        assert_eq!(net.sent.len(), 56 * 400, "seed {seed}, {fault:?}");
        assert_eq!(net.slots_used_twice(), 0, "seed {seed}, {fault:?}");
        assert_eq!(trial.primaries(), 1, "seed {seed}, {fault:?}");
    }
}

#[test]
fn a_takeover_interrupts_for_less_than_230_us() {
    let mut sum = Span::ZERO;
    let mut worst = Span::ZERO;
    for seed in 0..seeds() {
        let mut trial = Trial::new(seed, 2, (300_000, 300_000), PLAIN);
        trial.run();
        let interruption = trial.interruption();
        sum += interruption;
        worst = worst.max(interruption);
    }
    let mean = sum / seeds();
    assert!(mean <= Span::from_us(180), "{mean} on average");
    assert!(worst <= Span::from_us(230), "{worst} at worst");
}

#[test]
fn whatever_the_clocks_show_all_is_sent_in_the_end() {
    for seed in 0..seeds() {
        let mischief =
            Mischief { jitter: Span::from_us(seed % 7), lost: seed % 11, doubled: seed % 3, ..PLAIN };
        let mut trial = Trial::new(seed, 3, (1_000_000_000, 1_000_000_000), mischief);
        trial.run();
        assert_eq!(trial.net.waiting(), 0, "seed {seed}, {:?}", trial.fault);
    }
}

#[test]
fn arbiters_whose_clocks_are_apart_use_no_slot_twice() {
    // In the last one an endpoint's slots were translated before the arbiter knew that it is the one who is apart.
    for seed in (0..seeds()).chain([109]) {
        let mut trial = Trial::new(seed, 2, (300_000, 1_000_000_000), PLAIN);
        trial.run();
        let (net, fault) = (&trial.net, trial.fault);
        assert_eq!((net.waiting(), net.slots_used_twice()), (0, 0), "seed {seed}, {fault:?}");
    }
}

/// The first slot of the term that a standby begins at 10.2 ms (slot 8151), after a watchdog at 10 ms.
fn first_slot(horizon: u64) -> u64 {
    let params = ArbiterParams { arbiters: 2, rank: 1, ..arbiter(NODES) };
    let mut standby = Arbiter::new(&params, us(10_000)).expect("parameters that go together");
    standby.handle_watchdog(us(10_000), &Watchdog { term: 1, rank: 0, horizon });
    standby.handle_timeout(us(10_200));
    loop {
        if let ArbiterOutput::Reset(reset, _) = standby.transmit(us(10_200)) {
            return reset.first_slot;
        }
    }
}

#[test]
fn a_new_primary_begins_after_what_the_old_one_can_have_granted() {
    // With equal clocks the old one has allocated all batches that begin by slot 8151 + 40, so those before 8192.
    assert_eq!(first_slot(7991 + 40), 8192);
    // The old one's clock is 30 slots behind: the new one's own is what counts.
    assert_eq!(first_slot(7991 + 10), 8192);
    // It is 30 slots ahead: batches have been allocated that begin by slot 8221, of which the last one ends at 8224.
    assert_eq!(first_slot(7991 + 70), 8224);
}
