//! Warnings about faults that never happen.

use super::fixture::read;

fn warnings(faults: &str) -> Vec<String> {
    let text = format!(
        "format = 1\nname = \"w\"\nduration = \"1ms\"\n[network]\ntopology = \"star\"\nhosts = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [transport.a]\nprotocol = \"none\"\n[[traffic]]\npattern = \"incast\"\nto = 0\n{faults}"
    );
    read(&text).unwrap_or_else(|error| panic!("{error}")).warnings
}

fn down(at: &str) -> String {
    format!("[[fault]]\nkind = \"down\"\nlink = \"h1-tor0\"\nat = \"{at}\"\n")
}

#[test]
fn a_fault_after_the_end_of_the_run_is_told_of() {
    assert_eq!(warnings(&down("999us")), [""; 0]);
    let said = |number: u32, at: &str| {
        format!(
            "fault[{number}]: never happens: the run ends at 1ms, and it would begin at {at}; lengthen duration, or let it begin earlier"
        )
    };
    assert_eq!(warnings(&down("1ms")), [said(0, "1ms")]);
    let three = [down("30ms"), down("500us"), down("2ms")].concat();
    assert_eq!(warnings(&three), [said(0, "30ms"), said(2, "2ms")]);
}
