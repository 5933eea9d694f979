//! A receiver's pull pacer, asked for what it sends over some time.

use clearway_proto::baseline::uec::pull_pacer::{Pull, PullPacer};
use clearway_proto::machine::Readiness;
use clearway_proto::transport::Ask;
use clearway_proto::units::{Span, Time};

/// Returns the instant this many nanoseconds after the beginning.
pub fn at(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

/// Returns every pull that leaves before `until`, from `now` on: the nanosecond, the flow, and what it was granted in all.
pub fn pulls(pacer: &mut PullPacer, mut now: Time, until: Time) -> Vec<(u64, u32, u64)> {
    let mut all = Vec::new();
    loop {
        match pacer.readiness(now) {
            Readiness::Ready => {
                let Pull { flow, granted } = pacer.transmit(now);
                all.push((now.as_ps() / 1000, flow, granted));
            }
            Readiness::At(at) if at < until => now = at,
            Readiness::At(_) | Readiness::Idle => return all,
        }
    }
}

/// Returns a request for this much credit by a sender that has not waited in vain.
pub fn ask(target: u64) -> Ask {
    Ask { target, again: false }
}
