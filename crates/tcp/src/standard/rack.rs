//! RACK-TLP (RFC 8985): losses found by time, and probes for lost tails.
//!
//! The RFC keeps all segments in order of sending. First transmissions are in that order already, so one cursor walks
//! over them; retransmissions have a queue of their own. Every segment is judged once per transmission.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_trace::SenderState;

use crate::connection::Connection;
use crate::record::{Delivery, Flags};
use crate::scoreboard::Scoreboard;

/// RFC 8985 §6.2: SACKed segments that make reordering unlikely.
const DUPLICATE_THRESHOLD: u64 = 3;
/// RFC 8985 §6.2: recoveries after which a widened window narrows again.
const PERSISTENCE: u8 = 16;

/// The state of RACK and TLP.
#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    /// The newest delivered segment: when it left, its number, its round trip.
    sent: Time,
    number: u64,
    rtt: Time,
    reordering_seen: bool,
    /// The window is this + 1 quarters of the minimum RTT.
    widened: u8,
    persistence: u8,
    /// Duplicates reported before this is acknowledged do not widen the window again.
    widen_after: u64,
    cursor: u64,
    resent: VecDeque<(u64, Time)>,
    /// What acknowledges the last probe.
    probe_end: Option<u64>,
    probe_was_resent: bool,
}

impl Rack {
    pub(super) fn rtt(&self) -> Time {
        self.rtt
    }

    #[inline]
    pub(super) fn probing(&self) -> bool {
        self.probe_end.is_some()
    }

    pub(super) fn on_tail_probe(&mut self, end: u64, resent: bool) {
        self.probe_end = Some(end);
        self.probe_was_resent = resent;
    }

    pub(super) fn on_retransmitted(&mut self, number: u64, now: Time) {
        self.resent.push_back((number, now));
    }

    pub(super) fn on_timeout(&mut self, una: u64) {
        self.resent.clear();
        self.cursor = self.cursor.max(una);
        self.probe_end = None;
    }

    pub(super) fn on_undone(&mut self, una: u64) {
        self.cursor = una;
    }

    /// Takes note of the newest delivered segment. `fack`: one past the highest delivered before this ACK.
    #[inline]
    pub(super) fn on_delivery(&mut self, now: Time, delivery: &Delivery, fack: u64, min_rtt: Time) {
        let newest = &delivery.newest;
        if delivery.lowest_clean < fack {
            self.reordering_seen = true;
        }
        let rtt = now - newest.sent;
        // Faster than the path can be: it was the original that arrived, not the retransmission.
        if newest.flags & Flags::EVER_RETRANSMITTED != 0 && rtt < min_rtt {
            return;
        }
        self.rtt = rtt;
        if (newest.sent, delivery.newest_number) > (self.sent, self.number) {
            self.sent = newest.sent;
            self.number = delivery.newest_number;
        }
    }

    /// A duplicate was reported: a retransmission was needless, so wait longer.
    pub(super) fn on_duplicate(&mut self, una: u64, next: u64) {
        if una > self.widen_after || self.widened == 0 {
            self.widened = self.widened.saturating_add(1);
            self.widen_after = next;
        }
        self.persistence = PERSISTENCE;
    }

    pub(super) fn on_recovery_end(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.widened = 0;
        }
    }

    fn reordering_window(&self, suspicious: bool, min_rtt: Time, smoothed: Time) -> Time {
        if !self.reordering_seen && suspicious {
            return Time::ZERO;
        }
        let quarter = if min_rtt == Time::NEVER { 0 } else { min_rtt.ns() / 4 };
        Time::from_ns(quarter.saturating_mul(u64::from(self.widened) + 1)).min(smoothed)
    }

    /// Marks lost what was sent long enough before the newest delivered segment. Returns the newly lost bytes and
    /// when to look again.
    fn detect(&mut self, now: Time, window: Time, board: &mut Scoreboard) -> (u64, Time) {
        let patience = self.rtt + window;
        let newest = (self.sent, self.number);
        let mut lost = 0;
        let mut waiting = false;
        let mut number = self.cursor.max(board.una());
        while number < board.next() {
            let record = board.record(number);
            if record.flags & (Flags::SACKED | Flags::LOST | Flags::EVER_RETRANSMITTED) == 0 {
                if (record.sent, number) >= newest {
                    break;
                }
                if record.sent + patience > now {
                    waiting = true;
                    break;
                }
                lost += board.mark_lost(number);
            } else if record.flags & Flags::EVER_RETRANSMITTED == 0 && (record.sent, number) >= newest {
                break;
            }
            number += 1;
        }
        self.cursor = number;
        while let Some(&(number, sent)) = self.resent.front() {
            let current = number >= board.una() && {
                let record = board.record(number);
                record.sent == sent && record.flags & Flags::RETRANSMITTED != 0
            };
            if current {
                if (sent, number) >= newest {
                    break;
                }
                if sent + patience > now {
                    waiting = true;
                    break;
                }
                lost += board.mark_lost_again(number);
            }
            self.resent.pop_front();
        }
        (lost, if waiting { self.sent + patience } else { Time::NEVER })
    }

    /// Looks for losses by time. Returns the newly lost bytes.
    pub(super) fn detect_by_time(&mut self, c: &mut Connection, now: Time) -> u64 {
        let suspicious =
            c.repair.state != SenderState::Open || c.board.sacked_segments() >= DUPLICATE_THRESHOLD;
        let window = self.reordering_window(suspicious, c.rtt.min(), c.rtt.smoothed());
        let (lost, look_again) = self.detect(now, window, &mut c.board);
        c.timers.reordering = look_again;
        lost
    }

    /// An ACK of all below `una` may answer the tail probe. Returns whether the probe repaired a loss that nothing else will
    /// report.
    pub(super) fn settle_tail_probe(&mut self, una: u64, duplicate: bool, progress: bool) -> bool {
        let Some(end) = self.probe_end else { return false };
        if una < end {
            return false;
        }
        if !self.probe_was_resent || duplicate || (una == end && !progress) {
            self.probe_end = None;
            return false;
        }
        if una > end {
            self.probe_end = None;
            return true;
        }
        false
    }
}
