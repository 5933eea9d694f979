//! The planner's options as a person writes them, and its answer as JSON.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use clearway_proto::parameter::{wanted, Shown};
use clearway_proto::quantity::{self, UnitError, Units};
use clearway_proto::swing::headroom::Headroom;
use clearway_proto::swing::plan::{DciLink, Scheme, Thresholds};
use clearway_proto::units::{Bytes, Rate, Span, RATES};
use serde_json::{json, Map, Value};

/// Light takes 5 us for a kilometre of fibre.
const DELAY_OF_A_METRE: Span = Span::from_ns(5);
/// Preamble 8, header 14, frame check sequence 4, gap 12.
const BEYOND_MTU: u64 = 38;
/// Half around the earth.
const LONGEST_METRES: u64 = 20_000_000;
/// The drains that are shown.
const SHOWN_DRAINS: [f64; 4] = [0.2, 0.5, 0.8, 0.95];

/// What is wrong with an option: its name, and the fault.
pub type Problem = (String, String);

/// What a person gave, option by option.
struct Options<'a> {
    given: &'a BTreeMap<String, String>,
    problems: Vec<Problem>,
}

impl Options<'_> {
    fn problem(&mut self, name: &str, detail: impl Into<String>) {
        self.problems.push((name.into(), detail.into()));
    }

    fn quantity(&mut self, name: &str, units: Units, example: &str) -> Option<u64> {
        let text = self.given.get(name)?;
        let detail = match quantity::parse(text, units) {
            Ok(number) => return Some(number),
            Err(UnitError::TooLarge) => format!("found {text:?}, which is more than is held"),
            Err(UnitError::Inexact) => {
                format!("found {text:?}, expected a whole number of {}", units[0].0)
            }
            Err(UnitError::Malformed | UnitError::NoUnit | UnitError::UnknownUnit) => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!(
                    "found {text:?}, expected a number with its unit, such as {example} (units: {})",
                    names.join(", ")
                )
            }
        };
        self.problem(name, detail);
        None
    }

    fn within<T: Shown>(&mut self, name: &str, value: T, range: &RangeInclusive<T>) -> Option<T> {
        if range.contains(&value) {
            return Some(value);
        }
        self.problem(name, format!("found {}, expected {}", value.shown(), wanted(range)));
        None
    }

    fn time(&mut self, name: &str, default: Span, most: Span) -> Span {
        let found = self.quantity(name, quantity::TIME, "1us").map(Span::from_ps);
        found.and_then(|time| self.within(name, time, &(Span::ZERO..=most))).unwrap_or(default)
    }

    fn size(&mut self, name: &str, range: &RangeInclusive<Bytes>) -> Option<Bytes> {
        let found = self.quantity(name, quantity::BYTES, "9000B").map(Bytes::new)?;
        self.within(name, found, range)
    }

    fn rate(&mut self) -> Rate {
        let least = *RATES.start();
        if !self.given.contains_key("rate") {
            self.problem("rate", "is missing: how fast the link is, such as 400Gbps");
            return least;
        }
        let found = self.quantity("rate", quantity::RATE, "400Gbps").map(|bits| Rate::from_bps(bits.max(1)));
        found.and_then(|rate| self.within("rate", rate, &RATES)).unwrap_or(least)
    }

    fn share(&mut self, name: &str, default: f64) -> f64 {
        let Some(text) = self.given.get(name) else { return default };
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => share,
            _ => {
                self.problem(name, format!("found {text:?}, expected a share of the rate from 0 to 1"));
                default
            }
        }
    }

    fn priorities(&mut self) -> u8 {
        let Some(text) = self.given.get("priorities") else { return 1 };
        match text.parse::<u8>() {
            Ok(count) if (1..=8).contains(&count) => count,
            _ => {
                self.problem("priorities", format!("found {text:?}, expected a whole number from 1 to 8"));
                1
            }
        }
    }

    fn metres(&mut self) -> Option<u64> {
        let metres = self.quantity("distance", quantity::LENGTH, "80km")?;
        if (1..=LONGEST_METRES).contains(&metres) {
            return Some(metres);
        }
        self.problem("distance", format!("found {metres} m, expected a length from 1m to 20000km"));
        None
    }

    fn frame(&mut self, name: &str) -> Option<Bytes> {
        let mtu = self.size(name, &(Bytes::new(256)..=Bytes::new(65_535)))?;
        Some(Bytes::new(mtu.get() + BEYOND_MTU))
    }
}

/// A plan for the options given, as a JSON object.
pub fn dci_buffer(given: &BTreeMap<String, String>) -> Result<Value, Vec<Problem>> {
    let mut options = Options { given, problems: Vec::new() };
    let metres = options.metres();
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
        priorities: options.priorities(),
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

/// How far `buffer` reaches, in whole metres; none: not even across the transponders.
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

fn pause_json(link: &DciLink) -> Value {
    let pause = link.pause();
    json!({
        "quanta": pause.quanta,
        "lasts_us": pause.lasts.as_us_f64(),
        "repeat_within_us": pause.repeat_within.map(Span::as_us_f64),
    })
}
