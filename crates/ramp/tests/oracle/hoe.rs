//! ns-2's `newreno_changes_ 1`: the first ACK gives the round trip, the second and the third the rate. In the core the
//! handshake is the first one, and the two that follow must acknowledge equally much that left together.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

struct Hoe {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    base_rtt_us: f64,
    handshake: bool,
    /// Of every ACK up to the pair: when it came, packets acknowledged, when the newest had left.
    acks: Vec<(f64, f64, f64)>,
    found: bool,
    doubtful: bool,
}

impl Oracle for Hoe {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh,
            limit: abc_limit,
            base_rtt_us: f64::INFINITY,
            handshake: false,
            acks: Vec::new(),
            found: false,
            doubtful: false,
        }
    }

    fn on_handshake(&mut self, rtt_us: f64) {
        self.base_rtt_us = rtt_us;
        self.handshake = true;
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if !self.handshake {
            self.base_rtt_us = self.base_rtt_us.min(seen.rtt_us.unwrap_or(f64::INFINITY));
        }
        if !self.found {
            self.acks.push((seen.now_ns, seen.acked, seen.sent_ns));
            if let [.., (t2, before, left2), (t3, acked, left3)] = self.acks[..]
                && t3 > t2
                && (acked - before).abs() < 0.5
                && (left3 - left2).max(0.0) <= (t3 - t2) / 2.0
            {
                self.found = true;
                let packets = acked * self.base_rtt_us * 1000.0 / (t3 - t2);
                // One nanosecond of the clock, or the last bit of a quotient.
                self.doubtful = (packets - packets.round()).abs() < packets * 1e-4;
                if packets.is_finite() {
                    self.ssthresh = self.ssthresh.min(packets.floor().max(2.0));
                }
            }
        }
        if seen.window_full && self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + seen.acked.min(self.limit)).min(self.ssthresh);
        }
        let phase = if self.cwnd < self.ssthresh { Phase::Startup } else { Phase::Done };
        Says { cwnd: self.cwnd, phase, undecided: self.doubtful }
    }
}

#[test]
fn hoe_follows_newreno_changes_1() {
    let [startup, _, done] = compare::<Hoe>("hoe");
    assert!(startup > 2_000 && done > 100, "too few cases: {startup} {done}");
}
