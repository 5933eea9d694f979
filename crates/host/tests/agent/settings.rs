//! The file of an agent, read at its start and at SIGHUP; its log; and the user that it becomes.

use std::os::unix::fs::PermissionsExt;

use rustix::process::{geteuid, Signal};
use serde_json::Value;

use super::{clearwayd, text, Folder, SETTINGS};

#[test]
fn what_is_wrong_with_a_file_is_told_with_file_line_and_remedy() {
    let folder = Folder::new("bad-settings");
    folder.write("keys = \"keys\"\nlisen = \"127.0.0.1:0\"\nname = 3\n");
    let refused = folder.command(&[]).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    let file = folder.path("agent.toml");
    assert_eq!(refused.status.code(), Some(2), "{err}");
    let expected = format!(
        "error: {file}: line 2: lisen: unknown key\n  did you mean listen?\n\
         error: {file}: line 3: name: found an integer, expected text in quotes\n  write name = \"...\"\n"
    );
    assert_eq!(err, expected);

    let missing = folder.path("none.toml");
    let refused = clearwayd(&["agent", "--config", &missing]).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{err}");
    assert!(err.starts_with(&format!("error: {missing}: No such file")) && err.contains("--config"), "{err}");

    folder.write("listen = \"127.0.0.1:0\"\n");
    let refused = folder.command(&[]).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{err}");
    assert!(err.contains("keys: there is no directory of certificates"), "{err}");

    // A log of JSON has the reason, too, and the command line goes before the file.
    folder.write("keys = \"nowhere\"\nlog = \"text\"\n");
    let refused = folder.command(&["--log", "json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&refused.stderr).expect("one JSON object");
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said["problem"].as_str().unwrap().contains("nowhere"), "{said}");
}

#[test]
fn a_reload_takes_new_certificates_and_refuses_a_bad_file() {
    let folder = Folder::new("reload");
    let mut agent = folder.start(&["--log", "json"]);
    let before = folder.status(&agent)["certificate"].clone();

    folder.make_keys(100);
    agent.signal(Signal::HUP);
    agent.wait_for("settings and certificates were read again");
    let after = folder.status(&agent)["certificate"].clone();
    assert_ne!(before, after);

    folder.write(&format!("{SETTINGS}prot = 3\n"));
    agent.signal(Signal::HUP);
    let line = agent.wait_for("reload failed, everything stays as it was");
    assert!(line.contains("agent.toml: line 4: prot: unknown key"), "{line}");
    assert_eq!(folder.status(&agent)["certificate"], after);

    folder.write(&SETTINGS.replace("keys\"", "nowhere\""));
    agent.signal(Signal::HUP);
    let line = agent.wait_for("reload failed, everything stays as it was");
    assert!(line.contains("nowhere"), "{line}");

    folder.write(&SETTINGS.replace(":0", ":1"));
    agent.signal(Signal::HUP);
    let line = agent.wait_for("this cannot change while the agent runs");
    assert!(line.contains("\"key\":\"listen\""), "{line}");
    agent.wait_for("settings and certificates were read again");
    assert_eq!(folder.status(&agent)["state"], "idle");

    // A reload that nobody waits for does not hide the end.
    agent.signal(Signal::HUP);
    assert_eq!(agent.end(Signal::TERM).0, Some(128 + Signal::TERM.as_raw()));
}

/// Every line is an object, each event is there, and nothing that is secret.
#[test]
fn a_log_of_json_tells_of_runs_and_refusals_and_no_secret() {
    let folder = Folder::new("json-log");
    let agent = folder.start(&["--log", "json"]);
    let done = folder.run(&agent, "udp:swift", &[Some(10_000), None]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let refused = folder.run(&agent, "tcp:nosuch", &[Some(10_000)]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    // A stranger: of another authority.
    let stranger = Folder::new("stranger");
    let (address, keys) = (agent.address.to_string(), stranger.path("keys"));
    let args = ["status", "--agent", &address, "--keys", &keys, "--name", "controller"];
    assert_eq!(clearwayd(&args).output().unwrap().status.code(), Some(1));
    let (_, lines) = agent.end(Signal::INT);
    let silent = clearwayd(&args).output().unwrap();
    let err = String::from_utf8_lossy(&silent.stderr);
    assert!(
        silent.status.code() == Some(1) && err.starts_with(&format!("error: {address}: no answer\n")),
        "{err}"
    );
    let log = lines.join("\n");
    let told: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let of = |words: &str| {
        let found = told.iter().find(|line| line["message"] == words);
        found.unwrap_or_else(|| panic!("{words}: {log}"))
    };
    assert_eq!(of("agent starts")["name"], "h0");
    let prepared = of("run is prepared");
    assert_eq!((&prepared["carrier"], &prepared["flows_sent"]), (&"udp:swift".into(), &2.into()));
    assert_eq!(of("controller leaves this agent")["run"], "completed");
    assert!(of("run is refused")["reason"].as_str().unwrap().contains("nosuch"), "{log}");
    assert_eq!(of("control channel is refused")["level"], "WARN");
    assert_eq!(of("agent ends")["signal"], 2);
    for key in ["h0.key", "controller.key"] {
        let pem = text(&folder.0, &format!("keys/{key}"));
        assert!(pem.lines().skip(1).all(|line| line.starts_with('-') || !log.contains(line)), "{key}");
    }
    assert!(!log.contains("token"), "{log}");
}

/// As root: the agent is another user once its sockets are open, with no group and no capability of root.
#[test]
fn an_agent_gives_up_root() {
    if !geteuid().is_root() {
        println!("skipped: it needs root");
        return;
    }
    let folder = Folder::new("user");
    let agent = folder.start(&["--user", "nobody"]);
    let status = text(std::path::Path::new("/proc"), &format!("{}/status", agent.child.id()));
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect(name);
        line.split_whitespace().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let nobody = of("Uid:")[0].clone();
    assert!(nobody != "0" && of("Uid:").iter().all(|id| *id == nobody), "{status}");
    assert!(!of("Gid:").contains(&"0".to_string()) && !of("Groups:").contains(&"0".to_string()), "{status}");
    assert!(of("CapEff:")[0].bytes().all(|digit| digit == b'0'), "{status}");
    // The key is root's alone.
    let (_, log) = agent.end(Signal::TERM);
    assert!(log.iter().any(|line| line.contains("certificates cannot be read again")), "{log:?}");

    let readable = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.0.join("keys/h0.key"), readable).unwrap();
    let mut agent = folder.start(&["--user", "nobody"]);
    agent.signal(Signal::HUP);
    agent.wait_for("settings and certificates were read again");

    let refused = folder.command(&["--user", "nobody-of-this-name"]).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && err.contains("there is none of this name"), "{err}");
}
