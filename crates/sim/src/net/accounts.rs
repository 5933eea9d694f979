//! The accounts of ports: what has come over a port's link in a class and is still at the switch. Those of all ports are one list.

use clearway_proto::pfc::account::{Account, Threshold, Thresholds};

use crate::prefetch::prefetch;

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

/// The accounts of each port up to the last one that has some, by its place and the class.
#[derive(Debug)]
pub(super) struct Accounts {
    all: Vec<PortAccount>,
    classes: usize,
}

impl Accounts {
    /// No accounts, of this many classes.
    pub(super) fn new(classes: usize) -> Accounts {
        Accounts { all: Vec::new(), classes }
    }

    /// Adds those of the ports up to this one, with nothing on them.
    pub(super) fn add_up_to(&mut self, at: u32) {
        self.all.resize((at as usize + 1) * self.classes, PortAccount::EMPTY);
    }

    #[inline(always)]
    fn place(&self, at: u32, class: usize) -> usize {
        at as usize * self.classes + class
    }

    /// An account of a port.
    #[inline(always)]
    pub(super) fn get(&self, at: u32, class: usize) -> &PortAccount {
        &self.all[self.place(at, class)]
    }

    /// An account of a port, to be changed.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: u32, class: usize) -> &mut PortAccount {
        let place = self.place(at, class);
        &mut self.all[place]
    }

    /// An account, to be changed, of a port that need have none; `None` where there is nothing for it in the list.
    #[inline(always)]
    pub(super) fn find_mut(&mut self, at: u32, class: usize) -> Option<&mut PortAccount> {
        let place = self.place(at, class);
        self.all.get_mut(place)
    }

    /// The accounts of a port, by class; none where there is nothing for it in the list.
    pub(super) fn of(&self, at: u32) -> &[PortAccount] {
        let first = self.place(at, 0);
        self.all.get(first..first + self.classes).unwrap_or(&[])
    }

    /// No account of a port pauses the link any more.
    pub(super) fn forget_pauses(&mut self, at: u32) {
        (0..self.classes).for_each(|class| self.get_mut(at, class).account.pausing = false);
    }

    /// Hints that the first account of a port will be used.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: u32) {
        prefetch(&self.all, self.place(at, 0));
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
