//! The system's allocator, which says so where there is no memory left. Rust would abort the process; it ends with the status of
//! every other error.

#![allow(unsafe_code, reason = "an allocator is; every call is handed on to the system's as it came")]

use std::alloc::{GlobalAlloc, Layout, System};

/// Exit status of bad input: the scenario was too large for this machine.
const STATUS: i32 = 2;
const MESSAGE: &[u8] =
    b"error: out of memory\n  use fewer hosts or flows, or sample less often under [record]\n";

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: the system's allocator keeps the contract, and what it returns is returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A block, if there is one; otherwise the process ends, without a word from anything that might want memory itself.
fn there(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        // SAFETY: the message is as long as it is said to be.
        unsafe { libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
        // SAFETY: ends the process, whatever its threads are at.
        unsafe { libc::_exit(STATUS) };
    }
    block
}
