//! The bytes of a run: a hash of all that an observer gets.

use std::fmt;
use std::sync::atomic::AtomicBool;

use rampcc::{Algorithm, Time};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};
use sha2::{Digest, Sha256};

use crate::simulate;

const SEED: u64 = 1;
/// Scenarios that go on for longer are cut here, before a build without optimisation takes minutes.
const LONGEST: Time = Time::from_secs(15);

/// What a shipped scenario's first seed gives with an algorithm, up to 15 s: samples of flows, samples of links, events, and the start
/// of the SHA-256 of all that they say. `None`: no such scenario ships. Wherever the simulator runs, this is the same.
pub fn recorded(scenario: &str, algorithm: &'static Algorithm) -> Option<String> {
    let mut scenario = Scenario::built_in(scenario)?;
    scenario.stop.after = scenario.stop.after.min(LONGEST);
    let arm = Arm::new(algorithm);
    let mut told = Told::default();
    simulate(&scenario.with_arm(&arm), SEED, &mut told, &AtomicBool::new(false)).ok()?;
    Some(told.to_string())
}

/// Everything a run tells, in the order in which it is reported.
#[derive(Default)]
struct Told {
    flows: u64,
    links: u64,
    events: u64,
    hash: Sha256,
}

impl Told {
    fn add(&mut self, words: &[u64]) {
        let mut bytes = [0; 8 * 20];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.hash.update(&bytes[..8 * words.len()]);
    }
}

impl Observer for Told {
    fn on_flow(&mut self, s: &FlowSample) {
        self.flows += 1;
        self.add(&[
            1,
            s.now.ns(),
            s.flow.into(),
            s.cwnd_bytes,
            s.ssthresh_bytes,
            s.in_flight_bytes,
            s.sent_bytes,
            s.delivered_bytes,
            s.retransmitted_bytes,
            s.lost_bytes,
            s.rtt.ns(),
            s.min_rtt.ns(),
            s.smoothed_rtt.ns(),
            s.pacing_bytes_per_s,
            s.delivery_bytes_per_s,
            s.receive_window_bytes,
            s.phase as u64,
            s.state as u64,
        ]);
    }

    fn on_link(&mut self, s: &LinkSample) {
        self.links += 1;
        self.add(&[2, s.now.ns(), s.link.into(), s.queue_bytes, s.queue_packets]);
    }

    fn on_event(&mut self, e: &FlowEvent) {
        self.events += 1;
        self.add(&[3, e.now.ns(), e.flow.into()]);
        match e.kind {
            FlowEventKind::Opened { size_bytes, under_test } => self.add(&[1, size_bytes, under_test.into()]),
            FlowEventKind::Established => self.add(&[2]),
            FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent } => {
                self.add(&[3, reason as u64, evidence, limit, cwnd_bytes, deciding_sent.ns()]);
            }
            FlowEventKind::RecoveryStart { cwnd_bytes, in_flight_bytes } => {
                self.add(&[4, cwnd_bytes, in_flight_bytes]);
            }
            FlowEventKind::RecoveryEnd => self.add(&[5]),
            FlowEventKind::Timeout { backoff } => self.add(&[6, backoff.into()]),
            FlowEventKind::Undone => self.add(&[7]),
            FlowEventKind::Dropped { link, wire_bytes, data } => {
                self.add(&[8, link.into(), wire_bytes.into(), data.into()]);
            }
            FlowEventKind::Received { bytes } => self.add(&[9, bytes]),
            FlowEventKind::Completed { bytes } => self.add(&[10, bytes]),
            FlowEventKind::Unfinished { bytes } => self.add(&[11, bytes]),
            FlowEventKind::StartupResumed => self.add(&[12]),
            FlowEventKind::ConnectionLost => self.add(&[13]),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7} {:>7} {:>6} ", self.flows, self.links, self.events)?;
        self.hash.clone().finalize().iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
