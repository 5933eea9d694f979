//! The options of a software network.

use std::path::PathBuf;

use clap::Args;

/// The options of `clearwayd fabric`.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct FabricArgs {
    /// The network: one JSON object.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Write what each link does to this file, in rows of 52 bytes.
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
}
