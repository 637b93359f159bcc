//! Every field of every table with values of every kind: a field that is read as another kind than the schema says panics.

use std::fmt::Write as _;

use rampcc_scenario::{Scenario, schema};

const PATH: &str = "[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n";
const FLOWS: &str = concat!("\"", env!("CARGO_TARGET_TMPDIR"), "/one-flow.csv\"");

/// By the name of the table: what stands before its fields, the fields that it needs, and what stands behind them.
const AROUND: &str = r#"
top level |  | path = { rate = "10 Mbit/s", rtt = "50 ms" } |
[path] | [path] | rate = "10 Mbit/s"; rtt = "50 ms" |
[path.reverse] | {path}[path.reverse] | rate = "10 Mbit/s" |
access = { … } | {path}access = { | rate = "1 Gbit/s" | }
[dumbbell] | [dumbbell] | rate = "10 Mbit/s"; rtt = "50 ms" |
[parking-lot] | [parking-lot] | rate = "10 Mbit/s"; hops = 2; delay = "5 ms" |
[[node]] | [[link]]\nfrom = "a"\nto = "x"\nboth-ways = true\nrate = "10 Mbit/s"\n[[node]]\nname = "a"\n[[node]] | name = "x" |
[[link]] | [[link]] | from = "a"; to = "b"; both-ways = true; rate = "10 Mbit/s" |
rate = [{ … }] | [path]\nrtt = "50 ms"\nrate = [{ | at = "0 s"; rate = "5 Mbit/s" | }]
rtt = [{ … }] | [path]\nrate = "5 Mbit/s"\nrtt = [{ | at = "0 s"; rtt = "5 ms" | }]
delay = [{ … }] | [[link]]\nfrom = "a"\nto = "b"\nboth-ways = true\nrate = "10 Mbit/s"\ndelay = [{ | at = "0 s"; delay = "5 ms" | }]
queue = { kind = "drop-tail" } | {path}queue = { | kind = "drop-tail" | }
queue = { kind = "red" } | {path}queue = { | kind = "red"; min = 0; max = 100 | }
queue = { kind = "codel" } | {path}queue = { | kind = "codel" | }
queue = { kind = "policer" } | {path}queue = { | kind = "policer"; rate = "5 Mbit/s"; burst = "30 kB" | }
queue = { kind = "random-drop" } | {path}queue = { | kind = "random-drop" | }
jitter = { kind = "uniform" } | {path}jitter = { | kind = "uniform"; max = "9 ms" | }
jitter = { kind = "normal" } | {path}jitter = { | kind = "normal"; mean = "9 ms"; sigma = "1 ms" | }
jitter = { kind = "pareto" } | {path}jitter = { | kind = "pareto"; median = "9 ms" | }
jitter = { kind = "sine" } | {path}jitter = { | kind = "sine"; amplitude = "9 ms"; period = "1 s" | }
jitter = { kind = "grant" } | {path}jitter = { | kind = "grant"; period = "9 ms"; assured = "60 B" | }
loss = { kind = "random" } | {path}loss = { | kind = "random"; probability = 0.1 | }
loss = { kind = "gilbert-elliott" } | {path}loss = { | kind = "gilbert-elliott"; to-bad = 0.1; to-good = 0.1 | }
loss = { kind = "listed" } | {path}loss = { | kind = "listed"; packets = [1, 2] | }
reordering = { … } | {path}reordering = { | probability = 0.1; delay = "1 ms" | }
ack-filter = { kind = "aggregate" } | {path}ack-filter = { | kind = "aggregate"; hold = "1 ms" | }
ack-filter = { kind = "thin" } | {path}ack-filter = { | kind = "thin"; keep = 2 | }
[[flow]] | {path}[[flow]] |  |
chunks = { … } | {path}[[flow]]\nchunks = { | size = "2 MB"; interval = "4 s" | }
responses = { … } | {path}[[flow]]\nresponses = { | size = "2 MB" | }
[[traffic]] kind = "cbr" | {path}[[traffic]] | kind = "cbr"; rate = "1 Mbit/s" |
[[traffic]] kind = "poisson" | {path}[[traffic]] | kind = "poisson"; flows-per-second = 5; size = "30 kB" |
[[traffic]] kind = "web" | {path}[[traffic]] | kind = "web" |
[[traffic]] kind = "listed" | {path}[[traffic]] | kind = "listed"; file = {flows} |
size = { … } | {path}[[traffic]]\nkind = "poisson"\nflows-per-second = 5\nsize = { | mean = "30 kB" | }
rtt = { … } | {path}[[traffic]]\nkind = "web"\nrtt = { | median = "80 ms" | }
[sender] | {path}[sender] |  |
[receiver] | {path}[receiver] |  |
[history] | {path}[history] |  |
[cpu] | {path}[cpu] |  |
[uncertain] "path.buffer" = { … } | {path}buffer = "60 kB"\n[uncertain]\n"path.buffer" = { | min = "20 kB"; max = "90 kB" | }
"#;

/// A value of each kind.
const VALUES: &str = r#"true | 0 | 2 | 40 | 0.5 | 1.5 | "10 ms" | "1 s" | "60 B" | "3000 B" | "5 packets" | "10 Mbit/s" | "a" | "unlimited" | [1] | { }"#;

#[derive(Clone, Debug)]
struct Around {
    name: String,
    head: String,
    needed: Vec<(String, String)>,
    tail: String,
}

fn around(line: &str) -> Around {
    let written = line.replace("\\n", "\n").replace("{path}", PATH).replace("{flows}", FLOWS);
    let columns: Vec<&str> = written.split('|').map(str::trim).collect();
    let [name, head, needed, tail] = columns[..] else { panic!("{line}") };
    let field =
        |field: &str| field.split_once(" = ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    Around {
        name: name.to_owned(),
        head: head.to_owned(),
        needed: needed.split("; ").filter_map(field).collect(),
        tail: tail.to_owned(),
    }
}

fn text(around: &Around, name: &str, value: &str) -> String {
    let Around { head, needed, tail, .. } = around;
    let mut text = format!("{head}\n");
    let end = if tail.is_empty() { "\n" } else { ",\n" };
    for (field, other) in needed.iter().filter(|(field, _)| *field != name) {
        let _ = write!(text, "{field} = {other}{end}");
    }
    text + &format!("{name} = {value}{end}{tail}\n")
}

#[test]
fn every_field_refuses_values_of_other_kinds_and_reads_none_of_them_as_its_own() {
    std::fs::write(FLOWS.trim_matches('"'), "0,1000\n").expect("tests may write there");
    let mut left: Vec<_> = AROUND.trim().lines().map(around).collect();
    let mut wrong = Vec::new();
    for table in schema::tables() {
        let place = left.iter().position(|around| around.name == table.name);
        let around = left.remove(place.unwrap_or_else(|| panic!("{} is not tried", table.name)));
        for field in table.fields() {
            let words: Vec<_> = field.allowed.split(", ").map(|word| format!("\"{word}\"")).collect();
            let values: Vec<_> = VALUES.split(" | ").chain(words.iter().map(String::as_str)).collect();
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
