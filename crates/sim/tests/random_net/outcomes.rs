//! Checks of outcomes: whether two are the same to the last bit, and whether one can be true.

use std::collections::BTreeSet;
use std::fmt::Debug;

use clearway_sim::record::{Column, Outcome, Table, Value};

/// The first difference between two outcomes; `None` if they are the same.
pub fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    if one.digest != other.digest {
        return difference_of_tables(one, other)
            .or_else(|| Some(format!("digest: {} and {}", one.digest, other.digest)));
    }
    let names = |outcome: &Outcome| outcome.tables.iter().map(|table| table.name).collect::<Vec<_>>();
    if names(one) != names(other) {
        return Some(format!("tables: {:?} and {:?}", names(one), names(other)));
    }
    difference_of_tables(one, other)
}

/// The first difference in packet-hops, in the summary, or in a table that both outcomes have.
pub fn difference_of_tables(one: &Outcome, other: &Outcome) -> Option<String> {
    let tables = one.tables.iter().filter_map(|table| {
        let twin = other.tables.iter().find(|twin| twin.name == table.name)?;
        difference_of_columns(table, twin)
    });
    let hops = (one.packet_hops != other.packet_hops)
        .then(|| format!("packet-hops: {} and {}", one.packet_hops, other.packet_hops));
    tables.chain(hops).next().or_else(|| difference_of_values("summary", &one.summary, &other.summary))
}

fn difference_of_columns(one: &Table, other: &Table) -> Option<String> {
    for ((name, values), (twin, others)) in one.columns.iter().zip(&other.columns) {
        // These name the class, which another way of writing the scenario may add.
        if name != twin || (*name == "class" && ["links_series", "pauses"].contains(&one.name)) {
            continue;
        }
        if let Some(difference) = difference_of_values_in(values, others) {
            return Some(format!("table {}, column {name}: {difference}", one.name));
        }
    }
    None
}

fn difference_of_values_in(one: &Column, other: &Column) -> Option<String> {
    match (one, other) {
        (Column::Integers(one), Column::Integers(other)) => first_difference(one, other, |a, b| a == b),
        // To the last bit: what was not measured is NaN, which equals nothing, itself included.
        (Column::Floats(one), Column::Floats(other)) => {
            first_difference(one, other, |a, b| a.to_bits() == b.to_bits())
        }
        (Column::Texts(one), Column::Texts(other)) => {
            let [one, other] = [one, other].map(|texts| texts.iter().collect::<Vec<_>>());
            first_difference(&one, &other, |a, b| a == b)
        }
        _ => Some("values of two kinds".into()),
    }
}

fn first_difference<T: Debug>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} rows and {}", one.len(), other.len()));
    }
    let row = one.iter().zip(other).position(|(one, other)| !same(one, other))?;
    Some(format!("row {row}: {:?} and {:?}", one[row], other[row]))
}

fn difference_of_values(path: &str, one: &Value, other: &Value) -> Option<String> {
    let (Value::Object(one), Value::Object(other)) = (one, other) else {
        return (one != other).then(|| format!("{path}: {one:?} and {other:?}"));
    };
    if one.len() != other.len() {
        return Some(format!("{path}: {} figures and {}", one.len(), other.len()));
    }
    one.iter().zip(other).find_map(|((name, one), (twin, other))| {
        if name != twin {
            return Some(format!("{path}: {name} and {twin}"));
        }
        difference_of_values(&format!("{path}.{name}"), one, other)
    })
}

/// A figure of the summary; `None` where nothing was measured.
pub fn figure(outcome: &Outcome, name: &str) -> Option<f64> {
    let Value::Object(figures) = &outcome.summary else { return None };
    match &figures.iter().find(|(other, _)| other == name)?.1 {
        Value::Integer(count) => Some(*count as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> Option<&'a Column> {
    let table = outcome.tables.iter().find(|other| other.name == table)?;
    table.columns.iter().find(|(other, _)| *other == name).map(|(_, column)| column)
}

/// A column of counts; empty where the table is not there.
pub fn counts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [u64] {
    match column(outcome, table, name) {
        Some(Column::Integers(values)) => values,
        _ => &[],
    }
}

/// A column of measured values; empty where the table is not there.
pub fn measured<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [f64] {
    match column(outcome, table, name) {
        Some(Column::Floats(values)) => values,
        _ => &[],
    }
}

/// A column of names; empty where the table is not there.
pub fn texts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> Vec<&'a str> {
    match column(outcome, table, name) {
        Some(Column::Texts(values)) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns what no run can have done; `None` if all is possible.
pub fn impossible(outcome: &Outcome) -> Option<String> {
    // A last bit may be rounded up.
    const ROUNDING: f64 = 1e-9;
    let sooner =
        measured(outcome, "flows", "slowdown").iter().position(|slowdown| *slowdown < 1.0 - ROUNDING);
    if let Some(flow) = sooner {
        return Some(format!("flow {flow} is complete sooner than an empty network allows"));
    }
    let busy = measured(outcome, "links", "utilisation");
    if let Some(link) = busy.iter().position(|busy| !(-ROUNDING..=1.0 + ROUNDING).contains(busy)) {
        return Some(format!("link {link} carries {} of what it can", busy[link]));
    }
    if let Some(what) = other_totals(outcome) {
        return Some(what);
    }
    let peaks = counts(outcome, "links", "queue_peak_bytes");
    let means = measured(outcome, "links", "queue_mean_bytes");
    let above = means.iter().zip(peaks).position(|(mean, peak)| *mean > *peak as f64 + ROUNDING);
    above.map(|link| format!("link {link}: the mean queue, {}, is longer than the longest", means[link]))
}

/// The first total of the summary that is not the sum over the links' rows; `None` if all are.
fn other_totals(outcome: &Outcome) -> Option<String> {
    ["drops", "marks", "fault_losses"].into_iter().find_map(|name| {
        let (sum, said) = (counts(outcome, "links", name).iter().sum::<u64>(), figure(outcome, name)?);
        (sum as f64 != said)
            .then(|| format!("{name}: the summary says {said}, and the links' rows have {sum}"))
    })
}

/// The sum of the rates of the links to the hosts that receive flows, and how many these are; `None` where a host is not
/// called by its number, as in a topology file.
fn receivers_rate(outcome: &Outcome) -> Option<(f64, usize)> {
    let receivers: BTreeSet<u64> = counts(outcome, "flows", "to").iter().copied().collect();
    let (names, rates) = (texts(outcome, "links", "link"), measured(outcome, "links", "rate_gbps"));
    let rate_to = |host: &u64| {
        let end = format!(">h{host}");
        names.iter().position(|name| name.ends_with(&end)).map(|link| rates[link])
    };
    let found: Option<Vec<f64>> = receivers.iter().map(rate_to).collect();
    found.map(|rates| (rates.iter().sum(), rates.len()))
}

/// Returns what says that receivers were given more payload than the links to them carry; `None` if they were not. After a
/// warm-up that ends at this time, in microseconds, each may be given a frame that was on its way when the warm-up ended; of what
/// then waited for a host's processor nothing is said.
pub fn faster_than_links(outcome: &Outcome, warmup: f64, full_frame: f64) -> Option<String> {
    const ROUNDING: f64 = 1e-9;
    let (rate, receivers) = receivers_rate(outcome)?;
    let simulated = figure(outcome, "simulated_us")?;
    let delivered = counts(outcome, "flows", "delivered_bytes").iter().sum::<u64>() as f64 * 8e-3;
    if delivered > rate * simulated * (1.0 + ROUNDING) {
        return Some(format!("{delivered} kb were delivered in {simulated} us by links of {rate} Gb/s"));
    }
    if warmup > 0.0 && figure(outcome, "host_drops").is_some() {
        return None;
    }
    let goodput = figure(outcome, "goodput_gbps")?;
    let measured = figure(outcome, "measured_until_us")? - figure(outcome, "measured_from_us")?;
    let on_its_way = if warmup > 0.0 { receivers as f64 * full_frame * 8e-3 / measured } else { 0.0 };
    (goodput > (rate + on_its_way) * (1.0 + ROUNDING))
        .then(|| format!("a goodput of {goodput} Gb/s over links of {rate} Gb/s"))
}
