//! Random networks with lossless classes, derived headroom and any thresholds: nothing is dropped, every flow arrives whole
//! with each packet sent once, and where flows stand still for good a deadlock is named. The same on 1, 2 and 3 threads;
//! the audit at the end of each run finds every frame, byte and PAUSE.
//!
//! `CLEARWAY_LOSSLESS_SEEDS` sets how many networks there are.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::check::load_text;
use clearway_sim::run_on;

use crate::cases::setting;
use crate::dice::Dice;
use crate::experiment::{self, figure, integers, texts, Outcome};

fn seeds() -> u64 {
    setting("CLEARWAY_LOSSLESS_SEEDS", 50)
}

/// A network as text.
struct Network {
    text: String,
    /// The topology file beside it; empty where there is none.
    file: String,
    /// Links may wait for each other in a circle.
    has_cycles: bool,
}

/// Switches joined at random, with one host or two each; every link has a rate and a delay of its own.
fn listed(dice: &mut Dice, rate: u64) -> (String, u32) {
    let switches = dice.between(2, 5);
    let (mut nodes, mut links, mut hosts) = (String::new(), Vec::new(), 0);
    for switch in 0..switches {
        let role = dice.pick(&["tor", "spine"]);
        writeln!(nodes, "[[node]]\nname = 's{switch}'\nrole = '{role}'").expect("a string takes all");
        for _ in 0..dice.between(1, 2) {
            writeln!(nodes, "[[node]]\nname = 'h{hosts}'\nrole = 'host'").expect("a string takes all");
            links.push((format!("h{hosts}"), switch));
            hosts += 1;
        }
        if switch > 0 {
            let other = dice.below(switch);
            links.push((format!("s{other}"), switch));
            if dice.percent(60) && switch > 1 {
                links.push((format!("s{}", (other + 1) % switch), switch));
            }
        }
    }
    for (from, to) in links {
        let rate = rate / dice.pick(&[1, 1, 2, 3]);
        let delay = dice.pick(&[100, 1000, 3000]);
        writeln!(nodes, "[[link]]\nends = ['{from}', 's{to}']\nrate = '{rate}bps'\ndelay = '{delay}ns'")
            .expect("a string takes all");
    }
    (nodes, hosts)
}

/// Five switches in a ring with a host each, and what has every host send over two links of the ring in one direction.
fn ring(dice: &mut Dice, rate: u64, bytes: u64) -> (String, String) {
    let (mut nodes, mut links, mut traffic) = (String::new(), String::new(), String::new());
    let delay = dice.pick(&[100, 1000]);
    for at in 0..5 {
        write!(nodes, "[[node]]\nname = 'h{at}'\nrole = 'host'\n[[node]]\nname = 's{at}'\nrole = 'tor'\n")
            .expect("a string takes all");
        for other in [format!("h{at}"), format!("s{}", (at + 1) % 5)] {
            writeln!(links, "[[link]]\nends = ['s{at}', '{other}']\nrate = '{rate}bps'\ndelay = '{delay}ns'")
                .expect("a string takes all");
        }
        let to = (at + 2) % 5;
        writeln!(
            traffic,
            "[[traffic]]\ntransport = 't0'\npattern = 'incast'\nfrom = {at}\nto = {to}\nbytes = '{bytes}B'"
        )
        .expect("a string takes all");
    }
    (nodes + &links, traffic)
}

/// The keys of flow control of a table of switches.
fn flow_control(dice: &mut Dice, frame: u64, text: &mut String) {
    if dice.percent(50) {
        let xoff = dice.pick(&[0, 1, frame / 2, frame, 3 * frame, 20 * frame]);
        let xon = if dice.percent(50) { dice.below(xoff + 1) } else { xoff };
        write!(text, "pfc = 'static'\npfc_xoff = '{xoff}B'\npfc_xon = '{xon}B'\n")
    } else {
        let alpha = dice.pick(&[0.01, 0.25, 1.0, 100.0]);
        let hysteresis = dice.pick(&[0, 1, frame, 3000]);
        write!(
            text,
            "sharing = 'shared'\npfc = 'dynamic'\npfc_alpha = {alpha:?}\npfc_hysteresis = '{hysteresis}B'\n"
        )
    }
    .expect("a string takes all");
    writeln!(text, "pfc_response = '{}ns'", dice.pick(&[0, 0, 100, 2000])).expect("a string takes all");
    if dice.percent(30) {
        writeln!(text, "pfc_quanta = 3000").expect("a string takes all");
    }
}

/// Returns what is drawn from a seed.
fn draw(seed: u64) -> Network {
    let dice = &mut Dice::new(seed);
    let gbps = dice.pick(&[10, 40, 100, 400]);
    let mtu = dice.pick(&[256, 1000, 1500, 4096, 9000]);
    let delay = dice.pick(&["50ns", "1us", "7us", "20us"]);
    let shape = dice.below(7);
    let mut around = String::new();
    let (file, of_file) = match shape {
        0 => listed(dice, gbps * 1_000_000_000),
        6 => {
            let (file, traffic) = ring(dice, gbps * 1_000_000_000, 60 * mtu);
            around = traffic;
            (file, 5)
        }
        _ => (String::new(), 0),
    };
    let (topology, hosts) = match shape {
        0 | 6 => ("topology = 'file'\nfile = 'topology.toml'".to_string(), of_file),
        1 => {
            let hosts = dice.between(3, 9);
            (format!("topology = 'star'\nhosts = {hosts}"), hosts as u32)
        }
        2 => (format!("topology = 'dumbbell'\nleft = 3\nright = 2\nbottleneck = '{}Gbps'", gbps / 2), 5),
        3 => ("topology = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 3".to_string(), 6),
        4 => ("topology = 'fat_tree'\nk = 4".to_string(), 16),
        _ => {
            let km = dice.pick(&[0.5, 4.0, 10.0]);
            (format!("topology = 'datacenters'\nk = 2\nlong_km = {km:?}\nlong_rate = '{}Gbps'", 2 * gbps), 4)
        }
    };
    // What stands still for good goes on pausing until the end.
    let has_cycles = shape == 0 || shape == 6;
    let ms = if has_cycles { 50 } else { 1000 };
    let mut text = format!(
        "format = 1\nname = 'lossless {seed}'\nseed = {seed}\nduration = '{ms}ms'\nstop_when_complete = true\n[network]\n{topology}\n\
         rate = '{gbps}Gbps'\ndelay = '{delay}'\nmtu = '{mtu}B'\n[switch.default]\nbuffer = '{}B'\n",
        dice.pick(&[3, 30, 3000]) * (mtu + 102)
    );
    flow_control(dice, mtu + 102, &mut text);
    if shape == 5 && dice.percent(50) {
        text.push_str("[switch.long]\n");
        flow_control(dice, mtu + 102, &mut text);
    }
    draw_traffic(dice, (mtu, hosts.into()), &mut text);
    text.push_str(&around);
    Network { text, file, has_cycles }
}

/// Draws classes, transports and flows of some tens of packets between `hosts` hosts.
fn draw_traffic(dice: &mut Dice, (mtu, hosts): (u64, u64), text: &mut String) {
    let classes = dice.between(0, 2);
    for class in 0..classes {
        writeln!(text, "[class.c{class}]\nlossless = true\npriority = {}", dice.below(2))
            .expect("a string takes all");
    }
    let lossy = classes > 0 && dice.percent(50);
    if lossy {
        writeln!(text, "[class.lossy]\npriority = {}", dice.below(2)).expect("a string takes all");
        text.push_str("[transport.rival]\nprotocol = 'dctcp'\nmin_rto = '1ms'\nclass = 'lossy'\n");
    }
    for transport in 0..classes.max(1) {
        let protocol =
            dice.pick(&["protocol = 'none'", "protocol = 'roce'", "protocol = 'roce'\nwindow = 7"]);
        writeln!(text, "[transport.t{transport}]\n{protocol}\nrto = '100s'").expect("a string takes all");
        if classes > 0 {
            let acks = dice.below(classes);
            writeln!(text, "class = 'c{transport}'\nack_class = 'c{acks}'").expect("a string takes all");
        }
    }
    // Some tens of packets a flow: an incast, and perhaps everybody to somebody.
    for transport in 0..classes.max(1) {
        let bytes = mtu * dice.between(1, 40) + dice.below(mtu);
        let mut traffic = |pattern: String| {
            writeln!(
                text,
                "[[traffic]]\ntransport = 't{transport}'\nbytes = '{bytes}B'\nstart = '0us..5us'\n{pattern}"
            )
            .expect("a string takes all");
        };
        traffic(format!("pattern = 'incast'\nto = {}", dice.below(hosts)));
        if dice.percent(50) {
            traffic("pattern = 'permutation'\nflows_per_pair = 2".into());
        }
    }
    if lossy {
        writeln!(text, "[[traffic]]\ntransport = 'rival'\npattern = 'permutation'\nbytes = '{}B'", 20 * mtu)
            .expect("a string takes all");
    }
}

fn run(network: &Network, folder: &Path, threads: usize) -> Outcome {
    let loaded = load_text(&network.text, "scenario", folder, &[], None);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}\n{}{}", network.text, network.file));
    run_on(&loaded.scenario, threads, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|why| panic!("{why:?}\n{}{}", network.text, network.file))
}

/// Flows of lossless classes that are not complete. Each of their packets was sent once.
fn incomplete(outcome: &Outcome) -> usize {
    let [sizes, delivered, again] =
        ["bytes", "delivered_bytes", "retransmissions"].map(|column| integers(outcome, "flows", column));
    let transports = texts(outcome, "flows", "transport");
    let lossless = (0..sizes.len()).filter(|&flow| transports[flow] != "rival");
    lossless
        .filter(|&flow| {
            assert_eq!(again[flow], 0, "flow {flow} has sent a packet twice, though none was lost");
            delivered[flow] < sizes[flow]
        })
        .count()
}

/// Drops of lossless classes.
fn drops(outcome: &Outcome) -> u64 {
    if !outcome.tables.iter().any(|table| table.name == "link_classes") {
        return figure(outcome, "drops") as u64;
    }
    let classes = texts(outcome, "link_classes", "class").into_iter();
    let drops = classes.zip(integers(outcome, "link_classes", "drops"));
    drops.filter(|(class, _)| *class != "lossy").map(|(_, drops)| drops).sum()
}

/// Runs what a seed draws, on each of these numbers of threads.
fn run_seed(seed: u64, threads: &[usize]) -> (Network, Vec<Outcome>) {
    let network = draw(seed);
    let outcomes = run_network(&network, seed, threads);
    (network, outcomes)
}

/// Runs a network on each of these numbers of threads.
fn run_network(network: &Network, seed: u64, threads: &[usize]) -> Vec<Outcome> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder =
        std::env::temp_dir().join(format!("clearway-lossless-{}-{seed}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    std::fs::write(folder.join("topology.toml"), &network.file).expect("the file can be written");
    let outcomes = threads.iter().map(|&threads| run(network, &folder, threads)).collect();
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    outcomes
}

/// In the ring of this seed thresholds are shares of what is free. Some links stay paused although that has grown since, as XON
/// is looked at when something of theirs leaves, and all of it waits for the others.
#[test]
fn a_deadlock_is_named_though_thresholds_have_risen() {
    let (_, outcomes) = run_seed(65, &[1]);
    assert!(incomplete(&outcomes[0]) > 0 && figure(&outcomes[0], "deadlocked_links") > 0.0);
}

/// Networks that may drop, as their headroom is a frame or two: what comes beyond is dropped, and never kept. The audit
/// watches each account through the run.
#[test]
fn headroom_that_is_too_little_is_used_up_and_not_exceeded() {
    let (mut dropped, mut used_up) = (0, 0);
    for seed in 1..=10 {
        let mut network = draw(seed);
        let room = 1 + 997 * seed;
        network.text = network
            .text
            .replace("stop_when_complete = true", "stop_when_complete = true\nallow_loss = true")
            .replace("duration = '1000ms'", "duration = '10ms'")
            .replace("pfc_response", &format!("pfc_headroom = '{room}B'\npfc_response"));
        let outcome = run_network(&network, seed, &[1]).remove(0);
        let most = integers(&outcome, "pauses", "headroom_peak_bytes").iter().max().copied();
        assert!(most <= Some(room), "{most:?} bytes of {room}: {}", network.text);
        dropped += drops(&outcome);
        used_up += u64::from(most.is_some_and(|most| 2 * most > room));
    }
    assert!(dropped > 100 && used_up > 3, "{dropped} frames dropped, {used_up} networks have used it");
}

#[test]
fn lossless_networks_lose_nothing_and_stand_still_only_in_deadlocks_that_are_named() {
    let (mut deadlocks, mut pauses, mut hops) = (0, 0, 0);
    for seed in 1..=seeds() {
        let (network, outcomes) = run_seed(seed, &[1, 2, 3]);
        let outcome = &outcomes[0];
        let shown = || format!("seed {seed}\n{}{}", network.text, network.file);
        assert!(outcomes.iter().all(|other| other.digest == outcome.digest), "threads: {}", shown());
        assert_eq!(drops(outcome), 0, "{}", shown());
        let (left, deadlocked) = (incomplete(outcome), figure(outcome, "deadlocked_links") > 0.0);
        assert!(left == 0 || deadlocked, "{left} flows stand still: {}", shown());
        assert!(!deadlocked || network.has_cycles, "a deadlock without a cycle: {}", shown());
        deadlocks += u64::from(deadlocked);
        pauses += integers(outcome, "pauses", "pauses").iter().sum::<u64>();
        hops += outcome.packet_hops;
    }
    println!(
        "{} lossless networks: {pauses} pauses in {hops} packet-hops, {deadlocks} networks with a deadlock",
        seeds()
    );
    assert!(pauses > 100 * seeds() && deadlocks > 0, "too little is paused: {pauses}, {deadlocks}");
}

/// On one thread a window has thousands of events here, of whose ports is asked for ahead of their turn; on seven it has fewer.
#[test]
fn a_large_lossless_network_is_the_same_on_seven_threads() {
    let text = "format = 1\nname = 'large'\nduration = '10ms'\nstop_when_complete = true\n\
        [network]\ntopology = 'fat_tree'\nk = 16\nrate = '100Gbps'\ndelay = '1us'\n\
        [switch.default]\nbuffer = '2MB'\npfc = 'static'\npfc_xoff = '40kB'\npfc_xon = '32kB'\n\
        [transport.roce]\nprotocol = 'roce'\n\
        [[traffic]]\npattern = 'permutation'\nbytes = '60kB'\n";
    let alone = experiment::run_on(text, None, 1);
    assert!(integers(&alone, "pauses", "pauses").iter().sum::<u64>() > 100, "too little is paused");
    assert_eq!(alone.digest, experiment::run_on(text, None, 7).digest);
}
