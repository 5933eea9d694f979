//! How much memory a run may use.

use clearway_proto::units::Bytes;

use crate::scenario::document::Value;
use crate::scenario::key::Quantity;

/// The memory that is assumed to be free where the system does not say.
const UNKNOWN_FREE: u64 = 8_000_000_000;

/// The environment variable that sets the limit, such as `4GB`.
pub(super) const LIMIT_VARIABLE: &str = "CLEARWAY_MEMORY_LIMIT";

/// The memory that may be used, in bytes: the environment's limit, or what the system says is available.
pub(in crate::scenario) fn limit() -> Result<u64, String> {
    if let Ok(text) = std::env::var(LIMIT_VARIABLE) {
        return given_limit(text);
    }
    let about = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Ok(available(&about).unwrap_or(UNKNOWN_FREE))
}

fn given_limit(text: String) -> Result<u64, String> {
    let wanted = format!("{LIMIT_VARIABLE}: found \"{text}\", expected a size with its unit, such as 4GB");
    match Bytes::read(&Value::Text(text)) {
        Ok(Some(bytes)) => Ok(bytes.get()),
        _ => Err(wanted),
    }
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_unit() {
        assert_eq!(given_limit("4GB".into()), Ok(4_000_000_000));
        let wanted = "CLEARWAY_MEMORY_LIMIT: found \"4\", expected a size with its unit, such as 4GB";
        assert_eq!(given_limit("4".into()), Err(wanted.into()));
    }

    #[test]
    fn available_memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   24117248 kB\n"), Some(24_117_248 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(available(""), None);
    }
}
