//! The kernel's choice of a priority against [`Classes::of`], frame by frame.

use super::*;

/// How many frames are held against each other, for each of the two things that may tell a priority.
const FRAMES: u32 = 100_000;

/// The program of a port, attached nowhere, with each lane open.
struct Choice {
    object: Object,
    lanes: MapHandle,
}

impl Choice {
    fn load(classes: &Classes) -> Result<Choice, KernelError> {
        let object = load(&setting_of([1; 4].into_iter(), 0, classes))?;
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
