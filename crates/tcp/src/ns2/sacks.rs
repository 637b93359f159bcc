//! SACK as Sack1 reads it.

use rampcc::Time;

use crate::connection::Connection;
use crate::ranges::RangeSet;
use crate::record::Delivery;
use crate::segment::Segment;

/// Sack1 looks at SACK blocks in duplicate ACKs only, outside recovery; whatever else arrives makes it forget them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sacks {
    /// What duplicate ACKs have SACKed.
    aside: RangeSet,
    /// From a timeout to the next new ACK: duplicates do not count.
    deaf: bool,
}

impl Sacks {
    /// Returns whether the blocks had anything new: otherwise an ACK is no duplicate.
    pub(super) fn set_aside(&mut self, c: &Connection, segment: &Segment) -> bool {
        if segment.number() != c.board.una() {
            *self = Self::default();
            return false;
        }
        if self.deaf {
            return false;
        }
        let (una, next) = (c.board.una(), c.board.next());
        let mut fresh = false;
        for (start, end) in segment.sack_blocks() {
            fresh |= self.aside.insert(start.max(una), end.min(next), &mut |from, to| to - from);
        }
        fresh
    }

    /// Recovery begins with what was set aside.
    pub(super) fn take_up(&mut self, c: &mut Connection, now: Time) {
        let aside = std::mem::take(&mut self.aside);
        let mut late = Delivery::new();
        for range in aside.descending() {
            c.board.on_ack(c.board.una(), std::iter::once((range.start, range.end)), &mut late);
        }
        if late.bytes > 0 {
            c.rate.on_delivered(now, late.bytes, late.newest.sent);
        }
    }

    /// The timer expired, and all is sent again.
    pub(super) fn forget(&mut self) {
        *self = Self { aside: RangeSet::default(), deaf: true };
    }
}
