//! Outstanding data that count as lost, and the choice of retransmissions (RFC 6675 §4).

use std::cmp::Reverse;

use super::Scoreboard;
use crate::record::{Flags, Record};

impl Scoreboard {
    /// Marks lost whatever `IsLost` (RFC 6675 §4) says: three discontiguous SACKed ranges above it, or more than two
    /// full segments' bytes. Returns the newly lost bytes.
    pub(crate) fn mark_lost_by_sack(&mut self, mss: u32) -> u64 {
        let edge = self.is_lost_edge(mss);
        let mut lost = 0;
        let mut number = self.loss_edge.max(self.una);
        while number < edge {
            lost += self.mark_lost(number);
            number += 1;
        }
        self.loss_edge = self.loss_edge.max(edge);
        lost
    }

    /// Marks lost whatever is outstanding below `edge` and neither SACKed nor sent again. Returns the newly lost bytes.
    pub(crate) fn mark_lost_below(&mut self, edge: u64) -> u64 {
        let mut lost = 0;
        for number in self.loss_edge.max(self.una)..edge {
            if self.record(number).flags & Flags::RETRANSMITTED == 0 {
                lost += self.mark_lost(number);
            }
        }
        self.loss_edge = self.loss_edge.max(edge);
        lost
    }

    /// One past the highest number that `IsLost` holds for, SACKed numbers below it not excepted.
    pub(crate) fn is_lost_edge(&mut self, mss: u32) -> u64 {
        let limit = 2 * u64::from(mss);
        let mut bytes = 0;
        let mut visited = 0;
        let mut edge = 0;
        'ranges: for (i, range) in self.sacked.descending().enumerate() {
            if i == 2 {
                edge = range.start;
                break;
            }
            for number in (range.start..range.end).rev() {
                bytes += u64::from(self.record(number).bytes);
                visited += 1;
                if bytes > limit {
                    edge = number;
                    break 'ranges;
                }
            }
        }
        self.count_operations(visited);
        edge
    }

    /// Believes `number` lost, unless it is SACKed or believed so already. Returns the newly lost bytes.
    pub(crate) fn mark_lost(&mut self, number: u64) -> u64 {
        self.count_operations(1);
        let record = self.record_mut(number);
        if record.flags & (Flags::SACKED | Flags::LOST) != 0 {
            return 0;
        }
        record.flags |= Flags::LOST;
        let (bytes, flags) = (u64::from(record.bytes), record.flags);
        self.lost_bytes += bytes;
        self.count_lost(number, bytes);
        if flags & Flags::RETRANSMITTED == 0 {
            self.await_retransmission(number);
        }
        bytes
    }

    /// Believes lost the retransmission of `number`, or itself. Returns the newly lost bytes.
    pub(crate) fn mark_lost_again(&mut self, number: u64) -> u64 {
        let record = self.record_mut(number);
        if record.flags & Flags::SACKED != 0 {
            return 0;
        }
        if record.flags & Flags::RETRANSMITTED == 0 {
            return self.mark_lost(number);
        }
        record.flags &= !Flags::RETRANSMITTED;
        let (bytes, flags) = (u64::from(record.bytes), record.flags);
        self.retransmitted_bytes -= bytes;
        if flags & Flags::LOST == 0 {
            return self.mark_lost(number);
        }
        self.count_operations(1);
        self.count_lost(number, bytes);
        self.await_retransmission(number);
        bytes
    }

    /// Counts `number` among what was ever believed lost.
    fn count_lost(&mut self, number: u64, bytes: u64) {
        self.ever_lost_bytes += bytes;
        if self.watch.is_some() {
            self.note_loss(number);
        }
    }

    /// After a timeout: believes lost all that is not SACKed and for which `spare` does not hold.
    pub(crate) fn mark_all_lost(&mut self, spare: impl Fn(&Record) -> bool) -> u64 {
        let mut lost = 0;
        self.begin_recovery();
        for number in self.una..self.next {
            if number == self.una || !spare(self.record(number)) {
                lost += self.mark_lost_again(number);
            }
        }
        lost
    }

    /// ns-2's Sack1: forgets every SACK and retransmission; all that is outstanding is in flight.
    pub(crate) fn forget_recovery(&mut self) {
        for number in self.una..self.next {
            let record = self.record_mut(number);
            if record.flags & Flags::SACKED != 0 {
                record.flags |= Flags::COUNTED;
            }
            record.flags &= !(Flags::SACKED | Flags::LOST | Flags::RETRANSMITTED);
        }
        (self.sacked_bytes, self.sacked_segments) = (0, 0);
        (self.lost_bytes, self.retransmitted_bytes) = (0, 0);
        self.sacked.clear();
        self.lost_in_order.clear();
        self.lost_out_of_order.clear();
        self.last_blocks = Default::default();
        self.loss_edge = self.una;
        self.begin_recovery();
    }

    /// Believes nothing lost any more: the reduction was spurious.
    pub(crate) fn unmark_lost(&mut self) {
        for number in self.una..self.next {
            let record = self.record_mut(number);
            record.flags &= !Flags::LOST;
        }
        self.lost_bytes = 0;
        self.lost_in_order.clear();
        self.lost_out_of_order.clear();
        self.begin_recovery();
    }

    /// A new recovery begins: nothing has been retransmitted in it (`HighRxt` is SND.UNA).
    pub(crate) fn begin_recovery(&mut self) {
        self.next_retransmission = self.una;
    }

    /// The lowest segment believed lost and not retransmitted.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        let waiting = |board: &Self, number: u64| {
            number >= board.una
                && board.record(number).flags & (Flags::LOST | Flags::RETRANSMITTED) == Flags::LOST
        };
        while self.lost_in_order.front().is_some_and(|&number| !waiting(self, number)) {
            self.lost_in_order.pop_front();
        }
        while self.lost_out_of_order.peek().is_some_and(|&Reverse(number)| !waiting(self, number)) {
            self.lost_out_of_order.pop();
        }
        let first = self.lost_in_order.front().copied();
        let second = self.lost_out_of_order.peek().map(|&Reverse(number)| number);
        first.into_iter().chain(second).min()
    }

    /// The lowest segment below the highest SACKed one that is neither SACKed nor retransmitted: rule 3 of `NextSeg`,
    /// and ns-2's only rule.
    pub(crate) fn next_hole(&mut self) -> Option<u64> {
        let end = self.sacked.end().min(self.next);
        let mut number = self.next_retransmission.max(self.una);
        while number < end {
            self.count_operations(1);
            if self.record(number).flags & (Flags::SACKED | Flags::RETRANSMITTED) == 0 {
                self.next_retransmission = number;
                return Some(number);
            }
            number += 1;
        }
        None
    }

    /// The highest segment that is not SACKed: rule 4 of `NextSeg`, and the probe of TLP.
    pub(crate) fn highest_unsacked(&self) -> Option<u64> {
        match self.sacked.descending().next() {
            Some(top) if top.end == self.next => {
                top.start.checked_sub(1).filter(|&number| number >= self.una)
            }
            _ => (!self.is_empty()).then(|| self.next - 1),
        }
    }

    fn await_retransmission(&mut self, number: u64) {
        if self.lost_in_order.back().is_none_or(|&last| last < number) {
            self.lost_in_order.push_back(number);
        } else {
            self.lost_out_of_order.push(Reverse(number));
        }
    }
}
