//! Reductions that turn out to be needless: how that is found, and how they are given back.
//!
//! Eifel (RFC 3522) by time stamps and DSACK (RFC 3708) for all, and F-RTO (RFC 5682 §3) for timeouts, as Linux's
//! `tcp_process_loss` has it: 1. a timeout sends the first segment again and nothing else. 2. If the next ACK
//! advances, new data go before further retransmissions. 3. An ACK for something that was sent before the timeout and
//! never again says that it was spurious; a duplicate or SACKed new data that it was not.

use rampcc::{EventKind, Time, UNSET};
use rampcc_avoidance::Avoid;
use rampcc_trace::{FlowEventKind, SenderState};

use crate::record::Delivery;
use crate::recovery::AckFacts;
use crate::sender::{Due, Sender};

/// What the last reduction took, to give it back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// Whether there is something to undo.
    armed: bool,
    cwnd: u64,
    ssthresh: u64,
    avoid: Option<Box<Avoid>>,
    /// When the first retransmission left.
    pub(crate) first_retransmission: Time,
    /// Retransmissions not yet reported as duplicates.
    pub(crate) unexplained: u64,
}

/// Whether the last timeout may yet turn out to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frto {
    /// It was not asked, or it has been answered.
    Off,
    /// The next ACK may tell.
    Waiting,
    /// Step 2: new data go before retransmissions.
    NewDataFirst,
}

impl Sender {
    /// Remembers what a reduction is about to take.
    pub(crate) fn arm_undo(&mut self) {
        let armed = self.rules.undo || self.rules.frto;
        let kept = armed && !self.avoid.measures();
        self.repair.undo = Undo {
            armed,
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            avoid: kept.then(|| Box::new(self.avoid.clone())),
            first_retransmission: Time::NEVER,
            unexplained: 0,
        };
    }

    /// Step 1, as the timer expires: Linux asks unless another recovery is under way, or again when the segment that it
    /// has sent for the last timeout is still missing.
    pub(crate) fn ask_frto(&mut self, again: bool) {
        let asks = self.rules.frto && (self.repair.state == SenderState::Open || again);
        self.repair.frto = if asks { Frto::Waiting } else { Frto::Off };
    }

    /// Steps 2 and 3 for an ACK that did not show the timeout to be spurious.
    pub(crate) fn doubt_timeout(&mut self, facts: &AckFacts, delivery: &Delivery) {
        if self.repair.frto == Frto::Off {
            return;
        }
        let advanced = delivery.advanced_segments > 0;
        let new_data_left = self.board.next() > self.repair.point;
        self.repair.frto = if new_data_left && (delivery.sacked || facts.duplicate) {
            Frto::Off
        } else if !new_data_left && advanced && self.board.una() < self.repair.point {
            Frto::NewDataFirst
        } else {
            Frto::Waiting
        };
    }

    /// Nothing may leave now. If no new data have left since the timeout, retransmissions go on as without F-RTO; what the
    /// pacer holds back is no longer new data alone, either.
    #[cold]
    pub(crate) fn no_new_data(&mut self, paced: bool) {
        if self.board.next() == self.repair.point {
            self.repair.frto = Frto::Off;
        } else if paced {
            self.repair.frto = Frto::Waiting;
        }
    }

    /// Undoes the last reduction if it turns out that nothing was lost: the ACK echoes a time stamp from before the
    /// first retransmission (Eifel), every retransmission has been reported as a duplicate (DSACK), or after a timeout
    /// something was delivered that had not been sent again (F-RTO).
    pub(crate) fn undone(&mut self, now: Time, facts: &AckFacts, delivery: &Delivery) -> bool {
        let by_reports = self.rules.undo;
        let undo = &mut self.repair.undo;
        if !undo.armed {
            return false;
        }
        let mut explained = false;
        if by_reports && facts.needless && undo.unexplained > 0 {
            undo.unexplained -= 1;
            explained = undo.unexplained == 0;
        }
        let advanced = delivery.advanced_segments > 0;
        let delayed = by_reports
            && advanced
            && facts.echo < undo.first_retransmission
            && undo.first_retransmission != Time::NEVER;
        let una = self.board.una();
        let spurious = match self.repair.state {
            SenderState::Open => explained,
            SenderState::Recovery => explained || (delayed && una >= self.repair.point),
            SenderState::Loss => explained || delayed || self.original_arrived(delivery),
        };
        if spurious {
            self.undo(now);
        }
        spurious
    }

    /// Step 3. Without SACK a segment that was sent again hides whether the others arrived before it.
    fn original_arrived(&self, delivery: &Delivery) -> bool {
        self.repair.frto != Frto::Off
            && delivery.lowest_clean < self.repair.point
            && (self.sack_in_use() || !delivery.ambiguous)
    }

    fn undo(&mut self, now: Time) {
        let undo = std::mem::take(&mut self.repair.undo);
        let (cwnd, ssthresh) = (self.cwnd().max(undo.cwnd), self.ssthresh().max(undo.ssthresh));
        let left = !self.starting();
        self.report(now, EventKind::Undone);
        self.set_cwnd(cwnd);
        // Nobody would end a slow start that the algorithm does not take up again.
        let unbounded = ssthresh == UNSET && !self.starting();
        self.set_ssthresh(if unbounded { cwnd } else { ssthresh });
        if let Some(avoid) = undo.avoid {
            self.avoid = *avoid;
        }
        self.avoid.on_undone();
        self.board.unmark_lost();
        if self.halves_rate() {
            self.moderate_window();
        }
        self.rack.on_undone(self.board.una());
        self.events.push_back(FlowEventKind::Undone);
        if left {
            self.notice_return();
        }
        if self.repair.state != SenderState::Open {
            self.repair.state = SenderState::Open;
            self.events.push_back(FlowEventKind::RecoveryEnd);
        }
        self.repair.frto = Frto::Off;
        self.repair.duplicates = 0;
        self.due = Due::Nothing;
        self.rtt.forget_backoff();
    }
}
