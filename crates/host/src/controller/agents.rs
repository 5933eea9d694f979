//! The agents of a run, each with a task that talks with it.

use std::sync::Arc;

use serde_json::{json, Value};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use super::hosts::Host;
use super::ping::{self, Clock};
use super::trouble::Trouble;
use crate::control::{dial, Channel, Failure, Patience};
use crate::daemon::output::Problem;
use crate::keys::Identity;
use crate::testbed::message::{FromAgent, ToAgent, TESTBED};

/// News of an agent.
#[derive(Debug)]
pub enum Heard {
    /// It says something.
    Said(FromAgent),
    /// Its channel has ended.
    Lost(String),
}

/// An agent with which there is a channel.
#[derive(Debug)]
pub struct Agent {
    /// The host's name.
    pub name: String,
    /// Its clock.
    pub clock: Clock,
    welcome: FromAgent,
    /// Orders for the agent; its control channel closes once this is dropped.
    commands: Option<UnboundedSender<ToAgent>>,
}

impl Agent {
    /// Tells it something. Who is lost hears nothing.
    pub fn tell(&self, message: ToAgent) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(message);
        }
    }

    /// What the first line of a run says of it.
    pub fn described(&self) -> Value {
        let FromAgent::Welcome { version, kernel, congestion_control } = &self.welcome else {
            return Value::Null;
        };
        json!({
            "host": self.name, "version": version, "kernel": kernel, "offset_ns": self.clock.offset_ns,
            "rtt_ns": self.clock.rtt_ns, "congestion_control": congestion_control,
        })
    }
}

/// All agents of a run, in the order of the plan's hosts.
#[derive(Debug)]
pub struct Team {
    /// The agents.
    pub agents: Vec<Agent>,
    /// News of the agents, each by the agent's index.
    pub heard: UnboundedReceiver<(usize, Heard)>,
    tasks: JoinSet<()>,
}

impl Team {
    /// Dials all hosts at once. If not all of them are there and free, each that is not has a problem.
    pub async fn dial(hosts: &[Host], identity: &Arc<Identity>) -> Result<Team, Vec<Problem>> {
        let mut dialing = JoinSet::new();
        for (index, host) in hosts.iter().enumerate() {
            let (host, identity) = (host.clone(), identity.clone());
            dialing.spawn(async move { (index, greet(&host, &identity).await) });
        }
        let mut found: Vec<Option<(Channel, FromAgent, Clock)>> = hosts.iter().map(|_| None).collect();
        let mut problems = Vec::new();
        while let Some(dialed) = dialing.join_next().await {
            match dialed {
                Ok((index, Ok(there))) => found[index] = Some(there),
                Ok((index, Err(trouble))) => problems.push((index, trouble.problem(&hosts[index]))),
                Err(error) => problems.push((0, Problem::bare(error.to_string()))),
            }
        }
        if !problems.is_empty() {
            let closing: JoinSet<()> =
                found.into_iter().flatten().map(|(channel, ..)| channel.close()).collect();
            closing.join_all().await;
            problems.sort_by_key(|(index, _)| *index);
            return Err(problems.into_iter().map(|(_, problem)| problem).collect());
        }
        let (told, heard) = unbounded_channel();
        let mut tasks = JoinSet::new();
        let mut agents = Vec::new();
        for (index, (channel, welcome, clock)) in found.into_iter().flatten().enumerate() {
            let (commands, commanded) = unbounded_channel();
            tasks.spawn(talk(index, channel, commanded, told.clone()));
            agents.push(Agent { name: hosts[index].name.clone(), clock, welcome, commands: Some(commands) });
        }
        Ok(Team { agents, heard, tasks })
    }

    /// Closes all channels.
    pub async fn close(mut self) {
        self.agents.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Dials an agent and measures its clock.
async fn greet(host: &Host, identity: &Identity) -> Result<(Channel, FromAgent, Clock), Trouble> {
    let mut channel = dial(identity, host.control, Some(&host.name), TESTBED, Patience::default()).await?;
    match channel.receive().await? {
        FromAgent::Busy { with } => Err(Trouble::Busy(with)),
        welcome @ FromAgent::Welcome { .. } => {
            let clock = ping::measure(&mut channel).await?;
            Ok((channel, welcome, clock))
        }
        other => Err(Failure::Senseless(format!("{other:?} out of turn")).into()),
    }
}

/// Tells an agent what it is to do, and what is heard of it, until one of the two ends.
async fn talk(
    index: usize,
    mut channel: Channel,
    mut commands: UnboundedReceiver<ToAgent>,
    heard: UnboundedSender<(usize, Heard)>,
) {
    let lost = loop {
        let (sending, receiving) = channel.halves();
        tokio::select! {
            message = receiving.receive::<FromAgent>() => match message {
                Ok(FromAgent::Leaving { reason }) => break Some(reason),
                Ok(message) => _ = heard.send((index, Heard::Said(message))),
                Err(failure) => break Some(failure.to_string()),
            },
            command = commands.recv() => match command {
                None => break None,
                Some(command) => if let Err(failure) = sending.send(&command).await {
                    break Some(failure.to_string());
                },
            },
        }
    };
    if let Some(why) = lost {
        // Nobody hears it where the run is over.
        let _ = heard.send((index, Heard::Lost(why)));
    }
    channel.close().await;
}
