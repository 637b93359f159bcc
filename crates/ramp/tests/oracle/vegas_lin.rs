//! Slow start of Linux's Vegas, in the kernel's whole packets and microseconds.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

struct LinuxVegas {
    cwnd: u64,
    ssthresh: f64,
    limit: f64,
    /// Smallest samples of the connection and of the round, one microsecond longer than measured.
    base: Option<u64>,
    round: Vec<u64>,
    round_end: f64,
    left: bool,
}

impl Oracle for LinuxVegas {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window as u64,
            ssthresh,
            limit: abc_limit,
            base: None,
            round: Vec::new(),
            round_end: 0.0,
            left: false,
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if let Some(rtt) = seen.rtt_us {
            let rtt = rtt as u64 + 1;
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.round.push(rtt);
        }
        if seen.una > self.round_end {
            self.round_end = seen.next;
            if let (Some(base), 3..) = (self.base, self.round.len()) {
                let rtt = *self.round.iter().min().expect("three samples");
                if self.cwnd * (rtt - base) / base > 1 {
                    self.left = true;
                    self.cwnd = self.cwnd.min(self.cwnd * base / rtt + 1).max(2);
                }
            }
            self.round.clear();
        }
        if self.left {
            return Says { cwnd: self.cwnd as f64, phase: Phase::Done, undecided: false };
        }
        if seen.window_full && (self.cwnd as f64) < self.ssthresh {
            self.cwnd = (self.cwnd as f64 + seen.acked.min(self.limit)).min(self.ssthresh) as u64;
        }
        if seen.in_flight <= seen.acked {
            self.base = None;
            self.round.clear();
            self.round_end = seen.next;
        }
        let phase = if (self.cwnd as f64) < self.ssthresh { Phase::Startup } else { Phase::Done };
        Says { cwnd: self.cwnd as f64, phase, undecided: false }
    }
}

#[test]
fn vegas_lin_follows_tcp_vegas_c() {
    let [startup, _, done] = compare::<LinuxVegas>("vegas_lin");
    assert!(startup > 5_000 && done > 100, "too few cases: {startup} {done}");
}
