//! Reductions that turn out to be needless: how that is found by time stamps (Eifel, RFC 3522) and DSACK (RFC 3708), and
//! how they are given back.

use rampcc::{EventKind, Time, UNSET};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::acknowledge::AckFacts;
use crate::connection::{Connection, Due};
use crate::record::Delivery;
use crate::undo::Undo;

impl Connection {
    /// Remembers what a reduction is about to take.
    pub(crate) fn arm_undo(&mut self) {
        let armed = self.rules.keeps_undo;
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

    /// Undoes the last reduction if it turns out that nothing was lost: the ACK echoes a time stamp from before the
    /// first retransmission (Eifel), every retransmission has been reported as a duplicate (DSACK), or the agent has
    /// `found` that a timeout was needless.
    pub(crate) fn undone(&mut self, now: Time, facts: &AckFacts, delivery: &Delivery, found: bool) -> bool {
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
            SenderState::Loss => explained || delayed || found,
        };
        if spurious {
            self.undo(now);
        }
        spurious
    }

    fn undo(&mut self, now: Time) {
        let undo = std::mem::take(&mut self.repair.undo);
        let (cwnd, ssthresh) = (self.cwnd().max(undo.cwnd), self.ssthresh().max(undo.ssthresh));
        let left = !self.starting();
        self.report(now, EventKind::Undone);
        self.set_cwnd(cwnd);
        // Nothing would end a slow start that the algorithm does not take up again.
        let unbounded = ssthresh == UNSET && !self.starting();
        self.set_ssthresh(if unbounded { cwnd } else { ssthresh });
        if let Some(avoid) = undo.avoid {
            self.avoid = *avoid;
        }
        self.avoid.on_undone();
        self.board.unmark_lost();
        self.events.push_back(FlowEventKind::Undone);
        if left {
            self.notice_return();
        }
        if self.repair.state != SenderState::Open {
            self.repair.state = SenderState::Open;
            self.events.push_back(FlowEventKind::RecoveryEnd);
        }
        self.repair.duplicates = 0;
        self.due = Due::Nothing;
        self.rtt.forget_backoff();
    }
}
