//! The valid name a person most likely meant.

/// The candidate nearest to `name` by edit distance, if it is near enough to be a slip: a third of the name, and
/// always two letters swapped or one wrong. Of equally near ones the first.
pub(super) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_lowercase();
    let reach = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    let length = lower.chars().count();
    for candidate in candidates {
        let candidate_lower = candidate.to_lowercase();
        // Each character too many or too few is a slip by itself, and comparing takes as long as both are together.
        if candidate_lower.chars().count().abs_diff(length) > reach {
            continue;
        }
        let distance = strsim::osa_distance(&lower, &candidate_lower);
        if distance <= reach && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        let names = ["base_target", "beta", "fs_range"];
        assert_eq!(nearest("base_taget", names), Some("base_target".into()));
        assert_eq!(nearest("bteta", names), Some("beta".into()));
        assert_eq!(nearest("Beta", names), Some("beta".into()));
        assert_eq!(nearest("fs_rangeess", names), Some("fs_range".into()));
        assert_eq!(nearest("fs_rangeness", names), Some("fs_range".into()));
    }

    #[test]
    fn something_else_finds_nothing() {
        assert_eq!(nearest("colour", ["base_target", "beta"]), None);
        assert_eq!(nearest("", ["at"]), None);
        // As long as a file may be, against as many names as a network may have: long if each were compared.
        let name = "q".repeat(1 << 20);
        assert_eq!(nearest(&name, std::iter::repeat_n("host0", 100_000)), None);
    }
}
