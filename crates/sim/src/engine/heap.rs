//! A four-way heap of 128-bit keys.

/// The smallest key is at the top.
#[derive(Debug, Default)]
pub(super) struct Heap {
    keys: Vec<u128>,
}

const WAYS: usize = 4;

#[inline(always)]
fn least_of(a: (usize, u128), b: (usize, u128)) -> (usize, u128) {
    if b.1 < a.1 {
        b
    } else {
        a
    }
}

impl Heap {
    #[inline]
    pub(super) fn top(&self) -> Option<u128> {
        self.keys.first().copied()
    }

    pub(super) fn push(&mut self, key: u128) {
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 {
            let parent = (at - 1) / WAYS;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    pub(super) fn pop(&mut self) -> Option<u128> {
        let top = self.top()?;
        let last = self.keys.pop()?;
        if !self.keys.is_empty() {
            self.sink(last);
        }
        Some(top)
    }

    /// Puts `key` in the top's place and lets it find its own.
    fn sink(&mut self, key: u128) {
        let keys = &mut self.keys[..];
        let mut at = 0;
        loop {
            let first = at * WAYS + 1;
            let (which, least) = match keys.get(first..first + WAYS) {
                Some(&[a, b, c, d]) => least_of(least_of((0, a), (1, b)), least_of((2, c), (3, d))),
                _ => match keys.get(first..).and_then(|rest| rest.iter().enumerate().min_by_key(|(_, &k)| k))
                {
                    Some((which, &least)) => (which, least),
                    None => break,
                },
            };
            if key <= least {
                break;
            }
            keys[at] = least;
            at = first + which;
        }
        keys[at] = key;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u128> + '_ {
        self.keys.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_in_order() {
        let mut heap = Heap::default();
        let mut key: u128 = 1;
        for _ in 0..1000 {
            key = key * 6_364_136_223_846_793_005 % 1_000_003;
            heap.push(key);
        }
        let mut previous = 0;
        while let Some(key) = heap.pop() {
            assert!(previous <= key);
            previous = key;
        }
    }
}
