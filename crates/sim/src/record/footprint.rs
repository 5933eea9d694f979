//! Memory that numbers and names take in tables, for those who estimate it before a run.

use crate::model::SwitchRole;
use crate::net::shape::Shape;

/// Memory in bytes for a number in a column.
pub const NUMBER: f64 = 8.0;

/// A `String` in a column of the simulator's, without its characters.
const STRING: usize = 24;
/// The smallest block that an allocator hands out, its own overhead included.
const BLOCK: usize = 32;
/// A reference in a Python list.
const REFERENCE: usize = 8;
/// Rows that a table's writer holds a second time, encoded: a row group of a Parquet file.
const ROW_GROUP: f64 = 1_048_576.0;

/// Memory in bytes for a text of at most `longest` characters in a column. The simulator holds it as a `String`, and the
/// Python package makes an array of it, in which each character takes four bytes, by way of a list.
pub fn text_bytes(longest: usize) -> f64 {
    let simulator = STRING + (longest + 8).next_multiple_of(16).max(BLOCK);
    let array = REFERENCE + 4 * longest;
    (simulator + array) as f64
}

/// Memory in bytes for a table of so many rows of `row_bytes` each, and for writing it.
pub fn table_bytes(rows: f64, row_bytes: f64) -> f64 {
    (rows + 1.25 * rows.min(ROW_GROUP)) * row_bytes
}

/// Memory in bytes for the name of a link of such a network, `a>b`, in a column.
pub fn link_name_bytes(shape: &dyn Shape) -> f64 {
    text_bytes(2 * shape.longest_name() + 1)
}

/// The ports of all switches of such a network.
pub fn switch_ports(shape: &dyn Shape) -> f64 {
    shape.roles().into_iter().map(|role: SwitchRole| shape.switch_ports(role).1).sum()
}
