//! The part in the kernel: the programs of `bpf/relay.bpf.c`, and where they are attached.
//!
//! They stay attached when the process that has loaded them ends, and pass everything on from then on: a dead relay is a wire.
//! The next process replaces them in one step.

use std::os::fd::AsFd;

use clearway_proto::pfc::frame::PRIORITIES;
use clearway_proto::swing::relay::Port;
use clearway_proto::units::Bytes;
use libbpf_rs::{
    set_print, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramInput, TcHook, TcHookBuilder,
    TC_INGRESS,
};
use serde::Serialize;

use super::classes::Classes;
use super::device::Devices;
use super::filters::{HANDLE, PREFERENCE};
use super::lanes::{stays_closed, Want, PORTS};
use super::settings::Settings;
use crate::tcp::kernel::{check_types, error, refused, KernelError};
use crate::testbed::clock::monotonic_ns;

/// The compiled `bpf/relay.bpf.c`.
const OBJECT: &[u8] = include_bytes!("../../bpf/relay.bpf.o");
/// The priority that is none.
const NO_PRIORITY: u8 = 0xff;
/// The bytes of `struct lane`.
const BYTES_OF_LANE: usize = 40;

/// The kernel's counts of a lane: `struct lane` of `bpf/relay.bpf.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneCounters {
    /// Whether its frames go to the process.
    pub is_closed: bool,
    /// Frames passed on by the kernel.
    pub passed: u64,
    /// Bytes of those, as the link counts them.
    pub passed_bytes: u64,
    /// Frames that went to the process.
    pub stored: u64,
    /// Frames passed on while the lane was closed, as the process was taken for dead.
    pub passed_dead: u64,
}

/// The programs, attached.
pub struct Kernel {
    object: Object,
    alive: MapHandle,
    lanes: MapHandle,
    passed: MapHandle,
    /// The bytes that had been passed out of each port when they were last asked for.
    asked: [u64; 2],
}

/// What a program is told before it is loaded: `struct setting`.
struct Setting<'a> {
    /// The numbers of L, of R, and of the devices that lead to the process.
    indices: [i32; 4],
    dead_after_ns: u64,
    /// What the process writes into its probes.
    session: u64,
    classes: &'a Classes,
    /// The address of R.
    address: [u8; 6],
}

impl Setting<'_> {
    fn bytes(&self) -> Vec<u8> {
        let Classes { of_code_point, of_tag, trusts_tags } = self.classes;
        let priorities = of_code_point.iter().chain(of_tag).map(|priority| priority.unwrap_or(NO_PRIORITY));
        let mut bytes: Vec<u8> = self.indices.into_iter().flat_map(i32::to_ne_bytes).collect();
        bytes.extend(self.dead_after_ns.to_ne_bytes());
        bytes.extend(self.session.to_ne_bytes());
        bytes.extend(priorities);
        bytes.push(u8::from(*trusts_tags));
        bytes.extend(self.address);
        // The structure is as long as a multiple of its longest member.
        bytes.push(0);
        bytes
    }
}

/// The key of a lane.
fn key(port: Port, priority: u8) -> [u8; 4] {
    (port as u32 * PRIORITIES as u32 + u32::from(priority)).to_ne_bytes()
}

fn map(object: &Object, name: &str) -> Result<MapHandle, KernelError> {
    let map = object.maps().find(|map| map.name() == name).expect("the object has this map");
    MapHandle::try_from(&map).map_err(|e| refused(&e))
}

/// The place of a program on a device.
fn hook(object: &Object, program: &str, index: i32) -> TcHook {
    let program = object.progs().find(|own| own.name() == program).expect("the object has it");
    let mut hook = TcHookBuilder::new(program.as_fd())
        .ifindex(index)
        .replace(true)
        .handle(HANDLE)
        .priority(PREFERENCE)
        .hook(TC_INGRESS);
    hook.create().ok();
    hook
}

fn unattached(device: &str, e: &libbpf_rs::Error) -> KernelError {
    error(format!("{device}: the relay's program cannot be attached: {e}"), "run it as root")
}

/// Loads the programs for these settings, attached nowhere.
fn load(setting: &Setting<'_>) -> Result<Object, KernelError> {
    check_types()?;
    set_print(None);
    let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(|e| refused(&e))?;
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata") {
            map.set_initial_value(&setting.bytes()).map_err(|e| refused(&e))?;
        }
    }
    open.load().map_err(|e| refused(&e))
}

impl Kernel {
    /// Loads the programs, attached nowhere. `session` is what the process writes into its probes; `are_closed` says whether all lanes are
    /// closed at first.
    pub fn load(
        devices: &Devices,
        settings: &Settings,
        session: u64,
        are_closed: bool,
    ) -> Result<Kernel, KernelError> {
        let Devices { ports: [local, remote], stores, .. } = devices;
        let object = load(&Setting {
            indices: [local.index, remote.index, stores[0].index, stores[1].index],
            dead_after_ns: settings.dead_after.as_ps() / 1000,
            session,
            classes: &settings.classes,
            address: remote.address,
        })?;
        let (alive, lanes) = (map(&object, "alive")?, map(&object, "lanes")?);
        let passed = map(&object, "passed")?;
        let kernel = Kernel { object, alive, lanes, passed, asked: [0; 2] };
        kernel.set_alive(true)?;
        for port in PORTS.into_iter().filter(|port| are_closed || stays_closed(&settings.params, *port)) {
            settings.priorities.iter().try_for_each(|priority| kernel.close(port, *priority))?;
        }
        Ok(kernel)
    }

    /// Puts the programs in the place of those that were there. Frames come to the devices from then on.
    pub fn attach(&self, devices: &Devices) -> Result<(), KernelError> {
        for (store, program) in devices.stores.iter().zip(["relay_sent_local", "relay_sent_remote"]) {
            let attached = hook(&self.object, program, store.index).attach();
            attached.map_err(|e| unattached(&store.name, &e))?;
        }
        let [local, remote] = &devices.ports;
        let mut of_local = hook(&self.object, "clearway_local", local.index);
        of_local.attach().map_err(|e| unattached(&local.name, &e))?;
        if let Err(e) = hook(&self.object, "clearway_remote", remote.index).attach() {
            // One half of a relay is worse than none.
            let _ = of_local.detach();
            return Err(unattached(&remote.name, &e));
        }
        Ok(())
    }

    /// Tells the kernel that the process is alive, or that it passes everything on from here on.
    pub fn set_alive(&self, is_alive: bool) -> Result<(), KernelError> {
        self.set_alive_at(if is_alive { monotonic_ns() } else { 0 })
    }

    /// Tells the kernel when the process was last alive, by the monotonic clock in nanoseconds; a time to come is as good.
    pub fn set_alive_at(&self, at: u64) -> Result<(), KernelError> {
        let set = self.alive.update(&0_u32.to_ne_bytes(), &at.to_ne_bytes(), MapFlags::ANY);
        set.map_err(|e| error(format!("the relay's sign of life: {e}"), "run it as root"))
    }

    /// Does what is wanted of a lane, and returns whether it is open then.
    pub fn command(&mut self, port: Port, priority: u8, want: Want) -> Result<bool, KernelError> {
        let words = [port as u32, priority.into(), want as u32, 0];
        let mut command: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        let mut programs = self.object.progs_mut();
        let program = programs.find(|own| own.name() == "relay_command").expect("the object has it");
        let input = ProgramInput { context_in: Some(&mut command), ..ProgramInput::default() };
        let ran =
            program.test_run(input).map_err(|e| error(format!("a relay's lane: {e}"), "run it as root"))?;
        if ran.return_value != 0 {
            return Err(error(format!("a relay's lane: there is no priority {priority}"), "report it"));
        }
        Ok(command[12..16] == 0_u32.to_ne_bytes())
    }

    /// Closes a lane before anything has come.
    fn close(&self, port: Port, priority: u8) -> Result<(), KernelError> {
        let mut lane = [0; BYTES_OF_LANE];
        lane[4..6].copy_from_slice(&1_u16.to_ne_bytes());
        let set = self.lanes.update(&key(port, priority), &lane, MapFlags::ANY);
        set.map_err(|e| error(format!("a relay's lane: {e}"), "run it as root"))
    }

    /// Returns the bytes that the kernel has passed out of a port since it was last asked, as the link counts them.
    pub fn passed(&mut self, port: Port) -> Result<Bytes, KernelError> {
        let found = self.passed.lookup_percpu(&(port as u32).to_ne_bytes(), MapFlags::ANY);
        let found = found.map_err(|e| error(format!("a relay's port: {e}"), "run it as root"))?;
        let word = |bytes: &Vec<u8>| u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
        let sum = found.expect("the map has it").iter().map(word).sum();
        Ok(Bytes::new(sum - std::mem::replace(&mut self.asked[port as usize], sum)))
    }

    /// Returns the kernel's counts of the lane of a priority that comes in on a port.
    pub fn counters(&self, port: Port, priority: u8) -> Result<LaneCounters, KernelError> {
        let found = self.lanes.lookup(&key(port, priority), MapFlags::ANY);
        let bytes = found.map_err(|e| error(format!("a relay's lane: {e}"), "run it as root"))?;
        let bytes = bytes.expect("the map has it");
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Ok(LaneCounters {
            is_closed: bytes[4..6] != [0; 2],
            passed: word(8),
            passed_bytes: word(16),
            stored: word(24),
            passed_dead: word(32),
        })
    }
}

#[cfg(test)]
mod tests;
