//! A relay's lanes, driven by a script: frames and PFC frames come on both ports, time passes, what may leave leaves.

use clearway_host::relay::lanes::{across, on_the_wire, Lanes, Want, PORTS};
use clearway_proto::pfc::frame::{PfcFrame, PRIORITIES};
use clearway_proto::pfc::quanta::lasting;
use clearway_proto::swing::relay::{Port, RelayParams};
use clearway_proto::units::{Bytes as Size, Rate, Span, Time};

use crate::bytes::Bytes;

const RATE: Rate = Rate::from_gbps(1);
const LANES: [u8; 2] = [3, 6];
const STORM_AFTER: Span = Span::from_ms(50);
const RESPONSE: Span = Span::from_ms(2);
const ROOM: [u64; 2] = [40_000, 90_000];

/// What the check knows by itself, by port.
#[derive(Default)]
struct Known {
    /// Frames that came in, by lane; each has its number.
    came: [u32; 2],
    /// The number of the last frame that left, by lane.
    left: [u32; 2],
    /// Frames that left, by lane.
    count: [u64; 2],
    /// What the port was granted, by lane.
    granted: [Granted; 2],
    /// When the last PFC frame came.
    heard_at: Time,
}

/// The time for which a port may send a lane, in picoseconds, and what is left of it.
#[derive(Clone, Copy, Debug, Default)]
struct Granted {
    /// What was left when the port was last paused or let go.
    left: i128,
    /// Since when the port may send.
    since: Time,
    /// The time at which it was paused, and when that runs out.
    paused: Option<(Time, Time)>,
}

impl Granted {
    fn pause(&mut self, arrived: Time, until: Time) {
        self.run_out(arrived);
        if let Some((_, ends)) = &mut self.paused {
            *ends = until;
            return;
        }
        let at = arrived.max(self.since);
        self.left += i128::from(at.since(self.since).as_ps());
        self.paused = Some((at, until));
    }

    fn resume(&mut self, at: Time) {
        if self.paused.take().is_some() {
            self.left = self.left.min(RESPONSE.as_ps().into());
            self.since = at;
        }
    }

    fn run_out(&mut self, now: Time) {
        if let Some((_, until)) = self.paused.filter(|(_, until)| *until <= now) {
            self.resume(until);
        }
    }

    /// A frame of this many bytes begins.
    fn sends(&mut self, size: usize, now: Time) {
        if let Some((at, _)) = self.paused.filter(|(_, until)| *until > now) {
            assert!(now.since(at) < RESPONSE, "a frame left while its port was paused: {self:?} {now:?}");
            assert!(self.left > 0, "a frame left that was not granted");
        } else {
            self.run_out(now);
            let left = self.left + i128::from(now.since(self.since).as_ps());
            assert!(left >= 0, "a frame left before it was granted: {left} ps");
        }
        self.left -= i128::from(RATE.transmission(on_the_wire(size)).as_ps());
    }
}

fn params() -> RelayParams {
    RelayParams {
        rate: RATE,
        priorities: LANES.len(),
        xoff: Size::new(20_000),
        xon: Size::new(10_000),
        local_buffer: Size::new(ROOM[0]),
        remote_buffer: Size::new(ROOM[1]),
        ..RelayParams::default()
    }
}

/// Whatever comes, whenever, and is read however late: frames of a lane leave in their order, none but in the time that its port was granted or
/// soon after; each that came has left, waits or was counted as dropped; no more waits than there is room for.
pub fn relay(bytes: &[u8]) {
    let mut script = Bytes(bytes);
    let mut lanes = Lanes::new(&params(), &LANES, STORM_AFTER, RESPONSE, [[2; 6]; 2]);
    let (mut now, mut known) = (Time::ZERO, [Known::default(), Known::default()]);
    while let Some(step) = script.next() {
        let port = PORTS[usize::from(step >> 7)];
        let number = usize::from(step >> 6 & 1);
        match step % 8 {
            0 => now = now + Span::from_us(script.short().into()),
            1 | 2 => {
                let came = &mut known[port as usize].came[number];
                *came += 1;
                let mut frame = vec![0; 60 + usize::from(script.byte()) * 6];
                frame[..4].copy_from_slice(&came.to_be_bytes());
                frame[4] = number as u8;
                lanes.store(port, LANES[number], &frame, now);
            }
            3 => {
                let length = script.byte().into();
                hear(&mut lanes, &mut known, port, script.take(length), now, now);
            }
            4 => {
                let quanta = script.short();
                let late = Span::from_us(u64::from(script.byte()) * 4);
                let frame = PfcFrame::of(LANES[number].into(), quanta).to_bytes([9; 6]);
                let arrived = Time::from_ps(now.as_ps().saturating_sub(late.as_ps()));
                hear(&mut lanes, &mut known, port, &frame, arrived, now);
            }
            5 => {
                lanes.handle_timeout(now);
                send(&mut lanes, &mut known, port, now);
            }
            6 => {
                for (port, priority, want) in lanes.openable(now) {
                    if want == Want::Open {
                        lanes.opened(port, priority, step >> 5 & 1 == 1);
                    }
                }
            }
            _ => lanes.handle_timeout(now),
        }
        check(&lanes, &known, now);
    }
    // Nobody pauses any more.
    for _ in 0..2_000 {
        now = now + Span::from_us(500);
        lanes.handle_timeout(now);
        for port in PORTS {
            send(&mut lanes, &mut known, port, now);
        }
    }
    check(&lanes, &known, now);
    let waits = PORTS.iter().flat_map(|port| lanes.lanes(*port, now)).any(|(_, lane)| lane.frames > 0);
    assert!(!waits, "frames wait for ever");
}

/// A MAC control frame comes, or what passes for one, after all that came before.
fn hear(lanes: &mut Lanes, known: &mut [Known; 2], port: Port, frame: &[u8], arrived: Time, now: Time) {
    let of_port = &mut known[port as usize];
    let arrived = arrived.max(of_port.heard_at);
    of_port.heard_at = arrived;
    lanes.obey(port, frame, arrived, now);
    let Ok(said) = PfcFrame::parse(frame) else { return };
    assert_eq!(said.quanta.len(), PRIORITIES);
    for (granted, priority) in of_port.granted.iter_mut().zip(LANES) {
        match said.quanta[usize::from(priority)] {
            None => {}
            Some(0) => {
                granted.run_out(arrived);
                granted.resume(arrived);
            }
            Some(quanta) => granted.pause(arrived, now + lasting(quanta, RATE)),
        }
    }
}

fn send(lanes: &mut Lanes, known: &mut [Known; 2], port: Port, now: Time) {
    let mut granted = known[port as usize].granted;
    let of_frames = &mut known[across(port) as usize];
    while lanes.transmit(port, now, |frame| {
        if PfcFrame::parse(frame).is_err() {
            let number = usize::from(frame[4]);
            let of = u32::from_be_bytes(frame[..4].try_into().expect("four bytes"));
            assert!(of > of_frames.left[number], "frame {of} left after {}", of_frames.left[number]);
            granted[number].sends(frame.len(), now);
            of_frames.left[number] = of;
            of_frames.count[number] += 1;
        }
        true
    }) {}
    known[port as usize].granted = granted;
}

fn check(lanes: &Lanes, known: &[Known; 2], now: Time) {
    for port in PORTS {
        let (known, figures) = (&known[port as usize], lanes.port(port));
        let waiting: u64 = lanes.lanes(port, now).map(|(_, lane)| lane.frames).sum();
        let came: u64 = known.came.iter().map(|came| u64::from(*came)).sum();
        let left: u64 = known.count.iter().sum();
        let dropped = figures.refused.overflow + figures.refused.given_up;
        assert_eq!(came, left + waiting + dropped, "frames that came in on {}", port.name());
        assert!(lanes.lanes(port, now).all(|(_, lane)| lane.waiting <= ROOM[port as usize]));
    }
}
