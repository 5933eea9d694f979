//! A host's part in a Fastpass deployment, for the time of a run: an arbiter or an endpoint, which is a process of its own.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};
use tempfile::TempDir;
use tracing::warn;

use super::refusal::Refusal;
use crate::control::{dial, Failure, Patience};
use crate::fastpass::link::wire::Peer;
use crate::fastpass::settings::{Deployment, Mode};
use crate::fastpass::status::Status;
use crate::keys::Identity;
use crate::testbed::clock::monotonic_ns;
use crate::testbed::message::{FromAgent, STATUS};

/// The time between two looks at the process.
const LOOK: Duration = Duration::from_millis(20);
/// How long it may take until it listens, in nanoseconds.
const START_NS: u64 = 10_000_000_000;
/// How long it may take until it has sessions with all arbiters, in nanoseconds.
const ACQUAINT_NS: u64 = 5_000_000_000;
/// How long it may take to end, in nanoseconds: less than after which a controller takes this agent for lost.
const END_NS: u64 = 1_500_000_000;
/// How long it may take to say what it has done: less than controllers wait.
const ANSWER: Duration = Duration::from_secs(2);
/// The exit status of bad input.
const BAD_INPUT: i32 = 2;
/// Characters of what it said that are told, at most.
const MOST_SAID: usize = 2000;

/// An arbiter or an endpoint that has been started. It has ended when this is dropped, and ends with this process, too.
#[derive(Debug)]
pub struct Member {
    what: &'static str,
    name: String,
    control: SocketAddr,
    mode: Mode,
    /// The other arbiters.
    arbiters: usize,
    child: Child,
    said: PathBuf,
    /// The directory of its files, removed after it has ended.
    _directory: TempDir,
}

impl Member {
    /// Starts what the host of this certificate is by the text of a deployment's file, and waits until it listens. `is_idle` says
    /// that no flow of the run begins or ends here.
    pub async fn start(file: &str, identity: &Identity, is_idle: bool) -> Result<Member, Refusal> {
        let mut member = Member::spawn(file, identity, is_idle)?;
        let until = monotonic_ns() + START_NS;
        let printed = member.said.with_extension("out");
        while !read(&printed).contains("listening at ") {
            if let Some(status) = member.ended() {
                return Err(member.refusal(status));
            }
            if monotonic_ns() > until {
                let message = format!(
                    "its {} does not say within 10 s that it listens: {}",
                    member.what,
                    member.last_words()
                );
                return Err(Refusal::failure(message));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(member)
    }

    fn spawn(file: &str, identity: &Identity, is_idle: bool) -> Result<Member, Refusal> {
        let deployment = Deployment::parse(file).map_err(|problems| {
            let first = problems.into_iter().next();
            let (message, remedy) =
                first.map_or((String::new(), None), |problem| (problem.message, problem.remedy));
            Refusal::of_process(format!("the Fastpass deployment: {message}"), remedy, true)
        })?;
        let name = identity.name();
        let (what, control) = match (deployment.rank(name), deployment.address(name)) {
            (Some(rank), _) if is_idle => ("arbiter", deployment.arbiters[usize::from(rank)].control),
            (Some(_), _) => {
                let message = "it is an arbiter, and flows begin or end here";
                return Err(Refusal::input(message, "put arbiters where there is no traffic: arbiter.at"));
            }
            (None, Some(address)) => ("endpoint", deployment.endpoints[usize::from(address)].control),
            (None, None) => {
                let message = format!("{name} is no host of the Fastpass deployment");
                return Err(Refusal::input(message, "both need the same version of Clearway"));
            }
        };
        let failed = |error: std::io::Error| Refusal::failure(format!("its {what}: {error}"));
        let directory = tempfile::Builder::new().prefix("clearway-fastpass-").tempdir().map_err(failed)?;
        let path = directory.path().join("fastpass.toml");
        std::fs::write(&path, file).map_err(failed)?;
        let said = directory.path().join(what).with_extension("err");
        let open = |path: &Path| File::create(path).map(Stdio::from).map_err(failed);
        let child = Command::new(std::env::current_exe().map_err(failed)?)
            .arg(what)
            .arg(&path)
            .arg("--keys")
            .arg(identity.directory())
            .args(["--name", name, "--with-parent", &std::process::id().to_string(), "--state"])
            .arg(directory.path())
            // The service that this agent is is not that process's.
            .env_remove("NOTIFY_SOCKET")
            .env_remove("WATCHDOG_USEC")
            .stdin(Stdio::null())
            .stdout(open(&said.with_extension("out"))?)
            .stderr(open(&said)?)
            // Signals of a terminal are for the agent, which ends it in its time.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mode = deployment.mode;
        let arbiters = deployment.arbiters.len() - usize::from(deployment.rank(name).is_some());
        Ok(Member { what, name: name.into(), control, mode, arbiters, child, said, _directory: directory })
    }

    /// Returns whether traffic of the run goes to addresses that are there while the endpoint is.
    pub fn has_inner_addresses(&self) -> bool {
        self.mode == Mode::Slots
    }

    /// Waits until it has a session with each other arbiter, but not for ever: one that is not there is no reason not to run. All of
    /// the deployment must have been started.
    pub async fn acquaint(&mut self, identity: &Identity) {
        let until = monotonic_ns() + ACQUAINT_NS;
        while self.ended().is_none() {
            let known = self.ask(identity).await.map_or(0, |status| {
                status.sessions.iter().filter(|session| matches!(session.peer, Peer::Arbiter(_))).count()
            });
            if known >= self.arbiters {
                return;
            }
            if monotonic_ns() > until {
                warn!(known, of = self.arbiters, "arbiters do not answer: the run begins without");
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Its status now, or the reason why there is none.
    pub async fn status(&mut self, identity: &Identity) -> FromAgent {
        let (status, lost) = match self.ended() {
            Some(status) => {
                (None, Some(format!("its {} has ended ({status}): {}", self.what, self.last_words())))
            }
            None => match self.ask(identity).await {
                Ok(status) => (Some(Box::new(status)), None),
                Err(failure) => (None, Some(format!("its {} does not answer: {failure}", self.what))),
            },
        };
        FromAgent::Fastpass { status, lost }
    }

    async fn ask(&self, identity: &Identity) -> Result<Status, Failure> {
        let patience = Patience { answer: ANSWER, silence: ANSWER };
        let mut channel = dial(identity, self.control, Some(&self.name), STATUS, patience).await?;
        let status = channel.receive().await?;
        channel.close().await;
        Ok(status)
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The last lines of its standard error, joined to one.
    fn last_words(&self) -> String {
        let said = read(&self.said);
        let words: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let words = words.join("; ");
        let from = words.char_indices().rev().nth(MOST_SAID).map_or(0, |(at, _)| at);
        if words.is_empty() {
            "it said nothing".into()
        } else {
            words[from..].into()
        }
    }

    /// The refusal of a run whose process ended before it listened.
    fn refusal(&self, status: ExitStatus) -> Refusal {
        let said = read(&self.said);
        let mut lines = said.lines().skip_while(|line| !line.starts_with("error: "));
        let Some(error) = lines.next() else {
            return Refusal::failure(format!("its {} ended ({status}): {}", self.what, self.last_words()));
        };
        let remedy: Vec<&str> = lines.map_while(|line| line.strip_prefix("  ")).collect();
        let message = format!("its {}: {}", self.what, error.trim_start_matches("error: "));
        let remedy = (!remedy.is_empty()).then(|| remedy.join(" "));
        Refusal::of_process(message, remedy, status.code() == Some(BAD_INPUT))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        if let Some(process) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::TERM);
        }
        let until = monotonic_ns() + END_NS;
        while self.ended().is_none() && monotonic_ns() < until {
            #[allow(clippy::disallowed_methods, reason = "it waits for a real process")]
            std::thread::sleep(LOOK);
        }
        // Of one that has ended this is nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a file; empty where it cannot be read.
fn read(path: &Path) -> String {
    std::fs::read(path).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
