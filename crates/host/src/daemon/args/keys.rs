//! The options of whoever shows a certificate.

use std::path::PathBuf;

use clap::Args;

/// Whose certificate this process shows, and where it is.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct KeysArgs {
    /// The directory with this host's certificate and key, and the authority's certificate (clearwayd keys).
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// Which of the certificates there is this host's. Without it: the only one, or that of the host's name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}
