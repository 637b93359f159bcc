//! Mistakes that congestion controllers of QUIC stacks have made in start-up: for each a path on which it shows, a row that makes
//! it and one that does not. The page `docs/quic-mistakes.md` has the table.

#[path = "../../../ramp/tests/support/blessed.rs"]
mod blessed;
mod controller;
#[path = "../common/log.rs"]
mod log;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use controller::{Mistake, Plain};
use log::Log;
use noq_proto::congestion::Bbr3Config;
use rampcc_backend::{Backend, Play};
use rampcc_quic_sim::{Bringing, Brought, Stack};
use rampcc_scenario::{Arm, Scenario};

#[derive(Clone, Copy)]
enum Who {
    Row(&'static str),
    OverQuinn(&'static str),
    /// The plain controller, spaced over a round trip or not.
    Plain(Mistake, bool),
    /// noq's own BBR3. It draws random numbers without a seed, but none before start-up is over.
    NoqBbr3,
}

/// What tells the two apart, of a run.
#[derive(Clone, Copy)]
enum Measure {
    /// Seconds from the first packet to the last byte; a connection that is lost takes for ever.
    Download,
    /// The window in the end, kB.
    Window,
    /// The pacing rate in the end, Mbit/s.
    Pace,
}

struct Case {
    mistake: &'static str,
    seen: &'static str,
    scenario: &'static str,
    wrong: Who,
    right: Who,
    measure: Measure,
    /// The wrong row has at least so many times as much.
    factor: f64,
}

const CASES: [Case; 8] = [
    Case {
        mistake: "Of an ACK for ten packets, one lets the window grow",
        seen: "quinn #975",
        scenario: "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"1 bdp\"\n[receiver]\nacks = \"delayed\"\nack-every = 10\n\
                   ack-timer = \"25 ms\"\n[[flow]]\nsize = \"2 MB\"\n",
        wrong: Who::Plain(Mistake::FirstOfABatch, false),
        right: Who::Plain(Mistake::None, false),
        measure: Measure::Download,
        factor: 1.5,
    },
    Case {
        mistake: "A sender that its pacer holds back counts as idle, and its window does not grow",
        seen: "quiche #490 and #948, s2n-quic #1326",
        scenario: "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"2 MB\"\n",
        wrong: Who::Plain(Mistake::PacedIsIdle, true),
        right: Who::Plain(Mistake::None, true),
        measure: Measure::Download,
        factor: 2.0,
    },
    Case {
        mistake: "One loss by chance ends start-up, far below what the path holds",
        seen: "picoquic #1221 and #1222",
        scenario: "seed = 5\n[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"1 bdp\"\nloss = \"0.1 %\"\n[[flow]]\nsize = \"10 MB\"\n",
        wrong: Who::Row("slow_start"),
        right: Who::Row("bbr3"),
        measure: Measure::Download,
        factor: 3.0,
    },
    Case {
        mistake: "Each report of one loss event reduces the window again",
        seen: "picoquic #1830",
        scenario: "[path]\nrate = \"20 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"0.5 bdp\"\n[[flow]]\nsize = \"5 MB\"\n",
        wrong: Who::Plain(Mistake::EveryReport, false),
        right: Who::Plain(Mistake::None, false),
        measure: Measure::Download,
        factor: 1.5,
    },
    Case {
        mistake: "The window grows while the application sends little: the first large answer will leave at once",
        seen: "quinn #2798, picoquic #1485",
        scenario: "[path]\nrate = \"20 Mbit/s\"\nrtt = \"50 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\n\
                   responses = { size = \"10 kB\", count = 200, think = \"10 ms\" }\n",
        wrong: Who::Plain(Mistake::GrowsUnused, false),
        right: Who::Plain(Mistake::None, false),
        measure: Measure::Window,
        factor: 10.0,
    },
    Case {
        mistake: "An overshoot of thousands of packets leaves more gaps in a stream than its receiver keeps, and ends the connection",
        seen: "quinn #2809, in noq too",
        scenario: "[path]\nrate = \"300 Mbit/s\"\nrtt = \"30 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"20 MB\"\n",
        wrong: Who::Row("slow_start"),
        right: Who::Row("hystart"),
        measure: Measure::Download,
        factor: 10.0,
    },
    Case {
        mistake: "One lost packet ends the connection where more than 2048 full ones wait behind it",
        seen: "noq 1.4.0, found here; not in quinn 0.11.19",
        scenario: "seed = 3\n[path]\nrate = \"200 Mbit/s\"\nrtt = \"200 ms\"\nbuffer = \"4 bdp\"\nloss = \"0.004 %\"\n[[flow]]\nsize = \"20 MB\"\n",
        wrong: Who::Row("slow_start"),
        right: Who::OverQuinn("slow_start"),
        measure: Measure::Download,
        factor: 10.0,
    },
    Case {
        mistake: "The rate from before the first round-trip sample, the initial window in 1 ms, stays for as long as the application sends little",
        seen: "noq #800, in noq 1.4.0",
        scenario: "[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\n\
                   chunks = { size = \"10 kB\", interval = \"200 ms\", count = 50 }\n",
        wrong: Who::NoqBbr3,
        right: Who::Row("bbr3"),
        measure: Measure::Pace,
        factor: 5.0,
    },
];

fn play(text: &str, who: Who) -> Log {
    let (stack, brought) = match who {
        Who::Plain(mistake, paces) => {
            (Stack::Noq, vec![("mine", Brought::Noq(Arc::new(Plain { mistake, paces })))])
        }
        Who::NoqBbr3 => (Stack::Noq, vec![("mine", Brought::Noq(Arc::new(Bbr3Config::default())))]),
        Who::Row(_) => (Stack::Noq, Vec::new()),
        Who::OverQuinn(_) => (Stack::Quinn, Vec::new()),
    };
    let backend = Bringing::new(stack, brought);
    let mut scenario = Scenario::parse("test", text, None).expect("a scenario");
    let mut control = backend.controls().first();
    if let Who::Row(id) | Who::OverQuinn(id) = who {
        scenario = scenario.with_arm(&Arm::parse(id).expect("a row"));
        control = None;
    }
    backend.check(&scenario, control).expect("it can be played");
    let mut log = Log::default();
    let play = Play { scenario: &scenario, control, seed: scenario.seed };
    backend.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
    log
}

fn measured(log: &Log, measure: Measure) -> f64 {
    match measure {
        Measure::Download if log.completed == rampcc::Time::ZERO => f64::INFINITY,
        Measure::Download => (log.completed - log.established).secs_f64(),
        Measure::Pace => log.samples.last().map_or(0.0, |sample| sample.pacing_bytes_per_s as f64 * 8e-6),
        Measure::Window => log.samples.last().map_or(0.0, |sample| sample.cwnd_bytes as f64 / 1e3),
    }
}

fn words(value: f64, measure: Measure) -> String {
    match measure {
        Measure::Download if value.is_infinite() => "connection lost".to_owned(),
        Measure::Download => format!("{value:.2} s"),
        Measure::Pace => format!("{value:.0} Mbit/s"),
        Measure::Window => format!("a window of {value:.0} kB"),
    }
}

fn name(who: Who) -> String {
    match who {
        Who::Row(id) => format!("`{id}`"),
        Who::OverQuinn(id) => format!("`{id}` over quinn"),
        Who::Plain(Mistake::None, _) => "without it".to_owned(),
        Who::Plain(..) => "with it".to_owned(),
        Who::NoqBbr3 => "noq's BBR3".to_owned(),
    }
}

#[test]
fn each_mistake_shows_and_its_remedy_too() {
    let mut missed = Vec::new();
    let mut text = "| mistake | seen in | path | wrong | right |\n|---|---|---|---|---|\n".to_owned();
    for case in &CASES {
        let [wrong, right] =
            [case.wrong, case.right].map(|who| measured(&play(case.scenario, who), case.measure));
        let said = format!("{}: {wrong} and {right}", case.mistake);
        if wrong < case.factor * right || !right.is_finite() {
            missed.push(said);
        }
        let path = case.scenario.replace('\n', " ").trim().replace("[path] ", "");
        let cell = |who, value| format!("{}: {}", name(who), words(value, case.measure));
        writeln!(
            text,
            "| {} | {} | `{path}` | {} | {} |",
            case.mistake,
            case.seen,
            cell(case.wrong, wrong),
            cell(case.right, right)
        )
        .expect("a text takes all");
    }
    assert!(missed.is_empty(), "{missed:#?}");
    blessed::between(&blessed::page("quic-mistakes.md"), BEGIN, END, &format!("{text}\n"));
}

/// noq 1.1.0 subtracted more than there was on ordinary loss (noq #768). Overflows are checked in this test: with 1.1.0 each of
/// these paths is a panic in `bbr3/mod.rs`, with 1.4.0 none.
#[test]
fn noqs_bbr3_takes_ordinary_loss() {
    for (loss, buffer) in [("0 %", "0.1 bdp"), ("1 %", "1 bdp"), ("3 %", "0.3 bdp"), ("5 %", "0.05 bdp")] {
        let path = format!(
            "[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"{buffer}\"\nloss = \"{loss}\"\n[[flow]]\nsize = \"20 MB\"\n"
        );
        let log = play(&path, Who::NoqBbr3);
        assert!(log.completed > rampcc::Time::ZERO, "{loss}, {buffer}: it does not finish");
        // Path and buffer hold 200 kB at most.
        let widest = log.samples.iter().map(|sample| sample.cwnd_bytes).max().unwrap_or(0);
        assert!(widest < 3_000_000, "{loss}, {buffer}: a window of {widest} bytes");
    }
}

const BEGIN: &str = "<!-- made by the test `bugs` of quic-sim; `make bless` -->\n";
const END: &str = "<!-- end of mistakes -->\n";
