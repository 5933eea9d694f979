//! What tells the priority of a frame.

use clearway_proto::pfc::frame::{MAC_CONTROL, PRIORITIES};

/// The priority of a frame, where it is one of traffic that says so: by its DSCP or by the tag of a VLAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The priority of each code point; none: the frame is never stored.
    pub of_code_point: [Option<u8>; 64],
    /// The priority of each priority in a tag.
    pub of_tag: [Option<u8>; PRIORITIES],
    /// Whether a tag tells the priority of a frame that has one; otherwise its code point does.
    pub trusts_tags: bool,
}

impl Classes {
    /// The priority of a frame; none for MAC control frames, and for what is in no lane.
    pub fn of(&self, frame: &[u8]) -> Option<u8> {
        let word = |at: usize| Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?));
        // The type, and where the header behind it begins.
        let (kind, at) = match word(12)? {
            0x8100 | 0x88a8 if self.trusts_tags => return self.of_tag[usize::from(word(14)? >> 13)],
            0x8100 | 0x88a8 => (word(16)?, 18),
            kind => (kind, 14),
        };
        match kind {
            0x0800 => self.of_code_point[usize::from(frame.get(at + 1)? >> 2)],
            0x86dd => self.of_code_point[usize::from(word(at)? >> 6 & 63)],
            _ => None,
        }
    }
}

/// Returns whether a frame is of MAC control.
pub fn is_control(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(MAC_CONTROL.to_be_bytes().as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_proto::pfc::frame::PfcFrame;

    #[test]
    fn a_frames_priority_is_that_of_its_code_point_or_of_its_tag() {
        let mut classes = Classes { of_code_point: [None; 64], of_tag: [None; 8], trusts_tags: true };
        (classes.of_code_point[26], classes.of_tag[5]) = (Some(3), Some(4));
        let frame = |head: &[u8]| {
            let mut frame = vec![0; 60];
            frame[12..12 + head.len()].copy_from_slice(head);
            frame
        };
        let ipv4 = frame(&[0x08, 0x00, 0x45, 26 << 2 | 1]);
        let ipv6 = frame(&[0x86, 0xdd, 0x60 | 26 >> 2, (26 << 6 & 0xff) as u8]);
        assert_eq!([&ipv4, &ipv6].map(|frame| classes.of(frame)), [Some(3); 2]);
        assert_eq!(classes.of(&frame(&[0x81, 0x00, 5 << 5, 1])), Some(4));
        assert_eq!(classes.of(&frame(&[0x81, 0x00, 4 << 5, 1])), None);
        let tagged = frame(&[0x81, 0x00, 5 << 5, 1, 0x08, 0x00, 0x45, 26 << 2]);
        assert_eq!(classes.of(&tagged), Some(4));
        let by_code_point = Classes { trusts_tags: false, ..classes.clone() };
        assert_eq!(by_code_point.of(&tagged), Some(3));
        assert_eq!(classes.of(&frame(&[0x08, 0x06])), None);
        assert_eq!(classes.of(&PfcFrame::of(3, 1).to_bytes([9; 6])), None);
        assert_eq!(classes.of(&[0; 9]), None);
    }
}
