//! The links of a network, and which of them a packet passes.

use crate::fastpass::fcp::{Address, Path};
use crate::fastpass::paths::{DeadLinks, FatTreeShape, Link, PathError, Racks};

/// The links that a packet passes, as numbers; at most six.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    links: [u32; 6],
    len: u8,
}

impl Route {
    pub(super) fn into_links(self) -> impl Iterator<Item = usize> {
        self.links.into_iter().take(self.len.into()).map(|link| link as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.links[..usize::from(self.len)].iter().map(|&link| link as usize)
    }
}

/// A network whose links are numbered: first those that a path can avoid, then those of endpoints.
#[derive(Clone, Debug)]
pub(super) struct Links {
    racks: Racks,
    racks_per_pod: usize,
    /// Spine or aggregation switches that a rack reaches.
    switches: usize,
    /// Core switches that an aggregation switch reaches; 0 if there are none.
    cores: usize,
    /// The network with no link dead.
    none_dead: DeadLinks,
}

impl Links {
    pub(super) fn leaf_spine(racks: Racks, paths: usize) -> Result<Links, PathError> {
        let none_dead = DeadLinks::leaf_spine(&racks, paths)?;
        let racks_per_pod = racks.racks();
        Ok(Links { racks, racks_per_pod, switches: paths, cores: 0, none_dead })
    }

    pub(super) fn fat_tree(racks: Racks, shape: FatTreeShape) -> Result<Links, PathError> {
        let FatTreeShape { racks_per_pod, aggregation, cores } = shape;
        let none_dead = DeadLinks::fat_tree(&racks, shape)?;
        Ok(Links { racks, racks_per_pod, switches: aggregation, cores, none_dead })
    }

    pub(super) fn endpoints(&self) -> usize {
        self.racks.endpoints()
    }

    /// The network with no link dead.
    pub(super) fn none_dead(&self) -> &DeadLinks {
        &self.none_dead
    }

    fn pods(&self) -> usize {
        self.racks.racks() / self.racks_per_pod
    }

    /// Links between racks and switches, in one direction.
    fn of_racks(&self) -> usize {
        self.racks.racks() * self.switches
    }

    /// Links between aggregation and core switches, in one direction.
    fn of_cores(&self) -> usize {
        self.pods() * self.switches * self.cores
    }

    /// The link from an endpoint.
    pub(super) fn leaving(&self, endpoint: Address) -> usize {
        self.avoidable() + usize::from(endpoint)
    }

    /// The number of the first link to an endpoint, behind those of all others.
    pub(super) fn first_to_endpoint(&self) -> usize {
        self.avoidable() + self.endpoints()
    }

    /// Links that a path can avoid: the numbers below this.
    pub(super) fn avoidable(&self) -> usize {
        2 * (self.of_racks() + self.of_cores())
    }

    pub(super) fn count(&self) -> usize {
        self.avoidable() + 2 * self.endpoints()
    }

    /// The link of a number.
    pub(super) fn link(&self, number: usize) -> Link {
        let (of_racks, of_cores) = (self.of_racks(), self.of_cores());
        let (switches, cores) = (self.switches, self.cores);
        if number < 2 * of_racks {
            let (rack, switch) = (number % of_racks / switches, number % switches);
            return if number < of_racks {
                Link::FromRack { rack, switch }
            } else {
                Link::ToRack { rack, switch }
            };
        }
        let number = number - 2 * of_racks;
        if number < 2 * of_cores {
            let (pod, aggregation) =
                (number % of_cores / cores / switches, number % of_cores / cores % switches);
            let core = number % cores;
            return if number < of_cores {
                Link::ToCore { pod, aggregation, core }
            } else {
                Link::FromCore { pod, aggregation, core }
            };
        }
        let number = number - 2 * of_cores;
        match number.checked_sub(self.endpoints()) {
            None => Link::FromEndpoint(number as Address),
            Some(endpoint) => Link::ToEndpoint(endpoint as Address),
        }
    }

    /// The number of a link.
    ///
    /// Panics if there is no such link.
    pub(super) fn number(&self, link: Link) -> usize {
        let (of_racks, of_cores) = (self.of_racks(), self.of_cores());
        let (switches, cores) = (self.switches, self.cores);
        let core_link = |pod: usize, aggregation: usize, core: usize| {
            2 * of_racks + (pod * switches + aggregation) * cores + core
        };
        let number = match link {
            Link::FromRack { rack, switch } => rack * switches + switch,
            Link::ToRack { rack, switch } => of_racks + rack * switches + switch,
            Link::ToCore { pod, aggregation, core } => core_link(pod, aggregation, core),
            Link::FromCore { pod, aggregation, core } => of_cores + core_link(pod, aggregation, core),
            Link::FromEndpoint(endpoint) => self.leaving(endpoint),
            Link::ToEndpoint(endpoint) => self.first_to_endpoint() + usize::from(endpoint),
        };
        assert!(self.link(number) == link, "there is no link {link:?}");
        number
    }

    /// The links of a packet. `None` if there is no such packet: an unknown endpoint or path, or one endpoint as both.
    pub(super) fn route(&self, source: Address, destination: Address, path: Path) -> Option<Route> {
        let (from, to) = self.racks.of((source, destination)).ok()?;
        let (from, to, path) = (usize::from(from), usize::from(to), usize::from(path));
        if source == destination || path >= self.switches * self.cores.max(1) {
            return None;
        }
        let mut route = Route { links: [0; 6], len: 0 };
        let mut pass = |link: usize| {
            route.links[usize::from(route.len)] = link as u32;
            route.len += 1;
        };
        pass(self.leaving(source));
        if from != to {
            let (switch, core) = (path / self.cores.max(1), path % self.cores.max(1));
            pass(from * self.switches + switch);
            let (pod, far) = (from / self.racks_per_pod, to / self.racks_per_pod);
            if pod != far {
                let first = 2 * self.of_racks();
                pass(first + (pod * self.switches + switch) * self.cores + core);
                pass(first + self.of_cores() + (far * self.switches + switch) * self.cores + core);
            }
            pass(self.of_racks() + to * self.switches + switch);
        }
        pass(self.first_to_endpoint() + usize::from(destination));
        Some(route)
    }
}
