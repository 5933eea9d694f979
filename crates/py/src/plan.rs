//! The plan of a long link, as JSON.

use clearway_proto::pfc::headroom::Headroom;
use clearway_proto::swing::plan::{DciLink, Scheme, Thresholds};
use clearway_proto::units::{Bytes, Rate, Span};
use pyo3::prelude::*;
use serde_json::{json, Map, Value};

/// The drains that are shown.
const SHOWN_DRAINS: [f64; 4] = [0.2, 0.5, 0.8, 0.95];

/// A long link as Python asks for it: times in picoseconds, the rate in bits a second, sizes in bytes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    rate: u64,
    delay: u64,
    local_delay: u64,
    drain: f64,
    drain_most: f64,
    frame: u64,
    own_frame: u64,
    response: u64,
    priorities: u8,
    hysteresis: u64,
}

/// Returns what a long link needs to be lossless, as JSON: buffers and thresholds if its length is known, and what `buffer` is
/// enough for.
#[pyfunction]
pub fn plan_dci_buffer(asked: Asked, with_distance: bool, buffer: Option<u64>) -> String {
    let link = DciLink {
        rate: Rate::from_bps(asked.rate),
        delay: Span::from_ps(asked.delay),
        local_delay: Span::from_ps(asked.local_delay),
        least_drain: asked.drain,
        most_drain: asked.drain_most,
        frame: Bytes::new(asked.frame),
        own_frame: Bytes::new(asked.own_frame),
        response: Span::from_ps(asked.response),
        priorities: asked.priorities,
        hysteresis: Bytes::new(asked.hysteresis),
    };
    let mut answer = Map::new();
    if with_distance {
        answer.insert("bdp_bytes".into(), link.bdp().get().into());
        answer.insert("headroom".into(), headroom_json(&link.headroom()));
        answer.insert("schemes".into(), of_schemes(|scheme| scheme_json(&link, scheme)));
        answer.insert("local_port".into(), thresholds_json(link.local_thresholds()));
        answer.insert("relay_inside".into(), inside_json(&link));
        answer.insert("pause".into(), pause_json(&link));
    }
    if let Some(buffer) = buffer {
        let of = of_schemes(|scheme| {
            let longest = link.longest_delay(scheme, Bytes::new(buffer)).map(Span::as_ps);
            json!({ "longest_delay_ps": longest, "links": link.links(scheme, Bytes::new(buffer)) })
        });
        answer.insert("with_buffer".into(), json!({ "buffer_bytes": buffer, "schemes": of }));
    }
    Value::Object(answer).to_string()
}

fn of_schemes(of: impl Fn(Scheme) -> Value) -> Value {
    let named = Scheme::ALL.map(|scheme| {
        let name = match scheme {
            Scheme::PfcWithoutDrop => "pfc_without_drop",
            Scheme::PfcWithoutLoss => "pfc_without_loss",
            Scheme::Relay => "relay",
        };
        (name.to_string(), of(scheme))
    });
    Value::Object(named.into_iter().collect())
}

fn headroom_json(headroom: &Headroom) -> Value {
    json!({
        "round_trip_us": headroom.round_trip.as_us_f64(),
        "own_frame_us": headroom.own_frame.as_us_f64(),
        "pfc_ahead_us": headroom.pfc_ahead.as_us_f64(),
        "pause_frame_us": headroom.pause_frame.as_us_f64(),
        "response_us": headroom.response.as_us_f64(),
        "window_us": headroom.window().as_us_f64(),
        "frames": headroom.frames(),
        "one_size_bytes": headroom.bytes().get(),
        "any_sizes_bytes": headroom.any_sizes().get(),
    })
}

fn thresholds_json(thresholds: Thresholds) -> Value {
    json!({
        "xoff_bytes": thresholds.xoff.get(),
        "xon_bytes": thresholds.xon.get(),
        "headroom_bytes": thresholds.headroom.get(),
        "buffer_bytes": thresholds.buffer().get(),
    })
}

fn scheme_json(link: &DciLink, scheme: Scheme) -> Value {
    // Below the least that drains it may drop.
    let mut drains = vec![link.least_drain];
    drains.extend(SHOWN_DRAINS);
    drains.retain(|&drain| drain >= link.least_drain && drain > 0.0);
    let carries: Map<String, Value> =
        drains.iter().map(|&drain| (drain.to_string(), link.carries(scheme, drain).into())).collect();
    json!({
        "thresholds": link.thresholds(scheme).map(thresholds_json),
        "buffer_bytes": link.buffer(scheme).get(),
        "link_buffer_bytes": link.link_buffer(scheme).get(),
        "switch_buffer_bytes": link.switch_buffer(scheme).get(),
        "carries_at_drain": carries,
    })
}

fn inside_json(link: &DciLink) -> Value {
    let of_priority = link.inside_buffer().get();
    json!({
        "buffer_bytes": of_priority,
        "link_buffer_bytes": of_priority * u64::from(link.priorities),
    })
}

fn pause_json(link: &DciLink) -> Value {
    let pause = link.pause();
    json!({
        "quanta": pause.quanta,
        "lasts_us": pause.lasts.as_us_f64(),
        "repeat_within_us": pause.repeat_within.map(Span::as_us_f64),
    })
}
