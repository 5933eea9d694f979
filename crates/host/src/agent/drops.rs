//! Datagrams that the kernel dropped at a socket.

use std::fs;

/// The sockets of UDP, as the kernel lists them.
const LISTS: [&str; 2] = ["/proc/self/net/udp", "/proc/self/net/udp6"];

/// Datagrams that the kernel dropped at the UDP sockets of a port of this host; none where it does not tell.
pub fn of_udp_port(port: u16) -> Option<u64> {
    let lists = LISTS.iter().filter_map(|list| fs::read_to_string(list).ok());
    let drops: Vec<u64> = lists.flat_map(|list| drops_in(&list, port)).collect();
    (!drops.is_empty()).then(|| drops.iter().sum())
}

/// The last column of each socket of a port.
fn drops_in(list: &str, port: u16) -> Vec<u64> {
    let drops = |line: &str| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1)?.rsplit_once(':')?.1;
        let drops = fields.last()?.parse().ok()?;
        (u16::from_str_radix(local, 16).ok()? == port).then_some(drops)
    };
    list.lines().skip(1).filter_map(drops).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 1188: 0100007F:1CE8 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 50087 2 00000000dc6b8f5b 7
 1189: 00000000:1CE9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 50088 2 00000000dc6b8f5c 9
";

    #[test]
    fn the_drops_of_a_port_are_found_in_the_kernels_list() {
        assert_eq!(
            (drops_in(LIST, 7400), drops_in(LIST, 7401), drops_in(LIST, 7402)),
            (vec![7], vec![9], vec![])
        );
        assert!(drops_in("", 7400).is_empty());
    }
}
