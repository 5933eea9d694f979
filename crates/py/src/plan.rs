//! The plan of a long link, for options as a person writes them, as JSON.

use std::collections::BTreeMap;

use clearway_proto::pfc::headroom::Headroom;
use clearway_proto::quantity;
use clearway_proto::swing::plan::{DciLink, Scheme, Thresholds};
use clearway_proto::units::{Bytes, Span};
use serde_json::{json, Map, Value};

use crate::options::{Options, Problem, BEYOND_MTU};

/// Light takes 5 us for a kilometre of fibre.
const DELAY_OF_A_METRE: Span = Span::from_ns(5);
/// Half around the earth.
const LONGEST_METRES: u64 = 20_000_000;
/// The drains that are shown.
const SHOWN_DRAINS: [f64; 4] = [0.2, 0.5, 0.8, 0.95];

/// A plan for the options given, as a JSON object.
pub fn dci_buffer(given: &BTreeMap<String, String>) -> Result<Value, Vec<Problem>> {
    let mut options = Options::new(given);
    let metres = metres(&mut options);
    let transponder = options.time("transponder", Span::ZERO, Span::from_ms(10));
    let frame = options.frame("mtu").unwrap_or(Bytes::new(1_500 + BEYOND_MTU));
    let sizes = Bytes::new(0)..=Bytes::new(1 << 50);
    let link = DciLink {
        rate: options.rate(),
        delay: DELAY_OF_A_METRE * metres.unwrap_or(0) + transponder * 2,
        local_delay: options.time("local_delay", Span::from_us(1), Span::from_ms(1)),
        least_drain: options.share("drain", 0.0),
        most_drain: options.share("drain_most", 1.0),
        frame,
        own_frame: options.frame("reverse_mtu").unwrap_or(frame),
        response: options.time("response", Span::ZERO, Span::from_ms(1)),
        priorities: options.count("priorities", 1, &(1..=8)),
        hysteresis: options.size("hysteresis", &sizes).unwrap_or(Bytes::new(2 * frame.get())),
    };
    let buffer = options.size("buffer", &sizes);
    if link.least_drain > link.most_drain {
        options.problem(
            "drain",
            format!("{} is above the most that drains, {}", link.least_drain, link.most_drain),
        );
    }
    if !given.contains_key("distance") && !given.contains_key("buffer") {
        options.problem(
            "distance",
            "is missing: give it, such as 80km, or ask with buffer how far that reaches",
        );
    }
    if !options.problems.is_empty() {
        return Err(options.problems);
    }
    let mut answer = Map::new();
    answer.insert("link".into(), link_json(&link, metres));
    if metres.is_some() {
        answer.insert("bdp_bytes".into(), link.bdp().get().into());
        answer.insert("headroom".into(), headroom_json(&link.headroom()));
        answer.insert("schemes".into(), of_schemes(|scheme| scheme_json(&link, scheme)));
        answer.insert("local_port".into(), thresholds_json(link.local_thresholds()));
        answer.insert("relay_inside".into(), inside_json(&link));
        answer.insert("pause".into(), pause_json(&link));
    }
    if let Some(buffer) = buffer {
        let of = of_schemes(|scheme| {
            let links = metres.map(|_| link.links(scheme, buffer));
            json!({ "reaches_m": reach(&link, scheme, buffer, transponder), "links": links })
        });
        answer.insert("with_buffer".into(), json!({ "buffer_bytes": buffer.get(), "schemes": of }));
    }
    Ok(answer.into())
}

/// The length of the fibre.
fn metres(options: &mut Options) -> Option<u64> {
    let metres = options.quantity("distance", quantity::LENGTH, "80km")?;
    if (1..=LONGEST_METRES).contains(&metres) {
        return Some(metres);
    }
    options.problem("distance", format!("found {metres} m, expected a length from 1m to 20000km"));
    None
}

/// Returns how far `buffer` reaches, in whole metres; `None`: not even across the transponders.
fn reach(link: &DciLink, scheme: Scheme, buffer: Bytes, transponder: Span) -> Option<u64> {
    let delay = link.longest_delay(scheme, buffer)?;
    let fibre = delay.as_ps().checked_sub((transponder * 2).as_ps())?;
    Some(fibre / DELAY_OF_A_METRE.as_ps())
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

fn link_json(link: &DciLink, metres: Option<u64>) -> Value {
    json!({
        "rate_bps": link.rate.as_bps(),
        "distance_m": metres,
        "delay_us": metres.map(|_| link.delay.as_us_f64()),
        "local_delay_us": link.local_delay.as_us_f64(),
        "frame_bytes": link.frame.get(),
        "reverse_frame_bytes": link.own_frame.get(),
        "response_us": link.response.as_us_f64(),
        "priorities": link.priorities,
        "hysteresis_bytes": link.hysteresis.get(),
        "drain": link.least_drain,
        "drain_most": link.most_drain,
    })
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
