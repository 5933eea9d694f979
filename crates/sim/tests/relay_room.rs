//! Random lossless networks with relays, inside switches and as boxes, that have exactly the room that
//! `clearway_proto::swing::holding` derives: none drops a frame, and none ever needs more.
//!
//! `CLEARWAY_RELAY_SEEDS` sets how many networks there are.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::plan::inside_buffer;
use clearway_proto::units::{Rate, Span};
use clearway_sim::check::{load_text, Loaded};
use clearway_sim::run_on;

use crate::cases::cases;
use crate::dice::Dice;
use crate::experiment::{integers, texts, Outcome};

fn seeds() -> u64 {
    cases("CLEARWAY_RELAY_SEEDS", 20, 100)
}

/// Where relays are, and what bounds what waits in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Inside switches, with their defaults.
    Inside,
    /// Boxes with the lowest `relay_safety`, and a buffer of as much.
    SafeBox,
}

/// A network as text, and its fibre.
struct Network {
    kind: Kind,
    text: String,
    file: String,
    fibre: (Rate, Span),
    response: Span,
}

/// Two datacenters, or three in a line, each with hosts whose links have rates of their own.
fn draw_file(dice: &mut Dice, kind: Kind, gbps: u64, ns: u64) -> (String, Vec<u64>) {
    let datacenters = dice.between(2, 3);
    let (mut nodes, mut links, mut sites) = (String::new(), String::new(), Vec::new());
    let mut node = |name: String, role: &str| {
        writeln!(nodes, "[[node]]\nname = '{name}'\nrole = '{role}'").expect("a string takes all");
    };
    let mut link = |from: String, to: String, mbps: u64, ns: u64| {
        writeln!(links, "[[link]]\nends = ['{from}', '{to}']\nrate = '{mbps}Mbps'\ndelay = '{ns}ns'")
            .expect("a string takes all");
    };
    for at in 0..datacenters {
        for _ in 0..dice.between(2, 4) {
            node(format!("h{}", sites.len()), "host");
            let mbps = gbps * dice.pick(&[1000, 1000, 500, 250, 970]);
            link(format!("h{}", sites.len()), format!("dci{at}"), mbps, dice.pick(&[50, 1000]));
            sites.push(at);
        }
        node(format!("dci{at}"), "dci");
        if at == 0 {
            continue;
        }
        let (west, east) = (format!("dci{}", at - 1), format!("dci{at}"));
        if kind == Kind::Inside {
            link(west, east, 1000 * gbps, ns);
            continue;
        }
        let relays = [2 * at - 2, 2 * at - 1].map(|relay| format!("relay{relay}"));
        for relay in &relays {
            node(relay.clone(), "relay");
        }
        link(west, relays[0].clone(), 1000 * gbps, 100);
        link(relays[0].clone(), relays[1].clone(), 1000 * gbps, ns);
        link(relays[1].clone(), east, 1000 * gbps, 100);
    }
    (nodes + &links, sites)
}

/// Returns what is drawn from a seed.
fn draw(seed: u64) -> Network {
    let dice = &mut Dice::new(seed ^ 0x7E1A);
    let kind = if dice.percent(60) { Kind::Inside } else { Kind::SafeBox };
    let gbps = dice.pick(&[10, 40, 100, 400]);
    let mtu: u64 = dice.pick(&[256, 1000, 1462, 4096, 9000]);
    // What the fibre holds one way, in frames.
    let frames = dice.pick(&[2, 3, 10, 30, 60]);
    let ns = (frames * (mtu + 102) * 8).div_ceil(gbps);
    let (file, sites) = draw_file(dice, kind, gbps, ns);
    let response = dice.pick(&[0, 0, 100, 2000]);
    let xoff = dice.pick(&[4, 10, 40]) * (mtu + 102);
    let mut text = format!(
        "format = 1\nname = 'room {seed}'\nseed = {seed}\nduration = '2s'\nstop_when_complete = true\n[network]\n\
         topology = 'file'\nfile = 'topology.toml'\nmtu = '{mtu}B'\n[switch.default]\nbuffer = '100MB'\npfc = 'static'\n\
         pfc_xoff = '{xoff}B'\npfc_xon = '{}B'\n",
        xoff - 2 * (mtu + 102)
    );
    let role = if kind == Kind::Inside { "long" } else { "relay" };
    writeln!(text, "[switch.{role}]\npfc_response = '{response}ns'").expect("a string takes all");
    if kind == Kind::Inside {
        text.push_str("pfc = 'relay'\n");
    }
    draw_traffic(dice, (mtu, frames, ns), &sites, &mut text);
    let fibre = (Rate::from_gbps(gbps), Span::from_ns(ns));
    Network { kind, text, file, fibre, response: Span::from_ns(response) }
}

/// Floods over the fibre in each class, which what has precedence stops and lets go at the receivers; some of it goes back.
fn draw_traffic(dice: &mut Dice, (mtu, frames, ns): (u64, u64, u64), sites: &[u64], text: &mut String) {
    let classes = dice.between(1, 3);
    for class in 0..classes {
        writeln!(
            text,
            "[class.c{class}]\nlossless = true\npriority = 1\n[transport.t{class}]\nprotocol = 'none'\nrto = '100s'\n\
             reach = 16384\nclass = 'c{class}'"
        )
        .expect("a string takes all");
    }
    text.push_str("[class.urgent]\n[transport.urgent]\nprotocol = 'none'\nrto = '100s'\nreach = 16384\nclass = 'urgent'\n");
    let places = |wanted: &dyn Fn(u64) -> bool| {
        (0..sites.len()).filter(|&host| wanted(sites[host])).collect::<Vec<_>>()
    };
    for class in 0..classes {
        let (west, east) = (places(&|at| at == 0), places(&|at| at > 0));
        for _ in 0..dice.between(1, 3) {
            let (mut from, mut to) = (dice.pick(&west), dice.pick(&east));
            if dice.percent(25) {
                (from, to) = (to, from);
            }
            // Several round trips, in frames of one size or of any.
            let packets = frames * dice.between(4, 16);
            let bytes = if dice.percent(80) { packets * mtu + dice.below(mtu) } else { dice.between(1, mtu) };
            let flows = if bytes > mtu { 1 } else { packets };
            for _ in 0..flows.min(60) {
                writeln!(
                    text,
                    "[[traffic]]\ntransport = 't{class}'\npattern = 'incast'\nfrom = {from}\nto = {to}\nbytes = '{bytes}B'\n\
                     start = '0ns..{}ns'",
                    1 + dice.below(2000)
                )
                .expect("a string takes all");
            }
            // Its receiver's link is taken by others of its site, in bursts.
            let beside: Vec<usize> =
                places(&|at| at == sites[to]).into_iter().filter(|&host| host != to).collect();
            // A round trip of the fibre, in nanoseconds.
            let round_trip = 2 * ns;
            for burst in 0..dice.below(6) {
                let start = dice.below(3000 + 3 * round_trip);
                let length = if burst == 0 { 6 * frames } else { dice.between(1, 4 * frames) };
                writeln!(
                    text,
                    "[[traffic]]\ntransport = 'urgent'\npattern = 'incast'\nfrom = {}\nto = {to}\nbytes = '{}B'\nstart = \
                     '{start}ns'",
                    dice.pick(&beside),
                    mtu * length
                )
                .expect("a string takes all");
            }
        }
    }
}

/// The limit for which the far end of a fibre is held, and the room that is enough.
fn needed(network: &Network, loaded: &Loaded) -> u64 {
    let (rate, delay) = network.fibre;
    let fibre = LosslessLink {
        response: network.response,
        priorities: loaded.scenario.lossless_classes() as u8,
        ..LosslessLink::new(rate, delay, loaded.scenario.longest_frame())
    };
    inside_buffer(&fibre).get()
}

fn load(text: &str, folder: &std::path::Path) -> Loaded {
    load_text(text, "scenario", folder, &[], None).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Runs what a seed draws with the room that is derived. Returns that room, and the outcomes on each of these numbers of threads.
fn run_seed(seed: u64, threads: &[usize]) -> (Network, u64, Vec<Outcome>) {
    let mut network = draw(seed);
    let folder = std::env::temp_dir().join(format!("clearway-room-{}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    std::fs::write(folder.join("topology.toml"), &network.file).expect("the file can be written");
    let mut loaded = load(&network.text, &folder);
    let room = needed(&network, &loaded);
    // Inside, the default is to be that.
    if network.kind == Kind::SafeBox {
        let keys = format!("[switch.relay]\nrelay_buffer = '{room}B'\nrelay_safety = '{room}B'\n");
        network.text = network.text.replace("[switch.relay]\n", &keys);
        loaded = load(&network.text, &folder);
    }
    let run = |&threads| {
        run_on(&loaded.scenario, threads, &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|why| panic!("seed {seed}: {why:?}\n{}{}", network.text, network.file))
    };
    let outcomes = threads.iter().map(run).collect();
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    (network, room, outcomes)
}

/// The most that ever waited at the end of a fibre, of a class.
fn peak(outcome: &Outcome, kind: Kind) -> u64 {
    let between = |link: &str| match kind {
        Kind::Inside => link.matches("dci").count() == 2,
        Kind::SafeBox => link.matches("relay").count() == 2,
    };
    let links = texts(outcome, "pauses", "link").into_iter();
    let peaks = links.zip(integers(outcome, "pauses", "account_peak_bytes"));
    peaks.filter(|(link, _)| between(link)).map(|(_, peak)| *peak).max().expect("a fibre")
}

#[test]
fn random_networks_drop_nothing_in_the_room_that_is_derived() {
    let mut nearness: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let mut held = 0;
    for seed in 1..=seeds() {
        let (network, room, outcomes) = run_seed(seed, if seed % 8 == 0 { &[1, 3] } else { &[1] });
        let shown = || format!("seed {seed}\n{}{}", network.text, network.file);
        assert!(outcomes.iter().all(|other| other.digest == outcomes[0].digest), "threads: {}", shown());
        let peak = peak(&outcomes[0], network.kind);
        assert!(peak <= room, "{peak} bytes of {room}: {}", shown());
        let (sizes, whole) =
            (integers(&outcomes[0], "flows", "bytes"), integers(&outcomes[0], "flows", "delivered_bytes"));
        assert!(sizes == whole, "a flow stands still: {}", shown());
        nearness[network.kind as usize].push(peak as f64 / room as f64);
        held += u64::from(peak as f64 > 0.9 * room as f64);
    }
    for (kind, near) in [Kind::Inside, Kind::SafeBox].into_iter().zip(&mut nearness) {
        near.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| near[((near.len() - 1) as f64 * share) as usize];
        println!(
            "{kind:?}: {} networks; the most that waited, of the room: median {:.3}, a tenth above {:.3}, most {:.4}",
            near.len(),
            at(0.5),
            at(0.9),
            at(1.0)
        );
    }
    assert!(6 * held > seeds(), "too few networks come near: {held}");
}
