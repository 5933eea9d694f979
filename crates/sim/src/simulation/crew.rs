//! The threads of a run, one a domain: they let the same window happen at the same time, and exchange between windows
//! what crosses from one domain to another.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::barrier::Barrier;
use super::domain::Domain;
use super::outbox::Outbox;
use super::plan::Plan;
use super::run_mode::{Choice, RunMode, Stretch, STRETCH};

/// No window: nothing is to come.
const NEVER: u64 = u64::MAX;

/// What the threads share: the place where they meet, and what they tell each other there. Of the latter there are two,
/// used in turn: while a slow thread reads one, a quick one may already write the other.
#[derive(Debug)]
struct Exchange {
    barrier: Barrier,
    rounds: [Round; 2],
    /// For each domain the nanoseconds that its thread has waited since the domains were taken up.
    waited: Vec<AtomicU64>,
}

/// What the threads tell each other at one meeting.
#[derive(Debug)]
struct Round {
    /// Frames that cross to another domain, by sending and then by receiving domain.
    crossings: Vec<Vec<Mutex<Outbox>>>,
    /// For each domain, the first window for which it knows of an event.
    next: Vec<AtomicU64>,
    /// Whether all are to halt before the limit.
    halt: AtomicBool,
}

impl Round {
    fn new(domains: usize) -> Round {
        Round {
            crossings: (0..domains).map(|_| (0..domains).map(|_| Mutex::default()).collect()).collect(),
            next: (0..domains).map(|_| AtomicU64::new(NEVER)).collect(),
            halt: AtomicBool::new(false),
        }
    }
}

/// Why a run halts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// Everything before the limit has happened.
    Limit,
    /// A stretch is over.
    Pause,
    /// The caller wants no more.
    Stop,
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
    pub(super) choice: Choice,
}

#[derive(Debug)]
struct Worker {
    /// Where jobs are sent; `None` once the crew is dismissed.
    jobs: Option<Sender<Job>>,
    done: Receiver<Domain>,
    thread: Option<JoinHandle<()>>,
}

impl Crew {
    /// Starts the threads that run `domains` domains of a plan: one each, but for the first, which the caller's thread runs.
    pub(super) fn new(plan: &Arc<Plan>, domains: usize) -> Crew {
        let exchange = Arc::new(Exchange {
            barrier: Barrier::new(domains),
            rounds: [Round::new(domains), Round::new(domains)],
            waited: (0..domains).map(|_| AtomicU64::new(0)).collect(),
        });
        let workers = (1..domains).map(|_| Worker::new(plan, &exchange)).collect();
        Crew { exchange, workers, choice: Choice::new() }
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
        loop {
            let begun = now();
            let before = hops_of(domains);
            let (halt, waited) = match self.choice.mode() {
                RunMode::Threads => self.run_on_threads(plan, domains, limit, proceed),
                RunMode::InTurn => (run_in_turn(plan, domains, limit, proceed), Duration::ZERO),
            };
            let packet_hops = hops_of(domains) - before;
            self.choice.note(Stretch { packet_hops, took: begun.elapsed(), waited });
            match halt {
                Halt::Limit => return ControlFlow::Continue(()),
                Halt::Stop => return ControlFlow::Break(()),
                Halt::Pause => (),
            }
        }
    }

    /// Each domain on its thread. Also how long the thread waited that waited longest.
    fn run_on_threads(
        &self,
        plan: &Plan,
        domains: &mut Vec<Domain>,
        limit: u64,
        proceed: &mut dyn FnMut(&mut Domain) -> ControlFlow<()>,
    ) -> (Halt, Duration) {
        for (worker, domain) in self.workers.iter().zip(domains.drain(1..)) {
            let jobs = worker.jobs.as_ref().expect("a crew at work is not dismissed");
            jobs.send(Job { domain, limit }).expect("a worker waits for jobs");
        }
        let mut halt = Halt::Limit;
        let pause_at = domains[0].out.packet_hops + STRETCH / self.exchange.rounds[0].next.len() as u64;
        let mut lead = |domain: &mut Domain| {
            if proceed(domain).is_break() {
                halt = Halt::Stop;
            } else if domain.out.packet_hops >= pause_at {
                halt = Halt::Pause;
            }
            halt != Halt::Limit
        };
        run_domain(plan, &self.exchange, &mut domains[0], limit, Some(&mut lead));
        let looks = self.exchange.barrier.looks();
        for worker in &self.workers {
            domains.push(await_next(&worker.done, looks).expect("a worker hands its domain back"));
        }
        let waited = self.exchange.waited.iter().map(|waited| waited.swap(0, SeqCst)).max().unwrap_or(0);
        (halt, Duration::from_nanos(waited))
    }
}

/// One domain after the other, on this thread.
fn run_in_turn(
    plan: &Plan,
    domains: &mut [Domain],
    limit: u64,
    proceed: &mut dyn FnMut(&mut Domain) -> ControlFlow<()>,
) -> Halt {
    let pause_at = hops_of(domains) + STRETCH;
    loop {
        let window = domains.iter().filter_map(Domain::next_window).min().unwrap_or(NEVER);
        if window == NEVER || plan.windows.start(window) >= limit {
            return Halt::Limit;
        }
        let end = plan.windows.end(window).min(limit);
        for domain in domains.iter_mut() {
            domain.run_window(plan, window, end);
        }
        for from in 0..domains.len() {
            let (before, rest) = domains.split_at_mut(from);
            let [from, after @ ..] = rest else { unreachable!("it is one of them") };
            from.send_out(|to, event, parcel| {
                let number = to.domain as usize;
                let other = if number < before.len() {
                    &mut before[number]
                } else {
                    &mut after[number - before.len() - 1]
                };
                other.admit(to.at, event, parcel);
            });
        }
        if proceed(&mut domains[0]).is_break() {
            return Halt::Stop;
        }
        if end == limit {
            return Halt::Limit;
        }
        if hops_of(domains) >= pause_at {
            return Halt::Pause;
        }
    }
}

fn hops_of(domains: &[Domain]) -> u64 {
    domains.iter().map(|domain| domain.out.packet_hops).sum()
}

/// Returns what it is by the machine's clock: it decides which thread does the work, not what comes of it.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
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
                run_domain(&plan, &exchange, &mut domain, limit, None);
                if outbox.send(domain).is_err() {
                    break;
                }
            }
        };
        Worker { jobs: Some(jobs), done, thread: Some(std::thread::spawn(work)) }
    }
}

/// Receives what comes next; `None` where the other side is gone. As at a meeting, it mostly comes soon: the thread looks
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

/// Asked on the caller's thread before each meeting whether all are to halt.
type Lead<'a> = &'a mut dyn FnMut(&mut Domain) -> bool;

/// One thread's part of a run up to `limit`. All threads come to the same decisions, as they are taken from what was
/// told at the meeting.
fn run_domain(plan: &Plan, exchange: &Exchange, domain: &mut Domain, limit: u64, mut lead: Option<Lead>) {
    let _attendance = Attendance(&exchange.barrier);
    let me = domain.number as usize;
    let mut done = false;
    for turn in 0.. {
        let round = &exchange.rounds[turn % 2];
        hand_over(domain, &round.crossings[me], &round.next[me]);
        if let Some(halts) = &mut lead {
            round.halt.store(halts(domain), SeqCst);
        }
        let came = now();
        exchange.barrier.meet();
        exchange.waited[me].fetch_add(came.elapsed().as_nanos() as u64, SeqCst);
        for from in &round.crossings {
            domain.take_in(&mut from[me].lock().unwrap_or_else(PoisonError::into_inner));
        }
        let window = round.next.iter().map(|next| next.load(SeqCst)).min().unwrap_or(NEVER);
        if done || window == NEVER || plan.windows.start(window) >= limit || round.halt.load(SeqCst) {
            return;
        }
        let end = plan.windows.end(window).min(limit);
        domain.run_window(plan, window, end);
        done = end == limit;
    }
}

/// Gives what crosses to the exchange, and tells the first window in which anything is known to happen.
fn hand_over(domain: &mut Domain, crossings: &[Mutex<Outbox>], next: &AtomicU64) {
    domain.fill_outboxes();
    let mut first = domain.next_window().unwrap_or(NEVER);
    let windows = domain.out.calendar.windows();
    for (outbox, place) in domain.outboxes.iter_mut().zip(crossings) {
        if outbox.arrivals.is_empty() {
            continue;
        }
        first = first.min(windows.number(outbox.soonest));
        std::mem::swap(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), outbox);
    }
    next.store(first, SeqCst);
}
