//! Version 1: the first draft, with Linux's constants and its rules for repairs, timeouts and undone repairs.

use rampcc::{Ack, AckFlags, Config, EventKind};

use super::{Connection, MSS_F, Mode, Version};

pub(super) struct One {
    c: Connection,
    rates: Vec<(u32, f64)>,
    /// With the last ACK.
    repaired: bool,
}

impl One {
    const HIGH: f64 = 739.0 / 256.0;
    const LOW: f64 = 88.0 / 256.0;

    /// The largest of ten rounds.
    fn bw(&self) -> f64 {
        let recent = self.rates.iter().filter(|(round, _)| round + 10 >= self.c.round);
        recent.map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    fn quantum(&self) -> f64 {
        let least = if self.c.pacing < 150_000.0 { 1.0 } else { 2.0 };
        (self.c.pacing / 1024.0).min(65_215.0).max(least * MSS_F)
    }

    fn inflight(&self, gain: f64) -> f64 {
        let window =
            if self.c.min_rtt.is_finite() { self.bw() * self.c.min_rtt * gain } else { self.c.initial_cwnd };
        window + 3.0 * self.quantum()
    }
}

impl Version for One {
    fn new(config: &Config) -> Self {
        let mut c = Connection::new(config);
        c.pacing = c.first_rate(c.initial_cwnd) * Self::HIGH * 0.99;
        Self { c, rates: Vec::new(), repaired: false }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.c
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.repaired = false;
        let rate = ack.delivery_bytes_per_s as f64;
        let limited = ack.flags & AckFlags::RATE_APP_LIMITED != 0;
        if ack.rtt_us > 0 {
            self.c.min_rtt = self.c.min_rtt.min(f64::from(ack.rtt_us) / 1e6);
        }
        self.c.round_start = false;
        if rate > 0.0 {
            self.c.update_round(ack);
            if !limited || rate >= self.bw() {
                self.rates.push((self.c.round, rate));
            }
            if self.c.round_start && !limited && self.c.mode == Mode::Startup {
                let bw = self.bw();
                self.c.check_full(bw);
                if self.c.full_count >= 3 {
                    self.c.mode = Mode::Drain;
                }
            }
        }
        if self.c.mode == Mode::Drain {
            let (in_flight, target) = ((ack.in_flight_bytes - ack.acked_bytes) as f64, self.inflight(1.0));
            if !self.c.less(target, in_flight, 16.0) {
                self.c.mode = Mode::Left;
                self.c.cwnd = target;
                return;
            }
        }
        let gain = if self.c.mode == Mode::Drain { Self::LOW } else { Self::HIGH };
        if !self.c.measured && ack.rtt_us > 0 {
            self.c.measured = true;
            let rtt = f64::from(ack.rtt_us) / 1e6;
            self.c.pacing = self.c.cwnd / rtt * Self::HIGH * 0.99;
        }
        let rate = self.bw() * gain * 0.99;
        if self.c.mode == Mode::Drain || rate > self.c.pacing {
            self.c.pacing = rate;
        }
        let target = self.inflight(Self::HIGH);
        self.c.set_cwnd(ack, target);
    }

    fn on_event(&mut self, kind: EventKind) {
        match kind {
            EventKind::Loss if !self.repaired => {
                self.c.next_round_delivered = self.c.stamps.last().map_or(0.0, |(_, delivered)| *delivered);
            }
            EventKind::Recovered => self.repaired = true,
            EventKind::Timeout => self.c.full_bw = 0.0,
            EventKind::Undone => (self.c.full_bw, self.c.full_count) = (0.0, 0),
            _ => {}
        }
    }
}
