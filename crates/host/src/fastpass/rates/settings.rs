//! The settings of the mode `rates`.

use std::path::PathBuf;

use clearway_proto::units::Span;

use crate::tcp::kernel::{error, KernelError};

/// Settings of [`Rates`](super::Rates).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The time between two looks at the sockets. Default: 2 ms. Where a look takes more than a fifth of that on a processor, it is
    /// longer.
    pub look: Span,
    /// The time over which a slot is used from its beginning on. Longer, rates are steadier and follow later. Default: 10 ms; no
    /// shorter than a look and two slots.
    pub window: Span,
    /// The time on the link that is asked for ahead where an application has more to send than its socket takes: longer than a look
    /// and the time in which arbiters answer. Default: 5 ms.
    pub horizon: Span,
    /// The packets that a new connection may send before its first acknowledgement; 0 leaves it to the kernel, which takes 10.
    /// Default: 2.
    pub initial_window: u32,
    /// The folder of the control group (version 2) whose processes' sockets are limited from their beginning. Default: that of all
    /// processes.
    pub group: Option<PathBuf>,
    /// The device at which UDP to other endpoints is shaped, by classes of HTB that are there as long as the endpoint is. It must have
    /// no queueing discipline that somebody has set. Default: none, and UDP is not limited.
    pub udp_device: Option<String>,
    /// The program, and its arguments, that lifts the limits of sockets when this process dies without doing so: it calls
    /// [`watch::run`](super::watch::run). Default: none, and after a `kill -9` sockets keep their last rates until the next start and
    /// end of an endpoint.
    pub watcher: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            look: Span::from_ms(2),
            window: Span::from_ms(10),
            horizon: Span::from_ms(5),
            initial_window: 2,
            group: None,
            udp_device: None,
            watcher: Vec::new(),
        }
    }
}

impl Settings {
    /// Sees whether these make sense with slots of this length.
    pub(super) fn check(&self, slot: Span) -> Result<(), KernelError> {
        let said = |span: Span| format!("{} us", span.as_us_f64());
        if self.look == Span::ZERO {
            return Err(error("a look at sockets every 0 us", "give a time: 2 ms is the default"));
        }
        let (window, horizon) = (self.look.max(slot * 2), self.look.max(slot));
        if self.window < window {
            let message = format!("slots are used over {}, which is too short", said(self.window));
            return Err(error(message, format!("give {} or more", said(window))));
        }
        if self.horizon < horizon {
            let message = format!("slots are asked for {} ahead, which is too short", said(self.horizon));
            return Err(error(message, format!("give {} or more", said(horizon))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_make_no_sense_say_what_would() {
        let (slot, defaults) = (Span::from_us(500), Settings::default());
        assert_eq!(defaults.check(slot), Ok(()));
        let never = Settings { look: Span::ZERO, ..defaults.clone() };
        assert!(never.check(slot).is_err());
        let short = Settings { window: Span::from_us(900), ..defaults.clone() };
        assert_eq!(short.check(slot).expect_err("it is short").remedy, "give 2000 us or more");
        let late = Settings { horizon: Span::from_us(400), ..defaults };
        assert_eq!(late.check(slot).expect_err("it is late").remedy, "give 2000 us or more");
    }
}
