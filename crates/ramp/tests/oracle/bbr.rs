//! BBR's two Startups and Drains, from the pseudocode of the drafts (draft-cardwell-iccrg-bbr-congestion-control-00,
//! draft-ietf-ccwg-bbr-06) and, for version 1, Linux's constants and its rules for timeouts and undone repairs.
//!
//! Both keep what the drafts say a sender keeps of every packet (`P.delivered`), and lists of all samples, where the core has
//! markers and rings.

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::events::runner;
use super::support::{MSS, row};

const MSS_F: f64 = MSS as f64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Left,
}

/// What both drafts keep of a connection and its packets.
#[expect(clippy::struct_excessive_bools, reason = "the drafts' own variables")]
struct Connection {
    /// (bytes sent, bytes delivered) after each ACK: what is sent later was sent with so much delivered.
    stamps: Vec<(u64, f64)>,
    min_rtt: f64,
    initial_cwnd: f64,
    cwnd: f64,
    prior_cwnd: Option<f64>,
    after_pause: bool,
    pacing: f64,
    measured: bool,
    mode: Mode,
    round: u32,
    next_round_delivered: f64,
    round_start: bool,
    full_bw: f64,
    full_count: u32,
    /// A comparison was too close for floating point.
    close: bool,
}

impl Connection {
    fn new(config: &Config) -> Self {
        let rtt = f64::from(config.handshake_rtt_us) / 1e6;
        Self {
            stamps: Vec::new(),
            min_rtt: if rtt > 0.0 { rtt } else { f64::INFINITY },
            initial_cwnd: config.initial_window_bytes as f64,
            cwnd: config.initial_window_bytes as f64,
            prior_cwnd: None,
            after_pause: false,
            pacing: 0.0,
            measured: rtt > 0.0,
            mode: Mode::Startup,
            round: 0,
            next_round_delivered: 0.0,
            round_start: false,
            full_bw: 0.0,
            full_count: 0,
            close: false,
        }
    }

    /// `P.delivered` of the newest packet that this ACK acknowledges.
    fn packet_delivered(&self, ack: &Ack) -> f64 {
        let before = self.stamps.iter().rev().find(|(sent, _)| *sent < ack.newest_acked_bytes);
        before.map_or(0.0, |(_, delivered)| *delivered)
    }

    fn update_round(&mut self, ack: &Ack) {
        self.round_start = self.packet_delivered(ack) >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = ack.delivered_bytes as f64;
            self.round += 1;
        }
    }

    fn first_rate(&self, window: f64) -> f64 {
        window / if self.min_rtt.is_finite() { self.min_rtt } else { 0.001 }
    }

    fn less(&mut self, a: f64, b: f64, slack: f64) -> bool {
        self.close |= (a - b).abs() <= slack + b.abs() * 1e-6;
        a < b
    }

    fn check_full(&mut self, rate: f64) {
        if self.less(rate, self.full_bw * 1.25, 2.0) {
            self.full_count += 1;
        } else {
            self.full_bw = rate;
            self.full_count = 0;
        }
    }

    /// Slow start towards the target, or down to it once the pipe was full.
    fn set_cwnd(&mut self, ack: &Ack, target: f64) {
        if self.after_pause {
            self.cwnd = self.cwnd.max(self.prior_cwnd.take().unwrap_or(0.0));
            self.after_pause = false;
        }
        let acked = ack.acked_bytes as f64;
        let young = (ack.delivered_bytes as f64) < self.initial_cwnd;
        if self.mode == Mode::Drain {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.less(self.cwnd, target, 8.0) || young {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(4.0 * MSS_F);
    }
}

trait Version {
    fn new(config: &Config) -> Self;
    fn connection(&mut self) -> &mut Connection;
    fn on_ack(&mut self, ack: &Ack);
    fn on_event(&mut self, kind: EventKind);
}

/// Version 1.
struct One {
    c: Connection,
    rates: Vec<(u32, f64)>,
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
        (self.c.pacing / 1024.0).min(8.0 * 65_535.0).max(least * MSS_F)
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
        Self { c, rates: Vec::new() }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.c
    }

    fn on_ack(&mut self, ack: &Ack) {
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
            EventKind::Timeout => self.c.full_bw = 0.0,
            EventKind::Undone => (self.c.full_bw, self.c.full_count) = (0.0, 0),
            _ => {}
        }
    }
}

/// Version 3.
struct Three {
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
        Self {
            c,
            max_bw: 0.0,
            bw: 0.0,
            extra: Vec::new(),
            extra_rounds: 1,
            interval_start_us: 0.0,
            interval_delivered: 0.0,
            lost: 0.0,
            loss_round_delivered: 0.0,
            loss_in_round: false,
            portions: 0,
            lost_before: 0.0,
            flight_before: 0.0,
            drain_start: 0,
            undo: false,
        }
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

#[derive(Clone, Debug)]
enum Step {
    Ack { packets: u64, gap_us: u64, noise: u64, share: u64, lost: u64, limited: bool },
    Event(EventKind),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ack =
        (1..60_u64, 50..20_000_u64, 700..1_100_u64, 20..=100_u64, 0..40_u64, prop::bool::weighted(0.05));
    let ack = ack.prop_map(|(packets, gap_us, noise, share, lost, limited)| Step::Ack {
        packets,
        gap_us,
        noise,
        share,
        lost: lost.saturating_sub(30),
        limited,
    });
    let event = prop::sample::select(EventKind::ALL.to_vec()).prop_map(Step::Event);
    vec(prop_oneof![60 => ack, 1 => event], 1..600)
}

/// The host's side, and a path of so many bytes a second that hides behind the samples.
struct Path {
    capacity: f64,
    base_us: u32,
    now_ns: u64,
    sent: u64,
    acked: u64,
    lost: u64,
    repairing: bool,
}

impl Path {
    fn ack(&mut self, step: &Step, cwnd: u64) -> Option<Ack> {
        let Step::Ack { packets, gap_us, noise, share, lost, limited } = *step else { return None };
        let mss = u64::from(MSS);
        let room = (cwnd / mss).min(5000) * mss * share / 100;
        self.sent = self.sent.max(self.acked + room.max(2 * mss));
        let in_flight = self.sent - self.acked;
        let acked = in_flight.min(packets * mss);
        self.acked += acked;
        self.now_ns += gap_us * 1000;
        if self.repairing {
            self.lost += lost * mss;
        }
        let queue_us = (in_flight as f64 / self.capacity * 1e6) as u32;
        let rtt_us = self.base_us.max(queue_us);
        let rate = (in_flight as f64 / f64::from(rtt_us) * 1e6).min(self.capacity) * noise as f64 / 1000.0;
        Some(Ack {
            now_ns: self.now_ns,
            sent_bytes: self.sent,
            newest_acked_bytes: self.acked,
            delivered_bytes: self.acked,
            acked_bytes: acked,
            in_flight_bytes: in_flight,
            lost_bytes: self.lost,
            receive_window_bytes: UNSET,
            // One sample in a hundred is missing.
            delivery_bytes_per_s: if noise % 100 == 0 { 0 } else { rate as u64 },
            rtt_us,
            mss_bytes: MSS,
            flags: u32::from(limited) * AckFlags::RATE_APP_LIMITED
                + u32::from(self.repairing) * AckFlags::RECOVERING,
            ..Ack::default()
        })
    }
}

fn phase(mode: Mode) -> Phase {
    match mode {
        Mode::Startup => Phase::Startup,
        Mode::Drain => Phase::Leaving,
        Mode::Left => Phase::Done,
    }
}

/// Tells both of an event and does the host's part of it.
fn tell<V: Version>(kind: EventKind, startup: &mut Startup, oracle: &mut V, path: &mut Path) {
    let before = *startup.decision();
    let decision = *startup.on_event(&Event {
        now_ns: path.now_ns,
        lost_bytes: 0,
        in_flight_bytes: 0,
        kind,
        mss_bytes: MSS,
    });
    oracle.on_event(kind);
    let c = oracle.connection();
    let cwnd = before.cwnd_bytes as f64;
    match kind {
        EventKind::Loss | EventKind::Mark | EventKind::Timeout => {
            // SaveCwnd.
            c.prior_cwnd = Some(if path.repairing { cwnd.max(c.prior_cwnd.unwrap_or(0.0)) } else { cwnd });
            path.repairing = true;
            let kept = decision.ssthresh_bytes as f64 - c.prior_cwnd.unwrap_or(0.0);
            assert!((0.0..=1.0).contains(&kept), "a repair ends where it began");
            assert_ne!(decision.ssthresh_bytes, before.ssthresh_bytes, "the host would take its own rule");
            if kind == EventKind::Timeout {
                startup.decision_mut().cwnd_bytes = u64::from(MSS);
            }
        }
        EventKind::Recovered => {
            // RestoreCwnd.
            let restored = cwnd.max(c.prior_cwnd.take().unwrap_or(0.0));
            (path.repairing, c.after_pause) = (false, false);
            assert!((decision.cwnd_bytes as f64 - restored).abs() <= 1.0);
            assert_eq!(decision.ssthresh_bytes, UNSET);
        }
        EventKind::Undone => {
            (path.repairing, c.prior_cwnd) = (false, None);
            startup.decision_mut().ssthresh_bytes = UNSET;
        }
        EventKind::IdleRestart => {
            if !path.repairing {
                c.prior_cwnd = Some(cwnd);
                c.after_pause = true;
                startup.decision_mut().cwnd_bytes = cwnd.min(c.initial_cwnd) as u64;
            }
        }
    }
}

/// Compares over random paths; ACKs compared in start-up and in Drain, exits, and exits by loss.
fn compare<V: Version>(id: &str) -> [u32; 4] {
    let algorithm = row(id);
    let compared = std::cell::RefCell::new([0_u32; 4]);
    let connection = (10_000.0..20_000_000.0_f64, 1_000..300_000_u32, 1..30_u64, any::<bool>());
    runner(400)
        .run(&(connection, steps()), |((capacity, base_us, window, timed), steps)| {
            let mut config = Config::new(algorithm, MSS, window);
            config.handshake_rtt_us = if timed { base_us } else { 0 };
            let mut oracle = V::new(&config);
            let mut startup = Startup::new(algorithm, &config);
            let mut path = Path {
                capacity,
                base_us,
                now_ns: 1_000_000_000,
                sent: 0,
                acked: 0,
                lost: 0,
                repairing: false,
            };
            for step in &steps {
                if let Step::Event(kind) = step {
                    tell(*kind, &mut startup, &mut oracle, &mut path);
                    prop_assert_eq!(startup.decision().phase(), phase(oracle.connection().mode));
                    continue;
                }
                let cwnd = startup.decision().cwnd_bytes;
                let ack = path.ack(step, cwnd).expect("it is no event");
                oracle.connection().cwnd = cwnd as f64;
                oracle.on_ack(&ack);
                let c = oracle.connection();
                c.stamps.push((ack.sent_bytes, ack.delivered_bytes as f64));
                if c.close {
                    break;
                }
                let decision = *startup.on_ack(&ack);
                let near = |core: u64, own: f64| (core as f64 - own).abs() <= 12.0 + own.abs() * 1e-4;
                prop_assert_eq!(decision.phase(), phase(c.mode));
                prop_assert!(near(decision.cwnd_bytes, c.cwnd), "window {} {}", decision.cwnd_bytes, c.cwnd);
                let slot = match c.mode {
                    Mode::Startup => 0,
                    Mode::Drain => 1,
                    Mode::Left => 2,
                };
                compared.borrow_mut()[slot] += 1;
                if c.mode == Mode::Left {
                    compared.borrow_mut()[3] += u32::from(decision.exit_reason() == ExitReason::Loss);
                    break;
                }
                let rate = decision.pacing_bytes_per_s;
                prop_assert!(near(rate, c.pacing), "pacing {rate} {}", c.pacing);
                if path.repairing {
                    // The window is the host's.
                    startup.decision_mut().cwnd_bytes = cwnd;
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{id}: {error}"));
    compared.into_inner()
}

#[test]
fn version_1_agrees_with_the_core() {
    let [startup, drain, exits, by_loss] = compare::<One>("bbr");
    assert!(startup > 20_000 && drain > 500 && exits > 100, "{startup} {drain} {exits}");
    assert_eq!(by_loss, 0);
}

#[test]
fn version_3_agrees_with_the_core() {
    let [startup, drain, exits, by_loss] = compare::<Three>("bbr3");
    assert!(startup > 20_000 && drain > 500 && exits > 100, "{startup} {drain} {exits}");
    assert!(by_loss > 5, "{by_loss}");
}
