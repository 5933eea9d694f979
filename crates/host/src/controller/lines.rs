//! What a run was, as lines of JSON on standard output. A thread of its own writes them: who reads slowly does not hold up the run.

use std::sync::mpsc::{channel, Sender};
use std::thread::JoinHandle;

use serde_json::{json, Value};

use crate::daemon::output::{print, Problem};
use crate::fastpass::status::Status;
use crate::testbed::message::{FlowFigures, Row};

/// Where the lines go.
#[derive(Debug)]
pub struct Lines {
    lines: Sender<String>,
    writer: JoinHandle<Result<(), Problem>>,
}

impl Lines {
    /// Lines on standard output.
    pub fn start() -> std::io::Result<Lines> {
        let (lines, written) = channel::<String>();
        let writer = std::thread::Builder::new().name("lines".into()).spawn(move || {
            let mut outcome = Ok(());
            // After an error the rest is taken and dropped.
            for line in written {
                outcome = outcome.and_then(|()| print(&line));
            }
            outcome
        })?;
        Ok(Lines { lines, writer })
    }

    fn write(&self, line: &Value) {
        // A writer that is gone has failed, which is told at the end.
        let _ = self.lines.send(format!("{line}\n"));
    }

    /// The agents, and what they have.
    pub fn agents(&self, hosts: &[Value]) {
        self.write(&json!({ "event": "agents", "hosts": hosts }));
    }

    /// The run has started: the first agent at this instant of the controller's monotonic clock, the last `spread_ns` later.
    pub fn started(&self, at_ns: u64, spread_ns: u64) {
        self.write(&json!({ "event": "started", "at_ns": at_ns, "spread_ns": spread_ns }));
    }

    /// What active flows have done.
    pub fn sample(&self, host: &str, t_ns: u64, flows: &[Row]) {
        let row = |&Row(id, bytes, rtt_ns, cwnd, retransmissions): &Row| {
            let rtt_ns = Some(rtt_ns).filter(|&rtt_ns| rtt_ns > 0);
            json!({ "id": id, "bytes": bytes, "rtt_ns": rtt_ns, "cwnd": cwnd, "retransmissions": retransmissions })
        };
        let flows: Vec<Value> = flows.iter().map(row).collect();
        self.write(&json!({ "event": "sample", "host": host, "t_ns": t_ns, "flows": flows }));
    }

    /// A flow is over, or the run was before it.
    pub fn flow(&self, host: &str, flow: &FlowFigures) {
        let FlowFigures { id, start_ns, end_ns, bytes, retransmissions, rtt, error } = flow;
        self.write(&json!({
            "event": "flow", "id": id, "host": host, "start_ns": start_ns, "end_ns": end_ns, "bytes": bytes,
            "retransmissions": retransmissions, "rtt": rtt, "error": error,
        }));
    }

    /// A line with the status of a host as an arbiter or an endpoint, or with the reason why there is none.
    pub fn fastpass(&self, host: &str, status: Option<&Status>, lost: Option<&str>) {
        self.write(&json!({ "event": "fastpass", "host": host, "status": status, "lost": lost }));
    }

    /// What a host spent, or why its agent was lost.
    pub fn host(&self, host: &str, spent: Option<(u64, Option<u64>)>, lost: Option<&str>) {
        let (cpu_ns, drops) = (spent.map(|(cpu_ns, _)| cpu_ns), spent.and_then(|(_, drops)| drops));
        let line =
            json!({ "event": "host", "host": host, "cpu_ns": cpu_ns, "socket_drops": drops, "lost": lost });
        self.write(&line);
    }

    /// The run is over: complete, or not for this reason.
    pub fn end(&self, reason: Option<&str>) {
        self.write(&json!({ "event": "end", "complete": reason.is_none(), "reason": reason }));
    }

    /// Waits until everything is written.
    pub fn finish(self) -> Result<(), Problem> {
        drop(self.lines);
        self.writer.join().unwrap_or_else(|_| Err(Problem::bare("standard output: its thread failed")))
    }
}
