//! Jobs in GOAL's text format, as `LogGOPSim` reads it.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 1000
//! l2: send 4096b to 1 tag 7
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 4096b from 0 tag 7
//! }
//! ```

use std::collections::BTreeMap;

use clearway_proto::units::Span;

use super::{Draft, GraphBuilder, Problem};
use crate::model::Origin;

/// The most ranks of a job.
pub const MOST_RANKS: u32 = 1 << 20;

/// A word of the text, and its line.
type Word<'a> = (&'a str, u32);

/// Reads a job; `unit` is the time for which `calc 1` stands.
///
/// # Errors
/// A problem with its line.
pub fn read(text: &str, unit: Span) -> Result<GraphBuilder, Problem> {
    let text = without_comments(text)?;
    let mut reader = Reader { words: words(&text), at: 0, unit };
    reader.expect("num_ranks")?;
    let line = reader.line();
    let ranks = reader.number("a number of ranks")?;
    if ranks == 0 || ranks > u64::from(MOST_RANKS) {
        return Err(problem(line, format!("found {ranks} ranks, expected 1 to {MOST_RANKS}")));
    }
    let mut builder = GraphBuilder::new(ranks as u32);
    let mut next = 0;
    // As in LogGOPSim, what follows the last rank is not read.
    while next < ranks {
        if reader.peek().is_none() {
            let message = format!(
                "the file ends before rank {next} of {ranks}: is it cut off? give every rank a block"
            );
            return Err(problem(reader.line(), message));
        }
        reader.expect("rank")?;
        let line = reader.line();
        let rank = reader.number("a rank")?;
        if rank < next || rank >= ranks {
            let message =
                format!("found rank {rank}, expected one from {next} to {}: blocks go by rank", ranks - 1);
            return Err(problem(line, message));
        }
        next = rank + 1;
        reader.block(&mut builder, rank as u32)?;
    }
    Ok(builder)
}

fn problem(line: u32, message: impl Into<String>) -> Problem {
    Problem { line, message: message.into() }
}

/// The text with comments as blanks: from `//` to the end of the line, and between `/*` and `*/`.
fn without_comments(text: &str) -> Result<String, Problem> {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        clean.push_str(&rest[..at]);
        let comment = &rest[at..];
        let end = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else {
            let line = clean.matches('\n').count() as u32 + 1;
            comment[2..]
                .find("*/")
                .map(|end| end + 4)
                .ok_or_else(|| problem(line, "a comment begins and never ends: close it by */"))?
        };
        clean.extend(comment[..end].chars().filter(|c| *c == '\n'));
        clean.push(' ');
        rest = &comment[end..];
    }
    clean.push_str(rest);
    Ok(clean)
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for word in line.split_whitespace() {
            // Braces and the colon of a label may stand close to a word.
            let mut rest = word;
            while let Some(at) = rest.find(['{', '}', ':']) {
                if at > 0 {
                    words.push((&rest[..at], number));
                }
                words.push((&rest[at..=at], number));
                rest = &rest[at + 1..];
            }
            if !rest.is_empty() {
                words.push((rest, number));
            }
        }
    }
    words
}

struct Reader<'a> {
    words: Vec<Word<'a>>,
    at: usize,
    unit: Span,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(|word| word.0)
    }

    /// The word after the next one.
    fn peek_second(&self) -> Option<&'a str> {
        self.words.get(self.at + 1).map(|word| word.0)
    }

    /// The line of the next word, or of the last.
    fn line(&self) -> u32 {
        self.words.get(self.at).or(self.words.last()).map_or(1, |word| word.1)
    }

    fn next(&mut self, wanted: &str) -> Result<&'a str, Problem> {
        let Some(word) = self.peek() else {
            let message = format!("the file ends where {wanted} is expected: is it cut off?");
            return Err(problem(self.line(), message));
        };
        self.at += 1;
        Ok(word)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Problem> {
        let line = self.line();
        match self.next(wanted)? {
            found if found == wanted => Ok(()),
            found => Err(problem(line, format!("found {found}, expected {wanted}"))),
        }
    }

    fn number(&mut self, wanted: &str) -> Result<u64, Problem> {
        let line = self.line();
        let found = self.next(wanted)?;
        number(found).map_err(|why| problem(line, format!("found {found}, expected {wanted}{why}")))
    }

    /// A rank's block, from `{` to `}`.
    fn block(&mut self, builder: &mut GraphBuilder, rank: u32) -> Result<(), Problem> {
        self.expect("{")?;
        let mut labels = BTreeMap::new();
        loop {
            let line = self.line();
            let wanted = "an operation, a dependency or }";
            match self.peek() {
                Some("}") => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) if matches!(self.peek_second(), Some("requires" | "irequires")) => {
                    self.dependency(builder, rank, &labels)?;
                }
                _ => {
                    let first = self.next(wanted)?;
                    let label = if self.peek() == Some(":") { first } else { "" };
                    let word = if label.is_empty() {
                        first
                    } else {
                        self.at += 1;
                        self.next("send, recv or calc")?
                    };
                    let draft = self.operation(word, line)?;
                    let origin = Origin { label: label.into(), line };
                    let number = builder.ranks[rank as usize].add_from(draft, origin);
                    if !label.is_empty() && labels.insert(label, number).is_some() {
                        let message = format!(
                            "label {label} stands for an operation of rank {rank} already: rename one"
                        );
                        return Err(problem(line, message));
                    }
                }
            }
        }
    }

    /// `after requires before`, or `irequires`.
    fn dependency(
        &mut self,
        builder: &mut GraphBuilder,
        rank: u32,
        labels: &BTreeMap<&str, u32>,
    ) -> Result<(), Problem> {
        let named = |reader: &mut Self| {
            let line = reader.line();
            let label = reader.next("a label")?;
            labels.get(label).copied().ok_or_else(|| {
                let message =
                    format!("rank {rank} has no operation {label} above this line: define labels before use");
                problem(line, message)
            })
        };
        let after = named(self)?;
        let how = self.next("requires or irequires")?;
        let before = named(self)?;
        let draft = &mut builder.ranks[rank as usize];
        if how == "requires" {
            draft.require(after, before);
        } else {
            draft.require_start(after, before);
        }
        Ok(())
    }

    /// `send Nb to R`, `recv Nb from R` or `calc N`, each with what may follow.
    fn operation(&mut self, word: &str, line: u32) -> Result<Draft, Problem> {
        let draft = match word {
            "calc" => {
                let line = self.line();
                let units = self.number("a number of time units")?;
                let time = units.checked_mul(self.unit.as_ps()).filter(|&ps| ps < 1 << 62);
                let Some(time) = time else {
                    return Err(problem(line, format!("found {units}, a time beyond 50 days: shorten it")));
                };
                let cpu = self.option("cpu")?.unwrap_or(0);
                return Ok(Draft::Calc { cpu, time: Span::from_ps(time) });
            }
            "send" | "recv" => {
                let bytes = self.bytes()?;
                self.expect(if word == "send" { "to" } else { "from" })?;
                let peer = self.plain("a rank")?;
                let tag = self.option("tag")?.unwrap_or(0);
                if word == "send" {
                    Draft::Send { to: peer, tag, bytes }
                } else {
                    Draft::Recv { from: peer, tag, bytes }
                }
            }
            found => {
                let message =
                    format!("found {found}, expected an operation (send, recv, calc), a dependency or }}");
                return Err(problem(line, message));
            }
        };
        self.option("cpu")?;
        self.option("nic")?;
        Ok(draft)
    }

    /// A size, such as `4096b`.
    fn bytes(&mut self) -> Result<u64, Problem> {
        let line = self.line();
        let wanted = "a size in bytes, such as 4096b";
        let found = self.next(wanted)?;
        let digits = found.strip_suffix('b').ok_or("");
        let read = digits.and_then(number);
        let bytes = read.map_err(|why| problem(line, format!("found {found}, expected {wanted}{why}")))?;
        if bytes > 1 << 50 {
            return Err(problem(
                line,
                format!("found {found}, a message beyond 2^50 bytes: make it smaller"),
            ));
        }
        Ok(bytes)
    }

    /// A number behind the word `name`, if that is next.
    fn option(&mut self, name: &str) -> Result<Option<u32>, Problem> {
        if self.peek() != Some(name) {
            return Ok(None);
        }
        self.at += 1;
        self.plain(name).map(Some)
    }

    /// A number of 32 bits.
    fn plain(&mut self, wanted: &str) -> Result<u32, Problem> {
        let line = self.line();
        if self.peek() == Some("-1") {
            let message =
                format!("found -1, any {wanted}; messages are matched by rank and tag here: name the one that is meant");
            return Err(problem(line, message));
        }
        let found = self.number(wanted)?;
        u32::try_from(found)
            .map_err(|_| problem(line, format!("found {found}, expected {wanted} below 2^32")))
    }
}

/// A whole number; the error says why it is none.
fn number(text: &str) -> Result<u64, &'static str> {
    if text.starts_with('-') {
        return Err(", not below zero");
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("");
    }
    text.parse().map_err(|_| " below 2^64")
}

#[cfg(test)]
#[path = "goal/tests.rs"]
mod tests;
