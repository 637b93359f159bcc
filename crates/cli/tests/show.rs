//! `ramp list`, `ramp explain`, `ramp run`, and how output adapts to who reads it.

mod support;

use std::process::Stdio;

use serde_json::Value;
use support::{Place, SMALL, stderr, words};

const PATH: [&str; 6] = ["--rate", "20mbit", "--rtt", "40ms", "--size", "200kB"];

#[test]
fn everything_that_can_be_listed_has_rows() {
    let place = Place::new("list");
    let topics = place.stdout(&["list"]);
    let topics: Vec<&str> = topics.lines().skip(1).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(topics.len() >= 10, "{topics:?}");
    for topic in topics {
        let json: Value = serde_json::from_str(&place.stdout(&["list", topic, "--json"])).unwrap();
        let rows = json.as_array().unwrap();
        assert!(!rows.is_empty(), "{topic}");
        let first = rows[0].as_object().unwrap();
        assert!(
            first.len() >= 2 && first.values().any(|v| !v.as_str().unwrap().is_empty()),
            "{topic}: {first:?}"
        );
        assert!(place.stdout(&["list", topic]).lines().count() > rows.len(), "{topic}");
    }
}

#[test]
fn every_algorithm_scenario_and_metric_is_explained() {
    let place = Place::new("explain");
    for (topic, key) in [("algorithms", "algorithm"), ("scenarios", "scenario"), ("metrics", "metric")] {
        let rows: Value = serde_json::from_str(&place.stdout(&["list", topic, "--json"])).unwrap();
        for row in rows.as_array().unwrap() {
            let name = row[key].as_str().unwrap();
            let text = place.stdout(&["explain", name]);
            assert!(text.starts_with(name) && text.lines().count() >= 2, "{name}: {text}");
        }
    }
}

#[test]
fn an_algorithm_is_explained_with_its_parameters_and_its_document() {
    let place = Place::new("explain_hystart");
    let text = place.stdout(&["explain", "hystart"]);
    for part in
        ["Parameters", "low_window = 16 packets", "0 to 100000", "Linux hystart_low_window", "Deviations"]
    {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_run_writes_every_sample_after_how_to_make_it_again() {
    let place = Place::new("run_csv");
    let mut command = vec!["run", "--algorithm", "slow_start", "--seed", "3"];
    command.extend(PATH);
    let csv = place.stdout(&command);
    assert!(csv.starts_with("# version: "), "{csv:.80}");
    assert!(csv.contains(&format!("# command: \"ramp {}\"", command.join(" "))));
    assert!(csv.contains("# seed: 3\n"));
    let rows: Vec<&str> = csv.lines().filter(|l| !l.starts_with('#')).collect();
    let columns = rows[0].split(',').count();
    assert!(rows.iter().all(|row| row.split(',').count() == columns));
    assert!(rows.iter().any(|row| row.starts_with("completed,")), "the transfer does not end");
    assert!(place.stdout(&command) == csv, "the same run gives other bytes");
}

#[test]
fn a_run_on_a_terminal_prints_its_summary_and_no_samples() {
    let place = Place::new("run_terminal");
    let ramp = env!("CARGO_BIN_EXE_ramp");
    let on_terminal = |more: &str| {
        let command = format!("{ramp} run --algorithm slow_start {} {more}", PATH.join(" "));
        let output = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .output()
            .expect("util-linux");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let said = on_terminal("");
    assert!(said.contains("download time") && said.contains("--samples FILE"), "{said}");
    assert!(said.lines().count() < 60 && !said.contains("# version"), "{said}");
    assert!(on_terminal("--json").contains("\"completed\""), "who asks has them there, too");
}

#[test]
fn samples_go_to_a_file_by_its_ending() {
    let place = Place::new("run_file");
    let mut command = vec!["run", "--samples", "run.jsonl"];
    command.extend(PATH);
    let output = place.ramp(&command);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert!(stderr(&output).contains("download time"), "{}", stderr(&output));
    let lines = place.read("run.jsonl");
    let mut objects = lines.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    assert!(objects.next().unwrap()["provenance"]["version"].is_string());
    assert!(objects.any(|o| o["record"] == "flow"));
    command[2] = "run.txt";
    let output = place.ramp(&command);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(".jsonl"), "{}", stderr(&output));
    assert!(!place.path("run.txt").exists());
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let place = Place::new("broken_pipe");
    let mut command = place.command(&["run", "--rate", "100mbit", "--rtt", "20ms", "--size", "20MB"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("panicked") && !stderr(&output).contains("pipe"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn tables_fit_the_width_that_columns_gives() {
    let place = Place::new("widths");
    place.stdout(&[&words(SMALL)[..], &["--out", "out"]].concat());
    for width in [60, 80, 120, 200] {
        for arguments in [&["report", "out"][..], &["list", "algorithms"], &["explain", "hystart"]] {
            let output = place.command(arguments).env("COLUMNS", width.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let code = |line: &str| line.starts_with("startup --") || line.starts_with("report: ");
            let prose = |line: &&str| !code(line);
            let longest = text.lines().filter(prose).map(|l| l.chars().count()).max().unwrap();
            assert!(longest <= width, "{arguments:?}: {longest} > {width}\n{text}");
        }
    }
}

#[test]
fn algorithms_are_listed_with_what_they_need_and_where_they_run() {
    let place = Place::new("needs");
    let listed = place.stdout(&["list", "algorithms", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let row = |id: &str| rows.iter().find(|row| row["algorithm"] == id).unwrap().clone();
    assert_eq!(row("paced")["needs"], "pacing");
    assert_eq!(row("hystartpp")["groups"], "modern deployed");
    assert_eq!(
        row("best")["runs on"],
        if cfg!(target_os = "linux") { "sim quic quinn linux quic-real" } else { "sim quic quinn" }
    );
    let narrow = place.command(&["list", "algorithms"]).env("COLUMNS", "80").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.starts_with("algorithm ") && !narrow.contains("groups"), "{narrow}");
}

#[test]
fn groups_are_completed_and_a_wrong_one_is_bad_input() {
    let place = Place::new("groups");
    assert_eq!(completed(&place, &["compare", "--algorithms", "best,mod"]), ["best,modern"]);
    let output = place.ramp(&["compare", "--algorithms", "pappers"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `papers`?"), "{}", stderr(&output));
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let place = Place::new("colour");
    assert!(!place.stdout(&["explain", "hystart"]).contains('\x1b'));
    assert!(place.stdout(&["explain", "hystart", "--color", "always"]).contains('\x1b'));
}

#[test]
fn help_shows_examples() {
    let place = Place::new("help");
    for command in [&["--help"][..], &["compare", "--help"], &["run", "--help"], &["explain", "--help"]] {
        assert!(place.stdout(command).contains("Examples:\n  ramp "), "{command:?}");
    }
    assert!(place.stdout(&["--help"]).contains("completions"));
    let version = place.stdout(&["--version"]);
    assert_eq!(version.contains("features: linux"), cfg!(feature = "linux"), "{version}");
    assert!(place.stdout(&["explain", "HyStart"]).starts_with("hystart "));
}

const FIGURE: &str = r#"
id = "mine"
paper = "past"
figure = "Figure 1"
title = "Loss in a small buffer"
kind = "run"
inline = """
size = "300 kB"
[path]
rate = "10 Mbit/s"
rtt = "40 ms"
buffer = "5 packets"
"""
runs = 2
quick = { runs = 1 }
[[arm]]
label = "SS"
algorithm = "slow_start"
[metric.lost]
of = "flow_lost"
[[plot]]
form = "bars"
metric = "lost"
[[claim]]
text = "It loses."
where = "§1"
check = "lost[SS] > 0"
"#;

#[test]
fn pages_of_a_quick_reproduction_leave_the_whole_ones() {
    let place = Place::new("reproduce_quick");
    place.write("mine.toml", FIGURE);
    let whole = place.stdout(&["reproduce", "mine.toml", "--out", "out"]);
    assert!(whole.contains("1 of 1 checked claims hold\npages: out/index.html"), "{whole}");
    let page = std::fs::read(place.path("out/mine.html")).unwrap();
    let quick = place.stdout(&["reproduce", "mine.toml", "--out", "out", "--quick"]);
    assert!(quick.contains("pages: out/quick/index.html"), "{quick}");
    assert_ne!(std::fs::read(place.path("out/quick/mine.html")).unwrap(), page);
    assert_eq!(std::fs::read(place.path("out/mine.html")).unwrap(), page);
}

#[test]
fn a_new_paper_needs_only_files() {
    let place = Place::new("reproduce_paper");
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write(
        "mine/paper.toml",
        "id = \"made-up\"\nname = \"Made Up\"\nreference = \"Nobody: Nothing. 2026\"\n",
    );
    for (file, id) in [("fig10", "mine-fig10"), ("fig2", "mine-fig2")] {
        let text = FIGURE.replace("\"past\"", "\"made-up\"").replace("\"mine\"", &format!("\"{id}\""));
        place.write(&format!("mine/{file}.toml"), &text);
    }
    let list = place.stdout(&["reproduce", "mine", "--list"]);
    let second = list.find("mine-fig2").unwrap_or_else(|| panic!("{list}"));
    assert!(second < list.find("mine-fig10").unwrap(), "{list}");
    let played = place.stdout(&["reproduce", "mine", "--out", "out"]);
    assert!(played.contains("Made Up         2 of 2 checked claims hold"), "{played}");
    let page = std::fs::read_to_string(place.path("out/mine-fig2.html")).unwrap();
    assert!(page.contains("Nobody: Nothing. 2026"));

    place.write("mine/fig2.toml", FIGURE);
    assert!(
        place.stdout(&["reproduce", "mine/fig2.toml", "--list"]).contains("mine"),
        "of a paper of ramp's"
    );
    place.write("alone.toml", &FIGURE.replace("\"past\"", "\"made-up\""));
    let refused = place.ramp(&["reproduce", "alone.toml"]);
    let error = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("there is no paper `made-up`") && error.contains("paper.toml"), "{error}");
}

#[test]
fn a_variant_of_an_experiment_has_pages_of_its_own() {
    let place = Place::new("reproduce_variant");
    let open =
        "[[choice]]\nname = \"Buffer\"\nfield = \"path.buffer\"\nvalues = [\"5 packets\", \"900 packets\"]\n";
    let file = format!("{FIGURE}{open}");
    place.write("mine.toml", &file);
    assert_eq!(place.stdout(&["reproduce", "mine.toml", "--show"]), file);
    assert!(place.stdout(&["reproduce", "past-fig2", "--show"]).starts_with("id = \"past-fig2\""));
    let shared = place.stdout(&["reproduce", "hystart-fig9c", "--show"]);
    assert!(shared.contains("\n# @hosts, of its paper.toml: cpu.search=hint, "), "{shared}");
    place.stdout(&["reproduce", "mine.toml", "--out", "out"]);
    let page = std::fs::read(place.path("out/mine.html")).unwrap();
    // A claim that fails in a variant is a result, not an error.
    for (option, value, folder) in [
        ("--set", "path.buffer=800 packets", "out/with-path.buffer-800-packets-"),
        ("--choice", "Buffer=900 packets", "out/with-buffer-900-packets-"),
    ] {
        let told = place.stdout(&["reproduce", "mine.toml", "--out", "out", option, value]);
        assert!(told.contains("0 of 1 checked claims hold") && told.contains(folder), "{told}");
        let index = told.trim_end().rsplit("pages: ").next().unwrap();
        let varied = place.path(index).with_file_name("mine.html");
        let varied = std::fs::read_to_string(varied).unwrap();
        assert!(varied.contains(&format!("A variant of the experiment: {value}")), "{varied}");
        assert!(varied.contains(option) && !varied.contains("id=\"choices\""));
    }
    assert_eq!(std::fs::read(place.path("out/mine.html")).unwrap(), page);
    let one = place.stdout(&[
        "reproduce",
        "mine.toml",
        "--out",
        "out",
        "--set",
        "path.jitter={ kind = \"normal\", mean = \"1 ms\", sigma = \"1 ms\" }",
        "--runs",
        "3",
    ]);
    assert!(one.contains("(3 runs"), "{one}");
}

/// The completions that a shell would get for the last of these words.
fn completed(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&[&["--", "ramp"], words].concat());
    command.env("COMPLETE", "bash").env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_COMP_TYPE", "9");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_COMPLETE_SPACE", "false");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn shells_complete_names_of_this_version() {
    let place = Place::new("completions");
    assert!(place.stdout(&["completions", "bash"]).contains("_clap_complete_ramp"));
    place.write("my-path.toml", "");
    assert_eq!(completed(&place, &["compare", "geo-sat"]), ["geo-satellite"]);
    assert_eq!(completed(&place, &["compare", "my-p"]), ["my-path.toml"]);
    assert_eq!(completed(&place, &["compare", "--algorithms", "best,enh"]), ["best,enhanced"]);
    assert!(completed(&place, &["explain", "queue_p"]).contains(&"queue_peak".to_owned()));
    assert!(completed(&place, &["compare", "--sw"]).contains(&"--sweep".to_owned()));
}

/// Vegas judges the mean of a round that is over: its queue is gone when the ACK comes that decides.
#[test]
fn an_exit_is_explained_by_what_was_judged() {
    let place = Place::new("judged-round");
    for (rate, rtt, burst) in [
        ("10mbit", "40ms", false),
        ("1gbit", "20ms", true),
        ("150mbit", "600ms", true),
        ("1mbit", "300ms", false),
    ] {
        let path = ["run", "--rate", rate, "--rtt", rtt, "--buffer", "1bdp", "--size", "2MB", "-a", "vegas"];
        let said = stderr(&place.command(&path).output().unwrap());
        assert!(said.contains("because the round-trip time rose"), "{rate}: {said}");
        assert!(!said.contains("its wait in the queue"), "{rate}: {said}");
        assert_eq!(said.contains("a queue that its own burst made"), burst, "{rate}: {said}");
    }
}

/// Its ACKs wait for their turn on the return link, while bursts of a few packets come and go at the bottleneck.
#[test]
fn jitter_of_the_return_link_is_no_queue_of_a_burst() {
    let place = Place::new("judged-jitter");
    for seed in ["1", "7", "8", "9"] {
        let said =
            stderr(&place.command(&["run", "geo-jitter", "-a", "hystart", "--seed", seed]).output().unwrap());
        assert!(said.contains("the round-trip time rose"), "{seed}: {said}");
        assert!(said.contains("although nothing had queued at the bottleneck"), "{seed}: {said}");
    }
}

#[test]
fn every_command_of_the_help_has_a_manual_page() {
    let place = Place::new("manual");
    let help = place.stdout(&["--help"]);
    let commands = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let mut names: Vec<String> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()))
        .filter(|&name| name != "help")
        .map(|name| format!("ramp-{name}.1"))
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    names.push("ramp.1".to_owned());
    names.sort();
    place.stdout(&["man", "pages"]);
    let pages = place.files("pages");
    assert_eq!(pages.iter().map(|(name, _)| name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    for (name, page) in &pages {
        let page = String::from_utf8_lossy(page);
        let title = format!(".TH {} 1", name.trim_end_matches(".1"));
        assert!(page.contains(&title) && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    let page = place.read("pages/ramp-compare.1");
    let lines: Vec<&str> = page.lines().collect();
    // A line of the examples stays a line, and options stand under their own names.
    let example = lines.iter().position(|line| line.starts_with("  ramp compare cable")).expect("examples");
    assert_eq!((lines[example - 1], lines[example + 1]), (".nf", ".fi"));
    assert!(page.contains(".SH EXAMPLES") && page.contains("\\fB\\-\\-runs\\fR"), "{page}");
}
