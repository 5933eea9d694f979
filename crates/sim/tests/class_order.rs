//! The order in which a port with classes sends, against the definition carried out step by step: every frame has its
//! tags when it comes, as exact fractions, and the port looks at all frames that wait.

use std::collections::VecDeque;

use clearway_proto::units::{Rate, Span};
use clearway_sim::engine::calendar::Calendar;
use clearway_sim::engine::event::{Frame, Meta};
use clearway_sim::engine::windows::Windows;
use clearway_sim::net::marking::Marking;
use clearway_sim::net::memory::{Memory, SharedBuffer};
use clearway_sim::net::pfc::NO_PORT;
use clearway_sim::net::port::{Port, PortKind};
use clearway_sim::net::ports::Ports;
use clearway_sim::net::rules::Rules;
use clearway_sim::net::scheduling::{Rule, Scheduler};
use clearway_sim::net::transmission::{Joined, Leaves, NextToSend, Transmission};
use clearway_sim::random::{Entity, Stream};

/// At 8 Gb/s.
const PS_PER_BYTE: u64 = 1000;

/// A frame that comes: when, of which class, how long.
#[derive(Clone, Copy, Debug)]
struct Coming {
    at: u64,
    class: usize,
    bytes: u32,
}

/// Returns when each frame has left, by the port of the simulator. A transmission that ends when a frame comes has ended before.
fn simulated(rules: &[Rule], comings: &[Coming], shared: bool) -> Vec<u64> {
    let kind = PortKind::new(Rate::from_gbps(8), Span::from_ps(1), u32::MAX);
    let mut ports = Ports::new(vec![kind], rules.to_vec());
    let buffer = SharedBuffer { size: 1 << 40, used: 0, alpha: 1.0 };
    let memory = if shared { Memory::Shared(ports.add_memory(buffer)) } else { Memory::Own(u32::MAX) };
    let markings = rules.iter().map(|_| Marking::NONE).collect();
    ports.add(Port::new(0, 0, 0), Some(Rules::new(Scheduler::new(rules), markings, memory)));
    let mut left = vec![0; comings.len()];
    let mut calendar = Calendar::new(Windows::new(1000), 1);
    let mut sending: Option<(usize, Leaves)> = None;
    let mut next = 0;
    loop {
        let ends = ports.ends(0).unwrap_or(u64::MAX);
        if comings.get(next).is_some_and(|coming| coming.at < ends) {
            let Coming { at, class, bytes } = comings[next];
            let mut frame = Frame { stamp: 0, route_seq: (next as u64) << 32, meta: Meta::new(bytes, 0) };
            assert_eq!(ports.admit(0, class, bytes, NO_PORT, at), Some(NO_PORT), "there is room");
            match ports.join(0, class, &mut frame, NO_PORT, at, &mut calendar) {
                Joined::Begun(leaves) => sending = Some((next, leaves)),
                Joined::Waits => (),
            }
            next += 1;
        } else if let Some((coming, leaves)) = sending.take() {
            assert_eq!(leaves, Leaves::Arriving(ends + 1));
            left[coming] = ends;
            ports.end_transmission(0);
            sending = ports.next(0, 0).map(|turn| match turn {
                NextToSend::Queue(class) => {
                    let Transmission { slot, leaves } = ports.send_queued(0, class, ends, calendar.parts().0);
                    (calendar.release(slot).route() as usize, leaves)
                }
                turn => panic!("{turn:?} at a switch"),
            });
        } else {
            return left;
        }
    }
}

/// A frame that waits.
struct Tagged {
    coming: usize,
    start: u128,
    finish: u128,
}

/// The order by its definition: tags in units in which a byte of any weight is a whole number.
struct Definition<'a> {
    rules: &'a [Rule],
    comings: &'a [Coming],
    unit: u128,
    waiting: VecDeque<Tagged>,
    /// Level of the frame in transmission, if any, and its end.
    sending: Option<u8>,
    busy_until: u64,
    last_finish: Vec<u128>,
    virtual_time: Vec<u128>,
    largest_finish: Vec<u128>,
    left: Vec<u64>,
}

impl Definition<'_> {
    fn left(rules: &[Rule], comings: &[Coming]) -> Vec<u64> {
        let levels = 1 + rules.iter().map(|rule| usize::from(rule.level)).max().unwrap_or(0);
        let mut all = Definition {
            rules,
            comings,
            unit: rules.iter().map(|rule| u128::from(rule.weight)).product(),
            waiting: VecDeque::new(),
            sending: None,
            busy_until: 0,
            last_finish: vec![0; rules.len()],
            virtual_time: vec![0; levels],
            largest_finish: vec![0; levels],
            left: vec![0; comings.len()],
        };
        for (i, coming) in comings.iter().enumerate() {
            all.go_on(coming.at);
            all.come(i);
            all.go_on(coming.at);
        }
        all.go_on(u64::MAX);
        all.left
    }

    fn come(&mut self, coming: usize) {
        let Coming { class, bytes, .. } = self.comings[coming];
        let Rule { level, weight } = self.rules[class];
        let at = usize::from(level);
        let of_level = |tagged: &Tagged| self.rules[self.comings[tagged.coming].class].level == level;
        if self.sending != Some(level) && !self.waiting.iter().any(of_level) {
            self.virtual_time[at] = self.largest_finish[at];
        }
        let start = self.virtual_time[at].max(self.last_finish[class]);
        let finish = start + u128::from(bytes) * self.unit / u128::from(weight);
        self.last_finish[class] = finish;
        self.waiting.push_back(Tagged { coming, start, finish });
    }

    /// Lets everything happen that happens up to `until`, when something comes.
    fn go_on(&mut self, until: u64) {
        loop {
            if self.busy_until > until {
                return;
            }
            self.sending = None;
            let rank = |tagged: &Tagged| {
                let class = self.comings[tagged.coming].class;
                (self.rules[class].level, tagged.start, class, tagged.coming)
            };
            let Some(next) = (0..self.waiting.len()).min_by_key(|&i| rank(&self.waiting[i])) else { return };
            let Tagged { coming, start, finish } = self.waiting.remove(next).expect("it waits");
            let Coming { at, class, bytes } = self.comings[coming];
            let level = self.rules[class].level;
            self.busy_until = self.busy_until.max(at) + u64::from(bytes) * PS_PER_BYTE;
            self.left[coming] = self.busy_until;
            self.sending = Some(level);
            self.virtual_time[usize::from(level)] = start;
            let largest = &mut self.largest_finish[usize::from(level)];
            *largest = finish.max(*largest);
        }
    }
}

/// Frames of random classes and sizes in bursts, with `load` times what the port can send while they last, and pauses.
fn random_comings(stream: &mut Stream, classes: usize, count: u64, load: f64) -> Vec<Coming> {
    let mut at = 0;
    let mut class = 0;
    let coming = |_| {
        let bytes = if stream.below(3) == 0 { 1000 } else { 1 + stream.below(9000) as u32 };
        if stream.below(4) > 0 {
            class = stream.below(classes as u64) as usize;
        }
        match stream.below(20) {
            0 => at += 100_000 * PS_PER_BYTE,
            // Whole bytes' times, so that frames come as others leave, and several at once.
            1..=12 => at += (stream.exponential(bytes.into()) / load * 1.6) as u64 * PS_PER_BYTE,
            _ => (),
        }
        Coming { at, class, bytes }
    };
    (0..count).map(coming).collect()
}

#[test]
fn a_port_sends_in_the_order_of_the_definition() {
    let mut stream = Stream::new(1, Entity::TrafficTable, 1);
    let (mut waited, mut overtook) = (0, 0);
    for round in 0..1500 {
        let classes = 1 + stream.below(16) as usize;
        let levels = 1 + stream.below(3);
        let mut rules: Vec<Rule> = (0..classes)
            .map(|_| Rule { level: stream.below(levels) as u8, weight: 1 + stream.below(20) as u32 })
            .collect();
        if round % 3 == 0 {
            for rule in &mut rules {
                rule.level = 0;
            }
        }
        let load = [0.5, 0.9, 1.0, 1.3, 3.0][stream.below(5) as usize];
        let comings = random_comings(&mut stream, classes, 120, load);
        let expected = Definition::left(&rules, &comings);
        for shared in [false, true] {
            let found = simulated(&rules, &comings, shared);
            assert_eq!(found, expected, "round {round}, shared {shared}: {rules:?}\n{comings:?}");
        }
        let alone =
            |(coming, left): (&Coming, &u64)| coming.at + u64::from(coming.bytes) * PS_PER_BYTE < *left;
        waited += comings.iter().zip(&expected).filter(|&pair| alone(pair)).count();
        overtook += expected.windows(2).filter(|pair| pair[0] > pair[1]).count();
    }
    // The cases are such that the order matters.
    assert!(waited > 50_000 && overtook > 20_000, "{waited} {overtook}");
}
