//! Scenarios for tests of single traffic tables.

use clearway_proto::baseline::none::NoneParams;
use clearway_proto::units::{Bytes, Span, Time};

use crate::model::{
    Buffer, Ecn, HostKind, HostKinds, HostModel, Pattern, Protocol, Record, Scenario, Spray, SwitchKind,
    SwitchKinds, Topology, Traffic, Transport,
};
use crate::topology::tests::network;

/// A star of `hosts` with these traffic tables, 100 Gb/s, for a second.
pub(in crate::traffic) fn scenario(hosts: u32, traffic: Vec<Traffic>) -> Scenario {
    let kind = SwitchKind { buffer: Buffer::PerPort(Bytes::new(1 << 20)), ecn: Ecn::Off, pfc: None };
    let protocol = Protocol::None(NoneParams::default());
    Scenario {
        name: String::new(),
        seed: 1,
        duration: Span::from_secs(1),
        warmup: Span::ZERO,
        measure_until: Span::from_ms(1),
        stop_when_complete: false,
        allow_loss: false,
        network: network(Topology::Star { hosts }),
        switches: SwitchKinds::alike(kind),
        hosts: HostKinds::alike(HostKind::default_of(HostModel::Ideal)),
        classes: Vec::new(),
        transports: vec![Transport {
            name: "t".into(),
            protocol,
            header: 0,
            ack: 64,
            class: 0,
            ack_class: 0,
            spray: Spray::Flow,
            paths: None,
        }],
        traffic,
        probes: Vec::new(),
        arbiters: None,
        faults: Vec::new(),
        bypasses: Vec::new(),
        outages: Vec::new(),
        fault_tables: Vec::new(),
        routing: None,
        record: Record::default(),
    }
}

/// This pattern from time zero on.
pub(in crate::traffic) fn table(pattern: Pattern) -> Traffic {
    let start = (Time::ZERO, Time::ZERO);
    Traffic { pattern, transport: 0, start, stagger: Span::ZERO, stop: None }
}
