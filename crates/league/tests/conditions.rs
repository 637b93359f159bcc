//! What reach does where something unusual happens to a start-up: league/conditions.toml, a stated behaviour for each path, and the
//! table of its page.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_experiment::Row;
use rampcc_league::{League, Outcome, Population, Request};
use rampcc_sim::Simulator;

use place::Place;

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;
#[path = "../../experiment/tests/support/place.rs"]
mod place;

const ROWS: [&str; 4] = ["reach", "hystart", "slow_start", "ideal"];
const OPENING: &str = "<!-- conditions: from league/conditions.toml; `RAMP_BLESS=1 cargo test -p rampcc-league --test conditions` rewrites -->\n";
const CLOSING: &str = "<!-- end -->\n";

/// What reach has to do on each path: how start-up ends, with a window of so many BDPs of the smallest RTT and by no loss where it
/// is no word; packets lost in start-up, at most, over those that pipe and buffer hold; its download time over slow start's, at
/// most; and the same in words.
const STATED: &str = "\
plain | 0.9 to 1.3 | 0.0 | 1.0 | nothing unusual: it lands on the BDP
longer-route | 0.9 to 1.3 | 0.0 | 1.1 | the RTT doubles in the second flight: it lands on the BDP of the route before, and CUBIC finds the rest
shorter-route | 1.5 to 2.5 | 0.45 | 1.01 | the RTT falls to a third: the difference counts as noise, and it lands on twice the new BDP, after the queue has overflowed once
slower-route | 0.9 to 1.6 | 0.0 | 1.0 | a fifth of the rate is left when it tries: the trial comes back slowed, and it lands on one and a half BDP of what is left
receive-window | never | 0.0 | 1.0 | 64 KiB at most: the window is never full, and start-up does not end
tls | 0.9 to 1.3 | 0.0 | 1.0 | a first flight of four packets, a round trip, and then the rest: the four prove nothing
near-handshake | 5.4 to 7.8 | 0.0 | 1.01 | a middlebox answers the handshake 50 ms early: growth is held back at first, and it lands on the BDP, which is 6 times the one by the handshake
eighth-acks | 0.9 to 1.3 | 0.5 | 1.1 | an ACK for eight packets: the first flights prove nothing, so the window doubles as in slow start; it lands on the BDP when the queue has overflowed
reordering | 0.9 to 1.3 | 0.0 | 1.05 | 1 % of the packets are late by 5 ms: none counts as lost, and it lands on the BDP
red | 0.9 to 1.3 | 0.01 | 1.0 | as without RED
red-marks | 0.9 to 1.3 | 0.0 | 1.0 | no mark in start-up; a mark would end it at 85 % of the window
codel | 0.9 to 1.3 | 0.0 | 1.0 | as without CoDel
codel-marks | 0.9 to 1.3 | 0.0 | 1.0 | the same with marks
policer | loss | 0.05 | 1.0 | a bucket of 100 kB, no queue: a packet is lost while it still searches
token-bucket | loss | 2.5 | 1.0 | the first flights prove the rate of the burst, ten times that of the tokens: it tries a part of that, and loses as much
";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn play() -> League {
    let place = Place::new("league-conditions");
    let text = fs::read_to_string(root().join("league/conditions.toml")).expect("the file");
    let request = Request {
        population: Population::parse("conditions.toml", &text, None).expect("paths"),
        entrants: ROWS.iter().map(|name| Row::parse(name, &[]).expect("a row")).collect(),
        sizes: vec![20_000_000],
        seeds: 1,
        backend: &Simulator,
        workers: None,
        out: place.0.clone(),
        reuse: false,
        pairs: false,
        crowds: false,
    };
    request.play(&(), &AtomicBool::new(false)).expect("it plays")
}

fn seconds(run: &Outcome) -> f64 {
    run.seconds[0].expect("the download ends")
}

fn cell(run: &Outcome, holds_packets: f64) -> String {
    let lost = run.startup_lost.unwrap_or(0.0) * holds_packets;
    let lost = if lost > 0.0 { format!(", {lost:.0} lost") } else { String::new() };
    format!("{:.2} s{lost}", seconds(run))
}

#[test]
fn reach_does_what_its_page_says() {
    let league = play();
    let mut table = format!("| path | | `{}` |\n|---|---|---|---|---|---|\n", ROWS.join("` | `"));
    assert_eq!(league.paths.len(), STATED.lines().count(), "a path without a statement");
    for stated in STATED.lines() {
        let [name, exit, most_lost, slowest, says] = stated.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{stated}")
        };
        let number = |text: &str| -> f64 { text.parse().expect(stated) };
        let path = league.paths.iter().find(|path| path.name == name).expect(name);
        let [reach, _, slow_start, _] = [0, 1, 2, 3].map(|row| &path.outcomes[row][0]);
        match (exit.split_once(" to "), &reach.exit) {
            (Some((least, most)), Some((reason, window))) => {
                assert_ne!(reason, "loss", "{name}");
                let allowed = number(least)..=number(most);
                assert!(allowed.contains(window), "{name}: it leaves with {window} BDP");
            }
            (None, Some((reason, _))) => assert_eq!(reason, exit, "{name}"),
            (_, found) => assert_eq!((exit, found), ("never", &None), "{name}"),
        }
        let lost = reach.startup_lost.unwrap_or(0.0);
        assert!(lost <= number(most_lost), "{name}: {lost} of what pipe and buffer hold");
        assert!(reach.timeouts < 0.5, "{name}: {} timeouts", reach.timeouts);
        let slower = seconds(reach) / seconds(slow_start);
        assert!(slower <= number(slowest), "{name}: {slower} times slow start's time");
        let holds = path.holds_packets.expect("a buffer with an end");
        let cells: Vec<String> = path.outcomes.iter().map(|runs| cell(&runs[0], holds)).collect();
        writeln!(table, "| `{name}` | {says} | {} |", cells.join(" | ")).expect("a string grows");
    }
    blessed::between(&blessed::page("algorithms/reach.md"), OPENING, CLOSING, &table);
}
