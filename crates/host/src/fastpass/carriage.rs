//! The place where an endpoint's grants meet a host's traffic: the driver of an endpoint asks its [`Carriage`] what waits, and
//! tells it each slot.

use clearway_proto::fastpass::endpoint::{Mode, Probe};
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::units::{Span, Time};
use serde::Serialize;

use crate::daemon::output::Problem;

/// Carries a host's traffic as its endpoint's grants say. All of it is called by the thread of the endpoint's driver; other threads
/// of a carriage wake that thread ([`Waker`](crate::datagram::driver::Waker)) when something has come.
pub trait Carriage: Send {
    /// Tells, for each destination whose need is another than the endpoint has in mind, how many slots the bytes that wait for it
    /// need: all that have not been sent. The endpoint has in mind what it was told last, less one for each [slot](Carriage::slot)
    /// since.
    fn backlog(&mut self, now: Time, tell: &mut dyn FnMut(Address, u32));

    /// Uses the slot of a grant. `header` gives the header that goes with every packet of the slot; it is to be called once if
    /// anything leaves in the slot, and not at all if nothing does. Returns whether anything left or will leave.
    fn slot(&mut self, now: Time, grant: &Grant, header: &mut dyn FnMut() -> SlotHeader) -> bool;

    /// Tells the headers that have come with packets of other endpoints since this was last called.
    fn headers(&mut self, tell: &mut dyn FnMut(Address, SlotHeader));

    /// Tells the headers of receipts that have come since this was last called.
    fn receipts(&mut self, _tell: &mut dyn FnMut(Address, SlotHeader)) {}

    /// Sends a packet without content at once.
    fn probe(&mut self, _probe: &Probe) {}

    /// From now on packets leave in slots, or there is no arbiter and they leave without.
    fn mode(&mut self, now: Time, mode: Mode);

    /// From now on this much of each slot is left empty, as clocks are apart.
    fn set_guard(&mut self, _guard: Span) {}

    /// Does what its time has come for, such as looking what waits.
    fn handle_timeout(&mut self, now: Time);

    /// When [`Carriage::handle_timeout`] is wanted next.
    fn poll_timeout(&self) -> Option<Time>;

    /// The error that has ended it, if there is one: nothing is carried any more. The driver's thread is woken for it.
    fn trouble(&self) -> Option<Problem> {
        None
    }

    /// Counts so far.
    fn figures(&self) -> Figures;
}

/// Counts of a carriage, for the status and metrics of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Bytes that waited when this was asked for.
    pub waiting_bytes: u64,
    /// Bytes sent in slots, or at the rates that follow from slots.
    pub scheduled_bytes: u64,
    /// Bytes sent while there was no arbiter.
    pub unscheduled_bytes: u64,
    /// Bytes received from other endpoints.
    pub received_bytes: u64,
    /// Packets dropped for want of room in a queue.
    pub dropped_packets: u64,
    /// Other counts, by name.
    pub more: std::collections::BTreeMap<&'static str, u64>,
}
