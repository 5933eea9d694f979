//! What drivers of network cards are known to keep from a relay. Read in their source; docs/LOSSLESS.md has the table.

use std::fs;
use std::path::Path;

/// A driver's way with flow control that a relay cannot work with as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The name of the driver.
    pub driver: &'static str,
    /// What it does.
    pub does: &'static str,
}

const DROPS_WHAT_HOSTS_SEND: &str = "drops PFC frames that the host sends: nobody hears this relay's PAUSEs";

/// The drivers that are known.
const KNOWN: [Obstacle; 2] = [
    // i40e_add_filter_to_drop_tx_flow_control_frames, in i40e_main.c.
    Obstacle { driver: "i40e", does: DROPS_WHAT_HOSTS_SEND },
    // ice_fltr_add_eth(vsi, ETH_P_PAUSE, ICE_FLTR_TX, ICE_DROP_PACKET), in ice_lib.c.
    Obstacle { driver: "ice", does: DROPS_WHAT_HOSTS_SEND },
];

/// Returns what is in the way on an interface; none where nothing is known.
pub fn obstacle(interface: &str) -> Option<Obstacle> {
    let driver = fs::read_link(Path::new("/sys/class/net").join(interface).join("device/driver")).ok()?;
    of(driver.file_name()?.to_str()?)
}

fn of(driver: &str) -> Option<Obstacle> {
    KNOWN.into_iter().find(|known| known.driver == driver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_told_by_the_drivers_name_and_nothing_of_others() {
        assert_eq!(of("ice").map(|found| found.driver), Some("ice"));
        assert_eq!((of("ixgbe"), of("icen"), of("")), (None, None, None));
        // It has no card, and so no driver.
        assert_eq!(obstacle("lo"), None);
    }

    #[test]
    fn the_page_has_each() {
        let page = include_str!("../../../../docs/LOSSLESS.md");
        assert!(KNOWN.iter().all(|known| page.contains(&format!("`{}`", known.driver))));
    }
}
