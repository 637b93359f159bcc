//! Vegas' slow start as ns-2's agent has it: rates in packets a second, a tagged packet for each round trip, the SYN
//! being packet 0.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

const GAMMA: f64 = 1.0;

struct Vegas {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    base_rtt: f64,
    tag: f64,
    samples: Vec<f64>,
    /// Number of rounds judged so far, the SYN's being the first; every other one grows.
    rounds: u32,
    left: bool,
}

impl Oracle for Vegas {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh,
            limit: abc_limit,
            base_rtt: f64::INFINITY,
            tag: 1.0,
            samples: Vec::new(),
            rounds: 1,
            left: false,
        }
    }

    fn on_handshake(&mut self, rtt_us: f64) {
        self.base_rtt = rtt_us;
        self.samples.push(rtt_us);
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        let (ack, next) = (seen.una, seen.next + 1.0);
        let mut undecided = false;
        if ack >= self.tag {
            let count = self.samples.len() as f64;
            let mean = self.samples.drain(..).sum::<f64>() / count;
            let rtt = if count > 0.0 { Some(mean) } else { seen.rtt_us };
            if let Some(rtt) = rtt {
                let length = next - self.tag;
                if rtt < self.base_rtt || length <= 1.0 {
                    self.base_rtt = rtt;
                }
                let actual = length / rtt;
                // Out after this ACK; the oracle's peer acknowledges nothing out of order.
                let expected = (next - ack) / self.base_rtt;
                let delta = (expected - actual) * self.base_rtt + 0.5;
                self.rounds += 1;
                if self.rounds.is_multiple_of(2) {
                    undecided = (delta - GAMMA - 1.0).abs() < 0.02;
                    if delta.trunc() > GAMMA {
                        self.left = true;
                        self.cwnd = (self.cwnd - self.cwnd / 8.0).max(2.0);
                    }
                }
            }
            self.tag = next;
        }
        if self.left {
            return Says { cwnd: self.cwnd, phase: Phase::Done, undecided };
        }
        let keeps_up = self.cwnd - seen.in_flight <= 2.0;
        if self.rounds.is_multiple_of(2) && self.cwnd < self.ssthresh && keeps_up && seen.window_full {
            self.cwnd = (self.cwnd + seen.acked.min(self.limit)).min(self.ssthresh);
        }
        if let Some(rtt) = seen.rtt_us {
            self.samples.push(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
        }
        let phase = if self.cwnd < self.ssthresh { Phase::Startup } else { Phase::Done };
        Says { cwnd: self.cwnd, phase, undecided }
    }
}

#[test]
fn vegas_follows_ns2() {
    let [startup, _, done] = compare::<Vegas>("vegas");
    assert!(startup > 5_000 && done > 100, "too few cases: {startup} {done}");
}
