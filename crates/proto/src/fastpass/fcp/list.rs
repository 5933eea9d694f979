//! A list of bounded length without memory of its own, as a control packet holds several of them.

use std::ops::{Deref, DerefMut};

/// Up to `N` values.
#[derive(Clone, Copy)]
pub struct List<T, const N: usize> {
    values: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Default for List<T, N> {
    fn default() -> List<T, N> {
        const { assert!(N <= u8::MAX as usize, "a list longer than it can count") };
        List { values: [T::default(); N], len: 0 }
    }
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    /// Appends a value. Returns `false`, and drops it, if the list is full.
    pub fn push(&mut self, value: T) -> bool {
        let Some(place) = self.values.get_mut(usize::from(self.len)) else { return false };
        *place = value;
        self.len += 1;
        true
    }

    /// Makes this a list of `count` values, at most `N`, whatever it held, and returns them for the caller to overwrite.
    #[inline]
    pub(super) fn resized(&mut self, count: usize) -> &mut [T] {
        let values = &mut self.values[..count];
        self.len = count as u8;
        values
    }

    /// Returns whether no further value has room.
    pub fn is_full(&self) -> bool {
        usize::from(self.len) == N
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..usize::from(self.len)]
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..usize::from(self.len)]
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for List<T, N> {
    /// Panics when there are more than `N`.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> List<T, N> {
        let mut list = List::default();
        for value in values {
            assert!(list.push(value), "more values than a list of {N} holds");
        }
        list
    }
}

impl<T: std::fmt::Debug, const N: usize> std::fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &List<T, N>) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}
