//! Which lost retransmissions Linux 2.6.15 to 2.6.23 finds.
//!
//! For each ACK these versions walk through the retransmission queue once: from its head through the blocks in ascending order, or, if only the
//! first block has grown, from where the last walk ended. A retransmission is lost if the walk passes it on the way to the end of a
//! block that tells of something which left for the first time after it. What the walk passes on the way to a lower block is not
//! judged by the higher one, and what it does not visit is not judged at all. One that is found makes the kernel look at
//! all of them; as long as none is, they count as in flight and wait for the timer. Before 2.6.15 each block was a walk of its
//! own, and 2.6.24 judges them apart from the walk (`tcp_mark_lost_retrans`).
//!
//! Source: `lost_retrans` in `tcp_sacktag_write_queue`, `net/ipv4/tcp_input.c` of Linux 2.6.18.

use std::collections::{BTreeMap, VecDeque};

use crate::connection::Connection;
use crate::record::Flags;
use crate::segment::{SACK_BLOCKS_MAX, Segment};

/// What a recovery has sent again, and how far walks have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// With what SND.NXT was then, in that order.
    again: VecDeque<(u64, u64)>,
    /// Those of them after which something has been SACKed that left later, by number, with what SND.NXT was.
    overtaken: BTreeMap<u64, u64>,
    /// A walk on the way to here has found one of them; 0: none has.
    reached: u64,
}

impl Hints {
    pub(super) fn note_sent_again(&mut self, number: u64, next: u64) {
        self.overtaken.remove(&number);
        self.again.push_back((number, next));
    }

    /// The walk for an ACK in recovery, before it is taken in.
    pub(super) fn walk(&mut self, c: &Connection, segment: &Segment) {
        let next = c.board.next();
        let una = segment.number().clamp(c.board.una(), next);
        let mut blocks = [(0, 0); SACK_BLOCKS_MAX];
        let mut count = 0;
        for (slot, block) in blocks.iter_mut().zip(segment.sack_blocks()) {
            *slot = block;
            count += 1;
        }
        let mut from = una;
        let blocks = &mut blocks[..count];
        let visited = if let Some(known) = c.board.grown_block(segment.sack_blocks()) {
            from = from.max(known);
            &blocks[..1]
        } else {
            blocks.sort_unstable();
            &*blocks
        };
        for &(_, end) in visited {
            // SND.NXT was never below the recovery's point.
            if end > c.repair.point && self.passes(c, from, una, end) {
                self.reached = self.reached.max(end);
            }
            from = from.max(end.min(next));
        }
    }

    /// Whether the way from `from` to the end of a block passes one that `end` shows to be lost.
    fn passes(&mut self, c: &Connection, from: u64, una: u64, end: u64) -> bool {
        while let Some(&(number, next)) = self.again.front()
            && next < end
        {
            self.again.pop_front();
            if is_under_way(c, number, una) {
                self.overtaken.insert(number, next);
            }
        }
        while let Some((&number, _)) = self.overtaken.range(from..).find(|&(_, &next)| next < end) {
            if is_under_way(c, number, una) {
                return number < end;
            }
            self.overtaken.remove(&number);
        }
        false
    }

    /// Marks what the last walk has found. Returns the newly lost bytes.
    pub(super) fn mark_lost(&mut self, c: &mut Connection) -> u64 {
        let reached = std::mem::take(&mut self.reached);
        if reached == 0 {
            return 0;
        }
        let una = c.board.una();
        let mut lost = 0;
        self.overtaken.retain(|&number, &mut next| {
            let found = next < reached;
            if found && is_under_way(c, number, una) {
                lost += c.board.mark_lost_again(number);
            }
            !found
        });
        lost
    }
}

fn is_under_way(c: &Connection, number: u64, una: u64) -> bool {
    number >= una && c.board.record(number).flags & Flags::RETRANSMITTED != 0
}
