//! CUBIC (RFC 9438), with two floors of Linux: at least 5 % per round trip before the first loss, and at most half a
//! packet per packet. Or as Linux 2.6.23 had it: 2 % before the first loss, and beyond the curve's flat part at most
//! 16 packets in 100 ms.
//!
//! Windows are in segments and times in seconds, as in the RFC. Only the four basic operations and `libm::cbrt` are
//! used, so that every machine computes the same.

use rampcc::Time;

use crate::growth::Growth;

const C: f64 = 0.4;
/// Linux: growth per acknowledged packet before the first loss is at least 1/20 of a packet.
const COUNT_BEFORE_LOSS: f64 = 20.0;
/// Linux: and never more than one packet for two.
const COUNT_MIN: f64 = 2.0;
/// Linux 2.6.23: before the first loss it is 1/50, whatever the curve says.
const EARLY_BEFORE_LOSS: f64 = 50.0;
/// Linux 2.6.23, `max_increment`: 16 packets in 100 ms from the flat part on.
const EARLY_PER_S: f64 = 160.0;
/// Linux: where the curve is flat, one packet for a hundred windows.
const COUNT_FLAT: f64 = 100.0;

/// The state of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    beta: f64,
    /// As Linux 2.6.23 has it.
    early: bool,
    /// W_max; 0: no loss yet, or a timeout since.
    w_max: f64,
    /// When this epoch began; `Time::NEVER`: with the next ACK.
    epoch: Time,
    k: f64,
    origin: f64,
    w_est: f64,
    /// Window before the last reduction: where the estimate of Reno begins to grow as fast as Reno.
    cwnd_prior: f64,
    /// Fractions of a segment not yet given out.
    credit: f64,
}

impl Cubic {
    /// `early`: as Linux 2.6.23 has it.
    pub(crate) fn new(beta_1024: u32, early: bool) -> Self {
        Self {
            beta: f64::from(beta_1024) / 1024.0,
            early,
            w_max: 0.0,
            epoch: Time::NEVER,
            k: 0.0,
            origin: 0.0,
            w_est: 0.0,
            cwnd_prior: 0.0,
            credit: 0.0,
        }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        let mss = growth.mss as f64;
        let cwnd = growth.cwnd as f64 / mss;
        let acked = growth.acked as f64 / mss;
        if self.epoch == Time::NEVER {
            self.begin_epoch(growth.now, cwnd);
        }
        let rtt = if growth.min_rtt == Time::NEVER { Time::ZERO } else { growth.min_rtt };
        let t = (growth.now - self.epoch + rtt).secs_f64();
        let target = self.window_at(t);
        let mut count = if target > cwnd { cwnd / (target - cwnd) } else { COUNT_FLAT * cwnd };
        if self.early {
            if t >= self.k && rtt > Time::ZERO {
                count = count.max(cwnd / (EARLY_PER_S * rtt.secs_f64()));
            }
            if self.w_max == 0.0 {
                count = EARLY_BEFORE_LOSS;
            }
        } else if self.w_max == 0.0 {
            count = count.min(COUNT_BEFORE_LOSS);
        }
        let alpha =
            if self.w_est < self.cwnd_prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        self.w_est += alpha * acked / cwnd;
        if self.w_est > cwnd {
            count = count.min(cwnd / (self.w_est - cwnd));
        }
        self.credit += acked / count.max(if self.early { 1.0 } else { COUNT_MIN });
        if self.credit < 1.0 {
            return growth.cwnd;
        }
        let whole = self.credit as u64;
        self.credit -= whole as f64;
        growth.cwnd.saturating_add(whole.saturating_mul(growth.mss))
    }

    pub(crate) fn on_loss(&mut self, flight: u64, cwnd: u64, mss: u64) -> u64 {
        let window = cwnd as f64 / mss as f64;
        self.cwnd_prior = window;
        // Fast convergence, RFC 9438 §4.7.
        self.w_max = if window < self.w_max { window * (1.0 + self.beta) / 2.0 } else { window };
        self.epoch = Time::NEVER;
        self.credit = 0.0;
        (flight as f64 * self.beta) as u64
    }

    /// After a timeout K is 0 and W_max the window at which congestion avoidance begins (RFC 9438 §4.8).
    pub(crate) fn reset(&mut self) {
        self.w_max = 0.0;
        self.cwnd_prior = 0.0;
        self.epoch = Time::NEVER;
        self.credit = 0.0;
    }

    /// Idle time is not time on the curve.
    pub(crate) fn on_idle(&mut self, span: Time) {
        if self.epoch != Time::NEVER {
            self.epoch += span;
        }
    }

    fn begin_epoch(&mut self, now: Time, cwnd: f64) {
        self.epoch = now;
        self.w_est = cwnd;
        if self.w_max <= cwnd {
            self.k = 0.0;
            self.origin = cwnd;
        } else {
            self.k = libm::cbrt((self.w_max - cwnd) / C);
            self.origin = self.w_max;
        }
    }

    fn window_at(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.origin + C * x * x * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ack(now: Time, cwnd: u64, acked: u64) -> Growth {
        Growth { now, cwnd, acked, mss: MSS, min_rtt: Time::NEVER, rtt: None, una: 0, next: 0 }
    }

    fn after_loss(packets: u64) -> Cubic {
        let mut cubic = Cubic::new(717, false);
        cubic.beta = 0.7;
        let ssthresh = cubic.on_loss(packets * MSS, packets * MSS, MSS);
        cubic.begin_epoch(Time::ZERO, ssthresh as f64 / MSS as f64);
        cubic
    }

    #[test]
    fn the_curve_has_its_worked_values() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3 * b.max(1.0), "{a} is not {b}");
        for (w_max, k) in [(1000, 9.0856), (883, 8.7165), (100, 4.2172)] {
            near(after_loss(w_max).k, k);
        }
        let cubic = after_loss(1000);
        near(cubic.window_at(0.0), 700.0);
        near(cubic.window_at(cubic.k + 1.0), 1000.4);
        near(cubic.window_at(2.0 * cubic.k), 1300.0);
        near(3.0 * (1.0 - cubic.beta) / (1.0 + cubic.beta), 0.52941);
    }

    #[test]
    fn gives_way_faster_when_it_lost_below_its_last_maximum() {
        let mut cubic = after_loss(1000);
        cubic.on_loss(800 * MSS, 800 * MSS, MSS);
        assert!((cubic.w_max - 680.0).abs() < 1e-9);
    }

    #[test]
    fn leaves_slow_start_without_loss_at_its_own_window_and_grows_at_least_five_percent() {
        let mut cubic = Cubic::new(717, false);
        let mut cwnd = 200 * MSS;
        for i in 0..200 {
            cwnd = cubic.on_ack(&ack(Time::from_us(i), cwnd, MSS));
        }
        assert!(cubic.k == 0.0 && (cubic.origin - 200.0).abs() < 1e-9);
        assert_eq!(cwnd, 210 * MSS);
    }

    #[test]
    fn the_one_of_2007_grows_by_two_percent_before_a_loss_and_by_sixteen_packets_in_100_ms() {
        let mut cubic = Cubic::new(819, true);
        let mut cwnd = 200 * MSS;
        for i in 0..200 {
            cwnd = cubic.on_ack(&ack(Time::from_us(i), cwnd, MSS));
        }
        assert_eq!(cwnd, 204 * MSS);
        // Long after the flat part the curve wants far more; a round trip of 200 ms gets 32.
        let mut cubic = after_loss(1000);
        cubic.early = true;
        let growth =
            Growth { min_rtt: Time::from_ms(200), ..ack(Time::from_secs(100), 3000 * MSS, 3000 * MSS) };
        assert_eq!(cubic.on_ack(&growth), 3032 * MSS);
    }

    #[test]
    fn never_grows_by_more_than_half_of_what_is_acknowledged() {
        let mut cubic = after_loss(1000);
        let cwnd = cubic.on_ack(&ack(Time::from_secs(100), 700 * MSS, 700 * MSS));
        assert_eq!(cwnd, 1050 * MSS);
    }
}
