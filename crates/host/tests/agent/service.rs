//! What the service manager hears of an agent, and what systemd says of its unit.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::{Agent, Folder};

fn hear(manager: &UnixDatagram, words: &str) -> String {
    let mut text = [0; 512];
    loop {
        let length = manager.recv(&mut text).expect(words);
        let said = String::from_utf8_lossy(&text[..length]).into_owned();
        if said.contains(words) {
            return said;
        }
    }
}

#[test]
fn the_service_manager_hears_of_start_reload_life_and_end() {
    let folder = Folder::new("notify");
    let socket = folder.path("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut command = folder.command(&[]);
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "1000");
    let mut agent = Agent::spawn(&mut command);
    assert_eq!(hear(&manager, ""), "READY=1\n");
    assert_eq!(hear(&manager, "STATUS"), "STATUS=idle\n");
    agent.signal(Signal::HUP);
    assert!(hear(&manager, "RELOADING=1").contains("\nMONOTONIC_USEC="));
    hear(&manager, "READY=1");
    agent.wait_for("settings and certificates were read again");
    hear(&manager, "WATCHDOG=1");
    agent.signal(Signal::TERM);
    hear(&manager, "STOPPING=1");
}

/// The unit that is packed: systemd finds nothing wrong with it, but that the program is not installed here.
#[test]
fn systemd_understands_the_unit() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/clearwayd-agent.service");
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        println!("skipped: systemd-analyze is not installed");
        return;
    }
    let folder = Folder::new("unit");
    let program = env!("CARGO_BIN_EXE_clearwayd");
    let here = std::fs::read_to_string(&unit).unwrap().replace("/usr/bin/clearwayd", program);
    let copy = folder.path("clearwayd-agent.service");
    std::fs::write(&copy, here).unwrap();
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no", &copy]).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("clearwayd-agent")).collect();
    assert!(verified.status.success() && ours.is_empty(), "{said}");
}
