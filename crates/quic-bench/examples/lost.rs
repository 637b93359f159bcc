//! Downloads of 10 MB over the league's held-out paths that noq 1.4 does not finish, and how many of them one rule of its receiver ends:
//! it merges the pieces of a stream only where a piece wastes memory, so that 2048 full packets behind one lost one end the connection.
//!
//! ```text
//! cargo run --release -p rampcc-quic-bench --example lost [-- ROW...]
//! ```
//!
//! A drop leaves at most one gap. A connection that was lost after at most 1024 drops therefore had no more gaps than the receiver
//! takes (1024), and would have lived if it merged what is next to each other. `docs/noq-default.md` has the counts.
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rampcc_backend::{Backend, Play};
use rampcc_league::{Path, Population, Which};
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_scenario::Arm;
use rampcc_trace::{FlowEvent, FlowEventKind, Observer};

const BYTES: u64 = 10_000_000;
/// Gaps that a receiver takes.
const GAPS_MAX: u64 = 1024;
/// Runs where there is chance.
const SEEDS: u64 = 3;
const ROWS: [&str; 8] =
    ["noq_cubic", "bbr3", "slow_start", "hystart", "hystartpp", "search", "reach", "noq_newreno"];
const YARDSTICK: &str = "ideal";
const BACKEND: VirtualQuic = VirtualQuic(Stack::Noq);

/// What became of a run.
#[derive(Default)]
struct Seen {
    completed: bool,
    lost: bool,
    /// Data packets of the flow that links dropped before.
    dropped: u64,
}

impl Observer for Seen {
    fn on_event(&mut self, event: &FlowEvent) {
        if event.flow != 0 {
            return;
        }
        match event.kind {
            FlowEventKind::Completed { .. } => self.completed = true,
            FlowEventKind::ConnectionLost => self.lost = true,
            FlowEventKind::Dropped { data: true, .. } if !self.lost => self.dropped += 1,
            _ => {}
        }
    }
}

/// Of a row, paths.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// On which a run did not finish.
    unfinished: usize,
    /// Of them, those on which a connection was lost with no more gaps than a receiver takes.
    few_gaps: usize,
    /// Of them, those on which it was lost, each time after more drops.
    many_drops: usize,
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let rows: Vec<&str> =
        if named.is_empty() { ROWS.to_vec() } else { named.iter().map(String::as_str).collect() };
    let population = Population::open(&Which::HeldOut).and_then(|all| all.up_to(BYTES)).expect("it ships");
    let whole =
        |path: &&Path| path.scenario.flows.first().is_some_and(|flow| flow.source.size_bytes() >= BYTES);
    let all: Vec<&Path> = population.paths.iter().filter(whole).collect();
    // As the league does: where a sender that knows the path does not finish, no one can.
    let ends = on_each(&all, |path| runs(YARDSTICK, path).iter().all(|seen| seen.completed));
    let paths: Vec<&Path> =
        all.into_iter().zip(ends).filter_map(|(path, ends)| ends.then_some(path)).collect();
    println!("{} paths", paths.len());
    println!(
        "| row | not finished | lost with at most {GAPS_MAX} gaps | lost after more drops | another reason |"
    );
    println!("|---|---:|---:|---:|---:|");
    for row in rows {
        let Counts { unfinished, few_gaps, many_drops } = counted(row, &paths);
        let other = unfinished - few_gaps - many_drops;
        println!("| `{row}` | {unfinished} | {few_gaps} | {many_drops} | {other} |");
    }
}

fn counted(row: &str, paths: &[&Path]) -> Counts {
    let mut counts = Counts::default();
    for runs in on_each(paths, |path| runs(row, path)) {
        let failed = || runs.iter().filter(|seen| !seen.completed);
        counts.unfinished += usize::from(failed().count() > 0);
        if failed().any(|seen| seen.lost && seen.dropped <= GAPS_MAX) {
            counts.few_gaps += 1;
        } else if failed().any(|seen| seen.lost) {
            counts.many_drops += 1;
        }
    }
    counts
}

fn on_each<T: Send>(paths: &[&Path], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(at) else { return };
                    let one = work(path);
                    found.lock().expect("nobody panics with it").push((at, one));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("nobody panics with it");
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, one)| one).collect()
}

fn runs(row: &str, path: &Path) -> Vec<Seen> {
    let control = BACKEND.controls().iter().find(|control| control.name == row);
    let scenario = match control {
        Some(_) => path.scenario.clone(),
        None => path.scenario.with_arm(&Arm::parse(row).expect("a row of the registry")),
    };
    let seeds = if scenario.has_chance() { SEEDS } else { 1 };
    let play = |seed| {
        let mut seen = Seen::default();
        let play = Play { scenario: &scenario, control, seed };
        BACKEND.run(&play, &mut seen, &AtomicBool::new(false)).expect("it runs");
        seen
    };
    (scenario.seed..).take(seeds as usize).map(play).collect()
}
