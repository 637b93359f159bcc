//! What an ACK makes of the window: the algorithm decides in start-up, congestion avoidance after it.

use rampcc::{Ack, AckFlags, ExitReason, Phase, UNSET};
use rampcc_avoidance::{Delivered, Growth, Startup};

use crate::Told;
use crate::connection::{Acked, Connection};
use crate::steering::microseconds;

impl Connection {
    pub(crate) fn grow(&mut self, ack: &Acked) {
        let window = self.window.cwnd;
        let marked = std::mem::take(&mut self.marked);
        if self.avoid.by_rate() {
            let lost = std::mem::take(&mut self.found_lost);
            self.avoid.observe(&self.delivered(ack), window, &lost);
            if self.avoid.probes_rtt() {
                self.on_app_limited();
            }
        }
        if self.starting() {
            self.consult(ack, marked);
            if !self.starting() {
                if self.avoid.by_rate() {
                    if !self.recovering() {
                        self.window.cwnd = window;
                    }
                    self.obey_model(ack);
                }
                self.notice_exit(ack.now, ack.newest.id.sent);
            }
        } else if self.avoid.by_rate() {
            self.obey_model(ack);
        } else if !self.recovering() && !marked && self.window_limited() {
            self.grow_after_startup(ack);
        }
    }

    /// In slow start, half of the window used is enough to let it double (Linux `tcp_is_cwnd_limited`).
    fn window_limited(&self) -> bool {
        let cwnd = self.window.cwnd;
        self.usage.limited
            || (self.starting() || cwnd < self.window.ssthresh) && cwnd < self.usage.most.saturating_mul(2)
    }

    fn consult(&mut self, ack: &Acked, marked: bool) {
        let recovering = self.recovering();
        let limited = !marked && self.window_limited();
        let app_limited = ack.newest.app_limited;
        let told = Ack {
            now_ns: ack.now.ns(),
            newest_sent_ns: ack.newest.id.sent.ns(),
            sent_bytes: self.sent_bytes,
            newest_acked_bytes: ack.newest.sent_bytes,
            delivered_bytes: self.rate.delivered(),
            acked_bytes: ack.bytes,
            in_flight_bytes: ack.before,
            lost_bytes: self.lost_bytes,
            delivery_bytes_per_s: ack.rate,
            pacing_bytes_per_s: self.spacing_bytes_per_s(),
            rtt_us: microseconds(ack.rtt),
            mss_bytes: self.mss as u32,
            flags: u32::from(limited) * AckFlags::CWND_LIMITED
                + u32::from(app_limited) * AckFlags::APP_LIMITED
                + u32::from(marked) * AckFlags::ECE
                + u32::from(self.paced()) * AckFlags::PACED
                + u32::from(recovering) * AckFlags::RECOVERING
                + u32::from(app_limited && ack.rate != 0) * AckFlags::RATE_APP_LIMITED,
            // Flow control is the stack's, and QUIC has no timestamps.
            ..Ack::default()
        };
        let wanted = self.lend(ack.now, Told::Ack(&told));
        if !recovering {
            self.window = wanted;
        } else if wanted.ssthresh != UNSET && wanted.ssthresh != self.window.ssthresh {
            // The algorithm sets where recovery ends, and in QUIC recovery is there at once.
            self.window.ssthresh = wanted.ssthresh;
            self.window.cwnd = wanted.ssthresh;
        }
    }

    /// Rate at which packets are spaced, or would be.
    fn spacing_bytes_per_s(&self) -> u64 {
        let own = || {
            let rtt = u128::from(self.rtt.smoothed.ns());
            // Stacks refill their buckets by 5/4 of the window in a round trip (RFC 9002 §7.7).
            (u128::from(self.window.cwnd) * 1_250_000_000).checked_div(rtt).unwrap_or(0) as u64
        };
        self.pacing_bytes_per_s().unwrap_or_else(own)
    }

    fn delivered(&self, ack: &Acked) -> Delivered {
        let decision = self.decision();
        let rising = self.starting() && decision.phase() != Phase::Leaving;
        Delivered {
            now: ack.now,
            mss: self.mss,
            acked: ack.bytes,
            delivered: self.rate.delivered(),
            prior_delivered: ack.newest.stamp.delivered,
            rate: ack.rate,
            paused: ack.newest.app_limited,
            rtt: ack.rtt,
            before: ack.before,
            in_flight: self.in_flight,
            lost: self.lost_bytes,
            lost_since: self.lost_bytes - ack.newest.lost_bytes,
            sent_into: ack.newest.sent_into,
            limited: self.usage.limited,
            startup: if rising {
                Startup::Rising
            } else {
                Startup::Left { lossy: decision.exit_reason() == ExitReason::Loss }
            },
            departure: self.last_sent.max(ack.now),
            open: !self.recovering(),
        }
    }

    fn obey_model(&mut self, ack: &Acked) {
        let delivered = self.delivered(ack);
        let rationed = self.recovering() && !self.avoid.repairs();
        let wanted = self.avoid.control(&delivered, self.window.cwnd, rationed);
        if self.recovering() {
            self.window.ssthresh = wanted;
        }
        if !rationed {
            self.window.cwnd = wanted;
        }
    }

    fn grow_after_startup(&mut self, ack: &Acked) {
        let mut acked = ack.bytes;
        if self.window.cwnd < self.window.ssthresh {
            let step = acked.min(self.window.ssthresh - self.window.cwnd);
            self.window.cwnd += step;
            acked -= step;
            if acked == 0 {
                return;
            }
        }
        self.window.cwnd = self.avoid.on_ack(&Growth {
            now: ack.now,
            cwnd: self.window.cwnd,
            acked,
            mss: self.mss,
            min_rtt: self.rtt.min_or_never(),
            rtt: ack.rtt,
            una: ack.newest.sent_bytes / self.mss.max(1),
            next: self.sent_bytes / self.mss.max(1),
        });
    }
}
