//! Unit strings such as `25us`, `12.7MB` and `50Gbps`: read as by [`clearway_proto::quantity`], with the unit that a
//! misspelt one meant, and described for JSON Schema.

pub(crate) use clearway_proto::quantity::{parse, UnitError, Units};

use super::suggest;

/// The units of frequencies, in times a second.
pub(crate) const FREQUENCY: Units = &[("/s", 1), ("k/s", 1_000), ("M/s", 1_000_000), ("G/s", 1_000_000_000)];

/// The units of rate errors, in parts of a thousand million.
pub(crate) const PARTS: Units = &[("ppb", 1), ("ppm", 1_000)];

/// The unit that was meant by a misspelt one in `text`, if it is recognised: a wrong case, a space, `Gb/s` for `Gbps`.
pub(crate) fn meant(text: &str, units: Units) -> Option<String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let trimmed = unit.trim();
    let unit = trimmed.replace("/s", "ps").replace(['\u{b5}', '\u{3bc}'], "u");
    let same = |name: &&str| name.eq_ignore_ascii_case(&unit) || name.eq_ignore_ascii_case(trimmed);
    let names = || units.iter().map(|(name, _)| *name);
    names().find(same).map(str::to_string).or_else(|| suggest::nearest(&unit, names()))
}

/// The pattern of a quantity of these units, as JSON Schema wants it.
pub(crate) fn pattern(units: Units) -> String {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    format!("^[0-9]+(\\.[0-9]+)?({})$", names.join("|"))
}

#[cfg(test)]
mod tests {
    use clearway_proto::quantity::{spell, BYTES, RATE, TIME};

    use super::*;

    #[test]
    fn a_wrong_unit_names_the_right_one() {
        assert_eq!(meant("25 us", TIME), Some("us".into()));
        assert_eq!(meant("25\u{b5}s", TIME), Some("us".into()));
        assert_eq!(meant("4KB", BYTES), Some("kB".into()));
        assert_eq!(meant("50gbps", RATE), Some("Gbps".into()));
        assert_eq!(meant("50Gb/s", RATE), Some("Gbps".into()));
        assert_eq!(meant("50 K/s", FREQUENCY), Some("k/s".into()));
        assert_eq!(meant("20PPM", PARTS), Some("ppm".into()));
        assert_eq!(meant("5furlongs", TIME), None);
    }

    #[test]
    fn parts_are_quantities_like_any_other() {
        assert_eq!(parse("0.5ppm", PARTS), Ok(500));
        assert_eq!(spell(20_000, PARTS), "20ppm");
        assert_eq!(spell(20, PARTS), "20ppb");
        assert_eq!(parse("0.5ppb", PARTS), Err(UnitError::Inexact));
    }

    #[test]
    fn frequencies_are_quantities_like_any_other() {
        assert_eq!(parse("12.5k/s", FREQUENCY), Ok(12_500));
        assert_eq!(spell(12_500, FREQUENCY), "12.5k/s");
    }
}
