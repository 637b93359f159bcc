//! The bytes of every shipped scenario: a hash of all that an observer is told, for each row that is compared by default,
//! and of [`FEW`] scenarios for every other row.
//!
//! A change that is meant to move no result moves none here. One that is meant to is recorded with
//! `RAMP_BLESS=1 cargo test -p rampcc-sim --test recorded`; the lines that differ say which results moved, and the
//! changelog says why.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{env, fmt, fs, thread};

use rampcc::{Algorithm, Time, Traits, algorithms};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};
use sha2::{Digest, Sha256};

const SEED: u64 = 1;
/// Scenarios that go on for longer are cut here, before a build without optimisation takes minutes.
const LONGEST: Time = Time::from_secs(15);

/// A cable, a data centre, jitter, a radio's varying rate, and a buffer that overflows soon.
const FEW: [&str; 5] = ["cable", "data-centre", "geo-jitter", "lte", "shallow-buffer-50mbps-40ms"];

const HEAD: &str = "# scenario, row, samples of flows, samples of links, events, start of their SHA-256; seed 1, 15 s at most\n";

/// Everything a run tells, in the order in which it is told.
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

fn play(name: &str, algorithm: &'static Algorithm) -> String {
    let mut scenario = Scenario::built_in(name).expect("the scenario ships");
    scenario.stop.after = scenario.stop.after.min(LONGEST);
    let arm = Arm { label: algorithm.id.to_owned(), algorithm, set: Vec::new() };
    let mut told = Told::default();
    simulate(&scenario.with_arm(&arm), SEED, &mut told, &AtomicBool::new(false))
        .expect("shipped scenarios run");
    told.to_string()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the way to ask for rewriting")]
fn the_rows_on_the_shipped_scenarios_give_the_recorded_bytes() {
    let everywhere = |traits: Traits| traits.has(Traits::DEFAULT) || traits.has(Traits::KNOWS_PATH);
    let plays = |name: &str, row: &Algorithm| everywhere(row.traits) || FEW.contains(&name);
    let jobs: Vec<_> = Scenario::built_in_names()
        .flat_map(|name| algorithms().iter().filter(move |row| plays(name, row)).map(move |row| (name, row)))
        .collect();
    assert!(FEW.iter().all(|name| Scenario::built_in(name).is_some()));
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut lines = BTreeMap::new();
    thread::scope(|scope| {
        let work = || {
            let take = || jobs.get(next.fetch_add(1, Ordering::Relaxed));
            std::iter::from_fn(take)
                .map(|&(name, algorithm)| ((name, algorithm.id), play(name, algorithm)))
                .collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            lines.extend(thread.join().expect("a run that ends"));
        }
    });
    let body = lines.iter().map(|((name, id), told)| format!("{name:<26} {id:<10} {told}\n"));
    let found: String = std::iter::once(HEAD.to_owned()).chain(body).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded.txt");
    if env::var_os("RAMP_BLESS").is_some() {
        fs::write(&path, found).expect("the record may be written");
        return;
    }
    let recorded = fs::read_to_string(&path).expect("the record is there");
    let moved: Vec<_> = found.lines().filter(|line| !recorded.lines().any(|old| old == *line)).collect();
    assert!(
        found == recorded,
        "results moved ({} of {} lines), RAMP_BLESS=1 records them again:\n{}",
        moved.len(),
        lines.len(),
        moved.join("\n")
    );
}
