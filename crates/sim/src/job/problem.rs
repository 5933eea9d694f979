//! Why no job can be made.

/// Something that no job can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file; 0 where it is no line's.
    pub line: u32,
    /// The problem and its remedy, as a user reads them.
    pub message: String,
}
