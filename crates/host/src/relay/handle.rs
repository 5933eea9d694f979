//! The handle of a relay at work, for all but its thread.

use std::io;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use ring::rand::{SecureRandom, SystemRandom};
use tracing::warn;

use super::device::{tidy, Devices};
use super::handover::Handover;
use super::kernel::Kernel;
use super::predecessor::{Predecessor, PATIENCE};
use super::settings::Settings;
use super::watch::Watch;
use super::work::{error_of, Command, Seen, Work};
use crate::daemon::output::Problem;
use crate::datagram::driver::Waker;
use crate::realtime;
use crate::tcp::kernel::KernelError;
use crate::testbed::clock::monotonic_ns;

/// Whether another process takes a relay's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Succession {
    /// No process takes its place.
    Works,
    /// A process is about to: the thread has ended, or is about to.
    HandsOver,
    /// A process has taken its place, and was told of all lanes.
    HandedOver,
}

/// The handle of a relay at work. It ends in order when this is dropped.
#[derive(Debug)]
pub struct Handle {
    commands: Mutex<Sender<Command>>,
    waker: Waker,
    watch: Watch,
    thread: Mutex<Option<JoinHandle<Result<u64, KernelError>>>>,
    succession: Mutex<Succession>,
}

impl Handle {
    /// Starts a relay between the ports of these devices, in the place of the one at work there if it is given.
    pub fn start(
        devices: Devices,
        settings: Settings,
        former: Option<Predecessor>,
    ) -> Result<Handle, Problem> {
        let failed = |error: io::Error| Problem::bare(format!("the relay's thread: {error}"));
        let waker = Waker::new().map_err(failed)?;
        let mut session = [0; 8];
        let random = SystemRandom::new().fill(&mut session);
        random.map_err(|_| Problem::bare("there are no random numbers"))?;
        let session = u64::from_ne_bytes(session);
        let (commands, received) = channel();
        let (told, heard) = channel();
        let (its_waker, ports) = (waker.clone(), devices.ports.clone());
        let work = move || {
            let (kernel, handover) = match begin(&devices, &settings, session, former) {
                Ok(begun) => begun,
                Err(problem) => {
                    let _ = told.send(Err(problem));
                    return Ok(0);
                }
            };
            if !realtime::prepare(realtime::OF_RELAYS) {
                warn!("the relay's thread has no real-time priority, and stands still when the host is busy: give it CAP_SYS_NICE or a limit on real-time priorities (ulimit -r)");
            }
            let mut work = Work::new(devices, kernel, &settings, session);
            if let Some(handover) = handover {
                work.adopt(handover);
            }
            let _ = told.send(Ok(()));
            work.run(&its_waker, &received)
        };
        let thread = std::thread::Builder::new().name("relay".into()).spawn(work).map_err(failed)?;
        let started = heard.recv().map_err(|_| Problem::bare("the relay's thread has failed"))?;
        if let Err(problem) = started {
            tidy(&ports);
            return Err(problem);
        }
        let watch = Watch::new(ports);
        let (commands, thread) = (Mutex::new(commands), Mutex::new(Some(thread)));
        Ok(Handle { commands, waker, watch, thread, succession: Mutex::new(Succession::Works) })
    }

    /// Has it send nothing but PFC frames, and store whatever comes. False if the thread has ended.
    pub fn freeze(&self) -> bool {
        let (told, heard) = channel();
        self.tell(Command::Freeze(told));
        heard.recv().is_ok()
    }

    /// Has it send frames again.
    pub fn thaw(&self) {
        self.tell(Command::Thaw);
    }

    /// Ends it, and returns its lanes; none if the thread has ended before.
    pub fn hand_over(&self) -> Option<Handover> {
        let (told, heard) = channel();
        self.set_succession(Succession::HandsOver);
        self.tell(Command::HandOver(told));
        let handover = heard.recv().ok();
        if handover.is_none() {
            self.set_succession(Succession::Works);
        }
        handover
    }

    /// Notes that the successor was told of all lanes.
    pub fn handed_over(&self) {
        self.set_succession(Succession::HandedOver);
    }

    /// Returns whether another process takes its place.
    pub fn succession(&self) -> Succession {
        *self.succession.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_succession(&self, to: Succession) {
        *self.succession.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }

    /// A snapshot; none if the thread has ended, which only an error does.
    pub fn look(&self) -> Option<Seen> {
        let (told, heard) = channel();
        self.tell(Command::Look(told));
        Some(Seen { states: self.watch.states(), ..heard.recv().ok()? })
    }

    /// Looks after the ports. A port that is gone is an error.
    pub fn look_at_ports(&self) -> Result<(), Problem> {
        self.watch.look()
    }

    /// Returns whether the thread has ended by itself.
    pub fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it when all that is stored has left, or after some seconds. Returns the frames that were lost, or what had ended it.
    pub fn end(&self) -> Result<u64, Problem> {
        self.tell(Command::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = thread.map(JoinHandle::join);
        let failed = |_| Err(error_of("the relay's thread has failed"));
        Ok(ended.map_or(Ok(0), |ended| ended.unwrap_or_else(failed))?)
    }

    fn tell(&self, command: Command) {
        let _ = self.commands.lock().unwrap_or_else(PoisonError::into_inner).send(command);
        self.waker.wake();
    }
}

/// Loads the programs and puts them in their place. Returns them, and what a former relay has left.
fn begin(
    devices: &Devices,
    settings: &Settings,
    session: u64,
    former: Option<Predecessor>,
) -> Result<(Kernel, Option<Handover>), Problem> {
    let kernel = Kernel::load(devices, settings, session, former.is_some())?;
    let Some(mut former) = former else {
        kernel.attach(devices)?;
        return Ok((kernel, None));
    };
    former.freeze()?;
    // It is not taken for dead while the other hands over.
    kernel.set_alive_at(monotonic_ns() + PATIENCE.as_nanos() as u64)?;
    kernel.attach(devices)?;
    let handover = former.hand_over();
    // Without it this process ends, and the kernel passes everything on.
    kernel.set_alive(handover.is_ok())?;
    Ok((kernel, Some(handover?)))
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
