//! The valid name a person most likely meant.

/// The candidate nearest to `name` by edit distance, if it is near enough to be a slip: a third of the name, and
/// always two letters swapped or one wrong. Of equally near ones the first.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
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

/// What people look for under a key and is set elsewhere: the key, their word for it, and where it is.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("protocol", "dcqcn", "roce with congestion = \"dcqcn\""),
    ("protocol", "rdma", "roce"),
    ("protocol", "tcp", "cubic"),
];

/// What a value of a key most likely means that is no slip of one.
pub(crate) fn elsewhere(key: &str, value: &str) -> Option<String> {
    let value = value.to_lowercase();
    let meant = ELSEWHERE.iter().find(|(of, word, _)| *of == key && *word == value);
    meant.map(|(.., meant)| (*meant).to_string())
}

/// Names that a message lists at most, and characters of a name that are compared for that.
const MOST_LISTED: usize = 5;
const MOST_COMPARED: usize = 32;

/// The candidates nearest to `name`, however far they are, as a message lists them; of equally near ones the first.
pub(crate) fn listed<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let compared = |name: &str| name.to_lowercase().chars().take(MOST_COMPARED).collect::<String>();
    let wanted = compared(name);
    let mut nearest: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let distance = strsim::osa_distance(&wanted, &compared(candidate));
        let at = nearest.partition_point(|(other, _)| *other <= distance);
        nearest.insert(at, (distance, candidate));
        nearest.truncate(MOST_LISTED);
    }
    nearest.into_iter().map(|(_, candidate)| candidate).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::transport::READERS;
    use super::*;

    #[test]
    fn the_nearest_are_listed_and_no_more() {
        let names = ["h0", "h1", "h2", "h3", "tor0", "h10", "h19"];
        assert_eq!(listed("h19x", names), "h19, h1, h10, h0, h2");
        assert_eq!(listed("spine", ["h0", "tor0"]), "h0, tor0");
        assert_eq!(listed("h1", []), "");
        let long = "q".repeat(1 << 20);
        assert_eq!(listed(&long, std::iter::repeat_n("h0", 1000)), "h0, h0, h0, h0, h0");
    }

    #[test]
    fn what_is_set_elsewhere_is_said() {
        assert_eq!(elsewhere("protocol", "DCQCN"), Some("roce with congestion = \"dcqcn\"".into()));
        assert_eq!(elsewhere("topology", "dcqcn"), None);
        let protocols: Vec<&str> = READERS.iter().map(|(name, _)| *name).collect();
        for (_, word, meant) in ELSEWHERE.iter().filter(|(key, ..)| *key == "protocol") {
            let first = meant.split(' ').next().expect("a name");
            assert!(!protocols.contains(word) && protocols.contains(&first), "{word}: {meant}");
        }
    }

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
