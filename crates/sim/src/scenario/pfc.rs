//! The keys of `[switch.*]` about priority flow control.

use clearway_proto::swing::relay::VirtualQueue;
use clearway_proto::units::{Bytes, Span};

use super::key::{Key, Shown};
use super::reader::Section;
use super::shape::MAX_BYTES;
use crate::model::{Buffer, Pfc, Relay, Safety, SwitchRole, Xoff};

/// How far below XOFF a link goes on if nothing else is said.
const HYSTERESIS: Bytes = Bytes::new(3000);

#[derive(Clone, Copy)]
enum Kind {
    Off,
    Static,
    Dynamic,
    Relay,
}

/// Reads the keys; `buffer` is that of the same switches, which have this role, or the most of which have no other.
pub(crate) fn read(r: &mut Section, buffer: Buffer, role: Option<SwitchRole>) -> Option<Pfc> {
    let mut kinds = vec![("off", Kind::Off), ("static", Kind::Static)];
    // What is no choice is not described as one, but has a message of its own.
    if !r.describing() || (matches!(buffer, Buffer::Shared { .. }) && role != Some(SwitchRole::Relay)) {
        kinds.push(("dynamic", Kind::Dynamic));
    }
    let doc = match role {
        Some(SwitchRole::Long) => {
            kinds.push(("relay", Kind::Relay));
            "As in default; or as a relay inside the switch would: the far end may send what leaves this one."
        }
        _ => {
            "Whether links that bring more than a threshold are paused: never, above a threshold of each, or above a share of \
             what is free of the shared buffer. Then no frame of a lossless class is dropped."
        }
    };
    let (xoff, hysteresis) = match r.choice("pfc", doc, Some("off"), &kinds) {
        Kind::Off => return None,
        Kind::Static => read_static(r),
        Kind::Dynamic => read_dynamic(r, buffer),
        Kind::Relay => {
            let Signals { quanta, response, replaces_unsent } = read_signals(r);
            let relay = Relay { safety: Some(Safety::Least), ..Relay::default() };
            let usual = "relay_safety: no more ever waits";
            let relay = read_relay(r, relay, usual, "the lowest that lets an idle link send at once");
            // Of a port L, which there is not.
            let xoff = Xoff::Static(Bytes::new(0));
            let (hysteresis, relay) = (HYSTERESIS, Some(relay));
            return Some(Pfc { xoff, hysteresis, headroom: None, quanta, response, replaces_unsent, relay });
        }
    };
    let doc = "Room beyond XOFF for what a link still brings, of each link and lossless class.";
    let headroom = Key::new("pfc_headroom", doc, Bytes::new(0)..=MAX_BYTES);
    let headroom = r.optional(&headroom, "what the link can bring at most");
    let Signals { quanta, response, replaces_unsent } = read_signals(r);
    let of_a_relay = role == Some(SwitchRole::Relay);
    let (room, safety) = (
        "a BDP of the fibre, a fortieth of one, and a few frames",
        "none: the far end is never held for that",
    );
    let relay = of_a_relay.then(|| read_relay(r, Relay::default(), room, safety));
    Some(Pfc { xoff, hysteresis, headroom, quanta, response, replaces_unsent, relay })
}

/// How long a PAUSE holds, when it has taken effect, and whether it replaces one that has not left.
struct Signals {
    quanta: u16,
    response: Span,
    replaces_unsent: bool,
}

fn read_signals(r: &mut Section) -> Signals {
    let doc =
        "How long a PAUSE holds, in quanta of 512 bit times; it is repeated when half of that has passed.";
    let quanta = Key::new("pfc_quanta", doc, 64..=u32::from(u16::MAX));
    let doc =
        "Time that those who are paused take from the arrival of a PAUSE until they begin no further frame.";
    let response = Key::new("pfc_response", doc, Span::ZERO..=Span::from_ms(100));
    let quanta = r.get(&quanta.or(u16::MAX.into())) as u16;
    let response = r.get(&response.or(Span::ZERO));
    let doc = "What becomes of a PAUSE or RESUME that has not left yet when the next one comes: keep, both are sent in their order; \
         replace, the next one alone is, if the other end needs it, so that no PAUSE waits behind others of its class, however \
         close XON is to XOFF.";
    let replaces_unsent = r.one_of("pfc_unsent", doc, Some("keep"), &[("keep", false), ("replace", true)]);
    Signals { quanta, response, replaces_unsent }
}

/// Returns what a relay does with what comes over the fibre.
fn read_relay(
    r: &mut Section,
    usual: Relay,
    without_buffer: &'static str,
    without_safety: &'static str,
) -> Relay {
    let bytes = |name, doc| Key::new(name, doc, Bytes::new(1)..=MAX_BYTES);
    let buffer = bytes("relay_buffer", "Room for what comes over the fibre, of each lossless class.");
    let buffer = r.optional(&buffer, without_buffer);
    let doc = "The far end is held while what waits and what may yet come of what it was granted in the last round trip exceed this.";
    let safety = bytes("relay_safety", doc);
    let safety = r.optional(&safety, without_safety).map(Safety::Bytes).or(usual.safety);
    let doc = "The far end is held while what waits and what it was granted in the last round trip exceed by this what left then: a \
         short queue, for the price of a slower answer when more drains.";
    let target = bytes("relay_virtual_queue", doc);
    let target = r.optional(&target, "none: the queue is as long as the drain makes it");
    let doc = "The far end is held for relay_virtual_queue only while more than this waits.";
    let above = Key::new("relay_virtual_queue_above", doc, Bytes::new(0)..=MAX_BYTES);
    let usual = Bytes::new(500_000);
    let above = r.get(&above.or(usual));
    // As a resolved scenario has the default too, the default is never a conflict.
    if r.sound() && target.is_none() && above != usual {
        r.conflict("relay_virtual_queue_above", "there is no relay_virtual_queue");
    }
    Relay { buffer, safety, virtual_queue: target.map(|target| VirtualQueue { target, above }) }
}

fn read_static(r: &mut Section) -> (Xoff, Bytes) {
    let doc = "A link is paused while it has brought more in a class than this that is still at the switch.";
    let xoff = Key::new("pfc_xoff", doc, Bytes::new(0)..=MAX_BYTES);
    let xoff = r.get(&xoff);
    let doc = "A link that is paused goes on when no more than this is left.";
    let xon = Key::new("pfc_xon", doc, Bytes::new(0)..=MAX_BYTES);
    let usual = Bytes::new(xoff.get().saturating_sub(HYSTERESIS.get()));
    let xon = r.get(&xon.or_as(usual, "3 kB below pfc_xoff"));
    if r.sound() && xon > xoff {
        r.conflict("pfc_xon", format!("{} is above pfc_xoff, {}", xon.shown(), xoff.shown()));
    }
    (Xoff::Static(xoff), Bytes::new(xoff.get().saturating_sub(xon.get())))
}

fn read_dynamic(r: &mut Section, buffer: Buffer) -> (Xoff, Bytes) {
    let doc = "A link is paused while what it has brought in a class takes more than this many times what is free of the buffer.";
    let alpha = Key::new("pfc_alpha", doc, 0.001..=1000.0);
    let doc = "It goes on when that is so far below the threshold, or nothing is left.";
    let hysteresis = Key::new("pfc_hysteresis", doc, Bytes::new(0)..=MAX_BYTES);
    let (alpha, hysteresis) = (r.get(&alpha.or(0.25)), r.get(&hysteresis.or(HYSTERESIS)));
    if r.sound() && !matches!(buffer, Buffer::Shared { .. }) {
        r.conflict("pfc", "dynamic thresholds are shares of a shared buffer: give sharing = \"shared\"");
    }
    (Xoff::Dynamic(alpha), hysteresis)
}
