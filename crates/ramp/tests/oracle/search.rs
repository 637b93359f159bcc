//! draft-chung-ccwg-search-00, its pseudo-code with bins of differences, with the conditions of the 3.1 module; and
//! SEARCH 4.0 with what was sent as a function of time.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

const W: usize = 10;

/// What both versions share: slow start, and time in bins.
struct Bins {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    duration_ns: f64,
    end_ns: f64,
}

impl Bins {
    fn new(cwnd: f64, ssthresh: f64, limit: f64) -> Self {
        Self { cwnd, ssthresh, limit, duration_ns: 0.0, end_ns: 0.0 }
    }

    fn begin(&mut self, seen: &Seen, rtt_us: f64) {
        if self.duration_ns == 0.0 {
            self.duration_ns = 3.5 * rtt_us * 1000.0 / W as f64;
        }
        self.end_ns = seen.now_ns + self.duration_ns;
    }

    fn passed(&mut self, seen: &Seen) -> usize {
        let passed = ((seen.now_ns - self.end_ns) / self.duration_ns).floor() as usize + 1;
        self.end_ns += passed as f64 * self.duration_ns;
        passed
    }

    fn slow_start(&mut self, seen: &Seen) {
        if seen.window_full && self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + seen.acked.min(self.limit)).min(self.ssthresh);
        }
    }

    fn says(&self, phase: Phase, undecided: bool) -> Says {
        Says { cwnd: self.cwnd, phase, undecided }
    }

    fn phase(&self) -> Phase {
        if self.cwnd >= self.ssthresh { Phase::Done } else { Phase::Startup }
    }
}

/// The core rounds the look back to a percent of a bin, and every part of a window to a byte.
fn close(norm_diff: f64, thresh: f64) -> bool {
    (norm_diff - thresh).abs() < 0.01
}

struct Search3 {
    bins: Bins,
    /// Packets delivered in each bin since the measurement began.
    delivered: Vec<f64>,
    prev_seq_num: f64,
}

impl Search3 {
    /// `sum_bins`, lines 32 to 38.
    fn sum_bins(&self, idx1: usize, idx2: usize, fraction: f64) -> f64 {
        let whole: f64 = self.delivered[idx1 + 1..idx2].iter().sum();
        whole + self.delivered[idx1] * fraction + self.delivered[idx2] * (1.0 - fraction)
    }

    fn start(&mut self, seen: &Seen, rtt_us: f64) {
        self.bins.begin(seen, rtt_us);
        self.delivered = vec![seen.acked];
        self.prev_seq_num = seen.una;
    }

    fn norm_diff(&mut self, seen: &Seen, rtt_us: f64) -> Option<f64> {
        if self.delivered.is_empty() {
            self.start(seen, rtt_us);
            return None;
        }
        if seen.now_ns <= self.bins.end_ns {
            return None;
        }
        if seen.app_limited {
            self.start(seen, rtt_us);
            return None;
        }
        let passed = self.bins.passed(seen);
        self.delivered.extend(std::iter::repeat_n(0.0, passed - 1));
        self.delivered.push(seen.una - self.prev_seq_num);
        self.prev_seq_num = seen.una;
        let curr_idx = self.delivered.len() - 1;
        let shift = rtt_us * 1000.0 / self.bins.duration_ns;
        let prev_idx = curr_idx.checked_sub(shift.floor() as usize)?;
        if prev_idx < W || curr_idx - prev_idx >= 14 {
            return None;
        }
        let curr_delv = self.sum_bins(curr_idx - W, curr_idx, 0.0);
        let prev_delv = self.sum_bins(prev_idx - W, prev_idx, shift.fract());
        (prev_delv > 0.0).then(|| (2.0 * prev_delv - curr_delv) / (2.0 * prev_delv))
    }
}

impl Oracle for Search3 {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            bins: Bins::new(initial_window, ssthresh, abc_limit),
            delivered: Vec::new(),
            prev_seq_num: 0.0,
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if self.bins.phase() == Phase::Startup
            && let Some(rtt_us) = seen.rtt_us
            && let Some(norm_diff) = self.norm_diff(seen, rtt_us)
        {
            if close(norm_diff, 0.35) {
                return self.bins.says(Phase::Startup, true);
            }
            if norm_diff >= 0.35 {
                return self.bins.says(Phase::Done, false);
            }
        }
        self.bins.slow_start(seen);
        self.bins.says(self.bins.phase(), false)
    }
}

struct Search4 {
    bins: Bins,
    /// Packets (sent, delivered) by the end of each bin.
    totals: Vec<(f64, f64)>,
    /// Packets sent before the first bin: all but those in flight when it began.
    sent_before: f64,
    /// Of the drain, and the packets acknowledged in it that have not released another.
    target: Option<(f64, f64)>,
}

impl Search4 {
    /// What had been sent at a time in bins: a straight line between their ends.
    fn sent_by(&self, bins: f64) -> f64 {
        let at = |index: f64| if index < 0.0 { self.sent_before } else { self.totals[index as usize].0 };
        at(bins.floor()) + (at(bins.ceil()) - at(bins.floor())) * (bins - bins.floor())
    }

    fn delivered_since(&self, bins: usize) -> f64 {
        let last = self.totals.len() - 1;
        self.totals[last].1 - self.totals[last - bins].1
    }

    fn norm_diff(&mut self, seen: &Seen, rtt_us: f64) -> Option<f64> {
        let now = (seen.next, seen.una);
        let unmeasured = self.totals.is_empty();
        if unmeasured || (seen.now_ns >= self.bins.end_ns && seen.rate_app_limited) {
            self.bins.begin(seen, rtt_us);
            self.totals = vec![now];
            self.sent_before = seen.una - seen.acked;
            return None;
        }
        if seen.now_ns < self.bins.end_ns {
            return None;
        }
        let before = *self.totals.last().expect("the first bin");
        let passed = self.bins.passed(seen);
        self.totals.extend(std::iter::repeat_n(before, passed - 1));
        self.totals.push(now);
        let back = rtt_us * 1000.0 / self.bins.duration_ns;
        let end = (self.totals.len() - 1) as f64 - back;
        if end.ceil() < W as f64 || back.floor() >= 39.0 {
            return None;
        }
        let sent = self.sent_by(end) - self.sent_by(end - W as f64);
        (sent > 0.0).then(|| (sent - self.delivered_since(W)) / sent)
    }

    fn drain(&mut self, seen: &Seen, target: f64, acked: f64) -> Says {
        let acked = acked + seen.acked;
        let released = (acked / 3.0 + 1e-9).floor();
        self.target = Some((target, acked - 3.0 * released));
        let window = seen.next - seen.una + released;
        self.bins.cwnd = window.max(target);
        let drained = window <= target;
        self.bins.says(if drained { Phase::Done } else { Phase::Leaving }, false)
    }
}

impl Oracle for Search4 {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            bins: Bins::new(initial_window, ssthresh, abc_limit),
            totals: Vec::new(),
            sent_before: 0.0,
            target: None,
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if let Some((target, acked)) = self.target {
            return self.drain(seen, target, acked);
        }
        if self.bins.phase() == Phase::Startup
            && let Some(rtt_us) = seen.rtt_us
            && let Some(norm_diff) = self.norm_diff(seen, rtt_us)
        {
            if close(norm_diff, 0.26) {
                return self.bins.says(Phase::Startup, true);
            }
            if norm_diff >= 0.26 {
                // The bins that cover the first RTT: 1 / 0.35, rounded up.
                self.target = Some((self.delivered_since(3).max(10.0), 0.0));
                return self.bins.says(Phase::Leaving, false);
            }
        }
        self.bins.slow_start(seen);
        self.bins.says(self.bins.phase(), false)
    }
}

#[test]
fn the_core_follows_the_draft_with_delivered_bytes() {
    let [growing, _, over] = compare::<Search3>("search");
    assert!(growing > 10_000 && over > 100, "{growing} ACKs in slow start, {over} exits");
}

#[test]
fn the_core_follows_the_later_draft_with_sent_bytes_and_a_drain() {
    let [growing, _, draining_or_over] = compare::<Search4>("search4");
    assert!(
        growing > 10_000 && draining_or_over > 500,
        "{growing} ACKs in slow start, {draining_or_over} after"
    );
}
