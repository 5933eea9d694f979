//! A relay's metrics.

use super::figures::{LaneFigures, PortFigures, State};
use super::kernel::LaneCounters;
use super::lanes::PORTS;
use super::probe::{Finding, LinkFigures};
use super::work::Seen;
use crate::daemon::metrics::Kind::{self, Counter, Gauge};
use crate::daemon::metrics::Page;

/// A metric of a port: its kind, its name, its meaning, and its value.
type OfPort = (Kind, &'static str, &'static str, fn(&PortFigures) -> u64);
/// A metric of a lane.
type OfLane = (Kind, &'static str, &'static str, fn(&LaneFigures, &LaneCounters) -> u64);

const OF_PORTS: [OfPort; 10] = [
    (Counter, "pauses_received_total", "PAUSEs that came, by priority and frame.", |f| f.pauses_received),
    (Counter, "resumes_received_total", "RESUMEs that came.", |f| f.resumes_received),
    (Counter, "pauses_sent_total", "PAUSEs sent.", |f| f.pauses_sent),
    (Counter, "resumes_sent_total", "RESUMEs sent.", |f| f.resumes_sent),
    (Counter, "frames_stored_total", "Frames that came in and were stored.", |f| f.stored),
    (Counter, "frames_dropped_total", "Frames for which there was no room.", |f| f.refused.overflow),
    (
        Counter,
        "frames_given_up_total",
        "Frames dropped as the port that they leave on was paused without an end.",
        |f| f.refused.given_up,
    ),
    (
        Counter,
        "pfc_malformed_total",
        "PFC frames that end too early or name priorities that there are not.",
        |f| f.refused.malformed,
    ),
    (
        Counter,
        "control_ignored_total",
        "MAC control frames that are not PFC, such as PAUSE of the whole link.",
        |f| f.refused.not_pfc,
    ),
    (Counter, "pfc_ignored_total", "Priorities in PFC frames that are not lossless here.", |f| {
        f.refused.not_lossless
    }),
];

const OF_LANES: [OfLane; 11] = [
    (Gauge, "waiting_bytes", "Bytes that wait, as the link counts them.", |f, _| f.waiting),
    (Gauge, "waiting_peak_bytes", "The most bytes that ever waited.", |f, _| f.peak),
    (Gauge, "waiting_frames", "Frames that wait.", |f, _| f.frames),
    (Gauge, "paused", "Whether the port that they leave on is told to pause.", |f, _| f.is_paused.into()),
    (Gauge, "held", "Whether the far relay is held, as room would run out.", |f, _| f.is_held.into()),
    (
        Gauge,
        "given_up",
        "Whether frames are dropped, as the port that they leave on is paused without an end.",
        |f, _| f.is_given_up.into(),
    ),
    (Gauge, "closed", "Whether frames go to the process.", |_, c| c.is_closed.into()),
    (Counter, "frames_passed_total", "Frames that the kernel passed on.", |_, c| c.passed),
    (Counter, "bytes_passed_total", "Bytes that the kernel passed on, as the link counts them.", |_, c| {
        c.passed_bytes
    }),
    (Counter, "frames_to_process_total", "Frames that went to the process.", |_, c| c.stored),
    (
        Counter,
        "frames_passed_dead_total",
        "Frames that the kernel passed on out of their turn, as the process was not alive.",
        |_, c| c.passed_dead,
    ),
];

/// The page of metrics.
pub fn page(seen: &Seen) -> String {
    let mut page = Page::new("clearway_relay");
    for (kind, metric, help, value) in OF_PORTS {
        let values = PORTS.map(|port| (port.name(), value(&seen.ports[port as usize])));
        page.family(kind, metric, help, "port", values);
    }
    for (kind, metric, help, value) in OF_LANES {
        let values = seen.lanes.iter().map(|(port, priority, figures, counters)| {
            ([port.name().to_string(), priority.to_string()], value(figures, counters))
        });
        page.pairs(kind, metric, help, ["from", "priority"], values);
    }
    let drift = seen.lanes.iter().filter_map(|(port, priority, figures, _)| {
        Some(([port.name().to_string(), priority.to_string()], figures.drift?))
    });
    let help = "Bytes that wait or may come beyond a round trip of the link, as both ends count differently.";
    page.pairs(Gauge, "drift_bytes", help, ["from", "priority"], drift);
    let LinkFigures { probes, answers, delay_ns, planned_delay_ns, finding, .. } = seen.link;
    page.one(Counter, "probes_total", "Probes of the long link that were sent.", probes);
    page.one(Counter, "probe_answers_total", "Probes of the long link that came back.", answers);
    let planned = planned_delay_ns as f64 / 1e9;
    page.one(Gauge, "planned_delay_seconds", "The delay one way that is planned for, in seconds.", planned);
    let findings = [Finding::AsPlanned, Finding::Longer, Finding::Silent];
    let found = findings.map(|each| (each.name(), u8::from(finding == Some(each))));
    page.family(Gauge, "link_found", "What probes have found of the long link.", "finding", found);
    if let Some(delay_ns) = delay_ns {
        let help = "The delay one way of the long link, in seconds: half of the quickest of the last 16 round trips.";
        page.one(Gauge, "delay_seconds", help, delay_ns as f64 / 1e9);
    }
    let help = "Whether the port is up and has a carrier.";
    let up = PORTS.map(|port| (port.name(), u8::from(seen.states[port as usize] == State::Up)));
    page.family(Gauge, "port_up", help, "port", up);
    let help = "Frames that could not be sent.";
    page.one(Counter, "send_errors_total", help, seen.send_errors);
    page.process(seen.uptime_ns);
    page.text()
}
