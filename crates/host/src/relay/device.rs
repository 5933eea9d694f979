//! The two ports of a relay, and the device that leads from each to the process and back (TAP).
//!
//! What the process reads from a device came in on its port, and what it writes leaves there.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Command;

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::daemon::output::Problem;

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

    /// Returns whether it is up.
    fn is_up(&self) -> bool {
        let flags = fs::read_to_string(Path::new("/sys/class/net").join(&self.name).join("flags"));
        let flags =
            flags.ok().and_then(|text| u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok());
        flags.is_some_and(|flags| flags & 1 == 1)
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
    if let Some(down) = ports.iter().find(|port| !port.is_up()) {
        let remedy = format!("ip link set dev {} up", down.name);
        return Err(Problem::new(format!("{} is down", down.name), &remedy));
    }
    Ok(ports)
}

impl Devices {
    /// Makes the devices that lead from these ports to the process. They go with it, however it ends.
    pub fn open(ports: [Device; 2]) -> Result<Devices, Problem> {
        let open = |port: &Device| -> Result<(Device, SyncDevice), Problem> {
            let name = format!("relay{}", port.index);
            let refused = |error: io::Error| {
                let remedy = match error.kind() {
                    ErrorKind::PermissionDenied => "run it as root, or give it CAP_NET_ADMIN",
                    ErrorKind::NotFound => "load the kernel's module for TAP devices: modprobe tun",
                    ErrorKind::ResourceBusy => "end the relay that is there already",
                    _ => "see whether the kernel has TAP devices",
                };
                Problem::new(format!("TAP device {name}: {error}"), remedy)
            };
            let mtu = u16::try_from(port.mtu).unwrap_or(u16::MAX);
            let device = DeviceBuilder::new()
                .name(&name)
                .layer(Layer::L2)
                .packet_information(false)
                .mtu(mtu)
                .tx_queue_len(RING)
                .enable(false)
                .build_sync()
                .map_err(refused)?;
            device.set_nonblocking(true).map_err(refused)?;
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

/// Takes from interfaces what relays have left there, whatever state they are in. The link is cut from then on.
pub fn remove(local: &str, remote: &str) -> Result<(), Problem> {
    let ports = [Device::find(local)?, Device::find(remote)?];
    let commands = ports.iter().flat_map(|port| {
        [
            format!("tc filter delete dev {} ingress pref 1", port.name),
            format!("ip link set dev {} promisc off", port.name),
        ]
    });
    // All of them, even if one fails: what was not there is told.
    let failed: Vec<Problem> = commands.filter_map(|command| run(&command).err()).collect();
    failed.into_iter().next().map_or(Ok(()), Err)
}

fn run(command: &str) -> Result<(), Problem> {
    let mut words = command.split(' ');
    let program = words.next().expect("a command has a first word");
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| Problem::new(format!("{program}: {error}"), "install iproute2"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default();
    Err(Problem::new(format!("{command}: {said}"), "run it as root"))
}
