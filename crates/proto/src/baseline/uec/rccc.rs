//! RCCC, receiver-credit congestion control: packets leave on credit that the receiver's NIC grants at a little less than its
//! rate, in turn to all flows that end there (ultraethernet/uet-htsim, `htsim/sim/uec.cpp`).
//!
//! Alone ([`RcccParams`]) it is htsim's `-receiver_cc_only`; with NSCC's window beside it ([`NsccRcccParams`]), `-sender_cc
//! -receiver_cc`. At the sender there is [`super::credit`], at the receiver [`super::demand`] for each flow and
//! [`super::pull_pacer`] for its NIC.

use super::credit::{signed, CreditTerms};
use super::credited::{Credited, CreditedShared};
use super::nscc::{base_rtt, rto, Nscc, NsccShared};
use super::NsccParams;
use crate::baseline::none::{Fixed, NoControl};
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::{
    common, AckPolicy, Path, PullTerms, Scheme, SelectiveReceiver, SelectiveRepeat, CREDIT_QUANTUM,
};
use crate::units::{Bytes, Rate, Span};

/// The parameters of credit, whatever is beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct CreditParams {
    /// Credit of a new flow, the most that a flow may have and ask for, and the most that it is granted ahead, as a multiple of the
    /// bandwidth-delay product. 1.5 (`initRccc`).
    pub max_credit: f64,
    /// Full packets for which credit is granted at a time. 4 (`_mtus_per_pull`).
    pub pull_packets: u32,
    /// Share of the receiving NIC's rate at which credit is granted. 0.99 (`UecPullPacer` in `main_uec.cpp`).
    pub pull_rate: f64,
    /// How long a flow without credit waits for a grant before it sends a packet without one; twice as long each further time. 1 ms,
    /// which is ours: htsim loses no grants.
    pub credit_timeout: Span,
}

impl Default for CreditParams {
    fn default() -> CreditParams {
        CreditParams { max_credit: 1.5, pull_packets: 4, pull_rate: 0.99, credit_timeout: Span::from_ms(1) }
    }
}

impl CreditParams {
    fn read(r: &mut impl ParameterReader, d: &CreditParams) -> CreditParams {
        let most = "Credit of a new flow, and the most that one may have or be granted ahead, as a multiple of the bandwidth-delay product.";
        let packets = "Full packets for which a receiver grants credit at a time.";
        let rate = "Share of the receiving NIC's rate at which credit is granted.";
        let timeout = "How long a flow without credit waits for a grant before it sends a packet without one; twice as long each further time.";
        CreditParams {
            max_credit: r.value(&Parameter::new("max_credit", most, 0.01..=100.0), d.max_credit),
            pull_packets: r.value(&Parameter::new("pull_packets", packets, 1..=1000), d.pull_packets),
            pull_rate: r.value(&Parameter::new("pull_rate", rate, 0.01..=1.0), d.pull_rate),
            credit_timeout: r.value(&common::timeout("credit_timeout", timeout), d.credit_timeout),
        }
    }

    /// The most credit of a flow on such a path, in bytes.
    fn most(&self, base_rtt: Span, path: Path) -> u64 {
        let bytes = base_rtt.as_secs_f64() * path.rate.as_bps() as f64 / 8.0;
        ((self.max_credit * bytes) as u64).max(path.frame.get())
    }

    fn credit_terms(&self, base_rtt: Span, path: Path) -> CreditTerms {
        CreditTerms {
            most: signed(self.most(base_rtt, path)),
            frame: signed(path.frame.get()),
            header: signed(path.header.get()),
            timeout: self.credit_timeout,
        }
    }

    fn pull_terms(&self, base_rtt: Span, path: Path, nic: Rate) -> PullTerms {
        let quantum = CREDIT_QUANTUM.get();
        let each = u64::from(self.pull_packets) * path.frame.get() / quantum;
        PullTerms {
            each: each.max(1),
            ahead: self.most(base_rtt, path) / quantum,
            by_arrival: false,
            quantum: nic.transmission(CREDIT_QUANTUM).scaled(1.0 / self.pull_rate),
        }
    }
}

/// Parameters of RCCC alone. `None` stands for what follows from the base round trip.
#[derive(Clone, Debug, PartialEq)]
pub struct RcccParams {
    /// Credit.
    pub credit: CreditParams,
    /// Base round-trip time of the network, the same for all flows (`network_max_unloaded_rtt`). None: that of each flow's own path.
    pub base_rtt: Option<Span>,
    /// Retransmission timeout, which nothing lengthens. None: 15 us and six base round trips, as for [`NsccParams::rto`].
    pub rto: Option<Span>,
    /// Packets that must have arrived above a hole before it counts as lost. Never, as for [`NsccParams::dup_threshold`].
    pub dup_threshold: u32,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 4096.
    pub reach: u32,
}

impl Default for RcccParams {
    fn default() -> RcccParams {
        let NsccParams { dup_threshold, reach, .. } = NsccParams::default();
        RcccParams { credit: CreditParams::default(), base_rtt: None, rto: None, dup_threshold, reach }
    }
}

impl Parameters for RcccParams {
    fn read(r: &mut impl ParameterReader, d: &RcccParams) -> RcccParams {
        let time = Span::from_ns(1)..=Span::from_secs(1);
        let base_rtt = "Base round-trip time of the network, the same for all flows.";
        let base_rtt = Parameter::new("base_rtt", base_rtt, time);
        let threshold = "Packets received above a hole before it counts as lost; the most there can be, if only a timer is to say so.";
        let threshold = Parameter::new("dup_threshold", threshold, 1..=*common::REACH.end());
        RcccParams {
            credit: CreditParams::read(r, &d.credit),
            base_rtt: r.optional(&base_rtt, "that of each flow's path").or(d.base_rtt),
            rto: r.optional(&common::rto(), "15us and six base round trips").or(d.rto),
            dup_threshold: r.value(&threshold, d.dup_threshold),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        common::check_reach(self.reach)
    }
}

impl Scheme for RcccParams {
    type Control = Credited<NoControl>;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    /// What a packet of htsim weighs beside its payload (`_hdr_size`).
    const HEADER: Bytes = NsccParams::HEADER;

    /// Marks change nothing, except for what remembers paths.
    fn ecn_capable(&self) -> bool {
        true
    }

    fn trimmable(&self) -> bool {
        true
    }

    fn pull_terms(&self, path: Path, nic: Rate) -> Option<PullTerms> {
        Some(self.credit.pull_terms(base_rtt(self.base_rtt, path), path, nic))
    }

    fn shared(&self, path: Path) -> CreditedShared<Fixed> {
        let base_rtt = base_rtt(self.base_rtt, path);
        let control = Fixed::new(self.reach, None, rto(self.rto, base_rtt));
        CreditedShared { control, terms: self.credit.credit_terms(base_rtt, path) }
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach)
    }
}

/// Parameters of RCCC and NSCC together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NsccRcccParams {
    /// NSCC, and what is common to both.
    pub nscc: NsccParams,
    /// Credit.
    pub credit: CreditParams,
}

impl Parameters for NsccRcccParams {
    fn read(r: &mut impl ParameterReader, d: &NsccRcccParams) -> NsccRcccParams {
        NsccRcccParams { nscc: NsccParams::read(r, &d.nscc), credit: CreditParams::read(r, &d.credit) }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.nscc.conflicts()
    }
}

impl Scheme for NsccRcccParams {
    type Control = Credited<Nscc>;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    const HEADER: Bytes = NsccParams::HEADER;

    fn ecn_capable(&self) -> bool {
        true
    }

    fn trimmable(&self) -> bool {
        true
    }

    fn pull_terms(&self, path: Path, nic: Rate) -> Option<PullTerms> {
        Some(self.credit.pull_terms(base_rtt(self.nscc.base_rtt, path), path, nic))
    }

    fn shared(&self, path: Path) -> CreditedShared<NsccShared> {
        let control = self.nscc.shared(path).beside_credit();
        CreditedShared { control, terms: self.credit.credit_terms(base_rtt(self.nscc.base_rtt, path), path) }
    }

    fn reach(&self) -> u32 {
        self.nscc.reach
    }

    fn dup_threshold(&self) -> u32 {
        self.nscc.dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        self.nscc.recovery()
    }

    fn receiver(&self) -> SelectiveReceiver {
        self.nscc.receiver()
    }
}
