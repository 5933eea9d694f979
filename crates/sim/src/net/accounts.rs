//! The account of a port: what has come over its link in a class and is still at the switch. Those of all ports are one list, by port
//! and class; see [`super::lossless`].

use clearway_proto::pfc::account::{Account, Threshold, Thresholds};

/// An account of a port: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct PortAccount {
    /// What has come over the link in a class and is still here.
    pub account: Account,
    /// Up to this many bytes, frames come and go without anybody's need to know; 0 where each changes something. See
    /// [`super::switches`].
    pub(super) unseen_up_to: u64,
    /// While more than this many bytes stay on an account that pauses its link, frames leave without anybody's need to know; the
    /// largest number where each changes something.
    pub(super) unseen_above: u64,
}

impl PortAccount {
    /// An account with nothing on it, of which each change is to be known at once.
    pub(super) const EMPTY: PortAccount = PortAccount {
        account: Account { common: 0, headroom: 0, pausing: false, peak: 0, peak_headroom: 0 },
        unseen_up_to: 0,
        unseen_above: u64::MAX,
    };

    /// Says anew at which content nobody need know how much exactly is on an account, if that may be known late: up to XOFF and the most
    /// that it ever had, or above XON while it pauses its link.
    pub(super) fn note_unseen(&mut self, thresholds: &Thresholds, is_lazy: bool) {
        (self.unseen_up_to, self.unseen_above) = match thresholds.xoff {
            Threshold::Static(_) if is_lazy && self.account.pausing => (0, thresholds.resumes_at(None)),
            Threshold::Static(xoff) if is_lazy => (xoff.min(self.account.peak), u64::MAX),
            _ => (0, u64::MAX),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_one_cache_line() {
        assert_eq!(size_of::<PortAccount>(), 64);
    }
}
