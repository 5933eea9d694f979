//! Where a node, a port or the end of a flow is held: in which domain, and at which index there.

/// The index of something in a domain, and which domain that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainIndex {
    /// The domain.
    pub domain: u32,
    /// The index there.
    pub at: u32,
}
