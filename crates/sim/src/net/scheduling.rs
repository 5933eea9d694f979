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
//! A port that trims may have its headers, which are the first level, let a frame of the others go after a number
//! of them ([`Scheduler::yielding_after`]): NDP's weighted round robin, 10 headers to a packet (Handley et al., SIGCOMM 2017, section 3.1).
//!
//! Tags are kept at the heads of queues only, and given when the port next decides instead of when a frame comes:
//! between two decisions v does not change, and behind a frame of its own class a frame's start is that one's finish.

/// The largest number of classes in a network: a set of them is 16 bits.
pub const MOST_CLASSES: usize = 16;

/// Virtual time of one byte at weight 1: a multiple of every number up to 28 and of 100, so that tags are exact for
/// such weights. For others a frame's length is short by less than a billionth of a byte.
const VIRTUAL_BYTE: u64 = 80_313_433_200;

/// How a class is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// 0 is served first.
    pub level: u8,
    /// Its share among the classes of its level; above zero, at most 1000.
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
pub fn each(mut set: ClassSet) -> impl Iterator<Item = usize> {
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
    /// Frames of level 0 that have gone since one of another level went or none of these waited; counted up to `most_first`.
    first: u32,
    /// Frames of level 0 after which one of another level goes, if any waits; `u32::MAX` where level 0 always goes first.
    most_first: u32,
}

/// The tags of a class, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
struct Tags {
    /// The start tag of the first frame that waits.
    start: u128,
    /// The finish tag of the last frame that was served.
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
    /// The scheduler of a port that has served nothing yet.
    pub fn new(rules: &[Rule]) -> Scheduler {
        let levels = rules.iter().map(|rule| usize::from(rule.level) + 1).max().unwrap_or(0);
        Scheduler {
            classes: vec![Tags::default(); rules.len()],
            levels: vec![Level::default(); levels],
            tagged: 0,
            last: 0,
            first: 0,
            most_first: u32::MAX,
        }
    }

    /// The most memory in bytes that one of `classes` classes takes beside itself: each class may have a level of its own.
    pub fn heap_bytes(classes: usize) -> usize {
        (size_of::<Tags>() + size_of::<Level>()) * classes
    }

    /// The scheduler, where after this many frames of level 0 one of another level goes if any waits.
    #[must_use]
    pub fn yielding_after(self, frames: u32) -> Scheduler {
        Scheduler { most_first: frames, ..self }
    }

    /// The class to serve of those that wait; `None` where none waits. To be asked when a transmission has ended, and
    /// then as often as one likes until [`Self::serve`] says what was sent.
    pub fn choose(&mut self, rules: &[Rule], waiting: ClassSet) -> Option<usize> {
        self.tag(rules, waiting);
        let waiting = if self.first == self.most_first { without_first(rules, waiting) } else { waiting };
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
        if self.most_first != u32::MAX {
            let others_wait = rule.level == 0 && self.tagged & !only(class) != 0;
            self.first = if others_wait { (self.first + 1).min(self.most_first) } else { 0 };
        }
    }
}

/// The waiting classes of another level than 0, or all of them where there are no others.
#[cold]
fn without_first(rules: &[Rule], waiting: ClassSet) -> ClassSet {
    let others =
        each(waiting).filter(|&class| rules[class].level > 0).fold(0, |set, class| set | only(class));
    if others == 0 {
        waiting
    } else {
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: usize = 2;
    const RULES: [Rule; 3] =
        [Rule { level: 1, weight: 1 }, Rule { level: 2, weight: 1 }, Rule { level: 0, weight: 1 }];

    /// Serves frames in turn while these classes wait, and returns the class of each.
    fn served<const N: usize>(scheduler: &mut Scheduler, waiting: ClassSet) -> [usize; N] {
        [(); N].map(|()| {
            let class = scheduler.choose(&RULES, waiting).expect("a class waits");
            scheduler.serve(&RULES, class, 100);
            class
        })
    }

    #[test]
    fn another_level_goes_after_so_many_of_the_first() {
        let all = only(0) | only(1) | only(HEADERS);
        let mut scheduler = Scheduler::new(&RULES).yielding_after(2);
        assert_eq!(served(&mut scheduler, all), [HEADERS, HEADERS, 0, HEADERS, HEADERS, 0, HEADERS]);
        // Those that go while no other waits do not count.
        assert_eq!(served(&mut scheduler, only(HEADERS)), [HEADERS; 3]);
        assert_eq!(served(&mut scheduler, only(1) | only(HEADERS)), [HEADERS, HEADERS, 1]);
        assert_eq!(served(&mut Scheduler::new(&RULES), all), [HEADERS; 9]);
    }
}
