//! [LU] §IV-A, Algorithm 1, its "tagged packet" being that of ns-2's Vegas.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

const BETA: f64 = 3.0;

struct EnhancedStart {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    base_rtt: f64,
    /// The mean from the last tagged packet to the one before it.
    rtt: f64,
    /// Sequence number of the tagged packet, and what has been measured since the last one's ACK.
    tagged: f64,
    samples: Vec<f64>,
    /// 2^-n for n crossings.
    step: f64,
    above: bool,
}

impl Oracle for EnhancedStart {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh,
            limit: abc_limit,
            base_rtt: f64::INFINITY,
            rtt: f64::INFINITY,
            tagged: 0.0,
            samples: Vec::new(),
            step: 1.0,
            above: false,
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if seen.una > self.tagged {
            if !self.samples.is_empty() {
                self.rtt = self.samples.iter().sum::<f64>() / self.samples.len() as f64;
                self.samples.clear();
            }
            // The next packet to be sent carries the tag.
            self.tagged = seen.next;
        }
        if let Some(rtt) = seen.rtt_us {
            self.samples.push(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
        }
        let backlog = if self.rtt.is_finite() { self.cwnd * (1.0 - self.base_rtt / self.rtt) } else { 0.0 };
        let congested = backlog >= BETA;
        if congested && !self.above {
            self.step /= 2.0;
        }
        self.above = congested;
        let linear = 1.0 / self.cwnd;
        let step = if congested { linear } else { linear.max(self.step) };
        if seen.window_full && self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + step * seen.acked.min(self.limit)).min(self.ssthresh);
        }
        let phase = match (self.cwnd >= self.ssthresh, congested) {
            (true, _) => Phase::Done,
            (false, true) => Phase::Conservative,
            (false, false) => Phase::Startup,
        };
        // Near ssthresh the byte that the core still carries decides whether start-up is over.
        let near_ssthresh = self.cwnd < self.ssthresh && self.ssthresh - self.cwnd < 0.0011;
        Says { cwnd: self.cwnd, phase, undecided: (backlog - BETA).abs() < 1e-2 || near_ssthresh }
    }
}

#[test]
fn enhanced_start_follows_its_algorithm_1() {
    let [startup, conservative, done] = compare::<EnhancedStart>("enhanced");
    assert!(
        startup > 5_000 && conservative > 5_000 && done > 5,
        "too few cases: {startup} {conservative} {done}"
    );
}
