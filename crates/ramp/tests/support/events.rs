//! Sequences of events: a connection that makes sense, with nonsense in it.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};
use rampcc::{
    Ack, AckFlags, Algorithm, Config, ConfigFlags, Decision, Event, EventKind, Hint, HintSource,
    PARAMETERS_MAX, UNSET,
};

use super::MSS;

/// What happens next, before the connection's state turns it into an event.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Ack { gap_ns: u64, packets: u64, rtt_us: u32, flags: u32, sampled: bool },
    Nonsense(Ack),
    Event { kind: EventKind, lost_bytes: u64, in_flight_bytes: u64 },
}

/// An event as the core sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    Ack(Ack),
    Event(Event),
}

/// The sender's side of a connection, as simple as it can be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    now_ns: u64,
    sent: u64,
    acked: u64,
    /// The handshake's; 0: the receiver shows no clock.
    tsval: u32,
}

/// When the handshake's segment came, what an ACK takes that nothing holds, and the stamps of a clock of 1 ms that began with ours.
const START_NS: u64 = 1_000_000_000;
const RETURN_NS: u64 = 10_000_000;
const HONEST: std::ops::RangeInclusive<u32> = 950..=1_000;

impl Host {
    pub(crate) fn of(config: &Config) -> Self {
        Self { tsval: config.tsval, ..Self::default() }
    }

    /// What the receiver's clock said when it sent the ACK that comes now. The handshake's stamp says what clock it is.
    fn stamp(&self, rtt_us: u32) -> u32 {
        // Every eighth ACK has been held by what its RTT is longer.
        let held_ns = if rtt_us.is_multiple_of(8) { u64::from(rtt_us) * 1000 - 2 * RETURN_NS } else { 0 };
        let left_ns = (START_NS + self.now_ns).saturating_sub(RETURN_NS + held_ns);
        let ticks = |ns: u64| (left_ns / ns).wrapping_sub((START_NS - RETURN_NS) / ns) as u32;
        let jump = if self.acked / 64_000 % 2 == 1 { 5_000 } else { 0 };
        match self.tsval {
            0 => 0,
            tsval if HONEST.contains(&tsval) => (left_ns / 1_000_000) as u32,
            tsval => tsval.wrapping_add(match tsval % 5 {
                0 => ticks(1_000_000),
                1 => ticks(4_000_000),
                2 => ticks(10_000_000),
                3 => ticks(1_000_000).wrapping_sub(jump),
                _ => 0,
            }),
        }
    }

    pub(crate) fn event(&mut self, step: &Step, decision: &Decision) -> Input {
        let mss = u64::from(MSS);
        match *step {
            Step::Nonsense(ack) => Input::Ack(ack),
            Step::Event { kind, lost_bytes, in_flight_bytes } => {
                Input::Event(Event { now_ns: self.now_ns, lost_bytes, in_flight_bytes, kind, mss_bytes: MSS })
            }
            Step::Ack { gap_ns, packets, rtt_us, flags, sampled } => {
                let room = (decision.cwnd_bytes / mss).min(5_000) * mss;
                self.sent = self.sent.max(self.acked + room);
                let in_flight_bytes = self.sent - self.acked;
                let acked_bytes = in_flight_bytes.min(packets * mss);
                self.acked += acked_bytes;
                self.now_ns += gap_ns;
                let rtt_us = rtt_us + u32::try_from(in_flight_bytes / 50).expect("a small window");
                Input::Ack(Ack {
                    now_ns: START_NS + self.now_ns,
                    newest_sent_ns: START_NS + self.now_ns - u64::from(rtt_us) * 1_000,
                    sent_bytes: self.sent,
                    newest_acked_bytes: self.acked,
                    delivered_bytes: self.acked,
                    acked_bytes,
                    in_flight_bytes,
                    // A window per round trip.
                    delivery_bytes_per_s: in_flight_bytes * 1_000_000 / u64::from(rtt_us.max(1)),
                    pacing_bytes_per_s: decision.pacing_bytes_per_s,
                    rtt_us: if sampled { rtt_us } else { 0 },
                    mss_bytes: MSS,
                    flags,
                    tsval: self.stamp(rtt_us),
                    ..Ack::default()
                })
            }
        }
    }
}

/// The same cases on every run and machine.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let config = RunnerConfig { failure_persistence: None, ..RunnerConfig::with_cases(cases) };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Up to some hundred steps; in a fifth of the sequences anything may happen, in another nothing but a steady stream.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        2 => vec(plausible(), 1..1500),
        1 => vec(plausible_ack(), 1..1500),
        1 => vec(anything(), 1..200),
        1 => vec(steady_ack(), 1..600),
    ]
}

pub(crate) fn plausible_acks() -> impl Strategy<Value = Vec<Step>> {
    vec(plausible_ack(), 1..600)
}

fn plausible() -> impl Strategy<Value = Step> {
    prop_oneof![500 => plausible_ack(), 1 => event(1_u64..10_000)]
}

fn anything() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => plausible_ack(),
        4 => nonsense_ack().prop_map(Step::Nonsense),
        1 => event(any::<u64>()),
    ]
}

fn plausible_ack() -> impl Strategy<Value = Step> {
    let gap = prop_oneof![8 => 0..200_000_u64, 1 => 1_000_000..30_000_000_u64];
    let flags = prop_oneof![9 => Just(AckFlags::CWND_LIMITED), 1 => 0..64_u32];
    (gap, 1..4_u64, 20_000..24_000_u32, flags, prop::bool::weighted(0.95)).prop_map(
        |(gap_ns, packets, rtt_us, flags, sampled)| Step::Ack { gap_ns, packets, rtt_us, flags, sampled },
    )
}

/// A packet in a millisecond, and twenty in a round trip.
fn steady_ack() -> impl Strategy<Value = Step> {
    (990_000..1_010_000_u64, 20_000..20_010_u32).prop_map(|(gap_ns, rtt_us)| Step::Ack {
        gap_ns,
        packets: 1,
        rtt_us,
        flags: AckFlags::CWND_LIMITED,
        sampled: true,
    })
}

fn event(lost: impl Strategy<Value = u64>) -> impl Strategy<Value = Step> {
    let kind = prop::sample::select(EventKind::ALL.to_vec());
    (kind, lost, number()).prop_map(|(kind, lost_bytes, in_flight_bytes)| Step::Event {
        kind,
        lost_bytes,
        in_flight_bytes,
    })
}

fn nonsense_ack() -> impl Strategy<Value = Ack> {
    let numbers = (prop::array::uniform11(number()), prop::array::uniform4(number()));
    numbers.prop_map(|(wide, narrow)| {
        let numbers = wide.into_iter().chain(narrow);
        assert_eq!(numbers.clone().count(), Ack::FIELDS.len(), "a number for each field");
        let mut ack = Ack::default();
        for (field, number) in Ack::FIELDS.iter().zip(numbers) {
            (field.set)(&mut ack, number & field.max);
        }
        ack
    })
}

/// Any number of bits with equal chance, and the ends of the range.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 1 => Just(u64::MAX), 8 => (any::<u64>(), 0..64_u32).prop_map(|(n, shift)| n >> shift)]
}

/// Any configuration that a scenario may ask for.
pub(crate) fn configs(algorithm: &'static Algorithm) -> impl Strategy<Value = Config> {
    let windows = (1..=20_u64, prop_oneof![3 => Just(UNSET), 1 => 1..1_000_000_u64]);
    let sources = || prop::sample::select(HintSource::ALL.to_vec());
    let hint = prop_oneof![
        1 => (sources(), number(), number(), any::<u32>(), any::<u32>()),
        1 => (sources(), 0..4_000_000_u64, 0..100_000_000_u64, 8_000..60_000_u32, 0..1_000_u32),
    ];
    let connection = (number(), number(), 0..1_000_000_u32, 0..20_u32);
    let flags = prop::sample::select(vec![0, ConfigFlags::DELAYED_ACKS]);
    let tsval = prop_oneof![1 => Just(0), 3 => HONEST, 1 => any::<u32>(), 1 => u32::MAX - 20..=u32::MAX];
    let values =
        prop::collection::vec(prop_oneof![9 => Just(None), 1 => number().prop_map(Some)], PARAMETERS_MAX);
    (windows, hint, connection, (flags, tsval), 0..4_u32, values).prop_map(
        move |((window, ssthresh), hint, connection, (flags, tsval), limit, values)| {
            let mut parameter = algorithm.default_parameters();
            for ((slot, row), value) in parameter.iter_mut().zip(&algorithm.parameters).zip(values) {
                if let Some(value) = value {
                    *slot = row.minimum + value % (row.maximum - row.minimum + 1);
                }
            }
            let mut known = Hint::of(hint.0);
            (known.window_bytes, known.bytes_per_s, known.rtt_us, known.age_s) =
                (hint.1, hint.2, hint.3, hint.4);
            Config {
                mss_bytes: MSS,
                flags,
                initial_window_bytes: window * u64::from(MSS),
                initial_ssthresh_bytes: ssthresh,
                abc_limit_packets: limit,
                size_bytes: connection.0,
                receive_window_bytes: connection.1,
                handshake_rtt_us: connection.2,
                unpaced_packets: connection.3,
                now_ns: START_NS,
                tsval,
                hint: known,
                parameter,
            }
        },
    )
}
