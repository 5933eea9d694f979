//! One direction of a link: the port that sends, what is under way, and the account at the receiving switch.

use std::collections::VecDeque;

use clearway_proto::pfc::account::{Account, Charged, Threshold, Thresholds};
use clearway_proto::pfc::frame::PRIORITIES;
use clearway_proto::pfc::hold::Hold;
use clearway_proto::pfc::quanta::lasting;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use super::figures::{LinkFigures, Sample};
use super::plan;

/// Queues of a port: one for each priority, and one for what has none.
const QUEUES: usize = PRIORITIES + 1;

/// A frame on its way.
#[derive(Debug)]
pub struct Frame {
    /// The bytes of the frame, without its check sequence.
    pub bytes: Vec<u8>,
    /// The bytes that it takes on the wire.
    pub size: u64,
    /// Its lossless priority; none: it is neither paused nor counted on an account.
    pub priority: Option<u8>,
    /// The link over which it came to the switch where it is; none at a host or a relay.
    pub came_over: Option<usize>,
    /// It is of flow control: it goes ahead of all others.
    pub is_control: bool,
}

/// When and for how long a link is told to pause.
#[derive(Clone, Copy, Debug)]
pub struct Pausing {
    /// The bytes at which it is, and at which it is told to go on.
    pub thresholds: Thresholds,
    /// The quanta that a PAUSE asks for.
    pub quanta: u16,
    /// The time that the quanta last.
    pub lasts: Span,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Line {
    /// The rate of the link.
    pub rate: Rate,
    /// The time from a bit's departure to its arrival.
    pub delay: Span,
    /// What the sending node takes from a PAUSE to its last frame.
    pub response: Span,
    /// The frames that wait, each with the number of its arrival.
    queues: [VecDeque<(u64, Frame)>; QUEUES],
    /// The frames of flow control that wait, which go first.
    control: VecDeque<Frame>,
    arrivals: u64,
    waiting: u64,
    /// Room for what has no lossless priority, and what it takes.
    room: u64,
    others: u64,
    /// The frame in transmission.
    sending: Option<Frame>,
    /// The frames under way, in the order in which they arrive.
    wire: VecDeque<Frame>,
    /// The state of each priority: whether the other end pauses it.
    pub holds: [Hold; PRIORITIES],
    /// Flow control at the receiving switch; none where it never pauses this link.
    pub pausing: Option<Pausing>,
    /// When each priority is told again to pause, if it still is to.
    pub repeats_at: [Time; PRIORITIES],
    /// What has come over the link and is still at the receiving switch.
    pub accounts: [Account; PRIORITIES],
    /// The counts.
    pub figures: LinkFigures,
}

impl Line {
    /// A link on which nothing is.
    pub fn new(plan: &plan::Link) -> Line {
        let rate = Rate::from_bps(plan.rate_bps);
        let pausing = plan.pfc.map(|pfc| Pausing {
            thresholds: Thresholds {
                xoff: Threshold::Static(pfc.xoff),
                hysteresis: pfc.hysteresis,
                headroom: pfc.headroom,
            },
            quanta: pfc.quanta,
            lasts: lasting(pfc.quanta, rate),
        });
        Line {
            rate,
            delay: Span::from_ns(plan.delay_ns),
            response: Span::from_ns(plan.response_ns),
            queues: std::array::from_fn(|_| VecDeque::new()),
            control: VecDeque::new(),
            arrivals: 0,
            waiting: 0,
            room: plan.buffer,
            others: 0,
            sending: None,
            wire: VecDeque::new(),
            holds: [Hold::default(); PRIORITIES],
            pausing,
            repeats_at: [Time::NEVER; PRIORITIES],
            accounts: [Account::default(); PRIORITIES],
            figures: LinkFigures::default(),
        }
    }

    /// Bytes that wait for the link, the frame in transmission among them.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Puts a frame behind those that wait. Returns whether there was room; for lossless priorities their account has seen to that.
    pub fn push(&mut self, frame: Frame) -> bool {
        if frame.is_control {
            self.control.push_back(frame);
            return true;
        }
        if frame.priority.is_none() {
            if self.others + frame.size > self.room {
                self.figures.drops += 1;
                return false;
            }
            self.others += frame.size;
        }
        self.waiting += frame.size;
        self.figures.waiting_peak = self.figures.waiting_peak.max(self.waiting);
        let queue = frame.priority.map_or(PRIORITIES, usize::from);
        self.queues[queue].push_back((self.arrivals, frame));
        self.arrivals += 1;
        true
    }

    /// Begins to send what comes next, if the port is idle and may send anything. Returns when that will have left.
    pub fn begin(&mut self, now: Time) -> Option<Time> {
        if self.sending.is_some() {
            return None;
        }
        let frame = self.control.pop_front().or_else(|| self.next())?;
        let left_at = now + self.rate.transmission(Bytes::new(frame.size));
        self.sending = Some(frame);
        Some(left_at)
    }

    /// The frame that came first of those that may be sent.
    fn next(&mut self) -> Option<Frame> {
        let is_held = |queue: usize| self.holds.get(queue).is_some_and(Hold::is_paused);
        let first = |queue: &usize| self.queues[*queue].front().map_or(u64::MAX, |(arrival, _)| *arrival);
        let queue = (0..QUEUES).filter(|queue| !is_held(*queue)).min_by_key(first)?;
        self.queues[queue].pop_front().map(|(_, frame)| frame)
    }

    /// The frame in transmission has left. Returns what has to be known of it: its size, priority and the link over which it came.
    pub fn sent(&mut self) -> Option<(u64, u8, usize)> {
        let frame = self.sending.take()?;
        let told = frame.priority.zip(frame.came_over).map(|(priority, link)| (frame.size, priority, link));
        if !frame.is_control {
            self.waiting -= frame.size;
            self.figures.frames += 1;
            self.figures.bytes += frame.size;
            if frame.priority.is_none() {
                self.others -= frame.size;
            }
        }
        self.wire.push_back(frame);
        told
    }

    /// The frame that arrives next.
    pub fn arrived(&mut self) -> Option<Frame> {
        let frame = self.wire.pop_front()?;
        if !frame.is_control {
            self.figures.received += frame.size;
        }
        Some(frame)
    }

    /// Charges a frame that has come over the link. Returns whether it has room, and whether the link is to be told to pause.
    pub fn charge(&mut self, priority: u8, size: u64) -> (bool, bool) {
        let Some(pausing) = &self.pausing else { return (true, false) };
        let account = &mut self.accounts[usize::from(priority)];
        match account.charge(&pausing.thresholds, size, None) {
            Charged::Taken { pauses, .. } => (true, pauses),
            Charged::Overflow => {
                self.figures.overflows += 1;
                (false, false)
            }
        }
    }

    /// A frame that had come over the link has left the switch. Returns whether the link is to be told to go on.
    pub fn release(&mut self, priority: u8, size: u64) -> bool {
        let Some(pausing) = &self.pausing else { return false };
        let account = &mut self.accounts[usize::from(priority)];
        account.release(size);
        account.resume_if_below(&pausing.thresholds, None)
    }

    /// The counts up to now.
    pub fn counted(&self, now: Time) -> LinkFigures {
        LinkFigures {
            account_peak: self.accounts.iter().map(|account| account.peak).max().unwrap_or(0),
            headroom_peak: self.accounts.iter().map(|account| account.peak_headroom).max().unwrap_or(0),
            paused_ns: self.paused_ns(now),
            pauses_begun: self.holds.iter().map(|hold| hold.times).sum(),
            ran_out: self.holds.iter().map(|hold| hold.ran_out).sum(),
            ..self.figures.clone()
        }
    }

    /// A row of samples.
    pub fn sample(&self, number: usize, at_ns: u64) -> Sample {
        Sample {
            at_ns,
            link: number as u32,
            frames: self.figures.frames,
            bytes: self.figures.bytes,
            received: self.figures.received,
            waiting: self.waiting,
            lost: self.figures.overflows + self.figures.drops + self.figures.strays,
        }
    }

    fn paused_ns(&self, now: Time) -> u64 {
        let longest = self.holds.iter().map(|hold| hold.paused_for(now)).max();
        longest.map_or(0, |span| span.as_ps() / 1000)
    }
}
