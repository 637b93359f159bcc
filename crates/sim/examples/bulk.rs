//! Bulk flows over one bottleneck: how many data packets per second the simulator moves.
//!
//! ```text
//! cargo run --release -p rampcc-sim --example bulk -- rate_mbit=400 rtt_ms=100 seconds=60 flows=1
//! ```
//!
//! The topology is that of ns-2's `bulk.tcl` with the same names: side links, bottleneck, side links. Further
//! arguments: `buffer` (packets), `ssthresh` (packets, 0: none), `mss`, `algorithm`.

#![expect(clippy::print_stdout, reason = "this is a command-line program")]

mod common;

use common::build::{mbit, ms, side_links, startup};
use common::{argument, peak_memory_mb, play};
use rampcc::Time;

fn main() {
    let rate = mbit(argument("rate_mbit", 400));
    let rtt = ms(argument("rtt_ms", 100.0));
    let flows = argument("flows", 1);
    let mss = argument("mss", 1000u32);
    let bdp = (rate.bytes_in(rtt) / u64::from(mss)).max(1);
    let mut scenario = side_links(rate, rtt, argument("buffer", bdp), flows);
    scenario.stop.after = Time::from_secs_f64(argument("seconds", 60.0));
    let ssthresh = argument("ssthresh", bdp as u32);
    let algorithm = startup(&argument("algorithm", "slow_start".to_owned()));
    for flow in &mut scenario.flows {
        flow.sender.mss_bytes = mss;
        flow.sender.initial_ssthresh_packets = (ssthresh > 0).then_some(ssthresh);
        flow.sender.startup = algorithm;
        flow.sender.parameters = algorithm.default_parameters();
    }
    let (outcome, seconds) = play(&scenario);
    let packets = outcome.data_packets;
    println!(
        "{packets} data packets in {seconds:.3} s: {:.2} million/s; {:.2} events each; peak memory {:.0} MB",
        packets as f64 / seconds / 1e6,
        outcome.events as f64 / packets as f64,
        peak_memory_mb(),
    );
    let dropped: u64 = outcome.links.iter().map(|link| link.dropped.packets).sum();
    let received: u64 = outcome.flows.iter().map(|flow| flow.received_bytes).sum();
    println!("{dropped} dropped; {:.2} Mbit/s received", received as f64 * 8e-6 / outcome.end.secs_f64());
}
