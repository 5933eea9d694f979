//! How much memory a run needs at most, and whether the machine has it; asked before anything is built.
//!
//! The estimate is the sum of
//! - 512 B for each flow (for Poisson traffic the expected number and five standard deviations) and for each probe,
//! - for each flow whose packets are sprayed, a line of 64 B for each path that two hosts can have, and of 256 B in a
//!   listed network,
//! - 192 B for each port, two a link, and as much again for each traffic class at one,
//! - 64 B more for each pair of hosts of a loop of operations, for each of its flows, and 32 B for each operation that
//!   can be open: `outstanding`; in an open loop all that are issued, or `backlog` of each initiator if that is less,
//! - 88 B for each operation if each is recorded: in an open loop all that are issued; in a closed one as many as the
//!   initiators' or targets' links can carry, and no more than one for each of `outstanding` in the time that light
//!   needs over two links each way,
//! - 32 B for each row that is sampled, and for each packet of a probe,
//! - 32 B for each frame that can be queued: as many as the buffers and the hosts' receive queues hold, or as all
//!   windows allow if that is less,
//! - 24 B for each line of a trace and 4 B for each host listed,
//! - 4 B for each pair of switches of a listed topology, for its routes.

use clearway_proto::units::{Bytes, Span};

use super::document::Value;
use super::key::{Quantity, Shown};
use crate::engine::event::MAX_ID;
use crate::model::{Buffer, HostKind, HostModel, Probe, Scenario, Spray};
use crate::net::routing::most_paths;
use crate::net::shape;
use crate::traffic::pattern::{self, OperationCount};
use crate::traffic::Table;

const FLOW: f64 = 512.0;
const PORT: f64 = 192.0;
const OPEN: f64 = 32.0;
const OPERATION: f64 = 88.0;
const ROW: f64 = 32.0;
const FRAME: f64 = 32.0;

/// What is assumed to be free where the system does not say.
const UNKNOWN_FREE: u64 = 8_000_000_000;

/// The environment variable that sets the limit, such as `4GB`.
pub(super) const LIMIT_VARIABLE: &str = "CLEARWAY_MEMORY_LIMIT";

/// Something that takes memory.
struct Share {
    bytes: f64,
    what: String,
    key: String,
    remedy: &'static str,
}

/// An upper bound of the memory that a run of this scenario takes, in bytes; see the module for the formula.
pub fn estimate_bytes(scenario: &Scenario) -> u64 {
    shares(scenario, sprayed_paths(scenario)).iter().map(|share| share.bytes).sum::<f64>() as u64
}

/// Whether a scenario keeps to `limit` bytes; if not, the key to blame and a sentence.
pub(super) fn check(scenario: &Scenario, limit: u64) -> Result<(), (String, String)> {
    // A listed network's paths are counted by its routes: where those do not fit, its size alone is to blame.
    let routes_fit = ports_share(scenario).bytes <= limit as f64;
    let shares = shares(scenario, if routes_fit { sprayed_paths(scenario) } else { 0.0 });
    let total: f64 = shares.iter().map(|share| share.bytes).sum();
    let flows: f64 = Table::all(scenario).map(|table| flows(&table)).sum();
    let biggest = shares.into_iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let Some(biggest) = biggest.filter(|_| total > limit as f64) else {
        if flows < f64::from(MAX_ID) {
            return Ok(());
        }
        return Err((
            "traffic".into(),
            format!("makes {flows:.0} flows; the simulator numbers {MAX_ID} at most"),
        ));
    };
    let message = format!(
        "the run needs about {} of memory and {} is available; most of it, {}, is for {}: {}, or set {LIMIT_VARIABLE}",
        rounded(total),
        rounded(limit as f64),
        rounded(biggest.bytes),
        biggest.what,
        biggest.remedy
    );
    Err((biggest.key, message))
}

fn rounded(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.into_iter().find(|(_, size)| bytes >= *size);
    unit.map_or(format!("{bytes:.0} B"), |(name, size)| format!("{:.1} {name}", bytes / size))
}

/// The memory that may be used, in bytes: the environment's limit, or what the system says is available.
pub(super) fn limit() -> Result<u64, String> {
    if let Ok(text) = std::env::var(LIMIT_VARIABLE) {
        return given_limit(text);
    }
    let about = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Ok(available(&about).unwrap_or(UNKNOWN_FREE))
}

fn given_limit(text: String) -> Result<u64, String> {
    let wanted = format!("{LIMIT_VARIABLE}: found \"{text}\", expected a size with its unit, such as 4GB");
    match Bytes::read(&Value::Text(text)) {
        Ok(Some(bytes)) => Ok(bytes.get()),
        _ => Err(wanted),
    }
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Everything that takes memory, where sprayed packets have `paths` paths.
fn shares(scenario: &Scenario, paths: f64) -> Vec<Share> {
    let mut shares = vec![ports_share(scenario), queue_share(scenario)];
    for table in Table::all(scenario) {
        traffic_shares(&table, &mut shares);
    }
    for i in 0..scenario.transports.len() {
        shares.extend(spray_share(scenario, i, paths));
    }
    sample_shares(scenario, &mut shares);
    let probes = scenario.probes.iter().enumerate();
    shares.extend(probes.map(|(i, probe)| probe_share(probe, i, scenario.duration)));
    shares
}

/// Paths that packets are sprayed over: as many as any two hosts have, and no more than are allowed; zero where no
/// transport sprays.
fn sprayed_paths(scenario: &Scenario) -> f64 {
    let any = scenario.transports.iter().any(|transport| transport.spray == Spray::Packet);
    let paths = || most_paths(&scenario.network).min(Spray::MOST_PATHS);
    f64::from(if any { paths() } else { 0 })
}

fn spray_share(scenario: &Scenario, transport: usize, paths: f64) -> Option<Share> {
    let name = &scenario.transports[transport].name;
    if scenario.transports[transport].spray == Spray::Flow {
        return None;
    }
    let tables = Table::all(scenario).filter(|table| table.traffic.transport == transport);
    let flows: f64 = tables.map(|table| flows(&table)).sum();
    Some(Share {
        bytes: flows * paths * shape::of(&scenario.network.topology).path_bytes(),
        what: format!("{paths:.0} paths of each of {flows:.0} flows"),
        key: format!("transport.{name}.spray"),
        remedy: "leave each flow on one path, or start fewer flows",
    })
}

fn probe_share(probe: &Probe, i: usize, duration: Span) -> Share {
    let packets = probe.packets(duration);
    Share {
        bytes: FLOW + packets as f64 * ROW,
        what: format!("{packets} rows of samples every {}", probe.interval.shown()),
        key: format!("probe[{i}].interval"),
        remedy: "probe less often, or for a shorter time",
    }
}

fn ports_share(scenario: &Scenario) -> Share {
    let shape = shape::of(&scenario.network.topology);
    let ports = 2.0 * shape.links();
    Share {
        bytes: ports * PORT * (1.0 + scenario.classes.len() as f64) + shape.route_bytes(),
        what: format!("{ports:.0} ports and their routes"),
        key: "network".into(),
        remedy: "make the network smaller",
    }
}

fn queue_share(scenario: &Scenario) -> Share {
    let network = &scenario.network;
    let header = scenario.transports.iter().map(|transport| transport.header).min().unwrap_or(0);
    let frame = f64::from(network.mtu + header + network.framing);
    let shape = shape::of(&network.topology);
    let buffers: f64 = shape
        .roles()
        .into_iter()
        .map(|role| {
            let (switches, ports) = shape.switch_ports(role);
            match scenario.switches.of(role).buffer {
                Buffer::PerPort(size) => ports * size.get() as f64,
                Buffer::Shared { size, .. } => switches * size.get() as f64,
            }
        })
        .sum();
    let (received, widest) = receive_queues(scenario);
    let windows: f64 = Table::all(scenario).map(|table| flows(&table) * window(&table)).sum();
    let probes: f64 = scenario.probes.iter().map(|probe| probe.packets(scenario.duration) as f64).sum();
    let frames = ((buffers + received) / frame).min(windows + probes);
    Share {
        bytes: frames * FRAME,
        what: format!("{frames:.0} frames in buffers and receive queues"),
        key: match widest {
            Some(kind) if received > buffers => format!("host.{kind}.receive_queue"),
            _ => "switch.default.buffer".into(),
        },
        remedy: "make buffers or windows smaller",
    }
}

/// Room in all hosts' receive queues, and the name of the kind of host that has most of it.
fn receive_queues(scenario: &Scenario) -> (f64, Option<&str>) {
    let hosts = shape::of(&scenario.network.topology).hosts();
    let room = |(i, kind): (usize, &HostKind)| {
        let HostModel::Snap(host) = &kind.model else { return 0.0 };
        let members: u32 = scenario.hosts.members(i, hosts).iter().map(|range| range.end - range.start).sum();
        f64::from(members) * host.receive_queue.get() as f64
    };
    let kinds = &scenario.hosts.kinds;
    let rooms: Vec<f64> = kinds.iter().enumerate().map(room).collect();
    let widest = kinds.iter().zip(&rooms).max_by(|(_, a), (_, b)| a.total_cmp(b));
    (rooms.iter().sum(), widest.map(|(kind, _)| kind.name.as_str()))
}

/// Packets that a flow of this table can have under way.
fn window(table: &Table<'_>) -> f64 {
    let window = table.scenario.transports[table.traffic.transport].protocol.max_window().ceil();
    let bytes = pattern::of(&table.traffic.pattern).largest_bytes();
    window.min(bytes.div_ceil(u64::from(table.scenario.network.mtu)) as f64)
}

/// Flows of a table, but for luck.
fn flows(table: &Table<'_>) -> f64 {
    pattern::of(&table.traffic.pattern).most_flows(table)
}

/// For a table's flows, for operations that are open, and for those that are recorded.
fn traffic_shares(table: &Table<'_>, shares: &mut Vec<Share>) {
    let (pattern, number) = (pattern::of(&table.traffic.pattern), table.number);
    let flows = pattern.most_flows(table);
    let (key, remedy) = pattern.blame();
    shares.push(Share {
        bytes: flows * FLOW + pattern.list_bytes(),
        what: format!("{flows:.0} flows"),
        key: format!("traffic[{number}].{key}"),
        remedy,
    });
    let Some(OperationCount { open, all, key, remedy }) = pattern.operations(table) else { return };
    shares.push(Share {
        bytes: open * OPEN,
        what: format!("{open:.0} operations that can be open"),
        key: format!("traffic[{number}].{key}"),
        remedy,
    });
    if table.scenario.record.operations {
        shares.push(Share {
            bytes: all * OPERATION,
            what: format!("{all:.0} rows of operations"),
            key: "record.operations".into(),
            remedy: "do not record each, or shorten duration",
        });
    }
}

fn sample_shares(scenario: &Scenario, shares: &mut Vec<Share>) {
    let record = &scenario.record;
    let flows: f64 = Table::all(scenario).map(|table| flows(&table)).sum();
    let transports = scenario.transports.len() as f64;
    let shape = shape::of(&scenario.network.topology);
    let ports: f64 = shape.roles().into_iter().map(|role| shape.switch_ports(role).1).sum();
    let sampled = [
        ("record.queues", record.queues, ports),
        ("record.windows", record.windows, flows),
        ("record.rtt", record.rtt, transports),
        ("record.throughput", record.throughput, transports),
        ("record.links", record.links, ports * scenario.classes.len().max(1) as f64),
        ("record.fairness", Some(record.fairness), transports),
    ];
    for (key, interval, rows) in sampled {
        let Some(interval) = interval else { continue };
        let rows = scenario.duration.as_secs_f64() / interval.as_secs_f64() * rows;
        shares.push(Share {
            bytes: rows * ROW,
            what: format!("{rows:.0} rows of samples every {}", interval.shown()),
            key: key.into(),
            remedy: "sample less often, or shorten duration",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_unit() {
        assert_eq!(given_limit("4GB".into()), Ok(4_000_000_000));
        let wanted = "CLEARWAY_MEMORY_LIMIT: found \"4\", expected a size with its unit, such as 4GB";
        assert_eq!(given_limit("4".into()), Err(wanted.into()));
    }

    #[test]
    fn available_memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   24117248 kB\n"), Some(24_117_248 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(available(""), None);
    }
}
