//! Bad input: exit code 2, the field named, what is allowed said, nothing written.

mod support;

use support::{Place, stderr};

#[test]
fn bad_input_names_the_field_and_what_is_allowed() {
    let place = Place::new("bad_input");
    place.write("field.toml", "size = \"1 MB\"\n[path]\nrate = \"10 Mbit/s\"\nrtt = \"20 potatoes\"\n");
    place.write("unknown.toml", "[path]\nrate = \"10 Mbit/s\"\nrtt = \"20 ms\"\nbufer = \"1 bdp\"\n");
    place.write("syntax.toml", "[path\n");
    place.write("bytes.toml", "\u{0}\u{1}");
    place.write("empty.trace", "");
    place.write(
        "nothing.toml",
        "[path]\nrate = \"10 Mbit/s\"\nrtt = \"20 ms\"\n[[flow]]\nalgorithm = \"best\"\nsize = \"1 MB\"\n",
    );
    place.write("long.toml", &format!("[path]\nrate = \"{}\"\nrtt = \"1 ms\"\n", "x".repeat(200_000)));
    let cases: [(&[&str], &[&str]); 61] = [
        (&["compare", "nothing.toml"], &["no flow is under test", "under-test-share"]),
        (&["run", "nothing.toml"], &["no flow is under test"]),
        (&["compare", "long.toml"], &["long.toml line 2, path.rate"]),
        (&["compare", "--rate", "-10mbit", "--rtt", "5ms"], &["path.rate", "it is negative"]),
        (&["compare", "--rate", "--rtt", "5ms"], &["--rate", "`--rtt` is an option"]),
        (&["compare", "--runs", "-1"], &["--runs", "1..=1000000"]),
        (&["compare", "--runs", "1000001"], &["--runs", "1..=1000000"]),
        (&["compare", "--size", "5MB"], &["--rate and --rtt are required", "geo-satellite --size 5MB"]),
        (&["compare", "--rate", "5mbit"], &["--rtt is required", "600 ms"]),
        (&["compare", "--rtt", "5ms"], &["--rate is required", "150 Mbit/s"]),
        (&["compare", "--algorithms", ""], &["--algorithms is empty"]),
        (&["compare", "--algorithms", "=best"], &["`=best`", "no label"]),
        (
            &["compare", "--algorithms", "ideal=hystart"],
            &["`ideal=hystart`", "the name of another algorithm"],
        ),
        (&["compare", "--algorithms", "best=paced:max_overshoot=0"], &["`best` is the name of another"]),
        (&["compare", "--algorithms", "x="], &["`x=`", "no algorithm"]),
        (&["compare", "--algorithms", "best,,ideal"], &["--algorithms", "empty row"]),
        (&["compare", "--set", "flow.7.size=3MB"], &["flow.7.size=3MB", "no `[[flow]]`"]),
        (&["compare", "--algorithms", "hystart:low_window="], &["low_window=", "no value"]),
        (&["compare", "--sweep", "algorithm.hystart.low_window=1,1"], &["--sweep", "twice"]),
        (&["compare", "--sweep", "path.buffer=1bdp,1bdp"], &["--sweep", "twice"]),
        (&["compare", "--set", "path.buffer=0"], &["path.buffer", "at least one packet"]),
        (&["compare", "--set", "path.buffer=0bdp"], &["path.buffer", "at least one packet"]),
        (&["explain", "donload_time"], &["donload_time", "similar names: download_time,", "ramp list"]),
        (&["compare", "nowhere"], &["nowhere", "geo-satellite"]),
        (&["compare", "missing.toml"], &["missing.toml"]),
        (&["league", "--paths", "missing.toml"], &["--paths", "missing.toml"]),
        (&["league", "--weights", "missing.toml"], &["--weights", "missing.toml"]),
        (&["league", "--candidate", "missing.h"], &["missing.h cannot be read", "a C header that defines"]),
        (&["league", "--held-out", "--fresh", "7"], &["two populations", "--goals takes both"]),
        (&["league", "--into", "page.md"], &["--into has no table", "--goals"]),
        (&["league", "--goals"], &["--algorithms has to name the one", "`limited` and `hystart11` are two"]),
        (&["league", "--goals", "--algorithms", "hystart"], &["there is none", "--candidate FILE.h"]),
        (
            &["league", "--goals", "--algorithms", "reach", "--into", "empty.trace"],
            &["empty.trace", "<!-- goals: "],
        ),
        (&["league", "--ablation", "missing.toml", "--algorithms", "reach"], &["--ablation", "missing.toml"]),
        (&["league", "--ablation", "syntax.toml", "--algorithms", "reach"], &["syntax.toml", "line 1"]),
        (&["compare", "field.toml"], &["path.rtt", "potatoes", "600 ms"]),
        (&["compare", "unknown.toml"], &["path.bufer", "buffer"]),
        (&["compare", "syntax.toml"], &["line 1"]),
        (&["compare", "bytes.toml"], &["bytes.toml"]),
        (&["compare", "--algorithms", "hystrat"], &["hystrat", "hystart"]),
        (&["compare", "--rate", "fast", "--rtt", "1ms"], &["rate", "fast", "Mbit/s"]),
        (&["compare", "--runs", "0"], &["--runs", "1"]),
        (&["compare", "--jobs", "0"], &["--jobs", "1"]),
        (&["compare", "--runs", "2", "--seed", "18446744073709551615"], &["--seed", "2 runs"]),
        (&["compare", "--set", "algorithm.hystart.low_windov=3"], &["low_windov", "low_window"]),
        (&["compare", "--set", "path.rtt"], &["path.rtt", "="]),
        (&["compare", "--sweep", "path.rtt"], &["path.rtt", "="]),
        (&["compare", "--trace", "empty.trace", "--rtt", "40ms"], &["empty.trace"]),
        (&["reproduce", "hystart-fig9c", "--set", "path.rtt"], &["path.rtt", "="]),
        (
            &["reproduce", "hystart-fig9c", "--set", "dumbbell.bufer=3"],
            &["dumbbell.bufer", "did you mean `buffer`"],
        ),
        (&["reproduce", "hystart-fig9c", "--set", "dumbbell.rate=3"], &["dumbbell.rate", "no unit"]),
        (&["reproduce", "hystart-fig9c", "--choice", "Windows"], &["--choice `Windows`", "NAME=VALUE"]),
        (
            &["reproduce", "hystart-fig9c", "--choice", "Acknowledgement=x"],
            &["did you mean `Acknowledgements`"],
        ),
        (
            &["reproduce", "hystart-fig9c", "--choice", "Acknowledgements=none"],
            &["no value `none`", "every second"],
        ),
        (
            &["reproduce", "hystart-fig10a", "--choice", "Windows=x"],
            &["`hystart-fig10a` has no choices", "--set"],
        ),
        (
            &["reproduce", "hystart-fn3", "--set", "dumbbell.rate=1mbit"],
            &["nothing of `hystart-fn3` is played"],
        ),
        (&["reproduce", "past-fig1", "past-fig2", "--show"], &["2 experiments are named", "name one"]),
        (
            &["reproduce", "past-fig1", "--show", "--set", "size=1 MB"],
            &["--show", "cannot be used with", "--set"],
        ),
        (&["reproduce", "past-fig8", "--runs", "0"], &["--runs", "1"]),
        (&["explain", "hystrat"], &["hystrat", "hystart"]),
        (&["report", "nowhere"], &["nowhere"]),
    ];
    let before = place.files(".");
    for (arguments, expected) in cases {
        let said = place.fails(2, arguments, expected);
        assert!(said.len() < 2000, "{} bytes for {arguments:?}", said.len());
    }
    assert!(place.files(".") == before && !place.path("ramp-results").exists(), "something was written");
}

/// A file without an end is refused, not read until memory is full.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_an_end_is_too_large() {
    let place = Place::new("endless");
    std::os::unix::fs::symlink("/dev/zero", place.path("endless.toml")).unwrap();
    for words in [
        &["league", "--paths", "endless.toml"][..],
        &["league", "--weights", "endless.toml"],
        &["league", "--algorithms", "reach", "--ablation", "endless.toml"],
        &["reproduce", "endless.toml"],
        &["compare", "endless.toml"],
    ] {
        let output = place.ramp(words);
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains("larger than 4 MiB"), "{words:?}: {said}");
    }
}

#[test]
fn a_row_that_no_side_can_play_is_refused() {
    let place = Place::new("no_side");
    let output =
        place.ramp(&["compare", "--on", "sim,quic", "--algorithms", "hystart,cubic", "--size", "1MB"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("does not have `cubic`"), "{}", stderr(&output));
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let place = Place::new("unwritable");
    place.write("taken", "a file, not a directory");
    let output =
        place.ramp(&["compare", "--rate", "1mbit", "--rtt", "1ms", "--size", "1kB", "--out", "taken"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("results cannot go to taken/runs: taken is a file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn samples_that_cannot_be_written_say_why() {
    let place = Place::new("samples_unwritable");
    let path = ["--rate", "100mbit", "--rtt", "20ms", "--size", "20MB"];
    let output = place.ramp(&[&["run", "--samples", "nowhere/x.csv"], &path[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("nowhere/x.csv") && said.contains("No such file"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_interruption() {
    let place = Place::new("full_disk");
    let mut command = place.command(&["run", "--rate", "100mbit", "--rtt", "20ms", "--size", "20MB"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("cannot write the output") && !said.contains("interrupted"), "{said}");
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_names_all_the_same() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new("non_utf8");
    let out = OsStr::from_bytes(b"o\xff");
    let mut command = place.command(&["compare", "--rate", "20mbit", "--rtt", "10ms", "--size", "20kB"]);
    command.args(["--runs", "1", "--algorithms", "limited,hystart", "--out"]).arg(out);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.path("").join(out).join("report.html").is_file());
    let mut command = place.command(&["compare", "--algorithms"]);
    assert_eq!(command.arg(out).output().unwrap().status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_reader_of_errors_who_leaves_early_is_no_panic() {
    let place = Place::new("stderr_closed");
    let mut command = place.command(&["run", "--rate", "20mbit", "--rtt", "10ms", "--size", "20kB"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.stdout(std::process::Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

/// What a command prints that reads this from a pipe.
#[cfg(target_os = "linux")]
fn piped(place: &Place, arguments: &[&str], text: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;

    let mut command = place.command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_read_as_a_file_is() {
    let place = Place::new("pipes");
    let scenario = "name = \"piped\"\nsize = \"200 kB\"\n[path]\nrate = \"20 Mbit/s\"\nrtt = \"20 ms\"\nbuffer = \"1 bdp\"\n";
    let trace = (1..=400).map(|ms| ms.to_string()).collect::<Vec<_>>().join("\n");
    place.write("path.toml", scenario);
    place.write("link.trace", &trace);
    let rows = |text: &str| text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    let run = |path| ["run", path, "--algorithm", "hystart"];
    assert_eq!(rows(&piped(&place, &run("/dev/stdin"), scenario)), rows(&place.stdout(&run("path.toml"))));
    // Each value of a sweep, and each neighbour, reads it again.
    let compare = |path, out| {
        [
            "compare",
            path,
            "--sweep",
            "path.rtt=20ms,40ms",
            "--neighbours",
            "4",
            "--algorithms",
            "hystart,limited",
            "--csv",
            "--out",
            out,
        ]
    };
    let told = piped(&place, &compare("/dev/stdin", "a"), scenario);
    assert_eq!(rows(&told), rows(&place.stdout(&compare("path.toml", "b"))));
    let traced =
        |path| ["run", "--trace", path, "--rtt", "20ms", "--size", "200kB", "--algorithm", "hystart"];
    assert_eq!(
        rows(&piped(&place, &traced("/dev/stdin"), &trace)),
        rows(&place.stdout(&traced("link.trace")))
    );
    let output = place.ramp(&["run", "--trace", ".", "--rtt", "20ms"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("it is a directory"), "{}", stderr(&output));
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let place = Place::new("all_mistakes");
    place.write(
        "five.toml",
        "sise = \"1 MB\"\nruns = 0\n[path]\nrate = \"50 potatoes\"\nrtt = \"100 ms\"\nbufer = \"1 bdp\"\nloss = 2.0\n[sender]\nmss = 3\n",
    );
    let output = place.ramp(&["run", "five.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let places: Vec<usize> = [
        "line 1, sise",
        "line 2, runs",
        "line 4, path.rate",
        "line 6, path.bufer",
        "line 7, path.loss",
        "line 9, sender.mss",
    ]
    .map(|place| said.find(&format!("five.toml {place}")).unwrap_or_else(|| panic!("no {place}: {said}")))
    .to_vec();
    assert!(places.is_sorted(), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn the_path_that_is_shown_is_of_the_asked_population() {
    let place = Place::new("league_show");
    place.write("mine.toml", "[near]\naccess = \"a\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"20 ms\"\n");
    for (asked, name, shown) in [
        (vec![], "geo-01", "name = \"geo-01\""),
        (vec!["--held-out"], "geo-01", "name = \"held-out-geo-01\""),
        (vec!["--fresh", "7"], "geo-01", "name = \"fresh-7-geo-01\""),
        (vec!["--fresh", "7"], "league:held-out-geo-01", "name = \"held-out-geo-01\""),
        (vec!["--paths", "mine.toml"], "near", "name = \"near\""),
    ] {
        let words: Vec<&str> = ["league"].into_iter().chain(asked).chain(["--show", name]).collect();
        assert_eq!(place.stdout(&words).lines().next(), Some(shown), "{words:?}");
    }
    let output = place.ramp(&["league", "--paths", "mine.toml", "--show", "geo-01"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mine.toml has no path `geo-01`"), "{}", stderr(&output));
}
