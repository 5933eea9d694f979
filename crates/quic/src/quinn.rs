//! Swift for quinn, with windows of one packet and more.
//!
//! ```
//! use std::sync::Arc;
//!
//! let swift = clearway_quic::quinn::Swift::new(clearway_quic::defaults());
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(swift));
//! ```
//!
//! **The limit.** quinn sends while what is under way and one packet more is less than the window, and has a pacer of its own, made
//! from the window and the smoothed round trip. A window of a packet or less would block a connection for good. So the window is
//! held at one packet and a byte at least, whatever [`SwiftParams::min_cwnd`] says: on a path that does not carry one packet a round
//! trip for each connection, a queue remains that s2n-quic's controller does not need.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Time;
use quinn_proto::congestion::{Controller as Contract, ControllerFactory};
use quinn_proto::RttEstimator;

use crate::flow::{time, Flow, Shared};

/// Swift for all connections with one transport configuration: what `congestion_controller_factory` takes.
#[derive(Clone, Debug)]
pub struct Swift(Shared);

impl Swift {
    /// Swift with these parameters, less what needs windows below one packet; [`defaults`](crate::defaults) has some that suit a QUIC
    /// library.
    ///
    /// # Panics
    /// If parameters contradict each other: [`Parameters::conflicts`](clearway_proto::parameter::Parameters::conflicts).
    #[allow(clippy::needless_pass_by_value, reason = "it is made once, where the parameters are")]
    pub fn new(params: SwiftParams) -> Swift {
        let one = |cwnd: f64| cwnd.max(1.0);
        Swift(Shared::new(&SwiftParams {
            cwnd_below_one: false,
            min_cwnd: one(params.min_cwnd),
            initial_cwnd: params.initial_cwnd.map(one),
            max_cwnd: one(params.max_cwnd),
            ..params
        }))
    }
}

impl ControllerFactory for Swift {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Contract> {
        let flow = Flow::new(&self.0, current_mtu);
        Box::new(Controller { initial: window(&flow), flow, first: now, acked: None })
    }
}

/// Swift for one path of one connection.
#[derive(Clone, Debug)]
pub struct Controller {
    flow: Flow,
    /// When the flow began.
    first: Instant,
    /// The window at that time, in bytes.
    initial: u64,
    /// What the acknowledgement frame that is being read has acknowledged so far.
    acked: Option<Acked>,
}

/// What one frame acknowledges.
#[derive(Clone, Copy, Debug)]
struct Acked {
    /// When the newest of its packets was sent.
    newest: Instant,
    /// Bytes of its packets.
    bytes: u64,
}

impl Controller {
    fn time(&self, at: Instant) -> Time {
        time(at.saturating_duration_since(self.first))
    }

    /// A packet is acknowledged by the frame that is being read.
    fn collect(&mut self, sent: Instant, bytes: u64) {
        let acked = self.acked.get_or_insert(Acked { newest: sent, bytes: 0 });
        acked.newest = acked.newest.max(sent);
        acked.bytes += bytes;
    }
}

/// The window as quinn compares with it: a packet leaves where it would be less than the window with all that is under way.
fn window(flow: &Flow) -> u64 {
    flow.allowance() + 1
}

impl Contract for Controller {
    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.collect(sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        if let Some(acked) = self.acked.take() {
            let rtt = now.saturating_duration_since(acked.newest);
            self.flow.on_ack(self.time(now), rtt, acked.bytes, !app_limited);
        }
    }

    fn on_congestion_event(&mut self, now: Instant, _sent: Instant, persistent: bool, lost_bytes: u64) {
        let now = self.time(now);
        if persistent {
            self.flow.on_persistent_congestion(now);
        } else if lost_bytes > 0 {
            // Without lost bytes it is a mark (ECN), and Swift does without marks.
            self.flow.on_loss(now);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.set_packet(new_mtu);
    }

    /// The window in bytes, one packet at least, and a byte.
    fn window(&self) -> u64 {
        window(&self.flow)
    }

    fn clone_box(&self) -> Box<dyn Contract> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
#[path = "quinn/tests.rs"]
mod tests;
