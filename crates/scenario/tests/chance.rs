//! Which scenarios leave something to chance.

use rampcc_scenario::Scenario;

const PLAIN: &str = "[path]\nrate = \"10 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n";

fn has_chance(more: &str) -> bool {
    let text = format!("{PLAIN}{more}");
    let scenario = Scenario::parse("test", &text, None);
    scenario.unwrap_or_else(|e| panic!("{}\n{text}", e.explain())).has_chance()
}

#[test]
fn what_is_drawn_from_the_seed_is_chance() {
    for drawn in [
        "jitter = \"1 ms\"",
        "loss = \"1 %\"",
        "queue = { kind = \"red\", min = 5, max = 15 }",
        "queue = { kind = \"random-drop\", above = \"10 kB\", probability = \"5 %\" }",
        "reordering = { probability = \"1 %\", delay = \"5 ms\" }",
        "[path.reverse]\njitter = { kind = \"grant\", period = \"10 ms\" }",
        "[[flow]]\nstart-jitter = \"10 ms\"",
        "[sender]\nrto-count-ticks = true\nrto-tick = \"10 ms\"\nrto-min-of-variance = false",
        "[[traffic]]\nkind = \"poisson\"\nflows-per-second = 5\nsize = \"10 kB\"",
    ] {
        assert!(has_chance(drawn), "{drawn}");
    }
}

#[test]
fn what_happens_in_every_run_is_not() {
    for certain in [
        "",
        "loss = \"0 %\"",
        "queue = { kind = \"codel\" }",
        "ack-filter = { kind = \"thin\", keep = 2 }",
        "[[flow]]\nstart-jitter = \"0 ms\"",
    ] {
        assert!(!has_chance(certain), "{certain}");
    }
}

#[test]
fn every_shipped_scenario_leaves_something_to_chance() {
    let certain: Vec<_> = Scenario::built_in_names()
        .filter(|name| !Scenario::built_in(name).expect("listed").has_chance())
        .collect();
    assert!(certain.is_empty(), "{certain:?}");
}
