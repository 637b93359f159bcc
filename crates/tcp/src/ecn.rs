//! Explicit congestion notification (RFC 3168): what a sender does about marks.
//!
//! A mark costs what a loss costs, by the rule of the same congestion avoidance, once in a round trip; nothing is sent again.
//! The window falls at once. Linux rations it over a round trip instead, as after a loss.

use rampcc::{EventKind, Time};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::segment::Segment;
use crate::sender::Sender;
use crate::spurious::Undo;

/// What a sender knows of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// Both ends understand marks.
    pub(crate) in_use: bool,
    /// SND.NXT at the last reduction, for whatever reason. What is told before something sent later is acknowledged has been
    /// answered by it.
    point: u64,
    /// A mark's reduction is not over yet.
    reducing: bool,
    /// The next new segment says that the window has been reduced.
    answers: bool,
}

impl Ecn {
    /// The window is reduced while the next segment has this number.
    pub(crate) fn note_reduction(&mut self, next: u64) {
        self.point = next;
        self.reducing = false;
        self.answers = self.in_use;
    }
}

impl Sender {
    /// A new segment that may be marked. What is sent again may not (RFC 3168 §6.1.5).
    pub(crate) fn markable(&mut self, segment: Segment) -> Segment {
        segment.with_markable(std::mem::take(&mut self.ecn.answers))
    }

    /// An ACK has been taken in; `marked`: it tells of a mark. `deciding`: when the newest packet that it acknowledges was
    /// sent.
    #[cold]
    pub(crate) fn attend_marks(&mut self, now: Time, marked: bool, deciding: Time) {
        let answered = self.board.una() > self.ecn.point || self.ecn.point == 0;
        if answered && self.ecn.reducing {
            self.ecn.reducing = false;
            if self.repair.state == SenderState::Open {
                self.complete_reduction();
                self.end_repair(now);
            }
        }
        if marked && answered && self.repair.state == SenderState::Open {
            self.answer_mark(now, deciding);
        }
    }

    fn answer_mark(&mut self, now: Time, deciding: Time) {
        if self.avoid.by_rate() {
            // BBR does not care, but the receiver wants its answer.
            self.ecn.note_reduction(self.board.next());
            return;
        }
        self.events.push_back(FlowEventKind::RecoveryStart {
            cwnd_bytes: self.cwnd(),
            in_flight_bytes: self.board.out_bytes(),
        });
        self.report_congestion(now, EventKind::Mark, 0, deciding);
        let window = self.cwnd().min(self.ssthresh());
        self.set_cwnd(window);
        self.renew_share();
        // A mark is never spurious.
        self.repair.undo = Undo::default();
        self.ecn.reducing = true;
    }
}
