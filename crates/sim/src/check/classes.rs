//! What traffic classes, flow control and the rest of a scenario demand of each other.

use crate::model::{Scenario, SwitchRole, Transport};
use crate::net::pfc::PAUSE_BYTES;
use crate::net::scheduling::MOST_CLASSES;
use crate::scenario::reader::Section;
use crate::topology::shape;

/// The most lossless classes: a PAUSE has eight priorities.
const MOST_LOSSLESS: usize = 8;
const _: () = assert!(MOST_LOSSLESS <= MOST_CLASSES);

/// Checks that there are not too many classes, and that each is used.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let Scenario { classes, transports, probes, arbiters, .. } = scenario;
    if classes.len() > MOST_CLASSES {
        let message =
            format!("found {} classes; a port has queues for {MOST_CLASSES} at most", classes.len());
        r.conflict_at("class", message);
        return;
    }
    if classes.len() == MOST_CLASSES && scenario.switches.any_trimming() {
        let message = format!(
            "found {} classes; a port that cuts packets (overflow = \"trim\") has queues for {} beside that of headers",
            classes.len(),
            MOST_CLASSES - 1
        );
        r.conflict_at("class", message);
    }
    for (i, class) in classes.iter().enumerate() {
        let carries = |transport: &Transport| transport.class == i || transport.ack_class == i;
        let controls = arbiters.as_ref().is_some_and(|arbiters| arbiters.class == i);
        if !controls && !transports.iter().any(carries) && !probes.iter().any(|probe| probe.class == i) {
            let name = &class.name;
            let message = format!(
                "no transport uses this class: put class = \"{name}\" or ack_class = \"{name}\" under one of \
                 [transport.NAME], or leave the class out"
            );
            r.conflict_at(&format!("class.{name}"), message);
        }
    }
}

/// Checks that there are lossless classes exactly where switches keep them lossless.
pub(super) fn check_pfc(r: &Section, scenario: &Scenario) {
    let lossless = scenario.classes.iter().filter(|class| class.lossless).count();
    let roles = shape::of(&scenario.network.topology).roles();
    let controlled = roles.iter().any(|&role| scenario.switches.of(role).pfc.is_some());
    if controlled && lossless == 0 && !scenario.classes.is_empty() {
        let message =
            "switches have pfc, but no class is lossless: put lossless = true under one of [class.NAME]";
        r.conflict_at("class", message);
    }
    if lossless > MOST_LOSSLESS {
        let message = format!("{lossless} classes are lossless; a PAUSE has priorities for {MOST_LOSSLESS}");
        r.conflict_at("class", message);
    }
    for class in scenario.classes.iter().filter(|class| class.lossless && !controlled) {
        let message =
            "no switch has pfc, so frames of this class can be dropped: give pfc under [switch.default]";
        r.conflict_at(&format!("class.{}", class.name), message);
    }
    let trims = |role: &SwitchRole| scenario.switches.of(*role).trimming().is_some();
    if controlled && roles.iter().any(trims) {
        let message = "some switches cut packets (overflow = \"trim\") and others keep them whole (pfc): one of the two has to go";
        r.conflict_at("switch", message);
    }
    roles.into_iter().all(|role| check_quanta(r, scenario, role));
    if scenario.allow_loss && !controlled {
        r.conflict_at("allow_loss", "no switch has pfc, so no class is lossless");
    }
}

/// A PAUSE is repeated when half of it has passed, and must not run out before: a frame may be under way then, and a PAUSE
/// of every other class may go first. Returns whether `pfc_quanta` allows for that.
fn check_quanta(r: &Section, scenario: &Scenario, role: SwitchRole) -> bool {
    let Some(pfc) = &scenario.switches.of(role).pfc else { return true };
    let frame = scenario.longest_frame().get();
    let needed = 8 * (frame + MOST_LOSSLESS as u64 * u64::from(PAUSE_BYTES));
    let half = u64::from(pfc.quanta) * 512 / 2;
    if half < needed {
        let least = needed.div_ceil(256);
        let message = format!(
            "found {} quanta; half of that, {half} bit times, must be no less than {needed}, as a frame of {frame} bytes and \
             {MOST_LOSSLESS} PAUSEs of {PAUSE_BYTES} may go before a PAUSE is repeated: at least {least}",
            pfc.quanta
        );
        r.conflict_at("switch.default.pfc_quanta", message);
    }
    half >= needed
}
