//! The carriers: what brings a flow's bytes from one host to another.

use std::fmt;

use clearway_proto::baseline::go_back_n::GoBackNParams;
use clearway_proto::baseline::none::NoneParams;
use clearway_proto::parameter::Parameters;
use clearway_proto::swift::SwiftParams;
use serde_json::{Map, Value};

use super::parameters;
use crate::daemon::output::Problem;
use crate::datagram::flow;
use crate::datagram::scheme::AnyScheme;

/// The longest name of a congestion control that the kernel has (`TCP_CA_NAME_MAX`, less its end), in bytes.
const LONGEST_NAME: usize = 15;

/// A carrier with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// The kernel's TCP under the congestion control of this name.
    Tcp(String),
    /// QUIC by quinn under Swift, in windows of one packet and more.
    Quic(Box<SwiftParams>),
    /// Sealed datagrams under one of their schemes.
    Udp(Box<AnyScheme>),
}

impl Carrier {
    /// Reads a carrier's name, such as `tcp:cubic`, and the parameters of its scheme by their names; parameters that are not given have the defaults of
    /// the carrier. An error names the place in the plan.
    pub fn read(name: &str, given: &Map<String, Value>) -> Result<Carrier, Vec<Problem>> {
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
                parameters::read(given, &clearway_quic::defaults()).map(|read| Carrier::Quic(Box::new(read)))
            }
            Some(("udp", "swift")) => udp(given, &flow::defaults(), AnyScheme::Swift),
            Some(("udp", "none")) => udp(given, &NoneParams::default(), AnyScheme::Selective),
            Some(("udp", "go_back_n")) => udp(given, &GoBackNParams::default(), AnyScheme::GoBackN),
            _ => Err(problem(
                format!("carrier: there is no {name:?}"),
                "it is tcp:NAME, such as tcp:cubic, or quic:swift, udp:swift, udp:none or udp:go_back_n",
            )),
        }
    }
}

/// Sealed datagrams under a scheme with these parameters.
fn udp<P: Parameters>(
    given: &Map<String, Value>,
    defaults: &P,
    scheme: fn(P) -> AnyScheme,
) -> Result<Carrier, Vec<Problem>> {
    parameters::read(given, defaults).map(|params| Carrier::Udp(Box::new(scheme(params))))
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Carrier::Tcp(control) => write!(f, "tcp:{control}"),
            Carrier::Quic(_) => write!(f, "quic:swift"),
            Carrier::Udp(scheme) => {
                let name = match **scheme {
                    AnyScheme::Swift(_) => "swift",
                    AnyScheme::Selective(_) => "none",
                    AnyScheme::GoBackN(_) => "go_back_n",
                };
                write!(f, "udp:{name}")
            }
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
