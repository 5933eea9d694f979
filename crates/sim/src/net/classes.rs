//! Traffic classes at a port: strict priority between levels, start-time fair queuing among the classes of one.
//!
//! Levels are the different priorities, and a class of a lower level is served when no class above it waits; a frame
//! in transmission is never broken off. Within a level stands Start-time Fair Queuing (Goyal, Vin and Cheng, "Start-
//! Time Fair Queueing: A Scheduling Algorithm for Integrated Services Packet Switching Networks", IEEE/ACM Transactions
//! on Networking 5(5), 1997, section II): frame j of class f, of length l and weight w, gets the tags
//! `S(f, j) = max(v(arrival), F(f, j - 1))` and `F(f, j) = S(f, j) + l / w`; frames leave in the order of their
//! start tags, the class that the file names first where they are equal. The virtual time v of a level is the start
//! tag of its frame in service, and at the end of a busy period of the level the largest finish tag there was, so a
//! class that was idle brings nothing along. Why this one of the family: it stays fair on a server of varying speed,
//! which is what the levels above leave to a level, and it chooses without knowing how long the frame will be, which a
//! NIC learns only when it asks the flow. While two classes of a level wait, what they have sent over any time, in
//! bytes by weight, differs by at most a longest frame of each (theorem 1).
//!
//! Tags are kept at the heads of queues only, and given when the port next decides instead of when a frame comes:
//! between two decisions v does not change, and behind a frame of its own class a frame's start is that one's finish.

use super::host::Host;
use super::marking::RedMarking;
use super::port::Fifo;
use crate::engine::event::{Frame, Meta};

/// As many classes a network has at most: a set of them is 16 bits.
pub const MOST_CLASSES: usize = 16;

/// Virtual time of one byte at weight 1: a multiple of every number up to 28 and of 100, so that tags are exact for
/// such weights. For others a frame's length is short by less than a billionth of a byte.
const VIRTUAL_BYTE: u64 = 80_313_433_200;

/// How a class is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// 0 is served first.
    pub level: u8,
    /// Share among those of its level; above zero, at most 1000.
    pub weight: u32,
}

/// A set of classes, one bit each.
pub type ClassSet = u16;

/// The set of this one class.
#[inline]
pub fn only(class: usize) -> ClassSet {
    1 << class
}

/// The classes of a set, in order.
fn each(mut set: ClassSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let class = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (class < MOST_CLASSES).then_some(class)
    })
}

/// Decides which class a port serves next.
#[derive(Clone, Debug)]
pub struct Scheduler {
    classes: Vec<Tags>,
    levels: Vec<Level>,
    /// Classes whose start tag holds: they waited at the last decision and have not been served since.
    tagged: ClassSet,
    /// Level of the frame sent last.
    last: u8,
}

/// Of a class, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
struct Tags {
    /// Of the first frame that waits.
    start: u128,
    /// Of the last frame that was served.
    finish: u128,
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// v: the start tag of the frame served last.
    virtual_time: u128,
    /// The largest finish tag of any frame served.
    finish: u128,
}

impl Scheduler {
    /// Of a port that has served nothing yet.
    pub fn new(rules: &[Rule]) -> Scheduler {
        let levels = rules.iter().map(|rule| usize::from(rule.level) + 1).max().unwrap_or(0);
        Scheduler {
            classes: vec![Tags::default(); rules.len()],
            levels: vec![Level::default(); levels],
            tagged: 0,
            last: 0,
        }
    }

    /// The class to serve of those that wait; none of none. To be asked when a transmission has ended, and then as
    /// often as one likes until [`Self::serve`] says what was sent.
    pub fn choose(&mut self, rules: &[Rule], waiting: ClassSet) -> Option<usize> {
        self.tag(rules, waiting);
        each(waiting).min_by_key(|&class| (rules[class].level, self.classes[class].start, class))
    }

    /// Gives start tags to those who have begun to wait since the last decision.
    fn tag(&mut self, rules: &[Rule], waiting: ClassSet) {
        let waited = self.tagged;
        for class in each(waiting & !waited) {
            let rule = rules[class];
            let level = &mut self.levels[usize::from(rule.level)];
            let busy = rule.level == self.last || each(waited).any(|other| rules[other].level == rule.level);
            if !busy {
                level.virtual_time = level.finish;
            }
            let tags = &mut self.classes[class];
            tags.start = level.virtual_time.max(tags.finish);
        }
        self.tagged = waiting;
    }

    /// A frame of this class and of this many bytes is sent: the one that was chosen, or one that found its port idle.
    pub fn serve(&mut self, rules: &[Rule], class: usize, bytes: u32) {
        let rule = rules[class];
        let (tags, level) = (&mut self.classes[class], &mut self.levels[usize::from(rule.level)]);
        let start = if self.tagged & only(class) != 0 { tags.start } else { level.finish };
        let length = u64::from(bytes) * VIRTUAL_BYTE / u64::from(rule.weight);
        tags.finish = start + u128::from(length);
        level.virtual_time = start;
        level.finish = level.finish.max(tags.finish);
        self.tagged &= !only(class);
        self.last = rule.level;
    }
}

/// What a class counts at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounters {
    /// Frames whose transmission has begun.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames for which there was no room.
    pub dropped_frames: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Frames marked.
    pub marked_frames: u64,
    /// Frames lost on the link.
    pub lost_frames: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// A class at a port.
#[derive(Debug)]
pub struct ClassQueue {
    /// The frames that wait.
    pub fifo: Fifo,
    /// Their bytes.
    pub waiting: u32,
    /// ECN-capable frames that find more bytes of their class at the port are marked.
    pub mark_above: u32,
    /// Marking with a probability.
    pub red: Option<RedMarking>,
    /// Of the whole run.
    pub counters: ClassCounters,
}

/// How a class marks at a port.
#[derive(Debug)]
pub struct Marking {
    /// See [`ClassQueue::mark_above`].
    pub above: u32,
    /// See [`ClassQueue::red`].
    pub red: Option<RedMarking>,
}

/// The classes of a network at all of its ports. Without any, all of it is empty.
#[derive(Debug, Default)]
pub struct Classes {
    rules: Vec<Rule>,
    /// By flow: the class of its data and of its acknowledgements.
    of_flow: Vec<[u8; 2]>,
    ports: Vec<ClassedPort>,
    /// By port and class.
    queues: Vec<ClassQueue>,
}

#[derive(Debug)]
struct ClassedPort {
    scheduler: Scheduler,
    /// Classes of which frames wait.
    queued: ClassSet,
    /// Class of the frame sent last.
    sending: u8,
}

impl Classes {
    /// Of these rules, with the classes of each flow's data and acknowledgements, at `ports` ports that mark as
    /// `marking` says of port and class.
    pub fn new(
        rules: Vec<Rule>,
        of_flow: Vec<[u8; 2]>,
        ports: u32,
        mut marking: impl FnMut(u32, usize) -> Marking,
    ) -> Classes {
        assert!(rules.len() <= MOST_CLASSES, "more classes than a set has room for");
        let mut queues = Vec::with_capacity(ports as usize * rules.len());
        for port in 0..ports {
            queues.extend((0..rules.len()).map(|class| ClassQueue::new(marking(port, class))));
        }
        let port = || ClassedPort { scheduler: Scheduler::new(&rules), queued: 0, sending: 0 };
        Classes { ports: (0..ports).map(|_| port()).collect(), rules, of_flow, queues }
    }

    /// How many there are; none where the network knows no classes.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// How each is served.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The class of a frame.
    pub fn of(&self, frame: &Frame) -> usize {
        usize::from(self.of_flow[frame.flow() as usize][usize::from(frame.meta.has(Meta::ACK))])
    }

    /// The class of a flow's data; 0 where there are no classes.
    pub fn of_data(&self, flow: u32) -> usize {
        self.of_flow.get(flow as usize).map_or(0, |[data, _]| usize::from(*data))
    }

    /// A class at a port.
    pub fn queue(&self, link: u32, class: usize) -> &ClassQueue {
        &self.queues[link as usize * self.rules.len() + class]
    }

    /// The same, to change it.
    pub(super) fn queue_mut(&mut self, link: u32, class: usize) -> &mut ClassQueue {
        &mut self.queues[link as usize * self.rules.len() + class]
    }

    /// All classes at a port.
    pub fn queues(&self, link: u32) -> &[ClassQueue] {
        let from = link as usize * self.rules.len();
        self.queues.get(from..from + self.rules.len()).unwrap_or_default()
    }

    /// Whether the frame that a port sent last is of this class.
    pub(super) fn is_sending(&self, link: u32, class: usize) -> bool {
        usize::from(self.ports[link as usize].sending) == class
    }

    /// The first frame of a class has come, or its last has gone.
    pub(super) fn set_queued(&mut self, link: u32, class: usize, queued: bool) {
        let set = &mut self.ports[link as usize].queued;
        *set = if queued { *set | only(class) } else { *set & !only(class) };
    }

    /// The class that a port serves next: of those of which frames wait, and of those who ask beside them.
    pub(super) fn choose(&mut self, link: u32, asking: ClassSet) -> Option<usize> {
        let port = &mut self.ports[link as usize];
        port.scheduler.choose(&self.rules, port.queued | asking)
    }

    /// The transmission of a frame begins.
    pub(super) fn serve(&mut self, link: u32, class: usize, bytes: u32) {
        let port = &mut self.ports[link as usize];
        port.scheduler.serve(&self.rules, class, bytes);
        port.sending = class as u8;
        let counters = &mut self.queue_mut(link, class).counters;
        counters.sent_frames += 1;
        counters.sent_bytes += u64::from(bytes);
    }

    /// The classes of a NIC in whose rounds flows wait.
    pub fn asking(rounds: &[Host]) -> ClassSet {
        let waits = |(class, round): (usize, &Host)| if round.has_waiting() { only(class) } else { 0 };
        rounds.iter().enumerate().map(waits).fold(0, |all, one| all | one)
    }
}

impl ClassQueue {
    fn new(marking: Marking) -> ClassQueue {
        ClassQueue {
            fifo: Fifo::EMPTY,
            waiting: 0,
            mark_above: marking.above,
            red: marking.red,
            counters: ClassCounters::default(),
        }
    }

    /// Whether a frame that finds `held` bytes of the class is marked, if it can be.
    pub(super) fn marks(&mut self, held: u32) -> bool {
        held > self.mark_above || self.red.as_mut().is_some_and(|red| red.marks(held))
    }
}
