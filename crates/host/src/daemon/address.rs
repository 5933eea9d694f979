//! Addresses as a person writes them: an IP address or a name, and a port.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// A host and a port; the host may have several addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    host: String,
    port: u16,
}

impl HostPort {
    /// The port, from 0 to 65535.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The addresses, in the order in which the system prefers them. To find those of a name may take seconds.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let mut found = Vec::new();
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            if !found.contains(&address) {
                found.push(address);
            }
        }
        if found.is_empty() {
            return Err(io::Error::other("the name has no address"));
        }
        Ok(found)
    }
}

impl FromStr for HostPort {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<HostPort, &'static str> {
        let wanted =
            "expected an address or a name, and a port, such as 10.0.0.2:4600, [::1]:4600 or host:4600";
        let (host, port) = text.rsplit_once(':').ok_or(wanted)?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        // Colons belong to IPv6, which stands in brackets.
        if host.contains(':') != bracketed.is_some() {
            return Err(wanted);
        }
        let host = bracketed.unwrap_or(host);
        let graphic = host.chars().all(|letter| {
            letter.is_alphanumeric() || letter.is_ascii_graphic() && !matches!(letter, '[' | ']')
        });
        let digits = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
        if host.is_empty() || !graphic || !digits {
            return Err(wanted);
        }
        let port = port.parse().map_err(|_| "expected a port of at most 65535")?;
        Ok(HostPort { host: host.to_string(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostPort { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_people_write_them() {
        for (text, address) in [
            ("10.0.0.2:4600", "10.0.0.2:4600"),
            ("[::1]:4600", "[::1]:4600"),
            ("[fe80::1%1]:9", "[fe80::1%1]:9"),
            ("0.0.0.0:0", "0.0.0.0:0"),
        ] {
            let read: HostPort = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.addresses().unwrap(), [address.parse().unwrap()]);
        }
        let local: HostPort = "localhost:7".parse().unwrap();
        let found = local.addresses().unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 7), "{found:?}");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "", ":", "host", "host:", ":4600", "::1:4600", "[::1]", "[::1]:", "[host]:9", "host:x", "host:+9",
        ] {
            assert!(text.parse::<HostPort>().unwrap_err().contains("10.0.0.2:4600"), "{text}");
        }
        for text in ["host:65536", "host:99999999999999999999"] {
            assert!(text.parse::<HostPort>().unwrap_err().contains("65535"), "{text}");
        }
        for text in ["a b:9", "a\0:9", "\u{7}:9", "[::1]x:9", "[[::1]]:9"] {
            assert!(text.parse::<HostPort>().is_err(), "{text:?}");
        }
    }
}
