//! Where something stands: in which domain, and at which index there.

/// A place in a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The domain.
    pub domain: u32,
    /// The index there.
    pub at: u32,
}
