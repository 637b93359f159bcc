//! Reach as docs/drafts/reach-specification.md has it, step by step and under its names.
//!
//! `terms` has its numbers and parameters, `flight` what a flight has shown.

mod flight;
mod terms;

use flight::{Flight, Mark, Proof, Quarter};
use terms::{LOW_32, Parameters, apart, minus, plus, share, times};

use rampcc::{Ack, AckFlags, Algorithm, Config, Decision, Event, EventKind, ExitReason, Phase};

/// 2^40.
const CWND_MAX_BYTES: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    None,
    Known,
    Sure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Search,
    Trial,
    Fill,
    Refill,
}

#[derive(Clone, Debug)]
pub(crate) struct Reach {
    is: Parameters,
    /// The connection's limit of packets an ACK; 0: none.
    limit: u64,
    base: u64,
    noise: u64,
    handshake: u64,
    floor: u64,
    rate: u64,
    near_bdp: u64,
    pace: u64,
    step: Step,
    alone: bool,
    growing: bool,
    off: u64,
    clock: Clock,
    apart: u64,
    flight: Flight,
    last: Mark,
    /// An exit by congestion that an undone reduction takes back.
    undo: bool,
    decision: Decision,
}

impl Reach {
    /// **Begin.**
    pub(crate) fn begin(algorithm: &Algorithm, config: &Config) -> Self {
        let mut decision = Decision::new().placed(Phase::Startup, ExitReason::None);
        let mss = u64::from(config.mss_bytes).max(1);
        decision.cwnd_bytes = config.initial_window_bytes.max(mss).min(CWND_MAX_BYTES);
        decision.ssthresh_bytes = config.initial_ssthresh_bytes;
        let is = Parameters::of(algorithm, config);
        let runs = is.tick > 0 && config.tsval > 0;
        Self {
            is,
            limit: u64::from(config.abc_limit_packets),
            base: 0,
            noise: 0,
            handshake: u64::from(config.handshake_rtt_us),
            floor: decision.cwnd_bytes,
            rate: 0,
            near_bdp: 0,
            pace: 0,
            step: Step::Search,
            alone: false,
            growing: false,
            off: 0,
            clock: if runs { Clock::Known } else { Clock::None },
            apart: apart(is.tick, config.now_ns, config.tsval),
            flight: Flight::default(),
            last: Mark::default(),
            undo: false,
            decision,
        }
    }

    pub(crate) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Where the windows are the host's to change.
    pub(crate) fn set_decision(&mut self, decision: Decision) {
        self.decision = decision;
    }

    pub(crate) fn step(&self) -> Step {
        self.step
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    fn lasts(&self) -> bool {
        self.decision.phase() != Phase::Done
    }

    fn hold(&mut self, window: u64, least: u32) {
        self.decision.cwnd_bytes = window.max(u64::from(least).max(1)).min(CWND_MAX_BYTES);
    }

    fn leave(&mut self, reason: ExitReason, evidence: u64, limit: u64) {
        self.decision = self.decision.placed(Phase::Done, reason);
        (self.decision.evidence, self.decision.limit) = (evidence, limit);
        self.decision.pacing_bytes_per_s = 0;
    }

    fn bdp(&self, rate: u64) -> u64 {
        share(rate, self.base, 1_000_000)
    }

    fn roomy(&self, rate: u64) -> u64 {
        share(rate, plus(self.base, self.noise), 1_000_000)
    }

    /// **ACK.**
    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        if !self.lasts() {
            return;
        }
        let recovering = ack.flags & AckFlags::RECOVERING != 0;
        let mut credit = 0;
        let grows = self.step == Step::Search && (self.growing || self.flight.start == 0);
        if grows && ack.flags & AckFlags::CWND_LIMITED != 0 {
            credit = ack.acked_bytes;
            if self.limit > 0 {
                credit = credit.min(times(self.limit, u64::from(ack.mss_bytes)));
            }
        }
        let held = self.near_bdp > 0 && self.decision.cwnd_bytes >= times(2, self.near_bdp);
        if held || recovering {
            credit = 0;
        }
        let mut window = self.decision.cwnd_bytes;
        if window < self.decision.ssthresh_bytes {
            window = plus(window, credit).min(self.decision.ssthresh_bytes);
        }
        self.hold(window, ack.mss_bytes);
        if recovering {
            return;
        }
        let held = self.held(ack);
        let mut left = *ack;
        left.now_ns = minus(ack.now_ns, held);
        if ack.rtt_us > 0 {
            left.rtt_us = minus(u64::from(ack.rtt_us), held / 1000).max(1) as u32;
        }
        self.sample(u64::from(left.rtt_us));
        if self.base > 0 {
            self.measure(&left);
        }
        let Decision { cwnd_bytes, ssthresh_bytes, .. } = self.decision;
        if self.lasts() && cwnd_bytes >= ssthresh_bytes {
            self.leave(ExitReason::Ssthresh, cwnd_bytes, ssthresh_bytes);
        }
    }

    /// **Held.**
    fn held(&mut self, ack: &Ack) -> u64 {
        if self.clock == Clock::None || ack.tsval == 0 || ack.rtt_us == 0 {
            return 0;
        }
        let now = apart(self.is.tick, ack.now_ns, ack.tsval);
        self.apart = self.apart.min(now);
        let (tick, rtt) = (times(1000, self.is.tick), times(1000, u64::from(ack.rtt_us)));
        let held = minus(minus(now, self.apart), tick);
        if self.clock == Clock::Known {
            if rtt < times(12, tick) || times(3, held) > rtt {
                return 0;
            }
            self.clock = Clock::Sure;
        }
        let mut least = self.base;
        if self.handshake > 0 && (least == 0 || self.handshake < least) {
            least = self.handshake;
        }
        let grown = minus(rtt, times(1000, least));
        if held > plus(grown, tick) {
            self.clock = Clock::None;
            return 0;
        }
        held.min(grown)
    }

    /// Step 5 of an ACK.
    fn sample(&mut self, rtt: u64) {
        if rtt == 0 {
            return;
        }
        if self.base == 0 {
            self.base = rtt;
        } else if rtt < self.base {
            self.noise = self.noise.max(self.base - rtt);
            self.base = rtt;
        }
    }

    fn measure(&mut self, ack: &Ack) {
        if ack.newest_sent_ns == 0 {
            return;
        }
        self.last = Mark {
            time: ack.now_ns,
            sent: self.last.sent.max(ack.newest_sent_ns),
            delivered: ack.delivered_bytes,
            newest: self.last.newest.max(ack.newest_acked_bytes),
            rtt: 0,
        };
        self.flight.paused |= ack.flags & AckFlags::APP_LIMITED != 0;
        if self.flight.first.time == 0 {
            self.first_of_flight(ack);
            return;
        }
        let Flight { end, first, .. } = self.flight;
        let done = minus(ack.newest_acked_bytes, first.newest);
        let all = minus(end, first.newest);
        let before = self.flight.quarters.len();
        for i in 1..=3 {
            if self.flight.quarters.len() == i - 1 && times(4, done) >= times(i as u64, all) {
                let units = (minus(ack.now_ns, first.time) / 64) & LOW_32;
                self.flight.quarters.push(Quarter { units, bytes: done.min(LOW_32) });
            }
        }
        if self.flight.quarters.len() > before || ack.newest_acked_bytes >= end {
            self.judge(ack);
        }
    }

    fn first_of_flight(&mut self, ack: &Ack) {
        if ack.newest_acked_bytes <= self.flight.start {
            return;
        }
        let rtt = if ack.rtt_us > 0 { u64::from(ack.rtt_us) } else { self.base };
        self.flight.first = Mark {
            time: ack.now_ns,
            sent: ack.newest_sent_ns,
            delivered: ack.delivered_bytes,
            newest: ack.newest_acked_bytes,
            rtt,
        };
        if self.flight.end == 0 || self.flight.end > ack.sent_bytes {
            self.flight.end = ack.sent_bytes;
        }
        if self.flight.end <= self.flight.first.newest {
            match self.step {
                Step::Search => self.go_on(ack),
                _ => self.flight = Flight::after(self.flight.end),
            }
        }
    }

    fn proof(&self) -> Proof {
        self.flight.proof(&self.is, &self.last, self.base, self.noise)
    }

    fn judge(&mut self, ack: &Ack) {
        match self.step {
            Step::Search if self.flight.quarters.len() >= 2 => self.open(ack),
            Step::Search => {}
            Step::Fill | Step::Refill if ack.newest_acked_bytes >= self.flight.end => self.filled(ack),
            Step::Fill | Step::Refill => {}
            Step::Trial => {
                let proof = self.proof();
                if proof.slowed {
                    self.off = proof.middle_off;
                    self.finish(ExitReason::Share, proof.middle.min(self.rate));
                } else {
                    self.step = Step::Fill;
                    self.send(ack);
                }
            }
        }
    }

    /// What a fill is sent at, in percent of the rate.
    fn share(&self) -> u64 {
        if self.step == Step::Refill { self.is.room } else { self.is.fill }
    }

    fn filled(&mut self, ack: &Ack) {
        let proof = self.proof();
        let (before, came) = (self.rate, proof.middle.min(self.pace));
        let flight = minus(self.flight.end, self.flight.start);
        if proof.clear && came > before && self.bdp(came) <= times(self.is.trust, flight) {
            self.rate = came;
            self.off = proof.middle_off;
            if times(400, came) > times(before, 100 + 3 * self.share()) {
                self.step = Step::Refill;
                self.send(ack);
                return;
            }
        }
        self.finish(ExitReason::Proof, self.rate);
    }

    fn open(&mut self, ack: &Ack) {
        let flight = minus(self.flight.end, self.flight.start);
        if self.flight.start == 0 && self.handshake > 0 {
            self.compare(ack);
        }
        let proof = self.proof();
        let mut proven = self.bdp(proof.rate);
        let trusted = proof.clear && proof.stretched && proven <= times(self.is.trust, flight);
        if trusted && proven > times(self.is.near, flight) {
            self.rate = proof.rate;
            self.off = proof.rate_off;
            self.alone = proof.quiet;
            let tried = self.is.trial < 100 && !self.alone && proven > self.decision.cwnd_bytes;
            self.step = if tried { Step::Trial } else { Step::Fill };
            self.send(ack);
            return;
        }
        if ack.newest_acked_bytes < self.flight.end {
            return;
        }
        let apart = self.bdp(proof.middle).abs_diff(self.near_bdp);
        let agrees = proof.even && (proof.stretched || proof.queued) && times(4, apart) <= self.near_bdp;
        if self.near_bdp > 0 && agrees {
            self.rate = proof.middle;
            self.off = proof.middle_off;
            self.alone = proof.quiet;
            self.finish(ExitReason::Agreement, self.rate);
            return;
        }
        self.near_bdp = if trusted { self.bdp(proof.middle) } else { 0 };
        if self.near_bdp > 0 {
            self.rate = self.rate.max(proof.rate);
            self.go_on(ack);
            return;
        }
        let cap = times(self.is.cap, flight);
        proven = proven.min(cap);
        if proven > self.bdp(self.rate) {
            self.rate = share(1_000_000, proven, self.base);
        }
        let mut next = proven.max(self.bdp(self.rate)).min(cap);
        let limited = ack.flags & AckFlags::CWND_LIMITED != 0;
        if (!self.growing || self.flight.start == 0) && limited {
            next = next.max(times(2, self.decision.cwnd_bytes));
        }
        next = next.min(self.decision.ssthresh_bytes);
        self.pace = 0;
        if next <= self.decision.cwnd_bytes {
            self.go_on(ack);
            return;
        }
        self.pace = share(1_000_000, times(next, self.is.probe), self.base);
        if proof.clear {
            self.pace = self.pace.min(times(2, proof.rate));
        }
        self.growing = false;
        self.hold(next, ack.mss_bytes);
        self.launch(ack);
    }

    /// Step 1 of *open*.
    fn compare(&mut self, ack: &Ack) {
        let (span, bytes) = self.flight.span_and_bytes(&self.last);
        let mss = u64::from(ack.mss_bytes);
        let covered = self.flight.first.newest.min(2 * mss).max(mss);
        let service = share(span, covered, bytes.max(1)) / 1000;
        let most = plus(plus(plus(service, self.handshake), service / 4), 2);
        let off =
            if self.base > most { self.base - most } else { minus(most, plus(plus(self.base, service), 4)) };
        self.noise = self.noise.max(off.min(LOW_32));
        self.base = self.base.min(most);
        self.handshake = 0;
    }

    fn launch(&mut self, ack: &Ack) {
        self.decision.pacing_bytes_per_s = self.pace;
        let room = minus(plus(self.decision.cwnd_bytes, ack.acked_bytes), ack.in_flight_bytes);
        let mss = u64::from(ack.mss_bytes).max(1);
        self.flight = Flight::after(ack.sent_bytes);
        self.flight.end = plus(ack.sent_bytes, times((room / mss).max(1), mss));
    }

    fn send(&mut self, ack: &Ack) {
        let (percent, least) = match self.step {
            Step::Trial => (self.is.trial, self.decision.cwnd_bytes),
            _ => (self.share(), self.floor),
        };
        self.pace = share(self.rate, percent, 100);
        let window = self.roomy(self.pace).max(least);
        self.hold(window.min(self.decision.ssthresh_bytes), ack.mss_bytes);
        self.launch(ack);
    }

    fn go_on(&mut self, ack: &Ack) {
        (self.pace, self.decision.pacing_bytes_per_s) = (0, 0);
        let same = self.growing || self.flight.start == 0;
        self.flight = Flight::after(if same { self.flight.end } else { ack.sent_bytes });
        self.growing = true;
    }

    fn settle(&mut self, rate: u64) {
        let mut window = self.roomy(rate);
        if !self.alone {
            window = share(window, self.is.room, 100);
        }
        self.hold(window.max(self.floor).min(self.decision.ssthresh_bytes), 1);
        self.decision.ssthresh_bytes = self.decision.cwnd_bytes;
    }

    fn finish(&mut self, reason: ExitReason, rate: u64) {
        let bdp = self.bdp(rate);
        let off = plus(share(bdp, self.off, 65_536), minus(self.roomy(rate), bdp));
        self.settle(rate);
        self.leave(reason, off, bdp);
    }

    /// **Events.** The rules of all start-ups are `ramp_leave_on_event`'s.
    pub(crate) fn on_event(&mut self, event: &Event) {
        let mut rate = 0;
        if self.lasts() && matches!(event.kind, EventKind::Loss | EventKind::Mark | EventKind::Timeout) {
            let proof = self.proof();
            let flight = minus(self.flight.end, self.flight.start);
            let within = self.bdp(proof.rate) <= times(self.is.trust, flight);
            // Without a base there is no proof.
            let most = share(1_000_000, times(self.is.cap, flight), self.base.max(1));
            rate = if proof.clear && proof.stretched && within {
                proof.middle
            } else {
                self.rate.max(proof.rate.min(most))
            };
            if rate > 0 && event.kind != EventKind::Timeout {
                let before = self.decision.cwnd_bytes;
                self.settle(rate);
                let most = share(before, self.is.beta, 100);
                self.hold(self.decision.cwnd_bytes.min(most), event.mss_bytes);
                self.decision.ssthresh_bytes = self.decision.cwnd_bytes;
            }
        }
        let bdp = self.bdp(rate);
        match event.kind {
            EventKind::Loss => self.congestion(ExitReason::Loss, event.lost_bytes, bdp),
            EventKind::Mark => self.congestion(ExitReason::Ecn, 0, bdp),
            EventKind::Timeout => self.congestion(ExitReason::Timeout, event.lost_bytes, bdp),
            EventKind::Undone if self.undo => {
                self.undo = false;
                self.decision = self.decision.placed(Phase::Startup, ExitReason::None);
                (self.decision.evidence, self.decision.limit) = (0, 0);
                self.hold(self.decision.cwnd_bytes, event.mss_bytes);
                self.decision.pacing_bytes_per_s = self.pace;
            }
            EventKind::IdleRestart => {
                self.step = Step::Search;
                (self.rate, self.pace, self.near_bdp, self.alone) = (0, 0, 0, false);
                if self.clock == Clock::Sure {
                    self.apart = u64::MAX;
                }
                self.decision.pacing_bytes_per_s = 0;
                self.flight = Flight::after(self.last.newest);
            }
            EventKind::Undone | EventKind::Recovered => {}
        }
    }

    fn congestion(&mut self, reason: ExitReason, lost: u64, proved: u64) {
        self.undo = self.lasts();
        if self.lasts() {
            self.leave(reason, lost, proved);
        }
    }
}
