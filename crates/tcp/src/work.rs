//! What TCP must look at to take in a segment, by how its host keeps its queues.
//!
//! The costs are those of §2 of the HyStart paper: entries of the retransmission queue and of the out-of-order queue that
//! are visited. The protocol acts alike in all of these ways; only a host that counts time can tell them apart.

use crate::connection::{Purpose, Stage};
use crate::receiver::Receiver;
use crate::segment::{Segment, SegmentKind};
use crate::sender::Sender;

/// How a host finds a segment in a queue of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Search {
    /// A linked list: a walk from the head for every SACK block, from the tail for what is out of order.
    List,
    /// A linked list and where the last walk ended: one walk for all blocks of an ACK, and only its newest part if
    /// just the first block has grown. The receiver has no such place.
    Hint,
    /// The same, but what fills the receiver's first gap is put in order without a walk, as the kernel's `tcp_data_queue` does.
    HintInOrder,
    /// A balanced tree: a descent per block or segment, then what is new.
    Tree,
}

/// Steps down a balanced tree of so many entries.
fn descent(entries: u64) -> u64 {
    u64::from(u64::BITS - entries.leading_zeros())
}

impl Sender {
    /// Entries of the retransmission queue that taking in `segment` visits: what it acknowledges in order leaves the
    /// queue one by one, and what its blocks name is searched for.
    pub fn visits(&self, segment: &Segment, search: Search) -> u64 {
        if segment.kind() != SegmentKind::Ack || self.connection.stage != Stage::Established {
            return 0;
        }
        let (una, next) = (self.connection.board.una(), self.connection.board.next());
        let freed = segment.number().clamp(una, next) - una;
        if segment.block_count() == 0 || !self.connection.sack_in_use() {
            return freed;
        }
        let from = una + freed;
        let bounded = |(start, end): (u64, u64)| (start.clamp(from, next), end.clamp(from, next));
        let blocks = || segment.sack_blocks().map(bounded);
        let found: u64 = match search {
            Search::List => blocks().map(|(_, end)| end - from).sum(),
            Search::Hint | Search::HintInOrder => {
                match self.connection.board.grown_block(segment.sack_blocks()) {
                    Some(known) => blocks().next().map_or(0, |(_, end)| end - known.clamp(from, end)),
                    None => blocks().map(|(_, end)| end - from).max().unwrap_or(0),
                }
            }
            Search::Tree => {
                let step = descent(next - from);
                blocks().map(|(start, end)| step + self.connection.board.unknown(start, end)).sum()
            }
        };
        freed + found
    }

    /// Entries of the retransmission queue.
    pub fn queued(&self) -> u64 {
        self.connection.board.out_segments()
    }

    /// Entries that an expiry at the current deadline visits: a timeout marks everything outstanding.
    pub fn timeout_visits(&self) -> u64 {
        let expires = self.connection.timers.purpose == Purpose::Timeout
            && self.connection.timers.retransmit == self.poll_timeout();
        if expires { self.connection.board.out_segments() } else { 0 }
    }
}

impl Receiver {
    /// Entries of the out-of-order queue that taking in `segment` visits.
    ///
    /// In a list, what continues its end is found at once, and everything else by a walk from there down to its place; that
    /// includes what fills the first gap, as in the paper's account, but for `HintInOrder`.
    pub fn visits(&self, segment: &Segment, search: Search) -> u64 {
        if segment.kind() != SegmentKind::Data || !self.disordered() || segment.number() < self.expected() {
            return 0;
        }
        let (above, all) = self.queued_above(segment.number());
        match search {
            Search::HintInOrder if segment.number() == self.expected() => self.released_by(segment.number()),
            Search::List | Search::Hint | Search::HintInOrder => above.max(1),
            Search::Tree => descent(all) + self.released_by(segment.number()),
        }
    }

    /// Entries of the out-of-order queue.
    pub fn queued(&self) -> u64 {
        self.queued_above(self.expected()).1
    }
}
