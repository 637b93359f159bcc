//! BBR version 3 after start-up: `ProbeBW` and `ProbeRTT` as in draft-ietf-ccwg-bbr-06 §5.3.3, §5.3.4, §5.5 and §5.6.
//!
//! Startup and Drain are the core's (`include/ramp/bbr3.h`). The model here follows every ACK from the first, and takes over when
//! the core is done. Then it cycles: *down* drains the queue, *cruise* keeps to the rate and leaves room for others, *refill* takes
//! that room back for a round, and *up* asks for more. Losses while it asks bound what is in flight for long ([`Bounds::long`]);
//! losses otherwise bound rate and flight until it asks again.
//!
//! Deviates: what an ACK finds lost counts with the next ACK, and so does that losses ended start-up.
//! Deviates: `ProbeRTT` comes every five seconds, as in Google's tree; the draft's editors have since made it ten.
//! Deviates: marks (ECN) are not heard; the draft has no rule for them.

use rampcc::Time;

use crate::bounds::{Bounds, flight_at, too_many};
use crate::model::{Delivered, LargestOf, Lost, Ratio, Rounds, Startup, drawn, volume};

/// Rounds that ACK aggregation is remembered, in start-up and after (`ExtraAckedFilterLen`).
const EXTRA_STARTING: u64 = 1;
const EXTRA_ROUNDS: u64 = 10;
/// `MinRTTFilterLen`, `ProbeRTTInterval` and `ProbeRTTDuration`.
const MIN_RTT_LASTS: Time = Time::from_secs(10);
const PROBE_RTT_EVERY: Time = Time::from_secs(5);
const PROBE_RTT_LASTS: Time = Time::from_ms(200);
/// `MinPipeCwnd`, packets.
const LEAST_PACKETS: u64 = 4;
/// `PickProbeWait`: two to three seconds, or as many rounds as a Reno flow has between its losses, 63 at most.
const WAIT_LEAST: Time = Time::from_secs(2);
const WAIT_SPREAD_US: u64 = 1_000_000;
const RENO_ROUNDS: u64 = 63;
/// The pipe is full after three rounds without a quarter more.
const GROWTH: Ratio = Ratio::of(5, 4);
const FULL_ROUNDS: u32 = 3;
const QUANTUM_MOST: u64 = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The core steers.
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn cycles(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    fn probes(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Hundredths: how fast, and how much in flight.
    fn gains(self) -> (u64, u64) {
        match self {
            Self::Startup => (277, 200),
            Self::Drain => (50, 200),
            Self::Down => (90, 200),
            Self::Cruise | Self::Refill => (100, 200),
            Self::Up => (125, 225),
            Self::ProbeRtt => (100, 50),
        }
    }
}

/// The state of BBR.
#[expect(clippy::struct_excessive_bools, reason = "the draft's")]
#[derive(Clone, Debug)]
pub struct Bbr3 {
    flow: u32,
    state: State,
    rounds: Rounds,
    /// Largest rate of this cycle and of the last one.
    rates: [u64; 2],
    bounds: Bounds,
    /// What ACKs brought beyond the rate, since when, and its largest of the last rounds.
    extra: LargestOf,
    extra_since: Time,
    extra_acked: u64,
    min_rtt: Time,
    min_rtt_at: Time,
    recent_rtt: Time,
    recent_rtt_at: Time,
    /// When `ProbeRTT` may end; `None`: the window is not yet down.
    probe_rtt_until: Option<Time>,
    probe_rtt_round_over: bool,
    cycle_since: Time,
    wait: Time,
    rounds_since_probe: u64,
    /// The full-pipe estimator of *up*.
    full_rate: u64,
    full_rounds: u32,
    /// Samples come from the last probe, which has not been answered.
    probe_samples: bool,
    /// *Up* is over, and a round of its samples is still to come.
    stopping: bool,
    too_high: bool,
    precautionary: bool,
    /// Losses ended the last *up*.
    cut_short: bool,
    /// Everything was acknowledged, and the application paused.
    restarts: bool,
    prior_cwnd: u64,
    repairing: bool,
    delivered: u64,
    pacing: u64,
}

impl Bbr3 {
    pub(crate) fn new(flow: u32) -> Self {
        Self {
            flow,
            state: State::Startup,
            rounds: Rounds::default(),
            rates: [0; 2],
            bounds: Bounds::new(),
            extra: LargestOf::default(),
            extra_since: Time::ZERO,
            extra_acked: 0,
            min_rtt: Time::NEVER,
            min_rtt_at: Time::ZERO,
            recent_rtt: Time::NEVER,
            recent_rtt_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_over: false,
            cycle_since: Time::ZERO,
            wait: Time::ZERO,
            rounds_since_probe: 0,
            full_rate: 0,
            full_rounds: 0,
            probe_samples: false,
            stopping: false,
            too_high: false,
            precautionary: false,
            cut_short: false,
            restarts: false,
            prior_cwnd: 0,
            repairing: false,
            delivered: 0,
            pacing: 0,
        }
    }

    pub(crate) fn pacing(&self) -> u64 {
        self.pacing
    }

    /// Samples taken now are the application's, so to speak.
    pub(crate) fn probes_rtt(&self) -> bool {
        self.state == State::ProbeRtt
    }

    /// `UpdateModelAndState`. `lost`: what has been found lost since the last ACK.
    pub(crate) fn observe(&mut self, ack: &Delivered, cwnd: u64, lost: &[Lost]) {
        for lost in lost {
            self.on_lost(lost, ack, cwnd);
        }
        self.delivered = ack.delivered;
        self.follow_startup(ack);
        self.rounds.began = false;
        if ack.rate > 0 {
            self.rounds.advance(ack);
            self.rounds_since_probe += u64::from(self.rounds.began);
            self.bounds.begin_sample(ack);
            if !ack.paused || ack.rate >= self.max_rate() {
                self.rates[0] = self.rates[0].max(ack.rate);
            }
            self.bounds.adapt(cwnd, self.max_rate(), self.state.probes());
            self.update_aggregation(ack, cwnd);
            self.update_phase(ack, cwnd);
        }
        self.update_min_rtt(ack, cwnd);
        if ack.rate > 0 {
            self.bounds.end_sample(ack);
            self.restarts = false;
        }
    }

    /// `UpdateControlParameters`. The window. With the first call, start-up is over.
    pub(crate) fn control(&mut self, ack: &Delivered, cwnd: u64) -> u64 {
        self.follow_startup(ack);
        if matches!(self.state, State::Startup | State::Drain) {
            self.go_down(ack.now);
        }
        let (pace, window) = self.state.gains();
        self.pacing = self.paced(pace);
        let mut cwnd = cwnd;
        if self.repairing && ack.open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.repairing = false;
        }
        let most = self.budget(
            Ratio::of(window, 100).times(self.bdp(self.rate(), ack.mss)) + self.extra.value(),
            ack.mss,
        );
        let least = LEAST_PACKETS * ack.mss;
        cwnd = (cwnd + ack.acked).min(most).max(least);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_window(ack.mss));
        }
        let cap = match self.state {
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(ack.mss, least),
            _ => self.bounds.long,
        };
        cwnd.min(cap.min(self.bounds.short).max(least))
    }

    /// The window that a repair ends with: the one that it began with (`SaveCwnd`).
    pub(crate) fn on_loss(&mut self, cwnd: u64) -> u64 {
        self.save_window(cwnd);
        self.repairing = true;
        self.prior_cwnd
    }

    /// After `on_loss`.
    pub(crate) fn on_timeout(&mut self) {
        if !self.state.probes() {
            self.bounds.on_timeout(self.prior_cwnd);
        }
        (self.full_rate, self.full_rounds) = (0, 0);
    }

    /// `HandleSpuriousLossDetection`, but for the window, which the sender gives back.
    pub(crate) fn on_undone(&mut self) {
        self.bounds.on_undone();
        (self.full_rate, self.full_rounds) = (0, 0);
        if self.cut_short && self.state.cycles() && self.state != State::Up {
            self.refill();
        }
        self.cut_short = false;
        self.repairing = false;
    }

    /// The connection was idle, and sends again.
    pub(crate) fn on_idle(&mut self, now: Time) {
        self.restarts = true;
        (self.extra_since, self.extra_acked) = (now, 0);
        if self.state.cycles() {
            self.pacing = self.paced(100);
        } else if self.state == State::ProbeRtt && self.probe_rtt_until.is_some_and(|until| now > until) {
            self.end_probe_rtt(now);
        }
    }

    fn save_window(&mut self, cwnd: u64) {
        let cut = self.repairing || self.state == State::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn max_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }

    fn rate(&self) -> u64 {
        self.max_rate().min(self.bounds.rate)
    }

    /// One percent below the rate times the gain in hundredths.
    fn paced(&self, gain: u64) -> u64 {
        Ratio::of(99, 100).times(Ratio::of(gain, 100).times(self.rate())).max(1)
    }

    /// What the core has done: it has left Startup, is done, or begins again.
    fn follow_startup(&mut self, ack: &Delivered) {
        match ack.startup {
            Startup::Rising => {
                self.repairing &= !ack.open;
                self.state = State::Startup;
            }
            Startup::Left { lossy } if self.state == State::Startup => {
                self.state = State::Drain;
                if lossy {
                    self.bounds.end_startup(self.bdp(self.rate(), ack.mss));
                }
            }
            Startup::Left { .. } => self.repairing &= !(self.state == State::Drain && ack.open),
        }
    }

    /// `HandleLostPacket`
    fn on_lost(&mut self, lost: &Lost, ack: &Delivered, cwnd: u64) {
        let delivered = ack.delivered - ack.acked;
        self.bounds.on_loss(delivered);
        if !self.probe_samples || !too_many(lost.since, lost.sent_into) {
            return;
        }
        self.too_high = true;
        self.probe_samples = false;
        if !lost.paused {
            self.bounds.lower(flight_at(lost), self.target(cwnd, ack.mss));
        }
        if self.state == State::Up {
            self.cut_short = true;
            self.delivered = delivered;
            self.go_down(ack.now);
        }
    }

    fn update_aggregation(&mut self, ack: &Delivered, cwnd: u64) {
        let mut expected = volume(self.rate(), ack.now - self.extra_since);
        if self.extra_acked <= expected {
            (self.extra_since, self.extra_acked, expected) = (ack.now, 0, 0);
        }
        self.extra_acked += ack.acked;
        let span = if self.state == State::Startup { EXTRA_STARTING } else { EXTRA_ROUNDS };
        self.extra.expire(self.rounds.count, span);
        self.extra.add(self.rounds.count, span, (self.extra_acked - expected).min(cwnd));
    }

    /// `UpdateProbeBWCyclePhase`
    fn update_phase(&mut self, ack: &Delivered, cwnd: u64) {
        if self.state == State::Startup || self.adapt_long_term(ack, cwnd) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack, cwnd) => self.refill(),
            State::Down => {
                let drained = self.budget(self.bdp(self.max_rate(), ack.mss), ack.mss);
                let room = self.bounds.with_headroom(ack.mss, LEAST_PACKETS * ack.mss);
                if ack.in_flight <= drained.min(room) {
                    self.state = State::Cruise;
                }
            }
            State::Refill if self.rounds.began => self.go_up(ack, cwnd),
            State::Up => self.stay_up(ack, cwnd),
            _ => {}
        }
    }

    /// `AdaptLongTermModel`. Whether it has decided what comes next.
    fn adapt_long_term(&mut self, ack: &Delivered, cwnd: u64) -> bool {
        if self.stopping && self.rounds.began {
            self.probe_samples = false;
            self.stopping = false;
            if self.state.cycles() && !ack.paused && self.rates[0] > 0 {
                self.rates = [0, self.rates[0]];
            }
            if self.state.cycles() && self.precautionary && !self.too_high {
                self.refill();
                return true;
            }
        }
        self.bounds.raise(ack);
        if self.state == State::Up {
            self.bounds.probe_upward(ack, cwnd, self.rounds.began);
        }
        false
    }

    fn is_time_to_probe(&self, ack: &Delivered, cwnd: u64) -> bool {
        let reno = (self.target(cwnd, ack.mss) / ack.mss).min(RENO_ROUNDS);
        ack.now > self.cycle_since + self.wait || self.rounds_since_probe >= reno
    }

    fn stay_up(&mut self, ack: &Delivered, cwnd: u64) {
        if self.is_time_to_go_down(ack, cwnd) {
            self.too_high = false;
            self.go_down(ack.now);
        }
    }

    fn is_time_to_go_down(&mut self, ack: &Delivered, cwnd: u64) -> bool {
        if self.too_high && ack.in_flight >= self.bounds.long {
            self.precautionary = true;
            return true;
        }
        if self.bounds.holds(ack, cwnd) {
            (self.full_rate, self.full_rounds) = (ack.rate, 0);
            return false;
        }
        self.is_full(ack)
    }

    /// `CheckFullBWReached`
    fn is_full(&mut self, ack: &Delivered) -> bool {
        if self.full_rounds < FULL_ROUNDS && self.rounds.began && !ack.paused {
            if ack.rate >= GROWTH.times(self.full_rate) {
                (self.full_rate, self.full_rounds) = (ack.rate, 0);
            } else {
                self.full_rounds += 1;
            }
        }
        self.full_rounds >= FULL_ROUNDS
    }

    fn go_down(&mut self, now: Time) {
        self.bounds.forget_round();
        // Sources draw both at random.
        self.rounds_since_probe = drawn([u64::from(self.flow), self.delivered], 2);
        self.wait = WAIT_LEAST + Time::from_us(drawn([self.delivered, u64::from(self.flow)], WAIT_SPREAD_US));
        self.cycle_since = now;
        self.stopping = true;
        self.rounds.start(self.delivered);
        self.state = State::Down;
    }

    fn refill(&mut self) {
        self.bounds.prepare_probe();
        self.precautionary = false;
        self.stopping = false;
        self.rounds.start(self.delivered);
        self.state = State::Refill;
    }

    fn go_up(&mut self, ack: &Delivered, cwnd: u64) {
        self.probe_samples = true;
        self.cut_short = false;
        self.rounds.start(self.delivered);
        (self.full_rate, self.full_rounds) = (ack.rate, 0);
        self.state = State::Up;
        self.bounds.steepen(cwnd, ack.mss);
    }

    fn update_min_rtt(&mut self, ack: &Delivered, cwnd: u64) {
        let steers = !matches!(self.state, State::Startup | State::Drain);
        let stale = steers && ack.now - self.recent_rtt_at > PROBE_RTT_EVERY;
        if let Some(rtt) = ack.rtt
            && (rtt < self.recent_rtt || stale)
        {
            (self.recent_rtt, self.recent_rtt_at) = (rtt, ack.now);
        }
        let expired = steers && ack.now - self.min_rtt_at > MIN_RTT_LASTS;
        if self.recent_rtt <= self.min_rtt || expired {
            (self.min_rtt, self.min_rtt_at) = (self.recent_rtt, self.recent_rtt_at);
        }
        if stale && !self.restarts && self.state.cycles() {
            self.save_window(cwnd);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.stopping = true;
            self.rounds.start(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack);
        }
    }

    fn probe_rtt(&mut self, ack: &Delivered) {
        match self.probe_rtt_until {
            None if ack.in_flight <= self.probe_rtt_window(ack.mss) => {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT_LASTS);
                self.probe_rtt_round_over = false;
                self.rounds.start(ack.delivered);
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round_over |= self.rounds.began;
                if self.probe_rtt_round_over && ack.now > until {
                    self.end_probe_rtt(ack.now);
                }
            }
        }
    }

    fn end_probe_rtt(&mut self, now: Time) {
        self.recent_rtt_at = now;
        // The window from before comes back with this ACK.
        self.repairing = true;
        self.bounds.forget_short();
        self.go_down(now);
        self.state = State::Cruise;
    }

    fn probe_rtt_window(&self, mss: u64) -> u64 {
        Ratio::of(State::ProbeRtt.gains().1, 100).times(self.bdp(self.rate(), mss)).max(LEAST_PACKETS * mss)
    }

    /// `TargetInflight`: what is wanted in flight.
    fn target(&self, cwnd: u64, mss: u64) -> u64 {
        self.bdp(self.rate(), mss).min(cwnd)
    }

    /// Ten packets without a round-trip time.
    fn bdp(&self, rate: u64, mss: u64) -> u64 {
        if self.min_rtt == Time::NEVER { 10 * mss } else { volume(rate, self.min_rtt) }
    }

    /// `QuantizationBudget`: three quanta of a millisecond, four packets, and two more where it asks for more.
    fn budget(&self, window: u64, mss: u64) -> u64 {
        let quantum = (self.pacing / 1000).min(QUANTUM_MOST).max(2 * mss);
        let probing = if self.state == State::Up { 2 * mss } else { 0 };
        window.max(3 * quantum).max(LEAST_PACKETS * mss) + probing
    }
}

#[cfg(test)]
mod tests;
