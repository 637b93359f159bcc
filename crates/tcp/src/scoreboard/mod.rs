//! Outstanding data and their state (RFC 6675 §3-5).
//!
//! One record per outstanding segment in a ring indexed by segment number, so that every access is O(1). What is in
//! flight is kept incrementally, as Linux does: outstanding - SACKed - lost + retransmitted.

mod losses;
mod watch;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use crate::ranges::RangeSet;
use crate::record::{Delivery, Flags, Record};
use watch::Watch;

/// Every outstanding segment.
///
/// Invariants: the counters equal the sums over the records; a SACKed record is neither lost nor retransmitted;
/// every number below `loss_edge` is SACKed, was marked lost or has been sent again; every lost record that is not retransmitted is in one
/// of the two lists of what to send again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    slots: Vec<Record>,
    una: u64,
    next: u64,
    out_bytes: u64,
    sacked_bytes: u64,
    lost_bytes: u64,
    retransmitted_bytes: u64,
    sacked_segments: u64,
    sacked: RangeSet,
    loss_edge: u64,
    next_retransmission: u64,
    /// Lost and to be sent again, ascending; numbers that came out of order are in the heap. Entries may be stale.
    lost_in_order: VecDeque<u64>,
    lost_out_of_order: BinaryHeap<Reverse<u64>>,
    last_blocks: [(u64, u64); 4],
    /// A search for blocks has ended somewhere, and nothing has left the queue since.
    searched: bool,
    ever_lost_bytes: u64,
    /// `None`: not wanted.
    watch: Option<Box<Watch>>,
    #[cfg(test)]
    operations: u64,
}

impl Scoreboard {
    /// `watched`: it is wanted what is found lost, and what segments were sent into.
    pub(crate) fn new(watched: bool) -> Self {
        Self { watch: watched.then(Box::default), ..Self::default() }
    }

    /// Gives back the memory of an empty board.
    pub(crate) fn release(&mut self) {
        debug_assert!(self.is_empty(), "what is outstanding would be forgotten");
        self.slots = Vec::new();
    }

    /// SND.UNA: the oldest segment not cumulatively acknowledged.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT: the number of the next new segment.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.una == self.next
    }

    #[inline]
    pub(crate) fn out_segments(&self) -> u64 {
        self.next - self.una
    }

    #[inline]
    pub(crate) fn out_bytes(&self) -> u64 {
        self.out_bytes
    }

    /// The pipe of RFC 6675 §4: sent and neither acknowledged, SACKed nor believed lost.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.out_bytes - self.sacked_bytes - self.lost_bytes + self.retransmitted_bytes
    }

    #[inline]
    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    #[inline]
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    /// Bytes believed lost, whether they have been sent again or not.
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    #[inline]
    pub(crate) fn ever_lost_bytes(&self) -> u64 {
        self.ever_lost_bytes
    }

    /// One past the highest SACKed number; 0: nothing is SACKed.
    #[inline]
    pub(crate) fn highest_sacked_end(&self) -> u64 {
        self.sacked.end()
    }

    #[inline]
    pub(crate) fn record(&self, number: u64) -> &Record {
        debug_assert!(self.una <= number && number < self.next, "{number} is not outstanding");
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn record_mut(&mut self, number: u64) -> &mut Record {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    /// A new segment left; its number is what `next` was.
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if self.out_segments() == self.slots.len() as u64 {
            self.grow();
        }
        self.out_bytes += u64::from(record.bytes);
        let number = self.next;
        self.next += 1;
        *self.record_mut(number) = record;
        if self.watch.is_some() {
            self.note_departure(number);
        }
    }

    /// `number` was sent again at `sent`.
    pub(crate) fn on_retransmitted(&mut self, number: u64, mut update: Record) {
        let record = self.record_mut(number);
        let bytes = u64::from(record.bytes);
        let was_on_its_way = record.flags & Flags::RETRANSMITTED != 0;
        update.bytes = record.bytes;
        update.flags = record.flags | Flags::RETRANSMITTED | Flags::EVER_RETRANSMITTED;
        *record = update;
        if number >= self.next_retransmission && number < self.sacked.end() {
            self.next_retransmission = number + 1;
        }
        if !was_on_its_way {
            self.retransmitted_bytes += bytes;
        }
        if self.watch.is_some() {
            self.note_departure(number);
        }
    }

    /// Takes in one ACK: everything below `ack`, and SACK blocks. Numbers never sent are ignored.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: u64,
        blocks: impl Iterator<Item = (u64, u64)>,
        delivery: &mut Delivery,
    ) {
        let ack = ack.min(self.next);
        let advances = ack > self.una;
        if advances {
            self.advance(ack, delivery);
            self.searched = false;
        }
        for (i, (start, end)) in blocks.enumerate() {
            self.searched = !advances;
            // Blocks repeat from ACK to ACK; what is known is not looked up again.
            if self.last_blocks.get(i) == Some(&(start, end)) {
                continue;
            }
            if let Some(known) = self.last_blocks.get_mut(i) {
                *known = (start, end);
            }
            let (start, end) = (start.max(self.una), end.min(self.next));
            if start < end {
                self.sack(start, end, delivery);
            }
        }
    }

    /// Where Linux 2.6.15 to 2.6.23 goes on with its search, if all that has changed since the last one is that the first block grew at
    /// its end: where that ended, or at the head of the queue, once anything has left it (`clear_all_retrans_hints`).
    pub(crate) fn grown_block(&self, mut blocks: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
        let (start, end) = blocks.next()?;
        let (known_start, known_end) = self.last_blocks[0];
        let same = start == known_start && end >= known_end;
        let others = blocks.zip(&self.last_blocks[1..]).all(|(block, known)| block == *known);
        (same && others).then_some(if self.searched { known_end } else { self.una })
    }

    /// How many of `start..end`, which are outstanding, are not known to be SACKed.
    pub(crate) fn unknown(&self, start: u64, end: u64) -> u64 {
        (end - start) - (self.sacked.count_below(end) - self.sacked.count_below(start))
    }

    /// For tests of complexity.
    #[cfg(test)]
    fn count_operations(&mut self, visited: u64) {
        self.operations += visited;
    }

    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "counts in tests only")]
    fn count_operations(&mut self, _: u64) {}

    #[inline]
    fn advance(&mut self, ack: u64, delivery: &mut Delivery) {
        let mask = self.slots.len() - 1;
        delivery.advanced_segments = ack - self.una;
        let mut number = self.una;
        while number < ack {
            let record = &self.slots[number as usize & mask];
            let bytes = u64::from(record.bytes);
            delivery.advanced_bytes += bytes;
            if record.flags & (Flags::SACKED | Flags::LOST | Flags::RETRANSMITTED) == 0 {
                delivery.take(number, record);
            } else {
                let record = *record;
                self.forget(number, &record, delivery);
            }
            number += 1;
        }
        self.out_bytes -= delivery.advanced_bytes;
        self.una = ack;
        if !self.sacked.is_empty() {
            self.sacked.trim_below(ack);
        }
    }

    /// A record that recovery has touched leaves.
    #[cold]
    fn forget(&mut self, number: u64, record: &Record, delivery: &mut Delivery) {
        let bytes = u64::from(record.bytes);
        if record.flags & Flags::SACKED != 0 {
            self.sacked_bytes -= bytes;
            self.sacked_segments -= 1;
            return;
        }
        delivery.take(number, record);
        self.uncount_loss(record);
    }

    fn uncount_loss(&mut self, record: &Record) {
        let bytes = u64::from(record.bytes);
        if record.flags & Flags::LOST != 0 {
            self.lost_bytes -= bytes;
        }
        if record.flags & Flags::RETRANSMITTED != 0 {
            self.retransmitted_bytes -= bytes;
        }
    }

    fn sack(&mut self, start: u64, end: u64, delivery: &mut Delivery) {
        let mut ranges = std::mem::take(&mut self.sacked);
        ranges.insert(start, end, &mut |from, to| {
            let mut bytes = 0;
            for number in from..to {
                self.count_operations(1);
                let mut record = *self.record(number);
                bytes += u64::from(record.bytes);
                delivery.take(number, &record);
                self.uncount_loss(&record);
                record.flags = (record.flags & !(Flags::LOST | Flags::RETRANSMITTED)) | Flags::SACKED;
                self.record_mut(number).flags = record.flags;
            }
            delivery.sacked = true;
            self.sacked_bytes += bytes;
            self.sacked_segments += to - from;
            bytes
        });
        self.sacked = ranges;
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let outstanding = self.una..self.next;
        self.slots = moved(&self.slots, outstanding.clone(), size);
        if let Some(watch) = &mut self.watch {
            watch.grow(outstanding, size);
        }
    }
}

/// A ring of `size` entries with the `outstanding` ones of `old`.
fn moved<T: Copy + Default>(old: &[T], outstanding: Range<u64>, size: usize) -> Vec<T> {
    let mut ring = vec![T::default(); size];
    for number in outstanding {
        ring[number as usize & (size - 1)] = old[number as usize & (old.len() - 1)];
    }
    ring
}

#[cfg(test)]
mod tests {
    use rampcc::Time;

    use super::*;

    fn filled(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for number in 0..segments {
            board.push(Record { sent: Time::from_ns(number), bytes: 1000, ..Record::default() });
        }
        board
    }

    fn acknowledge(board: &mut Scoreboard, ack: u64, blocks: &[(u64, u64)]) -> Delivery {
        let mut delivery = Delivery::new();
        board.on_ack(ack, blocks.iter().copied(), &mut delivery);
        delivery
    }

    /// Sums over all records, for comparison with the counters.
    fn summed(board: &Scoreboard) -> u64 {
        (board.una..board.next)
            .map(|number| {
                let record = board.record(number);
                let has = |flag: u8| u64::from(record.flags & flag != 0);
                u64::from(record.bytes)
                    * (1 - has(Flags::SACKED) - has(Flags::LOST) + has(Flags::RETRANSMITTED))
            })
            .sum()
    }

    #[test]
    fn repairs_every_second_of_a_hundred_thousand_with_few_operations() {
        let segments = 100_000;
        let mut board = filled(segments);
        let mut retransmitted = vec![];
        for number in (1..segments).step_by(2) {
            acknowledge(&mut board, 0, &[(number, number + 1)]);
            board.mark_lost_by_sack(1000);
            while let Some(lost) = board.next_lost() {
                board.on_retransmitted(lost, Record::default());
                retransmitted.push(lost);
            }
        }
        assert_eq!(
            retransmitted.len() as u64,
            segments / 2 - 2,
            "all holes but those under the last two ranges"
        );
        assert!(retransmitted.is_sorted());
        assert!(board.operations < 10 * segments, "{} operations", board.operations);
        assert_eq!(board.in_flight(), summed(&board));
        for number in (2..=segments).step_by(2) {
            acknowledge(&mut board, number, &[]);
        }
        assert!(board.is_empty() && board.in_flight() == 0 && board.sacked.is_empty());
        assert!(board.operations < 10 * segments, "{} operations", board.operations);
    }

    #[test]
    fn counters_are_the_sums_over_the_records() {
        let mut board = filled(30);
        acknowledge(&mut board, 2, &[(4, 6), (10, 20)]);
        board.mark_lost_by_sack(1000);
        board.on_retransmitted(2, Record::default());
        board.on_retransmitted(7, Record::default());
        assert_eq!(board.in_flight(), summed(&board));
        assert_eq!(board.next_lost(), Some(3));
        board.mark_lost_again(2);
        assert_eq!(board.next_lost(), Some(2), "a lost retransmission comes first");
        assert_eq!(board.in_flight(), summed(&board));
        board.mark_all_lost(|_| false);
        assert_eq!(board.in_flight(), 0);
        board.on_retransmitted(2, Record::default());
        board.unmark_lost();
        assert_eq!(board.in_flight(), summed(&board));
    }

    #[test]
    fn blocks_beyond_what_was_sent_are_ignored() {
        let mut board = filled(5);
        let delivery = acknowledge(&mut board, 9, &[(7, 12), (u64::MAX - 3, u64::MAX)]);
        assert_eq!((delivery.advanced_segments, board.una(), board.is_empty()), (5, 5, true));
        assert!(board.sacked.is_empty());
    }
}
