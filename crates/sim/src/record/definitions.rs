//! What the tables of a run mean. Each is declared beside the function that makes it, a column with its definition and the
//! time that it covers; `docs/OUTPUT.md` is made of these.

/// The time that the values of a column cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// No time: what a row is about, or how things are at an instant.
    Nothing,
    /// The measured interval.
    Measured,
    /// The whole run.
    Run,
    /// The time from the sample before this one, or from the start of the run.
    Step,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The column's name, with its unit.
    pub name: &'static str,
    /// The time that its values cover.
    pub covers: Covers,
    /// The definition of its values.
    pub meaning: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The table's name.
    pub name: &'static str,
    /// What has a row, and where there is no such table.
    pub rows: &'static str,
    /// The columns, in their order.
    pub columns: &'static [Described],
}

/// Declares a table as a struct with a field for each column, of which `table` makes the table. The comments are the
/// definitions, and behind each column stands the variant of [`Covers`].
macro_rules! table {
    ($(#[doc = $rows:literal])+ $struct:ident as $name:literal {
        $($(#[doc = $meaning:literal])+ $column:ident: $covers:ident,)+
    }) => {
        $(#[doc = $rows])+
        // A column keeps its name whatever its table's is.
        #[allow(clippy::struct_field_names)]
        pub(in crate::record) struct $struct {
            $($(#[doc = $meaning])+ $column: $crate::record::outcome::Column,)+
        }

        impl $struct {
            pub(in crate::record) const DEFINITION: $crate::record::definitions::Definition = $crate::record::definitions::Definition {
                name: $name,
                rows: concat!($($rows),+),
                columns: &[$($crate::record::definitions::Described {
                    name: stringify!($column),
                    covers: $crate::record::definitions::Covers::$covers,
                    meaning: concat!($($meaning),+),
                }),+],
            };

            fn table(self) -> $crate::record::outcome::Table {
                $crate::record::outcome::Table {
                    name: $name,
                    columns: vec![$((stringify!($column), self.$column)),+],
                }
            }
        }
    };
}

pub(super) use table;
