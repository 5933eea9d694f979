//! The kernel's Swift against the one that everything else runs: the same window and the same target, vector by vector.

use clearway_host::tcp::kernel::arithmetic::Arithmetic;
use clearway_host::tcp::parameters::{decode, defaults, encode, fixed, BYTES};
use clearway_proto::swift::target::FabricTarget;
use clearway_proto::swift::window::{Moment, Reading, Window, WindowRules};
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Span, Time};

/// Largest relative error of a window and of a target.
const ERROR: f64 = 1e-4;

/// A packet, in the kernel's units.
const ONE: f64 = 4_294_967_296.0;

/// How many vectors are held against each other.
const VECTORS: u32 = 1_000_000;

/// Numbers that look drawn at random, the same in every run (splitmix64: Steele, Lea and Flood, OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `least` to `most`, each power of two as likely as any other.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + self.unit() * (most / least).ln()).exp()
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next() % n == 0
    }
}

/// Parameters as an operator may set them: half of them the defaults.
fn parameters(draw: &mut Draw) -> (SwiftParams, [u8; BYTES]) {
    loop {
        let min_cwnd = draw.between(0.001, 2.0);
        let fs_min_cwnd = draw.between(0.001, 10.0);
        let params = SwiftParams {
            base_target: Span::from_ns(draw.between(1e3, 1e8) as u64),
            fs_range: Span::from_ns(draw.between(1e3, 1e8) as u64),
            fs_min_cwnd,
            fs_max_cwnd: fs_min_cwnd * draw.between(1.5, 1e4),
            flow_scaling: !draw.one_in(8),
            ai: draw.between(0.01, 100.0),
            beta: draw.between(0.01, 10.0),
            max_mdf: draw.unit(),
            min_cwnd,
            cwnd_below_one: !draw.one_in(8),
            max_cwnd: draw.between(4.0, 65_536.0),
            retx_reset_threshold: 1 + (draw.next() % 5) as u32,
            ..defaults()
        };
        let params = if draw.one_in(2) { defaults() } else { params };
        if let Ok(bytes) = encode(&params) {
            return (params, bytes);
        }
    }
}

/// A question to both.
struct Question {
    cwnd: f64,
    now: u64,
    last_decrease: u64,
    rtt: u64,
    delay: u64,
    acked: u32,
    /// 0: an acknowledgement; 1: a hole; from 2 on: a timeout, the second, and so on.
    what: u32,
}

impl Question {
    fn new(draw: &mut Draw, params: &SwiftParams) -> Question {
        let floor = WindowRules::fabric(params).min_cwnd;
        let rtt = draw.between(1e3, 4e9) as u64;
        let near_target = params.base_target.as_ps() as f64 / 1e3 * draw.between(0.5, 4.0);
        let now = 1 << 40;
        // Now and then it comes to the nanosecond whether a round trip has passed.
        let ago = if draw.one_in(16) { rtt - 1 + draw.next() % 3 } else { draw.between(1e3, 1e10) as u64 };
        Question {
            cwnd: fixed(draw.between(floor, params.max_cwnd)) as f64 / ONE,
            now,
            last_decrease: if draw.one_in(16) { 0 } else { now - ago },
            rtt,
            delay: if draw.one_in(2) { near_target as u64 } else { rtt },
            acked: 1 + (draw.next() % 64) as u32,
            what: if draw.one_in(2) { 0 } else { (draw.next() % 6) as u32 },
        }
    }

    /// The question as the kernel reads it.
    fn vector(&self, parameters: &[u8; BYTES]) -> Vec<u8> {
        let words =
            [fixed(self.cwnd), self.last_decrease, self.now, self.rtt, self.delay, 0].map(u64::to_ne_bytes);
        let halves = [self.acked, self.what].map(u32::to_ne_bytes);
        [parameters.as_slice(), words.as_flattened(), halves.as_flattened()].concat()
    }

    /// The window afterwards, and the last decrease, as the simulator has them.
    fn answer(&self, params: &SwiftParams, target: Span) -> (f64, u64) {
        let (mut window, rules) = (Window::new(self.cwnd), WindowRules::fabric(params));
        let mut last_decrease = time(self.last_decrease);
        let (now, rtt) = (time(self.now), Span::from_ns(self.rtt));
        let moment = Moment { now, rtt, last_decrease: &mut last_decrease };
        match self.what {
            0 => window.on_ack(
                moment,
                &Reading { delay: Span::from_ns(self.delay), target },
                self.acked,
                &rules,
            ),
            1 => window.on_fast_recovery(moment, &rules),
            what => window.on_timeout(moment, what - 1, &rules),
        }
        (window.cwnd(), last_decrease.as_ps() / 1000)
    }
}

fn time(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..][..8].try_into().expect("eight bytes"))
}

fn differ(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

#[test]
fn the_kernels_arithmetic_is_the_simulators() {
    let mut kernel = match Arithmetic::load() {
        Ok(kernel) => kernel,
        Err(e) => {
            eprintln!("skipped: {} ({})", e.message, e.remedy);
            return;
        }
    };
    let mut draw = Draw(7);
    let (mut worst_window, mut worst_target, mut gates) = (0.0_f64, 0.0_f64, 0);
    let (mut params, mut bytes) = parameters(&mut draw);
    for number_of in 0..VECTORS {
        if number_of % 100 == 0 {
            (params, bytes) = parameters(&mut draw);
        }
        let question = Question::new(&mut draw, &params);
        let mut vector = question.vector(&bytes);
        kernel.compute(&mut vector);
        let (cwnd, decreased) = (word(&vector, BYTES) as f64 / ONE, word(&vector, BYTES + 8));
        let kernels_target = word(&vector, BYTES + 40);
        let target = FabricTarget::new(&params).at(question.cwnd, 0);
        let target_ns = target.as_ps() as f64 / 1e3;
        // The kernel counts in nanoseconds.
        if (kernels_target as f64 - target_ns).abs() > 1.0 {
            worst_target = worst_target.max(differ(kernels_target as f64, target_ns));
        }
        let delay = Span::from_ns(question.delay);
        if question.what == 0 && (delay < target) != (question.delay < kernels_target) {
            // Both are right about another target, which lies a nanosecond off.
            assert!((question.delay as f64 - target_ns).abs() <= 1.0 + ERROR * target_ns);
            gates += 1;
            continue;
        }
        let (expected, expected_decrease) = question.answer(&params, target);
        let error = differ(cwnd, expected);
        // A nanosecond of the target is more than that where targets are of microseconds, which no kernel's samples are.
        let of_target = params.beta * 1.0 / question.delay as f64 * question.cwnd / expected;
        assert!(
            error <= ERROR + of_target,
            "{cwnd} for {expected} after {} of {}",
            question.what,
            question.cwnd
        );
        // A decrease for less than what the kernel counts in is none.
        let tiny = differ(expected, question.cwnd) <= 1e-8 + of_target;
        assert!(
            decreased == expected_decrease || tiny,
            "{cwnd}, decreased at {decreased}, for {expected} of {} at {expected_decrease}",
            question.cwnd
        );
        if params.base_target >= Span::from_us(50) && params.beta <= 1.0 {
            worst_window = worst_window.max(error);
        }
    }
    println!("worst error of a window {worst_window:.1e}, of a target {worst_target:.1e}; {gates} gates differ by the last digit");
    assert!(worst_window <= ERROR && worst_target <= ERROR);
    assert!(gates < VECTORS / 1000);
}

#[test]
fn parameters_come_back_from_the_kernel_as_they_went() {
    let bytes = encode(&defaults()).expect("the defaults fit");
    assert_eq!(decode(&bytes), defaults());
    let off = SwiftParams { flow_scaling: false, pacing: false, ..defaults() };
    assert_eq!(decode(&encode(&off).expect("they fit")), off);
    let floor = SwiftParams { cwnd_below_one: false, min_cwnd: 1.0, ..defaults() };
    assert_eq!(decode(&encode(&floor).expect("they fit")), floor);
}

#[test]
fn what_the_kernel_cannot_compute_with_is_told() {
    let steep =
        SwiftParams { fs_range: Span::from_ms(900), fs_min_cwnd: 1.0, fs_max_cwnd: 1.1, ..defaults() };
    assert_eq!(encode(&steep).expect_err("it is too steep").name, "fs_range");
}
