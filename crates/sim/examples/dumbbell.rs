//! The 204-node dumbbell of Paced Start §5.2: 2000 flows of mean 200 packets between both sides.
//!
//! ```text
//! cargo run --release -p rampcc-sim --example dumbbell -- workload=db200_bidir_s1.csv flows=2000
//! ```
//!
//! Without a workload file (columns `id,start_s,src_router,src_idx,dst_router,dst_idx,size_pkts`), arrivals are
//! drawn: 10 per second, exponential sizes. Further arguments: `ssthresh` (packets, 0: none), `algorithm`, `seed`.

#![expect(clippy::print_stdout, reason = "this is a command-line program")]

mod common;

use common::build::{dumbbell, era, host};
use common::{argument, peak_memory_mb, play};
use rampcc::Time;
use rampcc_scenario::{SizeDistribution, Traffic, TrafficKind};

/// Per side: half of them sources, half sinks.
const HOSTS: usize = 204;

fn main() {
    let flows = argument("flows", 2000u64);
    let (mut sender, receiver) = era(&argument("algorithm", "slow_start".to_owned()));
    let ssthresh = argument("ssthresh", 0u32);
    sender.initial_ssthresh_packets = (ssthresh > 0).then_some(ssthresh);
    let sender = Box::new(sender);
    let mut scenario = dumbbell(HOSTS, 0.0);
    let workload = argument("workload", String::new());
    let kind = if workload.is_empty() {
        let size = SizeDistribution::Exponential { mean_bytes: 200_000.0 };
        TrafficKind::Poisson { flows_per_s: 10.0, size, flows, sender, receiver, under_test_share: 1.0 }
    } else {
        let listed = read(&workload, flows as usize);
        TrafficKind::Listed { flows: listed.into(), sender, receiver, under_test_share: 1.0 }
    };
    let across =
        |from, to| (0..HOSTS / 2).map(move |i| (host(from, i, 2, HOSTS), host(to, HOSTS / 2 + i, 2, HOSTS)));
    scenario.traffic.push(Traffic {
        name: "transfers".to_owned(),
        pairs: across(0, 1).chain(across(1, 0)).collect(),
        start: Time::ZERO,
        end: Time::NEVER,
        rtt: None,
        kind,
    });
    scenario.stop.after = Time::from_secs(10_000);
    scenario.stop.when_complete = true;
    scenario.seed = argument("seed", 1);
    let (outcome, seconds) = play(&scenario);
    let completed = outcome.flows.iter().filter(|flow| flow.completed != Time::NEVER);
    let durations: f64 = completed.clone().map(|flow| (flow.completed - flow.opened).secs_f64()).sum();
    println!(
        "{} of {} flows in {} of simulated time, {:.4} s on average",
        completed.clone().count(),
        outcome.flows.len(),
        outcome.end,
        durations / completed.count() as f64,
    );
    println!(
        "{} data packets in {:.1} ms: {:.2} million/s; {:.2} events each; peak memory {:.0} MB",
        outcome.data_packets,
        seconds * 1e3,
        outcome.data_packets as f64 / seconds / 1e6,
        outcome.events as f64 / outcome.data_packets as f64,
        peak_memory_mb(),
    );
    let dropped: u64 = outcome.links.iter().map(|link| link.dropped.packets).sum();
    println!("{dropped} dropped");
}

fn read(path: &str, flows: usize) -> Vec<(Time, usize, usize, u64)> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        std::process::exit(2)
    });
    let row = |(number, line): (usize, &str)| {
        let fields: Vec<f64> = line.split(',').filter_map(|field| field.trim().parse().ok()).collect();
        let [_, start, from, source, to, sink, packets] = fields[..] else {
            eprintln!("{path}:{}: expected seven numbers, found `{line}`", number + 1);
            std::process::exit(2)
        };
        let from = host(from as usize, source as usize, 2, HOSTS);
        let to = host(to as usize, HOSTS / 2 + sink as usize, 2, HOSTS);
        (Time::from_secs_f64(start), from, to, packets as u64 * 1000)
    };
    text.lines().enumerate().skip(1).take(flows).map(row).collect()
}
