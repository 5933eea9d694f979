//! The daemon and the files that a person names: what is no regular file is refused, and what is replaced keeps its mode.

use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::daemon::{json, send, with_keys, Receiver};
use crate::network::{is_generated, partials, scratch};

/// An empty directory of a test's own, which is removed when it has passed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = scratch(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

fn make_fifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// One file of each kind that is no regular one, with the words that tell which.
fn special_files(folder: &Folder) -> Vec<(String, &'static str)> {
    make_fifo(&folder.file("fifo"));
    // The listener is dropped at once, and its file stays.
    UnixListener::bind(folder.file("socket")).unwrap();
    fs::create_dir(folder.file("directory")).unwrap();
    symlink(folder.file("fifo"), folder.file("link")).unwrap();
    vec![
        (folder.file("fifo"), "a FIFO"),
        (folder.file("link"), "a FIFO"),
        (folder.file("socket"), "a socket"),
        (folder.file("directory"), "a directory"),
        ("/dev/null".into(), "a device"),
        // Standard output is a pipe here.
        ("/dev/stdout".into(), "a FIFO"),
    ]
}

/// Asserts that the daemon refuses a command line: it ends with status 2, and names the file and its fault.
fn assert_refused(args: &[&str], path: &str, words: &str) {
    // What is not refused would wait for a peer, or at a FIFO for its writer.
    let mut command = Command::new("timeout");
    let output =
        command.args(["20", env!("CARGO_BIN_EXE_clearwayd")]).args(with_keys(args)).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
    assert!(err.starts_with(&format!("error: {path}: {words}")), "{args:?}: {err}");
    assert!(err.lines().count() == 2, "no remedy: {err}");
}

#[test]
fn what_is_no_regular_file_is_neither_sent_nor_replaced() {
    let folder = Folder::new("special");
    for (path, what) in special_files(&folder) {
        let before = fs::symlink_metadata(&path).unwrap();
        assert_refused(&["send", "--to", "127.0.0.1:9", "--file", &path], &path, what);
        assert_refused(&["receive", "--listen", "127.0.0.1:0", "--out", &path], &path, what);
        let after = fs::symlink_metadata(&path).unwrap();
        assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()), "{path}");
    }
    assert_eq!(folder.names(), ["directory", "fifo", "link", "socket"]);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_received() {
    let folder = Folder::new("unwritable");
    let receive = |path: &str, words: &str| {
        assert_refused(&["receive", "--listen", "127.0.0.1:0", "--out", path], path, words);
    };
    symlink("nowhere", folder.file("dangling")).unwrap();
    receive(&folder.file("dangling"), "a symbolic link to a file that does not exist");
    symlink("circle", folder.file("circle")).unwrap();
    receive(&folder.file("circle"), "Too many levels of symbolic links");
    receive(&folder.file("missing/"), "the name of a directory");
    receive(&folder.file("missing/file"), &format!("{} is not a directory", folder.file("missing")));
    fs::write(folder.file("file"), "").unwrap();
    receive(&folder.file("file/within"), "Not a directory");
    receive(&folder.file(&"x".repeat(256)), "File name too long");
    assert_eq!(folder.names(), ["circle", "dangling", "file"]);
}

/// Root may write everywhere, so that the kernel is asked as somebody else.
#[test]
fn a_file_or_a_directory_that_is_write_protected_is_refused() {
    let folder = Folder::new("protected");
    let daemon = env!("CARGO_BIN_EXE_clearwayd");
    let mut plain = vec![];
    if fs::metadata(&folder.0).unwrap().uid() == 0 {
        plain.extend(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        let may = Command::new("setpriv").args(&plain[1..]).args([daemon, "--version"]).output();
        if !may.is_ok_and(|may| may.status.success()) {
            println!("skipped: nobody else may start {daemon}");
            return;
        }
    }
    plain.push(daemon);
    let receive = |path: &str, words: &str| {
        let mut command = Command::new(plain[0]);
        command.args(&plain[1..]).args(with_keys(&["receive", "--listen", "127.0.0.1:0", "--out", path]));
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.starts_with(&format!("error: {path}: {words}")), "{err}");
    };
    fs::write(folder.file("file"), "").unwrap();
    fs::set_permissions(folder.file("file"), Permissions::from_mode(0o444)).unwrap();
    receive(&folder.file("file"), "Permission denied");
    fs::set_permissions(&folder.0, Permissions::from_mode(0o555)).unwrap();
    receive(&folder.file("new"), "no file can be made in");
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
}

/// Files of `/proc` are regular, and their length is said to be zero.
#[test]
fn a_file_whose_length_is_not_known_is_not_sent_as_an_empty_one() {
    let path = "/proc/self/status";
    assert_refused(&["send", "--to", "127.0.0.1:9", "--file", path], path, "its length is not known");
}

/// Transfers this many generated bytes to the file `out`, and returns the receiver's report.
fn transfer(out: &str, bytes: &str) -> String {
    let receiver = Receiver::start(&["--out", out, "--once"]);
    let sent = send(receiver.address, &["--operations", "1", "--size", bytes]);
    assert!(sent.status.success(), "{sent:?}");
    let (code, report, err) = receiver.end();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    report
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode_and_its_owner() {
    let folder = Folder::new("modes");
    let out = folder.file("out");
    for mode in [0o600, 0o640, 0o755, 0o666] {
        fs::write(&out, "something longer than what comes").unwrap();
        fs::set_permissions(&out, Permissions::from_mode(mode)).unwrap();
        let mine = fs::metadata(&out).unwrap().uid();
        let someone = if mine == 0 { 65534 } else { mine };
        std::os::unix::fs::chown(&out, Some(someone), None).unwrap();
        transfer(&out, "10B");
        let found = fs::metadata(&out).unwrap();
        assert_eq!((found.mode() & 0o7777, found.uid()), (mode, someone));
        assert!(is_generated(Path::new(&out), 10));
    }
    assert_eq!(folder.names(), ["out"]);
}

#[test]
fn a_symbolic_link_stays_and_the_file_behind_it_is_replaced() {
    let folder = Folder::new("links");
    fs::create_dir(folder.file("elsewhere")).unwrap();
    fs::write(folder.file("elsewhere/real"), "old").unwrap();
    symlink("elsewhere/real", folder.file("link")).unwrap();
    transfer(&folder.file("link"), "100kB");
    assert_eq!(fs::read_link(folder.file("link")).unwrap(), Path::new("elsewhere/real"));
    assert!(is_generated(&folder.0.join("elsewhere/real"), 100_000));
    assert_eq!(folder.names(), ["elsewhere", "link"]);
}

/// The name of the destination leaves no room for more, or a file beside it is named as a temporary file might be.
#[test]
fn the_temporary_file_is_nobody_elses() {
    let folder = Folder::new("names");
    let long = "n".repeat(255);
    for name in [long.as_str(), "copy"] {
        let beside = folder.file("copy.partial");
        fs::write(&beside, "mine").unwrap();
        transfer(&folder.file(name), "10B");
        assert_eq!(fs::read_to_string(&beside).unwrap(), "mine");
    }
    assert_eq!(folder.names(), ["copy", "copy.partial", long.as_str()]);
}

/// The destination became a FIFO after the receiver had started.
#[test]
fn a_destination_that_became_a_fifo_meanwhile_is_not_replaced() {
    let folder = Folder::new("meanwhile");
    let out = folder.file("out");
    let receiver = Receiver::start(&["--out", &out, "--once"]);
    make_fifo(&out);
    let sent = send(receiver.address, &["--operations", "1", "--size", "10B", "--json"]);
    assert_eq!(sent.status.code(), Some(1));
    let (code, _, err) = receiver.end();
    assert_eq!(code, Some(1));
    assert!(err.starts_with(&format!("error: {out}: a FIFO, not a file that could be replaced")), "{err}");
    assert_eq!(folder.names(), ["out"]);
}

/// A limit of a file's length stands for a full disk: both end the write with an error. The signal that comes with it
/// would end a process that does not expect it.
#[test]
fn a_file_that_finds_no_room_is_said_at_both_ends_and_nothing_is_left() {
    let folder = Folder::new("limit");
    let out = folder.file("out");
    fs::write(&out, "old").unwrap();
    let limited = ["-c", "ulimit -f 100; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_clearwayd")];
    let receive = ["receive", "--listen", "127.0.0.1:0", "--out", &out, "--once"];
    let mut command = Command::new("bash");
    let receiver = Receiver::spawn(command.args(limited).args(with_keys(&receive)));
    let sent = send(receiver.address, &["--operations", "1", "--size", "10MB", "--json"]);
    let told = json(&sent);
    assert_eq!((sent.status.code(), &told["ok"]), (Some(1), &false.into()), "{told}");
    assert!(told["error"].as_str().unwrap().contains("could not read or write its file"), "{told}");
    let (code, report, err) = receiver.end();
    assert_eq!(code, Some(1), "{err}");
    assert!(err.starts_with(&format!("error: {out}: File too large")), "{err}");
    assert!(report.contains("(failed)"), "{report}");
    assert!(partials(Path::new(&out)).is_empty());
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
}
