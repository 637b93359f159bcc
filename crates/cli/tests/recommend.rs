//! `ramp recommend`: a stack's choices on stated ranges and on a population.

use support::{Place, stderr, words};

mod support;

const PATHS: &str = "\
[dsl]\naccess = \"dsl\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"40 ms\"\npath.buffer = \"2 bdp\"\n\n\
[fibre]\naccess = \"fibre\"\npath.rate = \"200 Mbit/s\"\npath.rtt = \"20 ms\"\npath.buffer = \"1 bdp\"\n";

/// Where the path is slow, a large first burst overflows its ten packets of buffer and gains nothing.
const PATH: &str = "size = '1 MB'\n[path]\nrate = '5 Mbit/s'\nrtt = '60 ms'\nbuffer = '10 packets'\n\
[uncertain]\n\"path.rate\" = { range = '0.3 to 30 Mbit/s', reason = 'access lines' }\n";

const RANGES: [&str; 7] = ["recommend", "--stack", "stack.toml", "path.toml", "--sizes", "1MB", "--json"];

/// Windows alone.
const STACK: &str = "\
title = \"a stack\"\nnotes = \"It is made up.\"\n\
[initial-window]\nvalues = [10, 64]\ndefault = 10\nset = \"window {packets}\"\nsource = \"here\"\n\
[[start-up]]\nname = \"plain\"\nalgorithm = \"slow_start\"\ndefault = true\nset = \"-\"\nsource = \"here\"\n\
[[pacing]]\nname = \"none\"\nplay = [\"pacing=algorithm\"]\ndefault = true\nset = \"-\"\nsource = \"here\"\n";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn on_stated_ranges_it_says_which_field_turns_the_answer() {
    let place = Place::new("recommend_ranges");
    place.write("stack.toml", STACK);
    place.write("path.toml", PATH);
    let said = place.stdout(&RANGES);
    let found = json(&said);
    assert_eq!(found["paths"], 64, "{said}");
    assert_eq!(found["ranges"], serde_json::json!(["path.rate: 0.3 to 30 Mbit/s"]), "{said}");
    assert_eq!(found["choices"].as_array().unwrap().len(), 2);
    let (recommended, other) = (&found["recommended"], &found["flips"][0]["instead"]);
    assert_ne!(recommended, other, "{said}");
    assert_eq!(found["flips"][0]["field"], "path.rate", "{said}");
    let value = found["flips"][0]["value"].as_str().unwrap();
    let rate: f64 = value.split(' ').next().unwrap().parse().unwrap();
    assert!((2.0..20.0).contains(&rate), "{value}");
    assert!(found["flips"][0]["costs"].as_f64().unwrap() > 1.05, "{said}");

    // Again, without what is kept, on one core.
    let mut again = RANGES.to_vec();
    again.extend(["--no-cache", "-j", "1"]);
    let mut again = json(&place.stdout(&again));
    let mut found = found;
    for document in [&mut again, &mut found] {
        document.as_object_mut().unwrap().remove("command");
    }
    assert_eq!(again, found);
}

/// A first flight of 64 packets saves a round trip and loses a quarter of what it sends: faster, and not recommended.
#[test]
fn what_is_faster_by_losing_more_is_named_with_its_price_and_not_recommended() {
    let place = Place::new("recommend_harm");
    place.write("stack.toml", STACK);
    let path = "size = '100 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '100 ms'\nbuffer = '25 packets'\n\
[uncertain]\n\"path.rtt\" = { range = '80 to 120 ms', reason = 'routes' }\n";
    place.write("path.toml", path);
    let call = ["recommend", "--stack", "stack.toml", "path.toml", "--sizes", "100kB"];
    let said = place.stdout(&call).split_whitespace().collect::<Vec<_>>().join(" ");
    let price = "64 / plain / none takes 3 % less time, but does more harm than the default. It loses 27.51 % of the file, the default 0.00 %. \
                 Twenty of them that start together lose 32 %";
    assert!(said.contains(price), "{said}");
    let found = json(&place.stdout(&[&call[..], &["--json"]].concat()));
    assert_eq!(
        (&found["recommended"], &found["faster"]),
        (&"10 / plain / none".into(), &"64 / plain / none".into())
    );
    let lost = |place: usize| found["choices"][place]["lost"].as_f64().unwrap();
    assert!(found["choices"][0]["label"] == found["faster"] && lost(0) > 0.2 && lost(1) == 0.0, "{said}");
}

/// Its paths would not be those of who asks.
#[test]
fn a_range_without_the_described_value_is_refused_before_anything_is_played() {
    let place = Place::new("recommend_outside");
    let uncertain = ["--rate", "20mbit", "--rtt", "30ms", "--uncertain", "path.rtt=100ms..200ms"];
    for command in [&["recommend", "--stack", "nginx"][..], &["compare"]] {
        let output = place.ramp(&[command, &uncertain[..]].concat());
        let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("the path is described with 30ms, which the range does not hold"), "{said}");
    }
    assert!(!place.path("ramp-results").exists(), "something was played");
}

#[test]
fn on_a_population_the_table_says_how_to_set_what_is_recommended() {
    let place = Place::new("recommend_population");
    place.write("paths.toml", PATHS);
    let call = ["recommend", "--stack", "linux", "--paths", "paths.toml", "--sizes", "100kB,1MB"];
    let said = place.stdout(&call);
    assert!(said.contains("Linux TCP: 2 paths of paths.toml, downloads of 100kB, 1MB"), "{said}");
    let plain = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("If connections never start in crowds, 128 / ") && plain.contains("initcwnd 128"),
        "{said}"
    );
    assert!(said.contains("cubic (default)") && said.contains("recommended"), "{said}");
    let found = json(&place.read("ramp-results/recommend/recommend-linux.json"));
    let choices = found["choices"].as_array().unwrap();
    let label = |text: &str| choices.iter().position(|choice| choice["label"] == text).unwrap();
    assert!(label("64 / cubic / none") < label("10 / cubic / none"), "three round trips less for 100 kB");
    assert!(choices.iter().any(|choice| choice["default"] == true));
    // What a larger window costs where twenty downloads start together.
    let lost = |text: &str| choices[label(text)]["crowd"]["dropped"].as_f64().unwrap();
    assert!(lost("64 / cubic / none") > lost("10 / cubic / none") + 0.05, "{found}");
    assert_ne!(found["recommended"], found["without_crowds"], "{found}");
    let again = place.ramp(&call);
    assert!(stderr(&again).contains("runs were finished already"), "{}", stderr(&again));
    // The simulator's other rows have these settings as well.
    let row = place.stdout(&words("compare --rate 20mbit --rtt 40ms --size 100kB --exact --csv -a hystart,wide=hystart:initial-window=64"));
    assert!(row.contains("wide"), "{row}");
}

#[test]
fn the_guide_has_every_column() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/recommend.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for (heading, meaning) in rampcc_league::recommend::COLUMNS {
        assert!(guide.contains(&format!("| {heading} | {meaning} |")), "{heading}");
    }
    for stack in rampcc_league::recommend::Stack::names() {
        assert!(guide.contains(&format!("`{stack}`")), "{stack}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let place = Place::new("recommend_wrong");
    place.write("stack.toml", &STACK.replace("slow_start", "slow_starts"));
    place.write("bare.toml", "size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n[uncertain]\n");
    for (call, problem) in [
        (["--stack", "quin", "--quick"], "did you mean `quinn`"),
        (["--stack", "stack.toml", "--quick"], "did you mean `slow_start`"),
        (["--stack", "linux", "bare.toml"], "nothing of"),
        (["--stack", "nowhere.toml", "--quick"], "cannot be read"),
    ] {
        let refused = place.ramp(&[&["recommend"], &call[..]].concat());
        let said = stderr(&refused);
        assert!(refused.status.code() == Some(2) && said.contains(problem), "{call:?}: {said}");
    }
    assert!(!place.path("ramp-results").exists(), "nothing is half written");
    let kernel = place.ramp(&["compare", "--on", "linux", "-a", "hystart:initial-window=32", "--exact"]);
    assert_eq!(kernel.status.code(), Some(2), "{}", stderr(&kernel));
}
