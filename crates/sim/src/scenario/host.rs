//! `[host.default]`: what a host's work costs.

use clearway_proto::units::{Bytes, Span};

use super::key::Key;
use super::link::rate_key;
use super::reader::Section;
use crate::model::{HostModel, SnapHost};

#[derive(Clone, Copy)]
enum Model {
    Ideal,
    Snap,
}

/// Reads the table.
pub(super) fn read(r: &mut Section) -> HostModel {
    let model = r.choice(
        "model",
        "What a host's work costs: ideal, nothing; snap, one engine serves all that comes and goes, as Swift's hosts have.",
        Some("ideal"),
        &[("ideal", Model::Ideal), ("snap", Model::Snap)],
    );
    match model {
        Model::Ideal => HostModel::Ideal,
        Model::Snap => HostModel::Snap(read_snap(r)),
    }
}

fn read_snap(r: &mut Section) -> SnapHost {
    let d = SnapHost::default();
    let cost = |name, doc| Key::new(name, doc, Span::ZERO..=Span::from_ms(10));
    let copy = rate_key("copy_rate", "Speed at which the engine copies payload.");
    let queue = Key::new(
        "receive_queue",
        "Room for frames that wait for the engine.",
        Bytes::new(100)..=Bytes::new(4_000_000_000),
    );
    let interval = Key::new(
        "pause_interval",
        "Mean time between two pauses, in which the engine does not run.",
        Span::from_us(1)..=Span::from_secs(1000),
    );
    SnapHost {
        receive_packet: r
            .get(&cost("receive_packet", "The engine's time for a data packet.").or(d.receive_packet)),
        copy_rate: r.get(&copy.or(d.copy_rate)),
        operation: r.get(
            &cost("operation", "What an operation's last packet takes beside, at its target.")
                .or(d.operation),
        ),
        receive_ack: r
            .get(&cost("receive_ack", "The engine's time for an acknowledgement.").or(d.receive_ack)),
        completion: r.get(
            &cost("completion", "What the acknowledgement of an operation's last packet takes beside.")
                .or(d.completion),
        ),
        transmit: r.get(&cost("transmit", "The engine's time to send a data packet.").or(d.transmit)),
        jitter: r.get(
            &cost("jitter", "Most that a frame takes from the stack to the NIC; uniform from nothing.")
                .or(d.jitter),
        ),
        pause_interval: r.get(&interval.or(d.pause_interval)),
        pause: r.get(&cost("pause", "Mean length of a pause, exponential; 0us: none.").or(d.pause)),
        receive_queue: r.get(&queue.or(d.receive_queue)),
    }
}
