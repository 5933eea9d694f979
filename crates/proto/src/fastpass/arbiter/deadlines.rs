//! When each endpoint is to be sent something: the earliest is known at once, and a change costs at most as many steps as the
//! number of endpoints has bits.

use crate::units::Time;

/// An instant for each endpoint, and the first of them: a tournament. Of equal instants that of the lowest address is first.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    at: Box<[Time]>,
    /// The winner of each match: number 1 is the final, the contestants of number `i` are the winners of `2 i` and `2 i + 1`,
    /// and from `at.len()` on the endpoints themselves.
    winner: Box<[u16]>,
}

impl Deadlines {
    /// Returns the deadlines of `nodes` endpoints, none of them set.
    pub(super) fn new(nodes: usize) -> Deadlines {
        let size = nodes.next_power_of_two();
        let mut winner = vec![0; 2 * size].into_boxed_slice();
        for (place, winner) in winner[size..].iter_mut().enumerate() {
            *winner = place as u16;
        }
        for place in (1..size).rev() {
            winner[place] = winner[2 * place];
        }
        Deadlines { at: vec![Time::NEVER; size].into_boxed_slice(), winner }
    }

    /// The earliest instant and whose it is.
    #[inline]
    pub(super) fn first(&self) -> (Time, u16) {
        let first = self.winner[1];
        (self.at[usize::from(first)], first)
    }

    /// Sets the instant of an endpoint.
    pub(super) fn set(&mut self, endpoint: u16, at: Time) {
        if self.at[usize::from(endpoint)] == at {
            return;
        }
        self.at[usize::from(endpoint)] = at;
        let mut place = usize::midpoint(self.at.len(), usize::from(endpoint));
        while place > 0 {
            let [a, b] = [self.winner[2 * place], self.winner[2 * place + 1]];
            let winner = if self.at[usize::from(b)] < self.at[usize::from(a)] { b } else { a };
            if winner != endpoint && winner == self.winner[place] {
                // It has nothing to do with this endpoint, and so have not the matches above.
                return;
            }
            self.winner[place] = winner;
            place /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_deadline_is_the_earliest() {
        for nodes in [2, 3, 7, 64] {
            let mut deadlines = Deadlines::new(nodes);
            let mut expected = vec![Time::NEVER; nodes];
            assert_eq!(deadlines.first(), (Time::NEVER, 0));
            for step in 0..1000_u64 {
                let (endpoint, at) = (step * 37 % nodes as u64, step * 7919 % 64);
                let at = if at == 63 { Time::NEVER } else { Time::from_ps(at) };
                expected[endpoint as usize] = at;
                deadlines.set(endpoint as u16, at);
                let first = (0..nodes).min_by_key(|&endpoint| expected[endpoint]).expect("several");
                assert_eq!(deadlines.first(), (expected[first], first as u16));
            }
        }
    }
}
