//! Downloads over an emulated path with the kernel's TCP: `emulate geo-satellite --cc cubic --size 10MB`.
#![cfg_attr(target_os = "linux", allow(clippy::print_stdout, reason = "it is a program"))]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> miette::Result<()> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use clap::Parser;
    use miette::IntoDiagnostic;
    use rampcc::Time;
    use rampcc_emulator::{
        Download, Emulator, Opener, Options, Verdict, enter_user_namespace, missing_capabilities,
    };
    use rampcc_scenario::{Scenario, Setting, Source};

    /// Plays a scenario's path under real packets, and downloads over it with the kernel's TCP.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// A scenario that comes with ramp, or a file.
        scenario: String,
        /// Congestion control of the sender.
        #[arg(long, default_value = "cubic")]
        cc: String,
        /// What to download, e.g. 10MB; unless given, what the scenario's first flow sends.
        #[arg(long)]
        size: Option<String>,
        /// A field of the scenario, e.g. path.rate=20mbit; may be repeated.
        #[arg(long = "set", value_name = "FIELD=VALUE")]
        set: Vec<String>,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The receiver opens the connection.
        #[arg(long)]
        passive: bool,
        /// Normal priority even where more is to be had.
        #[arg(long)]
        no_realtime: bool,
        /// Spin for the last this many microseconds.
        #[arg(long, default_value_t = 50)]
        spin: u64,
        /// Most back-dating, microseconds.
        #[arg(long, default_value_t = 100)]
        back_dating: u64,
        /// Enter a user namespace even with privileges.
        #[arg(long)]
        user_namespace: bool,
    }

    pub(crate) fn main() -> miette::Result<()> {
        let arguments = Arguments::parse();
        if arguments.user_namespace || !missing_capabilities().is_empty() {
            enter_user_namespace().into_diagnostic()?;
        }
        let mut settings = Vec::new();
        for text in &arguments.set {
            settings.push(Setting::parse(text)?);
        }
        let opened = Scenario::open(&arguments.scenario)?;
        let path = std::path::Path::new(&arguments.scenario);
        let scenario = Scenario::parse_with(&opened.name, &opened.text, path.parent(), &settings)?;
        let own = sent(&scenario).unwrap_or(10_000_000);
        let size_bytes = arguments.size.map_or(Ok(own), |size| parse_size(&size))?;
        let options = Options {
            realtime: !arguments.no_realtime,
            spin: Time::from_us(arguments.spin),
            back_dating: Time::from_us(arguments.back_dating),
            ..Options::default()
        };
        let running = Emulator::start(&scenario, arguments.seed, &options).into_diagnostic()?;
        let buffers = running.buffers();
        let download = Download {
            size_bytes,
            congestion_control: Some(arguments.cc),
            opener: if arguments.passive { Opener::Receiver } else { Opener::Sender },
            limit: scenario.stop.after,
            ..Download::default()
        };
        let result = running.download(&download, |_| {}).into_diagnostic()?;
        let report = running.stop().into_diagnostic()?;
        let time = result.duration().map(|time| format!("in {:.3} s", time.secs_f64()));
        let (bytes, name) = (result.received_bytes, result.congestion_control);
        println!("{bytes} bytes with {name} {}", time.as_deref().unwrap_or("until the limit, unfinished"));
        println!(
            "{} retransmissions of {} data segments; cwnd {} packets, ssthresh {} at the end; {} samples",
            result.sender.total_retrans,
            result.sender.data_segs_out,
            result.sender.snd_cwnd,
            result.sender.snd_ssthresh,
            result.samples,
        );
        println!(
            "buffers: tcp_rmem {} to {}, tcp_wmem to {}",
            buffers.receive_initial, buffers.receive_max, buffers.send_max
        );
        print!("{report}");
        if matches!(report.verdict, Verdict::Refused(_)) {
            std::process::exit(1);
        }
        Ok(())
    }

    /// What the scenario's first flow sends.
    fn sent(scenario: &Scenario) -> Option<u64> {
        match scenario.flows.first()?.source {
            Source::Sized(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A size as a scenario file has it.
    fn parse_size(text: &str) -> miette::Result<u64> {
        let size = Setting::parse(&format!("size={text}"))?;
        let any_path = "[path]\nrate = '1 Mbit/s'\nrtt = '10 ms'\n";
        let scenario = Scenario::parse_with("--size", any_path, None, &[size])?;
        sent(&scenario).ok_or_else(|| miette::miette!("`{text}` is not a size"))
    }
}
