//! Loss recovery as Linux 2.4 to 3.1 had it: forward acknowledgement (FACK) and rate halving.
//!
//! FACK (Mathis & Mahdavi 1996) believes lost whatever is three segments or more below the highest SACKed one. Rate
//! halving takes a segment off the window with every second ACK; whatever happens, the window is never more than a
//! segment above what is in flight. The window therefore falls with what is lost, not only to half, and whoever has lost most of
//! a window goes on with little. Source: `net/ipv4/tcp_input.c` of Linux 2.6.22 and 2.6.24 (`tcp_fastretrans_alert`,
//! `tcp_update_scoreboard`, `tcp_cwnd_down`, `tcp_moderate_cwnd`, `tcp_sacktag_write_queue`).
//!
//! Deviates: the distance of three segments stays where Linux widens it, and gives FACK up, once it has seen reordering.
//! Deviates: what has waited for longer than a timeout does not count as lost for that alone (`tcp_head_timedout`).

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_trace::SenderState;

use crate::Recovery;
use crate::record::{Delivery, Flags};
use crate::recovery::DUPLICATE_ACKS;
use crate::sender::Sender;

/// `tcp_max_burst`: a window in doubt is at most this many segments above what is in flight.
const BURST: u64 = 3;

/// What FACK and rate halving remember.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateHalving {
    /// The last ACK took nothing off the window; the next one does.
    odd: bool,
    /// What this recovery has sent again, and when, in that order.
    again: VecDeque<(u64, Time)>,
    /// When the newest segment left that has arrived and never was sent again.
    newest_clean: Time,
}

impl Sender {
    #[inline]
    pub(crate) fn halves_rate(&self) -> bool {
        self.rules.recovery == Recovery::Fack && self.recovery_in_use() == Recovery::Fack
    }

    /// Whether more segments than duplicate ACKs can explain are SACKed or below what is (`tcp_time_to_recover`).
    pub(crate) fn fack_finds_loss(&self) -> bool {
        self.board.highest_sacked_end().saturating_sub(self.board.una()) > u64::from(DUPLICATE_ACKS)
    }

    /// Marks what FACK believes lost, below `end`. Returns the newly lost bytes.
    pub(crate) fn mark_by_fack(&mut self, end: u64) -> u64 {
        let edge = self.board.highest_sacked_end().saturating_sub(u64::from(DUPLICATE_ACKS));
        self.board.mark_lost_below(edge.min(end))
    }

    pub(crate) fn begin_halving(&mut self) {
        self.repair.halving = RateHalving::default();
        self.halve_rate();
    }

    /// `tcp_cwnd_down`, for an ACK in recovery.
    pub(crate) fn halve_rate(&mut self) {
        let (cwnd, mss) = (self.cwnd(), self.mss());
        let floor = self.avoid.halving_floor(self.ssthresh());
        let step = if self.repair.halving.odd && cwnd > floor { mss } else { 0 };
        self.repair.halving.odd = !self.repair.halving.odd;
        self.set_cwnd((cwnd - step).min(self.board.in_flight() + mss));
    }

    /// `tcp_moderate_cwnd`.
    pub(crate) fn moderate_window(&mut self) {
        let most = self.board.in_flight() + BURST * self.mss();
        self.set_cwnd(self.cwnd().min(most));
    }

    pub(crate) fn note_sent_again(&mut self, now: Time, number: u64) {
        if self.repair.state == SenderState::Recovery {
            self.repair.halving.again.push_back((number, now));
        }
    }

    /// A retransmission is lost if something has arrived that left for the first time after it. Where window or buffer
    /// hold new data back, nothing tells, and the timer expires. Returns the newly lost bytes.
    pub(crate) fn find_lost_retransmissions(&mut self, delivery: &Delivery) -> u64 {
        let newest = &delivery.newest;
        let halving = &mut self.repair.halving;
        if delivery.any && newest.flags & Flags::EVER_RETRANSMITTED == 0 {
            halving.newest_clean = halving.newest_clean.max(newest.sent);
        }
        let mut lost = 0;
        while let Some(&(number, sent)) = self.repair.halving.again.front() {
            let gone = number < self.board.una() || self.board.record(number).sent != sent;
            if !gone && sent >= self.repair.halving.newest_clean {
                break;
            }
            self.repair.halving.again.pop_front();
            if !gone && self.board.record(number).flags & Flags::RETRANSMITTED != 0 {
                lost += self.board.mark_lost_again(number);
            }
        }
        lost
    }
}
