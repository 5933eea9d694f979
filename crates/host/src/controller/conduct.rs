//! A run from its first dial to its last line.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use tokio::time::{interval, timeout};

use super::agents::{Agent, Heard, Team};
use super::hosts::Host;
use super::lines::Lines;
use super::plan::Plan;
use crate::daemon::output::Problem;
use crate::daemon::stops;
use crate::keys::Identity;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{End, FromAgent, ToAgent};

/// The time from the last order to the start: all agents must have heard it by then, in nanoseconds.
const LEAD_NS: u64 = 300_000_000;
/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long agents may take to say what the run took, in nanoseconds, and how long the run may go on after its end.
const PATIENCE_NS: u64 = 5_000_000_000;

/// How a run ended.
#[derive(Debug, Default)]
pub struct Ending {
    /// Why it is not complete; none if it is.
    pub reason: Option<String>,
    /// What a person can do about it.
    pub problems: Vec<Problem>,
    /// Whether the plan asks for what a host does not have.
    pub is_input: bool,
}

/// Why a run does not go on.
enum Halt {
    /// A signal has come.
    Interrupted,
    /// Agents were lost.
    Lost,
    /// The agent of this index cannot do what it was told.
    Refused(Problem, bool),
    /// The run's time is over, and not all agents have said that it is.
    Overdue,
}

/// Runs a plan on its hosts, and writes what comes of it.
pub async fn conduct(plan: &Plan, hosts: &[Host], identity: &Arc<Identity>, lines: &Lines) -> Ending {
    let dialed = tokio::select! {
        dialed = Team::dial(hosts, identity) => dialed,
        () = signal() => return Ending { reason: Some("interrupted".into()), ..Ending::default() },
    };
    let team = match dialed {
        Ok(team) => team,
        Err(problems) => {
            let reason = problems.first().map(|problem| problem.message.clone());
            return Ending { reason, problems, is_input: false };
        }
    };
    let described: Vec<_> = team.agents.iter().map(Agent::described).collect();
    lines.agents(&described);
    let lost = vec![None; hosts.len()];
    let mut conduct = Conduct { hosts, team, lines, lost, failed: (0, String::new()), started_ns: None };
    let halted = conduct.run(plan).await.err();
    conduct.finish(halted).await
}

async fn signal() {
    let mut look = interval(LOOK);
    while stops::status().is_none() {
        look.tick().await;
    }
}

struct Conduct<'a> {
    hosts: &'a [Host],
    team: Team,
    lines: &'a Lines,
    /// Why the agent of each host was lost, if it was.
    lost: Vec<Option<String>>,
    /// How many flows have failed, and the first of them with its error.
    failed: (u64, String),
    /// When the run started or starts, by the controller's clock.
    started_ns: Option<u64>,
}

impl Conduct<'_> {
    async fn run(&mut self, plan: &Plan) -> Result<(), Halt> {
        let mut token = [0; 16];
        if SystemRandom::new().fill(&mut token).is_err() {
            return Err(Halt::Refused(Problem::bare("there are no random numbers"), false));
        }
        for (agent, task) in self.team.agents.iter().zip(plan.tasks(self.hosts, token)) {
            agent.tell(ToAgent::Prepare(Box::new(task)));
        }
        let mut ports = vec![0; self.hosts.len()];
        let everyone = self.hosts.len();
        self.all(everyone, None, |host, message| match message {
            FromAgent::Prepared { port } => {
                ports[host] = port;
                true
            }
            _ => false,
        })
        .await?;
        let end = |(index, (host, port)): (usize, (&Host, u16))| End {
            host: index as u32,
            name: host.name.clone(),
            address: SocketAddr::new(host.data, port),
            control: host.control,
        };
        let ends: Vec<End> = self.hosts.iter().zip(ports).enumerate().map(end).collect();
        self.team.agents.iter().for_each(|agent| agent.tell(ToAgent::Connect { ends: ends.clone() }));
        self.all(everyone, None, |_, message| matches!(message, FromAgent::Connected)).await?;
        let done = self.start().await?;
        let overdue = self.started_ns.map(|at| at + plan.until_ns + PATIENCE_NS);
        self.all(everyone - done, overdue, |_, message| matches!(message, FromAgent::Done)).await
    }

    /// Starts all agents. Returns how many were done before the last one had started.
    async fn start(&mut self) -> Result<usize, Halt> {
        let at = monotonic_ns() + LEAD_NS;
        self.started_ns = Some(at);
        for agent in &self.team.agents {
            agent.tell(ToAgent::Start { at_ns: agent.clock.of_agent(at) });
        }
        let clocks: Vec<_> = self.team.agents.iter().map(|agent| agent.clock).collect();
        let (mut first, mut last, mut done) = (u64::MAX, 0, 0);
        self.all(self.hosts.len(), None, |host, message| match message {
            FromAgent::Started { at_ns } => {
                let at = clocks[host].of_controller(at_ns);
                (first, last) = (first.min(at), last.max(at));
                true
            }
            message => {
                done += usize::from(matches!(message, FromAgent::Done));
                false
            }
        })
        .await?;
        self.lines.started(first, last.saturating_sub(first));
        Ok(done)
    }

    /// Waits until `waiting` agents have said what `is_it` is true of. What else they say is written, or is the end.
    async fn all(
        &mut self,
        mut waiting: usize,
        until: Option<u64>,
        mut is_it: impl FnMut(usize, FromAgent) -> bool,
    ) -> Result<(), Halt> {
        let mut look = interval(LOOK);
        while waiting > 0 {
            tokio::select! {
                heard = self.team.heard.recv() => if let Some((host, message)) = heard.and_then(|heard| self.take(heard)) {
                    if let FromAgent::Refused { message, remedy, is_input } = message {
                        let message = format!("{}: {message}", self.hosts[host].name);
                        return Err(Halt::Refused(Problem { message, remedy }, is_input));
                    }
                    // What belongs to another turn is late, and nobody waits for it.
                    waiting -= usize::from(is_it(host, message));
                },
                _ = look.tick() => {}
            }
            if stops::status().is_some() {
                return Err(Halt::Interrupted);
            }
            if self.lost.iter().any(Option::is_some) {
                return Err(Halt::Lost);
            }
            if until.is_some_and(|until| monotonic_ns() > until) {
                return Err(Halt::Overdue);
            }
        }
        Ok(())
    }

    /// Writes what is to be written of what was heard, and returns the rest.
    fn take(&mut self, (host, heard): (usize, Heard)) -> Option<(usize, FromAgent)> {
        let name = &self.hosts[host].name;
        match heard {
            Heard::Lost(why) => {
                let why =
                    format!("{}{why}", self.elapsed().map_or(String::new(), |at| format!("at {at:.2} s: ")));
                self.lost[host].get_or_insert(why);
                None
            }
            Heard::Said(FromAgent::Sample { t_ns, flows }) => {
                self.lines.sample(name, t_ns, &flows);
                None
            }
            Heard::Said(FromAgent::Fastpass { status, lost }) => {
                self.lines.fastpass(name, status.as_deref(), lost.as_deref());
                None
            }
            Heard::Said(FromAgent::Flow(flow)) => {
                if let Some(error) = &flow.error {
                    if self.failed.0 == 0 {
                        self.failed.1 = format!("flow {} of {name}: {error}", flow.id);
                    }
                    self.failed.0 += 1;
                }
                self.lines.flow(name, &flow);
                None
            }
            Heard::Said(message) => Some((host, message)),
        }
    }

    /// Seconds since the start; none before it.
    fn elapsed(&self) -> Option<f64> {
        let since = monotonic_ns().checked_sub(self.started_ns?)?;
        Some(since as f64 / 1e9)
    }

    /// Ends the run at all agents, collects what it took, and says how it ended.
    async fn finish(mut self, halted: Option<Halt>) -> Ending {
        let lost = self.lost.iter().position(Option::is_some);
        let mut ending = self.ending(halted, lost);
        if self.started_ns.is_some() {
            self.team.agents.iter().for_each(|agent| agent.tell(ToAgent::Stop));
            // Agents that do not say what the run took in time have said all that they will.
            let spent = self.collect().await;
            for (index, (host, spent)) in self.hosts.iter().zip(&spent).enumerate() {
                let silent = spent.is_none().then_some("it did not say what the run took");
                let lost = self.lost[index].as_deref().or(silent);
                self.lines.host(&host.name, *spent, lost);
                if let (None, Some(why)) = (&ending.reason, lost) {
                    ending.reason = Some(format!("{} was lost: {why}", host.name));
                }
            }
        }
        if ending.reason.is_none() && self.failed.0 > 0 {
            ending.reason = Some(format!("{} flows failed; the first: {}", self.failed.0, self.failed.1));
        }
        self.lines.end(ending.reason.as_deref());
        self.team.close().await;
        ending
    }

    fn ending(&self, halted: Option<Halt>, lost: Option<usize>) -> Ending {
        let mut ending = Ending::default();
        match halted {
            None => {}
            Some(Halt::Interrupted) => ending.reason = Some("interrupted".into()),
            Some(Halt::Overdue) => {
                ending.reason =
                    Some("not all agents have said that the run is over, though its time is".into());
            }
            Some(Halt::Refused(problem, is_input)) => {
                ending = Ending { reason: Some(problem.message.clone()), problems: vec![problem], is_input };
            }
            Some(Halt::Lost) => {
                let lost = lost.and_then(|host| Some((host, self.lost[host].as_ref()?)));
                ending.reason = lost.map(|(host, why)| {
                    let space = if why.starts_with("at ") { " " } else { ": " };
                    format!("{} was lost{space}{why}", self.hosts[host].name)
                });
            }
        }
        ending
    }

    /// What the run took of each host that says so.
    async fn collect(&mut self) -> Vec<Option<(u64, Option<u64>)>> {
        let mut spent = vec![None; self.hosts.len()];
        let collected = async {
            while (0..spent.len()).any(|host| spent[host].is_none() && self.lost[host].is_none()) {
                let Some(heard) = self.team.heard.recv().await else { return };
                if let Some((host, FromAgent::Spent { cpu_ns, socket_drops })) = self.take(heard) {
                    spent[host] = Some((cpu_ns, socket_drops));
                }
            }
        };
        let _ = timeout(Duration::from_nanos(PATIENCE_NS), collected).await;
        spent
    }
}
