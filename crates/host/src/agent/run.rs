//! A run at an agent: its sockets, its flows and its threads. It is gone, whatever it was doing, when it is dropped.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{oneshot, watch};

use super::drops;
use super::expected::Expected;
use super::flows::Flows;
use super::limits;
use super::pace::Pace;
use super::refusal::Refusal;
use super::schedule::Schedule;
use super::ticket::{Happened, Ticket};
use super::totals::Totals;
use super::udp::{self, Datagrams};
use super::{quic, tcp};
use crate::keys::Identity;
use crate::processor;
use crate::testbed::carrier::Carrier;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{End, FromAgent, Task};

/// The remedy for a plan that makes no sense here.
const SAME_VERSION: &str = "both need the same version of Clearway";
/// Threads that move bytes, at most.
const MOST_WORKERS: usize = 4;
/// Flows that begin this soon, in nanoseconds, are connected all at once.
const AT_ONCE_NS: u64 = 1_000_000;

/// The sending end of flows, by carrier.
enum Source {
    Tcp(tcp::Source),
    Quic(quic::Source),
    Datagrams(Box<udp::Source>),
}

/// The socket that data comes to, by carrier.
enum Socket {
    Tcp(String),
    Quic(quinn::Endpoint),
    Datagrams(Arc<Datagrams>),
}

/// A run.
pub struct Run {
    task: Task,
    carrier: Carrier,
    identity: Arc<Identity>,
    flows: Arc<Flows>,
    runtime: Workers,
    socket: Socket,
    local: IpAddr,
    port: u16,
    happened: Sender<Happened>,
    events: Option<Receiver<Happened>>,
    sampling: Option<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    cpu_before_ns: u64,
}

impl Run {
    /// Prepares a run: listens for data, at `local` or else at the address that the plan has. `told` is told what comes of it, and its
    /// flows count into `totals`.
    pub fn prepare(
        task: Task,
        identity: &Arc<Identity>,
        local: Option<IpAddr>,
        told: UnboundedSender<FromAgent>,
        totals: &Totals,
    ) -> Result<Run, Refusal> {
        let carrier = Carrier::read(&task.carrier, &task.parameters).map_err(|problems| {
            let message = problems.into_iter().next().map_or(String::new(), |problem| problem.message);
            Refusal::input(message, SAME_VERSION)
        })?;
        task.check().map_err(|what| Refusal::input(what, SAME_VERSION))?;
        let at_once = task.sending.iter().filter(|flow| flow.after.is_none() && flow.start_ns <= AT_ONCE_NS);
        limits::check_open_files((at_once.count() + task.receiving.len().min(task.sending.len())) as u64)?;
        let runtime = Workers::new()?;
        let local = local.unwrap_or(task.data);
        let (socket, port) = listen(&carrier, &task, local, identity, &runtime)?;
        let (happened, events) = channel();
        let flows = Arc::new(Flows::new(task.sending.clone(), told, totals.of_carrier(&carrier.to_string())));
        Ok(Run {
            carrier,
            identity: identity.clone(),
            flows,
            runtime,
            socket,
            local,
            port,
            happened,
            events: Some(events),
            sampling: None,
            threads: Vec::new(),
            cpu_before_ns: cpu_ns(),
            task,
        })
    }

    /// The port where data comes to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The endpoint of sealed datagrams, where the run has one.
    pub fn datagrams(&self) -> Option<Arc<Datagrams>> {
        match &self.socket {
            Socket::Datagrams(datagrams) => Some(datagrams.clone()),
            Socket::Tcp(_) | Socket::Quic(_) => None,
        }
    }

    /// The carrier's name.
    pub fn carrier(&self) -> String {
        self.carrier.to_string()
    }

    /// The flows that this host sends.
    pub fn flows(&self) -> &Arc<Flows> {
        &self.flows
    }

    /// Connects the flows that begin first, and tells when they are.
    pub fn connect(&mut self, ends: Vec<End>) -> Result<(), Refusal> {
        let out_of_turn = || Refusal::failure("told to connect a second time");
        let events = self.events.take().ok_or_else(out_of_turn)?;
        let token = self.task.token;
        let source = match (&self.socket, &self.carrier) {
            (Socket::Tcp(control), _) => {
                let ends = ends.into_iter().map(|end| (end.host, end.address)).collect();
                Source::Tcp(tcp::Source::new(control, self.local, token, ends))
            }
            (Socket::Quic(endpoint), Carrier::Quic(swift)) => {
                let ends: BTreeMap<u32, (String, std::net::SocketAddr)> =
                    ends.into_iter().map(|end| (end.host, (end.name, end.address))).collect();
                Source::Quic(quic::Source::new(endpoint.clone(), &self.identity, swift, token, ends)?)
            }
            (Socket::Datagrams(datagrams), _) => {
                let (datagrams, identity) = (datagrams.clone(), self.identity.clone());
                let source = udp::Source::new(datagrams, identity, token, ends, &self.task.sending);
                Source::Datagrams(Box::new(source))
            }
            (Socket::Quic(_), _) => return Err(out_of_turn()),
        };
        let (over, is_over) = watch::channel(false);
        let opener = Opener {
            source: Arc::new(source),
            flows: self.flows.clone(),
            happened: self.happened.clone(),
            runtime: self.runtime.handle().clone(),
            is_over,
        };
        let pace = Pace::new(self.flows.clone(), Schedule::new(&self.task.sending), self.task.until_ns);
        self.spawn("schedule", move || {
            // What is late by the slack of timers is late at every start.
            let _ = set_timer_slack();
            pace.run(
                &events,
                |index, begin| opener.open(index, begin),
                || {
                    over.send_replace(true);
                },
            );
        })
    }

    /// Starts at an instant of the monotonic clock, in nanoseconds.
    pub fn start(&mut self, at_ns: u64) -> Result<(), Refusal> {
        let _ = self.happened.send(Happened::Start(at_ns));
        let (sampling, stopped) = channel();
        self.sampling = Some(sampling);
        let (flows, every) = (self.flows.clone(), self.task.sample_every_ns);
        self.spawn("samples", move || sample(&flows, at_ns, every, &stopped))
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Refusal> {
        let spawned = Builder::new().name(name.into()).spawn(work);
        self.threads.push(spawned.map_err(|error| Refusal::failure(format!("a thread: {error}")))?);
        Ok(())
    }

    /// Sends nothing more, and tells what the flows have done. What others send still arrives.
    pub fn stop(&mut self) {
        let _ = self.happened.send(Happened::Stop);
        self.sampling = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    /// The processor time and drops of the run at this host so far.
    pub fn spent(&self) -> FromAgent {
        let socket_drops = match &self.socket {
            Socket::Tcp(_) => None,
            Socket::Quic(_) => drops::of_udp_port(self.port),
            Socket::Datagrams(datagrams) => datagrams.drops(),
        };
        FromAgent::Spent { cpu_ns: cpu_ns().saturating_sub(self.cpu_before_ns), socket_drops }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
    }
}

fn cpu_ns() -> u64 {
    processor::process_time().as_ps() / 1000
}

fn set_timer_slack() -> rustix::io::Result<()> {
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))
}

/// Threads that move bytes, until this is dropped. Nobody waits for what they have not done.
struct Workers(Option<Runtime>);

impl Workers {
    fn new() -> Result<Workers, Refusal> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS);
        let built = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name("data")
            .enable_all()
            .build();
        built
            .map(|runtime| Workers(Some(runtime)))
            .map_err(|error| Refusal::failure(format!("threads for data: {error}")))
    }

    fn handle(&self) -> &Handle {
        self.0.as_ref().expect("there until it is dropped").handle()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Listens for data. Returns the port.
fn listen(
    carrier: &Carrier,
    task: &Task,
    local: IpAddr,
    identity: &Identity,
    runtime: &Workers,
) -> Result<(Socket, u16), Refusal> {
    let expected = Expected::new(task.token, &task.receiving);
    let no_port = |error| Refusal::failure(format!("a socket: {error}"));
    match carrier {
        Carrier::Tcp(control) => {
            let listener = tcp::listen(local, control)?;
            let port = listener.local_addr().map_err(no_port)?.port();
            runtime.handle().spawn(tcp::receive(listener, Arc::new(expected)));
            Ok((Socket::Tcp(control.clone()), port))
        }
        Carrier::Quic(swift) => {
            let _entered = runtime.handle().enter();
            let endpoint = quic::endpoint(local, identity, swift)?;
            let port = endpoint.local_addr().map_err(no_port)?.port();
            runtime.handle().spawn(quic::receive(endpoint.clone(), Arc::new(expected)));
            Ok((Socket::Quic(endpoint), port))
        }
        Carrier::Udp(scheme) => {
            let datagrams = Datagrams::bind(local, scheme, task.mtu, expected)?;
            let port = datagrams.port();
            Ok((Socket::Datagrams(Arc::new(datagrams)), port))
        }
    }
}

/// Lets flows be sent, each in a task.
struct Opener {
    source: Arc<Source>,
    flows: Arc<Flows>,
    happened: Sender<Happened>,
    runtime: Handle,
    is_over: watch::Receiver<bool>,
}

impl Opener {
    fn open(&self, index: usize, begin: oneshot::Receiver<()>) {
        let (source, mut is_over) = (self.source.clone(), self.is_over.clone());
        let mut ticket = Ticket { index, flows: self.flows.clone(), happened: self.happened.clone(), begin };
        self.runtime.spawn(async move {
            let sent = tokio::select! {
                biased;
                _ = is_over.wait_for(|is_over| *is_over) => return,
                sent = source.send(&mut ticket) => sent,
            };
            let happened = match sent {
                Ok(true) if ticket.flows.complete(index) => Happened::Done(index),
                Ok(_) => return,
                Err(error) => Happened::Failed(index, error),
            };
            let _ = ticket.happened.send(happened);
        });
    }
}

impl Source {
    async fn send(&self, ticket: &mut Ticket) -> Result<bool, String> {
        match self {
            Source::Tcp(source) => source.send(ticket).await,
            Source::Quic(source) => source.send(ticket).await,
            Source::Datagrams(source) => source.send(ticket).await,
        }
    }
}

/// Samples the flows every `every` nanoseconds from `origin` on, an instant of the monotonic clock, until nobody wants more.
fn sample(flows: &Flows, origin: u64, every: u64, stopped: &Receiver<()>) {
    let mut next = origin.saturating_add(every);
    loop {
        let wait = Duration::from_nanos(next.saturating_sub(monotonic_ns()));
        if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
            return;
        }
        flows.sample();
        // A sample that came late is not made up for.
        next = origin + (monotonic_ns().saturating_sub(origin) / every + 1) * every;
    }
}
