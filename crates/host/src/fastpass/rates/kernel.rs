//! The part in the kernel: the programs of `bpf/rates.bpf.c`, their maps, and where they are attached. All of it ends with the
//! process that holds it, except the rates that sockets have.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use clearway_proto::fastpass::fcp::Address;
use libbpf_rs::{set_print, Iter, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramMut};
use rustix::fs::{openat, Mode, OFlags};
use rustix::mount::{fsconfig_create, fsmount, fsopen, FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::sockets::{Record, RECORD};
use crate::fastpass::reach::{Prefix, Reach};
use crate::tcp::kernel::{check_types, error, groups, needs_root, refused, KernelError};

/// The compiled `bpf/rates.bpf.c`.
const OBJECT: &[u8] = include_bytes!("../../../bpf/rates.bpf.o");
/// The rate that is no limit.
pub(super) const UNLIMITED: u32 = u32::MAX;
/// The destination of addresses behind this endpoint itself, in the kernel's table.
const NOWHERE: u32 = u32::MAX;
/// Bits of IPv6 before an address of IPv4 in its place there.
const MAPPED: u32 = 96;

/// The addresses that sockets are told apart by: the first bits of each, and the endpoint behind them.
pub(super) type Prefixes = BTreeMap<(u32, [u8; 16]), u32>;

/// The prefixes of all endpoints, in the kernel's terms. Where two have the same one the last counts, as in [`Reach::endpoint`].
pub(super) fn prefixes(reach: &Reach) -> Prefixes {
    let key = |prefix: &Prefix| match prefix.address {
        IpAddr::V4(address) => (MAPPED + u32::from(prefix.length), address.to_ipv6_mapped().octets()),
        IpAddr::V6(address) => (u32::from(prefix.length), address.octets()),
    };
    // A short prefix of IPv6 does not contain the addresses of IPv4.
    let ipv4 = [0; 4].into();
    let mut found = Prefixes::from([(key(&Prefix { address: IpAddr::V4(ipv4), length: 0 }), NOWHERE)]);
    for (at, place) in (0..).zip(&reach.places) {
        let endpoint = if at == reach.own { NOWHERE } else { u32::from(at) };
        found.extend(place.prefixes.iter().map(|prefix| (key(prefix), endpoint)));
    }
    found
}

/// The purpose of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Setting rates. New connections begin with this many packets; 0 leaves it to the kernel.
    Set(u32),
    /// Lifting all limits once.
    Lift,
}

/// Loads the programs, for this number of endpoints.
fn load(prefixes: &Prefixes, endpoints: u32, purpose: Purpose) -> Result<Object, KernelError> {
    check_types()?;
    // What libbpf says goes into the error, if there is one.
    set_print(None);
    let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(|e| refused(&e))?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        let outcome = match name.as_str() {
            "prefixes" => map.set_max_entries(prefixes.len() as u32),
            "limits" => map.set_max_entries(endpoints.max(1)),
            _ if name.ends_with(".rodata") => {
                let (lifts, window) = match purpose {
                    Purpose::Set(window) => (0_u32, window),
                    Purpose::Lift => (1, 0),
                };
                map.set_initial_value([lifts.to_ne_bytes(), window.to_ne_bytes()].as_flattened())
            }
            _ => Ok(()),
        };
        outcome.map_err(|e| refused(&e))?;
    }
    for mut program in open.progs_mut() {
        program.set_autoload(purpose != Purpose::Lift || program.name() == "rates_walk");
    }
    let object = open.load().map_err(|e| refused(&e))?;
    let map = map(&object, "prefixes")?;
    for ((bits, address), endpoint) in prefixes {
        let key = [bits.to_ne_bytes().as_slice(), address].concat();
        map.update(&key, &endpoint.to_ne_bytes(), MapFlags::ANY)
            .map_err(|e| error(format!("the prefixes of endpoints: {e}"), "see that each has one place"))?;
    }
    Ok(object)
}

fn map(object: &Object, name: &str) -> Result<MapHandle, KernelError> {
    let map = object.maps().find(|map| map.name() == name).expect("the object has this map");
    MapHandle::try_from(&map).map_err(|e| refused(&e))
}

/// A program of the object.
fn program<'a>(object: &'a mut Object, name: &str) -> ProgramMut<'a> {
    object.progs_mut().find(|program| program.name() == name).expect("the object has it")
}

/// The error of a program that cannot be attached.
fn unattached(e: &libbpf_rs::Error) -> KernelError {
    let remedy = "Linux 6.4 or newer is needed; report its version (uname -r) if this is one";
    error(format!("the program cannot be attached: {e}"), remedy)
}

/// Opens the control group whose sockets are reached: the given one, or that of all. The latter need not be mounted where this
/// process can see it (`ip netns exec` hides it), as it can be opened without.
fn group(given: Option<&Path>) -> Result<OwnedFd, KernelError> {
    let file = |path: &Path| File::open(path).map(OwnedFd::from).map_err(|e| needs_root(&e, path));
    if let Some(path) = given.map(Path::to_path_buf).or_else(groups) {
        return file(&path);
    }
    let unmounted = || {
        let context = fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
        openat(&root, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    };
    unmounted().map_err(|e: rustix::io::Errno| {
        let message =
            format!("control groups (version 2), by which sockets are reached, cannot be opened: {e}");
        error(message, "run it as root, or mount them: mount -t cgroup2 none /sys/fs/cgroup")
    })
}

/// Rates of the sockets to an endpoint, in bytes of payload a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The rate of each socket that a look has counted.
    pub(super) share: u32,
    /// The rate of one that no look has counted.
    pub(super) newcomer: u32,
}

impl Limits {
    /// No limits.
    pub(super) const NONE: Limits = Limits { share: UNLIMITED, newcomer: UNLIMITED };
}

/// The programs in the kernel, attached as long as this lives.
#[derive(Debug)]
pub(super) struct Kernel {
    limits: MapHandle,
    /// The round of all sockets of the network namespace.
    walk: Link,
    /// The list of those to other endpoints.
    look: Link,
    /// Last, as sockets are called for from then on.
    _follow: Link,
    /// The buffer that the list is read into.
    bytes: Vec<u8>,
}

impl Kernel {
    /// Loads the programs and attaches them to a control group; none is that of all processes. The network namespace is that of the
    /// calling thread, on which all else here is to be called, too.
    pub(super) fn open(
        reach: &Reach,
        given: Option<&PathBuf>,
        initial_window: u32,
    ) -> Result<Kernel, KernelError> {
        let endpoints = reach.places.len() as u32;
        let mut object = load(&prefixes(reach), endpoints, Purpose::Set(initial_window))?;
        let (limits, flows) = (map(&object, "limits")?, map(&object, "flows")?);
        for endpoint in 0..endpoints {
            set(&limits, endpoint, Limits::NONE)?;
        }
        let group = group(given.map(PathBuf::as_path))?;
        let walk = program(&mut object, "rates_walk").attach().map_err(|e| unattached(&e))?;
        let look =
            program(&mut object, "rates_look").attach_iter(flows.as_fd()).map_err(|e| unattached(&e))?;
        // The first round tells the programs their network namespace.
        read(&walk, &mut Vec::new())?;
        let follow = program(&mut object, "rates_follow")
            .attach_cgroup(group.as_raw_fd())
            .map_err(|e| unattached(&e))?;
        Ok(Kernel { limits, walk, look, _follow: follow, bytes: Vec::new() })
    }

    /// Sets the rates of sockets to an endpoint. Sockets take them
    /// with their next round-trip time, or with [`Kernel::walk`].
    pub(super) fn set(&self, endpoint: Address, limits: Limits) -> Result<(), KernelError> {
        set(&self.limits, u32::from(endpoint), limits)
    }

    /// Gives all sockets of the network namespace their rates at once.
    pub(super) fn walk(&mut self) -> Result<(), KernelError> {
        read(&self.walk, &mut self.bytes)
    }

    /// Looks at all sockets to other endpoints.
    pub(super) fn look(&mut self, mut tell: impl FnMut(&Record)) -> Result<(), KernelError> {
        read(&self.look, &mut self.bytes)?;
        self.bytes.chunks_exact(RECORD).for_each(|record| {
            tell(&Record::decode(record.try_into().expect("a chunk has this length")));
        });
        Ok(())
    }
}

fn set(map: &MapHandle, endpoint: u32, limits: Limits) -> Result<(), KernelError> {
    let value = [limits.share.to_ne_bytes(), limits.newcomer.to_ne_bytes()];
    map.update(&endpoint.to_ne_bytes(), value.as_flattened(), MapFlags::ANY)
        .map_err(|e| error(format!("the rates of sockets: {e}"), "run it as root"))
}

/// Reads all that a program writes that goes through sockets.
fn read(link: &Link, bytes: &mut Vec<u8>) -> Result<(), KernelError> {
    let failed = |e: String| error(format!("the list of sockets: {e}"), "run it as root");
    bytes.clear();
    let mut list = Iter::new(link).map_err(|e| failed(e.to_string()))?;
    list.read_to_end(bytes).map(|_| ()).map_err(|e| failed(e.to_string()))
}

/// Lifts the limits of all sockets of this network namespace that go to other endpoints.
pub(super) fn lift(prefixes: &Prefixes) -> Result<(), KernelError> {
    let mut object = load(prefixes, 0, Purpose::Lift)?;
    let walk = program(&mut object, "rates_walk").attach().map_err(|e| unattached(&e))?;
    read(&walk, &mut Vec::new())
}
