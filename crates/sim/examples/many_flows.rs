//! A great many flows at once over one bottleneck: what each of them costs.
//!
//! ```text
//! cargo run --release -p rampcc-sim --example many_flows -- flows=100000 seconds=10 rate_mbit=10000
//! ```
//!
//! All flows start within the first second and none ends.

#![expect(clippy::print_stdout, reason = "this is a command-line program")]

mod common;

use common::build::{empty, flow, link, mbit, ms, plain};
use common::{argument, peak_memory_mb, play};
use rampcc::Time;
use rampcc_scenario::Source;

fn main() {
    let flows = argument("flows", 100_000usize);
    let rate = mbit(argument("rate_mbit", 10_000));
    let mut scenario = empty(2, argument("seconds", 10.0));
    // One bandwidth-delay product of buffer at 100 ms.
    let buffer = rate.bytes_in(ms(100.0)) / 1040;
    link(&mut scenario, 0, 1, plain(rate, ms(50.0), buffer));
    link(&mut scenario, 1, 0, plain(rate, ms(50.0), 10_000_000));
    let mut bulk = flow(0, 1, Source::Bulk, "slow_start");
    bulk.start_jitter = Time::from_secs(1);
    scenario.flows = vec![bulk; flows];
    let before = peak_memory_mb();
    let (outcome, seconds) = play(&scenario);
    println!(
        "{flows} flows: {} data packets in {seconds:.2} s: {:.2} million/s; {:.2} events each",
        outcome.data_packets,
        outcome.data_packets as f64 / seconds / 1e6,
        outcome.events as f64 / outcome.data_packets as f64,
    );
    let memory = peak_memory_mb() - before;
    println!("{memory:.0} MB, {:.1} kB per flow with its packets", memory * 1e3 / flows as f64);
    let received: u64 = outcome.flows.iter().map(|flow| flow.received_bytes).sum();
    let dropped: u64 = outcome.links.iter().map(|link| link.dropped.packets).sum();
    println!("{:.0} Mbit/s received, {dropped} dropped", received as f64 * 8e-6 / outcome.end.secs_f64());
}
