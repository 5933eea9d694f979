//! The file of a relay: one table, `[relay]`. What is not in it follows from the link as `clearway plan dci-buffer` has it.

use std::path::Path;

use clearway_proto::parameter::{Parameter, ParameterReader, Shown};
use clearway_proto::pfc::frame::PRIORITIES;
use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::pfc::quanta::{covering, lasting, LONGEST};
use clearway_proto::swing::holding::Holding;
use clearway_proto::swing::plan::relay_buffer;
use clearway_proto::swing::relay::{RelayParams, VirtualQueue};
use clearway_proto::units::{Bytes, Rate, Span, RATES};

use super::classes::Classes;
use super::lanes::{on_the_wire, PORTS};
use super::probe::Probing;
use crate::daemon::output::Problem;
use crate::daemon::table::{document, read_file, Table};

/// The header of an Ethernet frame with the tag of a VLAN.
const HEADER: usize = 18;

/// What this host and its neighbours may take until a PAUSE works: processes of a host stand still for milliseconds.
const RESPONSE: Span = Span::from_ms(2);

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
    /// The response that is planned for where the file has none and PAUSEs are too short for the default.
    pub short_response: Option<Span>,
    /// How the delay of the long link is measured.
    pub probing: Probing,
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

/// The link of a relay, as its file has it.
struct Link {
    /// The rates of both ports, L before R.
    rates: [Rate; 2],
    delay: Span,
    local_delay: Span,
    response: Span,
    /// The longest frame, on the wire.
    frame: Bytes,
    /// Lossless priorities.
    priorities: u8,
}

/// The settings of a table; none where the table has not what there must be.
fn read(table: &mut Table<'_>) -> Option<Settings> {
    let rates = read_rates(table);
    let times = |name, doc| Parameter::new(name, doc, Span::ZERO..=Span::from_secs(10));
    let delay = table.optional(&times("delay", "Delay one way over the long link."), "");
    table.must_have("delay");
    let local_delay = times("local_delay", "Delay one way between relay and switch.");
    let local_delay = table.value(&local_delay, Span::from_us(1));
    let response = times("response", "What this host and its neighbours may take until a PAUSE works.");
    let response = table.optional(&response, "");
    let mtu = Parameter::new("mtu", "Largest payload of a frame.", Bytes::new(256)..=Bytes::new(65_000));
    let mtu = table.value(&mtu, Bytes::new(1500)).get() as u32;
    let trust = table.choice("trust", "What tells a frame's priority.", TRUSTS, Trust::CodePoint);
    let priorities = read_priorities(table).unwrap_or_else(|| vec![3]);
    let room = Room::read(table);
    let quanta = Parameter::new("quanta", "What the relay's own PAUSEs ask for.", 2..=u32::from(LONGEST));
    let quanta = table.value(&quanta, u32::from(LONGEST)) as u16;
    let dead = "The kernel passes everything on when the process has not been alive for this long.";
    let dead = Parameter::new("dead_after", dead, Span::from_ms(5)..=Span::from_secs(10));
    let dead_after = table.value(&dead, Span::from_ms(100));
    let storm = "A port that is told to pause for this long without a break is given up.";
    let storm = Parameter::new("storm_after", storm, Span::from_ms(10)..=Span::from_secs(3600));
    let storm_after = table.value(&storm, Span::from_secs(1));
    let probe_every = "The time from one probe of the long link to the next; 0s: none are sent.";
    let probe_every = Parameter::new("probe_every", probe_every, Span::ZERO..=Span::from_secs(3600));
    let every = table.value(&probe_every, Span::from_secs(1));
    if every > Span::ZERO && every < Span::from_ms(10) {
        let remedy = "take 10ms or more, or 0s to send none";
        table.wrong("probe_every", &format!("found {}", every.shown()), Some(remedy));
    }
    let (rates, delay) = (rates?, delay?);

    let frame = on_the_wire(mtu as usize + HEADER);
    let lossless = priorities.len() as u8;
    let fastest = rates[0].max(rates[1]);
    let short_response =
        Some(lasting(LONGEST, fastest) / 2).filter(|half| response.is_none() && *half < RESPONSE);
    let response = response.or(short_response).unwrap_or(RESPONSE);
    check_quanta(table, quanta, fastest, response);
    let link = Link { rates, delay, local_delay, response, frame, priorities: lossless };
    let params = RelayParams { quanta, ..room.of(&planned(&link)) };
    check(table, &params, storm_after);
    let classes = classes(trust, &priorities);
    let probing = Probing { every, delay, response };
    Some(Settings { params, priorities, classes, mtu, dead_after, storm_after, short_response, probing })
}

/// The rates of both ports: one for both, or one for each.
fn read_rates(table: &mut Table<'_>) -> Option<[Rate; 2]> {
    let mut read = |name, doc| table.optional(&Parameter::new(name, doc, RATES), "");
    let rate = read("rate", "The rate of both ports.");
    let local = read("local_rate", "The rate of the port to the local switch.");
    let remote = read("remote_rate", "The rate of the port to the long link.");
    let [has_rate, has_local, has_remote] = ["rate", "local_rate", "remote_rate"].map(|name| table.has(name));
    if has_rate && (has_local || has_remote) {
        let name = if has_local { "local_rate" } else { "remote_rate" };
        let remedy = "leave rate out and give local_rate and remote_rate, or rate alone for both";
        table.wrong(name, "rate is the rate of both ports, and is given, too", Some(remedy));
        return None;
    }
    if has_local || has_remote {
        table.must_have("local_rate");
        table.must_have("remote_rate");
        return Some([local?, remote?]);
    }
    table.must_have("rate");
    rate.map(|rate| [rate, rate])
}

/// Room and thresholds, as far as a file has them.
struct Room {
    safety: bool,
    xoff: Option<Bytes>,
    xon: Option<Bytes>,
    local_buffer: Option<Bytes>,
    remote_buffer: Option<Bytes>,
    virtual_queue: Option<VirtualQueue>,
}

impl Room {
    fn read(table: &mut Table<'_>) -> Room {
        let safety = table.flag("safety", "The far relay is held before room runs out.", true);
        let mut bytes = |name, doc| {
            let sizes = Bytes::new(0)..=Bytes::new(1 << 40);
            table.optional(&Parameter::new(name, doc, sizes), "")
        };
        let xoff = bytes("xoff", "The local switch is told to pause above this.");
        let xon = bytes("xon", "The local switch is told to resume at this.");
        let local_buffer = bytes("local_buffer", "Room for what came in on the local port, by priority.");
        let remote_buffer = bytes("remote_buffer", "Room for what came in on the remote port, by priority.");
        let doc =
            "The far relay is held while waiting and granted bytes exceed by this what left in a round trip.";
        let target = bytes("virtual_queue", doc);
        let above =
            bytes("virtual_queue_above", "It is held for virtual_queue only while more than this waits.");
        if above.is_some() && !table.has("virtual_queue") {
            let remedy = "give virtual_queue, too, or leave this out";
            table.wrong("virtual_queue_above", "there is no virtual_queue", Some(remedy));
        }
        let above = above.unwrap_or(Bytes::new(0));
        let virtual_queue = target.map(|target| VirtualQueue { target, above });
        Room { safety, xoff, xon, local_buffer, remote_buffer, virtual_queue }
    }

    /// The parameters that are given, and where there are none the planned ones.
    fn of(&self, planned: &RelayParams) -> RelayParams {
        RelayParams {
            xoff: self.xoff.unwrap_or(planned.xoff),
            xon: self.xon.unwrap_or(planned.xon),
            local_buffer: self.local_buffer.unwrap_or(planned.local_buffer),
            remote_buffer: self.remote_buffer.unwrap_or(planned.remote_buffer),
            safety: planned.safety.filter(|_| self.safety),
            virtual_queue: self.virtual_queue,
            ..planned.clone()
        }
    }
}

/// Notes PAUSEs that run out while this host stands still. Each is repeated when half of it has passed, or `response` later, and must
/// last until then.
fn check_quanta(table: &mut Table<'_>, quanta: u16, fastest: Rate, response: Span) {
    let lasts = lasting(quanta, fastest);
    if lasts / 2 >= response {
        return;
    }
    let most = lasting(LONGEST, fastest) / 2;
    let what = format!(
        "a PAUSE of {quanta} quanta lasts {} at {}, less than twice the response of {}: it runs out while the host stands still",
        lasts.shown(),
        fastest.shown(),
        response.shown()
    );
    if most >= response {
        let remedy = format!("take quanta = {}, or more", covering(response * 2, fastest));
        table.wrong("quanta", &what, Some(&remedy));
    } else {
        let remedy = format!(
            "take at most {}, if this host keeps to that (a core of its own), or leave it out",
            most.shown()
        );
        table.wrong("response", &what, Some(&remedy));
    }
}

/// Notes what does not go together.
fn check(table: &mut Table<'_>, params: &RelayParams, storm_after: Span) {
    table.conflicts(params.conflicts());
    if let Some(least) = params.safety.filter(|least| params.remote_buffer < *least) {
        let what = format!("found {}, less than safety needs", params.remote_buffer.shown());
        let remedy =
            format!("take at least {}, or safety = false and trust both ends to count alike", least.shown());
        table.wrong("remote_buffer", &what, Some(&remedy));
    }
    if let Some(queue) = params.virtual_queue {
        for (name, found) in [("virtual_queue", queue.target), ("virtual_queue_above", queue.above)] {
            if found >= params.remote_buffer {
                let room = params.remote_buffer.shown();
                let what = format!("found {}, no less than remote_buffer, {room}", found.shown());
                table.wrong(name, &what, Some("take less: the far relay would never be held for it"));
            }
        }
        // A hold ends a hysteresis lower.
        if queue.target < params.hysteresis {
            let what = format!("found {}, less than two frames", queue.target.shown());
            let remedy = format!("take at least {}: a hold would not end", params.hysteresis.shown());
            table.wrong("virtual_queue", &what, Some(&remedy));
        }
    }
    let longest = PORTS.map(|port| lasting(LONGEST, params.rate_of(port))).into_iter().max();
    if let Some(longest) = longest.filter(|longest| storm_after <= *longest) {
        let what = format!("found {}, no longer than one PAUSE may last", storm_after.shown());
        table.wrong("storm_after", &what, Some(&format!("take more than {}", longest.shown())));
    }
}

/// The parameters that follow from the link.
fn planned(link: &Link) -> RelayParams {
    let &Link { rates: [local_rate, rate], delay, local_delay, response, frame, priorities } = link;
    let hysteresis = Bytes::new(2 * frame.get());
    let lossless = |rate, delay| LosslessLink {
        priorities,
        response,
        hysteresis,
        ..LosslessLink::new(rate, delay, frame)
    };
    // What comes in on L comes at L's rate, and drains at R's.
    let (local, fibre) = (lossless(local_rate, local_delay), lossless(rate, delay));
    let xon = local.least_xon_at(rate);
    let xoff = Bytes::new(xon.get() + hysteresis.get());
    let Holding { window, overrun, .. } = Holding::of(&fibre);
    let params = RelayParams {
        rate,
        local_rate: (local_rate != rate).then_some(local_rate),
        priorities: usize::from(priorities),
        xoff,
        xon,
        local_buffer: Bytes::new(xoff.get() + local.headroom().any_sizes().get()),
        round_trip: window,
        overrun,
        hysteresis,
        ..RelayParams::default()
    };
    // A process that is late with what the switch takes is not to have the far relay held for that.
    let late = rate.sent_in(response);
    let safety = Bytes::new(params.least_safety().get() + late.get());
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
