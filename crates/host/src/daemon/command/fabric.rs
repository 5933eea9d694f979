//! `clearwayd fabric`: the switches and links of a lossless testbed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::daemon::args::FabricArgs;
use crate::daemon::output::{print, write_error, Problem};
use crate::fabric::plan::Plan;
use crate::fabric::work::Work;
use crate::realtime;

/// Is a network until a signal comes, and prints what it counted as one JSON object.
pub(super) fn fabric(args: &FabricArgs) -> Result<u8, Problem> {
    let named = |path: &Path, error: io::Error| Problem::bare(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(&args.plan).map_err(|error| named(&args.plan, error))?;
    let plan = Plan::read(&text).map_err(|problem| problem.of_file(&args.plan))?;
    let samples = args.samples.as_ref().map(|path| File::create(path).map_err(|error| named(path, error)));
    let work = Work::open(&plan, samples.transpose()?)?;
    if !realtime::prepare(realtime::OF_RELAYS) {
        write_error("warning: the network has no real-time priority, and is late when the host is busy: give it CAP_SYS_NICE\n");
    }
    print("ready\n")?;
    let (status, figures) = work.run()?;
    let json = serde_json::to_string(&figures).map_err(|error| Problem::bare(error.to_string()))?;
    print(&format!("{json}\n"))?;
    Ok(status)
}
