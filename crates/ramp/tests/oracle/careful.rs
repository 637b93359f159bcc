//! RFC 9959 §3, rule by rule, with a list of the packets that are under way.
//!
//! Normal congestion control is slow start. What the core leaves to its host (the reduction for a loss, the window
//! during recovery) the connection here does.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, AckFlags, Config, Event, EventKind, Hint, HintSource, Phase, Startup, UNSET};

use super::support::events::runner;
use super::support::{MSS, config, row};

const PACKET: f64 = MSS as f64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Reconnaissance,
    Unvalidated,
    Validating,
    SafeRetreat,
    Normal,
}

/// The sender of the RFC. Windows in packets, times in milliseconds.
#[derive(Clone, Debug, Default)]
struct Resuming {
    stage: Stage,
    cwnd: f64,
    ssthresh: f64,
    iw: f64,
    saved_cwnd: f64,
    saved_rtt: f64,
    min_rtt: f64,
    pipe_size: f64,
    entered: f64,
    current_rtt: f64,
    first_unvalidated: Option<u64>,
    last_unvalidated: Option<u64>,
    last_unvalidated_arrived: bool,
    congestion: bool,
    pacing: Option<f64>,
}

/// An acknowledgement: the numbers of packets, as they left.
struct Arrived {
    now: f64,
    rtt: f64,
    packets: f64,
    highest: u64,
    next: u64,
    flight_before: f64,
    limited: bool,
}

impl Resuming {
    fn flight_after(seen: &Arrived) -> f64 {
        seen.flight_before - seen.packets
    }

    fn slow_start(&mut self, seen: &Arrived) {
        if seen.limited && self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + seen.packets).min(self.ssthresh);
        }
    }

    fn acknowledged(&mut self, seen: &Arrived) {
        self.min_rtt = self.min_rtt.min(seen.rtt);
        match self.stage {
            Stage::Normal => self.slow_start(seen),
            Stage::Reconnaissance => self.reconnoitre(seen),
            Stage::Unvalidated => self.unvalidated(seen),
            Stage::Validating => self.validating(seen),
            Stage::SafeRetreat => self.retreat(seen),
        }
    }

    /// §3.2
    fn reconnoitre(&mut self, seen: &Arrived) {
        self.slow_start(seen);
        let initial_data_acknowledged = seen.highest + 1 >= self.iw as u64;
        if !(initial_data_acknowledged && seen.limited) || self.cwnd >= self.ssthresh {
            return;
        }
        let too_small = self.min_rtt <= self.saved_rtt / 2.0;
        let too_large = self.min_rtt > self.saved_rtt * 10.0;
        let jump = self.saved_cwnd / 2.0;
        if too_small || too_large || jump <= self.cwnd {
            self.stage = Stage::Normal;
            return;
        }
        // §3.3, on entry
        self.stage = Stage::Unvalidated;
        self.pipe_size = Self::flight_after(seen);
        self.cwnd = jump;
        self.pacing = Some(jump / seen.rtt);
        self.current_rtt = seen.rtt;
        self.entered = seen.now;
        self.first_unvalidated = Some(seen.next);
        // Appendix A: the highest that was sent when the phase is entered, and so in each that follows.
        self.last_unvalidated = seen.next.checked_sub(1);
    }

    fn unvalidated(&mut self, seen: &Arrived) {
        self.last_unvalidated = seen.next.checked_sub(1);
        if self.cwnd - seen.flight_before < 1.0 {
            // Completed sending: it was so when the last packet left.
            self.check_flight_size(seen.flight_before);
            self.acknowledged(seen);
            return;
        }
        self.pipe_size += seen.packets;
        if seen.rtt <= self.saved_rtt / 2.0 {
            self.pacing = None;
            self.stage = Stage::SafeRetreat;
            self.cwnd = (self.pipe_size / 2.0).max(2.0);
        } else if self.first_unvalidated.is_some_and(|first| seen.highest >= first)
            || seen.now - self.entered > self.current_rtt
        {
            self.check_flight_size(Self::flight_after(seen));
        }
    }

    fn check_flight_size(&mut self, flight_size: f64) {
        self.pacing = None;
        if flight_size < self.iw || flight_size <= self.pipe_size {
            self.cwnd = self.pipe_size.max(self.iw);
            self.stage = Stage::Normal;
        } else {
            self.cwnd = flight_size;
            self.stage = Stage::Validating;
        }
    }

    /// §3.4
    fn validating(&mut self, seen: &Arrived) {
        self.pipe_size += seen.packets;
        self.slow_start(seen);
        if self.last_unvalidated.is_none_or(|last| seen.highest >= last) {
            self.stage = Stage::Normal;
        }
    }

    /// §3.5; the window is the host's if it repairs a loss.
    fn retreat(&mut self, seen: &Arrived) {
        if !self.last_unvalidated_arrived {
            self.pipe_size += seen.packets;
        }
        if self.last_unvalidated.is_none_or(|last| seen.highest >= last) {
            self.last_unvalidated_arrived = true;
            if !self.congestion {
                self.leave_retreat();
            }
        }
    }

    fn leave_retreat(&mut self) {
        let ssthresh = (self.pipe_size * 0.5).max(2.0);
        self.ssthresh = if self.congestion { ssthresh } else { self.ssthresh.min(ssthresh) };
        self.stage = Stage::Normal;
    }

    /// True if that is a retreat; what else congestion does is the host's.
    fn congestion(&mut self) -> bool {
        let untested = matches!(self.stage, Stage::Unvalidated | Stage::Validating | Stage::SafeRetreat);
        if untested {
            self.stage = Stage::SafeRetreat;
            self.congestion = true;
            self.pacing = None;
            self.ssthresh = (self.pipe_size / 2.0).max(2.0);
        }
        untested
    }
}

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// As many packets of those under way as there are, after the sender has sent this share of its window.
    Ack {
        packets: u32,
        share: u32,
        rtt_ms: u32,
        wait_ms: u32,
    },
    Loss(EventKind),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rtt = prop_oneof![20 => 90..110_u32, 1 => 40..60_u32];
    let ack = (
        1..4_u32,
        prop_oneof![3 => Just(100), 1 => 0..100_u32],
        rtt,
        prop_oneof![9 => 0..3_u32, 1 => 50..120_u32],
    )
        .prop_map(|(packets, share, rtt_ms, wait_ms)| Step::Ack { packets, share, rtt_ms, wait_ms });
    let kinds = prop::sample::select(vec![EventKind::Loss, EventKind::Mark]);
    vec(prop_oneof![150 => ack, 1 => kinds.prop_map(Step::Loss)], 1..500)
}

/// What was compared: ACKs in each stage of the oracle, and retreats that ended.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    acks: [u32; 5],
    retreats: u32,
}

/// What is remembered of an earlier connection.
#[derive(Clone, Copy)]
struct Saved {
    packets: u32,
    rtt_ms: u32,
}

fn set_up(startup: &mut Startup, saved: Saved, window: u32) -> Resuming {
    let mut config: Config = config(row("careful"), u64::from(window));
    config.handshake_rtt_us = 100_000;
    config.hint = Hint::of(HintSource::History);
    config.hint.window_bytes = u64::from(saved.packets * MSS);
    config.hint.rtt_us = saved.rtt_ms * 1000;
    startup.begin(&config);
    Resuming {
        cwnd: f64::from(window),
        ssthresh: f64::INFINITY,
        iw: f64::from(window),
        saved_cwnd: f64::from(saved.packets),
        saved_rtt: f64::from(saved.rtt_ms),
        min_rtt: 100.0,
        ..Resuming::default()
    }
}

/// The packets under way by number, with the time at which each left.
#[derive(Default)]
struct Network {
    under_way: BTreeMap<u64, u32>,
    next: u64,
    now_ms: u32,
}

impl Network {
    fn send(&mut self, cwnd: f64, share: u32) {
        let room = (cwnd as u64).saturating_sub(self.under_way.len() as u64) * u64::from(share) / 100;
        for _ in 0..room {
            self.under_way.insert(self.next, self.now_ms);
            self.next += 1;
        }
    }

    fn deliver(&mut self, packets: u32, rtt_ms: u32, limited: bool) -> Option<(Ack, Arrived)> {
        let flight = self.under_way.len() as u64;
        let arrived: Vec<u64> = self.under_way.keys().copied().take(packets as usize).collect();
        let highest = *arrived.last()?;
        for packet in &arrived {
            self.under_way.remove(packet);
        }
        let bytes = |packets: u64| packets * u64::from(MSS);
        let ack = Ack {
            now_ns: 1 + u64::from(self.now_ms) * 1_000_000,
            sent_bytes: bytes(self.next),
            newest_acked_bytes: bytes(highest + 1),
            delivered_bytes: bytes(highest + 1),
            acked_bytes: bytes(arrived.len() as u64),
            in_flight_bytes: bytes(flight),
            receive_window_bytes: UNSET,
            rtt_us: rtt_ms * 1000,
            mss_bytes: MSS,
            flags: if limited { AckFlags::CWND_LIMITED } else { 0 },
            ..Ack::default()
        };
        let seen = Arrived {
            now: f64::from(self.now_ms),
            rtt: f64::from(rtt_ms),
            packets: arrived.len() as f64,
            highest,
            next: self.next,
            flight_before: flight as f64,
            limited,
        };
        Some((ack, seen))
    }
}

/// The host's recovery: until everything that was under way has arrived, and the end of it.
fn repair(startup: &mut Startup, oracle: &mut Resuming, network: &mut Network) -> Result<(), TestCaseError> {
    while let Some((mut ack, seen)) = network.deliver(2, 100, false) {
        ack.flags = AckFlags::RECOVERING;
        startup.on_ack(&ack);
        oracle.acknowledged(&seen);
        let ssthresh = startup.decision().ssthresh_bytes as f64 / PACKET;
        prop_assert!((ssthresh - oracle.ssthresh).abs() < 1.0 / PACKET, "{ssthresh} {oracle:?}");
        prop_assert_eq!(startup.decision().phase(), Phase::Leaving);
    }
    let over =
        Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind: EventKind::Recovered, mss_bytes: MSS };
    startup.on_event(&over);
    oracle.leave_retreat();
    let ssthresh = startup.decision().ssthresh_bytes as f64 / PACKET;
    prop_assert!((ssthresh - oracle.ssthresh).abs() < 1.0 / PACKET, "{ssthresh} {oracle:?}");
    prop_assert_eq!(startup.decision().phase(), Phase::Done);
    Ok(())
}

#[test]
fn careful_resume_follows_rfc_9959() {
    let compared = std::cell::Cell::new(Compared::default());
    let saved = (10..400_u32, prop_oneof![8 => 60..180_u32, 1 => 5..12_u32, 1 => 180..260_u32]);
    runner(600)
        .run(&(saved, 1..20_u32, steps()), |(saved, window, steps)| {
            let algorithm = row("careful");
            let mut startup = Startup::new(algorithm, &config(algorithm, 10));
            let (packets, rtt_ms) = saved;
            let mut oracle = set_up(&mut startup, Saved { packets, rtt_ms }, window);
            let mut network = Network::default();
            for step in steps {
                let mut counts = compared.get();
                match step {
                    Step::Ack { packets, share, rtt_ms, wait_ms } => {
                        network.now_ms += wait_ms;
                        network.send(oracle.cwnd.min(2000.0), share);
                        let Some((ack, seen)) = network.deliver(packets, rtt_ms, share == 100) else {
                            continue;
                        };
                        counts.acks[oracle.stage as usize] += 1;
                        startup.on_ack(&ack);
                        oracle.acknowledged(&seen);
                        let decision = *startup.decision();
                        let cwnd = decision.cwnd_bytes as f64 / PACKET;
                        prop_assert!((cwnd - oracle.cwnd).abs() < 1.0 / PACKET, "{cwnd} {oracle:?}");
                        let rate = oracle.pacing.map_or(0.0, |rate| rate * PACKET * 1000.0);
                        prop_assert!((decision.pacing_bytes_per_s as f64 - rate).abs() <= 1.0, "{oracle:?}");
                    }
                    Step::Loss(kind) => {
                        let event =
                            Event { now_ns: 0, lost_bytes: 1, in_flight_bytes: 1, kind, mss_bytes: MSS };
                        startup.on_event(&event);
                        if oracle.congestion() {
                            repair(&mut startup, &mut oracle, &mut network)?;
                            counts.retreats += 1;
                        }
                        prop_assert_eq!(startup.decision().phase(), Phase::Done);
                    }
                }
                compared.set(counts);
                if startup.decision().phase() == Phase::Done {
                    break;
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let counts = compared.get();
    assert!(counts.acks.iter().all(|&acks| acks > 50) && counts.retreats > 40, "too few: {counts:?}");
}
