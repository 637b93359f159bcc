//! F-RTO: whether a timeout was spurious (RFC 5682 §3), as Linux's `tcp_process_loss` has it.
//!
//! A timeout sends the first segment again and nothing else (step 1). If the next ACK advances, new data go before further
//! retransmissions (step 2). An ACK for something that was sent before the timeout and never again says that it was spurious;
//! a duplicate or SACKed new data that it was not (step 3).

use crate::acknowledge::AckFacts;
use crate::connection::Connection;
use crate::record::Delivery;

/// Whether the last timeout may yet turn out to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    /// It was not asked, or it has been answered.
    Off,
    /// The next ACK may tell.
    Waiting,
    /// Step 2: new data go before retransmissions.
    NewDataFirst,
}

impl Frto {
    /// Step 1, as the timer expires: `asks`: Linux does unless another recovery is under way, or again when the segment that
    /// it has sent for the last timeout is still missing.
    pub(super) fn asked(asks: bool) -> Self {
        if asks { Self::Waiting } else { Self::Off }
    }

    /// Steps 2 and 3 for an ACK that did not show the timeout to be spurious.
    pub(super) fn doubt(&mut self, c: &Connection, facts: &AckFacts, delivery: &Delivery) {
        if *self == Self::Off {
            return;
        }
        let advanced = delivery.advanced_segments > 0;
        let new_data_left = c.board.next() > c.repair.point;
        *self = if new_data_left && (delivery.sacked || facts.duplicate) {
            Self::Off
        } else if !new_data_left && advanced && c.board.una() < c.repair.point {
            Self::NewDataFirst
        } else {
            Self::Waiting
        };
    }

    /// Nothing may leave now. If no new data have left since the timeout, retransmissions go on as without F-RTO; what the
    /// pacer holds back is no longer new data alone, either.
    #[cold]
    pub(super) fn no_new_data(&mut self, c: &Connection, paced: bool) {
        if c.board.next() == c.repair.point {
            *self = Self::Off;
        } else if paced {
            *self = Self::Waiting;
        }
    }

    /// Step 3. Without SACK a segment that was sent again hides whether the others arrived before it.
    pub(super) fn original_arrived(self, c: &Connection, delivery: &Delivery) -> bool {
        self != Self::Off
            && delivery.lowest_clean < c.repair.point
            && (c.sack_in_use() || !delivery.ambiguous)
    }
}
