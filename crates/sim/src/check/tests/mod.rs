//! Scenario files, good and bad, from text to result.

mod arbiter_warnings;
mod arbiters;
mod cards;
mod classes;
mod fault_warnings;
mod fixture;
mod hosts;
mod keys;
mod probes;
mod rules;
mod series;
mod spray;
mod traffic_warnings;
mod trimming;
mod warnings;
