//! What an end measured, as a table for people and as one JSON object under the simulator's names.

mod readable;

use std::fmt::Write;
use std::net::SocketAddr;

use clearway_proto::histogram::Histogram;
use clearway_proto::units::{Span, Time};
use readable::readable;
use serde_json::{json, Map, Value};

use crate::datagram::figures::Ignored;
use crate::datagram::layout::Layout;
use crate::datagram::measured::Measured;

/// What a sending end measured.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// When the peer accepted, so that the first packet could go; none if it never did.
    pub began: Option<Time>,
    /// When the latest new packet was acknowledged; none before the first one was.
    pub ended: Option<Time>,
    /// Bytes of payload acknowledged.
    pub bytes: u64,
    /// Flows of which everything is acknowledged.
    pub completed: u64,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Times a retransmission timer ran out.
    pub timeouts: u64,
    /// Acknowledgements taken.
    pub acks: u64,
    /// Data packets that the peer says arrived; none before it says so.
    pub arrived: Option<u64>,
    /// Switches on the way to the peer, by the latest acknowledgement; none before the first one.
    pub hops: Option<u8>,
    /// Round trips and windows.
    pub delays: Measured,
    /// The time from an operation's issue to its last acknowledgement.
    pub latency: Histogram,
    /// Datagrams that the kernel refused to send.
    pub unsendable: u64,
    /// Datagrams that the kernel dropped at the socket, for want of room or as they are nobody's.
    pub socket_drops: u32,
    /// What arrived and was ignored.
    pub ignored: Ignored,
}

/// What a receiving end measured.
#[derive(Clone, Debug)]
pub struct Received {
    /// The sender's address.
    pub peer: SocketAddr,
    /// What the sender announced.
    pub layout: Layout,
    /// When the sender's connection was accepted; none if it was not.
    pub began: Option<Time>,
    /// When the latest new packet arrived; none before the first one.
    pub ended: Option<Time>,
    /// Bytes of payload, each counted once.
    pub payload: u64,
    /// Operations of which every packet arrived.
    pub messages: u64,
    /// Data packets that arrived, duplicates included.
    pub packets: u64,
    /// Data packets that had arrived before.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Data packets that the peer says it sent; none before it says so.
    pub sent: Option<u64>,
    /// Switches on the way from the peer, by the latest packet; none before the first one.
    pub hops: Option<u8>,
    /// Datagrams that the kernel refused to send.
    pub unsendable: u64,
    /// Datagrams that the kernel dropped at the socket, for want of room or as they are nobody's.
    pub socket_drops: u32,
    /// What arrived and was ignored.
    pub ignored: Ignored,
}

impl Received {
    pub(crate) fn new(peer: SocketAddr, layout: Layout) -> Received {
        Received {
            peer,
            layout,
            began: None,
            ended: None,
            payload: 0,
            messages: 0,
            packets: 0,
            duplicates: 0,
            acks: 0,
            sent: None,
            hops: None,
            unsendable: 0,
            socket_drops: 0,
            ignored: Ignored::default(),
        }
    }
}

/// Payload over time, in Gb/s; `None` if no time has passed.
pub fn goodput_gbps(bytes: u64, took: Span) -> Option<f64> {
    (took > Span::ZERO).then(|| bytes as f64 * 8.0 / took.as_secs_f64() / 1e9)
}

/// Figures in the order in which they are shown: the key (its last word is the unit, as in a run's summary), the label
/// and the value.
#[derive(Clone, Debug, Default)]
pub struct Figures(Vec<(String, &'static str, Value)>);

impl Figures {
    fn add(&mut self, key: &str, label: &'static str, value: impl Into<Value>) {
        self.0.push((key.to_string(), label, value.into()));
    }

    fn add_times(&mut self, key: &str, labels: [&'static str; 4], of: &Histogram) {
        let us = |fraction| of.quantile(fraction).map(|ps| ps as f64 / 1e6);
        self.add(&format!("{key}_mean_us"), labels[0], of.mean().map(|ps| ps / 1e6));
        self.add(&format!("{key}_p50_us"), labels[1], us(0.5));
        self.add(&format!("{key}_p99_us"), labels[2], us(0.99));
        self.add(&format!("{key}_p999_us"), labels[3], us(0.999));
    }

    /// The figures of windows kept as microseconds: the mean, and the 1st and 50th percentile as in figure 19.
    fn add_windows(&mut self, key: &str, labels: [&'static str; 3], of: &Histogram) {
        self.add(&format!("{key}_mean_packets"), labels[0], of.mean().map(|ps| ps / 1e6));
        self.add(&format!("{key}_p1_packets"), labels[1], of.quantile(0.01).map(|ps| ps as f64 / 1e6));
        self.add(&format!("{key}_p50_packets"), labels[2], of.quantile(0.5).map(|ps| ps as f64 / 1e6));
    }

    /// The processor time of the transfer, and of each of its packets.
    fn add_effort(&mut self, cpu: Span, packets: u64) {
        self.add("cpu_us", "processor time", cpu.as_us_f64());
        let each = (packets > 0).then(|| cpu.as_us_f64() / packets as f64);
        self.add("cpu_per_packet_us", "processor time a packet", each);
    }

    /// The figures as one JSON object, behind the description of the transfer.
    pub fn json(&self, mut head: Map<String, Value>) -> Value {
        head.extend(self.0.iter().map(|(key, _, value)| (key.clone(), value.clone())));
        Value::Object(head)
    }

    /// The figures as lines: each has a label and a value with its unit. Missing values and zero counts of ignored
    /// datagrams are left out.
    pub fn table(&self) -> String {
        let rows: Vec<(&str, String)> =
            self.0.iter().filter_map(|(key, label, value)| Some((*label, readable(key, value)?))).collect();
        let label = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let width = rows.iter().map(|(_, value)| value.len()).max().unwrap_or(0);
        rows.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "  {name:<label$}  {value:>width$}");
            text
        })
    }
}

/// The time from a transfer's beginning to its latest progress; `None` where there was no progress.
fn elapsed(began: Option<Time>, ended: Option<Time>) -> Option<Span> {
    Some(ended?.since(began?))
}

/// The figures of a sending end, whose process took `cpu` of processor time. Of a transfer that never began there are few: what is not known is missing.
pub fn sent_figures(sent: &Sent, layout: &Layout, cpu: Span) -> Figures {
    let took = elapsed(sent.began, sent.ended);
    let counted = |count: u64| sent.began.map(|_| count);
    let mut figures = Figures::default();
    figures.add("elapsed_us", "time", took.map(Span::as_us_f64));
    figures.add("flows", "flows", layout.flows);
    figures.add("completed", "flows completed", counted(sent.completed));
    figures.add("payload_bytes", "bytes acknowledged", counted(sent.bytes));
    figures.add("goodput_gbps", "goodput", took.and_then(|took| goodput_gbps(sent.bytes, took)));
    figures.add("packets", "packets sent", counted(sent.packets));
    figures.add("loss_rate", "loss", loss_rate(Some(sent.packets), sent.arrived));
    figures.add("retransmissions", "retransmissions", counted(sent.retransmissions));
    figures.add("timeouts_whole", "timeouts", counted(sent.timeouts));
    let delays = &sent.delays;
    figures.add_times("rtt", ["mean RTT", "median RTT", "p99 RTT", "p99.9 RTT"], &delays.rtt);
    figures.add_times(
        "fabric_rtt",
        ["mean fabric delay", "median fabric delay", "p99 fabric delay", "p99.9 fabric delay"],
        &delays.fabric,
    );
    figures.add_times(
        "endpoint_delay",
        ["mean endpoint delay", "median endpoint delay", "p99 endpoint delay", "p99.9 endpoint delay"],
        &delays.endpoint,
    );
    figures.add_windows("cwnd", ["mean cwnd", "p1 cwnd", "median cwnd"], &delays.cwnd);
    figures.add_windows("fcwnd", ["mean fcwnd", "p1 fcwnd", "median fcwnd"], &delays.fcwnd);
    figures.add_windows("ecwnd", ["mean ecwnd", "p1 ecwnd", "median ecwnd"], &delays.ecwnd);
    figures.add("operations", "operations", counted(sent.latency.count()));
    figures.add_times(
        "latency",
        [
            "mean operation latency",
            "median operation latency",
            "p99 operation latency",
            "p99.9 operation latency",
        ],
        &sent.latency,
    );
    figures.add("hops", "switches on the way", sent.hops);
    figures.add_effort(cpu, sent.packets);
    figures.add("socket_drops", "drops at the socket", sent.socket_drops);
    figures.add("unsendable", "datagrams not sent", sent.unsendable);
    figures.add("ignored", "datagrams ignored", ignored(&sent.ignored));
    figures
}

/// The figures of a receiving end, whose process took `cpu` of processor time. Of a transfer that never began there are few: what is not known is missing.
pub fn received_figures(received: &Received, cpu: Span) -> Figures {
    let took = elapsed(received.began, received.ended);
    let counted = |count: u64| received.began.map(|_| count);
    let mut figures = Figures::default();
    figures.add("elapsed_us", "time", took.map(Span::as_us_f64));
    figures.add("flows", "flows", received.layout.flows);
    figures.add("payload_bytes", "bytes received", counted(received.payload));
    figures.add("goodput_gbps", "goodput", took.and_then(|took| goodput_gbps(received.payload, took)));
    figures.add("packets", "packets received", counted(received.packets));
    figures.add("duplicates", "packets received again", counted(received.duplicates));
    figures.add("loss_rate", "loss", loss_rate(received.sent, Some(received.packets)));
    figures.add("acks", "acknowledgements sent", counted(received.acks));
    figures.add("operations", "operations", counted(received.messages));
    figures.add("hops", "switches on the way", received.hops);
    figures.add_effort(cpu, received.packets);
    figures.add("socket_drops", "drops at the socket", received.socket_drops);
    figures.add("unsendable", "datagrams not sent", received.unsendable);
    figures.add("ignored", "datagrams ignored", ignored(&received.ignored));
    figures
}

/// The counts of ignored datagrams, by why they were.
fn ignored(counts: &Ignored) -> Value {
    json!({
        "stray": counts.stray,
        "session": counts.session,
        "forged": counts.forged,
        "replayed": counts.replayed,
        "senseless": counts.senseless,
    })
}

/// The part of what was sent that did not arrive. A network that repeats packets hides as many losses.
fn loss_rate(sent: Option<u64>, arrived: Option<u64>) -> Option<f64> {
    let (sent, arrived) = (sent.filter(|&sent| sent > 0)?, arrived?);
    Some(sent.saturating_sub(arrived) as f64 / sent as f64)
}

#[cfg(test)]
mod tests;
