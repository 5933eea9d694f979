//! What the sockets to each endpoint have to send, as a look finds it (`struct record` of `bpf/rates.bpf.c`), and the rate that each of
//! them gets of what all together may have.

use clearway_proto::fastpass::fcp::Address;
use clearway_proto::units::Span;

use super::framing::Segment;
use super::udp::Flow;

/// Bytes of a record.
pub(super) const RECORD: usize = 64;
/// A socket that had bytes waiting so short a time ago is one that has them: a look may find its buffer empty by chance, between
/// two writes of its application.
const SHORT: u64 = Span::from_ms(10).as_ps() / 1000;
/// A socket that has sent nothing for this long takes no part.
const LONG: u64 = Span::from_ms(50).as_ps() / 1000;

/// A socket as a look finds it. Times are how long ago, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Bytes sent since the last look, those sent again included.
    pub(super) sent: u64,
    /// Bytes received since the last look.
    pub(super) received: u64,
    /// Bytes not sent yet, or lost and not sent again.
    pub(super) waiting: u64,
    sent_ago: u64,
    waited_ago: u64,
    full_ago: u64,
    /// The endpoint that it goes to.
    pub(super) destination: Address,
    /// Whether it takes its rate with each round-trip time.
    pub(super) follows: bool,
    segment: Segment,
}

impl Record {
    /// Reads a record.
    pub(super) fn decode(bytes: &[u8; RECORD]) -> Record {
        let word = |at: usize| u64::from_ne_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_ne_bytes(bytes[at..][..4].try_into().expect("four bytes"));
        let quarter = |at: usize| u16::from_ne_bytes(bytes[at..][..2].try_into().expect("two bytes"));
        Record {
            sent: word(0),
            received: word(1),
            waiting: word(2),
            sent_ago: word(3),
            waited_ago: word(4),
            full_ago: word(5),
            destination: half(48) as Address,
            segment: Segment::new(quarter(56), quarter(58)),
            follows: half(60) != 0,
        }
    }
}

/// The sockets to one endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sockets {
    /// The number of sockets.
    pub(super) count: u32,
    /// Sockets that had bytes waiting of late.
    pub(super) backlogged: u32,
    /// Sockets that had bytes waiting of late, or sent some.
    pub(super) active: u32,
    /// Sockets that do not take their rates by themselves.
    pub(super) unfollowing: u32,
    /// Whether an application has more for any of them than its buffer takes.
    pub(super) is_full: bool,
    /// Bytes that wait in all of them.
    pub(super) waiting: u64,
    /// Bytes that all of them have sent since the last look.
    pub(super) sent: u64,
    /// Bytes that all of them have received since then.
    pub(super) received: u64,
    /// Bytes of those sent by sockets without a backlog.
    pub(super) sent_without_backlog: u64,
    /// The longest segment of any of them.
    pub(super) segment: Option<Segment>,
}

impl Sockets {
    /// Counts a socket.
    pub(super) fn add(&mut self, record: &Record) {
        let is_backlogged = record.waited_ago <= SHORT;
        self.count += 1;
        self.backlogged += u32::from(is_backlogged);
        self.active += u32::from(is_backlogged || record.sent_ago <= LONG);
        self.unfollowing += u32::from(!record.follows);
        self.is_full |= is_backlogged && record.full_ago <= SHORT;
        self.waiting += record.waiting;
        self.sent += record.sent;
        if !is_backlogged {
            self.sent_without_backlog += record.sent;
        }
        self.received += record.received;
        let longer = self.segment.is_none_or(|segment| segment.payload() < record.segment.payload());
        if longer {
            self.segment = Some(record.segment);
        }
    }

    /// Counts the host's UDP to the endpoint as one more socket, which has sent `sent` bytes.
    pub(super) fn add_udp(&mut self, flow: &Flow, sent: u64) {
        let is_backlogged = flow.waiting > 0;
        self.backlogged += u32::from(is_backlogged);
        self.active += u32::from(is_backlogged || sent > 0);
        self.is_full |= flow.is_full;
        self.waiting += flow.waiting;
        self.sent += sent;
        if !is_backlogged {
            self.sent_without_backlog += sent;
        }
    }
}

/// The rate that no socket may exceed so that together they keep to `rate`, in bytes a second: what those without a backlog leave
/// (`used` is theirs) is divided among the others, and nobody gets less than an equal part of all. That is max-min fairness, as a
/// socket without a backlog uses less than an equal part.
pub(super) fn share(rate: u64, used: u64, backlogged: u32, active: u32) -> u64 {
    let left = rate.saturating_sub(used) / u64::from(backlogged.max(1));
    left.max(rate / u64::from(active.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(waiting: u64, waited_ms: u64, full_ms: u64, sent_ms: u64, sent: u64) -> Record {
        Record {
            sent,
            received: 0,
            waiting,
            sent_ago: sent_ms * 1_000_000,
            waited_ago: waited_ms * 1_000_000,
            full_ago: full_ms * 1_000_000,
            destination: 1,
            follows: true,
            segment: Segment::usual(1448),
        }
    }

    #[test]
    fn a_record_is_read_as_the_kernel_writes_it() {
        let mut bytes = [0; RECORD];
        for (at, word) in [700_u64, 800, 900, 1, 2, u64::MAX].into_iter().enumerate() {
            bytes[at * 8..][..8].copy_from_slice(&word.to_ne_bytes());
        }
        bytes[48..52].copy_from_slice(&3_u32.to_ne_bytes());
        bytes[56..58].copy_from_slice(&1428_u16.to_ne_bytes());
        bytes[58..60].copy_from_slice(&72_u16.to_ne_bytes());
        bytes[60..].copy_from_slice(&1_u32.to_ne_bytes());
        let record = Record::decode(&bytes);
        assert_eq!((record.sent, record.received, record.waiting, record.destination), (700, 800, 900, 3));
        assert_eq!((record.sent_ago, record.waited_ago, record.full_ago), (1, 2, u64::MAX));
        assert_eq!((record.segment, record.follows), (Segment::new(1428, 72), true));
    }

    #[test]
    fn sockets_are_told_apart_by_what_waited_of_late() {
        let mut sockets = Sockets::default();
        let idle = record(0, 5000, 5000, 5000, 0);
        // With more in its application, with what waits only, without a backlog, and one that was found empty by chance.
        let all = [
            record(9000, 0, 0, 0, 500),
            record(100, 0, 5000, 0, 10),
            record(0, 30, 30, 1, 7),
            record(0, 3, 3, 1, 2),
        ];
        all.iter().chain([&idle]).for_each(|record| sockets.add(record));
        assert_eq!((sockets.count, sockets.backlogged, sockets.active), (5, 3, 4));
        assert_eq!((sockets.waiting, sockets.sent, sockets.sent_without_backlog), (9100, 519, 7));
        assert!(sockets.is_full);
        let mut short = Sockets::default();
        short.add(&all[1]);
        assert!(!short.is_full);
    }

    #[test]
    fn udp_is_one_more_socket() {
        let mut sockets = Sockets::default();
        sockets.add_udp(&Flow::default(), 0);
        assert_eq!(sockets, Sockets::default());
        sockets.add_udp(&Flow { waiting: 50, is_full: true, ..Flow::default() }, 100);
        assert_eq!((sockets.backlogged, sockets.active, sockets.waiting, sockets.sent), (1, 1, 50, 100));
        assert!(sockets.is_full && sockets.sent_without_backlog == 0);
    }

    #[test]
    fn shares_add_up_to_the_rate_of_the_pair() {
        assert_eq!(share(1000, 0, 8, 8), 125);
        // Two use 100 each; what they leave goes to the other two.
        assert_eq!(share(1000, 200, 2, 4), 400);
        // Nobody has a backlog: each may have all that an equal part allows.
        assert_eq!((share(1000, 600, 0, 1), share(1000, 800, 0, 2), share(1000, 0, 0, 0)), (1000, 500, 1000));
        // The rate has just fallen below what those without a backlog used.
        assert_eq!(share(100, 700, 1, 4), 25);
    }
}
