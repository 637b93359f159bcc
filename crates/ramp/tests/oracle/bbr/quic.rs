//! QUIC's `BBRv2`, from google/quiche's `bbr2_*.cc`.

use rampcc::{Ack, AckFlags, Config, EventKind};

use super::{Connection, MSS_F, Mode, Version};

#[derive(Default)]
pub(super) struct Quic {
    c: Connection,
    max_bandwidth: f64,
    end_of_round: Option<u64>,
    bytes_lost: f64,
    lost_at_round: f64,
    inflight_at_round: f64,
    loss_events: u32,
    first: bool,
}

impl Quic {
    fn bdp(&self, gain: f64) -> f64 {
        (self.max_bandwidth * self.c.min_rtt * gain).max(4.0 * MSS_F)
    }

    fn at_end_of_round(&mut self, limited: bool) {
        if !self.c.less(self.max_bandwidth, self.c.full_bw * 1.25, 2.0) {
            self.c.full_bw = self.max_bandwidth;
            self.c.full_count = 0;
            return;
        }
        self.c.full_count += 1;
        let lost = self.bytes_lost - self.lost_at_round;
        let threshold = self.inflight_at_round * 0.02;
        let excessive = self.loss_events >= 8 && self.c.less(threshold, lost, 2.0);
        if !limited && (self.c.full_count >= 3 || excessive) {
            self.c.mode = Mode::Drain;
        }
    }
}

impl Version for Quic {
    fn new(config: &Config) -> Self {
        let mut c = Connection::new(config);
        if !c.min_rtt.is_finite() {
            c.min_rtt = 0.1;
        }
        c.pacing = 2.885 * c.initial_cwnd / c.min_rtt;
        Self { c, first: true, ..Self::default() }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.c
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rate = ack.delivery_bytes_per_s as f64;
        if ack.rtt_us > 0 {
            let sample = f64::from(ack.rtt_us) / 1e6;
            self.c.min_rtt = if self.c.measured { self.c.min_rtt.min(sample) } else { sample };
            self.c.measured = true;
        }
        self.max_bandwidth = self.max_bandwidth.max(rate);
        let lost = ack.lost_bytes as f64;
        if lost > self.bytes_lost {
            self.bytes_lost = lost;
            self.loss_events += 1;
        }
        if self.end_of_round.is_none_or(|end| ack.newest_acked_bytes > end) {
            self.end_of_round = Some(ack.sent_bytes);
            if self.c.mode == Mode::Startup && rate > 0.0 {
                self.at_end_of_round(ack.flags & AckFlags::RATE_APP_LIMITED != 0);
            }
            (self.lost_at_round, self.inflight_at_round) = (self.bytes_lost, ack.in_flight_bytes as f64);
            self.loss_events = 0;
        }
        if self.c.mode == Mode::Drain {
            let target = self.bdp(1.0);
            if !self.c.less(target, (ack.in_flight_bytes - ack.acked_bytes) as f64, 16.0) {
                self.c.mode = Mode::Left;
                self.c.cwnd = target;
                return;
            }
        }
        if self.max_bandwidth > 0.0 {
            let target = self.max_bandwidth * if self.c.mode == Mode::Drain { 1.0 / 2.885 } else { 2.885 };
            if std::mem::take(&mut self.first) {
                self.c.pacing = self.c.cwnd / self.c.min_rtt;
            } else if self.c.mode == Mode::Drain || target > self.c.pacing {
                self.c.pacing = target;
            }
        }
        if self.c.after_pause {
            self.c.cwnd = self.c.cwnd.max(self.c.prior_cwnd.take().unwrap_or(0.0));
            self.c.after_pause = false;
        }
        let (target, acked) = (self.bdp(2.0), ack.acked_bytes as f64);
        if self.c.mode == Mode::Drain {
            self.c.cwnd = (self.c.cwnd + acked).min(target);
        } else if self.c.cwnd < 2.0 * self.c.initial_cwnd || self.c.less(self.c.cwnd, target, 8.0) {
            self.c.cwnd += acked;
        }
        self.c.cwnd = self.c.cwnd.max(4.0 * MSS_F);
    }

    fn on_event(&mut self, _kind: EventKind) {}
}
