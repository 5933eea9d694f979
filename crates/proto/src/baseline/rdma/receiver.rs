//! The receiving end of an RDMA flow: it takes packets in order only or in any order, and is DCQCN's notification point, which
//! answers marked packets with congestion notification packets (CNPs).

use crate::machine::Readiness;
use crate::transport::{Ack, Arrival, Data, InOrderReceiver, Receiver, SelectiveReceiver};
use crate::units::{Span, Time};

/// The receiver of an RDMA flow.
#[derive(Debug)]
pub struct RdmaReceiver {
    order: Order,
    /// What notifies the sender of congestion; `None` where congestion is told to nobody.
    notification_point: Option<NotificationPoint>,
}

#[derive(Debug)]
enum Order {
    InOrder(InOrderReceiver),
    Selective(SelectiveReceiver),
}

/// DCQCN's notification point: a packet that comes with a mark is answered at once, unless the flow has had a notification
/// within the interval (section 3.1).
#[derive(Debug)]
struct NotificationPoint {
    interval: Span,
    /// No notification before this.
    next: Time,
    due: Option<Ack>,
}

impl NotificationPoint {
    fn handle_marked(&mut self, now: Time, data: &Data, hops: u8) {
        if now >= self.next {
            self.due = Some(Ack::notification(data, hops));
            self.next = now + self.interval;
        }
    }
}

impl RdmaReceiver {
    /// Sends notifications, at least `interval` apart.
    #[must_use]
    pub fn notifying(self, interval: Span) -> RdmaReceiver {
        let point = NotificationPoint { interval, next: Time::ZERO, due: None };
        RdmaReceiver { notification_point: Some(point), ..self }
    }
}

impl From<InOrderReceiver> for RdmaReceiver {
    fn from(receiver: InOrderReceiver) -> RdmaReceiver {
        RdmaReceiver { order: Order::InOrder(receiver), notification_point: None }
    }
}

impl From<SelectiveReceiver> for RdmaReceiver {
    fn from(receiver: SelectiveReceiver) -> RdmaReceiver {
        RdmaReceiver { order: Order::Selective(receiver), notification_point: None }
    }
}

/// Asks the receiver that there is.
macro_rules! either {
    ($order:expr, $receiver:ident => $call:expr) => {
        match $order {
            Order::InOrder($receiver) => $call,
            Order::Selective($receiver) => $call,
        }
    };
}

impl Receiver for RdmaReceiver {
    /// A mark counts whatever becomes of its packet.
    fn handle_data(
        &mut self,
        now: Time,
        received: Time,
        data: &Data,
        congestion_experienced: bool,
        hops: u8,
    ) -> Arrival {
        if let Some(point) = self.notification_point.as_mut().filter(|_| congestion_experienced) {
            point.handle_marked(now, data, hops);
        }
        either!(&mut self.order, r => r.handle_data(now, received, data, congestion_experienced, hops))
    }

    fn handle_timeout(&mut self, now: Time) {
        either!(&mut self.order, r => r.handle_timeout(now));
    }

    fn poll_timeout(&self) -> Option<Time> {
        either!(&self.order, r => r.poll_timeout())
    }

    fn poll_completed(&mut self) -> u32 {
        either!(&mut self.order, r => r.poll_completed())
    }

    fn readiness(&self) -> Readiness {
        if self.notification_point.as_ref().is_some_and(|point| point.due.is_some()) {
            return Readiness::Ready;
        }
        either!(&self.order, r => r.readiness())
    }

    /// A notification goes first.
    fn transmit(&mut self, now: Time) -> Ack {
        if let Some(notification) = self.notification_point.as_mut().and_then(|point| point.due.take()) {
            return notification;
        }
        either!(&mut self.order, r => r.transmit(now))
    }

    fn payload(&self) -> u64 {
        either!(&self.order, r => r.payload())
    }

    fn duplicates(&self) -> u64 {
        either!(&self.order, r => r.duplicates())
    }
}
