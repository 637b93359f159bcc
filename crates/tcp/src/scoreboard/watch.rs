//! What was in flight when each segment left, and what has been found lost. Kept only for a control that asks, so that the
//! records of all others stay small.

use std::ops::Range;

use rampcc_avoidance::Lost;

use super::{Scoreboard, moved};
use crate::record::{Flags, Record};

/// What a segment was sent into, as of its last transmission. Bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// In flight just after it left.
    into: u64,
    /// Ever believed lost by then.
    lost: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// A ring as the board's, of the same length. It stays when an empty board is released, since that is before the ACK that
    /// has emptied it is judged.
    departures: Vec<Departure>,
    found: Vec<Lost>,
}

impl Watch {
    pub(super) fn grow(&mut self, outstanding: Range<u64>, size: usize) {
        self.departures = moved(&self.departures, outstanding, size);
    }

    fn departure(&self, number: u64) -> Departure {
        self.departures[number as usize & (self.departures.len() - 1)]
    }
}

impl Scoreboard {
    /// `number` has just left.
    #[cold]
    pub(super) fn note_departure(&mut self, number: u64) {
        let departure = Departure { into: self.in_flight(), lost: self.ever_lost_bytes };
        if let Some(watch) = &mut self.watch {
            let mask = watch.departures.len() - 1;
            watch.departures[number as usize & mask] = departure;
        }
    }

    /// `number` has just been found lost.
    #[cold]
    pub(super) fn note_loss(&mut self, number: u64) {
        let record = *self.record(number);
        if let Some(watch) = &mut self.watch {
            let left = watch.departure(number);
            watch.found.push(Lost {
                bytes: u64::from(record.bytes),
                sent_into: left.into,
                since: self.ever_lost_bytes - left.lost,
                paused: record.flags & Flags::APP_LIMITED != 0,
            });
        }
    }

    /// What was in flight just after `number`, of which an ACK has just made `record`, had left, and how much has been believed
    /// lost since. Zero where it is not watched, and where nothing was delivered.
    pub(crate) fn sent_into(&self, number: u64, record: &Record) -> (u64, u64) {
        match &self.watch {
            Some(watch) if record.bytes > 0 => {
                let left = watch.departure(number);
                (left.into, self.ever_lost_bytes - left.lost)
            }
            _ => (0, 0),
        }
    }

    /// Hands over what has been found lost since the last call.
    pub(crate) fn take_found(&mut self) -> Vec<Lost> {
        self.watch.as_mut().map(|watch| std::mem::take(&mut watch.found)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Delivery;

    fn sent(board: &mut Scoreboard, segments: u64) {
        for _ in 0..segments {
            board.push(Record { bytes: 1000, ..Record::default() });
        }
    }

    /// Forty segments: the ring grows twice under what it holds.
    #[test]
    fn a_watched_board_knows_what_each_segment_was_sent_into() {
        let mut board = Scoreboard::new(true);
        sent(&mut board, 40);
        let mut delivery = Delivery::new();
        board.on_ack(2, [(9, 13)].into_iter(), &mut delivery);
        assert_eq!(board.sent_into(delivery.newest_number, &delivery.newest), (13_000, 0));
        assert_eq!(board.mark_lost_by_sack(1000), 8_000 - 1_000);
        let found = board.take_found();
        assert_eq!(found.len(), 7);
        let third = Lost { bytes: 1_000, sent_into: 5_000, since: 3_000, paused: false };
        assert_eq!(found[2], third);
        assert_eq!(board.take_found(), []);
        // 40 less 2 acknowledged, 4 SACKed and 7 lost, and this one.
        board.on_retransmitted(4, Record::default());
        let mut delivery = Delivery::new();
        board.on_ack(2, [(4, 5), (9, 13)].into_iter(), &mut delivery);
        assert_eq!(board.sent_into(delivery.newest_number, &delivery.newest), (28_000, 0));
        let mut nothing = Delivery::new();
        board.on_ack(2, [(4, 5), (9, 13)].into_iter(), &mut nothing);
        assert_eq!(board.sent_into(nothing.newest_number, &nothing.newest), (0, 0));
    }

    /// The sender judges the ACK that ends a connection after it has given back the board's memory.
    #[test]
    fn the_last_segment_is_known_after_the_release() {
        let mut board = Scoreboard::new(true);
        sent(&mut board, 3);
        let mut delivery = Delivery::new();
        board.on_ack(3, [].into_iter(), &mut delivery);
        board.release();
        assert_eq!(board.sent_into(delivery.newest_number, &delivery.newest), (3_000, 0));
    }

    #[test]
    fn nobody_else_pays_for_it() {
        let mut board = Scoreboard::new(false);
        sent(&mut board, 40);
        let mut delivery = Delivery::new();
        board.on_ack(2, [(9, 13)].into_iter(), &mut delivery);
        board.mark_lost_by_sack(1000);
        assert_eq!(board.sent_into(delivery.newest_number, &delivery.newest), (0, 0));
        assert_eq!(board.take_found(), []);
        assert!(size_of::<Record>() <= 48);
    }
}
