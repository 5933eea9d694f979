//! Paths that die and return: they are avoided and used again, and nothing that flows over them is lost.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::fabric::{Control, Death, Fabric};
use super::flow::{wait_until, Flow};

/// The spine whose link to leaf 0 dies.
const VICTIM: usize = 1;
/// Bytes that show that something is in use.
const SOME: u64 = 100_000;

fn read(flow: &Flow) -> u64 {
    flow.read.load(Ordering::Relaxed)
}

/// Waits until both flows have gone on, and the victim has passed something if it `lives`.
fn go_on(fabric: &Fabric, flows: &[Flow; 2], lives: bool, what: &str) {
    let (before, passed) = (flows.each_ref().map(read), fabric.passed(VICTIM));
    wait_until(what, || {
        let all = flows.iter().zip(before).all(|(flow, before)| read(flow) > before + SOME);
        all && (!lives || fabric.passed(VICTIM) > passed + SOME)
    });
}

#[test]
#[ignore = "takes 12 s: make test-slow runs it"]
fn a_path_that_dies_is_avoided_and_used_again_when_it_lives() {
    let mut fabric = match Fabric::make("test", 40, Control::Beside) {
        Ok(fabric) => fabric,
        Err(reason) => return writeln!(std::io::stderr(), "skipped: paths that die: {reason}").unwrap(),
    };
    fabric.start();
    for death in [Death::OneWay, Death::BothWays, Death::AtSpine, Death::AtLeaf] {
        let flows = [fabric.flow(0, 2), fabric.flow(1, 3)];
        go_on(&fabric, &flows, true, "both paths are used");
        fabric.kill(VICTIM, death);
        wait_until(&format!("{death:?}: the path is avoided"), || {
            fabric.of_primary("failed_links").is_some_and(|failed| failed > 0.0)
        });
        go_on(&fabric, &flows, false, &format!("{death:?}: what lives flows"));
        fabric.revive(VICTIM, death);
        wait_until(&format!("{death:?}: the path is no longer avoided"), || {
            fabric.of_primary("failed_links") == Some(0.0)
        });
        go_on(&fabric, &flows, true, &format!("{death:?}: the path is used again"));
        for (flow, name) in flows.into_iter().zip(["h0", "h1"]) {
            let (written, read) = flow.end();
            assert_eq!(written, read, "{death:?}: bytes from {name}\n{}", fabric.log("a0"));
        }
    }
}
