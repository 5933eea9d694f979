//! The figures of an arbiter or an endpoint: as a status on a control channel, and as metrics.

use std::collections::BTreeMap;

use clearway_proto::fastpass::arbiter::Role;
use clearway_proto::fastpass::endpoint::Mode;
use serde::{Deserialize, Serialize};

use super::link::clock::Offset;
use super::link::opening::Party;
use super::link::wire::{Ignored, LinkFigures, Peer};
use super::{arbiter, endpoint};
use crate::daemon::metrics::Kind::{Counter, Gauge};
use crate::daemon::metrics::Page;
use crate::keys::CertificateState;

/// The status of an arbiter or an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `arbiter` or `endpoint`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// Its version of Clearway.
    pub version: String,
    /// Nanoseconds since its start.
    pub uptime_ns: u64,
    /// `primary` or `standby`; `scheduled` or `unscheduled`.
    pub state: String,
    /// The term of which it is the primary, or that it follows; 0 for none.
    pub term: u32,
    /// Whether its certificate holds, in words.
    pub certificate: String,
    /// Its sessions.
    pub sessions: Vec<Session>,
    /// Links that are taken for failed; an arbiter's.
    pub failed_links: Vec<String>,
    /// The part of each timeslot that is left empty, in nanoseconds; an endpoint's.
    pub guard_ns: Option<u64>,
    /// The counts since its start, by their names.
    pub counts: BTreeMap<String, u64>,
}

/// A session, as a status has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The name of the peer.
    pub with: String,
    /// The arbiter or endpoint at the other end.
    pub peer: Peer,
    /// The address at which it was heard last.
    pub address: String,
    /// Nanoseconds since its last packet.
    pub silent_ns: u64,
    /// The difference of its clock from this host's; none if it is not known.
    pub clock: Option<Offset>,
}

/// A snapshot of a node that can be shown.
pub trait Shown {
    /// Its status.
    fn status(&self, party: &Party) -> Status;

    /// Its page of metrics.
    fn page(&self, party: &Party) -> String;

    /// A line for the service manager.
    fn line(&self) -> String;
}

fn sessions(party: &Party, links: &[LinkFigures]) -> Vec<Session> {
    let of = |link: &LinkFigures| Session {
        with: party.name_of(link.peer).unwrap_or("nobody").to_string(),
        peer: link.peer,
        address: link.address.to_string(),
        silent_ns: link.silent_ns,
        clock: link.offset,
    };
    links.iter().map(of).collect()
}

/// The parts of a status that all have.
fn common(party: &Party, what: &str, state: &str, uptime_ns: u64, links: &[LinkFigures]) -> Status {
    let identity = party.identity();
    Status {
        what: what.into(),
        name: identity.name().into(),
        version: env!("CARGO_PKG_VERSION").into(),
        uptime_ns,
        state: state.into(),
        term: 0,
        certificate: identity.state().to_string(),
        sessions: sessions(party, links),
        failed_links: Vec::new(),
        guard_ns: None,
        counts: BTreeMap::new(),
    }
}

fn insert(counts: &mut BTreeMap<String, u64>, named: &[(&str, &str, u64)]) {
    counts.extend(named.iter().map(|(name, _, value)| ((*name).to_string(), *value)));
}

/// The metrics that all have.
fn page_of_links(page: &mut Page, party: &Party, links: &[LinkFigures], ignored: Ignored) {
    let state = party.identity().state();
    let holds = u8::from(matches!(state, CertificateState::Holds(_)));
    page.one(Gauge, "certificate_valid", "Whether the certificate holds.", holds);
    if let CertificateState::Holds(until) | CertificateState::Expired(until) = state {
        let help = "The last second of the certificate, since 1970.";
        page.one(Gauge, "certificate_expiry_timestamp_seconds", help, until);
    }
    let named = |link: &LinkFigures| party.name_of(link.peer).unwrap_or("nobody").to_string();
    page.family(
        Gauge,
        "session_silent_seconds",
        "Time since the peer of a session gave a sign of life.",
        "peer",
        links.iter().map(|link| (named(link), link.silent_ns as f64 / 1e9)),
    );
    let offsets = |of: fn(&Offset) -> f64| {
        let known = links.iter().filter_map(move |link| Some((named(link), of(&link.offset?))));
        known.collect::<Vec<_>>()
    };
    let help = "How far a peer's clock is ahead, in seconds.";
    page.family(Gauge, "clock_offset_seconds", help, "peer", offsets(|offset| offset.ahead_ns as f64 / 1e9));
    let help = "The most that the offset of a peer's clock can be wrong by, in seconds.";
    page.family(Gauge, "clock_error_seconds", help, "peer", offsets(|offset| offset.within_ns as f64 / 1e9));
    let Ignored { unknown, forged, replayed, refused } = ignored;
    let reasons = [("unknown", unknown), ("forged", forged), ("replayed", replayed), ("refused", refused)];
    page.family(
        Counter,
        "datagrams_ignored_total",
        "Datagrams of FCP that were ignored, by the reason.",
        "reason",
        reasons,
    );
}

fn page_of_counts(page: &mut Page, named: &[(&str, &str, u64)]) {
    for (name, help, value) in named {
        page.one(Counter, &format!("{name}_total"), help, value);
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Primary => "primary",
        Role::Standby => "standby",
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Scheduled => "scheduled",
        Mode::Unscheduled => "unscheduled",
    }
}

impl Shown for arbiter::node::Seen {
    fn status(&self, party: &Party) -> Status {
        let mut status = common(party, "arbiter", role_name(self.role), self.uptime_ns, &self.links);
        status.term = self.term;
        status.failed_links.clone_from(&self.failed_links);
        insert(&mut status.counts, &arbiter::counts::named(&self.counters));
        let more = [
            ("slots_outstanding", self.counters.outstanding()),
            ("datagrams_dropped", self.socket_drops.into()),
            ("send_errors", self.send_errors),
        ];
        status.counts.extend(more.map(|(name, value)| (name.to_string(), value)));
        status
    }

    fn page(&self, party: &Party) -> String {
        let mut page = Page::new("clearway_arbiter");
        page.one(
            Gauge,
            "primary",
            "Whether this arbiter is the primary.",
            u8::from(self.role == Role::Primary),
        );
        page.one(
            Gauge,
            "term",
            "The term of which it is the primary, or the newest that it knows of.",
            self.term,
        );
        let help = "Timeslots that were demanded and are not granted: the queue of demand.";
        page.one(Gauge, "slots_outstanding", help, self.counters.outstanding());
        page.one(Gauge, "failed_links", "Links that are taken for failed.", self.failed_links.len());
        page_of_counts(&mut page, &arbiter::counts::named(&self.counters));
        let help =
            "Datagrams that the kernel dropped at the socket: requests that came faster than they were read.";
        page.one(Counter, "datagrams_dropped_total", help, self.socket_drops);
        page.one(Counter, "send_errors_total", "Datagrams that could not be sent.", self.send_errors);
        page_of_links(&mut page, party, &self.links, self.ignored);
        page.process(self.uptime_ns);
        page.text()
    }

    fn line(&self) -> String {
        format!("{} of term {}, {} sessions", role_name(self.role), self.term, self.links.len())
    }
}

impl Shown for endpoint::node::Seen {
    fn status(&self, party: &Party) -> Status {
        let mut status = common(party, "endpoint", mode_name(self.mode), self.uptime_ns, &self.links);
        status.term = self.term;
        status.guard_ns = Some(self.guard_ns);
        insert(&mut status.counts, &endpoint::counts::named(&self.counters));
        let figures = &self.figures;
        let more = [
            ("slots_unused", self.unused),
            ("slots_not_arrived", self.lost),
            ("unscheduled_ns", self.unscheduled_ns),
            ("bytes_waiting", figures.waiting_bytes),
            ("bytes_scheduled", figures.scheduled_bytes),
            ("bytes_unscheduled", figures.unscheduled_bytes),
            ("bytes_received", figures.received_bytes),
            ("packets_dropped", figures.dropped_packets),
            ("send_errors", self.send_errors),
        ];
        status.counts.extend(more.map(|(name, value)| (name.to_string(), value)));
        status.counts.extend(figures.more.iter().map(|(name, value)| ((*name).to_string(), *value)));
        status
    }

    fn page(&self, party: &Party) -> String {
        let mut page = Page::new("clearway_endpoint");
        let scheduled = u8::from(self.mode == Mode::Scheduled);
        page.one(Gauge, "scheduled", "Whether packets leave in timeslots.", scheduled);
        page.one(Gauge, "term", "The term of the primary that it follows; 0 for none.", self.term);
        let help = "The part of each timeslot that is left empty, in seconds.";
        page.one(Gauge, "guard_seconds", help, self.guard_ns as f64 / 1e9);
        let help = "Time in which packets left without timeslots, in seconds.";
        page.one(Counter, "unscheduled_seconds_total", help, self.unscheduled_ns as f64 / 1e9);
        page_of_counts(&mut page, &endpoint::counts::named(&self.counters));
        page.one(Counter, "slots_unused_total", "Timeslots in whose time nothing waited.", self.unused);
        let help = "Timeslots used in which nothing arrived, as their destinations say.";
        page.one(Counter, "slots_not_arrived_total", help, self.lost);
        let figures = &self.figures;
        page.one(Gauge, "waiting_bytes", "Bytes that wait for timeslots.", figures.waiting_bytes);
        let help = "Bytes sent, by whether there was an arbiter.";
        let sent = [("timeslots", figures.scheduled_bytes), ("none", figures.unscheduled_bytes)];
        page.family(Counter, "sent_bytes_total", help, "by", sent);
        page.one(
            Counter,
            "received_bytes_total",
            "Bytes received from other endpoints.",
            figures.received_bytes,
        );
        let help = "Packets dropped for want of room in a queue.";
        page.one(Counter, "packets_dropped_total", help, figures.dropped_packets);
        let help = "Other counts of what carries the traffic, by their names.";
        page.family(
            Counter,
            "carriage_total",
            help,
            "count",
            figures.more.iter().map(|(name, value)| (*name, *value)),
        );
        page_of_links(&mut page, party, &self.links, self.ignored);
        page.process(self.uptime_ns);
        page.text()
    }

    fn line(&self) -> String {
        format!("{} in term {}, {} sessions", mode_name(self.mode), self.term, self.links.len())
    }
}
