//! Loops of operations: reads and writes of a fixed size, one after another or at times of their own.

use clearway_proto::units::{Bytes, Span};

use super::hosts::HostSet;
use super::key::{Key, Shown};
use super::reader::Section;
use super::traffic::{bytes_key, flows_per_pair, PatternReader};
use crate::model::{Arrivals, Offered, OperationKind, Operations, Pattern, PerSecond};

/// The largest operation: what a host's memory is assumed to hold.
const HOST_MEMORY: Bytes = Bytes::new(1_000_000_000_000);

impl PatternReader<'_> {
    pub(crate) fn closed_loop(&mut self, r: &mut Section) -> Pattern {
        let (from, to) = self.ends(r);
        if let (true, Some(from), Some(to)) = (r.sound(), &from, &to) {
            if from.only().is_some() && from == to {
                r.conflict("to", "the only target is the only initiator; a host is never its own target");
            }
        }
        let operations = self.operations(r, from, to);
        let doc = "Operations open between each pair of hosts, for each of its flows.";
        let outstanding = r.get(&Key::new("outstanding", doc, 1u32..=1_000_000).or(1));
        let mut moved = vec![("bytes", operations.bytes)];
        if let OperationKind::Read(request) = operations.kind {
            moved.push(("request_bytes", request));
        }
        for (name, bytes) in moved {
            self.check_size(r, name, bytes.get().saturating_mul(u64::from(outstanding)));
            self.check_endless(r, name, Some((bytes, outstanding)));
        }
        Pattern::ClosedLoop { operations, outstanding }
    }

    pub(crate) fn open_loop(&mut self, r: &mut Section) -> Pattern {
        let (from, to) = self.ends(r);
        if let (true, Some(from), Some(to)) = (r.sound(), &from, &to) {
            if to.only().is_some_and(|to| from.contains(to)) {
                r.conflict("to", "the only target is an initiator too; a host is never its own target");
            }
        }
        let operations = self.operations(r, from, to);
        self.check_size(r, "bytes", operations.bytes.get());
        let doc = "When each initiator issues its operations: in a Poisson process, or one at its start and then at a \
                   constant interval.";
        let kinds = [("poisson", Arrivals::Poisson), ("constant", Arrivals::Constant)];
        let arrivals = r.one_of("arrivals", doc, Some("poisson"), &kinds);
        let offered = offered(r);
        let doc = "Operations that an initiator may have open; one that would be more fails at once.";
        let backlog = r.get(&Key::new("backlog", doc, 1u32..=1_000_000_000).or(100_000));
        Pattern::OpenLoop { operations, arrivals, offered, backlog }
    }

    fn ends(&self, r: &mut Section) -> (Option<HostSet>, Option<HostSet>) {
        let from = self.set(r, "from", "Initiators.", None, None);
        (from, self.set(r, "to", "Targets; a host is never its own.", None, None))
    }

    fn operations(&self, r: &mut Section, from: Option<HostSet>, to: Option<HostSet>) -> Operations {
        let doc = "Leaves out, for each initiator, the targets under its own switch.";
        let remote = r.flag("remote", doc, false);
        let flows_per_pair = flows_per_pair(r);
        let doc = "What an operation does. write: the initiator sends the data; read: it sends a request, and the target \
                   answers with the data on a flow of its own.";
        let read = r.choice("operation", doc, Some("write"), &[("write", false), ("read", true)]);
        let kind = if read {
            let largest = Bytes::new(1_000_000_000);
            let request = Key::new("request_bytes", "The size of a request.", Bytes::new(1)..=largest);
            OperationKind::Read(r.get(&request.or(Bytes::new(64))))
        } else {
            OperationKind::Write
        };
        let bytes = r.get(&bytes_key("What an operation moves."));
        if r.sound() && bytes > HOST_MEMORY {
            let (found, most) = (bytes.shown(), HOST_MEMORY.shown());
            r.conflict(
                "bytes",
                format!("an operation of {found} is larger than a host's memory, taken as {most}"),
            );
        }
        let doc = "An operation that takes longer has failed.";
        let deadline = Key::new("deadline", doc, Span::from_ps(1)..=Span::from_secs(1000));
        let deadline = r.optional(&deadline, "none fails for taking long");
        let (from, to) = (self.list(r, "from", from), self.list(r, "to", to));
        Operations { from, to, remote, flows_per_pair, kind, bytes, deadline }
    }
}

/// The shortest mean time between two operations of an initiator, in picoseconds, as the largest rate has it.
pub(crate) const LEAST_GAP_PS: f64 = 1000.0;

/// Reads exactly one of `rate` and `load`.
fn offered(r: &mut Section) -> Offered {
    let doc = "Operations a second of each initiator; give this or load.";
    let rate = Key::new("rate", doc, PerSecond(1)..=PerSecond(1_000_000_000));
    let rate = r.optional(&rate, "as load says");
    let doc = "What each initiator's operations move, as a fraction of its link's rate; above 1 the backlog grows until \
               operations fail. Give this or rate.";
    let load = r.optional(&Key::new("load", doc, 0.001..=10.0), "as rate says");
    if r.given("rate") && r.given("load") {
        r.conflict("load", "rate says how many operations there are, too: give one of the two");
    } else if !r.given("rate") && !r.given("load") {
        r.report_missing("rate", "a frequency, such as \"50k/s\", or load, a fraction of the link".into());
    }
    match (rate, load) {
        (_, Some(load)) => Offered::Load(load),
        (rate, None) => Offered::Rate(rate.unwrap_or(PerSecond(1))),
    }
}
