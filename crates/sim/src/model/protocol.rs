//! The schemes there are, as data: which one a transport runs, and its parameters.
//!
//! A line of the list is a scheme: its kind, its parameters, its name in a scenario, and what it is. The rest is made
//! from the list by those who need it: the reader of its keys in a scenario, and its sender in the simulator.

use clearway_proto::transport::{CongestionControl, Scheme, Telemetry};

/// Calls the macro of this name with the list of schemes.
macro_rules! for_each_scheme {
    ($call:ident) => {
        $call! {
            Swift(clearway_proto::swift::SwiftParams) = "swift", "Swift (SIGCOMM 2020)";
            Dctcp(clearway_proto::baseline::dctcp::DctcpParams) = "dctcp", "DCTCP (RFC 8257)";
            Fastpass(clearway_proto::fastpass::transport::FastpassParams) = "fastpass", "Fastpass (SIGCOMM 2014)";
            Gcn(clearway_proto::baseline::gcn::GcnParams) = "gcn", "GCN (SIGCOMM 2020, section 4)";
            Cubic(clearway_proto::baseline::cubic::CubicParams) = "cubic", "Cubic (RFC 9438)";
            Reno(clearway_proto::baseline::reno::RenoParams) = "reno", "Reno (RFC 5681, RFC 6675)";
            None(clearway_proto::baseline::none::NoneParams) =
                "none", "no congestion control: a fixed window, a fixed rate, or neither";
            GoBackN(clearway_proto::baseline::go_back_n::GoBackNParams) =
                "go_back_n", "a fixed window, and after a loss everything from there on again, as RoCE does";
            Roce(clearway_proto::baseline::rdma::roce::RoceParams) =
                "roce", "RDMA over Ethernet at the rate of the NIC, with go-back-N or selective repeat, with or without DCQCN";
            Irn(clearway_proto::baseline::rdma::irn::IrnParams) =
                "irn", "IRN (SIGCOMM 2018): RDMA that survives loss, in a window of one bandwidth-delay product, with or without DCQCN";
            Hpcc(clearway_proto::baseline::rdma::hpcc::HpccParams) = "hpcc", "HPCC (SIGCOMM 2019): RDMA whose window follows what switches write into its packets";
            Timely(clearway_proto::baseline::rdma::timely::TimelyParams) = "timely", "TIMELY (SIGCOMM 2015): RDMA whose rate follows the round trip and its gradient";
            Nscc(clearway_proto::baseline::uec::NsccParams) = "nscc", "NSCC as uet-htsim has it: a window from delay and marks, for switches that trim";
            Rccc(clearway_proto::baseline::uec::RcccParams) =
                "rccc", "RCCC as uet-htsim has it: packets leave on credit that the receiver's NIC grants to its flows in turn, a little below its rate";
            NsccRccc(clearway_proto::baseline::uec::NsccRcccParams) = "nscc_rccc", "NSCC's window and RCCC's credit together";
            Ndp(clearway_proto::baseline::ndp::NdpParams) =
                "ndp", "NDP (SIGCOMM 2017): a first window is pushed, and the receiver pulls the rest at the rate of its link, for switches that trim";
        }
    };
}
pub(crate) use for_each_scheme;

macro_rules! protocol {
    ($($Kind:ident($Params:ty) = $name:literal, $what:literal;)*) => {
        /// What a transport runs, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Protocol {
            $(#[doc = concat!($what, ".")] $Kind($Params),)*
        }

        impl Protocol {
            /// All schemes in a sentence, for the schema.
            pub(crate) const DOC: &str =
                concat!("What decides how much is under way" $(, "; ", $name, ": ", $what)*, ".");

            /// See [`Scheme::ecn_capable`].
            pub fn ecn_capable(&self) -> bool {
                match self { $(Protocol::$Kind(p) => p.ecn_capable(),)* }
            }

            /// Returns whether switches write telemetry into its data packets; see [`CongestionControl::Telemetry`].
            pub fn has_telemetry(&self) -> bool {
                match self {
                    $(Protocol::$Kind(_) => {
                        <<<$Params as Scheme>::Control as CongestionControl>::Telemetry as Telemetry>::IS_WRITTEN
                    })*
                }
            }

            /// See [`Scheme::trimmable`].
            pub fn trimmable(&self) -> bool {
                match self { $(Protocol::$Kind(p) => p.trimmable(),)* }
            }

            /// See [`Scheme::tracked_packets`].
            pub fn tracked_packets(&self) -> u32 {
                match self { $(Protocol::$Kind(p) => p.tracked_packets(),)* }
            }

            /// See [`Scheme::max_window`].
            pub fn max_window(&self) -> f64 {
                match self { $(Protocol::$Kind(p) => p.max_window(),)* }
            }

            /// See [`Scheme::dup_threshold`].
            pub fn dup_threshold(&self) -> u32 {
                match self { $(Protocol::$Kind(p) => p.dup_threshold(),)* }
            }
        }
    };
}

for_each_scheme!(protocol);
