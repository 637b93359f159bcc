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
    let cases: [(&[&str], &[&str]); 17] = [
        (&["compare", "nowhere"], &["nowhere", "geo-satellite"]),
        (&["compare", "missing.toml"], &["missing.toml"]),
        (&["compare", "field.toml"], &["path.rtt", "potatoes", "600 ms"]),
        (&["compare", "unknown.toml"], &["path.bufer", "buffer"]),
        (&["compare", "syntax.toml"], &["line 1"]),
        (&["compare", "bytes.toml"], &["bytes.toml"]),
        (&["compare", "--algorithms", "hystrat"], &["hystrat", "hystart"]),
        (&["compare", "--rate", "fast", "--rtt", "1ms"], &["rate", "fast", "Mbit/s"]),
        (&["compare", "--runs", "0"], &["--runs", "1"]),
        (&["compare", "--jobs", "0"], &["--jobs", "1"]),
        (&["compare", "--runs", "2", "--seed", "18446744073709551615"], &["--seed", "--runs"]),
        (&["compare", "--set", "algorithm.hystart.low_windov=3"], &["low_windov", "low_window"]),
        (&["compare", "--set", "path.rtt"], &["path.rtt", "="]),
        (&["compare", "--sweep", "path.rtt"], &["path.rtt", "="]),
        (&["compare", "--trace", "empty.trace", "--rtt", "40ms"], &["empty.trace"]),
        (&["explain", "hystrat"], &["hystrat", "hystart"]),
        (&["report", "nowhere"], &["nowhere"]),
    ];
    let before = place.files(".");
    for (arguments, expected) in cases {
        let output = place.ramp(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        for text in expected {
            assert!(said.contains(text), "{arguments:?} does not say `{text}`: {said}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert!(place.files(".") == before && !place.path("ramp-results").exists(), "something was written");
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let place = Place::new("unwritable");
    place.write("taken", "a file, not a directory");
    let output =
        place.ramp(&["compare", "--rate", "1mbit", "--rtt", "1ms", "--size", "1kB", "--out", "taken"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("taken"), "{}", stderr(&output));
}
