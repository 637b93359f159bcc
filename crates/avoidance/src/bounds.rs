//! What losses have shown BBR of version 3 about the path: how much may be in flight, in the long term and for now.

use crate::model::{Delivered, Lost, Ratio, Rounds};

/// `LossThresh`, `Beta` and `Headroom`.
const LOSS_PERCENT: u64 = 2;
const BETA: Ratio = Ratio::of(7, 10);
const HEADROOM: Ratio = Ratio::of(15, 100);
/// A doubling per round of probing, up to this.
const ROUNDS_MOST: u32 = 30;
/// No bound.
const INFINITY: u64 = u64::MAX;

/// Upper bounds, bytes and bytes per second. `u64::MAX`: there is none.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// `bw_shortterm` and `inflight_shortterm`.
    pub(crate) rate: u64,
    pub(crate) short: u64,
    /// `inflight_longterm`.
    pub(crate) long: u64,
    /// `bw_latest` and `inflight_latest`: the largest of this round.
    rate_latest: u64,
    volume_latest: u64,
    /// A round of losses begins with the first of them.
    round: Rounds,
    lossy: bool,
    /// Of probing: rounds, and bytes acknowledged since the last packet more, of so many for each.
    probing_rounds: u32,
    acked: u64,
    acked_per_packet: u64,
    /// The three bounds before the last losses.
    before: [u64; 3],
}

impl Bounds {
    pub(crate) fn new() -> Self {
        Self {
            rate: INFINITY,
            short: INFINITY,
            long: INFINITY,
            rate_latest: 0,
            volume_latest: 0,
            round: Rounds::default(),
            lossy: false,
            probing_rounds: 0,
            acked: 0,
            acked_per_packet: INFINITY,
            before: [0; 3],
        }
    }

    /// `UpdateLatestDeliverySignals`: before anything else is made of a rate sample.
    pub(crate) fn begin_sample(&mut self, ack: &Delivered) {
        self.rate_latest = self.rate_latest.max(ack.rate);
        self.volume_latest = self.volume_latest.max(ack.delivered - ack.prior_delivered);
        self.round.advance(ack);
    }

    /// `UpdateCongestionSignals`: once a round, while nothing is probed for, losses lower the bounds for now towards what the round
    /// has delivered.
    pub(crate) fn adapt(&mut self, cwnd: u64, largest_rate: u64, probing: bool) {
        if !self.round.began {
            return;
        }
        if self.lossy && !probing {
            let or = |bound: u64, first: u64| if bound == INFINITY { first } else { bound };
            self.rate = self.rate_latest.max(BETA.times(or(self.rate, largest_rate)));
            self.short = self.volume_latest.max(BETA.times(or(self.short, cwnd)));
        }
        self.lossy = false;
    }

    /// `AdvanceLatestDeliverySignals`: after everything else.
    pub(crate) fn end_sample(&mut self, ack: &Delivered) {
        if self.round.began {
            self.rate_latest = ack.rate;
            self.volume_latest = ack.delivered - ack.prior_delivered;
        }
    }

    /// `ResetCongestionSignals`
    pub(crate) fn forget_round(&mut self) {
        (self.lossy, self.rate_latest, self.volume_latest) = (false, 0, 0);
    }

    /// `ResetShortTermModel`
    pub(crate) fn forget_short(&mut self) {
        (self.rate, self.short) = (INFINITY, INFINITY);
    }

    /// `NoteLoss`, when so many bytes had been delivered.
    pub(crate) fn on_loss(&mut self, delivered: u64) {
        if !self.lossy {
            self.round.start(delivered);
            self.before = [self.rate, self.short, self.long];
        }
        self.lossy = true;
    }

    /// A timeout forgets the window that the bound for now would begin with.
    pub(crate) fn on_timeout(&mut self, cwnd: u64) {
        if self.short == INFINITY {
            self.short = cwnd;
        }
    }

    /// The losses were none.
    pub(crate) fn on_undone(&mut self) {
        let [rate, short, long] = self.before;
        self.lossy = false;
        (self.rate, self.short, self.long) =
            (self.rate.max(rate), self.short.max(short), self.long.max(long));
    }

    /// Start-up lost too much.
    pub(crate) fn end_startup(&mut self, bdp: u64) {
        self.long = bdp.max(self.volume_latest);
    }

    /// `HandleInflightTooHigh`: the flight with which losses became too many, and what is wanted in flight.
    pub(crate) fn lower(&mut self, flight: u64, target: u64) {
        self.long = flight.max(BETA.times(target));
    }

    /// A sample without too many losses: what was in flight then is safe.
    pub(crate) fn raise(&mut self, ack: &Delivered) {
        if self.long != INFINITY && !too_many(ack.lost_since, ack.sent_into) {
            self.long = self.long.max(ack.sent_into);
        }
    }

    /// `StartProbeBW_REFILL`
    pub(crate) fn prepare_probe(&mut self) {
        self.forget_short();
        (self.probing_rounds, self.acked) = (0, 0);
    }

    /// `RaiseInflightLongtermSlope`: one packet more in the first round, then two, four, ..., spread over the round.
    pub(crate) fn steepen(&mut self, cwnd: u64, mss: u64) {
        self.acked_per_packet = (cwnd >> self.probing_rounds).max(mss);
        self.probing_rounds = (self.probing_rounds + 1).min(ROUNDS_MOST);
    }

    /// `ProbeInflightLongtermUpward`
    pub(crate) fn probe_upward(&mut self, ack: &Delivered, cwnd: u64, round: bool) {
        if self.long == INFINITY || too_many(ack.lost_since, ack.sent_into) || !self.holds(ack, cwnd) {
            return;
        }
        self.acked += ack.acked;
        let packets = self.acked / self.acked_per_packet;
        self.acked %= self.acked_per_packet;
        self.long = self.long.saturating_add(packets * ack.mss);
        if round {
            self.steepen(cwnd, ack.mss);
        }
    }

    /// The long-term bound holds the sender back.
    pub(crate) fn holds(&self, ack: &Delivered, cwnd: u64) -> bool {
        ack.limited && cwnd >= self.long
    }

    /// `InflightWithHeadroom`
    pub(crate) fn with_headroom(&self, mss: u64, least: u64) -> u64 {
        if self.long == INFINITY {
            return INFINITY;
        }
        self.long.saturating_sub(HEADROOM.times(self.long).max(mss)).max(least)
    }
}

/// `IsInflightTooHigh`
pub(crate) fn too_many(lost: u64, flight: u64) -> bool {
    lost.saturating_mul(100) > flight.saturating_mul(LOSS_PERCENT)
}

/// `InflightAtLoss`: how much was in flight where losses crossed the threshold, within the lost packet.
pub(crate) fn flight_at(lost: &Lost) -> u64 {
    let flight = lost.sent_into.saturating_sub(lost.bytes);
    let before = lost.since.saturating_sub(lost.bytes);
    let allowed = Ratio::of(LOSS_PERCENT, 100).times(flight).saturating_sub(before);
    flight + Ratio::of(100, 100 - LOSS_PERCENT).times(allowed)
}

#[cfg(test)]
mod tests {
    use rampcc::Time;

    use super::*;

    const MSS: u64 = 1000;

    fn ack(prior: u64, delivered: u64, rate: u64) -> Delivered {
        Delivered {
            now: Time::from_ms(100),
            mss: MSS,
            acked: MSS,
            delivered,
            prior_delivered: prior,
            rate,
            sent_into: 50_000,
            limited: true,
            open: true,
            ..Delivered::default()
        }
    }

    /// The draft's two formulas, on 100 packets at 1 MB/s.
    #[test]
    fn once_a_round_losses_take_three_tenths_but_never_less_than_what_was_delivered() {
        let mut bounds = Bounds::new();
        let round = |bounds: &mut Bounds, from: u64, rate: u64, loses: bool| {
            if loses {
                bounds.on_loss(from);
            }
            let ack = ack(from, from + 60_000, rate);
            bounds.begin_sample(&ack);
            bounds.adapt(100_000, 1_000_000, false);
            bounds.end_sample(&ack);
            (bounds.rate, bounds.short)
        };
        assert_eq!(round(&mut bounds, 0, 500_000, false), (INFINITY, INFINITY));
        assert_eq!(round(&mut bounds, 60_000, 500_000, true), (700_000, 70_000));
        assert_eq!(round(&mut bounds, 120_000, 650_000, true), (650_000, 60_000));
        assert_eq!(round(&mut bounds, 180_000, 650_000, false), (650_000, 60_000));
        bounds.on_undone();
        assert_eq!((bounds.rate, bounds.short), (700_000, 70_000), "as before the last losses");
        bounds.forget_short();
        assert_eq!((bounds.rate, bounds.short), (INFINITY, INFINITY));
    }

    #[test]
    fn while_probing_for_bandwidth_losses_lower_nothing_for_now() {
        let mut bounds = Bounds::new();
        bounds.on_loss(0);
        bounds.begin_sample(&ack(0, 60_000, 500_000));
        bounds.adapt(100_000, 1_000_000, true);
        assert_eq!((bounds.rate, bounds.short), (INFINITY, INFINITY));
    }

    #[test]
    fn two_percent_is_not_too_many_and_the_crossing_is_within_the_packet_that_crossed_it() {
        assert!(!too_many(2_000, 100_000));
        assert!(too_many(2_001, 100_000));
        // 2 % of 99 packets less the two before: nothing of it was safe.
        let lost = Lost { bytes: 1_000, sent_into: 100_000, since: 3_000, paused: false };
        assert_eq!(flight_at(&lost), 99_000);
        // 2 % of 90 000 are 1800, 800 more than the 1000 lost before; over 0.98.
        let burst = Lost { bytes: 10_000, sent_into: 100_000, since: 11_000, paused: false };
        assert_eq!(flight_at(&burst), 90_000 + 816);
    }

    #[test]
    fn the_long_term_bound_falls_to_the_flight_that_lost_and_leaves_headroom() {
        let mut bounds = Bounds::new();
        assert_eq!(bounds.with_headroom(MSS, 4 * MSS), INFINITY);
        bounds.lower(80_000, 100_000);
        assert_eq!(bounds.long, 80_000);
        assert_eq!(bounds.with_headroom(MSS, 4 * MSS), 68_000);
        bounds.lower(50_000, 100_000);
        assert_eq!(bounds.long, 70_000, "never more than CUBIC's");
        bounds.raise(&Delivered { sent_into: 75_000, ..ack(0, 1, 1) });
        assert_eq!(bounds.long, 75_000);
        bounds.raise(&Delivered { sent_into: 90_000, lost_since: 2_000, ..ack(0, 1, 1) });
        assert_eq!(bounds.long, 75_000, "not with more than 2 % lost");
        bounds.lower(5_000, 0);
        assert_eq!(bounds.with_headroom(MSS, 4 * MSS), 4_000, "a whole packet, and not below the least");
    }

    /// One packet more in the first round, two in the second, four in the third.
    #[test]
    fn probing_raises_the_bound_twice_as_fast_with_every_round() {
        let mut bounds = Bounds::new();
        bounds.lower(64_000, 0);
        bounds.prepare_probe();
        bounds.steepen(64_000, MSS);
        let mut seen = vec![];
        for _ in 0..3 {
            for packet in 1..=64 {
                let cwnd = bounds.long;
                bounds.probe_upward(&ack(0, 1, 1), cwnd, false);
                if packet == 64 {
                    seen.push(bounds.long / MSS);
                    bounds.steepen(64_000, MSS);
                }
            }
        }
        assert_eq!(seen, [65, 67, 71]);
        bounds.probe_upward(&Delivered { limited: false, ..ack(0, 1, 1) }, INFINITY, false);
        bounds.probe_upward(&ack(0, 1, 1), 1_000, false);
        assert_eq!(bounds.long / MSS, 71, "only what is used grows");
    }
}
