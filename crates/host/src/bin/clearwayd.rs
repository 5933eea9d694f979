//! The daemon: `clearwayd send` and `clearwayd receive`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(clearway_host::command::run(std::env::args_os().skip(1)))
}
