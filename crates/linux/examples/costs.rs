//! What an ACK costs under each algorithm beyond what it costs under the kernel's own CUBIC, by the kernel's own
//! statistics of BPF programs. Run as root:
//! `cargo run --release -p rampcc-linux --example costs [--json] [--page] [ROUNDS [ALGORITHM]...]`. `--page` also writes them
//! into `docs/algorithms/README.md`.
//!
//! CUBIC alone is no BPF program and has no such statistics. Compared is instead the same program on connections
//! without storage: it calls CUBIC's functions, as the kernel does, and nothing else. Both are timed with the same
//! overhead, in turns, on the same traffic, so that the difference is the algorithm's. The network is as fast as the
//! processor, which then does nothing else: `chrt -f 20 taskset -c 1` before the built program keeps others away.
#![expect(clippy::print_stdout, reason = "this example's whole purpose is a table")]

use std::collections::BTreeMap;
use std::{env, fmt, fs};

use rampcc::{Algorithm, algorithm, algorithms};
use rampcc_linux::{Loaded, Options, load};
use support::{Bottleneck, Network, Open, ready};

#[path = "../../ramp/tests/support/index.rs"]
mod index;
#[path = "../tests/support/mod.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod support;

const BYTES: u64 = 40_000_000;
/// Called for every ACK that acknowledges something.
const PER_ACK: [&str; 2] = ["pkts_acked", "cong_avoid"];

/// Settings under which start-up does its whole work on every ACK and never ends on a clean path.
const ENDLESS: &[(&str, &str, u64)] = &[
    ("best", "threshold", 1_000_000_000_000),
    ("hystart", "eta_min_us", 10_000_000),
    ("hystart", "eta_max_us", 10_000_000),
    ("hystart", "detect", 2),
    ("hystartpp", "min_rtt_thresh_us", 10_000_000),
    ("hystartpp", "max_rtt_thresh_us", 10_000_000),
];

/// Settings under which it ends at once.
const SHORT: &[(&str, &str, u64)] = &[("slow_start", "initial_ssthresh", 12)];

fn main() {
    let mut arguments: Vec<_> = env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let page = arguments.iter().any(|argument| argument == "--page");
    arguments.retain(|argument| argument != "--json" && argument != "--page");
    let rounds = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(9);
    let chosen = |id: &str| arguments.len() < 2 || arguments[1..].iter().any(|wanted| wanted == id);
    let Some(()) = ready() else { return };
    let _timed = Timed::begin();
    if !json {
        println!("ns per ACK, medians of {rounds} rounds of {} MB", BYTES / 1_000_000);
        println!("{:22} CUBIC  with it  more (quartiles)", "");
    }
    let say = |name: &str, cost: &Cost| {
        if json { println!("{}", cost.json(name)) } else { println!("{name:22} {cost}") }
    };
    let mut times = Vec::new();
    for algorithm in algorithms().iter().filter(|a| chosen(a.id) && a.runs_without(rampcc::LINUX_LACKS)) {
        let cost = compare(algorithm, ENDLESS, rounds);
        say(algorithm.id, &cost);
        times.push((algorithm.id, cost.more[1]));
    }
    if page {
        index::write_times(index::Times::Kernel, times);
    }
    // The same few instructions whichever algorithm it was.
    let slow_start = algorithm("slow_start").expect("a row of the registry");
    say("after start-up", &compare(slow_start, SHORT, rounds));
}

/// The kernel times BPF programs; afterwards as before.
struct Timed {
    before: String,
}

impl Timed {
    const SWITCH: &str = "/proc/sys/kernel/bpf_stats_enabled";

    fn begin() -> Self {
        let before = fs::read_to_string(Self::SWITCH).expect("the kernel has statistics of BPF programs");
        fs::write(Self::SWITCH, "1").expect("root may ask for them");
        Self { before }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        let _ = fs::write(Self::SWITCH, &self.before);
    }
}

/// What an ACK costs, ns.
struct Cost {
    without: f64,
    with: f64,
    /// Quartiles of the difference within a round.
    more: [f64; 3],
    left: u64,
    rounds: usize,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { without, with, more: [low, middle, high], left, rounds } = self;
        write!(f, "{without:5.0}  {with:7.0}  {middle:+.0} ({low:+.0} to {high:+.0}), ")?;
        write!(f, "{left} of {rounds} left start-up")
    }
}

impl Cost {
    fn json(&self, name: &str) -> String {
        let Self { without, more: [low, middle, high], .. } = self;
        let quartiles = format!("[{low:.1}, {high:.1}]");
        format!(
            r#"{{"name": "{name}", "cubic_ns": {without:.1}, "more_ns": {middle:.1}, "quartiles_ns": {quartiles}}}"#
        )
    }
}

fn compare(algorithm: &'static Algorithm, settings: &[(&str, &str, u64)], rounds: usize) -> Cost {
    let (rich, poor) = (Network::new(Bottleneck::Window), Network::new(Bottleneck::Window));
    let mut options = Options::new(algorithm);
    for (_, name, value) in settings.iter().filter(|(id, ..)| *id == algorithm.id) {
        let index = algorithm.parameters.iter().position(|p| p.name == *name).expect("a parameter of its");
        options.parameters[index] = *value;
    }
    options.name = Some("ramp_costs".into());
    let own = load(algorithm, &options).expect("loads");
    options.name = Some("ramp_plain".into());
    let plain = load(algorithm, &options).expect("loads");
    let (mut with, mut without, mut more) = (Vec::new(), Vec::new(), Vec::new());
    poor.sender_memory(64, || {
        for _ in 0..rounds {
            without.push(per_ack(&plain, &poor));
            with.push(per_ack(&own, &rich));
            more.push(with[with.len() - 1] - without[without.len() - 1]);
        }
    });
    let counters = plain.counters().expect("counters");
    assert_eq!((counters.opened, counters.without_storage), (0, rounds as u64), "this was not CUBIC alone");
    Cost {
        without: quartile(without, 2),
        with: quartile(with, 2),
        more: [1, 2, 3].map(|quarter| quartile(more.clone(), quarter)),
        left: own.counters().expect("counters").all_exits(),
        rounds,
    }
}

/// Of one transfer.
fn per_ack(loaded: &Loaded, network: &Network) -> f64 {
    let before = costs(loaded);
    network.transfer(loaded.name(), Open::Active, BYTES);
    let after = costs(loaded);
    let mean = |callback: &&str| {
        let (calls, ns) = after[*callback];
        let (calls_before, ns_before) = before[*callback];
        (ns - ns_before) as f64 / (calls - calls_before) as f64
    };
    PER_ACK.iter().map(mean).sum()
}

fn costs(loaded: &Loaded) -> BTreeMap<String, (u64, u128)> {
    loaded.costs().into_iter().map(|cost| (cost.callback, (cost.calls, cost.total.as_nanos()))).collect()
}

fn quartile(mut values: Vec<f64>, quarter: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * quarter / 4]
}
