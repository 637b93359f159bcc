//! Fast retransmit and recovery, and timeouts.

use rampcc::{EventKind, Time};
use rampcc_trace::SenderState;

use super::{Flywheel, Ns2};
use crate::Recovery;
use crate::acknowledge::{AckFacts, DUPLICATE_ACKS};
use crate::connection::{Connection, Due};
use crate::record::Delivery;

impl Ns2 {
    /// Finds and repairs losses after an ACK has been taken in.
    pub(super) fn recover(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        c.count_duplicates(facts.duplicate, delivery);
        match c.repair.state {
            SenderState::Recovery => self.go_on_recovering(c, now, facts, delivery),
            SenderState::Loss if c.board.una() >= c.repair.point => {
                c.repair.state = SenderState::Open;
                c.end_repair(now);
            }
            SenderState::Loss | SenderState::Open => {}
        }
        // A fast retransmit of the first segment is allowed always (`bugfix_ss_`).
        let first = c.board.una() == 0 && c.repair.state == SenderState::Loss;
        if c.repair.state == SenderState::Open || first {
            self.look_for_loss(c, now, delivery);
        }
    }

    fn look_for_loss(&mut self, c: &mut Connection, now: Time, delivery: &Delivery) {
        let una = c.board.una();
        // RFC 6582 §3.2 step 2: not for duplicates that our own retransmissions caused.
        let fresh = c.repair.point == 0 || una == 0 || una > c.repair.point;
        if c.board.is_empty() || c.repair.duplicates != DUPLICATE_ACKS || !fresh {
            return;
        }
        if self.recovery == Recovery::Tahoe {
            self.start_over(c, now, delivery);
        } else {
            self.enter_recovery(c, now, delivery);
        }
    }

    /// Tahoe's answer to duplicate ACKs: everything outstanding is sent again, in slow start from one packet.
    fn start_over(&self, c: &mut Connection, now: Time, delivery: &Delivery) {
        c.note_repair();
        let lost = u64::from(c.board.record(c.board.una()).bytes);
        let reduction = self.reduction(c, EventKind::Loss, lost, delivery.newest.sent);
        c.arm_undo();
        c.report_congestion(now, &reduction);
        go_back(c, now);
    }

    fn enter_recovery(&mut self, c: &mut Connection, now: Time, delivery: &Delivery) {
        let window = c.cwnd();
        let una = c.board.una();
        let newreno = self.recovery_in_use(c) != Recovery::SackNs2;
        let lost = if newreno {
            c.board.mark_lost_again(una)
        } else {
            self.sacks.take_up(c, now);
            c.board.mark_lost(una)
        };
        let reduction = self.reduction(c, EventKind::Loss, lost, delivery.newest.sent);
        c.begin_repair(now, &reduction);
        if newreno {
            c.begin_newreno(window);
            self.flywheel = Flywheel { duplicates: DUPLICATE_ACKS, released: false };
        } else {
            let outstanding = c.board.out_bytes().cast_signed();
            self.pipe = outstanding - i64::from(DUPLICATE_ACKS * c.rules.mss);
            c.halve(window.min(c.window));
        }
    }

    fn go_on_recovering(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        let advanced = delivery.advanced_segments > 0;
        if c.board.una() >= c.repair.point {
            self.leave_recovery(c, now);
            return;
        }
        let mode = self.recovery_in_use(c);
        if mode == Recovery::SackNs2 {
            self.pipe -= i64::from(c.rules.mss) * if advanced { 2 } else { 1 };
            if advanced {
                c.arm_timeout(now);
                c.rtt.forget_backoff();
            }
            return;
        }
        if advanced && self.is_newreno() {
            c.board.mark_lost_again(c.board.una());
            c.due = Due::Head;
        } else if advanced {
            c.repair_next_hole();
        }
        if self.has_flywheel() {
            self.flywheel.turn(facts.duplicate && !advanced);
        }
        c.go_on_newreno(now, mode == Recovery::NewRenoSteady, facts.duplicate, delivery);
    }

    fn leave_recovery(&mut self, c: &mut Connection, now: Time) {
        self.flywheel.released = false;
        let cwnd = if self.is_newreno() {
            // It does not go back to ssthresh after partial ACKs, and slow start takes it there.
            c.cwnd().saturating_sub(c.repair.inflation)
        } else if self.recovery_in_use(c) == Recovery::SackNs2 {
            c.board.forget_recovery();
            c.repair.point = 0;
            c.cwnd()
        } else {
            c.ssthresh()
        };
        c.leave_recovery(now, cwnd);
    }

    #[cold]
    pub(crate) fn on_retransmission_timer(&mut self, c: &mut Connection, now: Time) {
        if c.board.is_empty() {
            return;
        }
        self.flywheel.released = false;
        let again = c.expires_again();
        // With Linux's timer, one reduction per window.
        let reduced = c.rules.linux_timer
            && match c.repair.state {
                SenderState::Open => false,
                SenderState::Recovery => c.board.una() < c.repair.point,
                SenderState::Loss => again,
            };
        let reduction =
            (!reduced).then(|| self.reduction(c, EventKind::Timeout, c.missing_bytes(), Time::ZERO));
        c.on_expiry(now, reduction.as_ref(), again);
        if self.recovery == Recovery::SackNs2 {
            // Goes back N.
            c.board.forget_recovery();
            self.sacks.forget();
        }
        go_back(c, now);
    }
}

impl Flywheel {
    /// Every second duplicate ACK releases a new segment. What the application had no data for is forgotten.
    fn turn(&mut self, duplicate: bool) {
        self.duplicates = self.duplicates.saturating_add(u32::from(duplicate));
        self.released = duplicate && self.duplicates % 2 == 1;
    }
}

/// Everything outstanding is sent again.
fn go_back(c: &mut Connection, now: Time) {
    c.keep_whole_packets();
    c.rtt.give_timing_up();
    c.go_back(now, |_| false);
}
