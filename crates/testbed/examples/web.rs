//! nginx serves 10 MB and 100 kB over a scenario's path to curl, under one congestion control after the other:
//! `cargo run --release -p rampcc-testbed --features bpf --example web -- geo-jitter`, as root.
#![cfg_attr(
    all(target_os = "linux", feature = "bpf"),
    allow(clippy::print_stdout, reason = "it is a program")
)]

#[cfg(all(target_os = "linux", feature = "bpf"))]
#[path = "../tests/web/site.rs"]
mod site;

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
fn main() {}

#[cfg(all(target_os = "linux", feature = "bpf"))]
fn main() -> miette::Result<()> {
    program::main()
}

#[cfg(all(target_os = "linux", feature = "bpf"))]
mod program {
    use clap::Parser;
    use miette::{IntoDiagnostic, miette};
    use rampcc_emulator::Verdict;
    use rampcc_linux::{Loaded, Options, load};
    use rampcc_scenario::Scenario;

    use crate::site::{Site, content, installed};

    const SIZES: [usize; 2] = [10_000_000, 100_000];

    /// Web downloads over a scenario's path, with nginx and curl.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// A scenario that comes with ramp, or a file.
        #[arg(default_value = "geo-jitter")]
        scenario: String,
        /// Algorithms, or congestion controls that the kernel has.
        #[arg(long, value_delimiter = ',', default_value = "best,cubic")]
        algorithms: Vec<String>,
        #[arg(long, default_value_t = 5)]
        runs: u64,
    }

    pub(crate) fn main() -> miette::Result<()> {
        let Arguments { scenario, algorithms, runs } = Arguments::parse();
        if !installed() {
            return Err(miette!("nginx and curl are not installed: scripts/setup test"));
        }
        let scenario = Scenario::open_with(&scenario, &[])?;
        println!("{:16} {:>9} {:>22} {:>22}", "", "", "10 MB, s", "100 kB, s");
        for id in &algorithms {
            let loaded = match rampcc::algorithm(id) {
                Some(algorithm) => Some(load(algorithm, &Options::new(algorithm)).into_diagnostic()?),
                None => None,
            };
            let name = loaded.as_ref().map_or(id.as_str(), Loaded::name);
            let mut seconds = [Vec::new(), Vec::new()];
            let mut disturbed = 0;
            for seed in 1..=runs {
                let site = Site::start(&scenario, seed, name, &SIZES).into_diagnostic()?;
                for (size, seconds) in SIZES.iter().zip(&mut seconds) {
                    let fetched = site.fetch(*size).into_diagnostic()?;
                    if fetched.content != content(*size) {
                        return Err(miette!("the content of {size} bytes arrived changed"));
                    }
                    seconds.push(fetched.seconds);
                }
                disturbed += u64::from(site.stop().into_diagnostic()?.verdict != Verdict::Ok);
            }
            let [large, small] = seconds.map(spread);
            println!("{name:16} {runs:4} runs {large:>22} {small:>22}   {disturbed} disturbed");
        }
        Ok(())
    }

    /// Median and range.
    fn spread(mut seconds: Vec<f64>) -> String {
        seconds.sort_by(f64::total_cmp);
        match (seconds.first(), seconds.last()) {
            (Some(least), Some(most)) => {
                format!("{:.2} ({least:.2} to {most:.2})", seconds[seconds.len() / 2])
            }
            _ => "none".to_owned(),
        }
    }
}
