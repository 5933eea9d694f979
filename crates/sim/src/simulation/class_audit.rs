//! Conservation, class by class: what the classes of a port have makes up what the port has, every frame waits in its
//! own queue, and what came to a switch in a class has left it in that class, is dropped, or waits.

use super::audit::Amount;
use super::Simulation;
use crate::net::classes::ClassQueue;
use crate::net::topology::NodeKind;

impl Simulation {
    /// Panics, naming the port or switch, when a class has lost count of something.
    pub(super) fn assert_classes_balance(&self) {
        for link in 0..self.fabric.len() as u32 {
            self.assert_queues_are_sorted(link);
            self.assert_classes_make_up_the_port(link);
        }
        for class in 0..self.fabric.classes().count() {
            self.assert_class_balances(class);
        }
    }

    fn assert_queues_are_sorted(&self, link: u32) {
        let (classes, name) = (self.fabric.classes(), self.graph.link_name(link));
        for (class, queue) in classes.queues(link).iter().enumerate() {
            let mut bytes = 0;
            for frame in self.fabric.waiting_of(link, class) {
                assert_eq!(classes.of(&frame), class, "a frame waits in another's class at {name}");
                bytes += frame.meta.size();
            }
            assert_eq!(bytes, queue.waiting, "class {class} has lost count of its bytes at {name}");
        }
    }

    fn assert_classes_make_up_the_port(&self, link: u32) {
        let queues = self.fabric.classes().queues(link);
        if queues.is_empty() {
            return;
        }
        let (port, all) = (self.fabric.port(link), self.fabric.counters(link));
        let sum = |value: fn(&ClassQueue) -> u64| queues.iter().map(value).sum::<u64>();
        let pairs = [
            (sum(|q| q.counters.sent_frames), port.sent_frames),
            (sum(|q| q.counters.sent_bytes), port.sent_bytes),
            (sum(|q| q.counters.dropped_frames), all.dropped_frames),
            (sum(|q| q.counters.dropped_bytes), all.dropped_bytes),
            (sum(|q| q.counters.marked_frames), all.marked_frames),
            (sum(|q| q.counters.lost_frames), all.lost_frames),
            (sum(|q| q.counters.lost_bytes), all.lost_bytes),
            (sum(|q| q.waiting.into()), port.waiting.into()),
        ];
        for (classes, port) in pairs {
            assert_eq!(classes, port, "the classes are not the whole of {}", self.graph.link_name(link));
        }
    }

    /// Per switch.
    fn assert_class_balances(&self, class: usize) {
        let classes = self.fabric.classes();
        let mut came = vec![Amount::default(); self.graph.nodes().len()];
        let mut went = came.clone();
        for (id, link) in self.graph.links().iter().enumerate() {
            let queue = classes.queue(id as u32, class);
            let counters = &queue.counters;
            came[link.to as usize]
                .add(counters.sent_frames - counters.lost_frames, counters.sent_bytes - counters.lost_bytes);
            let waiting = self.fabric.waiting_of(id as u32, class).count() as u64;
            went[link.from as usize].add(
                counters.sent_frames + counters.dropped_frames + waiting,
                counters.sent_bytes + counters.dropped_bytes + u64::from(queue.waiting),
            );
        }
        // What is on a link has not come yet: it is as if it had gone.
        for event in self.queue.arrivals().filter(|event| classes.of(&event.frame()) == class) {
            let to = self.graph.link(event.id()).to;
            went[to as usize].add(1, u64::from(event.frame().meta.size()));
        }
        for (node, (came, went)) in self.graph.nodes().iter().zip(came.iter().zip(&went)) {
            if matches!(node.kind, NodeKind::Switch(_)) {
                assert_eq!(came, went, "{} has lost count of class {class}", node.name);
            }
        }
    }
}
