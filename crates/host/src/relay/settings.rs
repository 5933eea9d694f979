//! The file of a relay: one table, `[relay]`. What is not in it follows from the link as `clearway plan dci-buffer` has it.

use std::path::Path;

use clearway_proto::parameter::{Parameter, ParameterReader, Shown};
use clearway_proto::pfc::frame::PRIORITIES;
use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::pfc::quanta::{lasting, LONGEST};
use clearway_proto::swing::holding::Holding;
use clearway_proto::swing::plan::{relay_buffer, DciLink};
use clearway_proto::swing::relay::RelayParams;
use clearway_proto::units::{Bytes, Rate, Span, RATES};

use super::classes::Classes;
use super::lanes::on_the_wire;
use crate::daemon::output::Problem;
use crate::daemon::table::{document, read_file, Table};

/// The header of an Ethernet frame with the tag of a VLAN.
const HEADER: usize = 18;

/// The settings of a relay.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The machine's parameters.
    pub params: RelayParams,
    /// The lossless priorities, one for each of the machine's.
    pub priorities: Vec<u8>,
    /// The priorities of frames.
    pub classes: Classes,
    /// Largest payload of a frame, in bytes.
    pub mtu: u32,
    /// The kernel passes everything on when the process has not been alive for this long.
    pub dead_after: Span,
    /// A port that is told to pause for this long without a break is given up: what waits for it is dropped.
    pub storm_after: Span,
}

/// The part of a frame that tells its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    CodePoint,
    Tag,
}

const TRUSTS: &[(&str, Trust)] = &[("dscp", Trust::CodePoint), ("pcp", Trust::Tag)];

impl Settings {
    /// Reads a file. Errors name each place that is wrong, and a remedy.
    pub fn read(path: &Path) -> Result<Settings, Vec<Problem>> {
        read_file(path, "docs/LOSSLESS.md", Settings::parse)
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Settings, Vec<Problem>> {
        let document = document(text).map_err(|problem| vec![problem])?;
        let mut root = Table::of(text, "", document.as_table(), None);
        let mut table = Table::new(text, "relay", root.item("relay"));
        table.must_have_table();
        let settings = read(&mut table);
        let mut problems = table.finish(&[]);
        problems.extend(root.finish(&[]));
        match settings {
            Some(settings) if problems.is_empty() => Ok(settings),
            _ => Err(problems),
        }
    }
}

/// The settings of a table; none where the table has not what there must be.
fn read(table: &mut Table<'_>) -> Option<Settings> {
    let times = |least| least..=Span::from_secs(10);
    let rate = table.optional(&Parameter::new("rate", "The rate of both ports.", RATES), "");
    let delay = Parameter::new("delay", "Delay one way over the long link.", times(Span::ZERO));
    let delay = table.optional(&delay, "");
    table.must_have("rate");
    table.must_have("delay");
    let local_delay = "Delay one way between relay and switch.";
    let local_delay = Parameter::new("local_delay", local_delay, times(Span::ZERO));
    let local_delay = table.value(&local_delay, Span::from_us(1));
    let response = "What this host and its neighbours may take until a PAUSE works.";
    let response = Parameter::new("response", response, times(Span::ZERO));
    let response = table.value(&response, Span::from_ms(2));
    let mtu = Parameter::new("mtu", "Largest payload of a frame.", Bytes::new(256)..=Bytes::new(65_000));
    let mtu = table.value(&mtu, Bytes::new(1500)).get() as u32;
    let trust = table.choice("trust", "What tells a frame's priority.", TRUSTS, Trust::CodePoint);
    let priorities = read_priorities(table).unwrap_or_else(|| vec![3]);
    let safety = table.flag("safety", "The far relay is held before room runs out.", true);
    let mut bytes = |name, doc| {
        let sizes = Bytes::new(0)..=Bytes::new(1 << 40);
        table.optional(&Parameter::new(name, doc, sizes), "")
    };
    let xoff = bytes("xoff", "The local switch is told to pause above this.");
    let xon = bytes("xon", "The local switch is told to resume at this.");
    let local_buffer = bytes("local_buffer", "Room for what came in on the local port, by priority.");
    let remote_buffer = bytes("remote_buffer", "Room for what came in on the remote port, by priority.");
    let quanta = Parameter::new("quanta", "What the relay's own PAUSEs ask for.", 2..=u32::from(LONGEST));
    let quanta = table.value(&quanta, u32::from(LONGEST)) as u16;
    let dead = "The kernel passes everything on when the process has not been alive for this long.";
    let dead = Parameter::new("dead_after", dead, Span::from_ms(5)..=Span::from_secs(10));
    let dead_after = table.value(&dead, Span::from_ms(100));
    let storm = "A port that is told to pause for this long without a break is given up.";
    let storm = Parameter::new("storm_after", storm, Span::from_ms(10)..=Span::from_secs(3600));
    let storm_after = table.value(&storm, Span::from_secs(1));
    let (rate, delay) = (rate?, delay?);

    let frame = on_the_wire(mtu as usize + HEADER);
    let lossless = priorities.len() as u8;
    let planned = planned(rate, delay, local_delay, response, frame, lossless);
    let params = RelayParams {
        xoff: xoff.unwrap_or(planned.xoff),
        xon: xon.unwrap_or(planned.xon),
        local_buffer: local_buffer.unwrap_or(planned.local_buffer),
        remote_buffer: remote_buffer.unwrap_or(planned.remote_buffer),
        safety: planned.safety.filter(|_| safety),
        quanta,
        ..planned
    };
    table.conflicts(params.conflicts());
    if let Some(least) = params.safety.filter(|least| params.remote_buffer < *least) {
        let what = format!("found {}, less than safety needs", params.remote_buffer.shown());
        let remedy =
            format!("take at least {}, or safety = false and trust both ends to count alike", least.shown());
        table.wrong("remote_buffer", &what, Some(&remedy));
    }
    let longest = lasting(LONGEST, rate);
    if storm_after <= longest {
        let what = format!("found {}, no longer than one PAUSE may last", storm_after.shown());
        table.wrong("storm_after", &what, Some(&format!("take more than {}", longest.shown())));
    }
    let classes = classes(trust, &priorities);
    Some(Settings { params, priorities, classes, mtu, dead_after, storm_after })
}

/// The parameters that follow from the link.
fn planned(
    rate: Rate,
    delay: Span,
    local_delay: Span,
    response: Span,
    frame: Bytes,
    priorities: u8,
) -> RelayParams {
    let hysteresis = Bytes::new(2 * frame.get());
    let link = DciLink {
        rate,
        delay,
        local_delay,
        least_drain: 0.0,
        most_drain: 1.0,
        frame,
        own_frame: frame,
        response,
        priorities,
        hysteresis,
    };
    let fibre = LosslessLink { priorities, response, hysteresis, ..LosslessLink::new(rate, delay, frame) };
    let (local, Holding { window, overrun, .. }) = (link.local_thresholds(), Holding::of(&fibre));
    let params = RelayParams {
        rate,
        priorities: usize::from(priorities),
        xoff: local.xoff,
        xon: local.xon,
        local_buffer: local.buffer(),
        round_trip: window,
        overrun,
        hysteresis,
        ..RelayParams::default()
    };
    let safety = params.least_safety();
    RelayParams { remote_buffer: relay_buffer(&fibre).max(safety), safety: Some(safety), ..params }
}

fn read_priorities(table: &mut Table<'_>) -> Option<Vec<u8>> {
    table.take("priorities", |value| {
        let expected = || "expected a list of different priorities from 0 to 7, such as [3, 4]".to_string();
        let array = value.as_array().filter(|array| !array.is_empty()).ok_or_else(expected)?;
        let mut found = Vec::new();
        for value in array {
            let priority = value.as_integer().and_then(|priority| u8::try_from(priority).ok());
            let priority = priority.filter(|priority| usize::from(*priority) < PRIORITIES);
            let priority = priority.filter(|priority| !found.contains(priority)).ok_or_else(expected)?;
            found.push(priority);
        }
        Ok(found)
    })
}

/// The usual map: a code point's priority is that of its class selector, its upper three bits.
fn classes(trust: Trust, priorities: &[u8]) -> Classes {
    let lossless = |priority: u8| priorities.contains(&priority).then_some(priority);
    let trusts_tags = trust == Trust::Tag;
    let mut classes = Classes { of_code_point: [None; 64], of_tag: [None; PRIORITIES], trusts_tags };
    match trust {
        Trust::Tag => (0..).zip(&mut classes.of_tag).for_each(|(tag, of)| *of = lossless(tag)),
        Trust::CodePoint => {
            (0_u8..).zip(&mut classes.of_code_point).for_each(|(point, of)| *of = lossless(point >> 3));
        }
    }
    classes
}

#[cfg(test)]
mod tests;
