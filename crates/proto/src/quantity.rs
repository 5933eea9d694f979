//! Unit strings such as `25us`, `12.7MB` and `50Gbps`: read exactly, written exactly.
//!
//! A quantity is a decimal number directly followed by its unit. What does not come out as a whole number of
//! picoseconds, bytes or bits a second is an error, never rounded. Every driver reads its settings so.

/// The units of one quantity, smallest first, each with its size in the smallest.
pub type Units = &'static [(&'static str, u64)];

/// Units of time, in picoseconds.
pub const TIME: Units =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Units of data. The decimal ones are SI; the binary ones are read too.
pub const BYTES: Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

/// Units of speed, in bits a second.
pub const RATE: Units =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];

/// Units of length, in metres.
pub const LENGTH: Units = &[("m", 1), ("km", 1_000)];

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// Not a number followed by a unit.
    Malformed,
    /// A number without its unit.
    NoUnit,
    /// A number with a unit that there is not.
    UnknownUnit,
    /// Not a whole number of the smallest unit.
    Inexact,
    /// More than 64 bits hold.
    TooLarge,
}

/// Longest number that is read; more digits are nobody's quantity.
const MAX_DIGITS: usize = 24;

/// Digits of the largest number of 64 bits.
const MOST_DIGITS_OF_64_BITS: usize = 20;

/// Reads `text` as a number of the smallest unit.
pub fn parse(text: &str, units: Units) -> Result<u64, UnitError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(UnitError::Malformed);
    }
    if unit.is_empty() {
        return Err(UnitError::NoUnit);
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::UnknownUnit);
    };
    if number.len() > MAX_DIGITS {
        let beyond = whole.trim_start_matches('0').len() > MOST_DIGITS_OF_64_BITS;
        return Err(if beyond { UnitError::TooLarge } else { UnitError::Malformed });
    }
    let decimals = 10u128.pow(fraction.len() as u32);
    // At most 24 digits and a scale of 41 bits: the product stays below 2^121.
    let joined: u128 = format!("{whole}{fraction}").parse().map_err(|_| UnitError::Malformed)?;
    let scaled = joined * u128::from(scale);
    if scaled % decimals != 0 {
        return Err(UnitError::Inexact);
    }
    u64::try_from(scaled / decimals).map_err(|_| UnitError::TooLarge)
}

/// Writes `value`, which counts the smallest unit, exactly and as shortly as the units allow.
pub fn spell(value: u64, units: Units) -> String {
    let mut best = format!("{value}{}", units[0].0);
    for (name, scale) in units.iter().filter(|(name, _)| !name.contains('i')) {
        let (whole, rest) = (value / scale, value % scale);
        let mut text = whole.to_string();
        if rest > 0 {
            // The scale is a power of ten: its zeros are the decimals.
            let width = scale.ilog10() as usize;
            text = format!("{whole}.{rest:0width$}").trim_end_matches('0').to_string();
        }
        text.push_str(name);
        if whole > 0 && text.len() <= best.len() {
            best = text;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(parse("25us", TIME), Ok(25_000_000));
        assert_eq!(parse("0.5ps", TIME), Err(UnitError::Inexact));
        assert_eq!(parse("12.7MB", BYTES), Ok(12_700_000));
        assert_eq!(parse("38B", BYTES), Ok(38));
        assert_eq!(parse("1.5B", BYTES), Err(UnitError::Inexact));
        assert_eq!(parse("4KiB", BYTES), Ok(4096));
        assert_eq!(parse("50Gbps", RATE), Ok(50_000_000_000));
        assert_eq!(parse("0.1Gbps", RATE), Ok(100_000_000));
        assert_eq!(parse("1.000000000001s", TIME), Ok(1_000_000_000_001));
    }

    #[test]
    fn a_unit_is_never_implied() {
        assert_eq!(parse("25", TIME), Err(UnitError::NoUnit));
        assert_eq!(parse("us", TIME), Err(UnitError::Malformed));
        assert_eq!(parse("", TIME), Err(UnitError::Malformed));
        for text in ["-5us", "1.us", ".5us", "1.2.3us", "1e3us", "+1us"] {
            assert!(parse(text, TIME).is_err(), "{text}");
        }
    }

    #[test]
    fn a_unit_is_written_as_it_is_listed() {
        for (text, units) in [("25 us", TIME), ("25\u{b5}s", TIME), ("4KB", BYTES), ("50gbps", RATE)] {
            assert_eq!(parse(text, units), Err(UnitError::UnknownUnit), "{text}");
        }
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        assert_eq!(parse("99999999999999999999999s", TIME), Err(UnitError::TooLarge));
        assert_eq!(parse("18446744073709551615ps", TIME), Ok(u64::MAX));
        assert_eq!(parse("18446744073709551616ps", TIME), Err(UnitError::TooLarge));
        assert_eq!(parse(&format!("{}s", "9".repeat(400)), TIME), Err(UnitError::TooLarge));
        assert_eq!(parse(&format!("{}x", "9".repeat(400)), TIME), Err(UnitError::UnknownUnit));
        assert_eq!(parse(&format!("{}1s", "0".repeat(400)), TIME), Err(UnitError::Malformed));
        assert_eq!(parse(&format!("0.{}1s", "0".repeat(400)), TIME), Err(UnitError::Malformed));
    }

    #[test]
    fn what_is_written_reads_back() {
        for (value, text) in [
            (25_000_000, "25us"),
            (2_500_000, "2.5us"),
            (0, "0ps"),
            (1_500, "1.5ns"),
            (1_000_000_000_001, "1.000000000001s"),
            (u64::MAX, "18446744.073709551615s"),
        ] {
            assert_eq!(spell(value, TIME), text);
            assert_eq!(parse(text, TIME), Ok(value));
        }
        assert_eq!(spell(4096, BYTES), "4096B");
        assert_eq!(spell(12_700_000, BYTES), "12.7MB");
        assert_eq!(spell(12_500_000_000, RATE), "12.5Gbps");
    }
}
