//! What a controller and an agent say to each other, after the control channel's hello.
//!
//! | controller | agent |
//! |------------|-------|
//! | | [`FromAgent::Welcome`], or [`FromAgent::Busy`] |
//! | [`ToAgent::Ping`], several | [`FromAgent::Pong`] |
//! | [`ToAgent::Prepare`]: its part of the plan | [`FromAgent::Prepared`]: it listens for data |
//! | [`ToAgent::Connect`]: where the others listen | [`FromAgent::Connected`]: what begins first is connected |
//! | [`ToAgent::Start`]: when, by the agent's own clock | [`FromAgent::Started`] |
//! | | [`FromAgent::Sample`] and [`FromAgent::Flow`], as they come; [`FromAgent::Done`] |
//! | [`ToAgent::Stop`] | flows that are not over, [`FromAgent::Fastpass`] where there is a deployment, [`FromAgent::Spent`] |
//!
//! An agent that cannot do what it is told says [`FromAgent::Refused`]. It drops the run when the channel ends, for whatever reason.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::datagram::layout::MAX_MTU;
use crate::fastpass::status;

/// The purpose of a controller's control channel.
pub const TESTBED: &str = "testbed";
/// The purpose of a control channel on which an agent says its [`Status`], and no more.
pub const STATUS: &str = "status";

/// The purpose of a control channel between agents that opens a session of sealed datagrams.
pub const DATAGRAMS: &str = "datagrams";

/// How long a run may be, in nanoseconds: a day.
pub const UNTIL: RangeInclusive<u64> = 1..=86_400_000_000_000;
/// The time between two samples, in nanoseconds: to look at a thousand flows takes half a millisecond.
pub const SAMPLE_EVERY: RangeInclusive<u64> = 1_000_000..=3_600_000_000_000;
/// Bytes of payload in a datagram.
pub const MTUS: RangeInclusive<u64> = 1..=MAX_MTU as u64;

/// A message from a controller to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum ToAgent {
    /// Asks for the agent's clock.
    Ping {
        /// The ping's number.
        number: u32,
    },
    /// The agent's part of the plan.
    Prepare(Box<Task>),
    /// Where the hosts listen for data that this agent sends to.
    Connect {
        /// One for each of them.
        ends: Vec<End>,
    },
    /// The run's start.
    Start {
        /// When, by the agent's monotonic clock, in nanoseconds.
        at_ns: u64,
    },
    /// The run is over.
    Stop,
}

/// An agent's part of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The carrier's name.
    pub carrier: String,
    /// The parameters of its scheme that the plan gives, by their names.
    pub parameters: Map<String, Value>,
    /// Bytes of payload in a datagram.
    pub mtu: u32,
    /// When the run ends, in nanoseconds from its start.
    pub until_ns: u64,
    /// The time between two samples, in nanoseconds.
    pub sample_every_ns: u64,
    /// What a data connection begins with, drawn at random for the run.
    pub token: [u8; 16],
    /// The address of this host that data comes to and leaves from.
    pub data: IpAddr,
    /// The file of a Fastpass deployment, in which this host is an arbiter or an endpoint while the run lasts; none for no deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fastpass: Option<String>,
    /// Flows that this host sends.
    pub sending: Vec<Outgoing>,
    /// Flows that this host receives.
    pub receiving: Vec<Incoming>,
}

impl Task {
    /// Says what no controller of this version asks for; what asks for it is broken or means ill.
    pub fn check(&self) -> Result<(), String> {
        for (what, found, range) in [
            ("until_ns", self.until_ns, UNTIL),
            ("sample_every_ns", self.sample_every_ns, SAMPLE_EVERY),
            ("mtu", u64::from(self.mtu), MTUS),
        ] {
            if !range.contains(&found) {
                return Err(format!("{what}: found {found}, expected {} to {}", range.start(), range.end()));
            }
        }
        let is_early =
            |(index, flow): (usize, &Outgoing)| flow.after.is_some_and(|after| after as usize >= index);
        match self.sending.iter().enumerate().position(is_early) {
            Some(index) => {
                Err(format!("sending[{index}].after: it comes after a flow that does not stand before it"))
            }
            None => Ok(()),
        }
    }
}

/// A flow that an agent sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Its number in the plan.
    pub id: u64,
    /// Its destination: an index of the plan's hosts.
    pub to: u32,
    /// Its bytes; none where it sends until the run ends.
    pub bytes: Option<u64>,
    /// When it begins, in nanoseconds from the run's start, or from the completion of the flow that it comes `after`.
    pub start_ns: u64,
    /// The index in [`Task::sending`] of the flow that it comes after.
    pub after: Option<u32>,
}

/// A flow that an agent receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incoming {
    /// Its number in the plan.
    pub id: u64,
    /// Its source: an index of the plan's hosts.
    pub from: u32,
    /// Its bytes; none where it goes on until the run ends.
    pub bytes: Option<u64>,
}

/// The address at which a host listens for data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// An index of the plan's hosts.
    pub host: u32,
    /// The name in its certificate.
    pub name: String,
    /// The address and the port.
    pub address: SocketAddr,
    /// Its control channel.
    pub control: SocketAddr,
}

/// A message from an agent to its controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromAgent {
    /// It is free, and this is what it has.
    Welcome {
        /// Its version of Clearway.
        version: String,
        /// Its kernel's release.
        kernel: String,
        /// Congestion controls that its kernel has loaded.
        congestion_control: Vec<String>,
    },
    /// It has a run already.
    Busy {
        /// The one that it is of.
        with: String,
    },
    /// The answer to a ping.
    Pong {
        /// The ping's number.
        number: u32,
        /// Its monotonic clock, in nanoseconds.
        monotonic_ns: u64,
    },
    /// It is ready to be connected to.
    Prepared {
        /// The port where it listens for data.
        port: u16,
    },
    /// The connections of flows that begin first are open.
    Connected,
    /// It cannot do what it was told.
    Refused {
        /// The reason.
        message: String,
        /// What can be done about it.
        remedy: Option<String>,
        /// Whether the plan asks for what this host does not have, so that trying again will not help.
        is_input: bool,
    },
    /// The run has begun.
    Started {
        /// When it did, by its monotonic clock, in nanoseconds.
        at_ns: u64,
    },
    /// What active flows have done.
    Sample {
        /// When, in nanoseconds from the start.
        t_ns: u64,
        /// One for each flow that is active.
        flows: Vec<Row>,
    },
    /// A flow is over, or the run ended before it was.
    Flow(FlowFigures),
    /// Every flow that it sends is over, or the run's time is.
    Done,
    /// The status of this host as an arbiter or an endpoint of the run.
    Fastpass {
        /// Its status at the end of the run; none if it had ended by then, or does not answer.
        status: Option<Box<status::Status>>,
        /// The reason why there is none.
        lost: Option<String>,
    },
    /// What the run took of the host.
    Spent {
        /// Processor time of the agent, in nanoseconds.
        cpu_ns: u64,
        /// Datagrams that the kernel dropped at the agent's sockets; none where there are no datagrams.
        socket_drops: Option<u64>,
    },
    /// It ends, and the run with it.
    Leaving {
        /// The reason.
        reason: String,
    },
}

/// A flow in a sample: its number, bytes acknowledged, round trip in nanoseconds (0 before the first), window in packets, packets sent again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row(pub u64, pub u64, pub u64, pub f64, pub u64);

/// The figures of a flow that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowFigures {
    /// Its number in the plan.
    pub id: u64,
    /// When its first byte was given to the carrier, in nanoseconds from the start; none if it never began.
    pub start_ns: Option<u64>,
    /// When its source knew that all of it had arrived; none if it did not.
    pub end_ns: Option<u64>,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Its round trips.
    pub rtt: RttFigures,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// Round trips of a flow, in nanoseconds; what there are no samples for is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RttFigures {
    /// Their mean.
    pub mean_ns: Option<u64>,
    /// Their median.
    pub p50_ns: Option<u64>,
    /// What 99 of 100 do not exceed.
    pub p99_ns: Option<u64>,
    /// The smallest.
    pub min_ns: Option<u64>,
    /// How many samples there are.
    pub samples: u64,
}

/// What an agent is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Its version of Clearway.
    pub version: String,
    /// Its kernel's release.
    pub kernel: String,
    /// How long it has been running, in nanoseconds.
    pub uptime_ns: u64,
    /// What it does: `idle`, `preparing`, `running` or `stopping`.
    pub state: String,
    /// The name and address of its controller, while there is one.
    pub controller: Option<String>,
    /// The carrier of the run, while there is one.
    pub carrier: Option<String>,
    /// How long the run has been going on, in nanoseconds.
    pub elapsed_ns: Option<u64>,
    /// Flows of the run that it sends: those that are active now.
    pub flows_active: u64,
    /// Flows of the run that it sends: those that are over.
    pub flows_done: u64,
    /// Flows of the run that it sends: all.
    pub flows: u64,
    /// Runs that have begun since its start.
    pub runs: u64,
    /// Whether its certificate holds, in words.
    pub certificate: String,
}
