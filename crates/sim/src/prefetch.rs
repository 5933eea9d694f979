//! A hint to the processor that a line of memory will be read soon. It cannot change a result, only when it is
//! there; the one place in this crate that needs `unsafe`.

/// Bytes of a line of memory.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for the memory of `items[index]`, all lines of it. There need not be such an item.
#[inline(always)]
pub fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(LINE) {
        let address = items.as_ptr().wrapping_add(index).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch reads and writes nothing and never faults, whatever the address; SSE is part of
        // every x86-64.
        #[allow(unsafe_code)]
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
