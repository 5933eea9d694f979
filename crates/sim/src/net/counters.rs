//! What ports count of drops, marks and losses.

/// What one port has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames for which there was no room.
    pub dropped_frames: u64,
    /// Bytes of the frames for which there was no room.
    pub dropped_bytes: u64,
    /// Packets whose payload was cut off.
    pub trimmed_frames: u64,
    /// Bytes that were cut off.
    pub trimmed_bytes: u64,
    /// Frames marked.
    pub marked_frames: u64,
    /// Frames lost on the link.
    pub lost_frames: u64,
    /// Bytes of the frames lost on the link.
    pub lost_bytes: u64,
}

/// The counters of all ports of a domain. Most ports never have anything to count, so a port gets its own only with the
/// first thing that it counts.
#[derive(Debug)]
pub(super) struct AllCounters {
    /// For each port where its counters stand.
    of: Vec<u32>,
    /// The counters; the first are those of every port that has counted nothing.
    all: Vec<PortCounters>,
}

impl Default for AllCounters {
    fn default() -> AllCounters {
        AllCounters { of: Vec::new(), all: vec![PortCounters::default()] }
    }
}

impl AllCounters {
    /// Adds the next port.
    pub fn add(&mut self) {
        self.of.push(0);
    }

    /// Returns what a port has counted.
    pub fn get(&self, port: u32) -> &PortCounters {
        &self.all[self.of[port as usize] as usize]
    }

    /// A port had no room for a frame of `size` bytes.
    #[cold]
    pub fn count_drop(&mut self, port: u32, size: u32) {
        let counters = self.at(port);
        counters.dropped_frames += 1;
        counters.dropped_bytes += u64::from(size);
    }

    /// Counts `frames` frames that a port has marked.
    #[inline(never)]
    pub fn count_marks(&mut self, port: u32, frames: u64) {
        self.at(port).marked_frames += frames;
    }

    /// The counters of a port that has something to count.
    #[inline]
    pub fn at(&mut self, port: u32) -> &mut PortCounters {
        let place = &mut self.of[port as usize];
        if *place == 0 {
            *place = self.all.len() as u32;
            self.all.push(PortCounters::default());
        }
        &mut self.all[*place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_has_its_own() {
        let mut counters = AllCounters::default();
        (0..3).for_each(|_| counters.add());
        counters.at(2).lost_frames = 5;
        counters.at(0).lost_frames += 1;
        counters.at(2).lost_frames += 1;
        assert_eq!([0, 1, 2].map(|port| counters.get(port).lost_frames), [1, 0, 6]);
        assert_eq!(*counters.get(1), PortCounters::default());
    }
}
