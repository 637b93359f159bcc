//! RFC 5681 §3.1 with RFC 3465's L, and Linux's rule that slow start stops at ssthresh.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

struct SlowStart {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
}

impl Oracle for SlowStart {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self { cwnd: initial_window, ssthresh, limit: abc_limit }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if seen.window_full && self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + seen.acked.min(self.limit)).min(self.ssthresh);
        }
        let phase = if self.cwnd < self.ssthresh { Phase::Startup } else { Phase::Done };
        Says { cwnd: self.cwnd, phase, undecided: false }
    }
}

#[test]
fn slow_start_follows_rfc_5681() {
    let [startup, _, done] = compare::<SlowStart>("slow_start");
    assert!(startup > 10_000 && done > 30, "too few cases: {startup} {done}");
}
