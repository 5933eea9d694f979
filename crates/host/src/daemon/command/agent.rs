//! An agent of a testbed, by its options or by a file that has them.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::channels::runtime;
use super::outcome::addresses;
use crate::agent::{serve, Settings};
use crate::daemon::address::HostPort;
use crate::daemon::args::AgentArgs;
use crate::daemon::output::{print, Problem};
use crate::keys::Identity;

/// Serves controllers until a signal comes.
pub(super) fn agent(args: &AgentArgs) -> Result<u8, Problem> {
    let args = with_file(args)?;
    let keys = args.keys.clone().ok_or_else(|| {
        Problem::new(
            "keys: there is no directory of certificates",
            "name it by --keys, or in the file: keys = \"DIR\"",
        )
    })?;
    let identity = Identity::read(&keys, args.name.as_deref())?;
    identity.check()?;
    let listen = addresses("--listen", &args.listen())?[0];
    let settings = Settings { listen, data: args.data };
    runtime()?.block_on(serve(&settings, identity, |local| print(&format!("listening at {local}\n"))))
}

/// What a file may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    keys: Option<PathBuf>,
    name: Option<String>,
    listen: Option<String>,
    data: Option<String>,
}

/// The options with those of the file that they name, if they do.
fn with_file(args: &AgentArgs) -> Result<AgentArgs, Problem> {
    let Some(path) = &args.config else { return Ok(args.clone()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::new(format!("{}: {error}", path.display()), "name another file by --config")
    })?;
    let of_file = read(&text, path.parent().unwrap_or(Path::new(""))).map_err(|problem| Problem {
        message: format!("{}: {}", path.display(), problem.message),
        ..problem
    })?;
    Ok(AgentArgs {
        keys: args.keys.clone().or(of_file.keys),
        name: args.name.clone().or(of_file.name),
        listen: args.listen.clone().or(of_file.listen),
        data: args.data.or(of_file.data),
        config: None,
    })
}

/// The options in a file; a directory that it names is relative to `folder`, which the file is in.
fn read(text: &str, folder: &Path) -> Result<AgentArgs, Problem> {
    let file: File = toml_edit::de::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let what = error.message().lines().collect::<Vec<_>>().join(" ");
        Problem::new(format!("line {line}: {what}"), "it may have keys, name, listen and data")
    })?;
    let told = |key: &str, found: &str, what: &str| Problem::bare(format!("{key}: found {found:?}, {what}"));
    let listen = file.listen.map(|text| text.parse::<HostPort>().map_err(|what| told("listen", &text, what)));
    let data = file.data.map(|text| {
        text.parse::<IpAddr>().map_err(|_| told("data", &text, "expected an IP address, such as 10.1.0.1"))
    });
    Ok(AgentArgs {
        keys: file.keys.map(|keys| folder.join(keys)),
        name: file.name,
        listen: listen.transpose()?,
        data: data.transpose()?,
        config: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_what_the_options_have() {
        let text = "keys = \"keys\"\nname = \"h0\"\nlisten = \"10.0.0.1:7400\"\ndata = \"10.1.0.1\"\n";
        let args = read(text, Path::new("/etc/clearway")).unwrap();
        assert_eq!(args.keys, Some(PathBuf::from("/etc/clearway/keys")));
        assert_eq!((args.name.as_deref(), args.listen().to_string().as_str()), (Some("h0"), "10.0.0.1:7400"));
        assert_eq!(args.data, Some("10.1.0.1".parse().unwrap()));
        assert_eq!(read("", Path::new("/")).unwrap().listen().to_string(), "[::]:7400");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_place() {
        for (text, words) in [
            ("keys = 3", "line 1: invalid type"),
            ("\nport = 3", "line 2: unknown field `port`"),
            ("listen = \"here\"", "listen: found \"here\", expected an address"),
            ("data = \"here\"", "data: found \"here\", expected an IP address"),
        ] {
            let said = read(text, Path::new("/")).unwrap_err().message;
            assert!(said.starts_with(words), "{said}");
        }
    }
}
