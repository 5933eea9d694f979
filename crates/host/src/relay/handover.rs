//! What a relay's process hands over to the one that takes its place.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use clearway_proto::swing::relay::Port;
use clearway_proto::units::Span;
use serde::{Deserialize, Serialize};

use super::lanes::LONGEST_FRAME;

/// The frames of a lane that wait, and the PAUSE that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneHandover {
    /// The port that the frames came in on.
    pub port: Port,
    /// The priority of the frames.
    pub priority: u8,
    /// The time for which the port that they leave on is still paused.
    pub paused: Span,
    /// The frames, in the order in which they came.
    pub frames: Vec<Vec<u8>>,
}

/// The lanes of a relay, as one process hands them over to another.
pub type Handover = Vec<LaneHandover>;

/// The description of a lane that is written ahead of all frames.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    is_remote: bool,
    priority: u8,
    paused_ps: u64,
    lengths: Vec<u32>,
}

/// Writes the lanes: a line of JSON that describes them, and all frames one after the other.
pub fn write(to: &mut impl Write, lanes: &[LaneHandover]) -> io::Result<()> {
    let head = |lane: &LaneHandover| Head {
        is_remote: lane.port == Port::Remote,
        priority: lane.priority,
        paused_ps: lane.paused.as_ps(),
        lengths: lane.frames.iter().map(|frame| frame.len() as u32).collect(),
    };
    serde_json::to_writer(&mut *to, &lanes.iter().map(head).collect::<Vec<_>>())?;
    to.write_all(b"\n")?;
    lanes.iter().flat_map(|lane| &lane.frames).try_for_each(|frame| to.write_all(frame))
}

/// Reads the lanes that [`write()`] has written.
pub fn read(from: impl Read) -> io::Result<Handover> {
    let mut from = BufReader::new(from);
    let mut line = String::new();
    from.read_line(&mut line)?;
    let heads: Vec<Head> = serde_json::from_str(&line)?;
    let mut frame = |length: u32| {
        if length as usize > LONGEST_FRAME {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("a frame of {length} bytes")));
        }
        let mut frame = vec![0; length as usize];
        from.read_exact(&mut frame).map(|()| frame)
    };
    let mut lane = |Head { is_remote, priority, paused_ps, lengths }: Head| {
        let frames = lengths.into_iter().map(&mut frame).collect::<io::Result<_>>()?;
        let port = if is_remote { Port::Remote } else { Port::Local };
        Ok(LaneHandover { port, priority, paused: Span::from_ps(paused_ps), frames })
    };
    heads.into_iter().map(&mut lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover() -> Handover {
        let lane = |port, priority, paused, frames: &[&[u8]]| LaneHandover {
            port,
            priority,
            paused,
            frames: frames.iter().map(|frame| frame.to_vec()).collect(),
        };
        vec![
            lane(Port::Local, 3, Span::from_us(7), &[b"first\n", b"", b"third"]),
            lane(Port::Remote, 3, Span::ZERO, &[]),
            lane(Port::Remote, 4, Span::from_ps(1), &[&[0xff; LONGEST_FRAME]]),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let mut text = Vec::new();
        write(&mut text, &handover()).unwrap();
        assert_eq!(read(&text[..]).unwrap(), handover());
    }

    #[test]
    fn what_is_cut_off_or_absurd_is_refused() {
        let mut text = Vec::new();
        write(&mut text, &handover()).unwrap();
        for end in [0, 5, 100, text.len() - 1] {
            assert!(read(&text[..end]).is_err(), "{end}");
        }
        let long = br#"[{"is_remote":true,"priority":3,"paused_ps":0,"lengths":[4000000000]}]"#;
        assert!(read(&long[..]).is_err());
    }
}
