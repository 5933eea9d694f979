//! Figures as a person reads them.

use serde_json::Value;

/// A value with its unit; `None` for a missing value and for a zero count of ignored datagrams.
pub(super) fn readable(key: &str, value: &Value) -> Option<String> {
    let scaled = |value: f64, scales: &[(f64, &str)]| {
        let &(scale, unit) =
            scales.iter().find(|(scale, _)| value >= *scale).unwrap_or(&scales[scales.len() - 1]);
        format!("{} {unit}", four(value / scale))
    };
    if let Value::Object(counts) = value {
        let said: Vec<String> = counts
            .iter()
            .filter(|(_, count)| count.as_u64() != Some(0))
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        return (!said.is_empty()).then(|| said.join(", "));
    }
    let number = value.as_f64()?;
    Some(match key.rsplit('_').next().unwrap_or(key) {
        "us" => scaled(number, &[(1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns")]),
        "bytes" => scaled(number, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]),
        "gbps" => scaled(number, &[(1e3, "Tb/s"), (1.0, "Gb/s"), (1e-3, "Mb/s")]),
        "rate" => format!("{} %", four(number * 100.0)),
        "packets" if !value.is_u64() => format!("{} packets", four(number)),
        _ => value.to_string(),
    })
}

/// A number with four significant figures, as in the simulator's tables.
fn four(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}
