//! PFC over a long link, packet by packet, against equation (4) of Swing (`clearway_proto::swing::model`), both branches.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use clearway_proto::swing::model::{LongLink, ShortOfHeadroom};
use clearway_proto::units::{Bytes, Rate, Span};
use clearway_sim::run_on;
use clearway_sim::scenario::load_text;

use crate::experiment::figure;

/// The buffer of figures 5 and 12 of the paper.
const BUFFER: Bytes = Bytes::new(11_000_000);

/// Two hosts far apart, of which the one that receives has a slower link.
fn network(delay_us: u64, drain: f64) -> String {
    let mut text = String::new();
    for (name, role) in [("sender", "host"), ("receiver", "host"), ("west", "tor"), ("east", "tor")] {
        writeln!(text, "[[node]]\nname = '{name}'\nrole = '{role}'").expect("a string takes all");
    }
    for (ends, gbps, delay) in [
        ("'sender', 'west'", 100.0, 1),
        ("'west', 'east'", 100.0, delay_us),
        ("'east', 'receiver'", 100.0 * drain, 1),
    ] {
        writeln!(text, "[[link]]\nends = [{ends}]\nrate = '{gbps}Gbps'\ndelay = '{delay}us'")
            .expect("a string takes all");
    }
    text
}

/// The share of the long link that arrives with the paper's threshold, XON = XOFF = X = B - 2DR. Frames have 1500 bytes on
/// the wire.
fn simulated(delay_us: u64, drain: f64, threshold: Bytes) -> f64 {
    let folder =
        std::env::temp_dir().join(format!("clearway-long-{}-{delay_us}-{drain}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    std::fs::write(folder.join("long.toml"), network(delay_us, drain)).expect("the file can be written");
    let threshold = threshold.get();
    let text = format!(
        "format = 1\nname = 'long'\nduration = '90ms'\nwarmup = '15ms'\n[network]\ntopology = 'file'\nfile = 'long.toml'\n\
         mtu = '1462B'\n[switch.default]\npfc = 'static'\npfc_xoff = '{threshold}B'\npfc_xon = '{threshold}B'\n\
         [transport.flood]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nreach = 16384\n[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n"
    );
    let loaded = load_text(&text, "scenario", &folder, &[], None);
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let outcome = run_on(&loaded.scenario, 1, &mut |_| ControlFlow::Continue(())).expect("no drop");
    figure(&outcome, "goodput_gbps") * 1500.0 / 1462.0 / 100.0
}

#[test]
fn pfc_carries_what_equation_4_says() {
    for (delay_us, drain) in [
        (400, 0.2),
        (400, 0.5),
        (400, 0.8),
        (400, 0.95),
        (300, 0.5),
        (300, 0.8),
        (430, 0.5),
        (200, 0.5),
        (100, 0.95),
    ] {
        let link = LongLink { rate: Rate::from_gbps(100), delay: Span::from_us(delay_us) };
        let expected = link.pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
        let found = simulated(delay_us, drain, link.paper_threshold(BUFFER));
        let error = found / expected - 1.0;
        assert!(error.abs() < 0.01, "{delay_us} us, drain {drain}: {found} of the rate, not {expected}");
    }
}
