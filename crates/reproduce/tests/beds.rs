//! The beds of the papers' figures have no constant of their own making: each is one of a list, with its source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// What the beds of HyStart's §5 have, and who says so. Swept values and what a file sets on top stand in the files, which say
/// under `taken` what a paper leaves open.
const HYSTART: &[(&str, &[&str], &str)] = &[
    ("profile", &["era"], "docs/fidelity.md: RFCs of the paper's years"),
    ("dumbbell.pairs", &["2", "3"], "§5.1: two test flows; a third pair for background traffic"),
    ("dumbbell.rate", &["100 Mbit/s", "400 Mbit/s"], "captions"),
    ("dumbbell.rtt", &["106 ms", "160 ms", "240 ms", "100 ms", "120 ms"], "captions"),
    ("dumbbell.buffer", &["883 packets", "1 bdp"], "captions: one BDP"),
    ("dumbbell.jitter.kind", &["grant"], "§5.1: dummynet serves once in a tick"),
    ("dumbbell.jitter.period", &["1 ms"], "FreeBSD 7: HZ = 1000"),
    ("dumbbell.reverse.jitter.kind", &["grant"], "as forth"),
    ("dumbbell.reverse.jitter.period", &["1 ms"], "as forth"),
    ("sender.initial-window", &["3"], "RFC 3390 with 1448 bytes, Linux 2.6.23"),
    (
        "sender.recovery",
        &["fack", "fack-hints"],
        "Linux 2.6: sysctl_tcp_fack = 1; 2.6.15 to 2.6.23: tcp_sacktag_write_queue",
    ),
    ("sender.rto-min-of-variance", &["true"], "Linux: tcp_set_rto"),
    ("sender.rto-tick", &["0 s"], "Linux: time stamps of 1 ms"),
    ("sender.rto-max", &["120 s"], "Linux: TCP_RTO_MAX"),
    ("sender.undo", &["true"], "Linux: tcp_try_undo_recovery"),
    ("sender.idle-restart", &["true"], "Linux: tcp_slow_start_after_idle = 1"),
    ("receiver.acks", &["linux"], "Linux: quick ACKs, then every second"),
    ("receiver.quick-acks", &["16"], "Linux: TCP_MAX_QUICKACKS"),
    ("receiver.gathers-sacks", &["false"], "Linux until 4.17"),
    ("receiver.ack-timer", &["40 ms"], "Linux: TCP_DELACK_MIN"),
    (
        "receiver.window",
        &["autotuned", "36000 kB"],
        "§5.1: autotuned; Figures 11 and 12: by hand, as Figure 1",
    ),
    // Sockets of two BDPs are 3 BDPs of window where Linux doubles them (socket(7)) and offers 3/4 (tcp(7)); §5.1's autotuned ones
    // are said to be two, and Figures 1, 9a and 11 show windows above that. The pages of Figure 9 have both.
    (
        "cpu.search",
        &["hint", "hint-in-order"],
        "Linux 2.6.15 to 2.6.23: tcp_sacktag_write_queue; receivers by the paper's account, or by tcp_data_queue",
    ),
    (
        "cpu.cache",
        &["5461", "10922"],
        "Xeon of 2.8 GHz: 1 or 2 MB of second-level cache, by Table 1 with windows of two or three BDPs; three lines of 64 bytes for a sk_buff's links, its cb, and its shared info",
    ),
    (
        "cpu.miss",
        &["100 ns", "200 ns"],
        "memory of those years, behind a front-side bus; 200 by Table 1; a read of a list's next entry takes 160 (Drepper 2007)",
    ),
    ("cpu.visit", &["3 ns"], "Table 1's three smallest paths"),
    ("cpu.ring", &["256"], "e1000: E1000_DEFAULT_RXD"),
    (
        "cpu.interrupt-gap",
        &["50 us"],
        "e1000 of 2.6.23: InterruptThrottleRate 3, at most 20000 a second (e1000_set_itr)",
    ),
    ("receiver.window-max", &["3975 kB", "24000 kB", "15000 kB", "18000 kB"], "three BDPs"),
];

fn leaves(at: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Table(table) => {
            for (key, inner) in table {
                leaves(&if at.is_empty() { key.clone() } else { format!("{at}.{key}") }, inner, found);
            }
        }
        Value::String(text) => found.push((at.to_owned(), text.clone())),
        other => found.push((at.to_owned(), other.to_string())),
    }
}

/// What HyStart's experiments share.
fn shared() -> Vec<(String, String)> {
    let paper = fs::read_to_string(root().join("experiments/hystart/paper.toml")).unwrap();
    let paper: Table = paper.parse().unwrap();
    let sets = paper["set"].as_table().unwrap().values();
    let settings = sets.flat_map(|set| set.as_array().unwrap()).map(|setting| setting.as_str().unwrap());
    settings.filter_map(|text| text.split_once('=')).map(|(f, v)| (f.to_owned(), v.to_owned())).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_constant_of_hystarts_beds_has_a_source() {
    let mut beds = vec![fs::read_to_string(root().join("scenarios/hystart-dumbbell.toml")).unwrap()];
    for entry in fs::read_dir(root().join("experiments/hystart")).unwrap() {
        let file: Table = fs::read_to_string(entry.unwrap().path()).unwrap().parse().unwrap();
        beds.extend(file.get("inline").and_then(Value::as_str).map(str::to_owned));
    }
    assert!(beds.len() >= 8, "{}", beds.len());
    let mut shared = shared();
    let mut used = BTreeSet::new();
    for bed in &beds {
        let table: Table = bed.parse().unwrap();
        let mut found = Vec::new();
        // Who sends when is the figure's; the others are the bed's.
        for (key, value) in table.iter().filter(|(key, _)| {
            !["description", "runs", "duration", "flow", "traffic", "uncertain"].contains(&key.as_str())
        }) {
            leaves(key, value, &mut found);
        }
        for (field, value) in found.into_iter().chain(std::mem::take(&mut shared)) {
            let known =
                HYSTART.iter().find(|(name, values, _)| *name == field && values.contains(&value.as_str()));
            assert!(known.is_some(), "{field} = {value} has no source");
            used.insert((field, value));
        }
    }
    for (name, values, source) in HYSTART {
        assert!(!source.is_empty());
        let here = values.iter().filter(|value| used.contains(&((*name).to_owned(), (**value).to_owned())));
        assert!(here.count() > 0, "no bed has {name}");
    }
}
