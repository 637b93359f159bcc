//! Prints what one ACK costs in each algorithm, in nanoseconds: the fastest of many replays of a recorded start-up.
//!
//! `cargo run --release -p rampcc --example ack_cost`; with `--json`, one object per line; with `--page`
//! it also writes them into `docs/algorithms/README.md`.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use rampcc::{Ack, Algorithm, Config, Phase, Startup, algorithms};
use support::{config, pipe, set};

#[path = "../tests/support/index.rs"]
mod index;
#[path = "../tests/support/mod.rs"]
mod support;

const REPLAYS: usize = 200;

/// Parameters that make an algorithm work on every ACK where its defaults would have it rest.
const DEAREST: [(&str, &str, u64); 4] = [
    ("hystart", "version", 0),
    ("paced", "initial_train", 1000),
    ("best", "track", 1),
    ("enhanced", "rtt_tick_us", 10_000),
];

fn main() {
    let [json, page] = ["--json", "--page"].map(|asked| std::env::args().any(|a| a == asked));
    let mut times = Vec::new();
    for algorithm in algorithms() {
        let dearest = DEAREST
            .iter()
            .filter(|(id, ..)| *id == algorithm.id)
            .map(|(_, name, value)| Some((*name, *value)));
        for parameter in std::iter::once(None).chain(dearest) {
            let (config, acks) = record(algorithm, parameter);
            let ns = (0..REPLAYS).map(|_| replay(algorithm, &config, &acks)).fold(f64::INFINITY, f64::min);
            let n = acks.len();
            if parameter.is_none() {
                times.push((algorithm.id, ns));
            }
            let name = match parameter {
                None => algorithm.id.to_string(),
                Some((name, value)) => format!("{}:{name}={value}", algorithm.id),
            };
            if json {
                println!("{{\"name\":\"ack_cost/{name}\",\"value\":{ns:.2},\"unit\":\"ns\",\"acks\":{n}}}");
            } else {
                println!("{name:<26} {ns:>6.2} ns per ACK  ({n} ACKs)");
            }
        }
    }
    if page {
        index::write_times(index::Times::Native, times);
    }
}

/// A start-up on a path so fast that it lasts thousands of ACKs.
fn record(algorithm: &'static Algorithm, parameter: Option<(&str, u64)>) -> (Config, Vec<Ack>) {
    let mut config = config(algorithm, 10);
    if let Some((name, value)) = parameter {
        set(&mut config, algorithm, name, value);
    }
    config.mss_bytes = 1448;
    config.initial_window_bytes = 14_480;
    let mut pipe = pipe::Pipe::new(2_000_000_000, 100_000, 1448, 1_000_000);
    pipe.access_bits_per_s = 100_000_000_000;
    pipe.limit_ns = 1_500_000_000;
    let mut acks = pipe::play(&pipe, algorithm, &config).acks;
    // The last ACK may have ended start-up; what comes after would cost nothing.
    while acks.len() > 1 && replayed(algorithm, &config, &acks).decision().phase() == Phase::Done {
        acks.pop();
    }
    (config, acks)
}

fn replayed(algorithm: &'static Algorithm, config: &Config, acks: &[Ack]) -> Startup {
    let mut startup = Startup::new(algorithm, config);
    for ack in acks {
        startup.on_ack(ack);
    }
    startup
}

#[expect(clippy::disallowed_methods, reason = "it measures the machine")]
fn replay(algorithm: &'static Algorithm, config: &Config, acks: &[Ack]) -> f64 {
    let mut startup = Startup::new(algorithm, config);
    let started = Instant::now();
    for ack in acks {
        black_box(startup.on_ack(black_box(ack)));
    }
    started.elapsed().as_nanos() as f64 / acks.len() as f64
}
