//! The threads of a run, one a domain: they let the same window happen at the same time, and exchange between windows
//! what crosses from one domain to another.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::barrier::Barrier;
use super::domain::{Crossing, Domain};
use super::plan::Plan;

/// No window: nothing is to come.
const NEVER: u64 = u64::MAX;

/// What the threads share: the place where they meet, and what they tell each other there. Of the latter there are two,
/// used in turn: while a slow thread reads one, a quick one may already write the other.
#[derive(Debug)]
struct Exchange {
    barrier: Barrier,
    rounds: [Round; 2],
}

/// What the threads tell each other at one meeting.
#[derive(Debug)]
struct Round {
    /// Events that cross to another domain, by sending and then by receiving domain.
    crossings: Vec<Vec<Mutex<Vec<Crossing>>>>,
    /// For each domain, the first window for which it knows of an event.
    next: Vec<AtomicU64>,
    /// Whether the caller wants to stop.
    stop: AtomicBool,
}

impl Round {
    fn new(domains: usize) -> Round {
        Round {
            crossings: (0..domains).map(|_| (0..domains).map(|_| Mutex::default()).collect()).collect(),
            next: (0..domains).map(|_| AtomicU64::new(NEVER)).collect(),
            stop: AtomicBool::new(false),
        }
    }
}

/// A domain to be taken to an instant.
struct Job {
    domain: Domain,
    limit: u64,
}

/// The threads of the domains but the first, which the caller's thread has.
#[derive(Debug)]
pub(super) struct Crew {
    exchange: Arc<Exchange>,
    workers: Vec<Worker>,
}

#[derive(Debug)]
struct Worker {
    /// None once the crew is dismissed.
    jobs: Option<Sender<Job>>,
    done: Receiver<Domain>,
    thread: Option<JoinHandle<()>>,
}

impl Crew {
    /// Threads for so many domains of a plan.
    pub(super) fn new(plan: &Arc<Plan>, domains: usize) -> Crew {
        let exchange = Arc::new(Exchange {
            barrier: Barrier::new(domains),
            rounds: [Round::new(domains), Round::new(domains)],
        });
        let workers = (1..domains).map(|_| Worker::new(plan, &exchange)).collect();
        Crew { exchange, workers }
    }

    /// Lets everything before `limit` happen. `proceed` is asked between windows, with the events in the first domain
    /// since it was asked last, and may stop all.
    pub(super) fn run_until(
        &mut self,
        plan: &Plan,
        domains: &mut Vec<Domain>,
        limit: u64,
        proceed: &mut dyn FnMut(&mut Domain) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (worker, domain) in self.workers.iter().zip(domains.drain(1..)) {
            let jobs = worker.jobs.as_ref().expect("a crew at work is not dismissed");
            jobs.send(Job { domain, limit }).expect("a worker waits for jobs");
        }
        let flow = run_domain(plan, &self.exchange, &mut domains[0], limit, proceed);
        let looks = self.exchange.barrier.looks();
        for worker in &self.workers {
            domains.push(await_next(&worker.done, looks).expect("a worker hands its domain back"));
        }
        flow
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.jobs = None);
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A worker that panicked has said so, and made the caller panic.
                drop(thread.join());
            }
        }
    }
}

impl Worker {
    fn new(plan: &Arc<Plan>, exchange: &Arc<Exchange>) -> Worker {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let (plan, exchange) = (Arc::clone(plan), Arc::clone(exchange));
        let work = move || {
            while let Some(Job { mut domain, limit }) = await_next(&inbox, exchange.barrier.looks()) {
                // The caller decides when to stop, and hears of it first.
                let _: ControlFlow<()> =
                    run_domain(&plan, &exchange, &mut domain, limit, &mut |_| ControlFlow::Continue(()));
                if outbox.send(domain).is_err() {
                    break;
                }
            }
        };
        Worker { jobs: Some(jobs), done, thread: Some(std::thread::spawn(work)) }
    }
}

/// Receives what comes next; none where the other side is gone. As at a meeting, it mostly comes soon: the thread looks
/// for a while before it goes to sleep.
fn await_next<T>(inbox: &Receiver<T>, looks: u32) -> Option<T> {
    for _ in 0..looks {
        match inbox.try_recv() {
            Ok(next) => return Some(next),
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
    inbox.recv().ok()
}

/// Breaks the meeting up when its thread panics, so that no other waits for it.
struct Attendance<'a>(&'a Barrier);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

/// One thread's part of a run up to `limit`. All threads come to the same decisions, as they are taken from what was
/// told at the meeting.
fn run_domain(
    plan: &Plan,
    exchange: &Exchange,
    domain: &mut Domain,
    limit: u64,
    proceed: &mut dyn FnMut(&mut Domain) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let _attendance = Attendance(&exchange.barrier);
    let me = domain.number as usize;
    let mut done = false;
    for turn in 0.. {
        let round = &exchange.rounds[turn % 2];
        hand_over(domain, &round.crossings[me], &round.next[me]);
        if me == 0 {
            let stop = proceed(domain).is_break();
            round.stop.store(stop, SeqCst);
        }
        exchange.barrier.meet();
        for from in &round.crossings {
            let mut arrived = from[me].lock().unwrap_or_else(PoisonError::into_inner);
            arrived.drain(..).for_each(|crossing| domain.admit(crossing));
        }
        if round.stop.load(SeqCst) {
            return ControlFlow::Break(());
        }
        let window = round.next.iter().map(|next| next.load(SeqCst)).min().unwrap_or(NEVER);
        if done || window == NEVER || plan.windows.start(window) >= limit {
            break;
        }
        let end = plan.windows.end(window).min(limit);
        domain.run_window(plan, window, end);
        done = end == limit;
    }
    ControlFlow::Continue(())
}

/// Gives what crosses to the exchange, and tells the first window in which anything is known to happen.
fn hand_over(domain: &mut Domain, crossings: &[Mutex<Vec<Crossing>>], next: &AtomicU64) {
    let mut first = domain.next_window().unwrap_or(NEVER);
    for (outbox, place) in domain.outboxes.iter_mut().zip(crossings) {
        if outbox.is_empty() {
            continue;
        }
        let windows = domain.calendar.windows();
        let soonest = outbox.iter().map(|crossing| crossing.event.time).min();
        first = first.min(soonest.map_or(NEVER, |time| windows.number(time)));
        std::mem::swap(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), outbox);
    }
    next.store(first, SeqCst);
}
