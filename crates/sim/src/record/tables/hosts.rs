//! Tables about hosts and probes.

use crate::model::Probe;
use crate::record::definitions::table;
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use clearway_proto::units::Span;

table! {
    /// A row for each host whose work takes time. No such table where all hosts are ideal.
    Hosts as "hosts" {
        /// The host's number.
        host: Nothing,
        /// Share of the interval in which its processor worked on frames that came and packets that left,
        /// without the time in which something else had it; 0 for hosts of the model `interrupts`, of which
        /// that is not known.
        utilisation: Measured,
        /// Frames that came and that its stack has taken.
        frames: Measured,
        /// Frames that came and for which its receive queue had no room.
        drops: Measured,
        /// Most bytes in its receive queue at once, with the frame in service.
        receive_queue_peak_bytes: Run,
    }
}

/// The table of hosts: a row for each; `None` where hosts are ideal. The receive queue's peak is of the whole run.
pub(in crate::record) fn hosts(measured: &Measured) -> Option<Table> {
    let (hosts, whole): (Vec<u32>, Vec<_>) = measured.simulation.processors().unzip();
    let processors = measured.processors();
    if hosts.is_empty() {
        return None;
    }
    let then = &measured.start.processors;
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..hosts.len()).map(value).collect());
    let busy = |host: usize| (processors[host].busy - then[host].busy) as f64 / 1e12 / measured.seconds();
    let columns = Hosts {
        host: integers(&|host| u64::from(hosts[host])),
        utilisation: Column::Floats((0..hosts.len()).map(busy).collect()),
        frames: integers(&|host| processors[host].served_frames - then[host].served_frames),
        drops: integers(&|host| processors[host].dropped_frames - then[host].dropped_frames),
        receive_queue_peak_bytes: integers(&|host| whole[host].peak),
    };
    Some(columns.table())
}

table! {
    /// Histograms of what round-trip times are made of: a row for each transport, part and bucket that is not
    /// empty. No such table where all hosts are ideal.
    Delays as "delays" {
        /// The name of the transport.
        transport: Nothing,
        /// The part: `endpoint` is what of a round trip was spent in the two hosts, from NIC to the stack's end;
        /// `fabric` is the rest of it; `nic` is what a data packet spent in the host that received it.
        part: Nothing,
        /// The largest time of the bucket. The smallest is less than one part in 256 below it.
        delay_us: Nothing,
        /// Acknowledgements, or for `nic` data packets, that arrived and of which the part took a time in this bucket.
        count: Measured,
    }
}

/// The distributions of the parts of round-trip times in the measured time, in the form of [`rtt`]; `None` where hosts
/// are ideal.
pub(in crate::record) fn delays(measured: &Measured) -> Option<Table> {
    let (mut transport, mut part, mut us, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, counters) in measured.counters.iter().enumerate() {
        let parts =
            [("fabric", &counters.fabric), ("endpoint", &counters.endpoint), ("nic", &counters.nic_delay)];
        for (name, times) in parts {
            for (upper, count) in times.buckets() {
                transport.push(index as u32);
                part.push(name);
                us.push(upper as f64 / 1e6);
                counts.push(count);
            }
        }
    }
    let columns = Delays {
        transport: Column::Texts(measured.transport_names(transport)),
        part: Column::Texts(part.into_iter().collect()),
        delay_us: Column::Floats(us),
        count: Column::Integers(counts),
    };
    measured.simulation.processors().next().map(|_| columns.table())
}

table! {
    /// A row for each packet of each probe, by probe and then in the order of sending. No such table without
    /// `[[probe]]` tables.
    Probes as "probes" {
        /// The probe's number, from 0 on.
        probe: Nothing,
        /// The name of the node that probes.
        from: Nothing,
        /// The name of the node that answers.
        to: Nothing,
        /// When the packet was sent.
        sent_us: Run,
        /// Time from its sending until the answer came, by the clock of the node that probes; NaN where none
        /// came.
        rtt_us: Run,
    }
}

/// The table of probes: a row for each packet, by probe and then in the order of sending; `None` where nothing probes.
/// Round trips are by the prober's clock, and NaN where no answer has come.
pub(in crate::record) fn probes(measured: &Measured) -> Option<Table> {
    let probes = &measured.scenario.probes;
    if probes.is_empty() {
        return None;
    }
    let (mut numbers, mut sent_us, mut rtt_us) = (Vec::new(), Vec::new(), Vec::new());
    for (number, packets) in (0..).zip(measured.simulation.probes()) {
        for (sent, round_trip) in packets {
            numbers.push(number);
            sent_us.push(sent.as_us_f64());
            rtt_us.push(round_trip.map_or(f64::NAN, Span::as_us_f64));
        }
    }
    let nodes = measured.simulation.graph().nodes();
    let names = |node: fn(&Probe) -> u32| {
        let names = probes.iter().map(|probe| nodes[node(probe) as usize].name.clone());
        Column::Texts(Texts::new(names.collect(), numbers.clone()))
    };
    let columns = Probes {
        probe: Column::Integers(numbers.iter().map(|&number| number.into()).collect()),
        from: names(|probe| probe.from),
        to: names(|probe| probe.to),
        sent_us: Column::Floats(sent_us),
        rtt_us: Column::Floats(rtt_us),
    };
    Some(columns.table())
}
