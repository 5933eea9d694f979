//! Go-back-N with a fixed window and no congestion control: what a RoCE network adapter does about a loss, and nothing
//! else of it. Made to show what recovery alone costs.
//!
//! The recovery is [`GoBackN`], the receiver an [`InOrderReceiver`]; the window and the timer are those of `none`.

use super::none::{Fixed, NoControl};
use crate::parameter::{ParameterReader, Parameters};
use crate::transport::common;
use crate::transport::{GoBackN, InOrderReceiver, Path, Scheme};
use crate::units::{Bytes, Span};

/// Parameters of go-back-N.
#[derive(Clone, Debug, PartialEq)]
pub struct GoBackNParams {
    /// Packets under way at most. 64: 100 Gb/s over 20 us in packets of 4 kB.
    pub window: u32,
    /// Retransmission timeout, which nothing lengthens. 10 ms.
    pub rto: Span,
}

impl Default for GoBackNParams {
    fn default() -> GoBackNParams {
        GoBackNParams { window: 64, rto: Span::from_ms(10) }
    }
}

impl Parameters for GoBackNParams {
    fn read(r: &mut impl ParameterReader, d: &GoBackNParams) -> GoBackNParams {
        GoBackNParams {
            window: r.value(&common::fixed_window(), d.window),
            rto: r.value(&common::rto(), d.rto),
        }
    }
}

impl Scheme for GoBackNParams {
    type Control = NoControl;
    type Recovery = GoBackN;
    type Receiver = InOrderReceiver;

    /// RoCE, version 2: IPv4 20, UDP 8, base transport header 12, checksum 4.
    const HEADER: Bytes = Bytes::new(44);

    fn shared(&self, _path: Path) -> Fixed {
        Fixed::new(self.window, None, self.rto)
    }

    /// The window alone limits it.
    fn reach(&self) -> u32 {
        self.window.next_power_of_two().max(u64::BITS)
    }

    fn tracked_packets(&self) -> u32 {
        0
    }

    fn max_window(&self) -> f64 {
        f64::from(self.window)
    }

    fn recovery(&self) -> GoBackN {
        GoBackN::default()
    }

    fn receiver(&self) -> InOrderReceiver {
        InOrderReceiver::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_reaches_as_far_as_its_window() {
        for (window, reach) in [(1, 64), (64, 64), (65, 128), (1 << 20, 1 << 20)] {
            let params = GoBackNParams { window, ..GoBackNParams::default() };
            assert_eq!((params.reach(), params.max_window()), (reach, f64::from(window)));
        }
    }
}
