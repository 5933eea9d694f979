//! Scenario files, good and bad, from text to result.

mod classes;
mod fixture;
mod keys;
mod rules;
mod warnings;
