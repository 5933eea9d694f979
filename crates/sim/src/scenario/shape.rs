//! Limits of a network's size and its buffers, and the names of its switches' roles.

use clearway_proto::units::Bytes;

use crate::model::SwitchRole;

/// The most hosts of a network.
pub(crate) const MAX_HOSTS: u32 = 1_000_000;

/// The largest buffer or threshold: with a frame on top it still fits a port's 32-bit counts.
pub(crate) const MAX_BYTES: Bytes = Bytes::new(4_000_000_000);

/// The name of a role in the file.
pub(crate) fn role_name(role: SwitchRole) -> &'static str {
    match role {
        SwitchRole::Tor => "tor",
        SwitchRole::Aggregation => "aggregation",
        SwitchRole::Spine => "spine",
        SwitchRole::Dci => "dci",
        SwitchRole::Long => "long",
        SwitchRole::Relay => "relay",
        SwitchRole::Nic => "nic",
    }
}
