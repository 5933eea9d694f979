use clearway_proto::transport::Windows;

use super::*;
use crate::datagram::Delays;

#[test]
fn values_are_shown_with_units_and_four_figures() {
    for (key, value, text) in [
        ("rtt_mean_us", json!(76.912_34), Some("76.91 us")),
        ("elapsed_us", json!(1_234_567.0), Some("1.235 s")),
        ("goodput_gbps", json!(0.25), Some("250 Mb/s")),
        ("payload_bytes", json!(64_000), Some("64 kB")),
        ("loss_rate", json!(0.0), Some("0 %")),
        ("loss_rate", json!(0.001_234), Some("0.1234 %")),
        ("cwnd_p1_packets", json!(0.75), Some("0.75 packets")),
        ("packets", json!(12), Some("12")),
        ("timeouts_whole", json!(0), Some("0")),
        ("rtt_mean_us", json!(null), None),
        ("ignored", ignored(&Ignored::default()), None),
        ("ignored", ignored(&Ignored { forged: 2, ..Ignored::default() }), Some("2 forged")),
    ] {
        assert_eq!(readable(key, &value).as_deref(), text, "{key} {value}");
    }
}

#[test]
fn a_window_is_shown_in_packets_and_a_delay_split() {
    let mut sent = Sent::default();
    let windows = Windows { cwnd: 0.5, fcwnd: 0.5, ecwnd: 40.0, srtt: Span::ZERO, rate: f64::NAN };
    sent.delays.record(&Delays { rtt: Span::from_us(50), endpoint: Span::from_us(20), windows }, 1);
    let layout = Layout { operations: 1, size: 1, mtu: 1, flows: 1 };
    let json = sent_figures(&sent, &layout, Span::ZERO).json(Map::new());
    let near = |key: &str, expected: f64| {
        let found = json[key].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.005, "{key}: {found}");
    };
    near("rtt_p50_us", 50.0);
    near("fabric_rtt_p50_us", 30.0);
    near("endpoint_delay_mean_us", 20.0);
    near("cwnd_p50_packets", 0.5);
    near("ecwnd_mean_packets", 40.0);
    assert_eq!(json["goodput_gbps"], Value::Null);
    let mut unwatched = Sent::default();
    let windows = Windows { ecwnd: f64::NAN, ..windows };
    unwatched.delays.record(&Delays { rtt: Span::from_us(50), endpoint: Span::from_us(20), windows }, 1);
    let json = sent_figures(&unwatched, &layout, Span::ZERO).json(Map::new());
    assert_eq!((&json["ecwnd_mean_packets"], &json["ecwnd_p50_packets"]), (&Value::Null, &Value::Null));
}
