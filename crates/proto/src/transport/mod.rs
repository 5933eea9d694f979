//! What every window-based transport shares: packets and their acknowledgement, loss detection, retransmission.
//!
//! [`Sender`] and a [`Receiver`] are the machines. How much a sender may have under way is the question that it leaves
//! open, to a [`CongestionControl`]: a new scheme is one file that answers it. Which packets are lost is a
//! [`Recovery`]'s to say, and a [`Scheme`] names the three.

pub mod common;
mod congestion;
mod message;
mod packet;
mod receiver;
mod recovery;
mod scheme;
mod sender;
mod sequence_set;
mod telemetry;

pub use congestion::{AckSample, Backlog, CongestionControl, Notice, Timeout, TrimSample, Windows};
pub use packet::{Ack, Ask, Data, Nack, CREDIT_QUANTUM, SACK_BITS};
pub use receiver::{AckPolicy, Arrival, Header, InOrderReceiver, Receiver, SelectiveReceiver};
pub use recovery::{Change, GoBackN, NackBitmap, Recovery, SelectiveRepeat};
pub use scheme::{Path, PullTerms, Scheme, SenderOf};
pub use sender::{Common, Flight, Offered, Sender};
pub use telemetry::{HopRecords, PortState, Telemetry, MOST_HOPS};
