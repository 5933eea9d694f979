//! Swift's parameters as options: names, meanings and ranges are Swift's own, as in a scenario.

use clearway_proto::parameter::Parameters;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;

use super::options::{option, Options};

/// Swift's own defaults, except where they assume a stack that polls. A process that sleeps is woken tens of
/// microseconds late at both ends, and its endpoint delay contains that. When Linux does not schedule a process for
/// some milliseconds, as happens on a busy machine, nothing is lost: three timeouts within that time would reduce the
/// window to its minimum.
fn defaults() -> SwiftParams {
    SwiftParams {
        endpoint_target: Span::from_us(500),
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(10),
        ..SwiftParams::default()
    }
}

pub(super) fn read(o: &mut Options) -> SwiftParams {
    let params = SwiftParams::read(o, &defaults());
    for conflict in params.conflicts() {
        o.conflict(&conflict.message(|name| format!("--{}", option(name))), "change one of them");
    }
    params
}
