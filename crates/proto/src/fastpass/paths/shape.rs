//! How many switches a fat tree has.

/// The switches of a fat tree. In one of k-port switches all three are k / 2, and no link need carry two packets of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatTreeShape {
    /// Racks of a pod: rack `r` is in pod `r / racks_per_pod`.
    pub racks_per_pod: usize,
    /// Aggregation switches of a pod.
    pub aggregation: usize,
    /// Core switches that each aggregation switch reaches.
    pub cores: usize,
}
