//! A figure that does not exist says why.

use clearway_sim::record::Value;

use crate::experiment::{figure, reason, run, summary};

const UNDECIDED: &str = "no operation issued in the measured time was done or had missed its deadline";

fn star(keys: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'absent'\nduration = '1ms'\n{keys}\n[network]\ntopology = 'star'\nhosts = 3\n\
         [transport.t]\nprotocol = 'swift'\n[transport.u]\nprotocol = 'dctcp'\n\
         [[traffic]]\ntransport = 't'\npattern = 'incast'\nfrom = 0\nto = 2\n{traffic}"
    )
}

/// Every figure that is missing has a reason, and no other has one.
fn check(value: &Value) {
    let Value::Object(figures) = value else { panic!("{value:?}") };
    let missing: Vec<_> = figures
        .iter()
        .filter_map(|(name, value)| match value {
            Value::Missing(why) => Some((name.clone(), *why)),
            _ => None,
        })
        .collect();
    let named = figures.iter().find(|(name, _)| name == "absent").map(|(_, value)| value);
    assert_eq!(named, Some(&Value::Reasons(missing)));
}

#[test]
fn a_figure_is_missing_for_a_reason() {
    let endless = run(&star("", ""));
    assert_eq!(
        reason(&endless, "jain"),
        Some("in no interval of record.fairness did two flows have data to send throughout and deliver any")
    );
    assert_eq!(reason(&endless, "fct_mean_us"), Some("no flow has a size"));
    assert_eq!(reason(&endless, "latency_p99_us"), Some("no operation was issued in the measured time"));
    assert_eq!(reason(&endless, "goodput_gbps"), None);
    assert_eq!(reason(&endless, "failed_operations"), Some(UNDECIDED));
    let done = run(&star("warmup = '500us'", "bytes = '1kB'"));
    assert_eq!(reason(&done, "loss_rate"), Some("no data was sent in the measured time"));
    assert_eq!(reason(&done, "rtt_p99_us"), Some("no packet was acknowledged in the measured time"));
    assert!(figure(&done, "fct_mean_us") > 0.0);
    for outcome in [endless, done] {
        check(&outcome.summary);
        let Some(Value::Object(transports)) = summary(&outcome, "transports") else {
            panic!("no transports")
        };
        for (_, figures) in transports {
            check(figures);
        }
        let Some((_, Value::Object(silent))) = transports.last() else { panic!("no transport u") };
        let Some((_, Value::Reasons(why))) = silent.iter().find(|(name, _)| name == "absent") else {
            panic!("{silent:?}")
        };
        assert!(why.contains(&("loss_rate_whole".to_string(), "no data was sent")), "{why:?}");
    }
}
