//! What Prometheus reads of an agent.

use super::state::{State, STATES};
use super::totals::{FlowTotals, Outcome, Totals};
use crate::control::REASONS;
use crate::daemon::metrics::Kind::{Counter, Gauge};
use crate::daemon::metrics::{Buckets, Page};
use crate::keys::CertificateState;
use crate::testbed::message::{Status, DATAGRAMS, STATUS, TESTBED};

/// The page of an agent.
pub fn page(state: &State) -> String {
    let (status, totals) = (state.status(), state.totals());
    let mut page = Page::new("clearway_agent");
    of_agent(&mut page, &status);
    of_certificate(&mut page, &state.identity().state());
    of_counts(&mut page, totals);
    of_flows(&mut page, &status, totals);
    let (ignored, dropped) = state.ignored();
    page.family(
        Counter,
        "datagrams_ignored_total",
        "Sealed datagrams that were ignored, by the reason.",
        "reason",
        ignored.by_reason(),
    );
    let help = "Datagrams that the kernel dropped at sockets of sealed datagrams.";
    page.one(Counter, "datagrams_dropped_total", help, dropped);
    page.process(status.uptime_ns);
    page.text()
}

fn of_agent(page: &mut Page, status: &Status) {
    let build = [([status.version.clone(), status.kernel.clone()], 1)];
    page.pairs(Gauge, "build_info", "The agent's version and its kernel.", ["version", "kernel"], build);
    let states = STATES.map(|name| (name, u8::from(name == status.state)));
    page.family(Gauge, "state", "What the agent is doing: 1 for the state that it is in.", "state", states);
}

fn of_certificate(page: &mut Page, certificate: &CertificateState) {
    let holds = u8::from(matches!(certificate, CertificateState::Holds(_)));
    page.one(Gauge, "certificate_valid", "Whether the agent's certificate holds.", holds);
    if let CertificateState::Holds(until) | CertificateState::Expired(until) = certificate {
        let help = "The last second of the agent's certificate, since 1970.";
        page.one(Gauge, "certificate_expiry_timestamp_seconds", help, until);
    }
}

fn of_counts(page: &mut Page, totals: &Totals) {
    let counts = totals.counts();
    let runs = Outcome::ALL.map(|outcome| (outcome.name(), counts.runs.get(&outcome).copied().unwrap_or(0)));
    page.family(Counter, "runs_total", "Runs that have ended, by how they did.", "outcome", runs);
    let of = |name| (name, counts.channels.get(name).copied().unwrap_or(0));
    let channels = [TESTBED, STATUS, DATAGRAMS].map(of);
    page.family(
        Counter,
        "control_channels_total",
        "Control channels that were opened, by their purpose.",
        "purpose",
        channels,
    );
    let refused = REASONS.map(|name| (name, counts.refused.get(name).copied().unwrap_or(0)));
    page.family(
        Counter,
        "control_channels_refused_total",
        "Control channels that were refused or did not come about, by the reason.",
        "reason",
        refused,
    );
    let reloads = ["done", "failed"].into_iter().zip(counts.reloads);
    page.family(Counter, "reloads_total", "Reloads of settings and certificates.", "outcome", reloads);
    let help = "Whether the latest reload went well, or there was none.";
    page.one(Gauge, "last_reload_successful", help, u8::from(!counts.is_reload_bad));
}

fn of_flows(page: &mut Page, status: &Status, totals: &Totals) {
    let carriers = totals.carriers();
    let active = carriers.keys().map(|name| {
        let is_now = status.carrier.as_ref() == Some(name);
        (name, if is_now { status.flows_active } else { 0 })
    });
    page.family(Gauge, "flows_active", "Flows that are being sent.", "carrier", active);
    let ended = carriers.iter().flat_map(|(name, flows)| {
        let outcomes =
            [("finished", flows.finished), ("failed", flows.failed), ("unfinished", flows.unfinished)];
        outcomes.map(|(outcome, count)| ([name.clone(), outcome.to_string()], count))
    });
    let help = "Flows sent that are over; unfinished are those that their run's end cut off.";
    page.pairs(Counter, "flows_total", help, ["carrier", "outcome"], ended);
    let each = |value: fn(&FlowTotals) -> u64| carriers.iter().map(move |(name, flows)| (name, value(flows)));
    let help = "Bytes of flows that were acknowledged.";
    page.family(Counter, "acked_bytes_total", help, "carrier", each(|flows| flows.bytes));
    let help = "Packets sent again.";
    page.family(Counter, "retransmissions_total", help, "carrier", each(|flows| flows.retransmissions));
    let trips = carriers.iter().map(|(name, flows)| {
        let sum_seconds = flows.rtt_sum_ns as f64 / 1e9;
        (name.clone(), Buckets { counts: &flows.rtt, sum_seconds })
    });
    let help = "Smoothed round trips of active flows, one a flow and sample.";
    page.histogram("rtt_seconds", help, "carrier", trips);
}
