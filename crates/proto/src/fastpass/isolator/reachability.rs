//! Which racks can reach each other without the links that are avoided.

use super::links::Links;
use super::Link;

/// The links in use, as sets of switches: bit `i` for spine, aggregation or core switch `i`.
#[derive(Clone, Debug)]
pub(super) struct Reachability {
    racks_per_pod: usize,
    switches: usize,
    cores: usize,
    /// For each rack, the switches that it reaches, and those that reach it.
    up: Box<[u32]>,
    down: Box<[u32]>,
    /// For each pod and aggregation switch, the core switches that it reaches, and those that reach it. Empty without core
    /// switches.
    to_core: Box<[u32]>,
    from_core: Box<[u32]>,
}

impl Reachability {
    /// All links are in use.
    pub(super) fn new(links: &Links) -> Reachability {
        let (racks, switches, cores) = (links.racks(), links.switches(), links.cores());
        let of_racks = vec![0; racks].into_boxed_slice();
        let aggregations = if cores == 0 { 0 } else { racks / links.racks_per_pod() * switches };
        let of_cores = vec![0; aggregations].into_boxed_slice();
        let mut reachability = Reachability {
            racks_per_pod: links.racks_per_pod(),
            switches,
            cores,
            up: of_racks.clone(),
            down: of_racks,
            to_core: of_cores.clone(),
            from_core: of_cores,
        };
        reachability.open_all();
        reachability
    }

    /// Takes all links into use.
    pub(super) fn open_all(&mut self) {
        let all = |count: usize| u32::MAX >> (32 - count as u32).min(31);
        self.up.fill(all(self.switches));
        self.down.fill(all(self.switches));
        self.to_core.fill(all(self.cores));
        self.from_core.fill(all(self.cores));
    }

    /// The set that a link between switches is in, and its place there; `None` for an endpoint's.
    fn place(&mut self, link: Link) -> Option<(&mut u32, usize)> {
        let switches = self.switches;
        match link {
            Link::FromRack { rack, switch } => Some((&mut self.up[rack], switch)),
            Link::ToRack { rack, switch } => Some((&mut self.down[rack], switch)),
            Link::ToCore { pod, aggregation, core } => {
                Some((&mut self.to_core[pod * switches + aggregation], core))
            }
            Link::FromCore { pod, aggregation, core } => {
                Some((&mut self.from_core[pod * switches + aggregation], core))
            }
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => None,
        }
    }

    /// Takes a link out of use, whatever that cuts off.
    pub(super) fn close(&mut self, link: Link) {
        if let Some((set, switch)) = self.place(link) {
            *set &= !(1 << switch);
        }
    }

    /// Takes a link out of use, unless racks that could reach each other could not then. Returns whether it is out of use.
    pub(super) fn close_if_spared(&mut self, link: Link) -> bool {
        let pairs_before = self.joined(link);
        self.close(link);
        if self.joined(link) == pairs_before {
            return true;
        }
        if let Some((set, switch)) = self.place(link) {
            *set |= 1 << switch;
        }
        false
    }

    /// Returns how many pairs of racks that packets pass this link between can reach each other.
    fn joined(&self, link: Link) -> usize {
        let racks = 0..self.up.len();
        let of_pod = |pod: usize| pod * self.racks_per_pod..(pod + 1) * self.racks_per_pod;
        let (from, to) = match link {
            Link::FromRack { rack, .. } => (rack..rack + 1, racks),
            Link::ToRack { rack, .. } => (racks, rack..rack + 1),
            Link::ToCore { pod, .. } => (of_pod(pod), racks),
            Link::FromCore { pod, .. } => (racks, of_pod(pod)),
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => (0..0, 0..0),
        };
        from.map(|from| to.clone().filter(|&to| self.reaches(from, to)).count()).sum()
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        if from == to {
            return true;
        }
        let both = self.up[from] & self.down[to];
        let (pod, far) = (from / self.racks_per_pod, to / self.racks_per_pod);
        if pod == far {
            return both != 0;
        }
        (0..self.switches).any(|switch| {
            let cores =
                self.to_core[pod * self.switches + switch] & self.from_core[far * self.switches + switch];
            both >> switch & 1 == 1 && cores != 0
        })
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
        assert!(!reachability.reaches(0, 1) && reachability.reaches(0, 2) && reachability.reaches(2, 1));
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
