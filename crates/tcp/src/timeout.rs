//! Timers of every sender: retransmission, SYN, window probe.

use rampcc::{EventKind, Time};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::connection::{Connection, Due, Purpose};
use crate::record::Record;
use crate::steering::Reduction;

impl Connection {
    /// Starts the retransmission timer anew.
    #[inline]
    pub(crate) fn arm_timeout(&mut self, now: Time) {
        self.timers.purpose = Purpose::Timeout;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// New data left.
    #[inline]
    pub(crate) fn arm_after_new(&mut self, now: Time) {
        if self.timers.retransmit == Time::NEVER || self.timers.purpose != Purpose::Timeout {
            self.arm_timeout(now);
        }
    }

    /// An ACK advanced SND.UNA.
    #[inline]
    pub(crate) fn arm_after_ack(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timers.retransmit = Time::NEVER;
            self.timers.reordering = Time::NEVER;
            if self.completed() {
                self.board.release();
            }
            return;
        }
        self.arm_timeout(now);
    }

    #[cold]
    pub(crate) fn on_syn_timer(&mut self) {
        self.rtt.back_off();
        self.events.push_back(FlowEventKind::Timeout { backoff: self.rtt.backoff() });
        self.due = Due::Syn;
    }

    #[cold]
    pub(crate) fn on_window_timer(&mut self, now: Time) {
        if self.board.is_empty() && self.offered > self.next_offset {
            self.rtt.back_off();
            self.due = Due::WindowProbe;
            self.timers.purpose = Purpose::WindowProbe;
            self.timers.retransmit = now + self.rtt.timeout().min(self.rules.rto_max);
        }
    }

    /// The same data have been missing since the timer last expired.
    pub(crate) fn expires_again(&self) -> bool {
        self.repair.state == SenderState::Loss && self.repair.timed_out_at == self.board.una()
    }

    /// Outstanding and not known to have arrived.
    pub(crate) fn missing_bytes(&self) -> u64 {
        self.board.out_bytes() - self.board.sacked_bytes()
    }

    /// The retransmission timer expired. `reduction`: unless the last one was for the same window; then `again`: it was for
    /// the same segment.
    pub(crate) fn on_expiry(&mut self, now: Time, reduction: Option<&Reduction>, again: bool) {
        self.repair.timed_out_at = self.board.una();
        self.rtt.back_off();
        self.events.push_back(FlowEventKind::Timeout { backoff: self.rtt.backoff() });
        if let Some(reduction) = reduction {
            self.arm_undo();
            self.report_congestion(now, reduction);
        } else if !again {
            self.report_further_congestion(now, EventKind::Timeout, self.missing_bytes());
        }
        self.repair.duplicates = 0;
    }

    /// Everything outstanding for which `spare` does not hold is taken for lost, and sent again in slow start from one packet.
    pub(crate) fn go_back(&mut self, now: Time, spare: impl Fn(&Record) -> bool) {
        self.avoid.on_timeout();
        self.board.mark_all_lost(spare);
        self.timers.reordering = Time::NEVER;
        let mss = self.mss();
        // What was spared is still in flight.
        self.set_cwnd(self.board.in_flight() + mss);
        self.renew_share();
        self.repair.state = SenderState::Loss;
        self.repair.point = self.board.next();
        self.due = Due::Head;
        self.arm_timeout(now);
    }
}
