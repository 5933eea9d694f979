//! The kernel's choice of a priority against [`Classes::of`], frame by frame.

use clearway_proto::pfc::frame::PfcFrame;
use clearway_proto::units::{Span, Time};

use super::*;
use crate::relay::probe::{Prober, Probing};
use crate::relay::work::STAMP;

fn setting() -> Setting<'static> {
    const NONE: &Classes =
        &Classes { of_code_point: [None; 64], of_tag: [None; PRIORITIES], trusts_tags: false };
    Setting { indices: [1; 4], dead_after_ns: 0, session: 0, classes: NONE, address: [2, 0, 0, 0, 0, 9] }
}

/// How many frames are held against each other, for each of the two things that may tell a priority.
const FRAMES: u32 = 100_000;

/// The program of a port, attached nowhere, with each lane open.
struct Choice {
    object: Object,
    lanes: MapHandle,
}

impl Choice {
    fn load(classes: &Classes) -> Result<Choice, KernelError> {
        let object = load(&Setting { classes, ..setting() })?;
        let lanes = map(&object, "lanes")?;
        Ok(Choice { object, lanes })
    }

    /// The lane of a frame, of 15 bytes or more; none: it is in no lane.
    fn of(&mut self, frame: &[u8], before: &mut [u64; PRIORITIES]) -> Option<u8> {
        let program = self.object.progs_mut().find(|own| own.name() == "clearway_local");
        let input = ProgramInput { data_in: Some(frame), ..ProgramInput::default() };
        program.expect("the object has it").test_run(input).unwrap_or_else(|e| panic!("{e}: {frame:02x?}"));
        let mut found = None;
        for lane in 0..PRIORITIES as u8 {
            let counts = self.lanes.lookup(&key(Port::Local, lane), MapFlags::ANY).expect("a map");
            let passed = u64::from_ne_bytes(counts.expect("a lane")[8..16].try_into().expect("eight bytes"));
            if std::mem::replace(&mut before[usize::from(lane)], passed) != passed {
                assert_eq!(found.replace(lane), None);
            }
        }
        found
    }
}

/// What a program says of a frame: `bpf_redirect` sends it somewhere.
const REDIRECT: u32 = 7;
const SHOT: u32 = 2;

/// Runs a program on a frame, and returns what it says and what it has made of the frame.
fn run(object: &mut Object, program: &str, frame: &[u8]) -> (u32, Vec<u8>) {
    let mut made = vec![0; frame.len()];
    let mut programs = object.progs_mut();
    let program = programs.find(|own| own.name() == program).expect("the object has it");
    let input = ProgramInput { data_in: Some(frame), data_out: Some(&mut made), ..ProgramInput::default() };
    let ran = program.test_run(input).expect("it runs");
    (ran.return_value, made)
}

#[test]
fn a_probe_is_turned_around_once_and_its_times_are_noted() {
    let relay = |session| load(&Setting { session, dead_after_ns: i64::MAX as u64, ..setting() });
    let (Ok(mut near), Ok(mut far), Ok(mut other)) = (relay(1), relay(2), relay(3)) else {
        eprintln!("skipped: needs root, and a kernel with BTF");
        return;
    };
    let probing = Probing { every: Span::from_secs(1), delay: Span::ZERO, response: Span::ZERO };
    let mut prober = Prober::new([2; 6], 1, probing, Time::ZERO);
    let probe = prober.poll(Time::ZERO).expect("one is due");

    let (said, left) = run(&mut near, "relay_sent_remote", &probe);
    assert_eq!((said, &left[..38]), (REDIRECT, &probe[..38]));
    assert_ne!(left[38..46], [0; 8], "when it left");
    let (said, answer) = run(&mut far, "clearway_remote", &left);
    assert_eq!((said, &answer[6..12]), (REDIRECT, &setting().address[..]));
    assert_eq!((&answer[18..22], &answer[22..]), (&2_u32.to_be_bytes()[..], &left[22..]));
    assert_eq!(run(&mut other, "clearway_remote", &answer).0, SHOT, "an answer is for who has asked");
    let (said, back) = run(&mut near, "clearway_remote", &answer);
    assert_eq!(said, REDIRECT);
    assert!(prober.take(&back));
    assert!(prober.figures().delay_ns.is_some_and(|delay| delay > 0), "{:?}", prober.figures());

    // A link that is looped brings it back as it was.
    let again = prober.poll(Time::ZERO + probing.every).expect("one is due");
    let (_, left) = run(&mut near, "relay_sent_remote", &again);
    let (said, back) = run(&mut near, "clearway_remote", &left);
    assert_eq!((said, prober.take(&back), prober.figures().answers), (REDIRECT, true, 2));

    // On L, and of somebody else's with the same type, it is a frame as any other.
    assert_eq!(run(&mut near, "clearway_local", &left), (REDIRECT, left.clone()));
    let mut foreign = left;
    foreign[14] ^= 1;
    assert_eq!(run(&mut near, "clearway_remote", &foreign), (REDIRECT, foreign));
}

#[test]
fn answers_to_a_process_that_is_dead_are_dropped() {
    let Ok(mut near) = load(&Setting { session: 1, ..setting() }) else { return };
    let probing = Probing { every: Span::from_secs(1), delay: Span::ZERO, response: Span::ZERO };
    let probe = Prober::new([2; 6], 1, probing, Time::ZERO).poll(Time::ZERO).expect("one is due");
    assert_eq!(run(&mut near, "clearway_remote", &probe).0, SHOT);
}

/// A PFC frame tells the process when it came, in what pads it.
#[test]
fn a_pfc_frame_is_stamped_where_nothing_is_said() {
    let Ok(mut relay) = load(&Setting { dead_after_ns: i64::MAX as u64, ..setting() }) else { return };
    let frame = PfcFrame::of(3, 700).to_bytes([9; 6]);
    for program in ["clearway_local", "clearway_remote"] {
        let before = monotonic_ns();
        let (said, left) = run(&mut relay, program, &frame);
        assert_eq!(
            (said, &left[..STAMP], &left[STAMP + 8..]),
            (REDIRECT, &frame[..STAMP], &frame[STAMP + 8..])
        );
        let stamp = u64::from_ne_bytes(left[STAMP..STAMP + 8].try_into().expect("eight bytes"));
        assert!((before..=monotonic_ns()).contains(&stamp), "{stamp}");
        // One that is too short for that goes on as it is.
        let (said, left) = run(&mut relay, program, &frame[..STAMP + 4]);
        assert_eq!((said, left.as_slice()), (REDIRECT, &frame[..STAMP + 4]));
    }
    // So does one that passes a relay whose process is dead.
    let mut dead = load(&setting()).expect("one was loaded");
    assert_eq!(run(&mut dead, "clearway_local", &frame), (REDIRECT, frame.to_vec()));
}

/// Numbers that look drawn at random (xorshift64: Marsaglia, Journal of Statistical Software 2003).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// A frame of a type that matters, with or without tags, of any length.
fn frame(draw: &mut Draw) -> Vec<u8> {
    const TYPES: [u16; 7] = [0x0800, 0x86dd, 0x0806, 0x8100, 0x88a8, 0x88f7, 0x8847];
    let mut frame = vec![2; 12];
    for _ in 0..draw.below(3) {
        frame.extend([0x8100_u16, 0x88a8][draw.below(2) as usize].to_be_bytes());
        frame.extend((draw.below(1 << 16) as u16).to_be_bytes());
    }
    frame.extend(TYPES[draw.below(7) as usize].to_be_bytes());
    let length = [draw.below(5), 46 + draw.below(200)][draw.below(2) as usize]
        .max(15_u64.saturating_sub(frame.len() as u64));
    frame.extend((0..length).map(|_| draw.below(256) as u8));
    // The kernel runs no program on a frame whose header of IP is cut off, unless it is behind a tag.
    let least = match frame[12..14] {
        [0x08, 0x00] => 34,
        [0x86, 0xdd] => 54,
        _ => 0,
    };
    frame.resize(frame.len().max(least), 0);
    frame
}

#[test]
fn the_kernel_chooses_the_lane_that_the_process_does() {
    let priorities = std::array::from_fn(|number| (number % 3 != 1).then_some((number % 8) as u8));
    for trusts_tags in [false, true] {
        let of_tag = [Some(7), None, Some(2), Some(3), None, Some(0), Some(6), Some(1)];
        let classes = Classes { of_code_point: priorities, of_tag, trusts_tags };
        let Ok(mut choice) = Choice::load(&classes) else {
            eprintln!("skipped: needs root, and a kernel with BTF");
            return;
        };
        let (mut draw, mut before, mut some) = (Draw(7), [0; PRIORITIES], 0);
        for _ in 0..FRAMES {
            let frame = frame(&mut draw);
            let expected = classes.of(&frame);
            assert_eq!(choice.of(&frame, &mut before), expected, "{trusts_tags} {frame:02x?}");
            some += u32::from(expected.is_some());
        }
        assert!((FRAMES / 20..FRAMES).contains(&some), "{some} frames with a priority");
    }
}
