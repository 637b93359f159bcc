//! Every field of every table with values of every kind: a field that is read as another kind than the schema says panics.

use std::fmt::Write as _;

use rampcc_scenario::{Scenario, schema};

const PATH: &[(&str, &str)] = &[("rate", "\"10 Mbit/s\""), ("rtt", "\"50 ms\"")];
const POISSON: &[(&str, &str)] = &[("kind", "\"poisson\""), ("flows-per-second", "5"), ("size", "\"30 kB\"")];

const FLOWS: &str = concat!("\"", env!("CARGO_TARGET_TMPDIR"), "/one-flow.csv\"");

/// A scenario as it is around a table's fields, and the fields that it needs.
#[derive(Clone, Copy, Debug)]
struct Around(&'static str, &'static [(&'static str, &'static str)], &'static str);

/// By the name of the table.
const AROUND: &[(&str, Around)] = &[
    ("top level", Around("", &[("path", "{ rate = \"10 Mbit/s\", rtt = \"50 ms\" }")], "")),
    ("[path]", Around("[path]\n", PATH, "")),
    ("[path.reverse]", Around("{path}[path.reverse]\n", &[("rate", "\"10 Mbit/s\"")], "")),
    ("access = { … }", Around("{path}access = {\n", &[("rate", "\"1 Gbit/s\"")], "}")),
    ("[dumbbell]", Around("[dumbbell]\n", PATH, "")),
    (
        "[parking-lot]",
        Around("[parking-lot]\n", &[("rate", "\"10 Mbit/s\""), ("hops", "2"), ("delay", "\"5 ms\"")], ""),
    ),
    (
        "[[node]]",
        Around(
            "[[link]]\nfrom = \"a\"\nto = \"x\"\nboth-ways = true\nrate = \"10 Mbit/s\"\n[[node]]\nname = \"a\"\n[[node]]\n",
            &[("name", "\"x\"")],
            "",
        ),
    ),
    (
        "[[link]]",
        Around(
            "[[link]]\n",
            &[("from", "\"a\""), ("to", "\"b\""), ("both-ways", "true"), ("rate", "\"10 Mbit/s\"")],
            "",
        ),
    ),
    (
        "rate = [{ … }]",
        Around("[path]\nrtt = \"50 ms\"\nrate = [{\n", &[("at", "\"0 s\""), ("rate", "\"5 Mbit/s\"")], "}]"),
    ),
    (
        "rtt = [{ … }]",
        Around("[path]\nrate = \"5 Mbit/s\"\nrtt = [{\n", &[("at", "\"0 s\""), ("rtt", "\"5 ms\"")], "}]"),
    ),
    (
        "delay = [{ … }]",
        Around(
            "[[link]]\nfrom = \"a\"\nto = \"b\"\nboth-ways = true\nrate = \"10 Mbit/s\"\ndelay = [{\n",
            &[("at", "\"0 s\""), ("delay", "\"5 ms\"")],
            "}]",
        ),
    ),
    ("queue = { kind = \"drop-tail\" }", Around("{path}queue = {\n", &[("kind", "\"drop-tail\"")], "}")),
    (
        "queue = { kind = \"red\" }",
        Around("{path}queue = {\n", &[("kind", "\"red\""), ("min", "0"), ("max", "100")], "}"),
    ),
    ("queue = { kind = \"codel\" }", Around("{path}queue = {\n", &[("kind", "\"codel\"")], "}")),
    (
        "queue = { kind = \"policer\" }",
        Around(
            "{path}queue = {\n",
            &[("kind", "\"policer\""), ("rate", "\"5 Mbit/s\""), ("burst", "\"30 kB\"")],
            "}",
        ),
    ),
    ("queue = { kind = \"random-drop\" }", Around("{path}queue = {\n", &[("kind", "\"random-drop\"")], "}")),
    (
        "jitter = { kind = \"uniform\" }",
        Around("{path}jitter = {\n", &[("kind", "\"uniform\""), ("max", "\"9 ms\"")], "}"),
    ),
    (
        "jitter = { kind = \"normal\" }",
        Around(
            "{path}jitter = {\n",
            &[("kind", "\"normal\""), ("mean", "\"9 ms\""), ("sigma", "\"1 ms\"")],
            "}",
        ),
    ),
    (
        "jitter = { kind = \"pareto\" }",
        Around("{path}jitter = {\n", &[("kind", "\"pareto\""), ("median", "\"9 ms\"")], "}"),
    ),
    (
        "jitter = { kind = \"sine\" }",
        Around(
            "{path}jitter = {\n",
            &[("kind", "\"sine\""), ("amplitude", "\"9 ms\""), ("period", "\"1 s\"")],
            "}",
        ),
    ),
    (
        "jitter = { kind = \"grant\" }",
        Around(
            "{path}jitter = {\n",
            &[("kind", "\"grant\""), ("period", "\"9 ms\""), ("assured", "\"60 B\"")],
            "}",
        ),
    ),
    (
        "loss = { kind = \"random\" }",
        Around("{path}loss = {\n", &[("kind", "\"random\""), ("probability", "0.1")], "}"),
    ),
    (
        "loss = { kind = \"gilbert-elliott\" }",
        Around(
            "{path}loss = {\n",
            &[("kind", "\"gilbert-elliott\""), ("to-bad", "0.1"), ("to-good", "0.1")],
            "}",
        ),
    ),
    (
        "loss = { kind = \"listed\" }",
        Around("{path}loss = {\n", &[("kind", "\"listed\""), ("packets", "[1, 2]")], "}"),
    ),
    (
        "reordering = { … }",
        Around("{path}reordering = {\n", &[("probability", "0.1"), ("delay", "\"1 ms\"")], "}"),
    ),
    (
        "ack-filter = { kind = \"aggregate\" }",
        Around("{path}ack-filter = {\n", &[("kind", "\"aggregate\""), ("hold", "\"1 ms\"")], "}"),
    ),
    (
        "ack-filter = { kind = \"thin\" }",
        Around("{path}ack-filter = {\n", &[("kind", "\"thin\""), ("keep", "2")], "}"),
    ),
    ("[[flow]]", Around("{path}[[flow]]\n", &[], "")),
    (
        "chunks = { … }",
        Around("{path}[[flow]]\nchunks = {\n", &[("size", "\"2 MB\""), ("interval", "\"4 s\"")], "}"),
    ),
    ("responses = { … }", Around("{path}[[flow]]\nresponses = {\n", &[("size", "\"2 MB\"")], "}")),
    (
        "[[traffic]] kind = \"cbr\"",
        Around("{path}[[traffic]]\n", &[("kind", "\"cbr\""), ("rate", "\"1 Mbit/s\"")], ""),
    ),
    ("[[traffic]] kind = \"poisson\"", Around("{path}[[traffic]]\n", POISSON, "")),
    ("[[traffic]] kind = \"web\"", Around("{path}[[traffic]]\n", &[("kind", "\"web\"")], "")),
    (
        "[[traffic]] kind = \"listed\"",
        Around("{path}[[traffic]]\n", &[("kind", "\"listed\""), ("file", FLOWS)], ""),
    ),
    (
        "size = { … }",
        Around(
            "{path}[[traffic]]\nkind = \"poisson\"\nflows-per-second = 5\nsize = {\n",
            &[("mean", "\"30 kB\"")],
            "}",
        ),
    ),
    ("rtt = { … }", Around("{path}[[traffic]]\nkind = \"web\"\nrtt = {\n", &[("median", "\"80 ms\"")], "}")),
    ("[sender]", Around("{path}[sender]\n", &[], "")),
    ("[receiver]", Around("{path}[receiver]\n", &[], "")),
    ("[history]", Around("{path}[history]\n", &[], "")),
    ("[cpu]", Around("{path}[cpu]\n", &[], "")),
    (
        "[uncertain] \"path.buffer\" = { … }",
        Around(
            "{path}buffer = \"60 kB\"\n[uncertain]\n\"path.buffer\" = {\n",
            &[("min", "\"20 kB\""), ("max", "\"90 kB\"")],
            "}",
        ),
    ),
];

/// A value of each kind.
const VALUES: [&str; 16] = [
    "true",
    "0",
    "2",
    "40",
    "0.5",
    "1.5",
    "\"10 ms\"",
    "\"1 s\"",
    "\"60 B\"",
    "\"3000 B\"",
    "\"5 packets\"",
    "\"10 Mbit/s\"",
    "\"a\"",
    "\"unlimited\"",
    "[1]",
    "{ }",
];

fn text(around: &Around, name: &str, value: &str) -> String {
    let Around(head, needed, tail) = around;
    let mut text = head.replace("{path}", "[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n");
    let end = if tail.is_empty() { "\n" } else { ",\n" };
    for (field, other) in needed.iter().filter(|(field, _)| *field != name) {
        let _ = write!(text, "{field} = {other}{end}");
    }
    text + &format!("{name} = {value}{end}{tail}\n")
}

#[test]
fn every_field_refuses_values_of_other_kinds_and_reads_none_of_them_as_its_own() {
    std::fs::write(FLOWS.trim_matches('"'), "0,1000\n").expect("tests may write there");
    let mut left: Vec<_> = AROUND.to_vec();
    let mut wrong = Vec::new();
    for table in schema::tables() {
        let place = left.iter().position(|(name, _)| *name == table.name);
        let (_, around) = left.remove(place.unwrap_or_else(|| panic!("{} is not tried", table.name)));
        for field in table.fields() {
            let words: Vec<_> = field.allowed.split(", ").map(|word| format!("\"{word}\"")).collect();
            let values: Vec<_> = VALUES.iter().copied().chain(words.iter().map(String::as_str)).collect();
            let parsed =
                |value: &&&str| Scenario::parse("x", &text(&around, field.name, value), None).is_ok();
            if values.iter().filter(parsed).count() == values.len() {
                wrong.push(format!("{} `{}`, {}", table.name, field.name, field.allowed));
            }
        }
    }
    assert!(left.is_empty(), "no table of the schema: {left:?}");
    assert!(wrong.is_empty(), "take whatever is there: {wrong:#?}");
}
