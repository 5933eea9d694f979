//! The place where an endpoint's grants meet a host's traffic: the driver of an endpoint asks its [`Carriage`] what waits, and
//! tells it each slot.

use clearway_proto::fastpass::endpoint::Mode as Scheduling;
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::units::{Span, Time};
use serde::Serialize;

use super::link::node::Start;
#[cfg(feature = "tcp")]
use super::rates;
use super::reach::Reach;
use super::settings::{Deployment, Mode};
use super::slots;
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

    /// From now on packets leave in slots, or there is no arbiter and they leave without.
    fn mode(&mut self, now: Time, mode: Scheduling);

    /// From now on this much of each slot is left empty, as clocks are apart.
    fn set_guard(&mut self, _guard: Span) {}

    /// Does what its time has come for, such as looking what waits.
    fn handle_timeout(&mut self, now: Time);

    /// When [`Carriage::handle_timeout`] is wanted next.
    fn poll_timeout(&self) -> Option<Time>;

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

/// The priority (`SO_PRIORITY`) of packets by which endpoints and arbiters speak: no shaper of UDP holds them up.
pub const OWN_PRIORITY: u32 = 0xc1ea_0000;
/// The command of `clearwayd` that lifts the limits of sockets when an endpoint has died.
pub const WATCH: &str = "lift-limits";

/// Opens what carries the traffic of the endpoint of this address, in the mode that its deployment says.
pub fn open_carriage(
    deployment: &Deployment,
    own: Address,
    start: &Start,
) -> Result<Box<dyn Carriage>, Problem> {
    let reach = deployment.reach(own);
    match deployment.mode {
        Mode::Rates => open_rates(deployment, reach, start),
        Mode::Slots => {
            let words = &deployment.carriage;
            let settings = slots::Settings {
                tun: words.tun.clone(),
                port: words.port,
                guard: words.guard,
                ..slots::Settings::default()
            };
            Ok(Box::new(slots::Slots::open(&reach, &settings, start.waker.clone())?))
        }
    }
}

#[cfg(feature = "tcp")]
fn open_rates(deployment: &Deployment, reach: Reach, start: &Start) -> Result<Box<dyn Carriage>, Problem> {
    // The watcher is this program, too.
    let own = std::env::current_exe()?
        .into_os_string()
        .into_string()
        .map_err(|path| Problem::bare(format!("the path of this program, {}, is no text", path.display())))?;
    let settings = rates::Settings {
        udp_device: deployment.carriage.device.clone(),
        watcher: vec![own, WATCH.into()],
        ..rates::Settings::default()
    };
    let rates = rates::Rates::open(reach, start.timeslots, settings);
    Ok(Box::new(rates.map_err(|error| Problem::new(error.message, &error.remedy))?))
}

#[cfg(not(feature = "tcp"))]
fn open_rates(_: &Deployment, _: Reach, _: &Start) -> Result<Box<dyn Carriage>, Problem> {
    let remedy = "install libelf and zlib with their headers, and pkg-config (Debian and Ubuntu: apt-get install libelf-dev \
                  zlib1g-dev pkg-config), and build it anew; or use endpoint.mode = \"slots\"";
    Err(Problem::new(
        "this clearwayd was built without what sets rates of TCP sockets, for want of libelf",
        remedy,
    ))
}
