//! The table and the figures of flow control; there are none where no switch has any.

use clearway_proto::units::Span;

use super::definitions::table;
use super::footprint::{link_text_bytes, text_bytes, NUMBER};
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use crate::simulation::LinkPauses;
use crate::topology::shape::Shape;

/// Returns the memory in bytes for a row of the table `pauses`, and for what it is made of, if the class's name has `name`
/// characters.
pub fn pause_row_bytes(shape: &dyn Shape, name: usize) -> f64 {
    link_text_bytes(shape) + text_bytes(name) + NUMBER * 7.0 + size_of::<LinkPauses>() as f64
}

table! {
    /// A row for each direction of each link and each lossless class that flow control can pause on it. No
    /// such table where no switch has flow control.
    Pauses as "pauses" {
        /// The link's name; its far end is where PAUSEs come from.
        link: Nothing,
        /// The class's name; empty where there are no classes.
        class: Nothing,
        /// How long the class was paused on the link.
        paused_us: Run,
        /// How often it was paused.
        pauses: Run,
        /// PAUSEs and RESUMEs that the far end sent against the link, in all classes.
        pfc_frames: Run,
        /// PAUSEs and RESUMEs of these that were lost.
        pfc_frames_lost: Run,
        /// Most bytes at once that the link had brought to the far end and that were still there.
        account_peak_bytes: Run,
        /// Most of these bytes at once that were beyond XOFF, where a PAUSE is sent.
        headroom_peak_bytes: Run,
        /// Room at the far end beyond XOFF.
        headroom_bytes: Nothing,
    }
}

/// The table of what flow control did: a row for each directed link and lossless class that it can pause. All is of the
/// whole run.
pub(super) fn pauses(measured: &Measured) -> Option<Table> {
    let simulation = measured.simulation;
    let rows: Vec<(u32, LinkPauses)> = (0..simulation.links())
        .flat_map(|link| simulation.link_pauses(link).into_iter().map(move |row| (link, row)))
        .collect();
    let class = |row: &LinkPauses| {
        let class = measured.scenario.classes.get(row.class);
        class.map_or(String::new(), |class| class.name.clone())
    };
    let integers =
        |value: fn(&LinkPauses) -> u64| Column::Integers(rows.iter().map(|(_, row)| value(row)).collect());
    let names = rows.iter().map(|(link, _)| simulation.graph().link_name(*link)).collect();
    let columns = Pauses {
        link: Column::Texts(names),
        class: Column::Texts(rows.iter().map(|(_, row)| class(row)).collect()),
        paused_us: Column::Floats(rows.iter().map(|(_, row)| row.paused.as_us_f64()).collect()),
        pauses: integers(|row| row.pauses),
        pfc_frames: integers(|row| row.frames),
        pfc_frames_lost: integers(|row| row.lost),
        account_peak_bytes: integers(|row| row.peak),
        headroom_peak_bytes: integers(|row| row.peak_headroom),
        headroom_bytes: integers(|row| row.headroom),
    };
    (!rows.is_empty()).then(|| columns.table())
}

table! {
    /// A row for each link of a circle of links that wait for each other when the run ended, each for the
    /// next and the last for the first. No such table where there is none.
    Deadlock as "deadlock" {
        /// The link's name.
        link: Nothing,
    }
}

/// The table of links that wait for each other for ever, each for the next and the last for the first; `None` where there
/// are none.
pub(super) fn deadlock(measured: &Measured) -> Option<Table> {
    let links = measured.simulation.deadlock();
    (!links.is_empty()).then(|| Deadlock { link: Column::Texts(links.into_iter().collect()) }.table())
}

/// The figures of flow control in the summary.
pub(super) fn figures(measured: &Measured) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    let rows: Vec<LinkPauses> =
        (0..simulation.links()).flat_map(|link| simulation.link_pauses(link)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let hosts = simulation.graph().host_count();
    let of_hosts = (0..hosts).flat_map(|host| simulation.link_pauses(simulation.graph().nic(host)));
    let host_time = of_hosts.map(|row| row.paused).fold(Span::ZERO, |all, one| all + one);
    vec![
        ("pause_share".into(), Value::Float(share(&rows, measured))),
        ("host_pause_us".into(), Value::Float(host_time.as_us_f64() / f64::from(hosts.max(1)))),
        ("deadlocked_links".into(), Value::Integer(simulation.deadlock().len() as u64)),
    ]
}

/// The share of the time for which links were paused, over all links and lossless classes.
fn share(rows: &[LinkPauses], measured: &Measured) -> f64 {
    let paused: f64 = rows.iter().map(|row| row.paused.as_us_f64()).sum();
    paused / (measured.end.as_us_f64() * rows.len() as f64)
}
