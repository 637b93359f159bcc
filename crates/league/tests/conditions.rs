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

/// How start-up ends.
enum Exit {
    /// With a window of so many BDPs of the smallest RTT, and by no loss.
    At([f64; 2]),
    Loss,
    Never,
}

/// What reach has to do on a path.
struct Stated {
    path: &'static str,
    says: &'static str,
    exit: Exit,
    /// Packets lost in start-up over those that pipe and buffer hold.
    lost: f64,
    /// Its download time over slow start's.
    slower: f64,
}

const STATED: [Stated; 15] = [
    Stated {
        path: "plain",
        says: "nothing unusual: it lands on the BDP",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.0,
    },
    Stated {
        path: "longer-route",
        says: "the RTT doubles in the second flight: it lands on the BDP of the route before, and CUBIC finds the rest",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.1,
    },
    Stated {
        path: "shorter-route",
        says: "the RTT falls to a third: the difference counts as noise, and it lands on twice the new BDP, after the queue has overflowed once",
        exit: Exit::At([1.5, 2.5]),
        lost: 0.45,
        slower: 1.01,
    },
    Stated {
        path: "slower-route",
        says: "a fifth of the rate is left when it tries: the trial comes back slowed, and it lands on one and a half BDP of what is left",
        exit: Exit::At([0.9, 1.6]),
        lost: 0.0,
        slower: 1.0,
    },
    Stated {
        path: "receive-window",
        says: "64 KiB at most: the window is never full, and start-up does not end",
        exit: Exit::Never,
        lost: 0.0,
        slower: 1.0,
    },
    Stated {
        path: "tls",
        says: "a first flight of four packets, a round trip, and then the rest: the four prove nothing",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.0,
    },
    Stated {
        path: "near-handshake",
        says: "a middlebox answers the handshake 50 ms early: growth is held back at first, and it lands on the BDP, which is 6 times the one by the handshake",
        exit: Exit::At([5.4, 7.8]),
        lost: 0.0,
        slower: 1.01,
    },
    Stated {
        path: "eighth-acks",
        says: "an ACK for eight packets: the first flights prove nothing, so the window doubles as in slow start; it lands on the BDP when the queue has overflowed",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.5,
        slower: 1.1,
    },
    Stated {
        path: "reordering",
        says: "1 % of the packets are late by 5 ms: none counts as lost, and it lands on the BDP",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.05,
    },
    Stated { path: "red", says: "as without RED", exit: Exit::At([0.9, 1.3]), lost: 0.01, slower: 1.0 },
    Stated {
        path: "red-marks",
        says: "no mark in start-up; a mark would end it at 85 % of the window",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.0,
    },
    Stated { path: "codel", says: "as without CoDel", exit: Exit::At([0.9, 1.3]), lost: 0.0, slower: 1.0 },
    Stated {
        path: "codel-marks",
        says: "the same with marks",
        exit: Exit::At([0.9, 1.3]),
        lost: 0.0,
        slower: 1.0,
    },
    Stated {
        path: "policer",
        says: "a bucket of 100 kB, no queue: a packet is lost while it still searches",
        exit: Exit::Loss,
        lost: 0.05,
        slower: 1.0,
    },
    Stated {
        path: "token-bucket",
        says: "the first flights prove the rate of the burst, ten times that of the tokens: it tries a part of that, and loses as much",
        exit: Exit::Loss,
        lost: 2.5,
        slower: 1.0,
    },
];

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
    assert_eq!(league.paths.len(), STATED.len(), "a path without a statement");
    for stated in &STATED {
        let path = league.paths.iter().find(|path| path.name == stated.path).expect(stated.path);
        let [reach, _, slow_start, _] = [0, 1, 2, 3].map(|row| &path.outcomes[row][0]);
        match (&stated.exit, &reach.exit) {
            (Exit::At([least, most]), Some((reason, window))) => {
                assert_ne!(reason, "loss", "{}", stated.path);
                assert!((least..=most).contains(&window), "{}: it leaves with {window} BDP", stated.path);
            }
            (Exit::Loss, Some((reason, _))) => assert_eq!(reason, "loss", "{}", stated.path),
            (Exit::Never, None) => {}
            (_, exit) => panic!("{}: {exit:?}", stated.path),
        }
        let lost = reach.startup_lost.unwrap_or(0.0);
        assert!(lost <= stated.lost, "{}: {lost} of what pipe and buffer hold", stated.path);
        assert!(reach.timeouts < 0.5, "{}: {} timeouts", stated.path, reach.timeouts);
        let slower = seconds(reach) / seconds(slow_start);
        assert!(slower <= stated.slower, "{}: {slower} times slow start's time", stated.path);
        let holds = path.holds_packets.expect("a buffer with an end");
        let cells: Vec<String> = path.outcomes.iter().map(|runs| cell(&runs[0], holds)).collect();
        writeln!(table, "| `{}` | {} | {} |", stated.path, stated.says, cells.join(" | "))
            .expect("a string grows");
    }
    blessed::between(&blessed::page("algorithms/reach.md"), OPENING, CLOSING, &table);
}
