//! Adaptive Start as its papers are described: every ACK kept, real numbers, each interval counted afresh.

use proptest::prelude::*;
use rampcc::{AckFlags, Event, EventKind, Phase, Startup};

use super::support::events::{Host, Input, Step, plausible_acks, runner};
use super::support::{MSS, config, row};

/// An ACK that made a sample: when it came, and how many packets had arrived by then.
#[derive(Clone, Copy)]
struct Arrival {
    at: f64,
    delivered: f64,
}

#[derive(Default)]
struct AdaptiveStart {
    cwnd: f64,
    ssthresh: f64,
    rtt: f64,
    rtt_min: f64,
    delivered: f64,
    arrivals: Vec<Arrival>,
    /// Packets a second.
    eligible: f64,
    throughput: f64,
    samples: Vec<f64>,
    instability: Vec<f64>,
    /// Whether an ACK was in an interval hung on less than a thousandth of it: what follows may differ.
    undecided: bool,
}

impl AdaptiveStart {
    fn on_ack(&mut self, at: f64, acked: f64, rtt: Option<f64>, window_full: bool) {
        self.delivered += acked;
        if let Some(rtt) = rtt {
            self.rtt = rtt;
            self.rtt_min = if self.rtt_min > 0.0 { self.rtt_min.min(rtt) } else { rtt };
        }
        if self.rtt > 0.0 {
            self.measure(at);
        }
        self.ssthresh = self.ssthresh.max(self.eligible * self.rtt_min);
        if window_full {
            let room = self.ssthresh - self.cwnd;
            self.cwnd += if room > 0.0 { acked.min(room) } else { acked / self.cwnd };
        }
    }

    fn measure(&mut self, at: f64) {
        let now = Arrival { at, delivered: self.delivered };
        let Some(&before) = self.arrivals.last() else {
            self.arrivals.push(now);
            return;
        };
        let apart = at - before.at;
        if apart <= 0.0 || now.delivered <= before.delivered {
            return;
        }
        let instant = (now.delivered - before.delivered) / apart;
        self.throughput = 0.6 * self.throughput + 0.4 * instant;
        let interval = self.rtt * (self.cwnd - self.throughput * self.rtt_min) / self.cwnd;
        let recent = self.arrivals.iter().rev().take_while(|a| at - a.at < 2.0 * interval);
        self.undecided |= recent.map(|a| at - a.at).any(|age| (age / interval - 1.0).abs() < 1e-3);
        let sample = if interval > apart {
            let first = self.arrivals.iter().rev().find(|a| at - a.at >= interval);
            let first = first.unwrap_or(&self.arrivals[0]);
            (now.delivered - first.delivered) / (at - first.at)
        } else {
            instant
        };
        let last = |values: &[f64]| values.last().copied().unwrap_or(0.0);
        let instability = 0.6 * last(&self.instability) + 0.4 * (sample - last(&self.samples)).abs();
        self.samples.push(sample);
        self.instability.push(instability);
        let largest = self.instability.iter().rev().take(10).copied().fold(0.0, f64::max);
        let noise = if largest > 0.0 { instability / largest } else { 0.0 };
        let tau = self.rtt * (1.0 + 10.0 * noise);
        let old = ((2.0 * tau - apart) / (2.0 * tau + apart)).max(0.0);
        self.eligible = old * self.eligible + (1.0 - old) * sample;
        self.arrivals.push(now);
    }
}

/// Both over random connections whose ACKs come `slower` times as far apart, and `apart_ns` more: the window, ssthresh,
/// and what ssthresh would be if a loss followed, which is the eligible rate. Returns how many ACKs were compared, and
/// how many of them in linear growth.
fn compare(slower: u64, apart_ns: u64, tolerance: f64) -> (u32, u32) {
    let algorithm = row("astart");
    let compared = std::cell::Cell::new((0_u32, 0_u32));
    let start = (1..20_u32, prop_oneof![Just(None), (2..60_u32).prop_map(Some)]);
    runner(300)
        .run(&(start, plausible_acks()), |((window, ssthresh), steps)| {
            let mut config = config(algorithm, u64::from(window));
            if let Some(ssthresh) = ssthresh {
                config.initial_ssthresh_bytes = u64::from(ssthresh * MSS);
            }
            let mut oracle = AdaptiveStart {
                cwnd: f64::from(window),
                ssthresh: f64::from(ssthresh.unwrap_or(32)),
                ..AdaptiveStart::default()
            };
            let mut startup = Startup::new(algorithm, &config);
            let mut host = Host::default();
            for step in steps {
                let Step::Ack { gap_ns, packets, rtt_us, flags, sampled } = step else { continue };
                let gap_ns = if gap_ns == 0 { 0 } else { gap_ns * slower + apart_ns };
                let step = Step::Ack { gap_ns, packets, rtt_us, flags, sampled };
                let Input::Ack(ack) = host.event(&step, startup.decision()) else { continue };
                oracle.on_ack(
                    ack.now_ns as f64 / 1e9,
                    in_packets(ack.acked_bytes),
                    (ack.rtt_us > 0).then(|| f64::from(ack.rtt_us) / 1e6),
                    ack.flags & AckFlags::CWND_LIMITED != 0,
                );
                if oracle.undecided {
                    break;
                }
                let decision = *startup.on_ack(&ack);
                let after_loss = startup.clone().on_event(&loss(ack.now_ns)).ssthresh_bytes;
                // Before there is a rate, ssthresh is the host's to choose.
                let eligible = if oracle.eligible > 0.0 {
                    (oracle.eligible * oracle.rtt_min).clamp(2.0, oracle.cwnd.max(2.0))
                } else {
                    oracle.ssthresh
                };
                for (name, core, oracle) in [
                    ("cwnd", decision.cwnd_bytes, oracle.cwnd),
                    ("ssthresh", decision.ssthresh_bytes, oracle.ssthresh),
                    ("eligible", after_loss, eligible),
                ] {
                    let core = in_packets(core);
                    prop_assert!((core / oracle - 1.0).abs() <= tolerance, "{name}: {core}, {oracle}");
                }
                let (all, linear) = compared.get();
                compared.set((all + 1, linear + u32::from(decision.phase() == Phase::Conservative)));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    compared.into_inner()
}

fn in_packets(bytes: u64) -> f64 {
    bytes as f64 / f64::from(MSS)
}

fn loss(now_ns: u64) -> Event {
    Event { now_ns, lost_bytes: 0, in_flight_bytes: 0, kind: EventKind::Loss, mss_bytes: MSS }
}

#[test]
fn adaptive_start_follows_its_papers() {
    // Gaps of more than a 64th of an RTT: every ACK is a mark.
    let (all, linear) = compare(4, 3_000_000, 2e-3);
    assert!(all > 20_000 && linear > 5_000, "too few cases: {all}, {linear}");
}

#[test]
fn marks_cost_adaptive_start_little() {
    let (all, linear) = compare(1, 0, 0.05);
    assert!(all > 20_000 && linear > 5_000, "too few cases: {all}, {linear}");
}
