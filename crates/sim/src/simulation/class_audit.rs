//! Conservation, class by class: what the classes of a port have makes up what the port has, every frame waits in its
//! own queue, and what came to a switch in a class has left it in that class, is dropped, or waits.

use super::exchanged::Amount;
use super::simulator::Simulation;
use crate::net::rules::ClassQueue;
use crate::topology::NodeKind;

impl Simulation {
    /// Panics, naming the port or switch, when a class has lost count of something.
    pub(super) fn assert_classes_balance(&self) {
        for link in 0..self.links() {
            self.assert_queues_are_sorted(link);
            self.assert_classes_make_up_the_port(link);
        }
        // Headers are of no class where packets are cut: what came of one has left as such a header, too.
        let trims = (0..self.links()).any(|link| self.header_queue(link).is_some());
        for class in (0..self.classes()).filter(|_| !trims) {
            self.assert_class_balances(class);
        }
    }

    fn assert_queues_are_sorted(&self, link: u32) {
        let name = self.graph().link_name(link);
        let (domain, at) = self.domain_of_port(link);
        let mut bytes = vec![0; self.classes()];
        let classes = self.classes();
        for (class, frame) in domain.waiting_at(at).filter(|(class, _)| *class < classes) {
            assert_eq!(self.plan.class_of(&frame), class, "a frame waits in another's class at {name}");
            bytes[class] += frame.meta.size();
        }
        for (class, queue) in self.port_classes(link).iter().enumerate() {
            assert_eq!(bytes[class], queue.waiting, "class {class} has lost count of its bytes at {name}");
        }
    }

    fn assert_classes_make_up_the_port(&self, link: u32) {
        let queues = self.port_classes(link);
        if queues.is_empty() {
            return;
        }
        let (port, all) = (self.port_figures(link), self.port_counters(link));
        let queues = queues.iter().chain(self.header_queue(link));
        let sum = |value: fn(&ClassQueue) -> u64| queues.clone().map(value).sum::<u64>();
        let pairs = [
            (sum(|q| q.counters.sent_frames), port.sent_frames),
            (sum(|q| q.counters.sent_bytes), port.sent_bytes),
            (sum(|q| q.counters.dropped_frames), all.dropped_frames),
            (sum(|q| q.counters.dropped_bytes), all.dropped_bytes),
            (sum(|q| q.counters.marked_frames), all.marked_frames),
            (sum(|q| q.counters.lost_frames), all.lost_frames),
            (sum(|q| q.counters.lost_bytes), all.lost_bytes),
            (sum(|q| q.waiting.into()), port.waiting_bytes.into()),
        ];
        for (classes, port) in pairs {
            assert_eq!(classes, port, "the classes are not the whole of {}", self.graph().link_name(link));
        }
    }

    /// For each switch, what came in the class has left in it, is dropped, or waits.
    fn assert_class_balances(&self, class: usize) {
        let mut came = vec![Amount::default(); self.graph().nodes().len()];
        let mut went = came.clone();
        for (id, link) in (0..).zip(self.graph().links()) {
            let queue = &self.port_classes(id)[class];
            let counters = &queue.counters;
            came[link.to as usize]
                .add(counters.sent_frames - counters.lost_frames, counters.sent_bytes - counters.lost_bytes);
            let (domain, at) = self.domain_of_port(id);
            let waiting = domain.waiting_at(at).filter(|(of, _)| *of == class).count() as u64;
            went[link.from as usize].add(
                counters.sent_frames + counters.dropped_frames + waiting,
                counters.sent_bytes + counters.dropped_bytes + u64::from(queue.waiting),
            );
        }
        for (node, sent, taken) in self.by_agents(|of| of == class) {
            came[node as usize].add(sent.frames, sent.bytes);
            went[node as usize].add(taken.frames, taken.bytes);
        }
        for (&(_, node, _), taken) in self.taken().filter(|((.., of), _)| usize::from(*of) == class) {
            went[node as usize].add(taken.frames, taken.bytes);
        }
        // What is on a link has not come yet: it is as if it had gone.
        for event in self.on_links().filter(|event| self.plan.class_of(&event.frame()) == class) {
            let to = self.graph().link(event.id()).to;
            went[to as usize].add(1, u64::from(event.meta().size()));
        }
        for (node, (came, went)) in self.graph().nodes().iter().zip(came.iter().zip(&went)) {
            if matches!(node.kind, NodeKind::Switch(_)) {
                assert_eq!(came, went, "{} has lost count of class {class}", node.name);
            }
        }
    }
}
