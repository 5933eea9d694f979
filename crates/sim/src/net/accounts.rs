//! The accounts of all ports in one list, by port and class: what has come over a port's link in a class and is still at the switch.

use clearway_proto::pfc::account::{Account, Threshold};

use super::pfc::{Pfc, NO_PORT};
use super::ports::Ports;
use super::scheduling::only;

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

    /// Says anew at which content nobody need know how much exactly is on an account: up to XOFF and the most that it ever had, or
    /// above XON while it pauses its link.
    pub(super) fn note_unseen(&mut self, of: &Pfc) {
        (self.unseen_up_to, self.unseen_above) = match of.thresholds.xoff {
            Threshold::Static(_) if of.is_lazy && self.account.pausing => (0, of.thresholds.resumes_at(None)),
            Threshold::Static(xoff) if of.is_lazy => (xoff.min(self.account.peak), u64::MAX),
            _ => (0, u64::MAX),
        };
    }
}

impl Ports {
    /// Returns whether a port has an account of this class for what comes over its link.
    pub fn has_account(&self, at: u32, class: usize) -> bool {
        at != NO_PORT && self.rules_if_any(at).is_some_and(|rules| rules.lossless & only(class) != 0)
    }

    /// Where the accounts of a port begin.
    #[inline(always)]
    pub(super) fn first_account(&self, at: u32) -> usize {
        at as usize * self.classes.len()
    }

    /// The accounts of a port, by class; none of a port that has none.
    pub(super) fn accounts_of(&self, at: u32) -> &[PortAccount] {
        let first = self.first_account(at);
        self.accounts.get(first..first + self.classes.len()).unwrap_or(&[])
    }

    /// An account of a port that has one.
    pub fn account(&self, at: u32, class: usize) -> &Account {
        &self.accounts[self.first_account(at) + class].account
    }

    /// An account of a port that has one, to be changed.
    pub(crate) fn account_mut(&mut self, at: u32, class: usize) -> &mut PortAccount {
        let place = self.first_account(at) + class;
        &mut self.accounts[place]
    }

    /// Puts a frame that has come to a port on the port's account, if that needs nothing else: either nobody need know how much
    /// is on it exactly, or it pauses its link already and has room. Returns whether it did.
    #[inline(always)]
    pub(super) fn charge_alone(&mut self, at: u32, class: usize, size: u32) -> bool {
        let place = self.first_account(at) + class;
        let Some(PortAccount { account, unseen_up_to, .. }) = self.accounts.get_mut(place) else {
            return false;
        };
        if account.common + u64::from(size) <= *unseen_up_to {
            account.common += u64::from(size);
            return true;
        }
        account.pausing && self.charge_pausing(at, class, size)
    }

    /// A frame has left that a port has on its account: takes it off, if nobody need know at once. Returns whether it did.
    #[inline(always)]
    pub(super) fn release_unseen(&mut self, at: u32, class: usize, size: u32) -> bool {
        let PortAccount { account, unseen_up_to, unseen_above } = self.account_mut(at, class);
        if *unseen_up_to != 0 {
            account.common -= u64::from(size);
            return true;
        }
        let unseen = account.held() - u64::from(size) > *unseen_above;
        if unseen {
            account.release(size.into());
        }
        unseen
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
