//! The daemon `clearwayd`: its command line, its files, and what it prints. [`command`] is what it does.

pub mod address;
pub mod args;
pub mod command;
pub mod content;
pub mod destination;
pub mod http;
pub mod line;
pub mod log;
pub mod metrics;
pub mod output;
pub mod report;
pub mod service;
pub mod stops;
pub(crate) mod table;
pub mod user;
