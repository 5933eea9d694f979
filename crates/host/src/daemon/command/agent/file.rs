//! The file of an agent's options: each is a key, and all that is wrong is told at once, with its line.

use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, Item, Value};

use crate::daemon::address::HostPort;
use crate::daemon::args::{AgentArgs, LogForm};
use crate::daemon::line::place;
use crate::daemon::output::Problem;

/// The keys that a file may have.
const KEYS: [&str; 7] = ["keys", "name", "listen", "data", "metrics", "log", "user"];

/// The options with those of the file that they name, if they do. An option goes before a key.
pub(super) fn with_file(args: &AgentArgs) -> Result<AgentArgs, Vec<Problem>> {
    let Some(path) = &args.config else { return Ok(args.clone()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        vec![Problem::new(format!("{}: {error}", path.display()), "name another file by --config")]
    })?;
    let of_file = read(&text, path.parent().unwrap_or(Path::new("")))
        .map_err(|problems| problems.into_iter().map(|problem| problem.of_file(path)).collect::<Vec<_>>())?;
    Ok(AgentArgs {
        keys: args.keys.clone().or(of_file.keys),
        name: args.name.clone().or(of_file.name),
        listen: args.listen.clone().or(of_file.listen),
        data: args.data.or(of_file.data),
        metrics: args.metrics.clone().or(of_file.metrics),
        log: args.log.or(of_file.log),
        user: args.user.clone().or(of_file.user),
        config: args.config.clone(),
    })
}

/// The options in a file; a directory that it names is relative to `folder`, which the file is in.
fn read(text: &str, folder: &Path) -> Result<AgentArgs, Vec<Problem>> {
    let document = Document::parse(text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join(" ");
        let place = place(text, error.span());
        vec![Problem::new(format!("{place}{what}"), "a line is: key = \"value\"")]
    })?;
    let mut reader = Reader { text, problems: Vec::new() };
    let mut args = AgentArgs::default();
    for (key, item) in document.iter() {
        match key {
            "keys" => args.keys = reader.value(key, item, |text| Ok(folder.join(text))),
            "name" => args.name = reader.value(key, item, plain),
            "listen" => {
                args.listen = reader.value(key, item, host_port);
            }
            "data" => args.data = reader.value(key, item, ip),
            "metrics" => {
                args.metrics = reader.value(key, item, host_port);
            }
            "log" => args.log = reader.value(key, item, log_form),
            "user" => args.user = reader.value(key, item, plain),
            _ => {
                let span = document.key(key).and_then(toml_edit::Key::span);
                reader.unknown(key, span);
            }
        }
    }
    if reader.problems.is_empty() {
        Ok(args)
    } else {
        Err(reader.problems)
    }
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    /// What `read` makes of the text that an item is; none where it is not right.
    fn value<T>(
        &mut self,
        key: &str,
        item: &Item,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let place = place(self.text, item.span());
        let problem = match item.as_str().map(|text| (text, read(text))) {
            Some((_, Ok(value))) => return Some(value),
            Some((text, Err(expected))) => Problem::bare(format!("{place}{key}: found {text:?}, {expected}")),
            None => {
                let found = item.as_value().map_or("a table", Value::type_name);
                let message = format!("{place}{key}: found {}, expected text in quotes", article(found));
                Problem::new(message, &format!("write {key} = \"...\""))
            }
        };
        self.problems.push(problem);
        None
    }

    fn unknown(&mut self, key: &str, span: Option<Range<usize>>) {
        let near = KEYS.into_iter().min_by_key(|known| strsim::osa_distance(key, known));
        let near = near.filter(|known| strsim::osa_distance(key, known) <= (key.chars().count() / 3).max(1));
        let message = format!("{}{key}: unknown key", place(self.text, span));
        let remedy = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the keys are {}", KEYS.join(", ")),
        };
        self.problems.push(Problem::new(message, &remedy));
    }
}

fn article(noun: &str) -> String {
    match noun {
        "a table" => noun.into(),
        _ if noun.starts_with(['a', 'i']) => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

fn plain(text: &str) -> Result<String, String> {
    if text.is_empty() {
        Err("expected a name".into())
    } else {
        Ok(text.into())
    }
}

fn host_port(text: &str) -> Result<HostPort, String> {
    text.parse().map_err(|expected: &str| expected.to_string())
}

fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IP address, such as 10.1.0.1".into())
}

fn log_form(text: &str) -> Result<LogForm, String> {
    match text {
        "text" => Ok(LogForm::Text),
        "json" => Ok(LogForm::Json),
        _ => Err("expected text or json".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_file_has_what_the_options_have() {
        let text = "keys = \"keys\"\nname = \"h0\"\nlisten = \"10.0.0.1:7400\"\ndata = \"10.1.0.1\"\n\
                    metrics = \"127.0.0.1:9400\"\nlog = \"json\"\nuser = \"clearway\"\n";
        let args = read(text, Path::new("/etc/clearway")).unwrap();
        assert_eq!(args.keys, Some(PathBuf::from("/etc/clearway/keys")));
        assert_eq!((args.name.as_deref(), args.listen().to_string().as_str()), (Some("h0"), "10.0.0.1:7400"));
        assert_eq!(args.data, Some("10.1.0.1".parse().unwrap()));
        assert_eq!(args.metrics, Some("127.0.0.1:9400".parse().unwrap()));
        assert_eq!((args.log, args.user.as_deref()), (Some(LogForm::Json), Some("clearway")));
        assert_eq!(read("", Path::new("/")).unwrap().listen().to_string(), "[::]:7400");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_line_and_a_remedy() {
        for (text, message, remedy) in [
            (
                "keys = 3",
                "line 1: keys: found an integer, expected text in quotes",
                Some("write keys = \"...\""),
            ),
            (
                "[listen]\nx = 1",
                "line 1: listen: found a table, expected text in quotes",
                Some("write listen = \"...\""),
            ),
            ("\nlisen = \"x\"", "line 2: lisen: unknown key", Some("did you mean listen?")),
            (
                "\n\nport = 3",
                "line 3: port: unknown key",
                Some("the keys are keys, name, listen, data, metrics, log, user"),
            ),
            (
                "data = \"here\"",
                "line 1: data: found \"here\", expected an IP address, such as 10.1.0.1",
                None,
            ),
            ("log = \"xml\"", "line 1: log: found \"xml\", expected text or json", None),
            ("name = \"\"", "line 1: name: found \"\", expected a name", None),
        ] {
            let told = read(text, Path::new("/")).unwrap_err();
            let [Problem { message: said, remedy: done }] = &told[..] else { panic!("{told:?}") };
            assert_eq!((said.as_str(), done.as_deref()), (message, remedy));
        }
        for (text, words) in [
            ("name = \"a\"\nkeys = [", "line 2: "),
            ("name = \"a\"\nname = \"b\"", "line 2: duplicate key"),
            ("listen = \"here\"", "line 1: listen: found \"here\", expected an address"),
            ("metrics = \"here\"", "line 1: metrics: found \"here\", expected an address"),
        ] {
            let said = &read(text, Path::new("/")).unwrap_err()[0].message;
            assert!(said.starts_with(words), "{said}");
        }
    }

    /// Every text is read or refused, whatever is in it, and what is refused says why.
    #[test]
    fn no_text_is_too_strange() {
        let text = "keys = \"keys\"\nlisten = \"[::]:7400\"\nlog = \"json\" # \u{fc}\n[t]\n";
        let changed = (0..text.len()).flat_map(|at| {
            [b'"', b'=', b'[', b'\n', 0, 0xc3].map(|byte| {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let cut = (0..text.len()).filter_map(|end| text.get(..end).map(String::from));
        for text in changed.chain(cut) {
            if let Err(problems) = read(&text, Path::new("/")) {
                assert!(problems.iter().all(|problem| !problem.message.is_empty()), "{text:?}");
            }
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let told = read("keys = 1\nuser = true\nnaem = \"a\"", Path::new("/")).unwrap_err();
        assert_eq!(told.len(), 3, "{told:?}");
    }
}
