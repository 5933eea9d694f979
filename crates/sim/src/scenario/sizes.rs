//! Flow sizes: a single size, an exponential distribution, or a distribution that is built in or read from a file.

use std::path::Path;

use clearway_proto::units::Bytes;
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::{Misread, Problem};
use super::files;
use super::key::Quantity;
use super::suggest;
use crate::model::Sizes;

/// The distributions that come with the simulator.
const BUILT_IN: &[(&str, &str)] = &[
    ("websearch", include_str!("sizes/websearch.txt")),
    ("fb_hadoop", include_str!("sizes/fb_hadoop.txt")),
    ("ali_storage", include_str!("sizes/ali_storage.txt")),
    ("google_rpc", include_str!("sizes/google_rpc.txt")),
];

const WANTED: &str =
    "websearch, fb_hadoop, ali_storage, google_rpc, fixed:SIZE, exponential:SIZE or a file of sizes";

/// The schema of the key.
pub(crate) fn schema() -> Json {
    json!({ "type": "string", "minLength": 1, "x-unit": "sizes", "examples": ["websearch", "fixed:4096B", "exponential:4kB"] })
}

/// Reads the key; a file is looked for in `base`.
pub(crate) fn parse(node: &Node, base: &Path) -> Result<(Sizes, Json), Misread> {
    let Value::Text(text) = &node.value else { return Err(Misread::expected(WANTED)) };
    if let Some((kind, size)) = text.split_once(':') {
        let read = |text: &str| match Bytes::read(&Value::Text(text.into())) {
            Ok(Some(size)) if size.get() > 0 => Ok(size),
            _ => Err(Misread::expected(format!("{kind}:SIZE with a size above 0B, such as {kind}:4096B"))),
        };
        match kind {
            "fixed" => return read(size).map(|size| (Sizes::Fixed(size), text.clone().into())),
            "exponential" => return read(size).map(|size| (Sizes::Exponential(size), text.clone().into())),
            _ => {}
        }
    }
    let built_in = BUILT_IN.iter().find(|(name, _)| name == text);
    let points = match built_in {
        Some((name, points)) => points_of(points, name)?,
        None if base.join(text).is_file() => points_of(&files::read(base, text)?, &files::shown(base, text))?,
        None => {
            let names = BUILT_IN.iter().map(|(name, _)| *name).chain(["fixed:", "exponential:"]);
            return Err(Misread::Expected(
                format!("{WANTED} (there is no such file)"),
                suggest::nearest(text, names),
            ));
        }
    };
    Ok((Sizes::Distribution { name: text.clone(), points }, text.clone().into()))
}

/// The points of a file: bytes and fraction. A first fraction above zero is a mass at the first size.
pub(crate) fn points_of(text: &str, file: &str) -> Result<Vec<(f64, f64)>, Misread> {
    let wrong = |problem: Problem| Misread::Elsewhere(vec![problem]);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_line = 1;
    for (i, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((size, percent)) = point(line) else {
            let message =
                format!("found {line}, expected a size in bytes and a percentage, such as 10000 15.5");
            return Err(wrong(files::problem(file, i, line, message)));
        };
        let (least, least_percent) = points.last().map_or((0.0, 0.0), |(size, part)| (*size, *part));
        if size < least || percent < least_percent {
            let message =
                format!("found {line}: neither column may fall; before it is {least} {least_percent}");
            return Err(wrong(files::problem(file, i, line, message)));
        }
        points.push((size, percent));
        last_line = i;
    }
    let Some(&(largest, last)) = points.last() else {
        return Err(wrong(files::problem(file, 1, "", "no points: expected a size and a percentage a line")));
    };
    if last != 100.0 || largest < 1.0 {
        let message = format!("the last line is {largest} {last}, expected the largest size and 100");
        return Err(wrong(files::problem(file, last_line, &last.to_string(), message)));
    }
    Ok(points.into_iter().map(|(size, percent)| (size, percent / 100.0)).collect())
}

fn point(line: &str) -> Option<(f64, f64)> {
    let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|n| n.is_finite()));
    let (size, percent) = (numbers.next()??, numbers.next()??);
    let within = (0.0..=1e15).contains(&size) && (0.0..=100.0).contains(&percent);
    (within && numbers.next().is_none()).then_some((size, percent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::Place;

    fn read(text: &str) -> Result<Sizes, Misread> {
        let node = Node { value: Value::Text(text.into()), place: Place::File };
        parse(&node, Path::new(".")).map(|(sizes, _)| sizes)
    }

    #[test]
    fn built_in_means_are_those_of_their_readme() {
        let means =
            [("websearch", 1.711e6), ("fb_hadoop", 120.4e3), ("ali_storage", 40.9e3), ("google_rpc", 2.89e3)];
        for (name, expected) in means {
            let mean = read(name).expect("built in").mean();
            assert!((mean / expected - 1.0).abs() < 1e-3, "{name}: {mean}");
        }
    }

    #[test]
    fn one_size_and_exponential() {
        assert_eq!(read("fixed:4096B"), Ok(Sizes::Fixed(Bytes::new(4096))));
        assert_eq!(read("exponential:4kB"), Ok(Sizes::Exponential(Bytes::new(4000))));
        for wrong in ["fixed:4096", "fixed:0B", "fixed:", "exponential:1us", "uniform:4B", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let Err(Misread::Expected(_, nearest)) = read("websaerch") else { panic!("not a name") };
        assert_eq!(nearest, Some("websearch".into()));
    }

    #[test]
    fn a_first_fraction_above_zero_is_a_mass_at_the_first_size() {
        let points = points_of("4000 22.93\n8000 100\n", "x").expect("points");
        assert_eq!(points, [(4000.0, 0.2293), (8000.0, 1.0)]);
        let mean = Sizes::Distribution { name: String::new(), points }.mean();
        assert!((mean - (4000.0 * 0.2293 + 6000.0 * 0.7707)).abs() < 1e-9);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let line = |text| match points_of(text, "x.txt") {
            Err(Misread::Elsewhere(problems)) => (problems[0].line, problems[0].to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(line("0 0\n# why\n10 ten\n").0, Some(3));
        assert_eq!(line("0 0\n10 50\n5 100\n").0, Some(3));
        assert_eq!(line("0 0\n10 60\n20 50\n").0, Some(3));
        assert_eq!(line("0 0\n10 99\n").0, Some(2));
        assert_eq!(line("0 100\n").0, Some(1));
        assert_eq!(line("").0, Some(1));
        assert_eq!(line("1 2 3\n").0, Some(1));
        assert_eq!(line("nan 100\n").0, Some(1));
    }
}
