//! A Fastpass arbiter where it runs: its processor takes time for what it does, and it may crash and start again.

use std::collections::VecDeque;

use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterOutput, ArbiterParams};
use clearway_proto::fastpass::fcp::Packet;
use clearway_proto::histogram::Histogram;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

/// What an arbiter's work costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Time between two looks of an idle processor at its NIC.
    pub poll: Span,
    /// Control packets that wait for it at most.
    pub queue: usize,
    /// The processor's time for a control packet that comes.
    pub request: Span,
    /// Its time for a timeslot of the network.
    pub slot: Span,
    /// Its time for a control packet that leaves.
    pub output: Span,
    /// Time from there until the packet is at the NIC.
    pub latency: Span,
}

/// An arbiter, its processor, and what is on its way through that. All times are simulated, but those that the machine is
/// told.
#[derive(Debug)]
pub struct ArbiterHost {
    /// Its place in the order of takeover.
    pub rank: usize,
    params: ArbiterParams,
    /// The machine; `None` while the arbiter is dead.
    machine: Option<Box<Arbiter>>,
    costs: Costs,
    /// When it dies or starts again, soonest first, and which of them.
    changes: VecDeque<(Time, Change)>,
    /// When the processor is done with what it has to do.
    busy: Time,
    /// Packets that came, with the time at which the processor is done with each.
    inbox: VecDeque<(Time, Packet)>,
    /// What leaves, and when.
    outbox: VecDeque<(Time, ArbiterOutput)>,
    /// Batches that the machine had allocated when the processor's time for them was last counted.
    batches: u64,
    /// What machines that have died had counted.
    buried: Vec<Arbiter>,
    /// How long each control packet that came waited for the processor.
    pub waits: Histogram,
    /// Control packets for which there was no room.
    pub dropped: u64,
    /// What the processor has had to do, in picoseconds.
    pub worked: u64,
}

/// What happens to an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It dies, and forgets all it knew.
    Dies,
    /// It starts again, knowing nothing but the newest term that it has known.
    Starts,
}

impl ArbiterHost {
    /// An arbiter that starts with the run; its clock then shows `local`. The changes are in rising order.
    pub fn new(
        params: ArbiterParams,
        local: Time,
        costs: Costs,
        changes: Vec<(Time, Change)>,
    ) -> ArbiterHost {
        let machine =
            Arbiter::new(&params, local).expect("a scenario's arbiter has parameters that go together");
        ArbiterHost {
            rank: usize::from(params.rank),
            params,
            machine: Some(Box::new(machine)),
            costs,
            changes: changes.into(),
            busy: Time::ZERO,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            batches: 0,
            buried: Vec::new(),
            waits: Histogram::default(),
            dropped: 0,
            worked: 0,
        }
    }

    /// The machine; `None` while it is dead.
    pub fn machine(&self) -> Option<&Arbiter> {
        self.machine.as_deref()
    }

    /// Every machine that there has been, the living one last.
    pub fn machines(&self) -> impl Iterator<Item = &Arbiter> {
        self.buried.iter().chain(self.machine.as_deref())
    }

    /// A control packet has come. One for a dead arbiter is lost, and so is one that finds no room.
    pub fn handle_packet(&mut self, now: Time, packet: Packet) {
        if self.machine.is_none() {
            return;
        }
        if self.inbox.len() >= self.costs.queue {
            self.dropped += 1;
            return;
        }
        let begins = self.busy.max(self.next_look(now));
        self.waits.record(begins.since(now));
        self.busy = begins;
        self.work(self.costs.request);
        self.inbox.push_back((self.busy, packet));
    }

    /// Returns when an idle processor looks at its NIC next.
    fn next_look(&self, now: Time) -> Time {
        match self.costs.poll.as_ps() {
            0 => now,
            interval => Time::from_ps(now.as_ps().next_multiple_of(interval)),
        }
    }

    /// Adds `cost` to what the processor has to do.
    fn work(&mut self, cost: Span) {
        self.busy = self.busy + cost;
        self.worked += cost.as_ps();
    }

    /// Lets happen what is due, when the arbiter's clock shows `local`.
    pub fn run(&mut self, now: Time, local: Time) {
        self.change(now, local);
        let Some(machine) = &mut self.machine else { return };
        while let Some(packet) = pop_due(&mut self.inbox, now) {
            match packet {
                Packet::Request(request) => machine.handle_request(local, &request),
                Packet::Watchdog(watchdog) => machine.handle_watchdog(local, &watchdog),
                Packet::Answer(answer) => machine.handle_answer(local, &answer),
                Packet::Allocation(_) | Packet::Reset(_) | Packet::Trial(_) => {
                    unreachable!("an arbiter sends these")
                }
            }
        }
        if machine.poll_timeout().is_some_and(|at| at <= local) {
            machine.handle_timeout(local);
        }
        let batches = machine.counters().batches;
        let slots = u64::from(self.params.allocator.slots) * (batches - self.batches);
        let mut work = self.costs.slot * slots;
        self.busy = self.busy.max(now);
        self.batches = batches;
        while machine.readiness(local) == Readiness::Ready {
            work += self.costs.output;
            let output = machine.transmit(local);
            self.outbox.push_back((self.busy + work + self.costs.latency, output));
        }
        self.work(work);
    }

    fn change(&mut self, now: Time, local: Time) {
        while let Some(change) = pop_due(&mut self.changes, now) {
            let term = self.machines().map(Arbiter::term).max().unwrap_or(0);
            self.buried.extend(self.machine.take().map(|machine| *machine));
            self.inbox.clear();
            self.outbox.clear();
            self.busy = now;
            self.batches = 0;
            if change == Change::Starts {
                let machine = Arbiter::restarted(&self.params, local, term);
                self.machine = Some(Box::new(machine.expect("its parameters were right before")));
            }
        }
    }

    /// The next packet that leaves now, if any.
    pub fn output(&mut self, now: Time) -> Option<ArbiterOutput> {
        pop_due(&mut self.outbox, now)
    }

    /// Returns when [`Self::run`] is wanted next: in simulated time, and by the arbiter's own clock.
    pub fn wanted(&self, local: Time) -> (Time, Time) {
        let firsts = [
            self.changes.front().map(|(at, _)| *at),
            self.inbox.front().map(|(at, _)| *at),
            self.outbox.front().map(|(at, _)| *at),
        ];
        let simulated = firsts.into_iter().flatten().min().unwrap_or(Time::NEVER);
        let Some(machine) = &self.machine else { return (simulated, Time::NEVER) };
        let ready = match machine.readiness(local) {
            Readiness::At(at) => at,
            Readiness::Ready | Readiness::Idle => Time::NEVER,
        };
        (simulated, machine.poll_timeout().unwrap_or(Time::NEVER).min(ready))
    }
}

/// Takes out the first of a queue if its time has come by `now`.
fn pop_due<T>(queue: &mut VecDeque<(Time, T)>, now: Time) -> Option<T> {
    let due = queue.front().is_some_and(|(at, _)| *at <= now);
    if due {
        queue.pop_front().map(|(_, first)| first)
    } else {
        None
    }
}
