//! The daemon: `clearwayd send` and `clearwayd receive`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let closed = standard_output::was_closed();
    ExitCode::from(clearway_host::daemon::command::run(std::env::args_os().skip(1), closed))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: clearwayd uses Linux's timestamps and batched system calls\n  run it on Linux");
    ExitCode::from(2)
}

/// Whether there is a standard output. Rust's runtime opens `/dev/null` in the place of one that is closed, before `main`
/// can see that it was; so this looks before the runtime starts.
#[cfg(target_os = "linux")]
mod standard_output {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    #[allow(
        unsafe_code,
        reason = "the section holds pointers to functions without arguments, as this one is"
    )]
    #[used]
    #[link_section = ".init_array"]
    static BEFORE_THE_RUNTIME: extern "C" fn() = look;

    extern "C" fn look() {
        CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
    }

    pub fn was_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}
