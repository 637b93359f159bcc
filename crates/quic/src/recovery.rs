//! One reduction for each recovery period (RFC 9002 §7.3.2), what undoes it, and its end.

use rampcc::{EventKind, Phase, Time, UNSET};

use crate::connection::{Connection, Window};
use crate::outcome::Congestion;

/// Smallest window, packets (RFC 9002 §7.2).
const MIN_WINDOW_PACKETS: u64 = 2;

impl Connection {
    /// Packets were lost or marked; the newest of them left at `newest_sent`. `lost_bytes`: found lost by this report.
    pub fn on_congestion(&mut self, now: Time, kind: Congestion, newest_sent: Time, lost_bytes: u64) {
        let in_flight = self.in_flight;
        self.in_flight = in_flight.saturating_sub(lost_bytes);
        self.marked |= kind == Congestion::Mark;
        if kind != Congestion::Persistent && self.reduced.is_some_and(|reduced| newest_sent <= reduced) {
            self.counts.repeated += 1;
            return;
        }
        if !self.begun {
            // A lost handshake packet says nothing of a window that was not used.
            return;
        }
        self.reduce(now, kind, in_flight, lost_bytes, newest_sent);
    }

    fn reduce(&mut self, now: Time, kind: Congestion, in_flight: u64, lost: u64, newest_sent: Time) {
        self.undo = Some(self.window);
        self.counts.reductions += 1;
        let window =
            if self.recovering() { self.window.ssthresh.min(self.window.cwnd) } else { self.window.cwnd };
        let (before, starting) = (self.window.ssthresh, self.starting());
        let event = match kind {
            Congestion::Loss => EventKind::Loss,
            Congestion::Mark => EventKind::Mark,
            Congestion::Persistent => EventKind::Timeout,
        };
        self.tell(now, event, in_flight, lost);
        self.notice_exit(now, newest_sent);
        let over = kind == Congestion::Persistent;
        let flight = in_flight.min(window);
        let own = self.avoid.on_loss(flight, window, self.mss, over);
        let decides = starting || over && self.starting();
        let wanted = self.window.ssthresh;
        self.window.ssthresh =
            if !decides || wanted == before || wanted == UNSET { own } else { wanted.min(window) };
        let floor = MIN_WINDOW_PACKETS * self.mss;
        self.window.ssthresh = self.window.ssthresh.max(floor);
        self.reduced = Some(now);
        if over {
            self.counts.persistent += 1;
            self.avoid.on_timeout();
            self.window.cwnd = floor;
            self.recovery = None;
        } else {
            self.avoid.on_repair();
            self.window.cwnd = self.window.ssthresh;
            self.recovery = Some(now);
        }
    }

    /// All that the last report of congestion called lost has arrived: its reduction is undone.
    pub fn on_spurious_congestion(&mut self, now: Time) {
        let Some(before) = self.undo.take() else { return };
        let was_done = self.phase() == Phase::Done;
        self.tell(now, EventKind::Undone, self.in_flight, 0);
        self.avoid.on_undone();
        let cwnd = before.cwnd.max(self.window.cwnd);
        let left = self.phase() == Phase::Done && before.ssthresh == UNSET;
        self.window = Window { cwnd, ssthresh: if left { cwnd } else { before.ssthresh } };
        self.recovery = None;
        self.reduced = None;
        self.counts.undone += 1;
        if was_done && self.phase() != Phase::Done {
            self.exit = None;
            self.counts.resumed += 1;
        }
    }

    pub(crate) fn end_recovery(&mut self, now: Time, newest_sent: Time) {
        if self.recovery.is_none_or(|since| newest_sent <= since) {
            return;
        }
        self.recovery = None;
        self.counts.recovered += 1;
        self.tell(now, EventKind::Recovered, self.in_flight, 0);
        self.notice_exit(now, newest_sent);
    }
}
