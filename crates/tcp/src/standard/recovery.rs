//! Loss recovery: RFC 6675 (SACK), FACK, NewReno without SACK, with RFC 9937 (PRR).

use rampcc::{EventKind, Time};
use rampcc_trace::SenderState;

use super::fack::{self, RateHalving};
use super::{Prr, Standard, reduction};
use crate::acknowledge::{AckFacts, DUPLICATE_ACKS, Taken};
use crate::connection::Connection;
use crate::record::Delivery;
use crate::segment::Segment;

impl Standard {
    /// Finds and repairs losses after an ACK has been taken in.
    pub(super) fn recover(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        c.count_duplicates(facts.duplicate, delivery);
        match c.repair.state {
            SenderState::Recovery => self.go_on_recovering(c, now, facts, delivery),
            SenderState::Loss => self.go_on_after_timeout(c, now, facts, delivery),
            SenderState::Open => {}
        }
        if self.halves_rate(c) && c.repair.state != SenderState::Recovery {
            fack::moderate_window(c);
        }
        if c.repair.state == SenderState::Open {
            self.look_for_loss(c, now, delivery);
        }
    }

    /// Fast recovery begins. `lost`: bytes found lost by now.
    fn enter_recovery(&mut self, c: &mut Connection, now: Time, lost: u64, delivery: &Delivery) {
        let window = c.cwnd();
        let sack = c.sack_in_use();
        let una = c.board.una();
        let lost = lost + if sack { c.board.mark_lost(una) } else { c.board.mark_lost_again(una) };
        let reduction = reduction(c, EventKind::Loss, lost, delivery.newest.sent);
        c.begin_repair(now, &reduction);
        c.repair.rationed = self.rules.fack || self.rules.prr;
        self.rescued = false;
        if !sack {
            c.begin_newreno(window);
        } else if self.rules.fack {
            self.halving = RateHalving::begin(c, self.rules.hints);
        } else if self.rules.prr {
            // What this ACK delivered belongs to the recovery.
            self.prr = Prr::new(c.missing_bytes() + delivery.bytes);
            self.reduce_proportionally(c, delivery.bytes, false);
        } else {
            c.set_cwnd(c.ssthresh());
        }
    }

    /// PRR's window after an ACK.
    fn reduce_proportionally(&mut self, c: &mut Connection, delivered: u64, safe: bool) {
        if !self.rules.prr || (c.avoid.repairs() && !c.starting()) {
            return;
        }
        let in_flight = c.board.in_flight();
        let (ssthresh, mss) = (c.ssthresh(), c.mss());
        let allowed = self.prr.on_ack(delivered, in_flight, ssthresh, safe, mss);
        c.set_cwnd(in_flight.saturating_add(allowed));
    }

    #[cold]
    pub(super) fn judge_tail_probe(&mut self, c: &mut Connection, segment: &Segment, taken: &Taken) {
        let duplicate = segment.duplicate().is_some();
        let repaired = self.rack.settle_tail_probe(c.board.una(), duplicate, taken.delivery.any);
        if repaired && c.repair.state == SenderState::Open {
            Self::reduce_for_probe(c, taken.view.now, taken.delivery.newest.sent);
        }
    }

    /// The tail probe repaired a loss: the window is reduced once, without a recovery. `deciding`: when the newest
    /// acknowledged packet was sent.
    fn reduce_for_probe(c: &mut Connection, now: Time, deciding: Time) {
        c.note_repair();
        let reduction = reduction(c, EventKind::Loss, c.mss(), deciding);
        c.report_congestion(now, &reduction);
        c.set_cwnd(c.cwnd().min(c.ssthresh()));
        c.complete_reduction();
        c.end_repair(now);
    }

    fn look_for_loss(&mut self, c: &mut Connection, now: Time, delivery: &Delivery) {
        if c.board.is_empty() {
            return;
        }
        let una = c.board.una();
        let duplicates = c.repair.duplicates;
        if !c.sack_in_use() {
            // RFC 6582 §3.2 step 2: not for duplicates that our own retransmissions caused.
            let fresh = c.repair.point == 0 || una == 0 || una > c.repair.point;
            if duplicates == DUPLICATE_ACKS && fresh {
                self.enter_recovery(c, now, 0, delivery);
            }
        } else if self.rules.fack {
            if fack::finds_loss(c) {
                let lost = fack::mark_lost(c, c.board.next());
                self.enter_recovery(c, now, lost, delivery);
            }
        } else if self.rules.rack {
            let lost = self.rack.detect_by_time(c, now);
            let by_count = c.board.sacked_segments() == 0 && duplicates >= DUPLICATE_ACKS;
            // Linux `tcp_time_to_recover`: what the last recovery found lost beyond its point begins the next one.
            if c.board.lost_bytes() > 0 || by_count {
                self.enter_recovery(c, now, lost, delivery);
            }
        } else if una >= c.repair.point
            && (duplicates >= DUPLICATE_ACKS || c.board.is_lost_edge(c.rules.mss) > una)
        {
            let lost = c.board.mark_lost_by_sack(c.rules.mss);
            self.enter_recovery(c, now, lost, delivery);
        }
    }

    fn go_on_recovering(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        let advanced = delivery.advanced_segments > 0;
        if c.board.una() >= c.repair.point {
            let ssthresh = c.ssthresh();
            c.leave_recovery(now, if self.halves_rate(c) { c.cwnd().min(ssthresh) } else { ssthresh });
            self.rack.on_recovery_end();
        } else if !c.sack_in_use() {
            if advanced {
                c.repair_next_hole();
            }
            // Linux restarts the timer on every ACK that advances.
            c.go_on_newreno(now, self.rules.fack, facts.duplicate, delivery);
        } else if self.rules.fack {
            self.halving.find_lost_retransmissions(c, delivery);
            self.halving.update_scoreboard(c, now, facts.duplicate);
            self.halving.halve(c);
        } else {
            self.go_on_with_sack(c, now, facts, delivery);
        }
    }

    fn go_on_with_sack(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        let advanced = delivery.advanced_segments > 0;
        let lost = if self.rules.rack {
            self.rack.detect_by_time(c, now)
        } else {
            c.board.mark_lost_by_sack(c.rules.mss)
        };
        if advanced {
            c.arm_timeout(now);
            // Deviates: RFC 6675 waits for a timeout if nothing above a partial ACK is SACKed. If our
            // retransmission caused it, what follows was lost with it (RFC 6582); receivers that stop
            // sending SACK blocks are repaired so, one hole per round trip.
            let ours = facts.echo >= c.repair.undo.first_retransmission;
            if ours && !self.rules.rack && c.board.sacked_segments() == 0 {
                c.repair_next_hole();
            }
        }
        if delivery.any {
            self.reduce_proportionally(c, delivery.bytes, advanced && lost == 0);
        }
    }

    fn go_on_after_timeout(&mut self, c: &mut Connection, now: Time, facts: &AckFacts, delivery: &Delivery) {
        self.frto.doubt(c, facts, delivery);
        if c.board.una() >= c.repair.point {
            c.repair.state = SenderState::Open;
            c.end_repair(now);
        } else if delivery.any && self.rack_in_use(c) {
            self.rack.detect_by_time(c, now);
        }
    }

    pub(crate) fn on_reordering_timer(&mut self, c: &mut Connection, now: Time) {
        let lost = self.rack.detect_by_time(c, now);
        if lost == 0 {
            return;
        }
        match c.repair.state {
            SenderState::Open => self.enter_recovery(c, now, lost, &Delivery::new()),
            SenderState::Recovery => self.reduce_proportionally(c, 0, false),
            SenderState::Loss => {}
        }
    }
}
