//! Random networks with random faults that they route around: links, switches and hosts that die and live again, slow, noisy and lossy
//! links, under every kind of transport. The same on 1, 2 and 3 threads; the audit at the end of each run finds every frame, byte and
//! PAUSE, and every frame that the links' counters say is lost has a fault that lost it.
//!
//! `CLEARWAY_ROUTING_SEEDS` sets how many networks there are.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::check::load_text;
use clearway_sim::record::Outcome;
use clearway_sim::run_on;

use crate::cases::cases;
use crate::dice::Dice;
use crate::experiment::{figure, integers};

fn seeds() -> u64 {
    cases("CLEARWAY_ROUTING_SEEDS", 60, 300)
}

/// A network's table, its links, its nodes and its hosts.
struct Network {
    table: String,
    cables: Vec<(String, String)>,
    switches: Vec<String>,
    hosts: u64,
}

fn leaf_spine(dice: &mut Dice) -> Network {
    let (leaves, spines, each) = (dice.between(2, 4), dice.between(1, 4), dice.between(1, 3));
    let hosts = leaves * each;
    let mut cables: Vec<_> = (0..hosts).map(|h| (format!("h{h}"), format!("tor{}", h / each))).collect();
    for leaf in 0..leaves {
        cables.extend((0..spines).map(|spine| (format!("tor{leaf}"), format!("spine{spine}"))));
    }
    let table =
        format!("topology = 'leaf_spine'\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {each}\n");
    let switches = (0..leaves).map(|i| format!("tor{i}")).chain((0..spines).map(|i| format!("spine{i}")));
    Network { table, cables, switches: switches.collect(), hosts }
}

fn fat_tree() -> Network {
    let mut cables: Vec<_> = (0..16).map(|h| (format!("h{h}"), format!("tor{}", h / 2))).collect();
    for pod in 0..4 {
        for (tor, agg) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            cables.push((format!("tor{}", 2 * pod + tor), format!("agg{}", 2 * pod + agg)));
        }
        for agg in 0..2 {
            cables.extend(
                (0..2).map(|core| (format!("agg{}", 2 * pod + agg), format!("spine{}", 2 * agg + core))),
            );
        }
    }
    let of = |name: &str, count: u32| (0..count).map(|i| format!("{name}{i}")).collect::<Vec<_>>();
    let switches = [of("tor", 8), of("agg", 8), of("spine", 4)].concat();
    Network { table: "topology = 'fat_tree'\nk = 4\n".into(), cables, switches, hosts: 16 }
}

/// A fault, as the file has it.
fn fault(dice: &mut Dice, network: &Network) -> String {
    let (a, b) = dice.pick(&network.cables);
    let join = dice.pick(&["-", "-", ">"]);
    let link = if dice.percent(50) { format!("{a}{join}{b}") } else { format!("{b}{join}{a}") };
    let what = match dice.below(10) {
        0..=3 => format!("kind = 'down'\nlink = '{link}'"),
        4 | 5 => format!("kind = 'dead'\nnode = '{}'", dice.pick(&network.switches)),
        6 => format!("kind = 'dead'\nnode = {}", dice.below(network.hosts)),
        7 => format!("kind = 'slow'\nlink = '{link}'\nrate = '{}Mbps'", dice.pick(&[100, 1000, 2500])),
        8 => format!("kind = 'loss'\nlink = '{link}'\nprobability = 0.{}", dice.between(1, 9)),
        _ => format!("kind = 'corruption'\nlink = '{link}'\nbit_error_rate = 1e-{}", dice.between(4, 7)),
    };
    let at = dice.pick(&[0, 100, 250, 400]) + dice.below(3);
    let until = at + dice.pick(&[1, 20, 150, 400]);
    let until = if dice.percent(80) { format!("until = '{until}us'\n") } else { String::new() };
    format!("[[fault]]\n{what}\nat = '{at}us'\n{until}")
}

fn scenario(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let network = if dice.percent(70) { leaf_spine(&mut dice) } else { fat_tree() };
    let lossless = dice.percent(30);
    let slots = !lossless && dice.percent(10);
    let mut text = format!(
        "format = 1\nname = 'random faults'\nseed = {seed}\nduration = '1200us'\n{}[network]\n{}rate = '10Gbps'\n\
         delay = '{}ns'\nmtu = '1000B'\n",
        if lossless { "allow_loss = true\n" } else { "" },
        network.table,
        dice.pick(&[200, 1000, 3000])
    );
    if lossless {
        let keys = dice.pick(&[
            "pfc = 'static'\npfc_xoff = '20kB'\n",
            "sharing = 'shared'\npfc = 'dynamic'\npfc_alpha = 0.5\n",
        ]);
        write!(text, "[switch.default]\nbuffer = '1MB'\n{keys}").expect("a string takes all");
    } else if dice.percent(50) {
        let sharing = dice.pick(&["", "sharing = 'shared'\n", "ecn = 'step'\necn_threshold = '20kB'\n"]);
        write!(text, "[switch.default]\nbuffer = '{}kB'\n{sharing}", dice.pick(&[30, 100, 1000]))
            .expect("a string takes all");
    }
    if dice.percent(25) {
        text += "[host.default]\nmodel = 'snap'\n";
    }
    let spray = dice.pick(&["", "", "spray = 'packet'\n"]);
    let transport = match dice.below(5) {
        _ if slots => "protocol = 'fastpass'".to_string(),
        0 => format!("protocol = 'dctcp'\nmin_rto = '200us'\n{spray}"),
        1 => format!("protocol = 'none'\nwindow = {}\nrto = '150us'\n{spray}", dice.pick(&[4, 64])),
        2 => format!("protocol = 'hpcc'\n{spray}"),
        _ => format!("protocol = 'swift'\nmin_rto = '200us'\n{spray}"),
    };
    write!(text, "[transport.t]\n{transport}\n").expect("a string takes all");
    if slots {
        let at = dice.pick(&["tor0", "spine0"]);
        write!(text, "[arbiter]\nat = '{at}'\n").expect("a string takes all");
    }
    let sizes = dice.pick(&["", "bytes = '100kB'\n", "bytes = '1MB'\n"]);
    write!(text, "[[traffic]]\npattern = 'permutation'\n{sizes}").expect("a string takes all");
    if dice.percent(50) {
        write!(text, "[[traffic]]\npattern = 'incast'\nto = 0\nbytes = '30kB'\nstart = '50us'\n")
            .expect("a string takes all");
    }
    if dice.percent(20) && network.hosts > 3 && !slots {
        text += "[[job]]\nkind = 'collective'\ncollective = 'all_reduce'\nbytes = '40kB'\niterations = 2\nhosts = '0..4'\n";
    }
    if dice.percent(30) {
        let to = dice.pick(&network.switches);
        let from = dice.below(network.hosts);
        write!(text, "[[probe]]\nfrom = {from}\nto = '{to}'\ninterval = '17us'\n")
            .expect("a string takes all");
    }
    let detect = dice.pick(&[0, 5, 50]);
    let converge = detect + dice.pick(&[0, 20, 100]);
    let rehash = dice.pick(&["minimal", "modulo"]);
    write!(text, "[routing]\ndetect = '{detect}us'\nconverge = '{converge}us'\nrehash = '{rehash}'\n")
        .expect("a string takes all");
    for _ in 0..dice.between(1, 4) {
        text += &fault(&mut dice, &network);
    }
    text
}

/// What becomes of a scenario: its outcome, or what ended it.
fn ending(text: &str, threads: usize) -> Result<Outcome, String> {
    let loaded = load_text(text, "scenario", Path::new("."), &[], None);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let outcome = run_on(&loaded.scenario, threads, &mut |_| ControlFlow::Continue(()));
    outcome.map_err(|stopped| format!("{stopped:?}"))
}

#[test]
fn random_faults_are_routed_around_alike_on_any_number_of_threads() {
    let (mut stranded, mut losing, mut recovered) = (0, 0, 0);
    for seed in 1..=seeds() {
        let text = scenario(seed);
        println!("seed {seed}");
        let alone = ending(&text, 1);
        for threads in [2, 3] {
            let together = ending(&text, threads);
            let show = |ending: &Result<Outcome, String>| match ending {
                Ok(outcome) => format!("{} {:?}", outcome.digest, outcome.tables),
                Err(why) => why.clone(),
            };
            assert_eq!(show(&alone), show(&together), "seed {seed} on {threads} threads\n{text}");
        }
        let Ok(outcome) = alone else {
            assert!(text.contains("[[job]]"), "only a job can be stranded here: seed {seed}\n{text}");
            stranded += 1;
            continue;
        };
        let of_faults: u64 = integers(&outcome, "faults", "lost_frames").iter().sum();
        // No warm-up: what links lost in the whole run is among what faults have cost.
        assert!(of_faults as f64 >= figure(&outcome, "fault_losses"), "seed {seed}\n{text}");
        losing += u64::from(of_faults > 0);
        recovered += u64::from(figure(&outcome, "fault_recovery_max_us") > 0.0);
    }
    println!("{stranded} stranded, {losing} lost frames, {recovered} fell below 90 % and came back");
    assert!(seeds() < 300 || (losing > 200 && recovered > 20 && stranded > 2));
}
