//! The command line against the file of bad values that scenarios are held against, too: the daemon says the same of them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clearway_host::daemon::args::{read, Command};

/// The problems of a sender's command line that sets these options.
fn said(options: &[(String, &str)]) -> Vec<String> {
    let base = ["send", "--to", "127.0.0.1:9", "--keys", "k", "--operations", "1", "--size", "1kB"]
        .map(OsString::from);
    let given = options.iter().flat_map(|(name, value)| [name.into(), OsString::from(value)]);
    let errors = read(base.into_iter().chain(given)).err().unwrap_or_default();
    errors.into_iter().map(|error| error.message).collect()
}

fn option(parameter: &str) -> String {
    format!("--{}", parameter.replace('_', "-"))
}

/// The words with each parameter that they name as an option.
fn with_options(words: &str, parameters: &[&str]) -> String {
    let spell = |word: &str| {
        let name = word.trim_end_matches(',');
        if parameters.contains(&name) {
            word.replace(name, &option(name))
        } else {
            word.to_string()
        }
    };
    words.split(' ').map(spell).collect::<Vec<_>>().join(" ")
}

#[test]
fn bad_values_of_swift_are_said_with_what_they_can_be() {
    let lines = include_str!("../../proto/tests/bad_swift_values.txt").lines();
    let lines: Vec<_> = lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(" | ").expect("a value and what is said"))
        .collect();
    let set = |text: &'static str| text.split_once('=').expect("a parameter and its value");
    let mut parameters: Vec<&str> = lines.iter().map(|(sets, _)| set(sets).0).collect();
    parameters.push("cwnd_below_one");
    // The name of the variant is a word of what is said of it.
    parameters.retain(|name| *name != "variant");
    for (sets, words) in lines {
        let options: Vec<_> = sets.split(' ').map(set).map(|(name, value)| (option(name), value)).collect();
        let (errors, words) = (said(&options), with_options(words, &parameters));
        assert!(errors.len() == 1 && errors[0].contains(&words), "{sets}: {errors:?}, not {words:?}");
        assert!(options.iter().any(|(name, _)| errors[0].contains(name.as_str())), "{sets}: {errors:?}");
    }
}

#[test]
fn what_is_given_is_taken_and_the_rest_is_as_the_daemon_needs_it() {
    let args = "send --to 127.0.0.1:9 --keys k --operations 1 --size 1kB --beta 0.8 --variant v0 --pacing off --reach 64 --max-cwnd 64";
    let Ok(Command::Send(args)) = read(args.split(' ').map(OsString::from)) else {
        panic!("nothing is wrong")
    };
    let swift = args.swift();
    assert_eq!((swift.beta, swift.pacing, swift.reach, swift.max_cwnd), (0.8, false, 64, 64.0));
    assert_eq!(swift.variant, clearway_proto::swift::Variant::V0);
    assert_eq!((swift.endpoint_target.as_us_f64(), swift.min_rto.as_us_f64()), (500.0, 5000.0));
}

/// An argument that is no text is named, be it the value of an option that `clap` reads, of one of Swift's, or an option itself.
#[test]
fn what_is_no_text_is_named() {
    let strange = || OsString::from_vec(vec![b'x', 0xff]);
    let base = ["send", "--to", "127.0.0.1:9", "--keys", "k", "--operations", "1", "--size", "1kB"]
        .map(OsString::from);
    for (option, named) in [("--mtu", r#""x\xFF" is no text"#), ("--beta", "--beta: found \"x\\xFF\"")] {
        let line = base.iter().cloned().chain([option.into(), strange()]);
        let problems = read(line).unwrap_err();
        assert!(problems[0].message.starts_with(named), "{option}: {problems:?}");
    }
    // The name of a file is bytes.
    let line = ["send", "--to", "127.0.0.1:9", "--keys", "k", "--file"]
        .map(OsString::from)
        .into_iter()
        .chain([strange()]);
    let Ok(Command::Send(args)) = read(line) else { panic!("nothing is wrong") };
    assert_eq!(args.file.unwrap().into_os_string(), strange());
}

#[test]
fn options_may_stand_behind_names() {
    let asked = |words: &[&str]| match read(words.iter().map(OsString::from)) {
        Ok(Command::Keys(args)) => (args.names, args.days, args.check, args.json),
        other => panic!("{words:?}: {other:?}"),
    };
    let names = || vec!["h0".to_string(), "h1".to_string()];
    assert_eq!(asked(&["keys", "k", "h0", "h1", "--days", "5", "--json"]), (names(), 5, false, true));
    assert_eq!(asked(&["keys", "--days", "5", "k", "h0", "h1"]), (names(), 5, false, false));
    assert_eq!(asked(&["keys", "k", "--json", "h0", "h1"]), (names(), 825, false, true));
    assert!(matches!(read(["keys", "k", "h0", "--help"].map(OsString::from)), Ok(Command::Show(_))));
    let refused = read(["keys", "k", "h0", "--check"].map(OsString::from)).unwrap_err();
    assert!(refused[0].message.contains("cannot be used with"), "{refused:?}");
    let unknown = read(["keys", "k", "h0", "--dasy", "5"].map(OsString::from)).unwrap_err();
    assert!(unknown[0].message.contains("--dasy"), "{unknown:?}");
}
