//! The flows that this host sends, as they are measured: which are active, what they have done, and what is told of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clearway_proto::units::Span;
use tokio::sync::mpsc::UnboundedSender;

use super::probe::{Probe, Seen};
use super::totals::OfCarrier;
use crate::datagram::figures::RoundTrips;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FlowFigures, FromAgent, Outgoing, Row, RttFigures};

/// An active flow.
struct Active {
    start_ns: u64,
    probe: Probe,
    seen: Seen,
    rtt: RoundTrips,
}

impl Active {
    /// Looks at the flow, and takes its round trip into account if something was acknowledged since the last time.
    fn look(&mut self, totals: &OfCarrier) {
        let Some(seen) = self.probe.look() else { return };
        let rtt_ns = seen.rtt_ns.filter(|_| seen.bytes > self.seen.bytes);
        if let Some(rtt_ns) = rtt_ns {
            self.rtt.record(Span::from_ns(rtt_ns));
        }
        totals.add(|totals| {
            totals.bytes += seen.bytes.saturating_sub(self.seen.bytes);
            totals.retransmissions += seen.retransmissions.saturating_sub(self.seen.retransmissions);
            if let Some(ns) = rtt_ns {
                totals.record_rtt(ns);
            }
        });
        self.seen = seen;
    }

    fn figures(&self) -> RttFigures {
        let each = self.probe.round_trips();
        let rtt = each.as_ref().unwrap_or(&self.rtt);
        RttFigures {
            mean_ns: rtt.mean_ns().map(|ns| ns as u64),
            p50_ns: rtt.quantile_ns(0.5),
            p99_ns: rtt.quantile_ns(0.99),
            min_ns: self.seen.min_rtt_ns.filter(|_| rtt.count() > 0),
            samples: rtt.count(),
        }
    }
}

#[derive(Default)]
struct Inner {
    active: BTreeMap<usize, Active>,
    is_stopped: bool,
}

/// The flows that this host sends.
pub struct Flows {
    sending: Vec<Outgoing>,
    /// The run's start by the monotonic clock, in nanoseconds; zero before it.
    origin: AtomicU64,
    over: AtomicU64,
    inner: Mutex<Inner>,
    told: UnboundedSender<FromAgent>,
    totals: OfCarrier,
}

impl Flows {
    /// These flows, of which `told` is told, and which count into the totals of their carrier.
    pub fn new(sending: Vec<Outgoing>, told: UnboundedSender<FromAgent>, totals: OfCarrier) -> Flows {
        let (origin, over) = (AtomicU64::new(0), AtomicU64::new(0));
        Flows { sending, origin, over, inner: Mutex::default(), told, totals }
    }

    /// The flow of an index.
    pub fn of(&self, index: usize) -> &Outgoing {
        &self.sending[index]
    }

    /// The number of flows.
    pub fn count(&self) -> usize {
        self.sending.len()
    }

    /// The number of flows that are active, and of those that are over.
    pub fn progress(&self) -> (u64, u64) {
        (self.inner().active.len() as u64, self.over.load(Ordering::Relaxed))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run starts, or has started, at this instant of the monotonic clock, in nanoseconds.
    pub fn set_origin(&self, origin: u64) {
        self.origin.store(origin, Ordering::Release);
    }

    /// Nanoseconds since the run's start; zero before it.
    pub fn now(&self) -> u64 {
        match self.origin.load(Ordering::Acquire) {
            0 => 0,
            origin => monotonic_ns().saturating_sub(origin),
        }
    }

    /// A flow begins now. Returns false once the run is over.
    pub fn begin(&self, index: usize, probe: Probe) -> bool {
        let start_ns = self.now();
        let active = Active { start_ns, probe, seen: Seen::default(), rtt: RoundTrips::default() };
        let mut inner = self.inner();
        if !inner.is_stopped {
            inner.active.insert(index, active);
        }
        !inner.is_stopped
    }

    /// A flow is complete: all of it has arrived. Returns false if it is over already.
    pub fn complete(&self, index: usize) -> bool {
        let end_ns = self.now();
        let Some(mut active) = self.inner().active.remove(&index) else { return false };
        active.look(&self.totals);
        // What its receiver confirmed has arrived, even where the acknowledgement of the last packet has not.
        let seen = active.seen.bytes;
        active.seen.bytes = self.sending[index].bytes.unwrap_or(seen);
        self.totals.add(|totals| {
            totals.bytes += active.seen.bytes.saturating_sub(seen);
            totals.finished += 1;
        });
        self.tell(index, &active, Some(end_ns), None);
        true
    }

    /// A flow has failed, active or not. Nothing is told once the run is over.
    pub fn fail(&self, index: usize, error: String) {
        let active = {
            let mut inner = self.inner();
            if inner.is_stopped {
                return;
            }
            inner.active.remove(&index)
        };
        match active {
            Some(mut active) => {
                active.look(&self.totals);
                self.tell(index, &active, None, Some(error));
            }
            None => self.say(FromAgent::Flow(FlowFigures {
                id: self.sending[index].id,
                start_ns: None,
                end_ns: None,
                bytes: 0,
                retransmissions: 0,
                rtt: RttFigures::default(),
                error: Some(error),
            })),
        }
        self.over.fetch_add(1, Ordering::Relaxed);
        self.totals.add(|totals| totals.failed += 1);
    }

    /// The run is over: tells what the flows that are active have done by now.
    pub fn stop(&self) {
        let active = {
            let mut inner = self.inner();
            inner.is_stopped = true;
            std::mem::take(&mut inner.active)
        };
        for (index, mut active) in active {
            active.look(&self.totals);
            self.totals.add(|totals| totals.unfinished += 1);
            self.tell(index, &active, None, None);
        }
    }

    fn tell(&self, index: usize, active: &Active, end_ns: Option<u64>, error: Option<String>) {
        if end_ns.is_some() {
            self.over.fetch_add(1, Ordering::Relaxed);
        }
        self.say(FromAgent::Flow(FlowFigures {
            id: self.sending[index].id,
            start_ns: Some(active.start_ns),
            end_ns,
            bytes: active.seen.bytes,
            retransmissions: active.seen.retransmissions,
            rtt: active.figures(),
            error,
        }));
    }

    /// Looks at all flows that are active, and tells what they have done.
    pub fn sample(&self) {
        let row = |(index, active): (&usize, &mut Active)| {
            active.look(&self.totals);
            let seen = &active.seen;
            let id = self.sending[*index].id;
            Row(id, seen.bytes, seen.rtt_ns.unwrap_or(0), seen.cwnd, seen.retransmissions)
        };
        let t_ns = self.now();
        let flows: Vec<Row> = self.inner().active.iter_mut().map(row).collect();
        if !flows.is_empty() {
            self.say(FromAgent::Sample { t_ns, flows });
        }
    }

    /// Tells the controller something. A run whose controller is gone is about to be dropped.
    pub fn say(&self, message: FromAgent) {
        let _ = self.told.send(message);
    }
}
