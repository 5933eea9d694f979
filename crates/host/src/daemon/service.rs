//! What the service manager is told (systemd's `sd_notify` protocol): datagrams to the socket that it names.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::testbed::clock::monotonic_ns;

/// The service manager, where one has started this process.
#[derive(Debug, Default)]
pub struct Service {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// The longest time, in nanoseconds, between two signs of life; none where nobody asks for them.
    watchdog_ns: Option<u64>,
    alive_ns: u64,
    status: String,
}

impl Service {
    /// The service manager that the environment names: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    pub fn from_environment() -> io::Result<Service> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let is_meant = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|_| is_meant);
        match std::env::var_os("NOTIFY_SOCKET") {
            Some(name) if !name.is_empty() => Service::at(&name, watchdog),
            _ => Ok(Service::default()),
        }
    }

    /// The service manager behind a socket: a path, or `@` and a name without a file. It wants a sign of life every `watchdog_us`
    /// microseconds, if it says so.
    pub fn at(name: &OsStr, watchdog_us: Option<u64>) -> io::Result<Service> {
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(name),
        };
        let (socket, address) = (UnixDatagram::unbound()?, address?);
        // Nobody waits for a manager that does not read.
        socket.set_nonblocking(true)?;
        let watchdog_ns = watchdog_us.map(|us| us.saturating_mul(1000));
        Ok(Service { socket: Some((socket, address)), watchdog_ns, ..Service::default() })
    }

    /// Returns whether a service manager has started this process.
    pub fn is_there(&self) -> bool {
        self.socket.is_some()
    }

    /// Tells that this process does its work.
    pub fn ready(&mut self) {
        self.tell("READY=1\n");
    }

    /// Tells that settings are being read again; [`Self::ready`] follows.
    pub fn reloading(&mut self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}\n", monotonic_ns() / 1000));
    }

    /// Tells that this process is about to end.
    pub fn stopping(&mut self) {
        self.tell("STOPPING=1\n");
    }

    /// Tells in a line what this process does, unless it was told so already.
    pub fn status(&mut self, line: &str) {
        if self.socket.is_some() && self.status != line {
            self.tell(&format!("STATUS={line}\n"));
            self.status = line.into();
        }
    }

    /// Gives a sign of life when half of the time for it is over. To be called often.
    pub fn alive(&mut self) {
        let Some(longest) = self.watchdog_ns else { return };
        let now = monotonic_ns();
        if now.saturating_sub(self.alive_ns) >= longest / 2 {
            self.alive_ns = now;
            self.tell("WATCHDOG=1\n");
        }
    }

    /// A manager that does not hear it ends or restarts this process by itself.
    fn tell(&self, state: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut text = [0; 256];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    #[test]
    fn the_manager_is_told_each_thing_once() {
        let name = format!("clearway-service-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let mut service = Service::at(OsStr::new(&format!("@{name}")), Some(3_600_000_000)).unwrap();
        service.ready();
        assert_eq!(heard(&manager), "READY=1\n");
        service.reloading();
        assert!(heard(&manager).starts_with("RELOADING=1\nMONOTONIC_USEC="));
        for line in ["idle", "idle", "running"] {
            service.status(line);
        }
        assert_eq!([heard(&manager), heard(&manager)], ["STATUS=idle\n", "STATUS=running\n"]);
        // A machine that has been up for less than half an hour owes no sign of life yet.
        service.alive_ns = 0;
        service.watchdog_ns = Some(2);
        service.alive();
        service.watchdog_ns = Some(u64::MAX);
        service.alive();
        service.stopping();
        assert_eq!([heard(&manager), heard(&manager)], ["WATCHDOG=1\n", "STOPPING=1\n"]);
    }

    #[test]
    fn without_a_manager_nothing_is_told() {
        let mut service = Service::default();
        service.ready();
        service.status("idle");
        service.alive();
        assert!(service.status.is_empty());
    }
}
