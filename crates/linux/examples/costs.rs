//! What each callback costs, by the kernel's own statistics, beside the same callbacks of a connection that is plain
//! CUBIC. Run as root: `cargo run --release -p ramp-linux --example costs`.
#![expect(clippy::print_stdout, reason = "this example's whole purpose is a table")]

use std::collections::BTreeMap;

use ramp::{Algorithm, algorithm, algorithms};
use ramp_linux::{Options, Record, load};
use support::{Bottleneck, Network, Open, ready, run};

#[path = "../tests/support/mod.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod support;

const BYTES: u64 = 100_000_000;

/// Settings under which start-up does its whole work on every ACK and never ends on a clean path.
const ENDLESS: &[(&str, &str, u64)] = &[
    ("best", "threshold", 1_000_000_000_000),
    ("hystart", "eta_min_us", 10_000_000),
    ("hystart", "eta_max_us", 10_000_000),
    ("hystart", "detect", 2),
    ("hystartpp", "min_rtt_thresh_us", 10_000_000),
    ("hystartpp", "max_rtt_thresh_us", 10_000_000),
];

fn main() {
    if !ready() {
        return;
    }
    run("sysctl -qw kernel.bpf_stats_enabled=1");
    println!("ns per call (calls)");
    let plain = measure(algorithm("slow_start").expect("a row of the registry"), Record::Exits, true);
    show("plain CUBIC", &plain);
    for algorithm in algorithms() {
        show(algorithm.id, &measure(algorithm, Record::Exits, false));
    }
    show("best, all ACKs recorded", &measure(algorithm("best").expect("a row"), Record::All, false));
    run("sysctl -qw kernel.bpf_stats_enabled=0");
}

fn measure(
    algorithm: &'static Algorithm,
    record: Record,
    starved: bool,
) -> BTreeMap<String, (u128, u64, u32)> {
    let network = Network::new(Bottleneck::Lossless);
    if starved {
        network.sender_sysctl("net.core.optmem_max=1500");
    }
    let mut options = Options::new(algorithm);
    options.name = Some("ramp_costs".into());
    options.record = record;
    for (_, name, value) in ENDLESS.iter().filter(|(id, ..)| *id == algorithm.id) {
        let index = algorithm.parameters.iter().position(|p| p.name == *name).expect("a parameter of its");
        options.parameters[index] = *value;
    }
    let loaded = load(algorithm, &options).expect("loads");
    network.transfer(loaded.name(), Open::Active, BYTES);
    let exits = loaded.counters().expect("counters").all_exits();
    let mut costs: BTreeMap<_, _> = loaded
        .costs()
        .into_iter()
        .filter(|cost| cost.calls > 0)
        .map(|cost| {
            (
                cost.callback,
                (cost.total.as_nanos() / u128::from(cost.calls), cost.calls, cost.verified_instructions),
            )
        })
        .collect();
    costs.insert("(left start-up)".into(), (0, exits, 0));
    costs
}

fn show(title: &str, costs: &BTreeMap<String, (u128, u64, u32)>) {
    let cells: Vec<_> = costs
        .iter()
        .map(|(name, (ns, calls, seen))| format!("{name} {ns} ({calls}; {seen} insns)"))
        .collect();
    println!("{title:24} {}", cells.join(", "));
}
