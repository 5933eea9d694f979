//! PFC frames as bytes (IEEE 802.1Qbb; MAC control in IEEE 802.3, clause 31 and annex 31D).
//!
//! | bytes | what they are |
//! |---|---|
//! | 0 to 5 | the destination, 01-80-C2-00-00-01: no bridge passes it on |
//! | 6 to 11 | the address of the port that sends it |
//! | 12, 13 | the type of MAC control, 0x8808 |
//! | 14, 15 | the opcode, 0x0101 |
//! | 16, 17 | the class-enable vector: bit n stands for priority n; the upper eight bits are zero, and not looked at |
//! | 18 to 33 | the time of each priority, 0 to 7, in quanta of 512 bit times; of no meaning where its bit is not set |
//! | 34 to 59 | zeros, so that the frame with its check sequence has 64 bytes |
//!
//! A MAC control frame has no VLAN tag: 0x8808 is always its thirteenth byte.

/// The bytes of a PFC frame, without its check sequence.
pub const BYTES: usize = 60;
/// The type of MAC control frames.
pub const MAC_CONTROL: u16 = 0x8808;
/// The destination of PFC frames.
pub const DESTINATION: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// The priorities that there are.
pub const PRIORITIES: usize = 8;

/// The opcode of PFC.
const PFC: u16 = 0x0101;
/// The opcode of PAUSE for a whole link (IEEE 802.3, annex 31B).
const PAUSE: u16 = 0x0001;
/// The bytes that say something.
const SAID: usize = 34;

/// A PFC frame: the quanta of each priority that it is about. Zero quanta are a RESUME.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PfcFrame {
    /// The quanta of each priority; `None` if the frame says nothing of it.
    pub quanta: [Option<u16>; PRIORITIES],
}

/// The reason why bytes are no PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPfc {
    /// Not a MAC control frame: traffic.
    Traffic,
    /// A MAC control frame that ends too early.
    Truncated,
    /// A MAC control frame to another address than PFC frames have.
    Elsewhere,
    /// A PAUSE of the whole link, which lossless classes do not obey.
    LinkPause,
    /// A MAC control frame with an opcode that is neither.
    Opcode(u16),
}

impl PfcFrame {
    /// A frame that says one thing of one priority. Panics if there is no such priority.
    pub fn of(priority: usize, quanta: u16) -> PfcFrame {
        let mut frame = PfcFrame::default();
        frame.quanta[priority] = Some(quanta);
        frame
    }

    /// Reads a frame as it came over a link, without its check sequence.
    ///
    /// Neither the source is looked at, nor what comes after the times, which senders fill with anything.
    pub fn parse(bytes: &[u8]) -> Result<PfcFrame, NotPfc> {
        let word = |at: usize| bytes.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]));
        if word(12) != Some(MAC_CONTROL) {
            return Err(NotPfc::Traffic);
        }
        match word(14).ok_or(NotPfc::Truncated)? {
            PFC if bytes.len() < SAID => return Err(NotPfc::Truncated),
            PFC if bytes[..6] != DESTINATION => return Err(NotPfc::Elsewhere),
            PFC => {}
            PAUSE => return Err(NotPfc::LinkPause),
            opcode => return Err(NotPfc::Opcode(opcode)),
        }
        let classes = word(16).ok_or(NotPfc::Truncated)?;
        let mut quanta = [None; PRIORITIES];
        for (priority, quanta) in quanta.iter_mut().enumerate() {
            if classes >> priority & 1 == 1 {
                *quanta = word(18 + 2 * priority);
            }
        }
        Ok(PfcFrame { quanta })
    }

    /// The frame as bytes, from a port with this address.
    pub fn to_bytes(&self, source: [u8; 6]) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..6].copy_from_slice(&DESTINATION);
        bytes[6..12].copy_from_slice(&source);
        bytes[12..14].copy_from_slice(&MAC_CONTROL.to_be_bytes());
        bytes[14..16].copy_from_slice(&PFC.to_be_bytes());
        let mut classes = 0_u16;
        for (priority, quanta) in self.quanta.iter().enumerate() {
            if let Some(quanta) = quanta {
                classes |= 1 << priority;
                bytes[18 + 2 * priority..20 + 2 * priority].copy_from_slice(&quanta.to_be_bytes());
            }
        }
        bytes[16..18].copy_from_slice(&classes.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PORT: [u8; 6] = [2, 0, 0, 0, 0, 9];

    /// Priorities 3 and 4: one paused for the longest time, one resumed.
    #[test]
    fn a_frame_is_these_bytes() {
        let mut frame = PfcFrame::of(3, u16::MAX);
        frame.quanta[4] = Some(0);
        let mut expected = [0; BYTES];
        expected[..18].copy_from_slice(&[
            0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 0x01, 0x00, 0x18,
        ]);
        expected[24..26].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(frame.to_bytes(PORT), expected);
        assert_eq!(PfcFrame::parse(&expected), Ok(frame));
    }

    #[test]
    fn what_is_no_pfc_frame_is_told_apart() {
        let good = PfcFrame::of(0, 7).to_bytes(PORT);
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            PfcFrame::parse(&bytes)
        };
        assert_eq!(with(12, 0x08), Err(NotPfc::Traffic));
        assert_eq!(with(14, 0x00), Err(NotPfc::LinkPause));
        assert_eq!(with(15, 0x02), Err(NotPfc::Opcode(0x0102)));
        assert_eq!(with(16, 0x01), Ok(PfcFrame::of(0, 7)));
        assert_eq!(with(5, 0x02), Err(NotPfc::Elsewhere));
        // A time without its bit says nothing, and neither does what fills the frame.
        assert_eq!(with(21, 9), Ok(PfcFrame::of(0, 7)));
        assert_eq!(with(59, 9), Ok(PfcFrame::of(0, 7)));
        for length in 0..BYTES {
            let expected = match length {
                0..14 => Err(NotPfc::Traffic),
                14..34 => Err(NotPfc::Truncated),
                _ => Ok(PfcFrame::of(0, 7)),
            };
            assert_eq!(PfcFrame::parse(&good[..length]), expected, "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(quanta: [Option<u16>; PRIORITIES], port: [u8; 6]) {
            let frame = PfcFrame { quanta };
            prop_assert_eq!(PfcFrame::parse(&frame.to_bytes(port)), Ok(frame));
        }

        #[test]
        fn whatever_comes_behind_a_head_is_read_or_refused(
            cut in 0..BYTES, changes in prop::collection::vec((0..BYTES, any::<u8>()), 0..4), rest: [u8; 44],
        ) {
            let mut bytes = PfcFrame::default().to_bytes(PORT);
            bytes[16..].copy_from_slice(&rest);
            for (at, value) in changes {
                bytes[at] = value;
            }
            if let Ok(frame) = PfcFrame::parse(&bytes[..cut]) {
                prop_assert!(cut >= SAID);
                let again = frame.to_bytes(bytes[6..12].try_into().unwrap());
                // The same but for the upper bits of the classes, times of priorities without their bit, and the filling.
                prop_assert_eq!((&again[..16], again[17]), (&bytes[..16], bytes[17]));
                prop_assert_eq!(PfcFrame::parse(&again), Ok(frame));
            }
        }
    }
}
