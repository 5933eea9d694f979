//! Warnings about flow control: thresholds and headroom that can be run but are unlikely to be meant.

use clearway_proto::pfc::quanta::PFC_FRAME;
use clearway_proto::units::Span;

use crate::model::{Buffer, Pfc, Scenario, SwitchRole, Trimming, Xoff};
use crate::scenario::key::Shown;
use crate::scenario::shape::role_name;
use crate::topology::shape;
use crate::topology::Graph;

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let roles = shape::of(&scenario.network.topology).roles();
    let controlled =
        roles.into_iter().filter_map(|role| Some((role, scenario.switches.of(role).pfc.as_ref()?)));
    let controlled: Vec<(SwitchRole, &Pfc)> = controlled.collect();
    let mut warnings: Vec<String> =
        controlled.iter().filter_map(|(role, pfc)| threshold_above_buffer(scenario, *role, pfc)).collect();
    warnings.extend(controlled.iter().filter_map(|(role, pfc)| pauses_that_queue(scenario, *role, pfc)));
    if controlled.iter().any(|(_, pfc)| pfc.headroom.is_some()) {
        let graph = Graph::build(&scenario.network);
        warnings.extend(controlled.iter().filter_map(|of| headroom_below_need(scenario, &graph, *of)));
    }
    warnings
}

/// Warns of a threshold that the switch's buffer could not hold.
fn threshold_above_buffer(scenario: &Scenario, role: SwitchRole, pfc: &Pfc) -> Option<String> {
    let (size, whose) = match scenario.switches.of(role).buffer {
        Buffer::PerPort(size) | Buffer::Trimming(Trimming { room: size, .. }) => (size, "a port's buffer"),
        Buffer::Shared { size, .. } => (size, "the switch's buffer"),
    };
    let Xoff::Static(xoff) = pfc.xoff else { return None };
    (xoff > size).then(|| {
        format!(
            "switch.{}.pfc_xoff: {} is above {whose}, {}: each link and lossless class has that much beside the buffer here, and \
             no switch has it; lower pfc_xoff, or give the buffer that there is",
            role_name(role),
            xoff.shown(),
            size.shown(),
        )
    })
}

/// Warns of XON so close to XOFF that a PAUSE and a RESUME for each frame take longer than the frame.
fn pauses_that_queue(scenario: &Scenario, role: SwitchRole, pfc: &Pfc) -> Option<String> {
    let pair = 2 * PFC_FRAME.get();
    let lossless = |class: usize| scenario.classes.get(class).is_none_or(|class| class.lossless);
    let sending = scenario.traffic.iter().map(|traffic| &scenario.transports[traffic.transport]);
    let frames = sending.flat_map(|of| [(of.class, of.header + 1), (of.ack_class, of.ack)]);
    let of_lossless = frames.filter(|(class, _)| lossless(*class));
    let shortest = of_lossless.map(|(_, bytes)| u64::from(bytes + scenario.network.framing)).min()?;
    (pfc.hysteresis.get() < pair && shortest < pair && !pfc.replaces_unsent).then(|| {
        format!(
            "switch.{}.pfc_xon: a link goes on {} below XOFF, so that each frame may bring a PAUSE and a RESUME, {pair} bytes; the \
             shortest frames have {shortest}, and many of them make PAUSEs wait for each other: headroom may not be enough. Set \
             XON {pair} bytes below XOFF, or more, or pfc_unsent = \"replace\"",
            role_name(role),
            pfc.hysteresis.shown(),
        )
    })
}

/// Warns of headroom that is less than some link needs when nothing leaves, with the arithmetic of the one that needs most.
fn headroom_below_need(
    scenario: &Scenario,
    graph: &Graph,
    (role, pfc): (SwitchRole, &Pfc),
) -> Option<String> {
    let given = pfc.headroom?;
    let (frame, classes) = (scenario.longest_frame(), scenario.lossless_classes());
    let port_role = |link: u32| {
        let link = graph.link(link);
        let (role, peer) = (graph.role(link.from)?, graph.role(link.to));
        // The port of a relay that faces the fibre has no headroom.
        (peer != Some(SwitchRole::Relay) || role != SwitchRole::Relay).then(|| role.of_port(peer))
    };
    let to_such = (0..graph.links().len() as u32).filter(|link| port_role(link ^ 1) == Some(role));
    let need = |link: &u32| {
        let of = graph.link(*link);
        pfc.lossless_link((of.rate, of.delay), frame, classes).headroom()
    };
    // The first of several that need as much.
    let link = to_such.min_by_key(|link| std::cmp::Reverse(need(link).any_sizes()))?;
    let needed = need(&link);
    let bytes = |time: Span| graph.link(link).rate.sent_in(time).get();
    (given < needed.any_sizes()).then(|| {
        let (role, link, frame) = (role_name(role), graph.link_name(link), frame.get());
        let (given, all) = (given.shown(), needed.any_sizes().get());
        let pause = needed.pause_frame + needed.pfc_ahead;
        let [trip, own, pause, response] =
            [needed.round_trip, needed.own_frame, pause, needed.response].map(bytes);
        format!(
            "switch.{role}.pfc_headroom: {given} is below the {all} bytes that {link} brings after XOFF while nothing leaves: {trip} \
             of a round trip, {own} of this end's own frame, {pause} of PAUSE and what goes before it, {response} of the other end's \
             response, and two frames of {frame}. Frames will be dropped unless enough leaves at any time; leave pfc_headroom out, \
             or give that much",
        )
    })
}
