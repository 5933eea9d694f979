//! The machine of a software network: no device, no clock. What comes from a device is handed over ([`Network::take`]), what is for
//! one is asked for ([`Network::give`]), and what is to happen by itself happens in [`Network::step`], each event at its own time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clearway_proto::histogram::Histogram;
use clearway_proto::pfc::frame::{PfcFrame, PRIORITIES};
use clearway_proto::pfc::quanta::{lasting, LONGEST, PFC_FRAME};
use clearway_proto::units::{Span, Time};

use super::figures::{LinkFigures, Sample};
use super::plan::{Kind, Plan, Storm};
use super::port::{Frame, Line};
use super::routes::{address, Routes};
use crate::relay::classes::{is_control, Classes};
use crate::relay::lanes::on_the_wire;

/// The quanta of which a storm draws one.
const STORM_QUANTA: [u16; 4] = [0, 200, 20_000, LONGEST];
/// The time between two PAUSEs of a storm, in microseconds.
const STORM_GAP_US: std::ops::Range<u64> = 100..10_000;

/// Something that happens at a time of its own. Links by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The frame in transmission has left.
    Sent(usize),
    /// A frame has come over the link.
    Arrived(usize),
    /// A PAUSE of this priority for this many quanta works at the port that feeds the link.
    Obeyed(usize, u8, u16),
    /// A PAUSE of this priority may have run out.
    Expired(usize, u8),
    /// The link is told again to pause, if it still is to.
    Repeat(usize, u8),
    /// A storm says something.
    Storm(usize),
}

struct Blowing {
    storm: Storm,
    random: fastrand::Rng,
}

/// A software network.
pub struct Network {
    kinds: Vec<Kind>,
    ends: Vec<(usize, usize)>,
    lines: Vec<Line>,
    routes: Routes,
    classes: Classes,
    priorities: Vec<u8>,
    storms: Vec<Blowing>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    count: u64,
    /// Frames for the devices that the links' ends are, each with the number of the link that it came over.
    out: VecDeque<(usize, Vec<u8>)>,
    lateness: Histogram,
}

impl Network {
    /// A network at rest. An error names what in the plan cannot be.
    pub fn new(plan: &Plan) -> Result<Network, String> {
        let lossless = |priority: u8| plan.priorities.contains(&priority).then_some(priority);
        let classes = Classes {
            of_code_point: std::array::from_fn(|point| lossless((point >> 3) as u8)),
            of_tag: [None; PRIORITIES],
            trusts_tags: false,
        };
        let storms = plan
            .storms
            .iter()
            .map(|storm| Blowing { storm: *storm, random: fastrand::Rng::with_seed(storm.seed) });
        let mut network = Network {
            kinds: plan.nodes.iter().map(|node| node.kind).collect(),
            ends: plan.links.iter().map(|link| (link.from, link.to)).collect(),
            lines: plan.links.iter().map(Line::new).collect(),
            routes: Routes::new(plan)?,
            classes,
            priorities: plan.priorities.clone(),
            storms: storms.collect(),
            events: BinaryHeap::new(),
            count: 0,
            out: VecDeque::new(),
            lateness: Histogram::default(),
        };
        for (number, storm) in plan.storms.iter().enumerate() {
            network.schedule(Time::ZERO + Span::from_ns(storm.from_ns), Event::Storm(number));
        }
        Ok(network)
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    /// Bytes that wait at the port that feeds a link.
    pub fn waiting(&self, link: usize) -> u64 {
        self.lines[link].waiting()
    }

    /// When something happens next by itself.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// A frame has come from the device at the beginning of a link.
    pub fn take(&mut self, link: usize, bytes: &[u8], now: Time) {
        let is_control = is_control(bytes);
        // A host has no flow control of its own to send: its adapter makes it.
        if is_control && self.kinds[self.ends[link].0] == Kind::Host {
            return;
        }
        let (priority, size) = (self.classes.of(bytes), on_the_wire(bytes.len()).get());
        let frame = Frame { bytes: bytes.to_vec(), size, priority, came_over: None, is_control };
        self.lines[link].push(frame);
        self.begin(link, now);
    }

    /// A frame for the device at the end of a link, with the link's number.
    pub fn give(&mut self) -> Option<(usize, Vec<u8>)> {
        self.out.pop_front()
    }

    /// Lets the next thing happen whose time has come, and returns that time; none: nothing has.
    pub fn step(&mut self, now: Time) -> Option<Time> {
        let Reverse((at, _, event)) = self.events.peek().copied().filter(|Reverse((at, ..))| *at <= now)?;
        self.events.pop();
        self.lateness.record(now.since(at));
        self.happen(event, at);
        Some(at)
    }

    fn happen(&mut self, event: Event, now: Time) {
        match event {
            Event::Sent(link) => self.sent(link, now),
            Event::Arrived(link) => self.arrived(link, now),
            Event::Obeyed(link, priority, quanta) => {
                let line = &mut self.lines[link];
                let pause = lasting(quanta, line.rate);
                if let Some(at) = line.holds[usize::from(priority)].take(pause, now) {
                    self.schedule(at, Event::Expired(link, priority));
                }
                self.begin(link, now);
            }
            Event::Expired(link, priority) => {
                if let Some(at) = self.lines[link].holds[usize::from(priority)].expire(now) {
                    self.schedule(at, Event::Expired(link, priority));
                }
                self.begin(link, now);
            }
            Event::Repeat(link, priority) => {
                // One of an earlier PAUSE comes to nothing: a later one has put it off.
                let line = &self.lines[link];
                let is_due = line.repeats_at[usize::from(priority)] == now;
                if is_due && line.accounts[usize::from(priority)].pausing {
                    self.pause(link, priority, now);
                }
            }
            Event::Storm(number) => self.blow(number, now),
        }
    }

    fn begin(&mut self, link: usize, now: Time) {
        if let Some(at) = self.lines[link].begin(now) {
            self.schedule(at, Event::Sent(link));
        }
    }

    fn sent(&mut self, link: usize, now: Time) {
        let told = self.lines[link].sent();
        self.schedule(now + self.lines[link].delay, Event::Arrived(link));
        if let Some((size, priority, over)) = told {
            if self.lines[over].release(priority, size) {
                self.say(over, priority, 0, now);
            }
        }
        self.begin(link, now);
    }

    fn arrived(&mut self, link: usize, now: Time) {
        let Some(mut frame) = self.lines[link].arrived() else { return };
        let node = self.ends[link].1;
        if frame.is_control && self.kinds[node] != Kind::Relay {
            self.obey(link ^ 1, &frame.bytes, now);
            return;
        }
        if self.kinds[node] != Kind::Switch {
            self.out.push_back((link, frame.bytes));
            return;
        }
        let Some(next) = self.routes.next(node, &frame.bytes) else {
            self.lines[link].figures.strays += 1;
            return;
        };
        if let Some(priority) = frame.priority {
            let (has_room, pauses) = self.lines[link].charge(priority, frame.size);
            if !has_room {
                return;
            }
            if pauses {
                self.pause(link, priority, now);
            }
            frame.came_over = Some(link);
        }
        self.lines[next].push(frame);
        self.begin(next, now);
    }

    /// The port that feeds a link is told something by the link's other end.
    fn obey(&mut self, link: usize, bytes: &[u8], now: Time) {
        let Ok(said) = PfcFrame::parse(bytes) else { return };
        let at = now + self.lines[link].response;
        for place in 0..self.priorities.len() {
            let priority = self.priorities[place];
            if let Some(quanta) = said.quanta[usize::from(priority)] {
                self.schedule(at, Event::Obeyed(link, priority, quanta));
            }
        }
    }

    /// Tells the port that feeds a link to pause, and again when half of that has passed.
    fn pause(&mut self, link: usize, priority: u8, now: Time) {
        let Some(pausing) = self.lines[link].pausing else { return };
        self.say(link, priority, pausing.quanta, now);
        let at = now + pausing.lasts / 2;
        self.lines[link].repeats_at[usize::from(priority)] = at;
        self.schedule(at, Event::Repeat(link, priority));
    }

    /// Sends a PFC frame against a link.
    fn say(&mut self, link: usize, priority: u8, quanta: u16, now: Time) {
        let back = link ^ 1;
        let bytes = PfcFrame::of(usize::from(priority), quanta).to_bytes(address(self.ends[back].0)).to_vec();
        let figures = &mut self.lines[back].figures;
        *(if quanta > 0 { &mut figures.pauses } else { &mut figures.resumes }) += 1;
        let size = PFC_FRAME.get();
        self.lines[back].push(Frame { bytes, size, priority: None, came_over: None, is_control: true });
        self.begin(back, now);
    }

    /// Pauses a link at random, or lets it go where its account does not pause it.
    fn blow(&mut self, number: usize, now: Time) {
        let Blowing { storm, random } = &mut self.storms[number];
        let (link, is_over) = (storm.link, now >= Time::ZERO + Span::from_ns(storm.until_ns));
        let quanta = if is_over { 0 } else { STORM_QUANTA[random.usize(..STORM_QUANTA.len())] };
        let next = now + Span::from_us(random.u64(STORM_GAP_US));
        for place in 0..self.priorities.len() {
            let priority = self.priorities[place];
            // What the account says goes before: a shorter PAUSE would cost it its headroom.
            if !self.lines[link].accounts[usize::from(priority)].pausing {
                self.say(link, priority, quanta, now);
            }
        }
        if !is_over {
            self.schedule(next, Event::Storm(number));
        }
    }

    /// The counts of each link up to now.
    pub fn figures(&self, now: Time) -> Vec<LinkFigures> {
        self.lines.iter().map(|line| line.counted(now)).collect()
    }

    /// The state of each link now, at this time of the host's monotonic clock.
    pub fn samples(&self, at_ns: u64) -> impl Iterator<Item = Sample> + '_ {
        self.lines.iter().enumerate().map(move |(number, line)| line.sample(number, at_ns))
    }

    /// How late events were handled.
    pub fn lateness(&self) -> &Histogram {
        &self.lateness
    }
}

#[cfg(test)]
mod tests;
