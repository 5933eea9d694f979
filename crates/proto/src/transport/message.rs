//! A flow's messages: where each ends in the sequence of packets, and how long its last packet is.
//!
//! Most flows have one message at a time. So the sender itself holds the end of the one that it began last, and what
//! concerns more of them is here.

use std::collections::VecDeque;

/// The end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// First packet after it; `u32::MAX` for data without end.
    pub(super) end: u32,
    /// Payload of its last packet, in bytes; 0 where no message ends.
    pub(super) tail: u32,
}

impl Boundary {
    /// A message of `bytes` from packet `from` on, in packets of up to `mtu` bytes. Panics when it is empty, and when
    /// it would need packets beyond 2^32 - 2.
    pub(super) fn new(bytes: u64, from: u32, mtu: u32) -> Boundary {
        assert!(bytes > 0, "an empty message");
        let packets = u32::try_from(bytes.div_ceil(u64::from(mtu))).expect("a message too long");
        let end = from.checked_add(packets).filter(|&end| end < u32::MAX).expect("a flow too long");
        Boundary { end, tail: (bytes - u64::from(packets - 1) * u64::from(mtu)) as u32 }
    }
}

/// The messages that are not wholly acknowledged, beside the one begun last.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// Wholly sent, not known to be wholly acknowledged; oldest first.
    sent: VecDeque<Boundary>,
    /// Not begun, oldest first.
    waiting: VecDeque<Boundary>,
    /// Data without end follows those.
    endless: bool,
}

impl Messages {
    /// A message that is wholly sent is no longer the one begun last.
    pub(super) fn push_sent(&mut self, message: Boundary) {
        self.sent.push_back(message);
    }

    /// Adds a message behind one that is not wholly sent.
    pub(super) fn push_waiting(&mut self, message: Boundary) {
        self.waiting.push_back(message);
    }

    /// Adds data without end behind a message that is not wholly sent, or takes it back.
    pub(super) fn set_endless(&mut self, endless: bool) {
        self.endless = endless;
    }

    /// First packet that none of these offers; `u32::MAX` with data without end, `None` where nothing waits.
    pub(super) fn offered(&self) -> Option<u32> {
        if self.endless {
            return Some(u32::MAX);
        }
        self.waiting.back().map(|last| last.end)
    }

    /// The end of the message that waits and has packet `seq`, or of endless data.
    pub(super) fn waiting_at(&self, seq: u32) -> Option<Boundary> {
        let place = self.waiting.partition_point(|message| message.end <= seq);
        let endless = self.endless.then_some(Boundary { end: u32::MAX, tail: 0 });
        self.waiting.get(place).copied().or(endless)
    }

    /// Takes out the end of the message that is sent next, or of endless data.
    pub(super) fn pop_waiting(&mut self) -> Option<Boundary> {
        let endless = self.waiting.is_empty() && std::mem::take(&mut self.endless);
        self.waiting.pop_front().or(endless.then_some(Boundary { end: u32::MAX, tail: 0 }))
    }

    /// Payload of the last packet of the message that ends at packet `end`, if one does.
    pub(super) fn tail_at(&self, end: u32) -> Option<u32> {
        let place = self.sent.binary_search_by_key(&end, |message| message.end).ok()?;
        Some(self.sent[place].tail)
    }

    /// End of the oldest of these that is wholly sent.
    pub(super) fn oldest_end(&self) -> Option<u32> {
        self.sent.front().map(|oldest| oldest.end)
    }

    /// Forgets those that end at or before packet `cumulative`. Returns how many they are.
    pub(super) fn acknowledge(&mut self, cumulative: u32) -> u32 {
        let done = self.sent.partition_point(|message| message.end <= cumulative);
        self.sent.drain(..done);
        done as u32
    }
}

#[cfg(test)]
mod tests {
    use crate::baseline::none::NoneParams;
    use crate::transport::scheme::SenderOf;
    use crate::transport::{Ack, Path, Scheme};
    use crate::units::{Bytes, Rate, Time};

    fn sender(messages: &[u64]) -> SenderOf<NoneParams> {
        let mut sender = NoneParams::default().sender(100, Path::new(Bytes::new(100), Rate::from_gbps(10)));
        for &bytes in messages {
            sender.handle_message(Bytes::new(bytes));
        }
        sender
    }

    /// Sends what may be sent, up to `packets` packets. Returns the payload of each, and whether it ends a message.
    fn send(sender: &mut SenderOf<NoneParams>, packets: u32) -> Vec<(u32, bool)> {
        let ready =
            |sender: &SenderOf<NoneParams>| sender.readiness(Time::ZERO) == crate::machine::Readiness::Ready;
        let mut sent = Vec::new();
        while sent.len() < packets as usize && ready(sender) {
            let data = sender.transmit(Time::ZERO);
            sent.push((data.payload, data.last));
        }
        sent
    }

    /// Acknowledges every packet before `cumulative`, and returns how many messages are done.
    fn acknowledge(sender: &mut SenderOf<NoneParams>, cumulative: u32) -> u32 {
        acknowledge_sent_at(sender, cumulative, Time::ZERO)
    }

    /// Acknowledges every packet before `cumulative`, the last of which was sent at `echo`. Returns how many messages are done.
    fn acknowledge_sent_at(sender: &mut SenderOf<NoneParams>, cumulative: u32, echo: Time) -> u32 {
        let ack = Ack {
            seq: cumulative - 1,
            cumulative,
            sack: 0,
            echo,
            congestion_experienced: false,
            hops: 1,
            remote_queuing_us: 0,
        };
        sender.handle_ack(echo, echo, &ack);
        sender.poll_completed()
    }

    /// Lets the timer run out, and acknowledges everything before `cumulative` as an answer to the packet that is sent then: so
    /// all others are lost. Returns that packet.
    fn time_out(sender: &mut SenderOf<NoneParams>, cumulative: u32) -> Vec<(u32, bool)> {
        let timeout = sender.poll_timeout().expect("packets are under way");
        sender.handle_timeout(timeout);
        let probe = send(sender, 9);
        acknowledge_sent_at(sender, cumulative, timeout);
        probe
    }

    /// The payloads of all packets that are offered, in runs.
    fn runs(sender: &SenderOf<NoneParams>) -> Vec<(u32, u32)> {
        let offered = sender.offered();
        let mut seq = offered.next;
        std::iter::from_fn(|| {
            let (payload, packets) = (seq < offered.until).then(|| sender.payload_from(seq))?;
            let packets = packets.min(offered.until - seq);
            seq += packets;
            Some((payload, packets))
        })
        .collect()
    }

    #[test]
    fn what_is_offered_is_known_before_it_is_sent() {
        let mut sender = sender(&[250, 200, 30, 40]);
        assert_eq!(runs(&sender), [(100, 2), (50, 1), (100, 1), (100, 1), (30, 1), (40, 1)]);
        send(&mut sender, 4);
        assert_eq!(runs(&sender), [(100, 1), (30, 1), (40, 1)]);
        sender.handle_endless();
        assert_eq!(runs(&sender)[..3], [(100, 1), (30, 1), (40, 1)]);
        assert_eq!((runs(&sender)[3].0, sender.offered().lost), (100, 0));
        let timeout = sender.poll_timeout().expect("packets are under way");
        sender.handle_timeout(timeout);
        assert!(sender.offered().lost > 0);
    }

    #[test]
    fn a_messages_last_packet_is_what_remains() {
        assert_eq!(send(&mut sender(&[250]), 9), [(100, false), (100, false), (50, true)]);
    }

    #[test]
    fn messages_that_wait_together_end_each_where_it_should() {
        let mut sender = sender(&[150, 1, 100]);
        assert_eq!(send(&mut sender, 9), [(100, false), (50, true), (1, true), (100, true)]);
        sender.handle_message(Bytes::new(30));
        assert_eq!(send(&mut sender, 9), [(30, true)]);
    }

    #[test]
    fn a_packet_sent_again_is_the_same_packet() {
        let mut sender = sender(&[150, 250, 100, 30]);
        let first = send(&mut sender, 9);
        let mut again = time_out(&mut sender, 1);
        again.extend(send(&mut sender, 9));
        assert_eq!(first, again);
        assert_eq!(sender.flight().retransmissions, 7);
        // Of those packets 0 to 6, some are lost once more.
        assert_eq!(acknowledge(&mut sender, 4), 1);
        again = time_out(&mut sender, 5);
        again.extend(send(&mut sender, 9));
        assert_eq!(first[4..], again);
    }

    #[test]
    fn a_message_is_done_once_wholly_acknowledged() {
        let mut sender = sender(&[200, 100]);
        send(&mut sender, 3);
        let done: Vec<_> = [1, 2, 2, 3].map(|cumulative| acknowledge(&mut sender, cumulative)).into();
        assert_eq!(done, [0, 1, 0, 1]);
    }

    #[test]
    fn one_message_after_another_is_done_once() {
        let mut sender = sender(&[]);
        for from in 0..5 {
            sender.handle_message(Bytes::new(200));
            assert_eq!(send(&mut sender, 9), [(100, false), (100, true)]);
            let done = [1, 2, 2].map(|packets| acknowledge(&mut sender, 2 * from + packets));
            assert_eq!(done, [0, 1, 0]);
        }
    }

    #[test]
    fn messages_done_by_one_acknowledgement_all_count() {
        let mut sender = sender(&[100, 100, 100]);
        send(&mut sender, 3);
        sender.handle_message(Bytes::new(100));
        send(&mut sender, 1);
        assert_eq!(acknowledge(&mut sender, 4), 4);
    }

    #[test]
    fn data_without_end_follows_the_messages_before_it_and_stops_behind_them() {
        let mut sender = sender(&[250]);
        sender.handle_endless();
        assert_eq!(send(&mut sender, 2), [(100, false), (100, false)]);
        sender.handle_stop();
        assert_eq!(send(&mut sender, 9), [(50, true)]);
        sender.handle_endless();
        assert_eq!(send(&mut sender, 2), [(100, false), (100, false)]);
        sender.handle_stop();
        sender.handle_message(Bytes::new(70));
        assert_eq!(send(&mut sender, 9), [(70, true)]);
        assert_eq!(acknowledge(&mut sender, 6), 2);
    }

    #[test]
    fn data_without_end_may_stop_where_it_would_begin() {
        let mut sender = sender(&[250]);
        send(&mut sender, 3);
        sender.handle_endless();
        sender.handle_stop();
        assert_eq!(send(&mut sender, 9), []);
        assert_eq!(time_out(&mut sender, 1), [(100, false)]);
        assert_eq!(send(&mut sender, 9), [(100, false), (50, true)]);
        assert_eq!(acknowledge(&mut sender, 3), 1);
    }
}
