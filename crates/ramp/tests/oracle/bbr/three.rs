//! Version 3: draft-ietf-ccwg-bbr-06.

use rampcc::{Ack, AckFlags, Config, EventKind};

use super::{Connection, MSS_F, Mode, Version};

#[derive(Default)]
pub(super) struct Three {
    c: Connection,
    max_bw: f64,
    bw: f64,
    extra: Vec<(u32, f64)>,
    extra_rounds: u32,
    interval_start_us: f64,
    interval_delivered: f64,
    lost: f64,
    loss_round_delivered: f64,
    loss_in_round: bool,
    portions: u32,
    lost_before: f64,
    flight_before: f64,
    drain_start: u32,
    undo: bool,
}

impl Three {
    fn quantum(&self) -> f64 {
        (self.c.pacing / 1000.0).clamp(2.0 * MSS_F, 65_536.0)
    }

    fn bdp(&self, gain: f64) -> f64 {
        if self.c.min_rtt.is_finite() { self.bw * self.c.min_rtt * gain } else { self.c.initial_cwnd }
    }

    fn budget(&self, window: f64) -> f64 {
        window.max(3.0 * self.quantum()).max(4.0 * MSS_F)
    }

    fn aggregate(&mut self, ack: &Ack) {
        let mut expected = self.bw * (ack.now_ns as f64 / 1000.0 - self.interval_start_us).floor() / 1e6;
        if self.interval_delivered == 0.0 || !self.c.less(expected, self.interval_delivered, 2.0) {
            self.interval_delivered = 0.0;
            self.interval_start_us = ack.now_ns as f64 / 1000.0;
            expected = 0.0;
        }
        self.interval_delivered += ack.acked_bytes as f64;
        self.extra.push((self.c.round, (self.interval_delivered - expected).min(self.c.cwnd)));
    }

    /// The largest of this round and the last, or of the last ten if the round began after start-up.
    fn extra_acked(&self) -> f64 {
        let recent = self.extra.iter().filter(|(round, _)| round + self.extra_rounds >= self.c.round);
        recent.map(|(_, extra)| *extra).fold(0.0, f64::max)
    }

    fn losses(&mut self, ack: &Ack) {
        let lost = ack.lost_bytes as f64;
        if lost > self.lost {
            if !self.loss_in_round {
                self.loss_in_round = true;
                self.loss_round_delivered = ack.delivered_bytes as f64;
                self.lost_before = self.lost;
                self.flight_before = ack.in_flight_bytes as f64;
                if self.c.mode != Mode::Startup {
                    self.undo = false;
                }
            }
            self.portions += 1;
            self.lost = lost;
        }
    }

    fn end_loss_round(&mut self, ack: &Ack) {
        let lost = self.lost - self.lost_before;
        let repairing = ack.flags & AckFlags::RECOVERING != 0;
        if self.c.mode == Mode::Startup && repairing && self.portions >= 6 {
            let limit = self.flight_before * 0.02;
            if self.c.less(limit, lost, 1.0) {
                self.c.mode = Mode::Drain;
                self.drain_start = self.c.round;
                self.undo = true;
            }
        }
        self.loss_in_round = false;
        self.portions = 0;
        self.lost_before = self.lost;
        self.flight_before = ack.in_flight_bytes as f64;
    }
}

impl Version for Three {
    fn new(config: &Config) -> Self {
        let mut c = Connection::new(config);
        c.pacing = c.first_rate(c.initial_cwnd) * 2.77;
        Self { c, extra_rounds: 1, ..Self::default() }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.c
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rate = ack.delivery_bytes_per_s as f64;
        let limited = ack.flags & AckFlags::RATE_APP_LIMITED != 0;
        self.losses(ack);
        let loss_round_start = self.c.packet_delivered(ack) >= self.loss_round_delivered;
        if loss_round_start {
            self.loss_round_delivered = ack.delivered_bytes as f64;
        }
        self.c.update_round(ack);
        if self.c.round_start {
            self.extra_rounds = if self.c.mode == Mode::Startup { 1 } else { 10 };
        }
        if rate > 0.0 && (rate >= self.max_bw || !limited) {
            self.max_bw = self.max_bw.max(rate);
        }
        self.aggregate(ack);
        if self.c.mode == Mode::Startup && self.c.round_start && !limited && rate > 0.0 {
            self.c.check_full(rate);
            if self.c.full_count >= 3 {
                self.c.mode = Mode::Drain;
                self.drain_start = self.c.round;
            }
        }
        if loss_round_start {
            self.end_loss_round(ack);
        }
        if self.c.mode == Mode::Drain {
            let target = self.budget(self.bdp(1.0));
            let in_flight = (ack.in_flight_bytes - ack.acked_bytes) as f64;
            if self.c.round > self.drain_start + 3 || !self.c.less(target, in_flight, 16.0) {
                self.c.mode = Mode::Left;
                self.c.cwnd = target;
                return;
            }
        }
        if ack.rtt_us > 0 {
            self.c.min_rtt = self.c.min_rtt.min(f64::from(ack.rtt_us) / 1e6);
            if !self.c.measured {
                self.c.measured = true;
                self.c.pacing = self.c.cwnd / (f64::from(ack.rtt_us) / 1e6) * 2.77;
            }
        }
        self.bw = self.max_bw;
        let gain = if self.c.mode == Mode::Drain { 0.5 } else { 2.77 };
        let rate = self.bw * gain * 0.99;
        if self.c.mode == Mode::Drain || rate > self.c.pacing {
            self.c.pacing = rate;
        }
        let target = self.budget(self.bdp(2.0) + self.extra_acked());
        self.c.set_cwnd(ack, target);
    }

    fn on_event(&mut self, kind: EventKind) {
        match kind {
            EventKind::Undone => {
                (self.c.full_bw, self.c.full_count) = (0.0, 0);
                if std::mem::take(&mut self.undo) {
                    self.c.mode = Mode::Startup;
                    self.c.pacing = self.bw * 2.77 * 0.99;
                }
            }
            EventKind::Loss | EventKind::Mark | EventKind::Timeout => self.undo = false,
            _ => {}
        }
    }
}
