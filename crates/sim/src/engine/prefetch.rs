//! A hint to the processor that a line of memory will be read soon. It cannot change a result, only when it is
//! there; the one place in this crate that needs `unsafe`.

/// Bytes of a line of memory.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for the memory of `items[index]`, all lines of it, where there is such an item.
#[inline(always)]
pub fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        // SAFETY: the addresses lie within a live reference's item, and a prefetch neither reads nor writes as far as
        // the program can tell; SSE is part of every x86-64.
        #[allow(unsafe_code)]
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            let start: *const i8 = std::ptr::from_ref(item).cast();
            for offset in (0..size_of::<T>()).step_by(LINE) {
                _mm_prefetch::<_MM_HINT_T0>(start.add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
