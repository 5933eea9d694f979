//! The kernel's side: what is loaded, registered, pinned, asked and removed.
//!
//! Everything that lasts is a file in `/sys/fs/bpf/clearway-tcp`. The link, which is the registration, comes last: a loader that is killed before
//! leaves files that register nothing, and the next [`install`] replaces them.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

use libbpf_rs::{set_print, MapCore, MapFlags, MapHandle, Object, ObjectBuilder};

use super::parameters::BYTES;
use super::sockets::{decode, Counters, Socket};

/// The compiled `bpf/swift.bpf.c`.
const OBJECT: &[u8] = include_bytes!("../../bpf/swift.bpf.o");

/// The BPF file system.
const FILE_SYSTEM: &str = "/sys/fs/bpf";
/// The kernel's types.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Where what is installed is held.
const DIRECTORY: &str = "/sys/fs/bpf/clearway-tcp";
/// Held by whoever installs or removes.
const LOCK: &str = "/run/clearway-tcp.lock";
/// `cong_control` has four arguments from this version on.
const FOUR_ARGUMENTS_FROM: (u32, u32) = (6, 10);
/// The name by which sockets choose it.
pub const NAME: &str = "swift";

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// An error, in short.
pub(crate) fn error(message: impl Into<String>, remedy: impl Into<String>) -> KernelError {
    KernelError { message: message.into(), remedy: remedy.into() }
}

/// The lock of the installation, held for as long as somebody changes it.
#[derive(Debug)]
struct Installation {
    _lock: File,
}

impl Installation {
    /// Takes the lock.
    fn lock() -> Result<Installation, KernelError> {
        let lock = File::create(LOCK).map_err(|e| needs_root(&e, LOCK))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Installation { _lock: lock }),
            Err(Errno::WOULDBLOCK) => {
                Err(error("another clearwayd installs or removes right now", "try again when it is done"))
            }
            Err(e) => Err(needs_root(&e.into(), LOCK)),
        }
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// The error of a file or folder that cannot be used.
pub(crate) fn needs_root(e: &io::Error, place: impl AsRef<Path>) -> KernelError {
    let place = place.as_ref().display();
    match e.kind() {
        ErrorKind::PermissionDenied => error(
            format!("{place}: permission denied"),
            "run it as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON",
        ),
        _ => error(format!("{place}: {e}"), "see that the place exists and can be written"),
    }
}

/// Returns whether Swift is installed.
pub fn is_installed() -> Result<bool, KernelError> {
    path("link").try_exists().map_err(|e| needs_root(&e, DIRECTORY))
}

/// Returns whether connections tell how long acknowledgements waited.
pub fn echoes() -> Result<bool, KernelError> {
    path("echo").try_exists().map_err(|e| needs_root(&e, DIRECTORY))
}

/// Sees whether this kernel tells its types, without which it takes no program.
pub(crate) fn check_types() -> Result<(), KernelError> {
    if !Path::new(BTF).exists() {
        let remedy = "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of the distributions are";
        return Err(error(format!("{BTF}: not there, so nobody knows this kernel's types"), remedy));
    }
    Ok(())
}

/// Sees whether this kernel can take it at all.
fn check_kernel() -> Result<(), KernelError> {
    check_types()?;
    let mounted = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_bpf =
        |line: &str| line.split(' ').nth(1) == Some(FILE_SYSTEM) && line.split(' ').nth(2) == Some("bpf");
    if !mounted.lines().any(is_bpf) {
        let remedy = format!("mount it: mount -t bpf bpf {FILE_SYSTEM}");
        return Err(error(format!("{FILE_SYSTEM}: no BPF file system is mounted there"), remedy));
    }
    Ok(())
}

/// The kernel's version, its first two numbers.
fn version() -> Option<(u32, u32)> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A part of the object that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The congestion control.
    Control,
    /// The congestion control, and what tells the other end how long acknowledgements waited.
    ControlAndEcho,
    /// The program alone that a test asks for the arithmetic.
    Arithmetic,
}

/// The error of a program that this kernel does not load.
pub(crate) fn refused(e: &libbpf_rs::Error) -> KernelError {
    let remedy = match e.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => {
            "run it as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; if you do, this kernel is locked down (/sys/kernel/security/lockdown), or its verifier refuses the program: report its version (uname -r)"
        }
        _ => "Linux 6.4 or newer is needed; report its version (uname -r) if this is one",
    };
    error(format!("the kernel does not take the program: {e}"), remedy)
}

/// The folder at which the control groups (version 2) are mounted, if they are.
pub(crate) fn groups() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = |line: &str| line.split(' ').map(str::to_string).collect::<Vec<String>>();
    let root = mounts.lines().map(fields).find(|fields| fields.get(2).is_some_and(|kind| kind == "cgroup2"));
    root.and_then(|fields| fields.get(1).map(PathBuf::from))
}

/// Loads a part of the object.
fn load(part: Part) -> Result<Object, KernelError> {
    // What libbpf says goes into the error, if there is one.
    set_print(None);
    let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(|e| refused(&e))?;
    for mut program in open.progs_mut() {
        let is_loaded = match program.name().to_str() {
            Some("swift_vector") => part == Part::Arithmetic,
            Some("swift_echo") => part == Part::ControlAndEcho,
            _ => part != Part::Arithmetic,
        };
        program.set_autoload(is_loaded);
    }
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata") {
            let two = version().is_some_and(|version| version < FOUR_ARGUMENTS_FROM);
            map.set_initial_value(&u32::from(two).to_ne_bytes()).map_err(|e| refused(&e))?;
        }
        if part == Part::Arithmetic && map.name() == NAME {
            map.set_autocreate(false).map_err(|e| refused(&e))?;
        }
    }
    open.load().map_err(|e| refused(&e))
}

/// Loads Swift with these parameters, registers it and returns; it stays. With `echo`, all connections that begin from now on tell
/// their other ends how long acknowledgements waited here, and learn the same of them.
pub fn install(parameters: &[u8; BYTES], echo: bool) -> Result<(), KernelError> {
    check_kernel()?;
    let _installation = Installation::lock()?;
    if is_installed()? {
        let remedy =
            "change its parameters with clearwayd tcp set, or remove it first with clearwayd tcp remove";
        return Err(error("it is installed already", remedy));
    }
    clear_directory()?;
    fs::create_dir(DIRECTORY).map_err(|e| needs_root(&e, DIRECTORY))?;
    let outcome = register(parameters, echo);
    if outcome.is_err() {
        let _ = clear_directory();
    }
    outcome
}

fn register(parameters: &[u8; BYTES], echo: bool) -> Result<(), KernelError> {
    let mut object = load(if echo { Part::ControlAndEcho } else { Part::Control })?;
    let failed = |what: &str| {
        let what = what.to_string();
        move |e: libbpf_rs::Error| error(format!("{what}: {e}"), "see that the BPF file system has room")
    };
    let mut link = None;
    let mut sockets = None;
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some("parameters") => {
                map.update(&0_u32.to_ne_bytes(), parameters, MapFlags::ANY)
                    .map_err(failed("the parameters"))?;
                map.pin(path("parameters")).map_err(failed("the parameters"))?;
            }
            Some("closed") => map.pin(path("closed")).map_err(failed("the sums"))?,
            Some("sockets") => sockets = Some(MapHandle::try_from(&map).map_err(failed("the sockets"))?),
            Some(NAME) => {
                let attached = map.attach_struct_ops().map_err(|e| match e.kind() {
                    libbpf_rs::ErrorKind::AlreadyExists => error(
                        format!("another congestion control has the name {NAME}"),
                        "remove that one first: bpftool struct_ops list shows it",
                    ),
                    _ => error(
                        format!("the kernel does not register it: {e}"),
                        "Linux 6.4 or newer is needed; report its version (uname -r) if this is one",
                    ),
                })?;
                link = Some(attached);
            }
            _ => {}
        }
    }
    let sockets = sockets.expect("the object has this map");
    let list = object.progs_mut().find(|program| program.name() == "swift_list").expect("the object has it");
    let mut list = list.attach_iter(sockets.as_fd()).map_err(failed("the list of sockets"))?;
    list.pin(path("sockets")).map_err(failed("the list of sockets"))?;
    if echo {
        attach_echo(&object)?;
    }
    link.expect("the object has this map").pin(path("link")).map_err(failed("the registration"))
}

/// Lets the sockets of all control groups tell and hear how long acknowledgements waited.
fn attach_echo(object: &Object) -> Result<(), KernelError> {
    let Some(root) = groups() else {
        let remedy = "mount it: mount -t cgroup2 none DIRECTORY; or install without --echo";
        return Err(error("no control groups (version 2) are mounted, by which sockets are reached", remedy));
    };
    let group = File::open(&root).map_err(|e| needs_root(&e, &root))?;
    let failed = |e: libbpf_rs::Error| error(format!("{}: {e}", root.display()), "install without --echo");
    let program =
        object.progs_mut().find(|program| program.name() == "swift_echo").expect("the object has it");
    let mut link = program.attach_cgroup(group.as_raw_fd()).map_err(failed)?;
    link.pin(path("echo")).map_err(failed)
}

/// Removes every file there is of an installation. What sockets use of it stays in the kernel until they are closed.
fn clear_directory() -> Result<(), KernelError> {
    for name in ["link", "echo", "sockets", "closed", "parameters"] {
        match fs::remove_file(path(name)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(needs_root(&e, path(name))),
            _ => {}
        }
    }
    match fs::remove_dir(DIRECTORY) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(needs_root(&e, DIRECTORY)),
        _ => Ok(()),
    }
}

/// Removes Swift: no socket can choose it any more, and those that have it keep it. Returns whether it was installed.
pub fn remove() -> Result<bool, KernelError> {
    let _installation = Installation::lock()?;
    let was_installed = is_installed()?;
    clear_directory()?;
    Ok(was_installed)
}

fn pinned_parameters() -> Result<MapHandle, KernelError> {
    if !is_installed()? {
        return Err(not_installed());
    }
    MapHandle::from_pinned_path(path("parameters"))
        .map_err(|e| error(format!("{}: {e}", path("parameters").display()), "run it as root"))
}

fn not_installed() -> KernelError {
    error("it is not installed", "install it first: clearwayd tcp install")
}

/// Changes the parameters of all sockets at once.
pub fn set_parameters(parameters: &[u8; BYTES]) -> Result<(), KernelError> {
    let map = pinned_parameters()?;
    map.update(&0_u32.to_ne_bytes(), parameters, MapFlags::ANY)
        .map_err(|e| error(format!("the parameters: {e}"), "run it as root"))
}

/// Returns the parameters that sockets use now.
pub fn parameters() -> Result<[u8; BYTES], KernelError> {
    let map = pinned_parameters()?;
    let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
    let value = value.map_err(|e| error(format!("the parameters: {e}"), "run it as root"))?;
    let other = || error("what is installed is of another version", "remove it and install it anew");
    value.and_then(|bytes| bytes.try_into().ok()).ok_or_else(other)
}

/// Returns the sockets that have Swift, of all network namespaces.
pub fn sockets() -> Result<Vec<Socket>, KernelError> {
    if !is_installed()? {
        return Err(not_installed());
    }
    let bytes = fs::read(path("sockets")).map_err(|e| needs_root(&e, path("sockets")))?;
    decode(&bytes)
        .ok_or_else(|| error("what is installed is of another version", "remove it and install it anew"))
}

/// Returns what the sockets have counted that are closed by now.
pub fn closed() -> Result<Counters, KernelError> {
    let other = || error("what is installed is of another version", "remove it and install it anew");
    let map = MapHandle::from_pinned_path(path("closed")).map_err(|_| other())?;
    let of_processors =
        map.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().ok_or_else(other)?;
    let mut sum = Counters::default();
    for bytes in of_processors {
        sum.add(&Counters::decode(&bytes).ok_or_else(other)?);
    }
    Ok(sum)
}

/// The kernel's arithmetic by itself, for a test that holds it against [`clearway_proto::swift`].
pub mod arithmetic {
    use libbpf_rs::{Object, ProgramInput};

    use super::{load, KernelError, Part};

    /// The program that computes a vector.
    #[derive(Debug)]
    pub struct Arithmetic(Object);

    impl Arithmetic {
        /// Loads the program.
        pub fn load() -> Result<Arithmetic, KernelError> {
            load(Part::Arithmetic).map(Arithmetic)
        }

        /// Computes a vector (`struct vector` of `bpf/swift.bpf.c`), in place.
        pub fn compute(&mut self, vector: &mut [u8]) {
            let program =
                self.0.progs_mut().find(|program| program.name() == "swift_vector").expect("it is loaded");
            let input = ProgramInput { context_in: Some(vector), ..ProgramInput::default() };
            program.test_run(input).expect("the program runs");
        }
    }
}
