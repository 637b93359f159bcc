//! BBR's Startups and Drains, from the pseudocode of the drafts (draft-cardwell-iccrg-bbr-congestion-control-00,
//! draft-ietf-ccwg-bbr-06) and, for version 1, Linux's constants and its rules for repairs, timeouts and undone repairs.
//!
//! Both keep what the drafts say a sender keeps of every packet (`P.delivered`), and lists of all samples, where the core has
//! markers and rings.

mod one;
mod quic;
mod three;

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use self::one::One;
use self::quic::Quic;
use self::three::Three;
use super::support::events::runner;
use super::support::{MSS, row};

const MSS_F: f64 = MSS as f64;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    Left,
}

/// What both drafts keep of a connection and its packets.
#[expect(clippy::struct_excessive_bools, reason = "the drafts' own variables")]
#[derive(Default)]
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
            min_rtt: if rtt > 0.0 { rtt } else { f64::INFINITY },
            initial_cwnd: config.initial_window_bytes as f64,
            cwnd: config.initial_window_bytes as f64,
            measured: rtt > 0.0,
            ..Self::default()
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

#[test]
fn quics_version_agrees_with_the_core() {
    let [startup, drain, exits, by_loss] = compare::<Quic>("bbr_quic");
    assert!(startup > 20_000 && drain > 500 && exits > 100, "{startup} {drain} {exits}");
    assert!(by_loss > 5, "{by_loss}");
}
