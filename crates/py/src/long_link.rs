//! The closed forms of a long link, `clearway_proto::swing::model`, for the figures that draw them.

use std::collections::BTreeMap;

use clearway_proto::swing::model::{LongLink, ShortOfHeadroom};
use clearway_proto::units::{Bytes, Rate, Span, RATES};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns what the closed forms say of a link of this rate and delay one way, before a buffer that drains at the share `drain`
/// of the rate: shares of the rate that PFC and the relay carry, and PFC's cycle at this `threshold` (that of the paper if none
/// is given). Times are in microseconds. Raises `ValueError` unless the drain is more than 0 and less than 1.
#[pyfunction]
#[pyo3(signature = (rate_bps, delay_ps, buffer, drain, threshold=None))]
pub fn long_link(
    rate_bps: u64,
    delay_ps: u64,
    buffer: u64,
    drain: f64,
    threshold: Option<u64>,
) -> PyResult<BTreeMap<&'static str, f64>> {
    let rate = Rate::from_bps(rate_bps.max(1));
    let known = drain > 0.0 && drain < 1.0 && RATES.contains(&rate);
    if !known {
        return Err(PyValueError::new_err("a drain between 0 and 1, and a rate that a link can have"));
    }
    let link = LongLink { rate, delay: Span::from_ps(delay_ps) };
    let buffer = Bytes::new(buffer);
    let threshold = threshold.map_or_else(|| link.paper_threshold(buffer), Bytes::new);
    let cycle = link.cycle(threshold, drain);
    let period = cycle.period.as_us_f64();
    Ok(BTreeMap::from([
        ("bdp_bytes", link.bdp().get() as f64),
        ("threshold_bytes", threshold.get() as f64),
        ("pfc_share", link.pfc_utilisation(buffer, drain, ShortOfHeadroom::Zero)),
        ("pfc_share_at_constant_drain", link.pfc_utilisation(buffer, drain, ShortOfHeadroom::ConstantDrain)),
        ("relay_share", link.relay_utilisation(buffer, drain, ShortOfHeadroom::Zero)),
        ("cycle_share", cycle.active.as_us_f64() / period),
        ("t1_us", cycle.t1.as_us_f64()),
        ("t2_us", cycle.t2.as_us_f64()),
        ("t3_us", cycle.t3.as_us_f64()),
        ("period_us", period),
        ("lowest_bytes", cycle.lowest.get() as f64),
        ("highest_bytes", cycle.highest.get() as f64),
        ("standing_queue_bytes", link.standing_queue(drain).get() as f64),
    ]))
}
