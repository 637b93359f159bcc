//! The bytes of every shipped scenario: a hash of all that an observer gets, for each row that is compared by default,
//! and of [`FEW`] scenarios for every other row.
//!
//! A change that is meant to move no result moves none here. One that is meant to is recorded with
//! `RAMP_BLESS=1 cargo test -p rampcc-sim --test recorded`; the lines that differ say which results moved, and the
//! changelog says why.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use rampcc::{Algorithm, Traits, algorithms};
use rampcc_scenario::Scenario;
use rampcc_sim::recorded;

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;

/// A cable, a data centre, jitter, a radio's varying rate, and a buffer that overflows soon.
const FEW: [&str; 5] = ["cable", "data-centre", "geo-jitter", "lte", "shallow-buffer-50mbps-40ms"];

const HEAD: &str = "# scenario, row, samples of flows, samples of links, events, start of their SHA-256; seed 1, 15 s at most\n";

#[test]
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
                .map(|&(name, algorithm)| {
                    ((name, algorithm.id), recorded(name, algorithm).expect("shipped scenarios run"))
                })
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
    if blessed::asked() {
        return blessed::whole(&path, &found);
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
