//! The carriers: what brings a flow's bytes from one host to another.

use std::fmt;

use clearway_proto::swift::SwiftParams;
use serde_json::{Map, Value};

use super::parameters;
use crate::daemon::output::Problem;
use crate::datagram::flow;

/// The longest name of a congestion control that the kernel has (`TCP_CA_NAME_MAX`, less its end), in bytes.
const LONGEST_NAME: usize = 15;

/// A carrier with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// The kernel's TCP under the congestion control of this name.
    Tcp(String),
    /// QUIC by quinn under Swift, in windows of one packet and more.
    Quic(Box<SwiftParams>),
    /// Swift over sealed datagrams.
    Udp(Box<SwiftParams>),
}

impl Carrier {
    /// Reads a carrier's name, such as `tcp:cubic`, and Swift's parameters by their names; parameters that are not given have the defaults of
    /// the carrier. An error names the place in the plan.
    pub fn read(name: &str, swift: &Map<String, Value>) -> Result<Carrier, Vec<Problem>> {
        let problem = |message: String, remedy: &str| vec![Problem::new(message, remedy)];
        match name.split_once(':') {
            Some(("tcp", control)) => {
                let fits = (1..=LONGEST_NAME).contains(&control.len())
                    && control.bytes().all(|byte| byte.is_ascii_graphic());
                if !fits {
                    let remedy = "name a congestion control of the kernel, such as tcp:cubic; sysctl net.ipv4.tcp_available_congestion_control lists them";
                    return Err(problem(format!("carrier: {name:?} names no congestion control"), remedy));
                }
                Ok(Carrier::Tcp(control.into()))
            }
            Some(("quic", "swift")) => {
                parameters::read(swift, &clearway_quic::defaults()).map(|read| Carrier::Quic(Box::new(read)))
            }
            Some(("udp", "swift")) => {
                parameters::read(swift, &flow::defaults()).map(|read| Carrier::Udp(Box::new(read)))
            }
            _ => Err(problem(
                format!("carrier: there is no {name:?}"),
                "it is tcp:NAME, such as tcp:cubic, or quic:swift, or udp:swift",
            )),
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Carrier::Tcp(control) => write!(f, "tcp:{control}"),
            Carrier::Quic(_) => write!(f, "quic:swift"),
            Carrier::Udp(_) => write!(f, "udp:swift"),
        }
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::units::Span;
    use serde_json::json;

    use super::*;

    fn read(name: &str, swift: &Value) -> Result<Carrier, String> {
        let read = Carrier::read(name, swift.as_object().unwrap());
        read.map_err(|problems| {
            problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
        })
    }

    #[test]
    fn carriers_are_read_by_their_names() {
        assert_eq!(read("tcp:dctcp", &json!({})), Ok(Carrier::Tcp("dctcp".into())));
        let Ok(Carrier::Quic(swift)) = read("quic:swift", &json!({ "base_target": "70us" })) else {
            panic!()
        };
        assert_eq!(
            (swift.base_target, swift.max_cwnd),
            (Span::from_us(70), clearway_quic::defaults().max_cwnd)
        );
        for name in
            ["", "tcp", "tcp:", "tcp:a name", "tcp:abcdefghijklmnop", "quic:cubic", "udp", "rdma:dcqcn"]
        {
            assert!(read(name, &json!({})).unwrap_err().starts_with("carrier: "), "{name}");
        }
    }
}
