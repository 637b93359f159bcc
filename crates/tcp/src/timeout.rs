//! Timers: retransmission, tail probe, window probe, reordering, pacing.

use rampcc::{EventKind, Time};
use rampcc_trace::{FlowEventKind, SenderState};

use crate::Recovery;
use crate::record::Record;
use crate::sender::{Connection, Due, Purpose, Sender};

/// Linux's `TCP_TIMEOUT_MIN`: two jiffies of 1 ms.
const PROBE_SLACK: Time = Time::from_ms(2);
/// RFC 8985 §7.2: without an RTT.
const PROBE_WITHOUT_RTT: Time = Time::from_secs(1);

impl Sender {
    /// A deadline of `poll_timeout` has come.
    pub fn handle_timeout(&mut self, now: Time) {
        self.burst_left = self.rules.max_burst;
        if now >= self.timers.pacing {
            self.timers.pacing = Time::NEVER;
        }
        if now >= self.timers.reordering {
            self.timers.reordering = Time::NEVER;
            self.on_reordering_timer(now);
        }
        if now >= self.timers.retransmit {
            self.timers.retransmit = Time::NEVER;
            match self.timers.purpose {
                _ if self.connection == Connection::Opening => self.on_syn_timer(),
                Purpose::Timeout => self.on_retransmission_timer(now),
                Purpose::TailProbe => self.due = Due::TailProbe,
                Purpose::WindowProbe => self.on_window_timer(now),
            }
        }
    }

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
        if self.may_probe() {
            let head = self.board.record(self.board.una()).sent;
            self.arm_probe(now, (head + self.rtt.timeout()) - now);
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
        if self.may_probe() {
            self.arm_probe(now, self.rtt.timeout());
        }
    }

    #[inline]
    fn may_probe(&self) -> bool {
        self.rules.rack
            && self.repair.state == SenderState::Open
            && self.board.sacked_segments() == 0
            && !self.rack.probing()
            && self.rack_in_use()
    }

    /// A probe goes out after two round trips of silence, or when the timeout is due if that is sooner.
    #[inline]
    fn arm_probe(&mut self, now: Time, timeout_in: Time) {
        let wait = if self.rtt.measured() {
            let smoothed = self.rtt.smoothed();
            // A lone segment's ACK may be delayed; Linux allows for its RTO minimum.
            let slack = if self.board.out_segments() == 1 { self.rules.rto_min } else { PROBE_SLACK };
            smoothed + smoothed + slack
        } else {
            PROBE_WITHOUT_RTT
        };
        let wait = if timeout_in == Time::ZERO { wait } else { wait.min(timeout_in) };
        self.timers.purpose = Purpose::TailProbe;
        self.timers.retransmit = now + wait;
    }

    #[cold]
    fn on_syn_timer(&mut self) {
        self.rtt.back_off();
        self.events.push_back(FlowEventKind::Timeout { backoff: self.rtt.backoff() });
        self.due = Due::Syn;
    }

    #[cold]
    fn on_window_timer(&mut self, now: Time) {
        if self.board.is_empty() && self.offered > self.next_offset {
            self.rtt.back_off();
            self.due = Due::WindowProbe;
            self.timers.purpose = Purpose::WindowProbe;
            self.timers.retransmit = now + self.rtt.timeout().min(self.rules.rto_max);
        }
    }

    #[cold]
    fn on_retransmission_timer(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        let una = self.board.una();
        let again = self.repair.state == SenderState::Loss && self.repair.timed_out_at == una;
        self.ask_frto(again);
        self.repair.timed_out_at = una;
        // One reduction per window: not again for what the last one was for. RFC 5681 has no such rule for a timeout
        // in fast recovery, Linux does.
        let reduced = match self.repair.state {
            SenderState::Open => false,
            SenderState::Recovery => self.rules.linux_timer && una < self.repair.point,
            // Linux counts an advance as the end of what the last one was for.
            SenderState::Loss if self.rules.linux_timer => again,
            SenderState::Loss => !self.rules.recovery.is_ns2() && una < self.repair.point,
        };
        self.rtt.back_off();
        self.events.push_back(FlowEventKind::Timeout { backoff: self.rtt.backoff() });
        let missing = self.board.out_bytes() - self.board.sacked_bytes();
        if !reduced {
            self.arm_undo();
            self.report_congestion(now, EventKind::Timeout, missing, Time::ZERO);
        } else if !again {
            self.report_further_congestion(now, EventKind::Timeout, missing);
        }
        if self.rules.recovery == Recovery::SackNs2 {
            // Goes back N.
            self.board.forget_recovery();
            self.repair.aside.clear();
            self.repair.deaf = true;
        }
        self.repair.duplicates = 0;
        self.go_back(now);
    }

    /// Everything outstanding is taken for lost, and sent again in slow start from one packet.
    pub(crate) fn go_back(&mut self, now: Time) {
        let una = self.board.una();
        let rack_rtt = self.rack.rtt();
        let spares = self.rack_in_use() && rack_rtt > Time::ZERO;
        self.avoid.on_timeout();
        if self.rules.recovery.is_ns2() {
            self.keep_whole_packets();
            self.repair.timed = None;
        }
        self.board.mark_all_lost(|record: &Record| spares && record.sent + rack_rtt > now);
        self.rack.on_timeout(una);
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
