//! What is wrong with a file is reported with its line, its field, what was found and what is allowed, before anything is played.

use rampcc_reproduce::{Experiment, Extent, ReproduceError, Work};
use rampcc_sim::Simulator;

const SOUND: &str = r#"id = "sample"
paper = "best"
figure = "Figure 1"
title = "A sample"
kind = "run"
inline = '''
[path]
rate = "10 Mbit/s"
rtt = "40 ms"
'''
set = ["duration=1 s"]
[[arm]]
label = "A"
algorithm = "slow_start"
[[sweep]]
name = "buffer"
field = "path.buffer"
values = ["5 packets", "9 packets"]
[metric.rate]
of = "goodput"
window = ["0 s", "1 s"]
[[plot]]
form = "lines"
metric = "rate"
[[claim]]
text = "It sends."
where = "here"
check = "rate[A@5 packets] > 0"
"#;

/// Line, field, and parts of the problem and of what is allowed.
fn wrong(from: &str, to: &str) -> (usize, String, String) {
    assert!(SOUND.contains(from), "{from}");
    let text = SOUND.replacen(from, to, 1);
    let read = Experiment::read("sample.toml", &text);
    let found = read.and_then(|experiment| {
        Work::plan([&experiment], Extent { quick: false, backend: &Simulator, variant: None })
            .map(|work| work.runs())
    });
    match found {
        Err(ReproduceError::File(error)) => {
            assert!(error.to_string().starts_with(&format!("sample.toml line {}, ", error.line)));
            (error.line, error.field.clone(), format!("{} | {}", error.problem, error.allowed))
        }
        other => panic!("{from} -> {to}: {other:?}"),
    }
}

#[test]
fn the_guides_files_are_sound() {
    let hosts = include_str!("../../../docs/guide/cpu-hosts.toml");
    let silence = include_str!("../../../docs/guide/cpu-silence.toml");
    for (file, text, runs) in [("cpu-hosts.toml", hosts, 44), ("cpu-silence.toml", silence, 440)] {
        let experiment = Experiment::read(file, text).unwrap();
        let work =
            Work::plan([&experiment], Extent { quick: false, backend: &Simulator, variant: None }).unwrap();
        assert_eq!(work.runs(), runs);
    }
}

#[test]
fn the_sample_is_sound() {
    let experiment = Experiment::read("sample.toml", SOUND).unwrap();
    let work =
        Work::plan([&experiment], Extent { quick: false, backend: &Simulator, variant: None }).unwrap();
    assert_eq!(work.runs(), 2);
}

#[test]
fn settings_of_the_paper_are_put_in_by_name() {
    let of_hystart = |set: &str| {
        let text = SOUND.replace("\"best\"", "\"hystart\"").replace("duration=1 s", set);
        let experiment = Experiment::read("sample.toml", &text)?;
        let shared: Vec<String> = experiment.shared().map(|(name, _)| name.to_owned()).collect();
        Work::plan([&experiment], Extent { quick: false, backend: &Simulator, variant: None })?;
        Ok::<_, ReproduceError>(shared)
    };
    assert_eq!(of_hystart("@hosts").unwrap(), ["hosts"]);
    let of_a_choice = "duration=1 s\"]\nchoice = [{ name = \"hosts\", points = [{ label = \"a\", set = [\"@hosts\", \"@kernel\"] }] }]\n#";
    assert_eq!(of_hystart(of_a_choice).unwrap(), ["hosts", "kernel"]);
    let error = of_hystart("@host").unwrap_err().to_string();
    assert!(error.contains("has no set `host`"), "{error}");
}

/// A mistake in each line: what the sample has, what stands in its place, the line and field of the error, and parts of its text.
const MISTAKES: &str = r#"
title | titles | 4 titles | unknown field `titles` & `title`
"run" | "play" | 5 kind | unknown variant `play` & `substitute`
rate = "10 Mbit/s" | rate = "10" | 8 path.rate | has no unit & 150 Mbit/s
duration=1 s | duration=1 | 11 duration | it has no unit & a time
duration=1 s | durations=1 s | 11 durations | no such field & duration
duration=1 s | duration | 11 set | there is no `=` & FIELD=VALUE
duration=1 s | @hosts | 11 set | paper.toml of `best` has no set `hosts` & FIELD=VALUE
slow_start | slow_begin | 14 algorithm | slow_begin & a row
path.buffer | path.bufer | 18 path.bufer | no such field & `buffer`
9 packets | 5 packets | 18 values | `5 packets` is there twice & once
goodput | godput | 20 metric.rate.of | no metric `godput` & did you mean `goodput`?
["0 s", "1 s"] | ["2 s", "1 s"] | 21 metric.rate.window | not the larger & two values
["0 s", "1 s"] | ["0 s", "1 s"]\nbelow = 0.1 | 22 metric.rate.below | no such bound & zero_time
of = "goodput" | of = "zero_time"\nbelow = 1.5 | 21 metric.rate.below | it is 1.5 & at most 1
of = "goodput" | of = "timeouts" | 21 metric.rate.window | of a whole run & no window
metric = "rate" | metric = "rat" | 24 plot.metric | no metric `rat` & rate
metric = "rate" | metric = "rate"\nrange = [3, 1] | 25 plot.range | no range & the smaller one first
metric = "rate" | metric = "rate"\nline = [{ label = "a" }] | 25 plot.line | at neither & `x` or `y`
form = "lines" | form = "pie" | 23 form | unknown variant `pie` & `bars`
rate[A@5 | rates[A@5 | 28 claim.check | no metric `rates` & rate
rate[A@5 | rate[B@5 | 28 claim.check | no arm `B` & one of A
[A@5 packets | [A@7 packets | 28 claim.check | no point `7 packets` & 5 packets
] > 0 | ] | 28 claim.check | compares nothing & a comparison
] > 0 | ] > nosuch(1) | 28 claim.check | no function `nosuch` & trend
id = "sample" | id = "../escaped" | 1 id | `../escaped` & a-z, 0-9 and -
id = "sample" | id = "index" | 1 id | `index` & not `index`
set = ["duration | runs = 0\nset = ["duration | 11 runs | nothing would be played & 1 or more
[[arm]] | quick = { runs = 0 }\n[[arm]] | 12 quick.runs | nothing would be played
"0 s", "1 s"] | "0 s", "2 s"] | 21 metric.rate.window | it ends at 2 s, and the run at 1 s
of = "goodput"\nwindow = ["0 s", "1 s"] | of = "lost_packets"\nwhose = "all" | 21 metric.rate.whose | under test & no `whose`
window = ["0 s", "1 s"] | size = ["1 B", "9 B"] | 21 metric.rate.size | not of single flows & flow_
of = "goodput"\nwindow = ["0 s", "1 s"] | of = "ack_bandwidth" | 20 metric.rate.round | which round trip & 1 to 8
] > 0" | ] > 0"\nreason = { why = " ", found = ["0 < x"] } | 29 claim.reason.why | says nothing
] > 0" | ] > 0"\nreason = { why = "a", found = [] } | 29 claim.reason.found | for which values
] > 0" | ] > 0"\nreason = { why = "a", found = ["rate[A@5 packets] > 0"] } | 29 claim.reason.found | between two known ones
] > 0" | ] > 0"\nreason = { why = "a", found = ["0 < rate[A@5 packets] < 9"], choice = "B" } | 29 claim.reason.choice | no choice `B`
] > 0" | ] > 0"\nlinux = { why = "a", found = ["0 < rate[A@5 packets] < 9"], choice = "B" } | 29 claim.linux.choice | played in the simulator alone
] > 0" | ] > 0"\nlinux = { why = "a", found = [] } | 29 claim.linux.found | for which values
] > 0" | ] > 0"\nproof = { why = " ", checks = ["1 < 2"] } | 29 claim.proof | it says nothing
] > 0" | ] > 0"\nproof = { why = "a", checks = [] } | 29 claim.proof | nothing is checked
] > 0" | ] > 0"\nproof = { why = "a", checks = ["rate[B] < 2"] } | 29 claim.check | no arm `B` & one of A
[metric.rate] | [[recorded]]\nlabel = "A"\nby = "ns"\nvalues = {}\n[metric.rate] | 20 recorded.label | `A` cannot name it
[metric.rate] | [[recorded]]\nlabel = "ns"\nby = ""\nvalues = {}\n[metric.rate] | 21 recorded.by | it says nothing & the command
[metric.rate] | [[recorded]]\nlabel = "ns"\nby = "b"\nvalues = { rate = { "7 packets" = 1 } }\n[metric.rate] | 22 recorded.values | no point `7 packets` & 5 packets
] > 0" | ] > paper" | 28 claim.paper | the paper's value at `5 packets` is missing
] > 0" | ] > 0"\npaper = { "5 packets" = 3 } | 29 claim.paper | does not name them
id = "sample" | id = "sample | 1 id | invalid
"#;

#[test]
fn every_mistake_names_its_place() {
    let mut unclear = Vec::new();
    for mistake in MISTAKES.trim().lines() {
        let columns: Vec<String> = mistake.split(" | ").map(|column| column.replace("\\n", "\n")).collect();
        let [from, to, place, parts] = columns.as_slice() else { panic!("{mistake}") };
        let (line, field, told) = wrong(from, to);
        if format!("{line} {field}") != *place || !parts.split(" & ").all(|part| told.contains(part)) {
            unclear.push(format!("{to}: line {line}, {field}: {told}"));
        }
    }
    assert!(unclear.is_empty(), "{unclear:#?}");
}

#[test]
fn a_mistake_in_a_choice_is_told_before_a_quick_run_as_well() {
    let text = format!("{SOUND}[[choice]]\nname = \"ACKs\"\nfield = \"receiver.nosuch\"\nvalues = [\"1\"]\n");
    let experiment = Experiment::read("sample.toml", &text).unwrap();
    for quick in [true, false] {
        let planned = Work::plan([&experiment], Extent { quick, backend: &Simulator, variant: None });
        let error = planned.err().unwrap().to_string();
        assert!(error.contains("line 32, receiver.nosuch"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_wrong_input() {
    let error = rampcc_reproduce::named("nosuch/sample.toml").unwrap_err();
    assert!(error.is_input() && error.to_string().contains("nosuch/sample.toml"), "{error}");
}

#[test]
fn a_trace_that_is_missing_is_told_before_anything_is_played() {
    let (line, field, told) = wrong("rate = \"10 Mbit/s\"\n", "trace = \"nosuch.down\"\n");
    assert_eq!((line, field.as_str()), (8, "path.trace"));
    assert!(told.contains("nosuch.down"), "{told}");
}

#[test]
fn a_substitute_says_what_is_played() {
    let (line, field, told) = wrong("kind = \"run\"", "kind = \"substitute\"");
    assert_eq!((line, field.as_str()), (5, "kind"));
    assert!(told.contains("`substitute`"), "{told}");
}
