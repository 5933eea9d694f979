//! Swift for s2n-quic, with windows below one packet.
//!
//! ```
//! use s2n_quic::Client;
//!
//! # fn start() -> Result<Client, Box<dyn std::error::Error>> {
//! let swift = clearway_quic::s2n::Swift::new(clearway_quic::defaults());
//! let client = Client::builder().with_congestion_controller(swift)?.with_io("0.0.0.0:0")?.start()?;
//! # Ok(client)
//! # }
//! ```
//!
//! s2n-quic calls its trait for congestion controls unstable: it may change from one version to the next, and so may this module.

use std::time::Duration;

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Time;
use s2n_quic::provider::congestion_controller::{
    CongestionController, Endpoint, PathInfo, Publisher, RandomGenerator, RttEstimator, Timestamp,
};

use crate::flow::{time, Flow, Shared};

/// Packets for which a window may have room left and count as used: what s2n-quic's own CUBIC takes for one.
const ROOM: u64 = 3;

/// Swift for all connections of an endpoint: what `with_congestion_controller` of a builder takes.
#[derive(Clone, Debug)]
pub struct Swift(Shared);

impl Swift {
    /// Swift with these parameters; [`defaults`](crate::defaults) has some that suit a QUIC library.
    ///
    /// # Panics
    /// If parameters contradict each other: [`Parameters::conflicts`](clearway_proto::parameter::Parameters::conflicts).
    #[allow(clippy::needless_pass_by_value, reason = "it is made once, where the parameters are")]
    pub fn new(params: SwiftParams) -> Swift {
        Swift(Shared::new(&params))
    }

    fn controller(&self, packet: u16) -> Controller {
        Controller { flow: Flow::new(&self.0, packet), first: None, departed: None, in_flight: 0 }
    }
}

impl Endpoint for Swift {
    type CongestionController = Controller;

    fn new_congestion_controller(&mut self, path: PathInfo) -> Controller {
        self.controller(path.max_datagram_size)
    }
}

/// Swift for one path of one connection.
///
/// A window of one packet and more limits what is under way. Below one, a single packet may be, and not before
/// [`earliest_departure_time`](CongestionController::earliest_departure_time), which is a gap of Swift after the last one left (§3.6).
/// s2n-quic lets a packet leave up to a millisecond early; it then counts as having left when it was due, so that the mean gap is
/// Swift's. Acknowledgements of its own wait with the packets, as s2n-quic paces a connection and not its data alone.
#[derive(Clone, Debug)]
pub struct Controller {
    flow: Flow,
    /// The first instant that was heard of.
    first: Option<Timestamp>,
    /// When the last packet left, or should have; none before the first.
    departed: Option<Timestamp>,
    /// Bytes under way.
    in_flight: u32,
}

/// The notes on a packet that is neither acknowledged nor lost.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The connection had more to send, or no room for it.
    window_was_used: bool,
}

impl Controller {
    fn time(&mut self, at: Timestamp) -> Time {
        let first = *self.first.get_or_insert(at);
        time(at.saturating_duration_since(first))
    }

    /// Bytes that may still leave.
    fn room(&self) -> u64 {
        self.flow.allowance().saturating_sub(u64::from(self.in_flight))
    }

    fn remove(&mut self, bytes: usize) {
        self.in_flight = self.in_flight.saturating_sub(bytes as u32);
    }
}

impl CongestionController for Controller {
    type PacketInfo = Sent;

    /// The window in bytes; below one packet, a part of it.
    fn congestion_window(&self) -> u32 {
        u32::try_from(self.flow.window()).unwrap_or(u32::MAX)
    }

    fn bytes_in_flight(&self) -> u32 {
        self.in_flight
    }

    fn is_congestion_limited(&self) -> bool {
        self.room() < self.flow.packet()
    }

    /// Never: what is sent again has room in the window, or waits for it, as in [`clearway_proto::transport`].
    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> Sent {
        self.time(time_sent);
        // A packet of acknowledgements alone is not controlled.
        if sent_bytes > 0 {
            let due = self.earliest_departure_time().unwrap_or(time_sent);
            self.departed = Some(due.max(time_sent));
            self.in_flight = self.in_flight.saturating_add(sent_bytes as u32);
        }
        let has_room = self.room() > ROOM * self.flow.packet();
        Sent { window_was_used: !(app_limited.unwrap_or(true) && has_room) }
    }

    /// Nothing: the round trip comes with [`Self::on_ack`], also where it is no sample for the estimator.
    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        _time_sent: Timestamp,
        _now: Timestamp,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: Sent,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.remove(bytes_acknowledged);
        let now = self.time(ack_receive_time);
        let rtt: Duration = ack_receive_time.saturating_duration_since(newest_acked_time_sent);
        self.flow.on_ack(now, rtt, bytes_acknowledged as u64, newest_acked_packet_info.window_was_used);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        _packet_info: Sent,
        persistent_congestion: bool,
        _new_loss_burst: bool,
        _random_generator: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.remove(lost_bytes as usize);
        let now = self.time(timestamp);
        if persistent_congestion {
            self.flow.on_persistent_congestion(now);
        } else {
            self.flow.on_loss(now);
        }
    }

    /// Nothing: Swift does without marks.
    fn on_explicit_congestion<Pub: Publisher>(&mut self, _ce: u64, _time: Timestamp, _publisher: &mut Pub) {}

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        self.flow.set_packet(max_data_size);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        self.remove(bytes_sent);
    }

    /// A gap after the last packet, where the window is below one packet.
    fn earliest_departure_time(&self) -> Option<Timestamp> {
        let (departed, gap) = (self.departed?, self.flow.gap()?);
        Some(departed + gap)
    }
}

#[cfg(test)]
#[path = "s2n/tests.rs"]
mod tests;
