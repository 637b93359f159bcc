//! Loads one algorithm and prints every start-up that ends: `watch best 60` runs for a minute. Needs root.
#![expect(clippy::print_stdout, reason = "this example's whole purpose is to print")]

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use rampcc::algorithm;
use rampcc_linux::{Event, Options, load};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let seconds = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let Some(algorithm) = arguments.first().and_then(|id| algorithm(id)) else {
        println!("usage: watch ALGORITHM [SECONDS]");
        return ExitCode::from(2);
    };
    let loaded = match load(algorithm, &Options::new(algorithm)) {
        Ok(loaded) => loaded,
        Err(error) => {
            println!("{error}\n{}", error.log());
            return ExitCode::from(2);
        }
    };
    println!("{} is registered for {seconds} s", loaded.name());
    for _ in 0..seconds * 10 {
        let Ok(events) = loaded.drain(Duration::from_millis(100)) else { return ExitCode::FAILURE };
        for event in events {
            let Event::Exit(exit) = event else { continue };
            let after = exit.exited().map_or(0.0, |t| (t - exit.opened()).secs_f64());
            println!(
                "{} left after {after:.3} s at cwnd {} packets: {:?}, {} against {}; {} packets lost",
                exit.tuple.remote(),
                exit.cwnd_packets,
                exit.decision.exit_reason(),
                exit.decision.evidence,
                exit.decision.limit,
                exit.lost_packets,
            );
        }
    }
    ExitCode::SUCCESS
}
