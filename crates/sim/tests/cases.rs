//! How many cases the tests draw, and what else a variable of the environment sets for them.

/// Returns what a variable of the environment says, or else this.
pub fn setting(variable: &str, otherwise: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return otherwise };
    text.parse().unwrap_or_else(|_| panic!("{variable}: found \"{text}\", expected a whole number"))
}

/// Returns how many cases are drawn: what the variable says, or else fewer in debug, where a case takes up to six times as long, than in
/// release, where `make test-release` runs them.
pub fn cases(variable: &str, in_debug: u64, in_release: u64) -> u64 {
    setting(variable, if cfg!(debug_assertions) { in_debug } else { in_release })
}
