//! A trace of flows: CSV with the header `start,from,to,bytes`, units in the values.

use clearway_proto::units::{Bytes, Span, Time};

use super::document::Value;
use super::error::{Misread, Problem};
use super::files;
use super::key::{Quantity, Shown};
use crate::model::TraceFlow;

const HEADER: [&str; 4] = ["start", "from", "to", "bytes"];

/// The limits that each line must keep to.
pub(crate) struct Limits {
    /// How many hosts the network has.
    pub(crate) hosts: u32,
    /// The largest size of a flow, in bytes.
    pub(crate) bytes: u64,
}

/// Reads the text of a trace. Without limits, where the network is not known, only the form is checked.
pub(crate) fn read(text: &str, file: &str, limits: Option<&Limits>) -> Result<Vec<TraceFlow>, Misread> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let header = lines.next().map_or("", |(_, line)| line);
    if !header.split(',').map(str::trim).eq(HEADER) {
        let message = format!("found {header}, expected the header {}", HEADER.join(","));
        return Err(Misread::Elsewhere(vec![files::problem(file, 1, header, message)]));
    }
    let (mut flows, mut problems) = (Vec::new(), Vec::new());
    for (i, line) in lines.filter(|(_, line)| !line.is_empty()) {
        match flow(line, limits) {
            Ok(flow) => flows.push(flow),
            Err((column, message)) => {
                let problem = files::problem(file, i, line, message);
                problems.push(Problem { key: column.into(), ..problem });
            }
        }
        // One slip in a generator makes every line wrong.
        if problems.len() == 10 {
            break;
        }
    }
    match (flows.is_empty(), problems.is_empty()) {
        (true, true) => {
            Err(Misread::Elsewhere(vec![files::problem(file, 1, header, "no flows after the header")]))
        }
        (_, true) => Ok(flows),
        _ => Err(Misread::Elsewhere(problems)),
    }
}

/// Reads one line; the error is a column and a sentence.
fn flow(line: &str, limits: Option<&Limits>) -> Result<TraceFlow, (&'static str, String)> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [start, from, to, bytes] = fields.as_slice() else {
        return Err(("", format!("found {} fields, expected {}", fields.len(), HEADER.join(","))));
    };
    let time: Span = quantity("start", start)?;
    let (from_host, to_host) = (host("from", from, limits)?, host("to", to, limits)?);
    if from_host == to_host {
        return Err(("to", format!("found {to}, expected another host than from")));
    }
    let bytes_number: Bytes = quantity("bytes", bytes)?;
    let most = limits.map_or(u64::MAX, |limits| limits.bytes);
    if !(1..=most).contains(&bytes_number.get()) {
        let most = Bytes::new(most).shown();
        return Err(("bytes", format!("found {bytes}, expected a size from 1B to {most}")));
    }
    Ok(TraceFlow { start: Time::from_ps(time.as_ps()), from: from_host, to: to_host, bytes: bytes_number })
}

fn quantity<T: Quantity>(column: &'static str, text: &str) -> Result<T, (&'static str, String)> {
    match T::read(&Value::Text(text.into())) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err((column, format!("found {text}, which is too large"))),
        Err(Misread::Expected(wanted, Some(nearest))) => {
            Err((column, format!("found {text}, expected {wanted}; did you mean {nearest}?")))
        }
        Err(Misread::Expected(wanted, None)) => Err((column, format!("found {text}, expected {wanted}"))),
        Err(_) => Err((column, format!("found {text}"))),
    }
}

fn host(column: &'static str, text: &str, limits: Option<&Limits>) -> Result<u32, (&'static str, String)> {
    let hosts = limits.map_or(u32::MAX, |limits| limits.hosts);
    let host = text.parse::<u32>().ok().filter(|host| *host < hosts);
    host.ok_or_else(|| (column, format!("found {text}, expected a host from 0 to {}", hosts - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { hosts: 4, bytes: 1_000_000 };

    fn problems(text: &str) -> Vec<String> {
        match read(text, "t.csv", Some(&LIMITS)) {
            Err(Misread::Elsewhere(problems)) => problems.iter().map(ToString::to_string).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_a_flow() {
        let flows = read("start,from,to,bytes\n10us,0,3,64kB\n\n0ns, 1, 2, 1B\n", "t.csv", Some(&LIMITS))
            .expect("flows");
        let first = TraceFlow { start: Time::from_ps(10_000_000), from: 0, to: 3, bytes: Bytes::new(64_000) };
        assert_eq!(flows[0], first);
        assert_eq!(flows[1].from, 1);
        assert_eq!(flows.len(), 2);
    }

    #[test]
    fn what_is_wrong_is_said_of_file_line_and_column() {
        let head = "start,from,to,bytes\n";
        let one = |line: &str| problems(&format!("{head}{line}\n")).remove(0);
        assert_eq!(one("10us,0,4,64kB"), "t.csv:2: to: found 4, expected a host from 0 to 3");
        assert_eq!(one("10us,0,0,64kB"), "t.csv:2: to: found 0, expected another host than from");
        assert_eq!(one("10us,0,1,0B"), "t.csv:2: bytes: found 0B, expected a size from 1B to 1MB");
        assert_eq!(one("10us,0,1"), "t.csv:2: found 3 fields, expected start,from,to,bytes");
        assert!(one("10,0,1,64kB").starts_with("t.csv:2: start: found 10, expected a time with its unit"));
        assert!(one("10us,0,1,64KB").ends_with("did you mean kB?"));
        assert_eq!(
            problems("from,to\n")[0],
            "t.csv:1: found from,to, expected the header start,from,to,bytes"
        );
        assert_eq!(problems(head)[0], "t.csv:1: no flows after the header");
        assert_eq!(problems("")[0], "t.csv:1: found , expected the header start,from,to,bytes");
        assert_eq!(problems(&format!("{head}{}", "x\n".repeat(1000))).len(), 10);
    }
}
