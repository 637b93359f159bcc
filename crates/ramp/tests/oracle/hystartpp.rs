//! RFC 9406 §4.2 and §4.3.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

struct HyStartPlusPlus {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    window_end: f64,
    last_round_min_rtt: f64,
    current_round_min_rtt: f64,
    rtt_sample_count: u32,
    css_baseline_min_rtt: f64,
    /// Conservative rounds completed; `None` in slow start.
    css_rounds: Option<u32>,
}

impl HyStartPlusPlus {
    fn says(&self, done: bool) -> Says {
        let phase = match (done, self.css_rounds) {
            (true, _) => Phase::Done,
            (false, None) => Phase::Startup,
            (false, Some(_)) => Phase::Conservative,
        };
        Says { cwnd: self.cwnd, phase, undecided: false }
    }
}

impl Oracle for HyStartPlusPlus {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh,
            // L = 8 for a sender that does not pace.
            limit: abc_limit.min(8.0),
            window_end: 0.0,
            last_round_min_rtt: f64::INFINITY,
            current_round_min_rtt: f64::INFINITY,
            rtt_sample_count: 0,
            css_baseline_min_rtt: f64::INFINITY,
            css_rounds: None,
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if seen.una > self.window_end {
            if let Some(rounds) = &mut self.css_rounds {
                *rounds += 1;
                if *rounds == 5 {
                    return self.says(true);
                }
            }
            self.window_end = seen.next;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = f64::INFINITY;
            self.rtt_sample_count = 0;
        }
        if seen.window_full {
            let growth = seen.acked.min(self.limit);
            let growth = if self.css_rounds.is_some() { growth / 4.0 } else { growth };
            self.cwnd = (self.cwnd + growth).min(self.ssthresh.max(self.cwnd));
        }
        if let Some(rtt) = seen.rtt_us {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count += 1;
            if self.rtt_sample_count >= 8 {
                if self.css_rounds.is_none() {
                    let thresh = (self.last_round_min_rtt / 8.0).floor().clamp(4_000.0, 16_000.0);
                    if self.last_round_min_rtt.is_finite()
                        && self.current_round_min_rtt >= self.last_round_min_rtt + thresh
                    {
                        self.css_baseline_min_rtt = self.current_round_min_rtt;
                        self.css_rounds = Some(0);
                    }
                } else if self.current_round_min_rtt < self.css_baseline_min_rtt {
                    self.css_baseline_min_rtt = f64::INFINITY;
                    self.css_rounds = None;
                }
            }
        }
        self.says(self.cwnd >= self.ssthresh)
    }
}

#[test]
fn hystartpp_follows_rfc_9406() {
    let [startup, conservative, done] = compare::<HyStartPlusPlus>("hystartpp");
    assert!(
        startup > 10_000 && conservative > 1_000 && done > 30,
        "too few cases: {startup} {conservative} {done}"
    );
}
