//! Files by the names that a person gives: the file to send, and the file that a transfer replaces. What is no regular
//! file is refused, before it could be waited for or replaced.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, FileType, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{fchown, FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{access, linkat, open, Access, AtFlags, Mode, OFlags, CWD};
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile};

/// The mode of a new file, of which the process's umask takes its part.
const NEW_FILE: u32 = 0o666;
/// The bits of a mode that are kept: who may read, write and execute.
const PERMISSIONS: u32 = 0o777;
/// The longest name, in bytes, that a temporary file's name repeats: names have at most 255 bytes.
const LONGEST_REPEATED: usize = 200;
/// What the name of a temporary file ends in.
const PARTIAL: &str = ".partial";

/// A file that cannot be what it was named for, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The name that was given.
    pub named: PathBuf,
    /// The fault, without the name.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for FileError {}

fn fault(path: &Path, what: impl fmt::Display, remedy: &'static str) -> FileError {
    FileError { named: path.to_path_buf(), what: what.to_string(), remedy }
}

/// Opens a file that is to be sent, and tells its length.
pub fn open_source(path: &Path) -> Result<(File, u64), FileError> {
    let remedy = "--file takes a regular file that can be read";
    let told = |error: io::Error| fault(path, error, remedy);
    let regular = |metadata: &Metadata| match what_it_is(metadata.file_type()) {
        None => Ok(()),
        Some(what) => Err(fault(path, format!("{what}, not a file of a known length"), remedy)),
    };
    // To open a FIFO is to wait for its writer, and to open some devices is to move them.
    regular(&std::fs::metadata(path).map_err(told)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: File = open(path, flags, Mode::empty()).map_err(|error| told(error.into()))?.into();
    let metadata = file.metadata().map_err(told)?;
    regular(&metadata)?;
    // Files of the kernel, as in /proc, have a length of zero and content all the same.
    if metadata.len() == 0 && file.read_at(&mut [0], 0).map_err(told)? > 0 {
        return Err(fault(path, "its length is not known before it is read", "copy it to a file first"));
    }
    Ok((file, metadata.len()))
}

/// Returns what a file is, unless it is a regular one.
fn what_it_is(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("a directory")
    } else if kind.is_fifo() {
        Some("a FIFO")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}

/// Where a transfer is to be kept: a regular file, or a name that is free.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The file itself, where a symbolic link was named.
    path: PathBuf,
    folder: PathBuf,
    /// The file that is replaced.
    replaced: Option<Metadata>,
}

impl Destination {
    /// Finds out what is at `named`. A symbolic link is followed: the file to which it leads is replaced, and the link
    /// stays.
    pub fn find(named: &Path) -> Result<Destination, FileError> {
        let remedy =
            "--out takes a file that can be replaced or a name that is free; --discard keeps nothing";
        let told = |error: io::Error| fault(named, error, remedy);
        let found = match (named.metadata(), named.is_symlink()) {
            (Ok(metadata), _) => Some(metadata),
            (Err(error), link) if error.kind() == ErrorKind::NotFound => {
                if link {
                    return Err(fault(named, "a symbolic link to a file that does not exist", remedy));
                }
                None
            }
            (Err(error), _) => return Err(told(error)),
        };
        if let Some(what) = found.as_ref().and_then(|found| what_it_is(found.file_type())) {
            return Err(fault(named, format!("{what}, not a file that could be replaced"), remedy));
        }
        let path = if named.is_symlink() { named.canonicalize().map_err(told)? } else { named.to_path_buf() };
        if path.file_name().is_none() || named.as_os_str().as_bytes().ends_with(b"/") {
            return Err(fault(named, "the name of a directory, not of a file", remedy));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_path_buf();
        if !folder.is_dir() {
            let what = format!("{} is not a directory", folder.display());
            return Err(fault(named, what, "make the directory first"));
        }
        if found.is_some() {
            access(&path, Access::WRITE_OK).map_err(|error| told(error.into()))?;
        }
        access(&folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
            let what = format!("no file can be made in {}: {}", folder.display(), io::Error::from(error));
            fault(named, what, remedy)
        })?;
        Ok(Destination { path, folder, replaced: found })
    }

    /// A temporary file that becomes the destination. Where the file system can, it has no name until then, so that a process
    /// that is killed leaves nothing. No more people can read it than could read the file that it replaces.
    pub fn temporary(&self) -> io::Result<Temporary> {
        let mode = self.replaced.as_ref().map_or(NEW_FILE, |replaced| replaced.mode() & PERMISSIONS);
        let unnamed = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match open(&self.folder, unnamed, Mode::from_raw_mode(mode)) {
            Ok(file) => Ok(Temporary::Unnamed(file.into())),
            // So say file systems that need a name, and kernels that know of no other files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {
                let permissions = Permissions::from_mode(mode);
                let (prefix, folder) = (self.prefix(), &self.folder);
                let mut builder = Builder::new();
                let named = builder.prefix(&prefix).suffix(PARTIAL).permissions(permissions);
                named.tempfile_in(folder).map(Temporary::Named)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What temporary files beside this destination are called, up to what makes them unlike.
    fn prefix(&self) -> OsString {
        let name = self.path.file_name().unwrap_or_default();
        let mut prefix =
            if name.len() <= LONGEST_REPEATED { name } else { "clearwayd".as_ref() }.to_os_string();
        prefix.push(".");
        prefix
    }

    /// Gives `file` this destination's name. It takes over the mode of the file that it replaces, and the owner where
    /// that is allowed.
    pub fn replace_by(&self, file: Temporary) -> io::Result<()> {
        if let Some(replaced) = &self.replaced {
            let file = file.as_file();
            let now = file.metadata()?;
            if (now.uid(), now.gid()) != (replaced.uid(), replaced.gid()) {
                // Only a privileged process may give a file away; the file is then its maker's.
                let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
            }
            let mode = replaced.mode() & PERMISSIONS;
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        let named = match file {
            Temporary::Named(file) => file.into_temp_path(),
            Temporary::Unnamed(file) => {
                let open = format!("/proc/self/fd/{}", file.as_raw_fd());
                let link = |path: &Path| {
                    linkat(CWD, open.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
                };
                let mut builder = Builder::new();
                let named = builder.prefix(&self.prefix()).suffix(PARTIAL).make_in(&self.folder, link)?;
                named.into_temp_path()
            }
        };
        named.persist(&self.path).map_err(|error| error.error)
    }
}

/// A file that has not got its name yet; it is gone when this is dropped.
#[derive(Debug)]
pub enum Temporary {
    /// One without any name.
    Unnamed(File),
    /// One beside the destination.
    Named(NamedTempFile),
}

impl Temporary {
    /// The file, to be written.
    pub fn as_file(&self) -> &File {
        match self {
            Temporary::Unnamed(file) => file,
            Temporary::Named(file) => file.as_file(),
        }
    }
}
