//! Swing's relays in the network: the share that drains is the share that the long link carries, in a buffer of one BDP; what
//! is beyond the paper; and what is refused.

mod experiment;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clearway_sim::record::{Outcome, Stopped};
use clearway_sim::run_on;
use clearway_sim::scenario::load_text;
use experiment::{figure, integers, texts};

/// Bytes of a frame on the wire, and of its payload.
const FRAME: u64 = 1500;
const PAYLOAD: u64 = 1462;

/// A host in the west sends all it can to one in the east, over a long link with relays, and a host beside that one may take
/// a part of its link.
#[derive(Clone)]
struct Line {
    gbps: u64,
    delay_us: u64,
    /// The share of the rate that the receiver's link has.
    drain: f64,
    ms: u64,
    /// Keys of the tables of switches.
    switches: String,
    /// Further tables.
    more: String,
    /// The relays' rate on their side of the west, in kbit/s, if it is another.
    west_kbps: Option<u64>,
    relays: bool,
}

impl Line {
    fn new(gbps: u64, delay_us: u64, drain: f64) -> Line {
        let ms = 10 * delay_us / 1000 + 10;
        let (switches, more) = (String::new(), String::new());
        Line { gbps, delay_us, drain, ms, switches, more, west_kbps: None, relays: true }
    }

    /// Bytes of 2·D·R.
    fn bdp(&self) -> u64 {
        2 * self.delay_us * self.gbps * 125
    }

    /// What may come beyond a BDP: the frames that PAUSE waits for or that have begun, at either end.
    fn frames(&self) -> u64 {
        8 * FRAME
    }

    fn network(&self) -> String {
        let mut text = String::new();
        let mut nodes = vec![("sender", "host"), ("beside", "host"), ("receiver", "host"), ("west", "dci"), ("east", "dci")];
        let west = self.west_kbps.unwrap_or(self.gbps * 1_000_000);
        let rate = self.gbps * 1_000_000;
        let slow = (rate as f64 * self.drain) as u64;
        let mut links = vec![("'sender', 'west'", west, 1), ("'beside', 'east'", rate, 1), ("'receiver', 'east'", slow, 1)];
        if self.relays {
            nodes.extend([("relay0", "relay"), ("relay1", "relay")]);
            links.extend([
                ("'west', 'relay0'", west, 1),
                ("'relay0', 'relay1'", west, self.delay_us),
                ("'relay1', 'east'", rate, 1),
            ]);
        } else {
            links.push(("'west', 'east'", rate, self.delay_us));
        }
        for (name, role) in nodes {
            writeln!(text, "[[node]]\nname = '{name}'\nrole = '{role}'").expect("a string takes all");
        }
        for (ends, kbps, delay) in links {
            writeln!(text, "[[link]]\nends = [{ends}]\nrate = '{kbps}kbps'\ndelay = '{delay}us'").expect("a string takes all");
        }
        text
    }

    fn load(&self) -> Result<clearway_sim::scenario::Loaded, String> {
        let folder = folder();
        std::fs::write(folder.join("line.toml"), self.network()).expect("the file can be written");
        let text = format!(
            "format = 1\nname = 'line'\nduration = '{}ms'\nwarmup = '{}us'\n[network]\ntopology = 'file'\nfile = 'line.toml'\n\
             mtu = '{PAYLOAD}B'\n[switch.default]\npfc = 'static'\npfc_xoff = '198kB'\nbuffer = '100MB'\n{}\n\
             [class.flood]\nlossless = true\n[class.urgent]\npriority = 1\n\
             [transport.flood]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nreach = 16384\nclass = 'flood'\n\
             [transport.urgent]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nclass = 'urgent'\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'flood'\nfrom = 0\nto = 2\n{}\n",
            self.ms,
            4 * self.delay_us,
            self.switches,
            self.more,
        );
        let loaded = load_text(&text, "scenario", &folder, &[], None);
        std::fs::remove_dir_all(&folder).expect("the folder is there");
        loaded.map_err(|problems| problems.to_string())
    }

    fn try_run(&self, threads: usize) -> Result<Outcome, Stopped> {
        let loaded = self.load().unwrap_or_else(|problems| panic!("{problems}"));
        run_on(&loaded.scenario, threads, &mut |_| ControlFlow::Continue(()))
    }

    fn run(&self) -> Outcome {
        self.try_run(1).unwrap_or_else(|stopped| panic!("{stopped:?}"))
    }
}

/// A folder that no other test has.
fn folder() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("clearway-relays-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    folder
}

/// A column of the table of pauses, for a link and the class of the flood.
fn of_link(outcome: &Outcome, link: &str, column: &str) -> u64 {
    let (links, classes) = (texts(outcome, "pauses", "link"), texts(outcome, "pauses", "class"));
    let row = links.iter().zip(classes).position(|(of, class)| of == link && class == "flood");
    integers(outcome, "pauses", column)[row.unwrap_or_else(|| panic!("no pauses of {link}"))]
}

/// The share of the long link that arrives.
fn share(outcome: &Outcome, line: &Line) -> f64 {
    figure(outcome, "goodput_gbps") * FRAME as f64 / PAYLOAD as f64 / line.gbps as f64
}

#[test]
fn the_long_link_carries_what_drains_in_a_buffer_of_one_bdp() {
    for (gbps, delay_us) in [(100, 100), (100, 400), (400, 100), (25, 400)] {
        for drain in [0.2, 0.5, 0.8, 0.95] {
            let line = Line::new(gbps, delay_us, drain);
            let outcome = line.run();
            let found = share(&outcome, &line);
            let name = format!("{gbps} Gb/s, {delay_us} us, drain {drain}");
            assert!((found / drain - 1.0).abs() < 0.01, "{name}: {found} of the rate");
            let peak = of_link(&outcome, "relay0>relay1", "account_peak_bytes");
            let standing = ((1.0 - drain) * line.bdp() as f64) as u64;
            assert!(peak <= line.bdp() + line.frames(), "{name}: {peak} bytes, a BDP is {}", line.bdp());
            assert!(peak + line.frames() >= standing, "{name}: {peak} bytes, {standing} are to stand there");
            assert_eq!(figure(&outcome, "loss_rate_whole"), 0.0);
        }
    }
}
