//! The TUN device: what the host sends to the prefixes of other endpoints is routed to it. The device is not persistent: it goes
//! with the process, however that ends, and its routes and its address with it.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write as _};
use std::net::IpAddr;
use std::process::{Command, Stdio};

use tun_rs::{DeviceBuilder, SyncDevice};

use super::settings::Settings;
use super::wire::AROUND_PACKET;
use crate::daemon::output::Problem;
use crate::fastpass::reach::{Prefix, Reach};

/// The longest name of a network device.
const LONGEST_NAME: usize = 15;
/// The least that TCP's retransmission timeout is above the round-trip time, in ms, for what goes by the device: longer than an
/// acknowledgement is delayed, 40 ms. With the kernel's 200 ms a flow whose acknowledgements were all lost with a path would be
/// silent long after the path is avoided.
const RTO_MIN_MS: u32 = 50;
/// The least MTU that a host must have for IPv4 (RFC 791) and for IPv6 (RFC 8200).
const LEAST_MTU_V4: u32 = 68;
const LEAST_MTU_V6: u32 = 1280;

/// The MTU of the device: what a datagram takes besides its headers.
pub fn mtu(reach: &Reach) -> Result<u16, Problem> {
    let v6 = reach.places.iter().flat_map(|place| &place.prefixes).any(|prefix| prefix.address.is_ipv6());
    let (least, of) = if v6 { (LEAST_MTU_V6, "IPv6") } else { (LEAST_MTU_V4, "IPv4") };
    let around = AROUND_PACKET as u32;
    let mtu = reach.mtu.saturating_sub(around);
    match u16::try_from(mtu) {
        Ok(mtu) if u32::from(mtu) >= least => Ok(mtu),
        _ => Err(Problem::new(
            format!("an MTU of {} bytes, of which encapsulation takes {around}", reach.mtu),
            &format!("write an mtu from {} to 65507 bytes: {of} needs {least}", least + around),
        )),
    }
}

/// The queues of the device, with routes to the prefixes of all other endpoints. It gives super-packets of about `together` pieces.
pub fn open(reach: &Reach, settings: &Settings, together: usize) -> Result<Vec<SyncDevice>, Problem> {
    let name = &settings.tun;
    let is_name = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && !name.starts_with(['.', '-']);
    if !is_name {
        let remedy = format!("a name has 1 to {LONGEST_NAME} letters, digits, \"-\", \"_\" and \".\"");
        return Err(Problem::new(format!("the name of a TUN device: found {name:?}"), &remedy));
    }
    let mtu = mtu(reach)?;
    let device = DeviceBuilder::new()
        .name(name)
        .offload(true)
        .multi_queue(settings.queues > 1)
        .mtu(mtu)
        .tx_queue_len(settings.ring)
        .build_sync()
        .map_err(|error| refused(name, &error))?;
    let mut queues = vec![device];
    for _ in 1..settings.queues {
        queues.push(queues[0].try_clone().map_err(|error| refused(name, &error))?);
    }
    for queue in &queues {
        queue.set_nonblocking(true).map_err(|error| refused(name, &error))?;
    }
    adjust(name, mtu, together);
    route(reach, name)?;
    Ok(queues)
}

/// Makes of the device what costs less. Where a kernel or its tools cannot, it works as well.
fn adjust(name: &str, mtu: u16, together: usize) {
    // The kernel's own queue before the device would only hide from TCP that a packet was refused. And the device needs no
    // address that nobody asked for.
    let _ = run(Command::new("tc").args(["qdisc", "replace", "dev", name, "root", "noqueue"]), "");
    let _ = run(Command::new("ip").args(["link", "set", "dev", name, "addrgenmode", "none"]), "");
    let bytes = together * usize::from(mtu);
    let longest = format!("link set dev {name} gso_max_size {bytes} gso_max_segs {together}");
    let _ = run(Command::new("ip").args(longest.split(' ')), "");
}

fn refused(name: &str, error: &io::Error) -> Problem {
    let remedy = match error.kind() {
        ErrorKind::PermissionDenied => "run it as root, or give it CAP_NET_ADMIN",
        ErrorKind::NotFound => "load the kernel's module for TUN devices: modprobe tun",
        ErrorKind::ResourceBusy => "end the endpoint that has it, or name another device by tun",
        _ => "name another device by tun, or see whether the kernel has TUN devices",
    };
    Problem::new(format!("TUN device {name}: {error}"), remedy)
}

/// The address that this host has by its own prefix, if that is of a host.
fn own_addresses(reach: &Reach) -> impl Iterator<Item = IpAddr> + '_ {
    let own = &reach.places[usize::from(reach.own)].prefixes;
    own.iter().filter(|prefix| prefix.length == full(prefix)).map(|prefix| prefix.address)
}

fn full(prefix: &Prefix) -> u8 {
    if prefix.address.is_ipv6() {
        128
    } else {
        32
    }
}

/// The commands for `ip -batch`: addresses of the host, and routes to the prefixes of others, from those addresses.
fn commands(reach: &Reach, name: &str) -> String {
    let mut commands = String::new();
    for address in own_addresses(reach) {
        let length = if address.is_ipv6() { "128 nodad" } else { "32" };
        let _ = writeln!(commands, "address add {address}/{length} dev {name}");
    }
    for Prefix { address, length } in others(reach) {
        let own = own_addresses(reach).find(|own| own.is_ipv6() == address.is_ipv6());
        let source = own.map_or(String::new(), |own| format!(" src {own}"));
        let _ = writeln!(commands, "route add {address}/{length} dev {name}{source} rto_min {RTO_MIN_MS}ms");
    }
    commands
}

/// The prefixes of all other endpoints.
fn others(reach: &Reach) -> impl Iterator<Item = &Prefix> {
    let others = (0..).zip(&reach.places).filter(|(at, _)| *at != reach.own);
    others.flat_map(|(_, place)| &place.prefixes)
}

/// Routes what is for others to the device, and refuses to do so if encapsulated packets would take that way, too.
fn route(reach: &Reach, name: &str) -> Result<(), Problem> {
    let commands = commands(reach, name);
    if let Err(error) = run(Command::new("ip").args(["-batch", "-"]), &commands) {
        // It says: Command failed -:3
        let number = error.rsplit_once("-:").and_then(|(_, number)| number.trim().parse::<usize>().ok());
        let line = number.and_then(|number| commands.lines().nth(number.checked_sub(1)?));
        let said = error.lines().next().unwrap_or_default();
        let told = line.map_or(said.to_string(), |line| format!("ip {line}: {said}"));
        return Err(Problem::new(
            told,
            "remove the route or the address that is there, or change the prefix",
        ));
    }
    for place in &reach.places {
        if !others(reach).any(|prefix| prefix.contains(place.data)) {
            continue;
        }
        let way = run(Command::new("ip").args(["-o", "route", "get", &place.data.to_string()]), "");
        if way.is_ok_and(|way| way.contains(&format!(" dev {name} "))) {
            let told =
                format!("the data address {} of {} is of a prefix of an endpoint", place.data, place.name);
            return Err(Problem::new(
                format!("{told}: encapsulated packets would be encapsulated again"),
                "choose prefixes that the data addresses are not of, or add a route to that address alone",
            ));
        }
    }
    Ok(())
}

/// Runs a command that gets a text, and returns what it says, or its complaint.
fn run(command: &mut Command, input: &str) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let told = |error: io::Error| format!("{program}: {error}");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(told)?;
    // A command that ends before it has read all says why.
    let _ = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(told)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_string())
    }
}
