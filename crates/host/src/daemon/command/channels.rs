//! What every command needs that talks on control channels.

use std::io;

use tokio::runtime::{Builder, Runtime};

use super::outcome::trouble;
use crate::daemon::args::KeysArgs;
use crate::daemon::output::Problem;
use crate::keys::Identity;

/// What waits for control channels.
pub(super) fn runtime() -> Result<Runtime, Problem> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error: io::Error| trouble("the event loop", &error))
}

/// This host's certificate, which must hold.
pub(super) fn identity(args: &KeysArgs) -> Result<Identity, Problem> {
    let identity = Identity::read(&args.keys, args.name.as_deref())?;
    identity.check()?;
    Ok(identity)
}
