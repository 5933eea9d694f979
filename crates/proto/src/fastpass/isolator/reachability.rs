//! Which racks can reach each other without the links that are avoided.

use super::links::Links;
use super::Link;
use crate::fastpass::paths::DeadLinks;

/// The links that are out of use.
#[derive(Clone, Debug)]
pub(super) struct Reachability {
    dead: DeadLinks,
}

impl Reachability {
    /// All links are in use.
    pub(super) fn new(links: &Links) -> Reachability {
        Reachability { dead: links.none_dead().clone() }
    }

    /// Takes all links into use.
    pub(super) fn open_all(&mut self) {
        self.dead.revive_all();
    }

    /// Takes a link out of use, whatever that cuts off.
    pub(super) fn close(&mut self, link: Link) {
        self.dead.set(link, true).expect("a link of this network");
    }

    /// Takes a link out of use, unless racks that could reach each other could not then. Returns whether it is out of use.
    pub(super) fn close_if_spared(&mut self, link: Link) -> bool {
        let pairs_before = self.joined(link);
        self.close(link);
        let spared = self.joined(link) == pairs_before;
        if !spared {
            self.dead.set(link, false).expect("a link of this network");
        }
        spared
    }

    /// Returns how many pairs of racks that packets pass this link between can reach each other.
    fn joined(&self, link: Link) -> usize {
        let racks = 0..self.dead.racks();
        let of_pod = |pod: usize| pod * self.dead.racks_per_pod..(pod + 1) * self.dead.racks_per_pod;
        let (from, to) = match link {
            Link::FromRack { rack, .. } => (rack..rack + 1, racks),
            Link::ToRack { rack, .. } => (racks, rack..rack + 1),
            Link::ToCore { pod, .. } => (of_pod(pod), racks),
            Link::FromCore { pod, .. } => (racks, of_pod(pod)),
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => (0..0, 0..0),
        };
        from.map(|from| to.clone().filter(|&to| self.dead.joins(from, to)).count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::paths::{FatTreeShape, Racks};

    #[test]
    fn the_last_way_stays_open() {
        let links = Links::leaf_spine(Racks::uniform(3, 2).expect("racks"), 2).expect("links");
        let mut reachability = Reachability::new(&links);
        assert!(reachability.close_if_spared(Link::FromRack { rack: 0, switch: 0 }));
        assert!(
            !reachability.close_if_spared(Link::FromRack { rack: 0, switch: 1 }),
            "rack 0 could not send"
        );
        assert!(
            !reachability.close_if_spared(Link::ToRack { rack: 2, switch: 1 }),
            "rack 0 could not send to rack 2"
        );
        assert!(
            reachability.close_if_spared(Link::ToRack { rack: 0, switch: 1 }),
            "the others can, through switch 0"
        );
        reachability.open_all();
        assert!(reachability.close_if_spared(Link::FromRack { rack: 0, switch: 1 }));
        // What is known to be dead is closed all the same, and what racks it cut off cannot lose anything more.
        reachability.close(Link::ToRack { rack: 1, switch: 0 });
        assert!(
            !reachability.dead.joins(0, 1) && reachability.dead.joins(0, 2) && reachability.dead.joins(2, 1)
        );
        assert!(
            !reachability.close_if_spared(Link::ToRack { rack: 2, switch: 0 }),
            "rack 0 could not send to rack 2"
        );
        reachability.close(Link::FromRack { rack: 0, switch: 0 });
        assert!(
            reachability.close_if_spared(Link::ToRack { rack: 2, switch: 0 }),
            "rack 1 can send through switch 1"
        );
    }

    #[test]
    fn a_fat_tree_has_ways_through_each_aggregation_switch() {
        let shape = FatTreeShape { racks_per_pod: 2, aggregation: 2, cores: 2 };
        let links = Links::fat_tree(Racks::uniform(8, 2).expect("racks"), shape).expect("links");
        let mut reachability = Reachability::new(&links);
        for core in 0..2 {
            assert!(reachability.close_if_spared(Link::ToCore { pod: 0, aggregation: 1, core }));
        }
        assert!(reachability.close_if_spared(Link::ToCore { pod: 0, aggregation: 0, core: 1 }));
        assert!(
            !reachability.close_if_spared(Link::ToCore { pod: 0, aggregation: 0, core: 0 }),
            "pod 0 could not send"
        );
        assert!(
            !reachability.close_if_spared(Link::ToRack { rack: 7, switch: 0 }),
            "pod 0 could not send to rack 7"
        );
        assert!(reachability.close_if_spared(Link::ToRack { rack: 7, switch: 1 }));
        assert!(
            reachability.close_if_spared(Link::FromRack { rack: 1, switch: 1 }),
            "rack 0 is reached through either"
        );
    }
}
