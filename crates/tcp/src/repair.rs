//! What every loss recovery does: its beginning, its end, NewReno's window (RFC 6582), and a mark's reduction.

use rampcc::{EventKind, Time};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::acknowledge::DUPLICATE_ACKS;
use crate::connection::{Connection, Due};
use crate::record::{Delivery, Flags};
use crate::steering::Reduction;
use crate::undo::Undo;

impl Connection {
    pub(crate) fn count_duplicates(&mut self, duplicate: bool, delivery: &Delivery) {
        if delivery.advanced_segments > 0 {
            self.repair.duplicates = 0;
        } else if duplicate {
            self.repair.duplicates = self.repair.duplicates.saturating_add(1);
        }
    }

    pub(crate) fn note_repair(&mut self) {
        self.events.push_back(FlowEventKind::RecoveryStart {
            cwnd_bytes: self.cwnd(),
            in_flight_bytes: self.board.out_bytes(),
        });
    }

    /// Fast recovery begins, and the segment at SND.UNA goes again. What becomes of the window is the agent's.
    pub(crate) fn begin_repair(&mut self, now: Time, reduction: &Reduction) {
        self.note_repair();
        self.arm_undo();
        self.report_congestion(now, reduction);
        self.avoid.on_repair();
        self.repair.state = SenderState::Recovery;
        self.repair.point = self.board.next();
        self.repair.partial = false;
        self.board.begin_recovery();
        self.due = Due::Head;
        self.rtt.give_timing_up();
        self.arm_timeout(now);
    }

    /// NewReno's window: half of `window`, and what the duplicates stand for.
    pub(crate) fn begin_newreno(&mut self, window: u64) {
        self.repair.inflation = u64::from(DUPLICATE_ACKS) * self.mss();
        self.halve(window.min(self.window));
        self.set_cwnd(self.cwnd().saturating_add(self.repair.inflation));
    }

    /// NewReno's answer to an ACK in recovery. `steady`: the timer restarts on every partial ACK.
    pub(crate) fn go_on_newreno(&mut self, now: Time, steady: bool, duplicate: bool, delivery: &Delivery) {
        let mss = self.mss();
        if delivery.advanced_segments > 0 {
            // RFC 6582 §3.2 step 3: deflate by what was acknowledged, add back what leaves.
            let back = if delivery.advanced_bytes >= mss { mss } else { 0 };
            self.set_cwnd(self.cwnd().saturating_sub(delivery.advanced_bytes).max(mss) + back);
            self.repair.inflation =
                self.repair.inflation.saturating_sub(delivery.advanced_bytes).saturating_add(back);
            if steady || !self.repair.partial {
                self.arm_timeout(now);
            }
            self.repair.partial = true;
        } else if duplicate {
            self.set_cwnd(self.cwnd().saturating_add(mss));
            self.repair.inflation = self.repair.inflation.saturating_add(mss);
        }
    }

    /// What a partial ACK shows to be missing goes again.
    pub(crate) fn repair_next_hole(&mut self) {
        let una = self.board.una();
        if self.board.record(una).flags & (Flags::RETRANSMITTED | Flags::SACKED) == 0 {
            self.board.mark_lost(una);
            self.due = Due::Head;
        }
    }

    /// ns-2's window after fast retransmit: half, of which ssthresh keeps whole packets, two at least. An algorithm's own
    /// threshold stands.
    pub(crate) fn halve(&mut self, window: u64) {
        let mss = self.mss();
        let half = window / 2;
        if self.ssthresh() == half.max(2 * mss) {
            self.set_cwnd(half);
            self.keep_whole_packets();
        } else {
            self.set_cwnd(self.ssthresh());
        }
    }

    /// ssthresh is a whole number of packets.
    pub(crate) fn keep_whole_packets(&mut self) {
        let mss = self.mss();
        let whole = (self.ssthresh() / mss).max(2) * mss;
        self.set_ssthresh(whole);
    }

    /// All is acknowledged that was outstanding when recovery began; the window is `cwnd` from now on.
    pub(crate) fn leave_recovery(&mut self, now: Time, cwnd: u64) {
        self.set_cwnd(cwnd.max(self.mss()));
        self.complete_reduction();
        self.repair.state = SenderState::Open;
        self.end_repair(now);
    }

    /// A reduction has run its course (Linux `tcp_end_cwnd_reduction`).
    pub(crate) fn complete_reduction(&mut self) {
        if let Some(window) = self.avoid.on_repaired(self.ssthresh(), self.mss()) {
            self.set_ssthresh(window);
            self.set_cwnd(window);
        }
    }

    pub(crate) fn end_repair(&mut self, now: Time) {
        self.report(now, EventKind::Recovered);
        self.events.push_back(FlowEventKind::RecoveryEnd);
    }

    /// An ACK has been taken in; `marked`: it tells of a mark. Returns whether that wants an answer.
    #[cold]
    pub(crate) fn attend_marks(&mut self, now: Time, marked: bool) -> bool {
        let answered = self.ecn.answered(self.board.una());
        if answered && self.ecn.end_reduction() && self.repair.state == SenderState::Open {
            self.complete_reduction();
            self.end_repair(now);
        }
        marked && answered && self.repair.state == SenderState::Open
    }

    /// Reduces the window for a mark.
    pub(crate) fn answer_mark(&mut self, now: Time, reduction: &Reduction) {
        if self.avoid.by_rate() {
            // BBR does not care, but the receiver wants its answer.
            self.ecn.note_reduction(self.board.next());
            return;
        }
        self.note_repair();
        self.report_congestion(now, reduction);
        let window = self.cwnd().min(self.ssthresh());
        self.set_cwnd(window);
        self.renew_share();
        // A mark is never spurious.
        self.repair.undo = Undo::default();
        self.ecn.begin_reduction();
    }
}
