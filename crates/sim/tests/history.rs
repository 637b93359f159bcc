//! What hosts remember: from before the run, as the scenario says, and of the run's own connections.

mod common;

use common::{Log, play};
use rampcc::{HintSource, Time};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::FlowEventKind;

/// 1.25 MB.
const PATH: &str = "[path]\nrate = '100 Mbit/s'\nrtt = '100 ms'\n";

fn played(algorithm: &str, text: &str) -> Log {
    let scenario = Scenario::parse("x", text, None).unwrap_or_else(|e| panic!("{}", e.explain()));
    play(&scenario.with_arm(&Arm::parse(algorithm).expect("an arm")), 1).1
}

/// When each flow has arrived, counted from its opening.
fn downloads(log: &Log) -> Vec<Time> {
    let time = |flow, wanted: fn(&FlowEventKind) -> bool| {
        log.events.iter().find(|e| e.flow == flow && wanted(&e.kind)).expect("it opens and arrives").now
    };
    let flows = log.events.iter().filter(|e| matches!(e.kind, FlowEventKind::Opened { .. })).count();
    let download = |flow| {
        let opened = time(flow, |kind| matches!(kind, FlowEventKind::Opened { .. }));
        time(flow, |kind| matches!(kind, FlowEventKind::Completed { .. })) - opened
    };
    (0..flows as u32).map(download).collect()
}

/// One download after the other.
fn in_a_row(starts: &[&str]) -> String {
    let flows: Vec<String> =
        starts.iter().map(|start| format!("[[flow]]\nsize = '5 MB'\nstart = '{start}'\n")).collect();
    format!("duration = '3 h'\n{PATH}{}", flows.concat())
}

#[test]
fn a_connection_begins_with_what_the_one_before_it_has_left() {
    let text = in_a_row(&["0 s", "5 s", "10 s"]);
    let times = downloads(&played("careful", &text));
    assert!(times[1] + Time::from_ms(150) < times[0], "{times:?}");
    assert!(times[2] < times[0], "{times:?}");
    let plain = downloads(&played("slow_start", &text));
    assert_eq!(plain[0], plain[1], "who needs no history has none");
    assert_eq!(plain[0], times[0], "nothing was known");
}

#[test]
fn an_hour_later_it_is_forgotten() {
    let times = downloads(&played("careful", &in_a_row(&["0 s", "3601 s"])));
    assert!(times[1] + Time::from_ms(150) < times[0], "it closed less than an hour ago: {times:?}");
    let times = downloads(&played("careful", &in_a_row(&["0 s", "3605 s"])));
    assert_eq!(times[0], times[1]);
}

/// A phone that leaves its Wi-Fi: what was remembered is 18 times too much, and what is measured then too little to keep.
#[test]
fn a_path_that_has_become_small_is_forgotten_after_one_connection() {
    let on = |rate: &str| {
        let flow = |size: &str, start: &str| format!("[[flow]]\nsize = '{size}'\nstart = '{start}'\n");
        let starts = ["10 s", "20 s", "30 s", "40 s"].map(|start| flow("1 MB", start));
        let path = format!("[path]\nrtt = '50 ms'\nbuffer = '100 packets'\nrate = {rate}\n");
        format!("duration = '60 s'\n{path}{}{}", flow("10 MB", "0 s"), starts.concat())
    };
    let falling = |to: u32| {
        on(&format!("[{{ at = '0 s', rate = '100 Mbit/s' }}, {{ at = '4 s', rate = '{to} Mbit/s' }}]"))
    };
    for row in ["stateful", "fast_start", "careful", "quicly"] {
        let fell = downloads(&played(row, &falling(5)));
        let always = downloads(&played(row, &on("'5 Mbit/s'")));
        let apart: Vec<_> =
            fell.iter().zip(&always).skip(1).map(|(a, b)| if a > b { *a - *b } else { *b - *a }).collect();
        let near = Time::from_ms(1);
        assert!(apart[0] > near, "{row} remembers the path as it was: {apart:?}");
        assert!(apart[1..].iter().all(|apart| *apart < near), "{row}: {apart:?}");
    }
}

/// While one of them has it, another begins as if nothing were known.
#[test]
fn two_connections_at_a_time_do_not_both_begin_with_it() {
    let history = |also: &str| {
        format!("size = '1 MB'\n{PATH}[history]\nwindow = '0.5 bdp'\n[[flow]]\nsize = '1 MB'\n{also}")
    };
    let second = "[[flow]]\nsize = '1 MB'\nstart = '0.1 ms'\n";
    let told = |log: &Log| {
        let mut first = [0; 2];
        for sample in log.flows.iter().rev() {
            first[sample.flow as usize] = sample.cwnd_bytes;
        }
        first
    };
    let log = played("stateful", &history(second).replacen("size = '1 MB'\n", "", 1));
    let [one, other] = told(&log);
    assert!(one > 500_000 && other < 20_000, "{one} {other}");
}

#[test]
fn places_are_remembered_each_by_itself() {
    let flow = |to: &str, start: &str| format!("[[flow]]\nto = '{to}'\nsize = '5 MB'\nstart = '{start}'\n");
    let link =
        |to: &str| format!("[[link]]\nfrom = 'server'\nto = '{to}'\nrate = '100 Mbit/s'\ndelay = '50 ms'\n");
    let text =
        format!("{}{}{}{}{}", link("a"), link("b"), flow("a", "0 s"), flow("b", "5 s"), flow("a", "10 s"));
    let times = downloads(&played("careful", &text));
    assert_eq!(times[0], times[1]);
    assert!(times[2] < times[0], "{times:?}");
}

#[test]
fn what_a_scenario_says_is_remembered_is_told() {
    let download = |history: &str| {
        downloads(&played("careful", &format!("size = '5 MB'\n{PATH}[history]\n{history}\n")))[0]
    };
    let nothing = downloads(&played("careful", &format!("size = '5 MB'\n{PATH}")))[0];
    assert!(download("") + Time::from_ms(150) < nothing);
    assert_eq!(download("age = '59 min'"), download(""));
    assert_eq!(download("age = '61 min'"), nothing, "forgotten");
    assert_eq!(download("rtt = '1100 ms'"), nothing, "not the same path");
    assert!(download("window = '0.25 bdp'") > download(""));
}

#[test]
fn shares_are_of_the_path_and_values_are_as_given() {
    let hint = |history: &str| {
        let text = format!("{PATH}[history]\n{history}\n");
        let scenario = Scenario::parse("x", &text, None).unwrap_or_else(|e| panic!("{}", e.explain()));
        let facts = scenario.facts(0);
        let steered = |arm: &str| scenario.with_arm(&Arm::parse(arm).expect("an arm")).flows[0].sender.hint;
        assert_eq!(steered("slow_start").source(), HintSource::Path, "nobody else is told");
        (steered("careful"), facts)
    };
    let (told, facts) = hint("");
    assert_eq!((told.source(), told.age_s), (HintSource::History, 60));
    assert_eq!((told.window_bytes, u64::from(told.rtt_us)), (facts.bdp_bytes, facts.base_rtt.us()));
    let payload = facts.capacity[0].1.bytes_per_s();
    assert!(told.bytes_per_s.abs_diff(payload) < payload / 1000, "{told:?}");
    let (told, facts) = hint("window = '0.5 bdp'\nrtt = '200 %'\nage = '1 h'");
    assert_eq!((told.window_bytes, told.age_s), (facts.bdp_bytes.div_ceil(2), 3600));
    assert!(told.bytes_per_s.abs_diff(payload / 4) < payload / 1000, "{told:?}");
    let (told, _) = hint("window = '2 MB'\nrate = '50 %'\nrtt = '80 ms'");
    assert_eq!((told.window_bytes, told.bytes_per_s, told.rtt_us), (2_000_000, payload / 2, 80_000));
    assert_eq!(hint("rate = '8 Mbit/s'").0.bytes_per_s, 1_000_000);
}

#[test]
fn what_is_wrong_in_a_history_is_told() {
    for (history, said) in [
        ("window = '3 packets'", "0.5 bdp"),
        ("window = 5", "0.5 bdp"),
        ("rate = '-3 %'", "50 %"),
        ("rtt = 4", "200 %"),
        ("age = 'old'", "age"),
        ("whence = 1", "whence"),
    ] {
        let error = Scenario::parse("x", &format!("{PATH}[history]\n{history}\n"), None).expect_err(history);
        assert!(error.explain().contains(said), "{}", error.explain());
    }
    let unlimited = "[[link]]\nfrom = 'a'\nto = 'b'\nrate = 'unlimited'\ndelay = '5 ms'\n[history]\n";
    let Err(error) = Scenario::parse("x", unlimited, None) else { return };
    assert!(error.explain().contains("share") || error.explain().contains("rate"), "{}", error.explain());
}
