//! Loss recovery: RFC 6675 (SACK), ns-2's Sack1, RFC 6582 (NewReno), with RFC 9937 (PRR).

use rampcc::{EventKind, Time};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::Recovery;
use crate::prr::Prr;
use crate::record::{Delivery, Flags};
use crate::segment::Segment;
use crate::sender::{Due, Sender};

/// RFC 5681: this many duplicate ACKs mean a loss.
pub(crate) const DUPLICATE_ACKS: u32 = 3;

/// What recovery must know of an ACK besides what it delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckFacts {
    /// It tells of nothing new below SND.UNA but that a segment arrived (RFC 5681 §2, RFC 6675 §2).
    pub(crate) duplicate: bool,
    /// It reports a segment that arrived twice.
    pub(crate) needless: bool,
    /// The time stamp it echoes.
    pub(crate) echo: Time,
}

impl Sender {
    /// Finds and repairs losses after an ACK has been taken in.
    pub(crate) fn recover(&mut self, now: Time, facts: &AckFacts, delivery: &Delivery) {
        if delivery.advanced_segments > 0 {
            self.repair.duplicates = 0;
        } else if facts.duplicate {
            self.repair.duplicates = self.repair.duplicates.saturating_add(1);
        }
        match self.repair.state {
            SenderState::Recovery => self.go_on_recovering(now, facts, delivery),
            SenderState::Loss => self.go_on_after_timeout(now, facts, delivery),
            SenderState::Open => {}
        }
        if self.halves_rate() && self.repair.state != SenderState::Recovery {
            self.moderate_window();
        }
        // ns-2 allows a fast retransmit of the first segment always (`bugfix_ss_`).
        let first = self.rules.recovery.is_ns2() && self.board.una() == 0;
        if self.repair.state == SenderState::Open || (first && self.repair.state == SenderState::Loss) {
            self.look_for_loss(now, delivery);
        }
    }

    /// Fast recovery begins. `lost`: bytes found lost by now.
    pub(crate) fn enter_recovery(&mut self, now: Time, lost: u64, delivery: &Delivery) {
        let window = self.cwnd();
        let mode = self.recovery_in_use();
        if mode == Recovery::SackNs2 {
            self.take_sacks_up(now);
        }
        let una = self.board.una();
        let lost = lost
            + if mode.is_newreno() { self.board.mark_lost_again(una) } else { self.board.mark_lost(una) };
        self.events.push_back(FlowEventKind::RecoveryStart {
            cwnd_bytes: self.cwnd(),
            in_flight_bytes: self.board.out_bytes(),
        });
        self.arm_undo();
        self.report_congestion(now, EventKind::Loss, lost, delivery.newest.sent);
        self.avoid.on_repair();
        let (ssthresh, mss) = (self.ssthresh(), self.mss());
        let outstanding = self.board.out_bytes();
        self.repair.state = SenderState::Recovery;
        self.repair.point = self.board.next();
        self.repair.rescued = false;
        self.repair.partial = false;
        self.board.begin_recovery();
        self.due = Due::Head;
        self.repair.timed = None;
        match mode {
            Recovery::NewRenoImpatient | Recovery::NewRenoSteady => {
                self.repair.inflation = u64::from(DUPLICATE_ACKS) * mss;
                self.halve(window.min(self.window));
                self.set_cwnd(self.cwnd().saturating_add(self.repair.inflation));
            }
            Recovery::SackNs2 => {
                self.repair.pipe = outstanding.cast_signed() - i64::from(DUPLICATE_ACKS * self.rules.mss);
                self.halve(window.min(self.window));
            }
            Recovery::Sack if self.rules.prr => {
                // What this ACK delivered belongs to the recovery.
                let flight = outstanding - self.board.sacked_bytes() + delivery.bytes;
                self.repair.prr = Prr::new(flight);
                self.reduce_proportionally(delivery.bytes, false);
            }
            Recovery::Sack => self.set_cwnd(ssthresh),
            Recovery::Fack => self.begin_halving(),
            Recovery::Tahoe => unreachable!("it has no fast recovery"),
        }
        self.arm_timeout(now);
    }

    /// Tahoe's answer to duplicate ACKs: everything outstanding is sent again, in slow start from one packet.
    fn start_over(&mut self, now: Time, delivery: &Delivery) {
        self.events.push_back(FlowEventKind::RecoveryStart {
            cwnd_bytes: self.cwnd(),
            in_flight_bytes: self.board.out_bytes(),
        });
        let lost = u64::from(self.board.record(self.board.una()).bytes);
        self.arm_undo();
        self.report_congestion(now, EventKind::Loss, lost, delivery.newest.sent);
        self.go_back(now);
    }

    /// PRR's window after an ACK.
    pub(crate) fn reduce_proportionally(&mut self, delivered: u64, safe: bool) {
        if !self.rules.prr || (self.avoid.repairs() && !self.starting()) {
            return;
        }
        let in_flight = self.board.in_flight();
        let (ssthresh, mss) = (self.ssthresh(), self.mss());
        let allowed = self.repair.prr.on_ack(delivered, in_flight, ssthresh, safe, mss);
        self.set_cwnd(in_flight.saturating_add(allowed));
    }

    /// The tail probe repaired a loss: the window is reduced once, without a recovery. `deciding`: when the newest
    /// acknowledged packet was sent.
    pub(crate) fn reduce_for_probe(&mut self, now: Time, deciding: Time) {
        let mss = self.mss();
        self.events.push_back(FlowEventKind::RecoveryStart {
            cwnd_bytes: self.cwnd(),
            in_flight_bytes: self.board.out_bytes(),
        });
        self.report_congestion(now, EventKind::Loss, mss, deciding);
        let ssthresh = self.ssthresh();
        self.set_cwnd(self.cwnd().min(ssthresh));
        self.complete_reduction();
        self.end_repair(now);
    }

    #[inline]
    pub(crate) fn recovery_in_use(&self) -> Recovery {
        match self.rules.recovery {
            Recovery::Sack | Recovery::SackNs2 if !self.sack_in_use() => Recovery::NewRenoImpatient,
            // Linux restarts the timer on every ACK that advances.
            Recovery::Fack if !self.sack_in_use() => Recovery::NewRenoSteady,
            other => other,
        }
    }

    fn look_for_loss(&mut self, now: Time, delivery: &Delivery) {
        if self.board.is_empty() {
            return;
        }
        let una = self.board.una();
        let duplicates = self.repair.duplicates;
        match self.recovery_in_use() {
            Recovery::Sack if self.rules.rack => {
                let lost = self.detect_by_time(now);
                let by_count = self.board.sacked_segments() == 0 && duplicates >= DUPLICATE_ACKS;
                // Linux `tcp_time_to_recover`: what the last recovery found lost beyond its point begins the next one.
                if self.board.lost_bytes() > 0 || by_count {
                    self.enter_recovery(now, lost, delivery);
                }
            }
            Recovery::Sack => {
                if una < self.repair.point {
                    return;
                }
                if duplicates >= DUPLICATE_ACKS || self.board.is_lost_edge(self.rules.mss) > una {
                    let lost = self.board.mark_lost_by_sack(self.rules.mss);
                    self.enter_recovery(now, lost, delivery);
                }
            }
            Recovery::Fack => {
                if self.fack_finds_loss() {
                    let lost = self.mark_by_fack(self.board.next());
                    self.enter_recovery(now, lost, delivery);
                }
            }
            mode => {
                // RFC 6582 §3.2 step 2: not for duplicates that our own retransmissions caused.
                let fresh = self.repair.point == 0 || una == 0 || una > self.repair.point;
                if duplicates == DUPLICATE_ACKS && fresh {
                    if mode == Recovery::Tahoe {
                        self.start_over(now, delivery);
                    } else {
                        self.enter_recovery(now, 0, delivery);
                    }
                }
            }
        }
    }

    fn go_on_recovering(&mut self, now: Time, facts: &AckFacts, delivery: &Delivery) {
        let advanced = delivery.advanced_segments > 0;
        if self.board.una() >= self.repair.point {
            self.leave_recovery(now);
            return;
        }
        let mss = self.mss();
        match self.recovery_in_use() {
            mode @ (Recovery::NewRenoImpatient | Recovery::NewRenoSteady) => {
                if advanced {
                    self.repair_next_hole();
                    // RFC 6582 §3.2 step 3: deflate by what was acknowledged, add back what leaves.
                    let back = if delivery.advanced_bytes >= mss { mss } else { 0 };
                    self.set_cwnd(self.cwnd().saturating_sub(delivery.advanced_bytes).max(mss) + back);
                    self.repair.inflation =
                        self.repair.inflation.saturating_sub(delivery.advanced_bytes).saturating_add(back);
                    if mode == Recovery::NewRenoSteady || !self.repair.partial {
                        self.arm_timeout(now);
                    }
                    self.repair.partial = true;
                } else if facts.duplicate {
                    self.set_cwnd(self.cwnd().saturating_add(mss));
                    self.repair.inflation = self.repair.inflation.saturating_add(mss);
                }
            }
            Recovery::Tahoe => {}
            Recovery::Fack => {
                self.find_lost_retransmissions(delivery);
                self.mark_by_fack(self.repair.point);
                self.halve_rate();
            }
            Recovery::SackNs2 => {
                self.repair.pipe -= i64::from(self.rules.mss) * if advanced { 2 } else { 1 };
                if advanced {
                    self.arm_timeout(now);
                    self.rtt.forget_backoff();
                }
            }
            Recovery::Sack => {
                let lost = if self.rules.rack {
                    self.detect_by_time(now)
                } else {
                    self.board.mark_lost_by_sack(self.rules.mss)
                };
                if advanced {
                    self.arm_timeout(now);
                    // Deviates: RFC 6675 waits for a timeout if nothing above a partial ACK is SACKed. If our
                    // retransmission caused it, what follows was lost with it (RFC 6582); receivers that stop
                    // sending SACK blocks are repaired so, one hole per round trip.
                    let ours = facts.echo >= self.repair.undo.first_retransmission;
                    if ours && !self.rules.rack && self.board.sacked_segments() == 0 {
                        self.repair_next_hole();
                    }
                }
                if delivery.any {
                    self.reduce_proportionally(delivery.bytes, advanced && lost == 0);
                }
            }
        }
    }

    fn repair_next_hole(&mut self) {
        let una = self.board.una();
        if self.rules.recovery.is_newreno() {
            self.board.mark_lost_again(una);
            self.due = Due::Head;
        } else if self.board.record(una).flags & (Flags::RETRANSMITTED | Flags::SACKED) == 0 {
            self.board.mark_lost(una);
            self.due = Due::Head;
        }
    }

    fn leave_recovery(&mut self, now: Time) {
        let (ssthresh, mss) = (self.ssthresh(), self.mss());
        let cwnd = if self.rules.recovery.is_newreno() {
            // ns-2 does not go back to ssthresh after partial ACKs, and slow start takes it there.
            self.cwnd().saturating_sub(self.repair.inflation)
        } else if self.recovery_in_use() == Recovery::SackNs2 {
            self.board.forget_recovery();
            self.repair.point = 0;
            self.cwnd()
        } else if self.halves_rate() {
            self.cwnd().min(ssthresh)
        } else {
            ssthresh
        };
        self.set_cwnd(cwnd.max(mss));
        self.complete_reduction();
        self.repair.state = SenderState::Open;
        self.rack.on_recovery_end();
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

    fn go_on_after_timeout(&mut self, now: Time, facts: &AckFacts, delivery: &Delivery) {
        self.doubt_timeout(facts, delivery);
        if self.board.una() >= self.repair.point {
            self.repair.state = SenderState::Open;
            self.end_repair(now);
        } else if delivery.any && self.rack_in_use() {
            self.detect_by_time(now);
        }
    }

    /// Whether an ACK counts as a duplicate.
    pub(crate) fn is_duplicate(
        &mut self,
        segment: &Segment,
        delivery: &Delivery,
        window_changed: bool,
    ) -> bool {
        use crate::sender::SackUse;
        if delivery.advanced_segments > 0 || segment.number() != self.board.una() || self.board.is_empty() {
            return false;
        }
        let plain = segment.block_count() == 0 && !window_changed;
        match self.repair.sack {
            SackUse::Yes => delivery.sacked,
            SackUse::No => plain || segment.block_count() > 0,
            SackUse::Unknown => {
                if plain && self.repair.duplicates + 1 == DUPLICATE_ACKS {
                    // Three times nothing: this receiver has no SACK.
                    self.repair.sack = SackUse::No;
                }
                plain
            }
        }
    }
}
