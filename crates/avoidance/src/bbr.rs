//! BBR version 1 after start-up: `PROBE_BW` and `PROBE_RTT` as in Linux's `tcp_bbr.c`.
//!
//! STARTUP and DRAIN are the core's (`include/ramp/bbr.h`). The model here follows every ACK from the first, and takes over when
//! the core is done.

use rampcc::Time;

use crate::model::{Delivered, LargestOf, Ratio, Rounds, drawn, volume};
use crate::policed::Policed;

/// Rounds whose largest rate counts (`bbr_bw_rtts`).
const RATE_ROUNDS: u64 = 10;
const MIN_RTT_LASTS: Time = Time::from_secs(10);
const PROBE_RTT_LASTS: Time = Time::from_ms(200);
/// `bbr_cwnd_min_target`, packets.
const LEAST_PACKETS: u64 = 4;
/// `bbr_pacing_gain`, quarters: one phase more, one less, six at the rate.
const CYCLE: [u64; 8] = [5, 3, 4, 4, 4, 4, 4, 4];
/// What ACKs aggregate counts for this long at most (`bbr_extra_acked_max_us`), and is remembered for five to ten rounds.
const AGGREGATION_MOST: Time = Time::from_ms(100);
const AGGREGATION_ROUNDS: u64 = 5;
/// `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`.
const QUANTUM_MOST: u64 = 65_215;
/// Below 1.2 Mbit/s packets leave one by one.
const SINGLY_BELOW: u64 = 150_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The start-up algorithm steers.
    Watching,
    ProbeBw,
    ProbeRtt,
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    flow: u32,
    mode: Mode,
    rounds: Rounds,
    rates: LargestOf,
    policed: Policed,
    min_rtt: Time,
    min_rtt_at: Time,
    /// When `PROBE_RTT` may end; `None`: the window is not yet down.
    probe_rtt_until: Option<Time>,
    probe_rtt_round_over: bool,
    phase: usize,
    phase_since: Time,
    /// Everything was acknowledged, and the application paused.
    restarts: bool,
    extra: [u64; 2],
    extra_slot: usize,
    extra_rounds: u64,
    epoch_since: Time,
    epoch_acked: u64,
    lost: u64,
    losses: u64,
    delivered: u64,
    prior_cwnd: u64,
    repairing: bool,
    /// What had been delivered then, if the repair that begins does not follow another with the same ACK.
    repairs_from: Option<u64>,
    pacing: u64,
}

impl Bbr {
    pub(crate) fn new(flow: u32) -> Self {
        Self {
            flow,
            mode: Mode::Watching,
            rounds: Rounds::default(),
            rates: LargestOf::default(),
            policed: Policed::default(),
            min_rtt: Time::NEVER,
            min_rtt_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_over: false,
            phase: 0,
            phase_since: Time::ZERO,
            restarts: false,
            extra: [0; 2],
            extra_slot: 0,
            extra_rounds: 0,
            epoch_since: Time::ZERO,
            epoch_acked: 0,
            lost: 0,
            losses: 0,
            delivered: 0,
            prior_cwnd: 0,
            repairing: false,
            repairs_from: None,
            pacing: 0,
        }
    }

    pub(crate) fn pacing(&self) -> u64 {
        self.pacing
    }

    /// Samples taken now are the application's, so to speak.
    pub(crate) fn probes_rtt(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    /// `bbr_update_model`, as far as it is no control.
    pub(crate) fn observe(&mut self, ack: &Delivered, cwnd: u64) {
        self.repairing &= !(self.mode == Mode::Watching && ack.open);
        self.losses = ack.lost - self.lost;
        self.lost = ack.lost;
        self.delivered = ack.delivered;
        self.update_rate(ack);
        self.update_aggregation(ack, cwnd);
        if self.mode == Mode::ProbeBw && self.phase_is_over(ack) {
            self.next_phase(ack.now);
        }
        self.update_min_rtt(ack, cwnd);
        if ack.rate > 0 {
            self.restarts = false;
        }
    }

    /// `bbr_set_pacing_rate` and `bbr_set_cwnd`. The window. With the first call, start-up is over.
    pub(crate) fn control(&mut self, ack: &Delivered, cwnd: u64) -> u64 {
        if self.mode == Mode::Watching {
            self.begin_probing(ack);
        }
        self.pacing = self.paced(self.gain());
        let mut cwnd = cwnd;
        if self.repairing && ack.open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.repairing = false;
        }
        let gain = if self.mode == Mode::ProbeRtt { Ratio::ONE } else { Ratio::of(2, 1) };
        let target = self.quantized(self.bdp(gain, ack.mss) + self.aggregated(), ack.mss);
        let least = LEAST_PACKETS * ack.mss;
        cwnd = (cwnd + ack.acked).min(target).max(least);
        if self.mode == Mode::ProbeRtt { cwnd.min(least) } else { cwnd }
    }

    /// A repair begins a round (`bbr_set_cwnd_to_recover_or_restore`), unless the last one has just ended: Linux looks once an ACK.
    pub(crate) fn on_repair(&mut self) {
        if let Some(delivered) = self.repairs_from.take() {
            self.rounds.start(delivered);
        }
    }

    /// The window that a repair ends with: the one that it began with (`bbr_save_cwnd`).
    pub(crate) fn on_loss(&mut self, cwnd: u64) -> u64 {
        self.save_window(cwnd);
        self.repairs_from = (!self.repairing).then_some(self.delivered);
        self.repairing = true;
        self.prior_cwnd
    }

    /// The window before a repair, or before `PROBE_RTT`.
    pub(crate) fn kept(&self) -> u64 {
        self.prior_cwnd
    }

    /// The connection was idle, and sends again.
    pub(crate) fn on_idle(&mut self, now: Time) {
        self.restarts = true;
        (self.epoch_since, self.epoch_acked) = (now, 0);
        if self.mode == Mode::ProbeBw {
            self.pacing = self.paced(Ratio::ONE);
        }
    }

    fn save_window(&mut self, cwnd: u64) {
        let cut = self.repairing || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn rate(&self) -> u64 {
        self.policed.rate().unwrap_or(self.rates.value())
    }

    fn gain(&self) -> Ratio {
        match self.mode {
            Mode::ProbeBw if self.policed.rate().is_none() => Ratio::of(CYCLE[self.phase], 4),
            _ => Ratio::ONE,
        }
    }

    /// One percent below the rate times the gain.
    fn paced(&self, gain: Ratio) -> u64 {
        Ratio::of(99, 100).times(gain.times(self.rate())).max(1)
    }

    fn update_rate(&mut self, ack: &Delivered) {
        self.rounds.began = false;
        if ack.rate == 0 {
            return;
        }
        if self.rounds.advance(ack) {
            self.rates.expire(self.rounds.count, RATE_ROUNDS);
        }
        let steady = self.mode == Mode::ProbeBw;
        if self.policed.on_sample(ack, self.losses, self.rounds.began, steady) {
            self.begin_probing(ack);
        }
        if !ack.paused || ack.rate >= self.rates.value() {
            self.rates.add(self.rounds.count, RATE_ROUNDS, ack.rate);
        }
    }

    fn update_aggregation(&mut self, ack: &Delivered, cwnd: u64) {
        if ack.rate == 0 {
            return;
        }
        if self.rounds.began {
            self.extra_rounds += 1;
            if self.extra_rounds >= AGGREGATION_ROUNDS {
                self.extra_rounds = 0;
                self.extra_slot = 1 - self.extra_slot;
                self.extra[self.extra_slot] = 0;
            }
        }
        let mut expected = volume(self.rate(), ack.now - self.epoch_since);
        if self.epoch_acked <= expected {
            (self.epoch_since, self.epoch_acked, expected) = (ack.now, 0, 0);
        }
        self.epoch_acked += ack.acked;
        let extra = (self.epoch_acked - expected).min(cwnd);
        let slot = &mut self.extra[self.extra_slot];
        *slot = (*slot).max(extra);
    }

    fn aggregated(&self) -> u64 {
        let most = volume(self.rate(), AGGREGATION_MOST);
        self.extra[0].max(self.extra[1]).min(most)
    }

    fn phase_is_over(&self, ack: &Delivered) -> bool {
        let long_enough = self.min_rtt != Time::NEVER && ack.now - self.phase_since > self.min_rtt;
        let (gain, in_net) = (self.gain(), self.in_net(ack));
        match gain.numerator.cmp(&gain.denominator) {
            std::cmp::Ordering::Equal => long_enough,
            std::cmp::Ordering::Greater => {
                let enough = self.quantized(self.bdp_of(self.rates.value(), gain, ack.mss), ack.mss);
                long_enough && (self.losses > 0 || in_net >= enough)
            }
            std::cmp::Ordering::Less => {
                let drained = self.quantized(self.bdp_of(self.rates.value(), Ratio::ONE, ack.mss), ack.mss);
                long_enough || in_net <= drained
            }
        }
    }

    /// What will be in the network when the next packet leaves (`bbr_packets_in_net_at_edt`).
    fn in_net(&self, ack: &Delivered) -> u64 {
        let mut then = ack.before;
        let gain = self.gain();
        if gain.numerator > gain.denominator {
            then += self.quantum(ack.mss);
        }
        then.saturating_sub(volume(self.rate(), ack.departure - ack.now))
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_since = now;
    }

    /// In any phase but the one that slows down.
    fn begin_probing(&mut self, ack: &Delivered) {
        self.mode = Mode::ProbeBw;
        // Linux draws one of seven, and goes on to the next.
        let number = drawn([u64::from(self.flow), ack.delivered], CYCLE.len() as u64 - 1);
        self.phase = CYCLE.len() - 1 - number as usize;
        self.next_phase(ack.now);
    }

    fn update_min_rtt(&mut self, ack: &Delivered, cwnd: u64) {
        let expired = ack.now - self.min_rtt_at > MIN_RTT_LASTS && self.mode != Mode::Watching;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_at) = (rtt, ack.now);
        }
        if expired && !self.restarts && self.mode == Mode::ProbeBw {
            self.save_window(cwnd);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        match self.probe_rtt_until {
            None if ack.in_flight <= LEAST_PACKETS * ack.mss => {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT_LASTS);
                self.probe_rtt_round_over = false;
                self.rounds.start(ack.delivered);
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round_over |= self.rounds.began;
                if self.probe_rtt_round_over && ack.now > until {
                    self.min_rtt_at = ack.now;
                    // The window from before comes back with this ACK.
                    self.repairing = true;
                    self.begin_probing(ack);
                }
            }
        }
    }

    fn bdp(&self, gain: Ratio, mss: u64) -> u64 {
        self.bdp_of(self.rate(), gain, mss)
    }

    /// Whole packets, rounded up; ten without a round-trip time.
    fn bdp_of(&self, rate: u64, gain: Ratio, mss: u64) -> u64 {
        if self.min_rtt == Time::NEVER {
            return 10 * mss;
        }
        gain.times(volume(rate, self.min_rtt)).div_ceil(mss) * mss
    }

    /// What leaves at once: `bbr_tso_segs_goal`.
    fn quantum(&self, mss: u64) -> u64 {
        let least = if self.pacing < SINGLY_BELOW { 1 } else { 2 };
        ((self.pacing >> 10).min(QUANTUM_MOST) / mss).max(least) * mss
    }

    /// `bbr_quantization_budget`: three quanta more, an even number of packets, and two in the phase that probes.
    fn quantized(&self, window: u64, mss: u64) -> u64 {
        let packets = (window + 3 * self.quantum(mss)).div_ceil(mss).next_multiple_of(2);
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        (packets + if probing { 2 } else { 0 }) * mss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(prior_delivered: u64, delivered: u64) -> Delivered {
        Delivered {
            now: Time::from_ms(100),
            mss: 1000,
            acked: 1000,
            delivered,
            prior_delivered,
            rate: 1_000_000,
            rtt: Some(Time::from_ms(20)),
            limited: true,
            open: true,
            ..Delivered::default()
        }
    }

    #[test]
    fn a_quantum_is_64_kb_at_most() {
        let mut bbr = Bbr::new(0);
        let packets = [1_000_000, 66_000_000, 67_000_000, 3_000_000_000].map(|pacing| {
            bbr.pacing = pacing;
            bbr.quantum(1000) / 1000
        });
        assert_eq!(packets, [2, 64, 65, 65]);
    }

    #[test]
    fn a_repair_begins_a_round() {
        // `open`: an ACK after the end of the first repair, if there are two.
        let began = |repairs: usize, open: bool| {
            let mut bbr = Bbr::new(0);
            bbr.observe(&ack(0, 10_000), 20_000);
            for repair in 0..repairs {
                let delivered = 15_000 + 1_000 * repair as u64;
                bbr.observe(&Delivered { open, ..ack(5_000, delivered) }, 20_000);
                bbr.on_loss(20_000);
                bbr.on_repair();
            }
            [10_000, 15_000, 16_000].map(|prior| {
                bbr.observe(&ack(prior, 20_000), 20_000);
                bbr.rounds.count
            })
        };
        assert_eq!(began(0, true), [2, 2, 2]);
        assert_eq!(began(1, true), [1, 2, 2]);
        assert_eq!(began(2, true), [1, 1, 2]);
        assert_eq!(began(2, false), [1, 2, 2], "it follows the first at once");
    }
}
