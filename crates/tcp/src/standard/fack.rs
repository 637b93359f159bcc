//! Loss recovery as Linux 2.4 to 3.1 had it: forward acknowledgement (FACK) and rate halving.
//!
//! FACK (Mathis & Mahdavi 1996) believes lost whatever is three segments or more below the highest SACKed one. Rate
//! halving takes a segment off the window with every second ACK; whatever happens, the window is never more than a
//! segment above what is in flight. The window therefore falls with what is lost, not only to half, and a sender that has lost most of
//! a window goes on with little. Source: `net/ipv4/tcp_input.c` of Linux 2.6.22 and 2.6.24 (`tcp_fastretrans_alert`,
//! `tcp_update_scoreboard`, `tcp_cwnd_down`, `tcp_moderate_cwnd`, `tcp_sacktag_write_queue`).
//!
//! Deviates: the distance of three segments stays where Linux widens it, and gives FACK up, once it has seen reordering.

use std::collections::VecDeque;

use rampcc::Time;

use crate::acknowledge::DUPLICATE_ACKS;
use crate::connection::Connection;
use crate::record::{Delivery, Flags};
use crate::segment::Segment;

use super::hints::Hints;

/// `tcp_max_burst`: a window in doubt is at most this many segments above what is in flight.
const BURST: u64 = 3;

/// What FACK and rate halving remember.
#[derive(Clone, Debug, Default)]
pub(super) struct RateHalving {
    /// The last ACK took nothing off the window; the next one does.
    odd: bool,
    /// What this recovery has sent again, and when, in that order.
    again: VecDeque<(u64, Time)>,
    /// When the newest segment left that has arrived and never was sent again.
    newest_clean: Time,
    /// Where the search for what has waited too long goes on (`scoreboard_skb_hint`).
    waited: u64,
    /// Walks go on from where the last one ended.
    hints: Option<Hints>,
}

impl RateHalving {
    /// Recovery begins; `hints`: lost retransmissions are found as Linux 2.6.15 to 2.6.23 does.
    pub(super) fn begin(c: &mut Connection, hints: bool) -> Self {
        let mut halving = Self { hints: hints.then(Hints::default), ..Self::default() };
        halving.halve(c);
        halving
    }

    /// `tcp_cwnd_down`, for an ACK in recovery.
    pub(super) fn halve(&mut self, c: &mut Connection) {
        let (cwnd, mss) = (c.cwnd(), c.mss());
        let floor = c.avoid.halving_floor(c.ssthresh());
        let step = if self.odd && cwnd > floor { mss } else { 0 };
        self.odd = !self.odd;
        c.set_cwnd((cwnd - step).min(c.board.in_flight() + mss));
    }

    /// `tcp_update_scoreboard`, for an ACK in recovery: FACK's losses; the oldest segment at a duplicate that shows none; and, once
    /// that one has waited for longer than a timeout, whatever has. Returns the newly lost bytes.
    pub(super) fn update_scoreboard(&mut self, c: &mut Connection, now: Time, duplicate: bool) -> u64 {
        let mut lost = mark_lost(c, c.repair.point);
        if c.board.is_empty() {
            return lost;
        }
        let una = c.board.una();
        if duplicate && !finds_loss(c) {
            lost += mark_lost_once(c, una);
        }
        let timeout = c.rtt.timeout();
        let waits = |c: &Connection, number: u64| now - c.board.record(number).sent > timeout;
        if waits(c, una) {
            self.waited = self.waited.max(una);
            while self.waited < c.board.next() && waits(c, self.waited) {
                lost += mark_lost_once(c, self.waited);
                self.waited += 1;
            }
        }
        lost
    }

    pub(super) fn note_sent_again(&mut self, c: &Connection, now: Time, number: u64) {
        match &mut self.hints {
            Some(hints) => hints.note_sent_again(number, c.board.next()),
            None => self.again.push_back((number, now)),
        }
    }

    /// An ACK with blocks has arrived in recovery, and is not taken in yet.
    pub(super) fn walk(&mut self, c: &Connection, segment: &Segment) {
        if let Some(hints) = &mut self.hints {
            hints.walk(c, segment);
        }
    }

    /// A retransmission is lost if something has arrived that left for the first time after it. Where window or buffer
    /// hold new data back, nothing tells, and the timer expires. Returns the newly lost bytes.
    pub(super) fn find_lost_retransmissions(&mut self, c: &mut Connection, delivery: &Delivery) -> u64 {
        if let Some(hints) = &mut self.hints {
            return hints.mark_lost(c);
        }
        let newest = &delivery.newest;
        if delivery.any && newest.flags & Flags::EVER_RETRANSMITTED == 0 {
            self.newest_clean = self.newest_clean.max(newest.sent);
        }
        let mut lost = 0;
        while let Some(&(number, sent)) = self.again.front() {
            let gone = number < c.board.una() || c.board.record(number).sent != sent;
            if !gone && sent >= self.newest_clean {
                break;
            }
            self.again.pop_front();
            if !gone && c.board.record(number).flags & Flags::RETRANSMITTED != 0 {
                lost += c.board.mark_lost_again(number);
            }
        }
        lost
    }
}

/// Whether more segments than duplicate ACKs can explain are SACKed or below what is (`tcp_time_to_recover`).
pub(super) fn finds_loss(c: &Connection) -> bool {
    c.board.highest_sacked_end().saturating_sub(c.board.una()) > u64::from(DUPLICATE_ACKS)
}

/// Marks what FACK believes lost, below `end`. Returns the newly lost bytes.
pub(super) fn mark_lost(c: &mut Connection, end: u64) -> u64 {
    let edge = c.board.highest_sacked_end().saturating_sub(u64::from(DUPLICATE_ACKS));
    c.board.mark_lost_below(edge.min(end))
}

/// Unless it was sent again.
fn mark_lost_once(c: &mut Connection, number: u64) -> u64 {
    if c.board.record(number).flags & Flags::RETRANSMITTED != 0 { 0 } else { c.board.mark_lost(number) }
}

/// `tcp_moderate_cwnd`.
pub(super) fn moderate_window(c: &mut Connection) {
    let most = c.board.in_flight() + BURST * c.mss();
    c.set_cwnd(c.cwnd().min(most));
}
