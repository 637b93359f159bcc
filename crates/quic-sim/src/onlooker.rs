//! What shows of a controller that is not ramp's: its window, and what its stack tells it.

use std::time::{Duration, Instant};

use rampcc::{ExitReason, Time, UNSET};
use rampcc_quic::{Congestion, Exit};

use crate::end::since;
use crate::seen::{Watch, phase, state};

/// Watches a controller from outside.
#[derive(Clone, Debug)]
pub(crate) struct Onlooker {
    watch: Watch,
    base: Instant,
    /// Of the ACK that is being taken in: when its newest packet had left.
    newest_sent: Option<Instant>,
    /// When the recovery period began that lasts.
    recovery: Option<Instant>,
}

/// A report of congestion, as stacks make it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) now: Instant,
    /// When the newest of the packets had left.
    pub(crate) sent: Instant,
    pub(crate) kind: Congestion,
    pub(crate) lost_bytes: u64,
    /// The window before it, bytes.
    pub(crate) before: u64,
}

/// What a controller asks of its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Congestion window, bytes.
    pub(crate) window: u64,
    /// Slow-start threshold, bytes.
    pub(crate) ssthresh: Option<u64>,
    /// Pacing rate; `None`: the stack's own rule.
    pub(crate) pacing_bytes_per_s: Option<u64>,
}

impl Onlooker {
    pub(crate) fn new(watch: Watch, base: Instant) -> Self {
        Self { watch, base, newest_sent: None, recovery: None }
    }

    pub(crate) fn on_sent(&self, bytes: u64) {
        self.watch.update(|seen| {
            seen.sample.sent_bytes += bytes;
            seen.sample.in_flight_bytes += bytes;
        });
    }

    /// Packets are acknowledged; the stack has this smoothed and this smallest round-trip time.
    pub(crate) fn on_acked(&mut self, sent: Instant, bytes: u64, smoothed: Duration, min: Duration) {
        self.newest_sent = self.newest_sent.max(Some(sent));
        let time = |duration: Duration| Time::from_ns(duration.as_nanos() as u64);
        self.watch.update(|seen| {
            seen.sample.delivered_bytes += bytes;
            seen.sample.smoothed_rtt = time(smoothed);
            seen.sample.min_rtt = time(min);
        });
    }

    pub(crate) fn on_ack_end(&mut self, now: Instant, in_flight: u64, windows: Windows) {
        let at = self.time(now);
        let rtt = self.newest_sent.take().map_or(Time::ZERO, |sent| at - self.time(sent));
        let over = self.recovery.is_some_and(|began| at - rtt > self.time(began));
        if over {
            self.recovery = None;
        }
        self.watch.update(|seen| {
            seen.sample.now = at;
            seen.sample.rtt = rtt;
            seen.sample.in_flight_bytes = in_flight;
            seen.counts.acks += 1;
            seen.counts.recovered += u64::from(over);
        });
        self.show(windows);
    }

    /// Classic slow start ends with its first reduction, at the window that met it.
    pub(crate) fn on_congestion(&mut self, report: &Report, windows: Windows) {
        let reduced = windows.window < report.before;
        if reduced {
            self.recovery = Some(report.now);
        }
        let persistent = report.kind == Congestion::Persistent;
        let exit = Exit {
            at: self.time(report.now),
            reason: match report.kind {
                Congestion::Persistent => ExitReason::Timeout,
                Congestion::Mark => ExitReason::Ecn,
                Congestion::Loss => ExitReason::Loss,
            },
            evidence: report.lost_bytes,
            limit: 0,
            window_bytes: report.before,
            deciding_sent: self.time(report.sent),
        };
        self.watch.update(|seen| {
            seen.sample.now = exit.at;
            seen.sample.lost_bytes += report.lost_bytes;
            seen.sample.retransmitted_bytes += report.lost_bytes;
            seen.counts.reductions += u64::from(reduced);
            seen.counts.persistent += u64::from(reduced && persistent);
            seen.counts.repeated += u64::from(!reduced);
            seen.exit.get_or_insert(exit);
        });
        self.show(windows);
    }

    pub(crate) fn on_spurious_congestion(&self, windows: Windows) {
        self.watch.update(|seen| seen.counts.undone += 1);
        self.show(windows);
    }

    fn time(&self, instant: Instant) -> Time {
        since(self.base, instant)
    }

    fn show(&self, Windows { window, ssthresh, pacing_bytes_per_s }: Windows) {
        self.watch.update(|seen| {
            seen.sample.cwnd_bytes = window;
            seen.sample.ssthresh_bytes = ssthresh.unwrap_or(UNSET);
            seen.sample.pacing_bytes_per_s = pacing_bytes_per_s.unwrap_or(0);
            seen.sample.phase = phase(seen.exit.is_some());
            seen.sample.state = state(self.recovery.is_some());
        });
    }
}
