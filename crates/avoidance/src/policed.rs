//! Whether the path is policed: BBR's long-term rate (Linux `bbr_lt_bw_sampling`).
//!
//! A policer lets a bucketful through and then drops what exceeds its rate. Two intervals from loss to loss, each of four rounds or
//! more, with a fifth of the packets lost and nearly the same rate, are taken for that; the rate is then theirs for 48 rounds.

use rampcc::Time;

use crate::model::{Delivered, Ratio};

const INTERVAL_LEAST: u64 = 4;
const INTERVAL_MOST: u64 = 16;
/// `bbr_lt_loss_thresh`: lost to delivered.
const LOSSY: Ratio = Ratio::of(50, 256);
/// The same rate: within an eighth, or 4 kbit/s.
const SAME_SHARE: Ratio = Ratio::of(1, 8);
const SAME_BYTES_PER_S: u64 = 500;
const LASTS_ROUNDS: u64 = 48;

/// The sampler.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policed {
    sampling: bool,
    in_use: bool,
    rate: u64,
    rounds: u64,
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Policed {
    /// The policer's rate, while there seems to be one.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.in_use.then_some(self.rate)
    }

    /// An ACK with a rate sample. `steady`: BBR probes for bandwidth. Returns whether the rate is given up after having been used.
    pub(crate) fn on_sample(&mut self, ack: &Delivered, losses: u64, round: bool, steady: bool) -> bool {
        if self.in_use {
            self.rounds += u64::from(round && steady);
            let over = self.rounds >= LASTS_ROUNDS;
            if over {
                self.reset(ack);
            }
            return over;
        }
        if !self.sampling {
            if losses == 0 {
                return false;
            }
            self.begin_interval(ack);
            self.sampling = true;
        }
        if ack.paused {
            self.reset(ack);
            return false;
        }
        self.rounds += u64::from(round);
        if self.rounds > INTERVAL_MOST {
            self.reset(ack);
        } else if self.rounds >= INTERVAL_LEAST && losses > 0 {
            self.end_interval(ack);
        }
        false
    }

    fn end_interval(&mut self, ack: &Delivered) {
        let (delivered, lost) = (ack.delivered - self.delivered, ack.lost - self.lost);
        let elapsed = ack.now - self.since;
        if delivered == 0 || lost < LOSSY.times(delivered) || elapsed < Time::from_ms(1) {
            return;
        }
        let rate = Ratio::of(1_000_000_000, elapsed.ns()).times(delivered);
        let apart = rate.abs_diff(self.rate);
        if self.rate > 0 && (apart <= SAME_SHARE.times(self.rate) || apart <= SAME_BYTES_PER_S) {
            self.rate = u64::midpoint(rate, self.rate);
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin_interval(ack);
        }
    }

    fn begin_interval(&mut self, ack: &Delivered) {
        (self.since, self.delivered, self.lost, self.rounds) = (ack.now, ack.delivered, ack.lost, 0);
    }

    fn reset(&mut self, ack: &Delivered) {
        (self.rate, self.in_use, self.sampling) = (0, false, false);
        self.begin_interval(ack);
    }
}
