//! A scenario as plain data: tables of keys and typed values, and the files beside it. This is what is drawn and what
//! is simplified; the simulator only ever sees the text that it is written as.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What a key is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    /// A time in picoseconds.
    Time(u64),
    /// A range of times, both in picoseconds.
    Times(u64, u64),
    /// A size in bytes.
    Size(u64),
    /// A rate in bits a second.
    Rate(u64),
    /// A frequency in times a second.
    Frequency(u64),
    /// Hosts by number, in order.
    Hosts(Vec<u32>),
    /// Names of nodes.
    Names(Vec<String>),
    /// The names of the two nodes that a link joins.
    Ends(String, String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

/// One table of a file: `[kind]`, `[kind.name]`, or an entry of the list `[[kind]]`. The keys at the top of a file
/// are a table whose kind is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub kind: &'static str,
    pub name: Option<String>,
    pub keys: Vec<(String, Value)>,
}

/// Kinds of table of which a file holds a list.
const LISTS: [&str; 6] = ["traffic", "fault", "node", "link", "job", "job.layer"];

impl Table {
    /// An empty table.
    pub fn new(kind: &'static str) -> Table {
        Table { kind, name: None, keys: Vec::new() }
    }

    /// An empty table with a name of its own.
    pub fn named(kind: &'static str, name: &str) -> Table {
        Table { name: Some(name.to_string()), ..Table::new(kind) }
    }

    /// Returns the table with one more key.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Table {
        self.set(key, value);
        self
    }

    /// Sets a key, whether it was there or not.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.keys.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key.to_string(), value)),
        }
    }

    /// Returns what a key is set to, if it is there.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.keys.iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// Returns whether the key is there.
    pub fn gives(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The text that a key is set to, if it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the key is set to this text.
    pub fn says(&self, key: &str, text: &str) -> bool {
        self.text(key) == Some(text)
    }

    /// A number that a key is set to, in the smallest unit of its kind.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Whole(n) | Value::Time(n) | Value::Size(n) | Value::Rate(n) | Value::Frequency(n) => {
                Some(*n as f64)
            }
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// Forgets a key.
    pub fn remove(&mut self, key: &str) {
        self.keys.retain(|(other, _)| other != key);
    }

    fn write(&self, text: &mut String) {
        let _ = match (&self.name, self.kind) {
            (_, "") => Ok(()),
            (None, kind) if LISTS.contains(&kind) => writeln!(text, "[[{kind}]]"),
            (None, kind) => writeln!(text, "[{kind}]"),
            (Some(name), kind) => writeln!(text, "[{kind}.{name}]"),
        };
        for (key, value) in &self.keys {
            let _ = writeln!(text, "{key} = {}", written(value));
        }
    }
}

/// Flow sizes as a file lists them: a size in bytes, and the percentage of flows that are not larger.
pub type SizePoints = Vec<(u64, f64)>;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLine {
    /// When it starts, in picoseconds.
    pub start: u64,
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
}

/// A whole scenario with the files that it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The scenario's tables; the first is the top of the file.
    pub tables: Vec<Table>,
    /// The tables of the topology file; none if there is no such file.
    pub topology: Vec<Table>,
    /// The lines of the trace; none if there is no such file.
    pub trace: Vec<TraceLine>,
    /// The lines of the file of flow sizes; none if there is no such file.
    pub sizes: SizePoints,
}

/// Names of the files beside a scenario.
pub const TOPOLOGY_FILE: &str = "topology.toml";
pub const TRACE_FILE: &str = "trace.csv";
pub const SIZES_FILE: &str = "sizes.txt";

impl Case {
    /// All tables of a kind.
    pub fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Table> {
        self.tables.iter().filter(move |table| table.kind == kind)
    }

    /// Returns whether a table of this kind is as wanted.
    pub fn any(&self, kind: &str, wanted: impl FnMut(&Table) -> bool) -> bool {
        self.all(kind).any(wanted)
    }

    /// Adds a table, behind those of its kind.
    pub fn insert(&mut self, table: Table) {
        self.tables.push(table);
    }

    /// The top of the file.
    pub fn top(&self) -> &Table {
        &self.tables[0]
    }

    /// The most payload of a frame, in bytes.
    pub fn mtu(&self) -> f64 {
        self.all("network").find_map(|network| network.number("mtu")).unwrap_or(4096.0)
    }

    /// Returns what the heaviest frame weighs at most, in bytes.
    pub fn full_frame(&self) -> f64 {
        let framing = self.all("network").find_map(|network| network.number("framing")).unwrap_or(38.0);
        let weight = |table: &Table| {
            let header = table.number("header").unwrap_or(64.0);
            (self.mtu() + header).max(table.number("ack").unwrap_or(header))
        };
        framing + self.all("transport").map(weight).fold(0.0, f64::max)
    }

    /// The scenario as TOML.
    pub fn text(&self) -> String {
        toml(&self.tables)
    }

    /// Name and text of each file that it needs.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = Vec::new();
        if !self.topology.is_empty() {
            files.push((TOPOLOGY_FILE, toml(&self.topology)));
        }
        if !self.trace.is_empty() {
            let line = |line: &TraceLine| {
                let TraceLine { start, from, to, bytes } = line;
                format!("{start}ps,{from},{to},{bytes}B\n")
            };
            let lines: String = self.trace.iter().map(line).collect();
            files.push((TRACE_FILE, format!("start,from,to,bytes\n{lines}")));
        }
        if !self.sizes.is_empty() {
            let line = |(bytes, percent): &(u64, f64)| format!("{bytes} {percent}\n");
            files.push((SIZES_FILE, self.sizes.iter().map(line).collect()));
        }
        files
    }

    /// Everything that a person needs to run it by hand.
    pub fn printed(&self) -> String {
        let mut text = format!("# scenario.toml\n{}", self.text());
        for (name, content) in self.files() {
            let _ = write!(text, "\n# {name}\n{content}");
        }
        text
    }
}

fn toml(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        table.write(&mut text);
    }
    text
}

/// A value as TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => format!("{number:?}"),
        Value::Text(text) => format!("\"{text}\""),
        Value::Time(ps) => format!("\"{}\"", time(*ps)),
        Value::Times(from, to) => format!("\"{}..{}\"", time(*from), time(*to)),
        Value::Size(bytes) => format!("\"{}\"", spelled(*bytes, &["B", "kB", "MB", "GB"])),
        Value::Rate(bps) => format!("\"{}\"", spelled(*bps, &["bps", "kbps", "Mbps", "Gbps"])),
        Value::Frequency(times) => format!("\"{}\"", spelled(*times, &["/s", "k/s", "M/s"])),
        Value::Hosts(hosts) => written_hosts(hosts),
        Value::Names(names) => format!("{names:?}"),
        Value::Ends(a, b) => format!("[\"{a}\", \"{b}\"]"),
    }
}

fn time(ps: u64) -> String {
    spelled(ps, &["ps", "ns", "us", "ms", "s"])
}

/// A whole number of the largest unit that it is a multiple of; each unit is a thousand of the one before.
fn spelled(value: u64, units: &[&str]) -> String {
    let (mut number, mut unit) = (value, 0);
    while number > 0 && number % 1000 == 0 && unit + 1 < units.len() {
        number /= 1000;
        unit += 1;
    }
    format!("{number}{}", units[unit])
}

/// One host as its number, neighbours as a range, others as a list.
fn written_hosts(hosts: &[u32]) -> String {
    match hosts {
        [only] => only.to_string(),
        [first, .., last] if last - first == hosts.len() as u32 - 1 => format!("\"{first}..{}\"", last + 1),
        _ => format!("{hosts:?}"),
    }
}

/// A directory with the files of a case, for as long as it is needed.
pub struct Folder(PathBuf);

impl Folder {
    /// Writes the files of a case; where it has none, there is no directory either.
    pub fn of(case: &Case) -> Folder {
        let this_thread = format!("{:?}", std::thread::current().id());
        let number: String = this_thread.chars().filter(char::is_ascii_digit).collect();
        let path = std::env::temp_dir().join(format!("clearway-random-{}-{number}", std::process::id()));
        for (name, text) in case.files() {
            std::fs::create_dir_all(&path).expect("a directory");
            std::fs::write(path.join(name), text).expect("a file");
        }
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary directory does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
