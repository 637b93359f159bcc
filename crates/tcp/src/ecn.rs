//! Explicit congestion notification (RFC 3168): what a sender does about marks.
//!
//! A mark costs what a loss costs, by the rule of the same congestion avoidance, once in a round trip; nothing is sent again.
//! The window falls at once. Linux rations it over a round trip instead, as after a loss.

use crate::segment::Segment;

/// What a sender knows of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// Both ends understand marks.
    pub(crate) in_use: bool,
    /// SND.NXT at the last reduction, for whatever reason. What is reported before something sent later is acknowledged has been
    /// answered by it.
    point: u64,
    /// A mark's reduction is not over yet.
    reducing: bool,
    /// The next new segment says that the window has been reduced.
    answers: bool,
}

impl Ecn {
    /// The window is reduced while the next segment has this number.
    pub(crate) fn note_reduction(&mut self, next: u64) {
        self.point = next;
        self.reducing = false;
        self.answers = self.in_use;
    }

    /// Whether something that left after the last reduction has been acknowledged.
    pub(crate) fn answered(&self, una: u64) -> bool {
        una > self.point || self.point == 0
    }

    /// Ends a mark's reduction. Returns whether there was one.
    pub(crate) fn end_reduction(&mut self) -> bool {
        std::mem::take(&mut self.reducing)
    }

    pub(crate) fn begin_reduction(&mut self) {
        self.reducing = true;
    }

    /// A new segment that may be marked. What is sent again may not (RFC 3168 §6.1.5).
    pub(crate) fn markable(&mut self, segment: Segment) -> Segment {
        segment.with_markable(std::mem::take(&mut self.answers))
    }
}
