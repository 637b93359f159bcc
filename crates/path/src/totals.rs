//! Totals of a link, for conservation checks and reports.

use std::ops::AddAssign;

use crate::DropReason;

/// Packets and their wire bytes.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Wire bytes.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, wire_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(wire_bytes);
    }

    /// Raises each to what is reached.
    #[inline]
    pub(crate) fn reach(&mut self, packets: u64, bytes: u64) {
        self.packets = self.packets.max(packets);
        self.bytes = self.bytes.max(bytes);
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Packets and bytes that went through a link since its start.
///
/// Invariant: `arrived` = `delivered` + `dropped()` + `inside`, in packets and in bytes. `inside` is counted by
/// looking inside, not by subtraction, so a test of this equation can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Handed in.
    pub arrived: Count,
    /// Handed out at the far end.
    pub delivered: Count,
    /// Held back, waiting, in service or on the way.
    pub inside: Count,
    /// Most that ever waited at once, packets and bytes each at their own peak; the packet in service is not
    /// counted.
    pub peak_queue: Count,
    dropped: [Count; DropReason::ALL.len()],
}

impl Totals {
    /// Dropped, for whatever reason.
    pub fn dropped(&self) -> Count {
        let mut sum = Count::default();
        for &count in &self.dropped {
            sum += count;
        }
        sum
    }

    /// Dropped for this reason.
    pub fn dropped_for(&self, reason: DropReason) -> Count {
        self.dropped[reason as usize]
    }

    #[inline]
    pub(crate) fn drop_for(&mut self, reason: DropReason, wire_bytes: u32) {
        self.dropped[reason as usize].add(wire_bytes);
    }
}
