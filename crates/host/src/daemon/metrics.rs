//! Metrics as Prometheus reads them: its text format, version 0.0.4.

use std::fmt::{Display, Write};

use crate::processor;

/// The media type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It is what it is now.
    Gauge,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        }
    }
}

/// Values in buckets whose ends are powers of two microseconds: the first ends at 2 us, the last has no end.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets<'a> {
    /// Values of each bucket.
    pub counts: &'a [u64],
    /// The sum of all values, in seconds.
    pub sum_seconds: f64,
}

/// A page of metrics that is being written.
#[derive(Clone, Debug, Default)]
pub struct Page {
    prefix: &'static str,
    text: String,
}

impl Page {
    /// A page whose metrics' names begin with `prefix`, which has no underscore at its end.
    pub fn new(prefix: &'static str) -> Page {
        Page { prefix, text: String::new() }
    }

    /// The page.
    pub fn text(self) -> String {
        self.text
    }

    /// A metric without labels.
    pub fn one(&mut self, kind: Kind, name: &str, help: &str, value: impl Display) {
        self.family(kind, name, help, "", [(String::new(), value)]);
    }

    /// A metric with a value for each value of a label. One that has none is left off, as one without labels has no label.
    pub fn family<V: Display>(
        &mut self,
        kind: Kind,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (impl AsRef<str>, V)>,
    ) {
        let labels = |of: &str| if label.is_empty() { String::new() } else { labelled(&[(label, of)]) };
        let values = values.into_iter().map(|(of, value)| (labels(of.as_ref()), value));
        self.write(kind, name, help, values);
    }

    /// A metric with a value for each pair of values of two labels.
    pub fn pairs<V: Display>(
        &mut self,
        kind: Kind,
        name: &str,
        help: &str,
        labels: [&str; 2],
        values: impl IntoIterator<Item = ([String; 2], V)>,
    ) {
        let of = |[one, other]: [String; 2]| labelled(&[(labels[0], &one), (labels[1], &other)]);
        let values = values.into_iter().map(|(pair, value)| (of(pair), value));
        self.write(kind, name, help, values);
    }

    fn write<V: Display>(
        &mut self,
        kind: Kind,
        name: &str,
        help: &str,
        values: impl Iterator<Item = (String, V)>,
    ) {
        let name = self.head(kind.name(), name, help);
        for (labels, value) in values {
            self.line(format_args!("{name}{labels} {value}"));
        }
    }

    /// A histogram for each value of a label; an empty label stands for none.
    pub fn histogram<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (String, Buckets<'a>)>,
    ) {
        let name = self.head("histogram", name, help);
        for (of, Buckets { counts, sum_seconds }) in values {
            let own: Vec<(&str, &str)> = if label.is_empty() { vec![] } else { vec![(label, &of)] };
            let with_end = |end: &str| labelled(&[&own[..], &[("le", end)]].concat());
            let mut below = 0;
            for (bucket, count) in counts.iter().enumerate() {
                below += count;
                let is_last = bucket + 1 == counts.len();
                let end = if is_last { "+Inf".into() } else { ((2_u64 << bucket) as f64 / 1e6).to_string() };
                self.line(format_args!("{name}_bucket{} {below}", with_end(&end)));
            }
            let labels = labelled(&own);
            self.line(format_args!("{name}_sum{labels} {sum_seconds}"));
            self.line(format_args!("{name}_count{labels} {below}"));
        }
    }

    /// What Prometheus' own libraries tell of every process, as far as the kernel does.
    pub fn process(&mut self, uptime_ns: u64) {
        let mut page = Page::new("process");
        let cpu = processor::process_time().as_secs_f64();
        page.one(Kind::Counter, "cpu_seconds_total", "Processor time of this process, in seconds.", cpu);
        if let Some(pages) = resident_pages() {
            let bytes = pages * rustix::param::page_size() as u64;
            page.one(Kind::Gauge, "resident_memory_bytes", "Memory of this process, in bytes.", bytes);
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            page.one(Kind::Gauge, "open_fds", "Files that this process has open.", open.count());
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        if let Some(limit) = limit {
            page.one(Kind::Gauge, "max_fds", "Files that this process may have open.", limit);
        }
        let began = unix_seconds() - uptime_ns as f64 / 1e9;
        let help = "Start of this process, in seconds since 1970.";
        page.one(Kind::Gauge, "start_time_seconds", help, format!("{began:.3}"));
        self.text += &page.text;
    }

    fn head(&mut self, kind: &str, name: &str, help: &str) -> String {
        let name = format!("{}_{name}", self.prefix);
        self.line(format_args!("# HELP {name} {}", help.replace('\\', "\\\\").replace('\n', "\\n")));
        self.line(format_args!("# TYPE {name} {kind}"));
        name
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }
}

fn labelled(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

fn resident_pages() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/statm").ok()?;
    counts.split_whitespace().nth(1)?.parse().ok()
}

#[allow(clippy::disallowed_methods, reason = "Prometheus goes by the wall clock")]
fn unix_seconds() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_form_that_prometheus_reads() {
        let mut page = Page::new("clearway");
        page.one(Kind::Gauge, "sockets", "Open sockets.", 3);
        page.family(Kind::Counter, "runs_total", "Runs.", "outcome", [("done", 1), ("a\"\\\n", 2)]);
        page.pairs(Kind::Counter, "flows_total", "Flows.", ["a", "b"], [(["x".into(), "y".into()], 4)]);
        let counts = [1, 0, 2];
        let buckets = Buckets { counts: &counts, sum_seconds: 0.5 };
        page.histogram("rtt_seconds", "Round trips.", "by", [("z".to_string(), buckets)]);
        let expected = r#"# HELP clearway_sockets Open sockets.
# TYPE clearway_sockets gauge
clearway_sockets 3
# HELP clearway_runs_total Runs.
# TYPE clearway_runs_total counter
clearway_runs_total{outcome="done"} 1
clearway_runs_total{outcome="a\"\\\n"} 2
# HELP clearway_flows_total Flows.
# TYPE clearway_flows_total counter
clearway_flows_total{a="x",b="y"} 4
# HELP clearway_rtt_seconds Round trips.
# TYPE clearway_rtt_seconds histogram
clearway_rtt_seconds_bucket{by="z",le="0.000002"} 1
clearway_rtt_seconds_bucket{by="z",le="0.000004"} 1
clearway_rtt_seconds_bucket{by="z",le="+Inf"} 3
clearway_rtt_seconds_sum{by="z"} 0.5
clearway_rtt_seconds_count{by="z"} 3
"#;
        assert_eq!(page.text(), expected);
    }

    #[test]
    fn the_process_is_told_of() {
        let mut page = Page::new("clearway");
        page.process(1_000_000_000);
        for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"] {
            assert!(page.text.contains(&format!("\nprocess_{name} ")), "{}", page.text);
        }
    }
}
