//! Every message names line and field and says what is allowed.

use rampcc_scenario::{AdHoc, Arm, Scenario, ScenarioError, Setting};

const PATH: &str = "[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n";

fn error(text: &str) -> ScenarioError {
    match Scenario::parse("my-path.toml", text, None) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

#[track_caller]
fn says(text: &str, line: usize, message: &str) {
    let error = error(text);
    assert_eq!(error.explain(), format!("my-path.toml line {line}, {message}"), "of\n{text}");
    assert_eq!(error.field().map(|f| f.line), Some(line));
}

#[test]
fn the_place_is_exact() {
    let error = error("size = \"1 MB\"\n[path]\nrate = \"10 Mbit/s\"\nrtt   = \"fast\"\n");
    let field = error.field().unwrap();
    assert_eq!(
        (field.file.as_str(), field.line, field.column, field.field.as_str()),
        ("my-path.toml", 4, 9, "path.rtt")
    );
}

/// Where the mistakes of a text are, in the order in which they are reported.
fn places(text: &str) -> Vec<(usize, String)> {
    let error = error(text);
    let field = error.field().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(error.explain().lines().count(), field.all().count());
    field.all().map(|f| (f.line, f.field.clone())).collect()
}

#[track_caller]
fn told(text: &str, expected: &[(usize, &str)]) {
    let found = places(text);
    let found: Vec<(usize, &str)> = found.iter().map(|(line, field)| (*line, field.as_str())).collect();
    assert_eq!(found, expected, "of\n{text}");
}

#[test]
fn all_mistakes_are_told_by_their_place() {
    told(
        "sise = \"1 MB\"\nruns = 0\n[path]\nrate = \"5 potatoes\"\nrtt = \"fast\"\nbufer = \"1 bdp\"\nloss = 2.0\n\
         queue = { kind = \"red\", min = -1, max = -2 }\njitter = [\"x\", { kind = \"sine\" }]\n\
         reverse = { rate = \"0 bit/s\", delay = true }\n",
        &[
            (1, "sise"),
            (2, "runs"),
            (4, "path.rate"),
            (5, "path.rtt"),
            (6, "path.bufer"),
            (7, "path.loss"),
            (8, "path.queue.min"),
            (8, "path.queue.max"),
            (9, "path.jitter[0]"),
            (9, "path.jitter[1].amplitude"),
            (9, "path.jitter[1].period"),
            (10, "path.reverse.rate"),
            (10, "path.reverse.delay"),
        ],
    );
    told(
        "[[link]]\nfrom = \"a\"\nto = \"a\"\nrate = \"1 Mbit/s\"\n[sender]\nmss = 3\nvegas-alpha = \"x\"\n[receiver]\nacks = \"slow\"\n\
         [[flow]]\nfrom = \"nowhere\"\nsize = \"x\"\n[[flow]]\nstart = true\nalgorithm = \"nobody\"\n\
         [[traffic]]\nkind = \"poisson\"\nsize = \"0 B\"\n[algorithm.hystart]\nlow_window = \"x\"\n[algorithm.nobody]\n\
         [uncertain]\n\"path.rtt\" = 3\nruns = \"1 to 5\"\n",
        &[
            (3, "link[0].to"),
            (6, "sender.mss"),
            (7, "sender.vegas-alpha"),
            (9, "receiver.acks"),
            (12, "flow[0].size"),
            (14, "flow[1].start"),
            (15, "flow[1].algorithm"),
            (16, "traffic[0].flows-per-second"),
            (18, "traffic[0].size"),
            (20, "algorithm.hystart.low_window"),
            (21, "algorithm.nobody"),
            (23, "uncertain.path.rtt"),
            (24, "uncertain.runs"),
        ],
    );
}

#[test]
fn timestamps_are_off_or_tick() {
    for (written, found) in [
        ("\"2 s\"", "\"2 s\""),
        ("\"500 ns\"", "\"500 ns\""),
        ("0", "0"),
        ("false", "false"),
        ("\"never\"", "\"never\""),
    ] {
        let text = format!("{PATH}[receiver]\ntimestamps = {written}\n");
        let told =
            format!("receiver.timestamps: found {found}; expected \"off\", or a time from 1 us to 1 s");
        says(&text, 5, &told);
    }
}

#[test]
fn what_follows_from_a_mistake_is_none_of_its_own() {
    // A round-trip time that is none is not too short for the delays within it, nor its BDP unknown.
    told(
        &PATH.replace("50 ms", "50 parsecs").replace(
            "[path]\n",
            "[path]\naccess = { rate = \"1 Gbit/s\", delay = \"5 ms\" }\nbuffer = \"1 bdp\"\n",
        ),
        &[(5, "path.rtt")],
    );
    told(&format!("{PATH}[sender]\nvegas-alpha = -1\nvegas-beta = 0\n"), &[(5, "sender.vegas-alpha")]);
    told(&format!("size = \"x\"\nstop = \"complete\"\n{PATH}"), &[(1, "size")]);
    // What is misspelt is not missing.
    told("[path]\nrte = \"1 Mbit/s\"\nrtt = \"50 ms\"\n", &[(2, "path.rte")]);
    told("[pth]\nrate = \"1 Mbit/s\"\nrtt = \"50 ms\"\n", &[(1, "pth")]);
}

#[test]
fn a_file_of_mistakes_is_told_in_part() {
    let many = "[[flow]]\nsize = \"x\"\n".repeat(500);
    let error = error(&format!("{PATH}{many}"));
    assert_eq!(error.field().unwrap().all().count(), 20);
    let help = error.field().unwrap().all().last().unwrap();
    let help = miette::Diagnostic::help(help).unwrap().to_string();
    assert!(help.ends_with("; 480 more mistakes are not shown"), "{help}");
}

#[test]
fn unknown_fields_come_with_the_nearest() {
    says(
        "[path]\nrate = \"1 Mbit/s\"\nbufer = \"1 bdp\"\nrtt = \"1 ms\"\n",
        3,
        "path.bufer: there is no such field; did you mean `buffer`?; expected `rtt`, `rtt-period`, `access`, \
         `sender-access`, `receiver-access`, `reverse`, `cross-traffic`, `rate`, `rate-period`, `trace`, `trace-offset`, \
         `random-trace-offset`, `delay-trace`, `delay-trace-step`, `buffer`, `queue`, `jitter`, `loss`, `reordering`, \
         `ack-filter`, `quick-start`, `ties`",
    );
    let found = error("[pth]\n").explain();
    assert!(
        found.starts_with("my-path.toml line 1, pth: there is no such field; did you mean `path`?"),
        "{found}"
    );
}

#[test]
fn a_delay_of_requests_needs_something_to_request() {
    let grant = |fields: &str| {
        format!("{PATH}[path.reverse]\njitter = {{ kind = \"grant\", period = \"40 ms\", {fields} }}\n")
    };
    says(
        &grant("request-delay = \"500 ms\""),
        5,
        "path.reverse.jitter.assured: it is missing; expected bytes, where there is a `request-delay`",
    );
    says(
        &grant("assured = \"60 B\", request-delay = \"1 h\""),
        5,
        "path.reverse.jitter.request-delay: found \"1 h\": it is out of range; expected a time from 0 us to 400 s",
    );
}

#[test]
fn quantities_say_what_they_may_be() {
    says(
        "[path]\nrtt = \"50 ms\"\nrate = \"10 potatoes\"\n",
        3,
        "path.rate: found \"10 potatoes\": `potatoes` is not a unit of rate; expected a rate such as \"150 Mbit/s\" (bit/s, \
         kbit/s, Mbit/s, Gbit/s, Tbit/s; B/s, kB/s, MB/s, GB/s)",
    );
    says(
        "[path]\nrate = \"10 Mbit/s\"\nrtt = 50\n",
        3,
        "path.rtt: found 50: it has no unit; expected a time such as \"600 ms\" (ns, us, ms, s, min, h)",
    );
    says(
        &format!("{PATH}buffer = \"-1 MB\"\n"),
        4,
        "path.buffer: found \"-1 MB\": it is negative; expected a buffer such as \"36 MB\", \"250 packets\", \"0.5 bdp\" or \
         \"50 ms\" (of the link's rate), or \"unlimited\"",
    );
    says(
        &format!("{PATH}loss = \"120 %\"\n"),
        4,
        "path.loss: found \"120 %\": `120 %` is not between 0 and 1; expected a probability such as \"1 %\" or 0.01, from 0 \
         to 1",
    );
    says(
        &format!("size = \"10Mb\"\n{PATH}"),
        1,
        "size: found \"10Mb\": `Mb` could mean bits: write B for bytes; expected a size such as \"36 MB\" (B, kB, MB, GB, TB = powers of 1000; KiB, MiB, GiB = powers of 1024)",
    );
    says(
        &format!("runs = 0\n{PATH}"),
        1,
        "runs: found 0: it is out of range; expected a whole number from 1 to 1000000",
    );
}

#[test]
fn missing_fields_are_named() {
    says(
        "name = \"x\"\n",
        1,
        "path: there is no topology; expected exactly one of `[path]`, `[dumbbell]`, `[parking-lot]` and `[[link]]`",
    );
    let found = error("[path]\nrate = \"1 Mbit/s\"\n").explain();
    assert_eq!(found, "my-path.toml line 1, path.rtt: it is missing; expected time or list of `{ at, rtt }`");
    let found = error("[path]\nrtt = \"1 ms\"\n").explain();
    assert!(
        found.contains("path.rate: it is missing; expected a rate such as")
            && found.contains("trace = \"FILE\""),
        "{found}"
    );
}

#[test]
fn contradictions_are_named() {
    let found = error(&format!("{PATH}[dumbbell]\nrate = \"1 Mbit/s\"\nrtt = \"1 ms\"\n")).explain();
    assert!(found.contains("line 4, dumbbell: there is `path` as well; expected exactly one of"), "{found}");
    let found = error(&format!("{PATH}trace = \"x\"\n")).explain();
    assert_eq!(
        found,
        "my-path.toml line 4, path.trace: `rate` is given as well; expected either `rate` or `trace`"
    );
    let found = error(&format!("size = \"1 MB\"\n{PATH}[[flow]]\nsize = \"2 MB\"\n")).explain();
    assert_eq!(
        found,
        "my-path.toml line 1, size: flows are listed as well; expected `size`, or `responses.size`, in each `[[flow]]`"
    );
    let found = error(&format!("stop = \"complete\"\n{PATH}")).explain();
    assert_eq!(
        found,
        "my-path.toml line 1, stop: no flow under test ends by itself; expected \"duration\", or flows with a size"
    );
    let found = error(
        "[path]\nrate = \"1 Mbit/s\"\nrtt = \"1 ms\"\naccess = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n",
    )
    .explain();
    assert_eq!(
        found,
        "my-path.toml line 1, path.rtt: 1 ms leaves nothing for the bottleneck; expected at least 4 ms: the delays of `access` and `reverse` are counted in it"
    );
}

#[test]
fn choices_are_listed() {
    says(
        &format!("profile = \"modem\"\n{PATH}"),
        1,
        "profile: found \"modem\": did you mean `modern`?; expected `modern`, `era`, `ns2`",
    );
    says(
        &format!("{PATH}queue = \"fifo\"\n"),
        4,
        "path.queue: found \"fifo\"; expected `drop-tail`, `red`, `codel`, `random-drop`, `policer`",
    );
    says(
        &format!("{PATH}queue = {{ min = 3 }}\n"),
        4,
        "path.queue: `kind` is missing; expected `drop-tail`, `red`, `codel`, `random-drop`, `policer`",
    );
    says(
        &format!("{PATH}queue = {{ kind = \"red\", min = 80, max = 20 }}\n"),
        4,
        "path.queue: `max` is 20 and `min` is 80; expected `max` above `min`",
    );
    says(
        &format!("{PATH}[sender]\nrecovery = \"sackk\"\n"),
        5,
        "sender.recovery: found \"sackk\": did you mean `sack`?; expected `sack`, `fack`, `fack-hints`, `sack-ns2`, `newreno-impatient`, \
         `newreno-steady`, `newreno-flywheel`, `tahoe`",
    );
}

#[test]
fn algorithms_and_their_parameters() {
    let found = error(&format!("{PATH}[[flow]]\nalgorithm = \"histart\"\n")).explain();
    assert!(found.starts_with("my-path.toml line 5, flow[0].algorithm: there is no algorithm `histart`; did you mean `hystart`?; expected `slow_start`"), "{found}");
    let found = error(&format!("{PATH}[algorithm.best]\nthreshhold = 1\n")).explain();
    assert!(found.starts_with("my-path.toml line 5, algorithm.best.threshhold: `best` has no parameter `threshhold`; did you mean `threshold`?; expected `threshold`"), "{found}");
    let found = error(&format!("{PATH}[algorithm.best]\nthreshold = \"2 TB/h\"\n")).explain();
    assert!(found.contains("line 5, algorithm.best.threshold: found \"2 TB/h\": `TB/h` is not a unit of rate; expected a rate from 0 to 1000000000000 bytes per second"), "{found}");
    let found = error(&format!("{PATH}[algorithm.hystartpp]\nmin_rtt_thresh_us = \"1 h\"\n")).explain();
    assert!(found.contains("it is out of range; expected a time from 0 us to 10 s"), "{found}");
    let found = error(&format!("{PATH}[algorithm.best]\nrtt = \"smooth\"\n")).explain();
    assert!(found.contains("expected `min`, `smoothed`"), "{found}");
}

#[test]
fn lists_of_steps_must_ascend_from_zero() {
    let steps = |list: &str| format!("[path]\nrtt = \"1 ms\"\nrate = {list}\n");
    says(
        &steps("[{ at = \"1 s\", rate = \"1 Mbit/s\" }]"),
        3,
        "path.rate[0].at: the first step begins later; expected 0 s for the first step",
    );
    says(
        &steps("[{ at = \"0 s\", rate = \"1 Mbit/s\" }, { at = \"0 s\", rate = \"2 Mbit/s\" }]"),
        3,
        "path.rate[1].at: steps are not in order; expected a time after 0 us",
    );
    says(
        &steps("[{ at = \"0 s\", rate = \"0 bit/s\" }]"),
        3,
        "path.rate: the link never serves; expected at least one rate above zero",
    );
    says(&steps("[]"), 3, "path.rate: the list has 0 steps; expected 1 to 100000 steps");
}

#[test]
fn graphs_must_hold_together() {
    let link = "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n";
    says(
        &format!("{link}[[flow]]\nfrom = \"a\"\nto = \"c\"\n"),
        7,
        "flow[0].to: there is no node \"c\"; expected \"a\", \"b\"",
    );
    says(
        &format!("{link}both-ways = false\n"),
        1,
        "link: there is no way from \"b\" to \"a\"; expected links that join them, there and back",
    );
    says(
        &format!("{link}buffer = \"1 bdp\"\n"),
        5,
        "link[0].buffer: a single link has no round-trip time to count bdp with; expected bytes, packets or time",
    );
    says(
        &format!("{link}{link}"),
        5,
        "link[1]: there is a link \"a->b\" already; expected a unique `name`; or `both-ways = false`",
    );
    says(
        &format!("bottleneck = \"a-b\"\n{link}"),
        1,
        "bottleneck: there is no link \"a-b\"; did you mean `a->b`?; expected `a->b`, `b->a`",
    );
    says(&format!("[[node]]\nname = \"a\"\n{link}"), 5, "link[0].to: there is no node \"b\"; expected \"a\"");
}

#[test]
fn text_that_is_not_toml() {
    let found = error("[path]\nrate = 10 Mbit/s\n").explain();
    assert!(
        found.starts_with("my-path.toml line 2, syntax: ") && found.contains("; expected TOML"),
        "{found}"
    );
}

#[test]
fn settings_are_named_as_what_is_wrong() {
    let with = |settings: &[&str]| {
        let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
        Scenario::open_with("deep-buffer", &settings).map_err(|e| e.explain())
    };
    let found = with(&["runs=3", "path.buffer=3 potatoes"]).unwrap_err();
    assert!(found.contains("path.buffer: found \"3 potatoes\": `potatoes` is not a unit of a buffer (set by `path.buffer=3 potatoes`); expected a buffer such as"), "{found}");
    let found = with(&["path.bufer=1bdp"]).unwrap_err();
    assert!(found.contains("did you mean `buffer`? (set by `path.bufer=1bdp`)"), "{found}");
    let found = with(&["name.x=1"]).unwrap_err();
    assert!(found.contains("name") && found.contains("name.x=1"), "{found}");
    let found = Setting::parse("path.buffer").unwrap_err().explain();
    assert_eq!(
        found,
        "`path.buffer`: there is no `=`; expected FIELD=VALUE with a field of the scenario file, such as path.buffer=0.25bdp or flow.0.size=10MB"
    );
}

#[test]
fn settings_leave_places_as_the_file_has_them() {
    let text = "name = \"x\"\nruns = 0\n\n[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n\
                queue = { kind = \"red\", min = 5 }\n\n[[flow]]\nsize = \"x\"\n[uncertain]\n\
                \"path.loss\" = \"0 to 1 %\"\n\"path.buffer\" = 3\n";
    let told = |settings: &[&str]| {
        let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
        let error = Scenario::parse_with("my-path.toml", text, None, &settings).unwrap_err();
        let places = error.field().unwrap().all();
        places.map(|f| (f.line, f.column, f.field.clone(), f.setting.is_some())).collect::<Vec<_>>()
    };
    let place = |line, column, field: &str, set| (line, column, field.to_owned(), set);
    let own = [place(2, 8, "runs", false), place(10, 8, "flow[0].size", false)];
    let uncertain = place(13, 17, "uncertain.path.buffer", false);
    assert_eq!(told(&[]), [&own[..], std::slice::from_ref(&uncertain)].concat());
    // Lines come and go above and below: what is absent is reported at the table where it would be.
    assert_eq!(
        told(&[
            "name=",
            "description=\"\"\"a\nb\"\"\"",
            "path.reverse.rate=1 potato",
            "path.loss=0",
            "path.queue.max=1"
        ]),
        [
            own[0].clone(),
            place(4, 1, "path.reverse.rate", true),
            place(7, 9, "path.queue", true),
            own[1].clone(),
            uncertain.clone()
        ]
    );
    // What is set over stands in its place; a misspelt name is not there at all.
    assert_eq!(
        told(&["path.rtt=fast", "path.queue.mix=1", "flow.0.size=1 MB"]),
        [own[0].clone(), place(6, 7, "path.rtt", true), place(7, 9, "path.queue.mix", true), uncertain]
    );
}

#[test]
fn arms_are_named_as_what_is_wrong() {
    let found = Arm::parse("histart").unwrap_err().explain();
    assert!(
        found.starts_with("`histart`: there is no algorithm `histart`; did you mean `hystart`?; expected "),
        "{found}"
    );
    let found = Arm::parse("best:threshold=fast").unwrap_err().explain();
    assert!(
        found.contains("`best:threshold=fast`: it does not start with a number; expected a rate from 0 to"),
        "{found}"
    );
    let found = Arm::parse("best:treshold=1").unwrap_err().explain();
    assert!(found.contains("did you mean `threshold`?"), "{found}");
    let found = Arm::sweep("path.buffer=1,2").unwrap_err().explain();
    assert!(
        found.contains("it names no parameter of an algorithm; expected algorithm.ID.NAME=VALUE"),
        "{found}"
    );
}

#[test]
fn ad_hoc_paths_name_their_options() {
    let path = AdHoc { rate: Some("100 potatoes".into()), rtt: Some("50ms".into()), ..AdHoc::default() };
    let found = path.scenario(None).unwrap_err().explain();
    assert!(found.contains("(set by `--rate 100 potatoes`); expected a rate such as"), "{found}");
    let found = AdHoc { rtt: Some("50ms".into()), ..AdHoc::default() }.scenario(None).unwrap_err().explain();
    assert!(found.starts_with("--rate is required; expected a rate such as"), "{found}");
}

#[test]
fn a_value_that_is_not_there_is_said_to_be_missing() {
    let found = Arm::parse("hystart:low_window=").unwrap_err().explain();
    assert_eq!(found, "`hystart:low_window=`: there is no value; expected NAME=VALUE");
    let found = Arm::sweep("algorithm.hystart.low_window=").unwrap_err().explain();
    assert!(found.starts_with("`algorithm.hystart.low_window=`: there is no value"), "{found}");
    let setting = Setting::parse("flow.7.size=3 MB").unwrap();
    let text = "[path]\nrate = '1 Mbit/s'\nrtt = '1 ms'\n";
    let found = Scenario::parse_with("x", text, None, &[setting]).unwrap_err().explain();
    assert!(
        found.starts_with("`flow.7.size=3 MB`: there is no `[[flow]]` table to have that number"),
        "{found}"
    );
}

#[test]
fn web_sessions_have_a_number_or_a_load() {
    let web = |fields: &str| format!("{PATH}[[traffic]]\nkind = \"web\"\n{fields}\n");
    says(
        &web("load = \"5 Mbit/s\"\nsessions = 3"),
        7,
        "traffic[0].sessions: `load` is given as well; expected either `sessions` or `load`",
    );
    says(
        &web("load = \"5 Mbit/s\"\nsize = { kind = \"pareto\", mean = \"12 kB\" }"),
        7,
        "traffic[0].size: with `load`, the largest size is missing; expected `max` in the table",
    );
    says(
        &web("size = { kind = \"pareto\", mean = \"12 kB\", max = \"12 kB\" }"),
        6,
        "traffic[0].size.max: it is not above `mean`; expected a size above the mean",
    );
    says(
        &web("size = { mean = \"12 kB\", max = \"1 MB\" }"),
        6,
        "traffic[0].size.max: only pareto has a largest size; expected `max` with `kind = \"pareto\"`",
    );
    says(
        &web("load = \"900 Gbit/s\"\nsize = \"1 kB\"\nthink = \"60 s\""),
        6,
        "traffic[0].load: that takes 1084500000 sessions at the same time; expected a load of at most 100000 sessions",
    );
    says(
        &web("rtt = { median = \"80 ms\", max = \"40 ms\" }"),
        6,
        "traffic[0].rtt.median: it is not between `min` and `max`; expected a time between them",
    );
}
