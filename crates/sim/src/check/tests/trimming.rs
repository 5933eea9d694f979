//! `overflow`: what becomes of packets that find a port full, and what does not go with cutting them.

use std::fmt::Write;

use clearway_proto::units::Bytes;

use super::fixture::{good, read, said, with, SMALL};
use crate::model::{Buffer, Trimming};

fn switch(keys: &str) -> String {
    format!("{SMALL}[switch.default]\n{keys}\n")
}

#[test]
fn defaults_are_those_of_htsim() {
    let Buffer::Trimming(trimming) =
        good(&switch("buffer = \"100kB\"\noverflow = \"trim\"")).switches.tor.buffer
    else {
        panic!("a port that cuts packets");
    };
    let (room, size, header_room) = (Bytes::new(100_000), Bytes::new(64), Bytes::new(200_000));
    assert_eq!(trimming, Trimming { room, size, header_room, tail: 0.5, headers_first: None });
    let Buffer::PerPort(_) = good(&switch("overflow = \"drop\"")).switches.tor.buffer else {
        panic!("a port that drops packets");
    };
}

#[test]
fn bad_values_are_answered() {
    let said = |keys| said(&switch(keys));
    for (keys, answer) in [
        ("overflow = \"cut\"", "found \"cut\", expected one of drop, trim"),
        (
            "trim_size = \"64B\"",
            "switch.default.trim_size: applies only with overflow = \"trim\"; here overflow = \"drop\"",
        ),
        ("overflow = \"trim\"\ntrim_tail = 1.5", "trim_tail"),
        ("overflow = \"trim\"\ntrim_size = \"0B\"", "trim_size"),
        ("overflow = \"trim\"\ntrim_headers_first = 0", "trim_headers_first"),
        (
            "overflow = \"trim\"\nsharing = \"shared\"",
            "switch.default.overflow: applies only with sharing = \"port\"",
        ),
        (
            "overflow = \"trim\"\npfc = \"static\"\npfc_xoff = \"20kB\"",
            "switch.default.pfc: applies only with",
        ),
    ] {
        assert!(said(keys).contains(answer), "{}", said(keys));
    }
}

#[test]
fn headers_need_room_for_one() {
    let small = |keys: &str| {
        with(
            &switch(keys),
            "[transport.a]\nprotocol = \"none\"\n",
            "[transport.a]\nprotocol = \"none\"\nack = \"90B\"\n",
        )
    };
    let trims = "overflow = \"trim\"\ntrim_size = \"64B\"\n";
    let of = |room: &str| small(&format!("{trims}trim_room = \"{room}\""));
    let heaviest = good(&of("1kB")).network.framing + 90;
    good(&of(&format!("{heaviest}B")));
    let answer = format!(
        "switch.default.trim_room: headers may take {}B, less than one acknowledgement, {heaviest}B",
        heaviest - 1
    );
    assert!(said(&of(&format!("{}B", heaviest - 1))).contains(&answer), "{answer}");
    let cut = said(&of("63B").replace("ack = \"90B\"\n", ""));
    assert!(cut.contains("switch.default.trim_room: headers may take 63B, less than one"), "{cut}");
}

#[test]
fn no_switch_keeps_whole_what_another_cuts() {
    let text = with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"fat_tree\"\nk = 4");
    let text = format!(
        "{text}[switch.tor]\noverflow = \"trim\"\n[switch.spine]\npfc = \"static\"\npfc_xoff = \"20kB\"\n"
    );
    let said = said(&text);
    assert!(
        said.contains("some switches cut packets (overflow = \"trim\") and others keep them whole (pfc)"),
        "{said}"
    );
}

#[test]
fn headers_need_a_queue_beside_those_of_classes() {
    let of = |count: usize, keys: &str| {
        let mut text = switch(keys);
        for number in 0..count {
            let _ = write!(
                text,
                "[class.c{number}]\n[transport.t{number}]\nprotocol = \"none\"\nclass = \"c{number}\"\n\
                 [[traffic]]\ntransport = \"t{number}\"\npattern = \"incast\"\nto = 1\nbytes = \"1MB\"\n"
            );
        }
        let text = with(&text, "[transport.a]\nprotocol = \"none\"\n", "");
        text.replacen("[[traffic]]\npattern", "[[traffic]]\ntransport = \"t0\"\npattern", 1)
    };
    good(&of(16, "overflow = \"drop\""));
    good(&of(15, "overflow = \"trim\""));
    let said = said(&of(16, "overflow = \"trim\""));
    assert!(said.contains("has queues for 15 beside that of headers"), "{said}");
}

#[test]
fn ndp_without_trimming_is_remarked_upon() {
    let of = |switch: &str| {
        let text = format!("{}[switch.default]\n{switch}\n", with(SMALL, "\"none\"", "\"ndp\""));
        read(&text).unwrap_or_else(|error| panic!("{error}")).warnings
    };
    let said = of("buffer = \"12kB\"");
    assert!(
        said.len() == 1 && said[0].starts_with("transport.a.protocol: \"ndp\" pushes a window"),
        "{said:?}"
    );
    assert_eq!(of("buffer = \"12kB\"\noverflow = \"trim\"\ntrim_headers_first = 10"), [""; 0]);
}
