//! How much memory a run may use.

use clearway_proto::units::Bytes;

use crate::scenario::document::Value;
use crate::scenario::key::Quantity;

/// The memory that is assumed to be free where the system does not say.
const UNKNOWN_FREE: u64 = 8_000_000_000;

/// The environment variable that sets the limit, such as `4GB`.
pub(super) const LIMIT_VARIABLE: &str = "CLEARWAY_MEMORY_LIMIT";

/// The memory that may be used, in bytes: the environment's limit, or what the system, the control group and the limit of the
/// process's address space leave.
pub fn limit() -> Result<u64, String> {
    if let Ok(text) = std::env::var(LIMIT_VARIABLE) {
        return given_limit(text);
    }
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let system = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
    let group = left_of_group(&read("/sys/fs/cgroup/memory.max"), &read("/sys/fs/cgroup/memory.current"));
    let addresses = left_of_addresses(&read("/proc/self/limits"), &read("/proc/self/status"));
    Ok([system, group, addresses].into_iter().flatten().min().unwrap_or(UNKNOWN_FREE))
}

fn given_limit(text: String) -> Result<u64, String> {
    let wanted = format!("{LIMIT_VARIABLE}: found \"{text}\", expected a size with its unit, such as 4GB");
    match Bytes::read(&Value::Text(text)) {
        Ok(Some(bytes)) => Ok(bytes.get()),
        _ => Err(wanted),
    }
}

/// A value in bytes of a file that the kernel writes, in which it stands in kB behind its name.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let line = file.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns what a control group (version 2) may take beyond what it has; `None` where it has no limit.
fn left_of_group(most: &str, current: &str) -> Option<u64> {
    Some(most.trim().parse::<u64>().ok()?.saturating_sub(current.trim().parse().ok()?))
}

/// Returns what is left of the addresses that the process may have (`ulimit -v`); `None` where there is no limit.
fn left_of_addresses(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most = line.split_whitespace().next()?.parse::<u64>().ok()?;
    Some(most.saturating_sub(kilobytes(status, "VmSize:")?))
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
    fn what_is_left_is_read_as_the_kernel_writes_it() {
        let available = |meminfo| kilobytes(meminfo, "MemAvailable:");
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   24117248 kB\n"), Some(24_117_248 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(available(""), None);
        assert_eq!(left_of_group("3000\n", "1000\n"), Some(2000));
        assert_eq!(left_of_group("max\n", "1000\n"), None);
        let limits =
            |soft: &str| format!("Max cpu time  1 2 seconds\nMax address space  {soft}  unlimited  bytes\n");
        assert_eq!(left_of_addresses(&limits("5000"), "VmSize:\t 4 kB\n"), Some(904));
        assert_eq!(left_of_addresses(&limits("unlimited"), "VmSize:\t 4 kB\n"), None);
    }
}
