//! The flows that this host receives, and which connection may bring them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::testbed::message::Incoming;

/// The length of what a data connection begins with, in bytes: the run's token, and the flow's number in network byte order.
pub const PREAMBLE_BYTES: usize = TOKEN_BYTES + 8;
/// The length of a token, in bytes.
const TOKEN_BYTES: usize = 16;
/// How long a connection may take to say whose it is.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Connections that may have said nothing yet, at once.
pub const MOST_STRANGERS: usize = 1024;
/// What a receiver says when it has taken a connection for that of a flow, and when all of the flow has come.
pub const YES: u8 = 1;

/// The flows that are expected.
#[derive(Debug)]
pub struct Expected {
    token: [u8; TOKEN_BYTES],
    flows: BTreeMap<u64, Claim>,
}

#[derive(Debug)]
struct Claim {
    bytes: Option<u64>,
    is_taken: AtomicBool,
}

/// The first bytes of a flow's data connection.
pub fn preamble(token: &[u8; TOKEN_BYTES], id: u64) -> [u8; PREAMBLE_BYTES] {
    let mut preamble = [0; PREAMBLE_BYTES];
    preamble[..TOKEN_BYTES].copy_from_slice(token);
    preamble[TOKEN_BYTES..].copy_from_slice(&id.to_be_bytes());
    preamble
}

impl Expected {
    /// These flows, whose connections begin with `token`.
    pub fn new(token: [u8; TOKEN_BYTES], receiving: &[Incoming]) -> Expected {
        let claim = |flow: &Incoming| Claim { bytes: flow.bytes, is_taken: AtomicBool::new(false) };
        Expected { token, flows: receiving.iter().map(|flow| (flow.id, claim(flow))).collect() }
    }

    /// Takes a connection that begins with `preamble` for that of a flow, and returns the flow's bytes; `u64::MAX` for one without
    /// an end. `None` is a stranger: it does not know the token, or the flow is none, or has its connection already.
    pub fn claim(&self, preamble: &[u8; PREAMBLE_BYTES]) -> Option<u64> {
        let (token, id) = preamble.split_first_chunk::<TOKEN_BYTES>()?;
        // Takes as long whatever is wrong, so that nobody can find the token byte by byte.
        let different = token.iter().zip(&self.token).fold(0, |sum, (one, other)| sum | (one ^ other));
        let id = u64::from_be_bytes(*id.first_chunk()?);
        if different != 0 {
            return None;
        }
        let claim = self.flows.get(&id)?;
        (!claim.is_taken.swap(true, Ordering::Relaxed)).then(|| claim.bytes.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_claimed_once_and_by_who_knows_the_token() {
        let flow = |id, bytes| Incoming { id, from: 0, bytes };
        let expected = Expected::new([7; 16], &[flow(1, Some(9)), flow(2, None)]);
        let claim = |token, id| expected.claim(&preamble(&[token; 16], id));
        assert_eq!((claim(8, 1), claim(7, 3)), (None, None));
        assert_eq!((claim(7, 1), claim(7, 1), claim(7, 2)), (Some(9), None, Some(u64::MAX)));
    }
}
