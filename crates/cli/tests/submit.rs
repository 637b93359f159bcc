//! `ramp league --submit`: what is published first, and a record that is the same each time.

use serde_json::Value;
use support::{Place, stderr};

mod support;

const DRAW: &str = "00112233445566778899aabbccddeeff";

#[test]
fn a_submission_is_scored_on_paths_drawn_after_it_and_again_to_the_byte() {
    let place = Place::new("submission");
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include/ramp/hystart.h");
    let text = std::fs::read_to_string(core).unwrap().replace("hystart", "mine").replace("HYSTART", "MINE");
    place.write("mine.h", &text);
    let digest = place.stdout(&["league", "--submit", "mine.h"]);
    let digest = digest.lines().next().unwrap();
    assert!(digest.len() == 64 && digest.chars().all(|digit| digit.is_ascii_hexdigit()), "{digest}");
    let name = format!("submission-mine-{}.json", &digest[..8]);
    let record = |draw: &str, out: &str| {
        let words =
            ["league", "--quick", "--sizes", "100kB", "--algorithms", "hystart", "--submit", "mine.h"];
        let output = place.ramp(&[&words[..], &["--draw", draw, "--out", out]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        place.read(&format!("{out}/{name}"))
    };
    let first = record(DRAW, "first");
    assert!(first == record(&DRAW.to_ascii_uppercase(), "second"), "the same bytes");
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let (one, other) = (read(&first), read(&record(&DRAW.replace('0', "1"), "third")));
    assert_eq!((&one["format"], &one["submission"]["sha256"]), (&1.into(), &digest.into()));
    assert_ne!(one["submission"]["population"], other["submission"]["population"]);
    let rows = one["table"]["standings"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["label"] == "mine" && row["candidate"] == true), "{first}");
    assert!(rows.iter().any(|row| row["label"] == "hystart"), "{first}");
}

#[test]
fn a_submission_that_is_wrong_is_refused_with_what_is_allowed() {
    let place = Place::new("submission_wrong");
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include/ramp");
    let text = std::fs::read_to_string(format!("{core}/ideal.h")).unwrap();
    let told = "#define RAMP_MINE_TRAITS RAMP_KNOWS_PATH\n";
    let text = text.replace("ideal", "mine").replace("IDEAL", "MINE");
    place.write("mine.h", &text.replacen("RAMP_PARAMETERS(", &format!("{told}RAMP_PARAMETERS("), 1));
    let refused = |words: &[&str], what: &str| {
        let output = place.ramp(&[&["league", "--quick", "--algorithms", "hystart"], words].concat());
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(what), "{said}");
    };
    refused(&["--submit", "mine.h", "--draw", "abc"], "32 to 64 hexadecimal digits");
    refused(&["--submit", "none.h"], "none.h");
    refused(&["--draw", DRAW], "--submit");
    refused(&["--submit", "mine.h", "--draw", DRAW], "knows the path in advance");
}
