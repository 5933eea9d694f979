//! The two ports of a relay, and the device that leads from each to the process and back (TAP).
//!
//! What the process reads from a device came in on its port, and what it writes leaves there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tun_rs::SyncDevice;

use super::figures::State;
use super::filters;
use crate::daemon::output::Problem;
use crate::tap;

/// Frames that wait for the process in the kernel: what comes at 10 Gb/s in more than 10 ms.
const RING: u32 = 16_384;

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: i32,
    /// Its address.
    pub address: [u8; 6],
    /// The largest payload of a frame, in bytes.
    pub mtu: u32,
}

/// The devices of a relay, L before R.
pub struct Devices {
    /// The ports.
    pub ports: [Device; 2],
    /// The devices that lead to the process.
    pub stores: [Device; 2],
    /// Files of the stores: what is read from one came in on its port, and what is written leaves there.
    pub queues: [SyncDevice; 2],
}

impl Device {
    /// The device of this name in this network namespace.
    pub fn find(name: &str) -> Result<Device, Problem> {
        let folder = Path::new("/sys/class/net").join(name);
        let read = |what: &str| {
            fs::read_to_string(folder.join(what)).map(|text| text.trim().to_string()).map_err(|error| {
                let remedy = "ip link shows the interfaces that there are";
                match error.kind() {
                    ErrorKind::NotFound => {
                        Problem::new(format!("{name}: there is no such interface"), remedy)
                    }
                    _ => Problem::new(format!("{name}: {error}"), remedy),
                }
            })
        };
        // ARPHRD_ETHER
        if read("type")? != "1" {
            return Err(Problem::new(format!("{name}: it is no Ethernet interface"), "take one that is"));
        }
        let odd = |what: &str| Problem::bare(format!("{name}: its {what} cannot be read"));
        let octets: Vec<u8> =
            read("address")?.split(':').filter_map(|octet| u8::from_str_radix(octet, 16).ok()).collect();
        Ok(Device {
            name: name.into(),
            index: read("ifindex")?.parse().map_err(|_| odd("number"))?,
            address: octets.try_into().map_err(|_| odd("address"))?,
            mtu: read("mtu")?.parse().map_err(|_| odd("MTU"))?,
        })
    }

    /// Returns how it is now; none where that cannot be read. One of the same name and another number is another device.
    pub fn state(&self) -> Option<State> {
        let folder = Path::new("/sys/class/net").join(&self.name);
        let read = |what: &str| fs::read_to_string(folder.join(what)).map(|text| text.trim().to_string());
        match read("ifindex") {
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(State::Gone),
            // Too few descriptors, for example.
            Err(_) => return None,
            Ok(index) if index.parse() != Ok(self.index) => return Some(State::Gone),
            Ok(_) => {}
        }
        let flags = read("flags").ok()?;
        let is_up = u32::from_str_radix(flags.trim_start_matches("0x"), 16).is_ok_and(|flags| flags & 1 == 1);
        if !is_up {
            return Some(State::Down);
        }
        // It cannot be read of a device that has just been set down.
        let has_carrier = read("carrier").ok()? == "1";
        Some(if has_carrier { State::Up } else { State::NoCarrier })
    }
}

/// The two ports, if a relay can be between them.
pub fn ports(local: &str, remote: &str) -> Result<[Device; 2], Problem> {
    let ports = [Device::find(local)?, Device::find(remote)?];
    if ports[0].index == ports[1].index {
        let message = format!("{local} is both the local and the remote port");
        return Err(Problem::new(message, "a relay is between two interfaces"));
    }
    if ports[0].mtu != ports[1].mtu {
        let [local, remote] = &ports;
        let message =
            format!("the MTU of {} is {}, that of {} is {}", local.name, local.mtu, remote.name, remote.mtu);
        let remedy = format!("give both the same: ip link set dev {} mtu {}", remote.name, local.mtu);
        return Err(Problem::new(message, &remedy));
    }
    if let Some(down) = ports.iter().find(|port| port.state() == Some(State::Down)) {
        let remedy = format!("ip link set dev {} up", down.name);
        return Err(Problem::new(format!("{} is down", down.name), &remedy));
    }
    ports.iter().try_for_each(|port| filters::check(&port.name))?;
    Ok(ports)
}

impl Devices {
    /// Makes the devices that lead from these ports to the process. They go with it, however it ends.
    pub fn open(ports: [Device; 2]) -> Result<Devices, Problem> {
        let open = |port: &Device| -> Result<(Device, SyncDevice), Problem> {
            // One whose place is taken has the first name.
            let is_taken = |name: &String| Path::new("/sys/class/net").join(name).exists();
            let first = format!("relay{}", port.index);
            let name = if is_taken(&first) { first + "b" } else { first };
            let mtu = u16::try_from(port.mtu).unwrap_or(u16::MAX);
            let device = tap::open(&name, mtu, RING)?;
            // Nobody else speaks here: without an address of its own and without IPv6 the host sends nothing.
            let quiet = [
                format!("ip link set dev {name} addrgenmode none"),
                format!("tc qdisc replace dev {name} root noqueue"),
                format!("ip link set dev {name} arp off up"),
                format!("ip link set dev {} promisc on", port.name),
            ];
            quiet.iter().try_for_each(|command| run(command))?;
            Ok((Device::find(&name)?, device))
        };
        let ((local, of_local), (remote, of_remote)) = (open(&ports[0])?, open(&ports[1])?);
        Ok(Devices { ports, stores: [local, remote], queues: [of_local, of_remote] })
    }
}

/// Takes from interfaces what relays have left there, whatever state they are in, and nothing of anybody else. The link is cut from then
/// on. An interface that is gone does not keep the other from being cleared.
pub fn remove(local: &str, remote: &str) -> Result<(), Problem> {
    let clear = |name: &str| {
        let device = Device::find(name)?;
        let had_filter = filters::remove(&device.name)?;
        if had_filter {
            run(&format!("ip link set dev {name} promisc off"))?;
        }
        Ok(had_filter)
    };
    let cleared: [Result<bool, Problem>; 2] = [clear(local), clear(remote)];
    let mut had_any = false;
    for cleared in cleared {
        had_any |= cleared?;
    }
    if had_any {
        return Ok(());
    }
    let message = format!("neither {local} nor {remote} has a filter of a relay");
    Err(Problem::new(message, "name the interfaces as the relay was given them"))
}

/// Leaves ports as they were before a start that has failed, but for what an earlier relay has left there.
pub(super) fn tidy(ports: &[Device; 2]) {
    for port in ports.iter().filter(|port| !filters::has_ours(&port.name)) {
        // It is told already why there is no relay.
        let _ = run(&format!("ip link set dev {} promisc off", port.name));
    }
}

fn run(command: &str) -> Result<(), Problem> {
    filters::run(command).map(|_| ())
}
