//! Memory that numbers and names take in tables, for those who estimate it before a run.

use crate::model::{Scenario, SwitchRole};
use crate::topology::shape::Shape;

/// Memory in bytes for a number in a column.
pub const NUMBER: f64 = 8.0;

/// Memory in bytes for a text of at most `longest` characters in a column. The simulator holds its number, and the Python
/// package makes an array of texts of which each character takes four bytes.
pub fn text_bytes(longest: usize) -> f64 {
    (size_of::<u32>() * (1 + longest)) as f64
}

/// Memory in bytes for the name of a traffic class of this scenario in a column.
pub fn class_text_bytes(scenario: &Scenario) -> f64 {
    text_bytes(scenario.classes.iter().map(|class| class.name.len()).max().unwrap_or(0))
}

/// Memory in bytes for the name of a link of such a network, `a>b`, in a column.
pub fn link_text_bytes(shape: &dyn Shape) -> f64 {
    text_bytes(longest_link_name(shape))
}

/// Memory in bytes for the names of all links of such a network, of which the column of a table has the numbers: 24 bytes for
/// each beside its characters, and 16 of the allocator.
pub fn link_names_bytes(shape: &dyn Shape) -> f64 {
    2.0 * shape.links() * (40 + longest_link_name(shape)) as f64
}

fn longest_link_name(shape: &dyn Shape) -> usize {
    2 * shape.longest_name() + 1
}

/// The ports of all switches of such a network.
pub fn switch_ports(shape: &dyn Shape) -> f64 {
    shape.roles().into_iter().map(|role: SwitchRole| shape.switch_ports(role).1).sum()
}
