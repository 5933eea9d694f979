//! The lanes of a process that hands over to another, and of the one that takes its place.

use clearway_proto::pfc::quanta::covering;
use clearway_proto::swing::relay::{Port, Relay, RelayParams};
use clearway_proto::units::{Bytes, Time};

use super::{across, on_the_wire, Lanes, PORTS};
use crate::relay::handover::{Handover, LaneHandover};

impl Lanes {
    /// Sends nothing but PFC frames from here on, or goes on.
    pub fn freeze(&mut self, is_frozen: bool) {
        self.is_frozen = is_frozen;
        if is_frozen {
            for lane in self.directions.iter_mut().flatten() {
                (lane.is_closed, lane.idle_since) = (true, None);
            }
        }
    }

    /// Takes all frames out of the lanes.
    pub fn hand_over(&mut self, now: Time) -> Handover {
        let mut lanes = Vec::new();
        for port in PORTS {
            for (number, priority) in self.priorities.iter().enumerate() {
                let lane = &mut self.directions[port as usize][number];
                lanes.push(LaneHandover {
                    port,
                    priority: *priority,
                    paused: lane.allowance.paused_until().since(now),
                    frames: lane.waiting.drain(..).collect(),
                });
            }
        }
        lanes
    }

    /// Begins with what another process has left: its frames wait before all others, whether there is room for them or not, and ports are
    /// paused for as long as they were. Must be called before anything has come. Returns the frames that are of no lane here, as the
    /// other's file was another, with the port that they leave on.
    pub fn adopt(&mut self, handover: Handover, params: &RelayParams, now: Time) -> Vec<(Port, Vec<u8>)> {
        let mut others = Vec::new();
        let mut pauses = Vec::new();
        for LaneHandover { port, priority, paused, frames } in handover {
            let Some(number) = self.priorities.iter().position(|own| *own == priority) else {
                others.extend(frames.into_iter().map(|frame| (across(port), frame)));
                continue;
            };
            pauses.push((across(port), number, paused));
            let lane = &mut self.directions[port as usize][number];
            lane.waiting.extend(frames);
            // What the other was owed is not known.
            lane.allowance.begin(now);
        }
        let sizes = |port: Port, number: usize| {
            let waiting = self.directions[port as usize][number].waiting.iter();
            Bytes::new(waiting.map(|frame| on_the_wire(frame.len()).get()).sum())
        };
        self.relay = Relay::new(params).anew(sizes, now);
        for (port, number, paused) in pauses {
            let quanta = covering(paused, params.rate_of(port));
            if quanta > 0 {
                self.heed(port, number, quanta, now, now);
            }
        }
        for port in PORTS {
            for number in 0..self.priorities.len() {
                let waiting = self.relay.waiting(port, number).get();
                let lane = &mut self.directions[port as usize][number];
                (lane.is_closed, lane.peak) = (true, waiting);
            }
        }
        others
    }
}
