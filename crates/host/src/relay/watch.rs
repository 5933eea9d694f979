//! The state of the ports while a relay works: a cable that is pulled, a port that is set down, a device that is gone.

use std::sync::{Mutex, PoisonError};

use tracing::{info, warn};

use super::device::Device;
use super::figures::State;
use super::lanes::PORTS;
use crate::daemon::output::Problem;

/// The ports that are looked after.
#[derive(Debug)]
pub struct Watch {
    ports: [Device; 2],
    states: Mutex<[State; 2]>,
}

impl Watch {
    /// Looks after these, which are up.
    pub fn new(ports: [Device; 2]) -> Watch {
        Watch { ports, states: Mutex::new([State::Up; 2]) }
    }

    /// The states when they were last looked at, L before R.
    pub fn states(&self) -> [State; 2] {
        *self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at both, and notes in the log what has changed. A port that is gone is an error: another one of the same name has none of
    /// what a relay needs.
    pub fn look(&self) -> Result<(), Problem> {
        let before = self.states();
        // What cannot be told is as it was.
        let found = PORTS.map(|port| self.ports[port as usize].state().unwrap_or(before[port as usize]));
        *self.states.lock().unwrap_or_else(PoisonError::into_inner) = found;
        for (port, (device, (now, before))) in
            PORTS.iter().zip(self.ports.iter().zip(found.iter().zip(before)))
        {
            let (side, device) = (port.name(), &device.name);
            match now {
                State::Gone => {
                    let remedy = "start the relay again when the interface is there";
                    return Err(Problem::new(format!("{device}, the {side} port, is gone"), remedy));
                }
                now if *now == before => {}
                State::Up => info!(port = side, device, "port is back: the relay goes on"),
                now => warn!(
                    port = side,
                    device,
                    state = now.words(),
                    "port does not work: what is sent there is lost until it is back"
                ),
            }
        }
        Ok(())
    }
}
