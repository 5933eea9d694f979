//! Jobs: operations wait for each other, messages meet their receives, and what can never end is named.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clearway_sim::check::load_text;
use clearway_sim::random::{Entity, Stream};
use clearway_sim::record::Stopped;

use crate::cases::cases;
use crate::experiment::{floats, integers, texts, Outcome};

/// A star of 100 Gb/s and 1 us links, whose frames weigh what they carry and whose acknowledgements weigh a byte.
pub fn star(hosts: u32, job: &str) -> String {
    format!(
        "format = 1\nname = 'jobs'\nduration = '20ms'\nstop_when_complete = true\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '100Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\n\
         [[job]]\n{job}\n"
    )
}

/// A folder for the files of a test.
fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("clearway-jobs-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// What comes of a scenario beside which this GOAL file stands as `job.goal`: an outcome, a problem, or why it stopped.
fn try_run(test: &str, goal: &str, text: &str, threads: usize) -> Result<Outcome, String> {
    let folder = folder(test);
    std::fs::write(folder.join("job.goal"), goal).expect("a file can be written");
    let loaded = load_text(text, "scenario", Path::new(&folder), &[], None);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let scenario =
        loaded.map_err(|problems| problems.to_string().replace(&folder.display().to_string(), ""))?.scenario;
    match clearway_sim::run_on(&scenario, threads, &mut |_| ControlFlow::Continue(())) {
        Ok(outcome) => Ok(outcome),
        Err(Stopped::Standstill(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

fn run(test: &str, goal: &str, job: &str) -> Outcome {
    try_run(test, goal, &star(4, &format!("file = 'job.goal'\n{job}")), 1)
        .unwrap_or_else(|why| panic!("{why}"))
}

/// When the first iteration of a job ended, in nanoseconds.
fn ended_ns(outcome: &Outcome) -> f64 {
    floats(outcome, "iterations", "ended_us")[0] * 1000.0
}

/// One message of `bytes` bytes over the star: the whole over one link, its last frame over the other, and two delays. With no
/// header a byte takes 0.08 ns.
fn message_ns(bytes: u64) -> f64 {
    let last = (bytes - 1) % 1000 + 1;
    (bytes + last) as f64 * 0.08 + 2000.0
}

fn assert_ns(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "found {found} ns, expected {expected}");
}

#[test]
fn an_operation_starts_when_those_before_it_have_ended_or_started() {
    // 1 us of work, a message, and at its receiver 5 us of work: after the message, or from the beginning on, and then the
    // acknowledgement is the last to come.
    let goal = |how: &str| {
        format!(
            "num_ranks 2\nrank 0 {{\na: calc 1000\nb: send 4000b to 1 tag 7\nb requires a\n}}\n\
             rank 1 {{\na: recv 4000b from 0 tag 7\nb: calc 5000\nb {how} a\n}}\n"
        )
    };
    let arrives = 1000.0 + message_ns(4000);
    assert_ns(ended_ns(&run("after", &goal("requires"), "")), arrives + 5000.0);
    assert_ns(ended_ns(&run("beside", &goal("irequires"), "")), arrives + 2000.16);
    // The unit of time is the scenario's to say.
    let slow = run("unit", &goal("requires"), "calc_unit = '10ns'");
    assert_ns(ended_ns(&slow), 10_000.0 + message_ns(4000) + 50_000.0);
}

#[test]
fn what_computes_on_one_processor_takes_turns() {
    let goal = |cpu: u32| {
        format!("num_ranks 1\nrank 0 {{\na: calc 1000 cpu 0\nb: calc 1000 cpu {cpu}\nc: calc 10\nc requires b\n}}\n")
    };
    assert_ns(ended_ns(&run("one", &goal(0), "")), 2010.0);
    assert_ns(ended_ns(&run("two", &goal(1), "")), 1010.0);
}

#[test]
fn messages_wait_for_their_receives_and_go_by_tag() {
    // Both messages come before rank 1 asks for any; it asks for the second tag first.
    let goal = "num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 1\nsend 2000b to 1 tag 2\n}\n\
                rank 1 {\na: calc 9000\nb: recv 2000b from 0 tag 2\nc: recv 1000b from 0 tag 1\nb requires a\nc requires b\n}\n";
    assert_ns(ended_ns(&run("early", goal, "")), 9000.0);
}

#[test]
fn a_send_ends_when_it_is_acknowledged() {
    let goal = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 100\nb requires a\n}\nrank 1 {\nrecv 1000b from 0\n}\n";
    // There, and an acknowledgement of a byte back.
    assert_ns(ended_ns(&run("ack", goal, "")), 2.0 * 80.0 + 2000.0 + 2.0 * 0.08 + 2000.0 + 100.0);
}

#[test]
fn ranks_of_a_host_share_its_nic_and_talk_within_it() {
    // Two ranks of one host send to two others, whose messages leave by turns over one link.
    let goal = "num_ranks 4\nrank 0 {\nsend 100000b to 2\n}\nrank 1 {\nsend 100000b to 3\n}\nrank 2 {\nrecv 100000b from 0\n}\n\
                rank 3 {\nrecv 100000b from 1\n}\n";
    let shared = run("shared", goal, "placement = [0, 0, 1, 2]");
    let apart = run("apart", goal, "placement = [0, 1, 2, 3]");
    // The job ends with the acknowledgement of the last frame.
    let ack = 2000.0 + 0.16;
    assert_ns(ended_ns(&apart), message_ns(100_000) + ack);
    assert_ns(ended_ns(&shared), message_ns(200_000) + ack);
    let goal = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: send 3000b to 1\n}\nrank 1 {\nrecv 1000b from 0\nrecv 3000b from 0\n}\n";
    let within = |keys: &str| run("within", goal, &format!("placement = [3, 3]\n{keys}"));
    assert_ns(ended_ns(&within("")), 0.0);
    // 4000 bytes at 800 Gb/s, one message after the other.
    let copied = within("local_rate = '800Gbps'");
    assert_ns(ended_ns(&copied), 40.0);
    assert_eq!(integers(&copied, "jobs", "local_bytes"), [4000]);
    assert_eq!(integers(&copied, "jobs", "network_bytes"), [0]);
}

#[test]
fn ranks_go_where_the_placement_says() {
    // A rank that shares the host of rank 0 hears it at once; the iteration's time tells whether it does.
    let goal =
        "num_ranks 4\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\nrank 2 { }\nrank 3 { }\n";
    let end = |keys: &str| ended_ns(&run("place", goal, &format!("ranks_per_host = 2\n{keys}")));
    assert_ns(end("placement = 'packed'"), 0.0);
    assert!(end("placement = 'round_robin'") > 2000.0);
    let hosts = |keys: &str, seed: u64| {
        let text = star(8, &format!("file = 'job.goal'\nplacement = 'random'\n{keys}"));
        let text = text.replace("format = 1", &format!("format = 1\nseed = {seed}"));
        let outcome = try_run("random", goal, &text, 1).expect("a run");
        (integers(&outcome, "flows", "from")[0], integers(&outcome, "flows", "to")[0])
    };
    let drawn: Vec<_> = (1..20).map(|seed| hosts("", seed)).collect();
    assert_eq!(drawn[0], hosts("", 1));
    assert!(drawn.iter().any(|other| *other != drawn[0]));
    assert!((1..9)
        .map(|seed| hosts("hosts = '4..8'", seed))
        .all(|(from, to)| from >= 4 && to >= 4 && from != to));
}

#[test]
fn iterations_follow_each_other_and_their_times_make_up_the_whole() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 50000b to 1\nb requires a\n}\nrank 1 {\nrecv 50000b from 0\n}\n";
    let outcome = run("iterations", goal, "iterations = 5\nstart = '3us'\nname = 'five'");
    let times = floats(&outcome, "iterations", "iteration_us");
    let one = 1.0 + (message_ns(50_000) + 2000.16) / 1000.0;
    assert_eq!(times.len(), 5);
    assert!(times.iter().all(|time| (time - one).abs() < 1e-4), "{times:?}, expected {one}");
    let end = floats(&outcome, "jobs", "end_us")[0];
    assert!((times.iter().sum::<f64>() + 3.0 - end).abs() < 1e-6);
    assert_eq!(texts(&outcome, "jobs", "name"), ["five"]);
    assert_eq!(integers(&outcome, "jobs", "network_bytes"), [250_000]);
    assert_eq!(integers(&outcome, "jobs", "iterations"), [5]);
}

#[test]
fn what_is_wrong_is_said_with_file_line_and_remedy() {
    let good = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
    let refused = |goal: &str, job: &str| match try_run("refused", goal, &star(2, job), 1) {
        Ok(_) => panic!("{goal} with {job} is run"),
        Err(why) => why,
    };
    let cycle = "num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\nrank 1 {\nr: recv 8b from 0\n\
                 s: send 8b to 0\ns requires r\n}\n";
    let file = "file = 'job.goal'";
    for (goal, job, part) in [
        (cycle, file, "/job.goal:1: the job can never end: rank 0 r (line 3, recv 8b from 1 tag 0), which waits for rank 1 s"),
        (good.split_at(good.find("to 1").expect("a send")).0, file, "/job.goal:3: the file ends where to is expected"),
        (&good.replace("8b to", "-8b to"), file, "/job.goal:3: found -8b, expected a size in bytes"),
        (&good.replace("8b from", "9b from"), file, "rank 0 line 3 (send 8b to 1 tag 0) is never received"),
        (&good.replace("8b", "1000000000000000b"), file, "the most is 2^31: make messages smaller"),
        (good, "file = 'none.goal'", "cannot read /none.goal"),
        (good, "file = 'job.goal'\nhosts = [1]", "there is room for 1 ranks, and the job has 2: list more hosts"),
        (good, "file = 'job.goal'\nplacement = [1]", "1 ranks have a host, and the job has 2"),
        (good, "file = 'job.goal'\nplacement = [1, 2]", "found 2, expected hosts from 0 to 1"),
        (good, "file = 'job.goal'\nplacement = 'paked'", "did you mean packed?"),
        (good, "file = 'job.goal'\nstart = '30ms'", "the run ends at 20ms: start earlier"),
        (good, "kind = 'collective'\ncollective = 'all_reduce'\nbytes = '1MB'\ngroup_size = 3", "2 ranks make no whole groups of 3"),
        (good, "kind = 'collective'\ncollective = 'all_reduce'\nbytes = '1MB'\nranks = 3", "room for 2 ranks, and the job has 3"),
        (good, "kind = 'collective'\ncollective = 'barrier'\nranks_per_host = 4\nbytes = '1B'", "job[0].bytes: applies only with"),
        (
            good,
            "kind = 'collective'\ncollective = 'all_to_all'\nbytes = '1MB'\nalgorithm = 'pairwise'\nwindow = 2",
            "only algorithm = \"direct\" has one",
        ),
        (
            good,
            "kind = 'collective'\ncollective = 'all_reduce'\nbytes = '1MB'\nranks_per_host = 3\nalgorithm = 'halving_doubling'",
            "needs a power of two of ranks, and there are 6",
        ),
        (
            good,
            "kind = 'collective'\ncollective = 'all_reduce'\nbytes = '1MB'\nranks_per_host = 1024\nchunks = 64",
            "operations; the most is 33554432: use fewer ranks",
        ),
    ] {
        let why = refused(goal, job);
        assert!(why.contains(part), "{job}: {why}");
    }
}

#[test]
fn a_standstill_that_depends_on_time_ends_the_run_and_names_the_operations() {
    // Rank 1 has two receives of one tag. The one that starts first takes the first message, and rank 0 sends the second only
    // after it has heard of the first. As it happens the wrong one starts first.
    let goal = "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: recv 8b from 1\nc: send 8b to 1\nc requires b\n}\n\
                rank 1 {\nw: calc 100\nx: recv 8b from 0\nx requires w\ny: recv 8b from 0\nz: send 8b to 0\nz requires x\n}\n";
    let text = star(2, "file = 'job.goal'");
    let why = try_run("standstill", goal, &text, 1).expect_err("it stands still");
    assert!(why.starts_with("job[0] (job.goal) has come to a standstill at "), "{why}");
    for name in [
        "rank 0 b (line 4, recv 8b from 1 tag 0)",
        "rank 1 z (line 13, send 8b to 0 tag 0)",
        "rank 1 x (line 10",
    ] {
        assert!(why.contains(name), "{why}");
    }
    // A receive that waits for the other one sets it right.
    let right = goal.replace("z requires x\n", "z requires x\ny requires x\n");
    assert!(try_run("no-standstill", &right, &text, 1).is_ok());
}

#[test]
fn a_job_that_the_run_does_not_wait_for_has_no_end() {
    let goal = "num_ranks 2\nrank 0 {\nsend 1000000b to 1\n}\nrank 1 {\nrecv 1000000b from 0\n}\n";
    let text = star(2, "file = 'job.goal'\niterations = 3").replace("20ms", "100us");
    let outcome = try_run("unfinished", goal, &text, 1).expect("a run");
    assert!(floats(&outcome, "jobs", "end_us")[0].is_nan());
    assert_eq!(integers(&outcome, "jobs", "iterations"), [1]);
    assert_eq!(floats(&outcome, "iterations", "iteration_us").iter().filter(|time| time.is_nan()).count(), 1);
    assert_eq!(crate::experiment::figure(&outcome, "unfinished_jobs"), 1.0);
}

/// A job whose operations, messages and dependencies are drawn.
fn random_goal(dice: &mut Stream) -> String {
    let (ranks, many) = (2 + dice.below(5), dice.below(4));
    let mut operations: Vec<Vec<String>> = vec![Vec::new(); ranks as usize];
    for _ in 0..dice.below(40) {
        let from = dice.below(ranks);
        let to = (from + 1 + dice.below(ranks - 1)) % ranks;
        let (tag, bytes) = (dice.below(3), [0, 1, 500, 3000, 40_000][dice.below(5) as usize]);
        operations[from as usize].push(format!("send {bytes}b to {to} tag {tag}"));
        operations[to as usize].push(format!("recv {bytes}b from {from} tag {tag}"));
        let busy = dice.below(ranks);
        operations[busy as usize].push(format!("calc {} cpu {}", dice.below(3000), dice.below(2)));
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, mut operations) in operations.into_iter().enumerate() {
        dice.shuffle(&mut operations);
        writeln!(text, "rank {rank} {{").expect("text");
        for (number, operation) in operations.iter().enumerate() {
            writeln!(text, "l{number}: {operation}").expect("text");
            if number > 0 && dice.below(3) < many {
                let how = if dice.below(6) == 0 { "irequires" } else { "requires" };
                let before = [number as u64 - 1, dice.below(number as u64)][dice.below(2) as usize];
                writeln!(text, "l{number} {how} l{before}").expect("text");
            }
        }
        text.push_str("}\n");
    }
    text
}

/// Returns how many jobs are drawn: `CLEARWAY_JOB_SEEDS` sets it.
fn seeds() -> u64 {
    cases("CLEARWAY_JOB_SEEDS", 100, 300)
}

#[test]
fn random_jobs_end_or_say_why_not_and_lose_no_byte() {
    let (mut ended, mut refused, mut stood) = (0, 0, 0);
    for seed in 0..seeds() {
        let mut dice = Stream::new(seed, Entity::TrafficTable, 0);
        let goal = random_goal(&mut dice);
        let protocol = ["none", "swift", "dctcp", "roce", "nscc", "ndp"][dice.below(6) as usize];
        let placement = ["packed", "round_robin", "random"][dice.below(3) as usize];
        let local = ["", "local_rate = '400Gbps'\n"][dice.below(2) as usize];
        let iterations = 1 + dice.below(4);
        let text = format!(
            "format = 1\nname = 'random'\nseed = {seed}\nduration = '2s'\nstop_when_complete = true\n[network]\n\
             topology = 'fat_tree'\nk = 4\nrate = '100Gbps'\ndelay = '500ns'\n[switch.default]\nbuffer = '{}kB'\n\
             [transport.t]\nprotocol = '{protocol}'\n[[job]]\nfile = 'job.goal'\n{local}placement = '{placement}'\n\
             hosts = '2..12'\nranks_per_host = 2\niterations = {iterations}\n",
            [20, 1000][dice.below(2) as usize],
        );
        let all: Vec<_> = [1, 2, 3].map(|threads| try_run("dice", &goal, &text, threads)).into();
        match &all[0] {
            Ok(outcome) => {
                ended += 1;
                assert_eq!(integers(outcome, "jobs", "iterations"), [iterations], "seed {seed}\n{goal}");
                let sent = goal.lines().filter_map(|line| line.split_once("send ")?.1.split_once('b'));
                let sent: u64 = sent.map(|(bytes, _)| bytes.parse::<u64>().expect("bytes").max(1)).sum();
                let bytes = |of: &str| integers(outcome, "jobs", of)[0];
                assert_eq!(bytes("network_bytes") + bytes("local_bytes"), sent * iterations, "seed {seed}");
                // A host sends no more than 12,500 bytes a microsecond.
                let time = |of: &str| floats(outcome, "jobs", of)[0];
                let most = (time("end_us") - time("start_us")) * 12_500.0 * bytes("hosts") as f64;
                assert!(bytes("network_bytes") as f64 <= most, "seed {seed}: more than the wires carry");
            }
            Err(why) if why.contains("can never end") => refused += 1,
            Err(why) if why.contains("has come to a standstill") => stood += 1,
            Err(why) => panic!("seed {seed}: {why}\n{goal}"),
        }
        let told =
            |of: &Result<Outcome, String>| of.as_ref().map(|of| of.digest.clone()).map_err(String::clone);
        assert!(all.iter().all(|other| told(other) == told(&all[0])), "seed {seed}: threads differ\n{goal}");
    }
    assert!(
        ended * 3 > seeds() && refused * 15 > seeds() && stood > 0,
        "{ended} ended, {refused} were refused, {stood} stood still"
    );
}
