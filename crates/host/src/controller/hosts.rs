//! Which hosts there are: a TOML file with a table `[[host]]` for each.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde::Deserialize;

use crate::daemon::address::HostPort;
use crate::daemon::line::place;
use crate::daemon::output::Problem;

/// A host of a testbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name in its certificate.
    pub name: String,
    /// Where its agent listens.
    pub control: SocketAddr,
    /// Where traffic goes to.
    pub data: IpAddr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    host: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    control: String,
    data: Option<String>,
}

/// Reads the hosts of these names, in their order, from a file.
pub fn read(path: &Path, names: &[String]) -> Result<Vec<Host>, Problem> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::new(format!("{}: {error}", path.display()), "name a file by --hosts"))?;
    parse(&text, names)
        .map_err(|problem| Problem { message: format!("{}: {}", path.display(), problem.message), ..problem })
}

fn parse(text: &str, names: &[String]) -> Result<Vec<Host>, Problem> {
    let file: File = toml_edit::de::from_str(text).map_err(|error| {
        let place = place(text, error.span());
        let what = error.message().lines().collect::<Vec<_>>().join(" ");
        Problem::new(
            format!("{place}{what}"),
            "each host is a table [[host]] with name, control and, where it differs, data",
        )
    })?;
    for (index, entry) in file.host.iter().enumerate() {
        if let Some(first) = file.host[..index].iter().position(|other| other.name == entry.name) {
            let message = format!("host[{index}].name: {:?} is that of host[{first}], too", entry.name);
            return Err(Problem::new(message, "give each host a name of its own"));
        }
    }
    let host = |name: &String| {
        let found = file.host.iter().position(|entry| entry.name == *name);
        let known = || file.host.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
        let index = found.ok_or_else(|| {
            Problem::new(
                format!("there is no host {name:?}, which the plan names"),
                &format!("add a table [[host]] of this name; there are: {}", known()),
            )
        })?;
        file.host[index].host(index)
    };
    names.iter().map(host).collect()
}

impl Entry {
    fn host(&self, index: usize) -> Result<Host, Problem> {
        let told = |key: &str, found: &str, what: String, remedy: &str| {
            Problem::new(format!("host[{index}].{key}: {found:?}: {what}"), remedy)
        };
        let control: HostPort = self.control.parse().map_err(|wanted: &str| {
            told(
                "control",
                &self.control,
                wanted.to_string(),
                "the port of an agent is 7400 unless it is told otherwise",
            )
        })?;
        let remedy = "is the name right? An address such as 10.0.0.2 needs no name service";
        let found = control.addresses();
        let found = found.map_err(|error| told("control", &self.control, error.to_string(), remedy))?;
        let control = found[0];
        let data = match &self.data {
            None => control.ip(),
            Some(data) => data.parse().map_err(|_| {
                told(
                    "data",
                    data,
                    "it is no IP address".into(),
                    "write an address without a port, such as 10.1.0.1",
                )
            })?,
        };
        Ok(Host { name: self.name.clone(), control, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, names: &[&str]) -> Result<Vec<Host>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        parse(text, &names).map_err(|problem| problem.message)
    }

    const TWO: &str = "[[host]]\nname = \"h0\"\ncontrol = \"10.0.0.1:7400\"\n[[host]]\nname = \"h1\"\ncontrol = \"[::1]:7401\"\ndata = \"10.1.0.2\"\n";

    #[test]
    fn hosts_are_read_in_the_order_of_the_plan() {
        let hosts = read(TWO, &["h1", "h0"]).unwrap();
        assert_eq!(
            hosts[0],
            Host {
                name: "h1".into(),
                control: "[::1]:7401".parse().unwrap(),
                data: "10.1.0.2".parse().unwrap()
            }
        );
        assert_eq!(hosts[1].data.to_string(), "10.0.0.1");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, words) in [
            ("[[host]]\nname = 3\n", "line 2: invalid type"),
            ("[[host]]\nname = \"h0\"\n", "missing field `control`"),
            ("[[host]]\nname = \"h0\"\ncontrol = \"a:1\"\nport = 3\n", "line 4: unknown field `port`"),
            ("[[host]\n", "line 1: "),
            (
                "[[host]]\nname = \"h0\"\ncontrol = \"10.0.0.1\"\n",
                "host[0].control: \"10.0.0.1\": expected an address",
            ),
            (
                "[[host]]\nname = \"h0\"\ncontrol = \"10.0.0.1:7\"\ndata = \"10.0.0.1:7\"\n",
                "host[0].data: \"10.0.0.1:7\": it is no IP address",
            ),
            (&TWO.replace("h1", "h0"), "host[1].name: \"h0\" is that of host[0], too"),
            ("", "there is no host \"h0\""),
        ] {
            let said = read(text, &["h0"]).unwrap_err();
            assert!(said.contains(words), "{said}, not {words}");
        }
    }
}
