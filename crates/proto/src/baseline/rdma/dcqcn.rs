//! DCQCN's parameters (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015), in two sets: the
//! paper's and those with which Mellanox (NVIDIA) sells its adapters. A set is where the values begin that nothing else
//! says; the two differ in two rules as well, which are [`DcqcnSet`]'s.

use crate::parameter::{Parameter, ParameterReader};
use crate::units::{Bytes, Rate, Span, RATES};

/// Whose DCQCN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DcqcnSet {
    /// The paper's: a notification raises alpha, each cut makes the rate before it the target.
    Paper,
    /// Mellanox's: alpha moves once a period, up if a notification came within it and else down; cuts come at the ends of such
    /// periods, too, from the first notification on; a cut that follows another
    /// without an increase between leaves the target (`clamp_tgt_rate` 0).
    Mellanox,
}

const SETS: &[(&str, DcqcnSet)] = &[("paper", DcqcnSet::Paper), ("mellanox", DcqcnSet::Mellanox)];

/// Parameters of DCQCN. The defaults given here are of the paper's set and of Mellanox's.
#[derive(Clone, Debug, PartialEq)]
pub struct DcqcnParams {
    /// The set from which the other values are, where nothing else was said.
    pub set: DcqcnSet,
    /// Least time between two congestion notification packets (CNPs) of a flow. 50 us (section 3.1); 4 us
    /// (`min_time_between_cnps`).
    pub cnp_interval: Span,
    /// Weight of a notification in alpha (`g`). 1/256; 5/1024 (`dce_tcp_g` 1019).
    pub gain: f64,
    /// Alpha at a flow's first notification. 1; 1023/1024 (`initial_alpha_value`).
    pub initial_alpha: f64,
    /// Time without a notification after which alpha falls; of Mellanox's, the time between two updates. 55 us (`K`); 1 us
    /// (`dce_tcp_rtt`).
    pub alpha_timer: Span,
    /// Least time between two cuts; a notification that comes earlier cuts at its end. By Mellanox's rule, the time between two
    /// looks at whether one has come, from the flow's first on. 0; 4 us
    /// (`rate_reduce_monitor_period`).
    pub decrease_interval: Span,
    /// Time between two increases. 55 us (`T`); 300 us (`rpg_time_reset`).
    pub increase_timer: Span,
    /// Payload sent between two increases; 0: bytes are not counted. 10 MB (`B`); 0, as HPCC's authors have it.
    pub byte_counter: Bytes,
    /// Increases that halve the way to the target before those that raise it (`F`). 5; 1 (`rpg_threshold`).
    pub fast_recovery: u32,
    /// Additive increase of the target (`R_AI`). 40 Mb/s; 5 Mb/s (`rpg_ai_rate`).
    pub ai_rate: Rate,
    /// Hyper increase of the target (`R_HAI`). 400 Mb/s, ten times `R_AI` as in IEEE 802.1Qau; 50 Mb/s (`rpg_hai_rate`).
    pub hai_rate: Rate,
    /// Smallest rate. 10 Mb/s (IEEE 802.1Qau); 1 Mb/s (`rpg_min_rate`).
    pub min_rate: Rate,
}

impl DcqcnSet {
    /// The values of the set.
    pub fn params(self) -> DcqcnParams {
        let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
        match self {
            DcqcnSet::Paper => DcqcnParams {
                set: self,
                cnp_interval: Span::from_us(50),
                gain: 1.0 / 256.0,
                initial_alpha: 1.0,
                alpha_timer: Span::from_us(55),
                decrease_interval: Span::ZERO,
                increase_timer: Span::from_us(55),
                byte_counter: Bytes::new(10_000_000),
                fast_recovery: 5,
                ai_rate: mbps(40),
                hai_rate: mbps(400),
                min_rate: mbps(10),
            },
            DcqcnSet::Mellanox => DcqcnParams {
                set: self,
                cnp_interval: Span::from_us(4),
                gain: 5.0 / 1024.0,
                initial_alpha: 1023.0 / 1024.0,
                alpha_timer: Span::from_us(1),
                decrease_interval: Span::from_us(4),
                increase_timer: Span::from_us(300),
                byte_counter: Bytes::new(0),
                fast_recovery: 1,
                ai_rate: mbps(5),
                hai_rate: mbps(50),
                min_rate: mbps(1),
            },
        }
    }
}

const SET: &str = "Whose parameters of DCQCN and rules hold where no key says something else.";

/// What the defaults follow, in words.
const FOLLOWS: &str = "as the set of parameters that dcqcn names";

impl DcqcnParams {
    /// Asks for each parameter. The ranges let every set be scaled to links a thousand times slower or faster.
    pub(super) fn read(r: &mut impl ParameterReader, d: &DcqcnParams) -> DcqcnParams {
        let set = r.choice("dcqcn", SET, SETS, d.set);
        let d = if set == d.set { d.clone() } else { set.params() };
        let span =
            |name, doc, least| Parameter::new(name, doc, least..=Span::from_secs(1)).following(FOLLOWS);
        let share = |name, doc, least| Parameter::new(name, doc, least..=1.0).following(FOLLOWS);
        let rate = |name, doc| Parameter::new(name, doc, RATES).following(FOLLOWS);
        let ns = Span::from_ns(1);
        let cnp = "Least time between two congestion notification packets of a flow.";
        let gain = "Weight of a notification in alpha (g).";
        let alpha = "Alpha at a flow's first notification.";
        let alpha_timer = "Time after which alpha falls without a notification.";
        let decrease = "Least time between two cuts of the rate.";
        let increase = "Time between two increases of the rate (T).";
        let bytes = "Payload sent between two increases of the rate (B); 0: bytes are not counted.";
        let bytes = Parameter::new("byte_counter", bytes, Bytes::new(0)..=Bytes::new(1_000_000_000));
        let recovery = "Increases that halve the way to the target before those that raise it (F).";
        let recovery = Parameter::new("fast_recovery", recovery, 0..=1000).following(FOLLOWS);
        DcqcnParams {
            set,
            cnp_interval: r.value(&span("cnp_interval", cnp, Span::ZERO), d.cnp_interval),
            gain: r.value(&share("gain", gain, 1e-6), d.gain),
            initial_alpha: r.value(&share("initial_alpha", alpha, 0.0), d.initial_alpha),
            alpha_timer: r.value(&span("alpha_timer", alpha_timer, ns), d.alpha_timer),
            decrease_interval: r.value(&span("decrease_interval", decrease, Span::ZERO), d.decrease_interval),
            increase_timer: r.value(&span("increase_timer", increase, ns), d.increase_timer),
            byte_counter: r.value(&bytes.following(FOLLOWS), d.byte_counter),
            fast_recovery: r.value(&recovery, d.fast_recovery),
            ai_rate: r.value(&rate("ai_rate", "Additive increase of the target rate (R_AI)."), d.ai_rate),
            hai_rate: r.value(&rate("hai_rate", "Hyper increase of the target rate (R_HAI)."), d.hai_rate),
            min_rate: r.value(&rate("min_rate", "Smallest rate."), d.min_rate),
        }
    }
}
