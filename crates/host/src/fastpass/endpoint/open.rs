//! Opens what carries an endpoint's traffic, in the mode that its deployment says.

use clearway_proto::fastpass::fcp::Address;

use crate::daemon::output::Problem;
use crate::fastpass::carriage::Carriage;
use crate::fastpass::link::node::Start;
#[cfg(feature = "tcp")]
use crate::fastpass::rates;
use crate::fastpass::reach::Reach;
use crate::fastpass::settings::{Deployment, Mode};
use crate::fastpass::slots;

/// The command of `clearwayd` that lifts the limits of sockets when an endpoint has died.
#[cfg(feature = "tcp")]
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
        .map_err(|path| Problem::bare(format!("the path of this program, {path:?}, is no text")))?;
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
