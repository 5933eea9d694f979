//! `[host.NAME]` with `model = "interrupts"`: what a host costs whose NIC interrupts it for received frames.

use clearway_proto::units::Span;

use super::host_queue::receive_queue;
use super::key::Key;
use super::link::rate_key;
use super::reader::Section;
use crate::model::InterruptHost;

/// Reads the keys of the model.
pub(crate) fn read(r: &mut Section) -> InterruptHost {
    let d = InterruptHost::default();
    let time = |name, doc| Key::new(name, doc, Span::ZERO..=Span::from_ms(10));
    let doc = "Shortest time from one interrupt of a host's NIC to the next; what arrives meanwhile waits, and the stack takes all of \
         it at once. A frame after a longer silence interrupts as it arrives. 0us: each frame does.";
    let wake_interval = time("wake_interval", doc);
    let doc = "Most by which a host's own interval differs from wake_interval, as a part of it; each draws its own uniformly.";
    let wake_spread = Key::new("wake_spread", doc, 0.0..=1.0);
    let softirq =
        time("softirq", "What the stack takes from an interrupt until it has the frames, at least.");
    let softirq_mean = time("softirq_mean", "What it takes beside, on average; exponential.");
    let doc = "Mean time between two stalls, in which the stack neither takes nor sends frames.";
    let stall_interval = Key::new("stall_interval", doc, Span::from_us(1)..=Span::from_secs(1000));
    let stall =
        time("stall", "Mean length of a stall, uniform from half of it to one and a half; 0us: none.");
    let send_delay = time("send_delay", "What every frame takes from the stack to the NIC.");
    let doc = "Most that a frame takes beside, uniform from nothing; none overtakes another. What leaves in timeslots is late by it.";
    let send_jitter = time("send_jitter", doc);
    let doc = "Most that the flows of a host send together, on the wire: a host short of processor time.";
    let send_rate = rate_key("send_rate", doc);
    let doc = "Most by which a host's own send_rate differs from it, as a part of it; each draws its own uniformly.";
    let send_spread = Key::new("send_spread", doc, 0.0..=0.9);
    InterruptHost {
        wake_interval: r.get(&wake_interval.or(d.wake_interval)),
        wake_spread: r.get(&wake_spread.or(d.wake_spread)),
        softirq: r.get(&softirq.or(d.softirq)),
        softirq_mean: r.get(&softirq_mean.or(d.softirq_mean)),
        stall_interval: r.get(&stall_interval.or(d.stall_interval)),
        stall: r.get(&stall.or(d.stall)),
        send_delay: r.get(&send_delay.or(d.send_delay)),
        send_jitter: r.get(&send_jitter.or(d.send_jitter)),
        send_rate: r.optional(&send_rate, "as fast as the link"),
        send_spread: r.get(&send_spread.or(d.send_spread)),
        receive_queue: receive_queue(r, d.receive_queue),
    }
}
