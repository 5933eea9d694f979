//! What both ends know of a flow, and what each is to do with its bytes.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;

use super::figures::SentFlow;
use super::layout::Layout;
use super::scheme::{AnyReceiver, AnySender};

/// A flow of a session. Its number is the sender's; both ends know it beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId {
    /// This end's number of the session.
    pub session: u32,
    /// The number of the flow, of those that go the same way in the session.
    pub flow: u32,
}

/// What a flow carries: a part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Operations, and the packets that they are sent in; must pass [`Layout::check`].
    pub layout: Layout,
    /// Which of the layout's flows it is.
    pub part: u32,
}

impl Carried {
    /// One operation of `bytes` bytes, in a flow of its own.
    pub fn whole(bytes: u64, mtu: u32) -> Carried {
        let operations = u64::from(bytes > 0);
        Carried { layout: Layout { operations, size: bytes.max(1), mtu, flows: 1 }, part: 0 }
    }

    /// As much as a flow can carry: 2^32 - 2 packets.
    pub fn endless(mtu: u32) -> Carried {
        Carried::whole(u64::from(u32::MAX - 1) * u64::from(mtu), mtu)
    }

    /// The number of packets.
    pub fn packets(&self) -> u32 {
        self.layout.packets_of(self.part)
    }
}

/// Where a flow's bytes come from.
pub trait Content: Send {
    /// Fills `buffer` with the bytes from `offset` of the layout on.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// Where a flow's bytes go to.
pub trait Keep: Send {
    /// Takes the bytes from `offset` of the layout on, which come once and in any order.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

/// A flow to send.
pub struct Outgoing {
    /// Its session and number.
    pub id: FlowId,
    /// What it carries.
    pub carried: Carried,
    /// How many operations may be under way at once.
    pub outstanding: u32,
    /// Its bytes; none where nobody looks at them, and whatever is in the buffer goes.
    pub content: Option<Box<dyn Content>>,
    /// Its sender: a clone of its scheme's.
    pub sender: AnySender,
    /// Where it shows what it measures, at every acknowledgement.
    pub shown: Arc<Mutex<SentFlow>>,
}

/// A flow that will come.
pub struct Incoming {
    /// Its session and number.
    pub id: FlowId,
    /// What it carries.
    pub carried: Carried,
    /// Its receiver, of its sender's scheme.
    pub receiver: AnyReceiver,
    /// Who takes its bytes; none where nobody wants them.
    pub keep: Option<Box<dyn Keep>>,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("id", &self.id)
            .field("carried", &self.carried)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("id", &self.id)
            .field("carried", &self.carried)
            .finish_non_exhaustive()
    }
}

/// Swift's own defaults, except where they assume a stack that polls. A process that sleeps is woken tens of
/// microseconds late at both ends, and its endpoint delay contains that. When Linux does not schedule a process for
/// some milliseconds, as happens on a busy machine, nothing is lost: three timeouts within that time would reduce the
/// window to its minimum. A path that was away for seconds is tried again soon after it is back.
pub fn defaults() -> SwiftParams {
    SwiftParams {
        endpoint_target: Span::from_us(500),
        min_rto: Span::from_ms(5),
        initial_rto: Some(Span::from_ms(10)),
        max_rto: Span::from_ms(200),
        ..SwiftParams::default()
    }
}
