//! One run with the kernel's TCP: `play geo-satellite --row cubic`, `play cable --row best --features bpf`.
#![cfg_attr(target_os = "linux", allow(clippy::print_stdout, reason = "it is a program"))]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> miette::Result<()> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::AtomicBool;

    use clap::Parser;
    use miette::IntoDiagnostic;
    use rampcc_scenario::{Arm, Scenario, Setting};
    use rampcc_testbed::{Row, Task, enter_user_namespace, missing_capabilities, play};
    use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

    /// Plays a scenario once with the kernel's TCP.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// A scenario that comes with ramp, or a file.
        scenario: String,
        /// An algorithm, or one of the kernel's own: `cubic`, `cubic_no_hystart`, `bbr`, `reno`.
        #[arg(long, default_value = "cubic")]
        row: String,
        /// A field of the scenario, e.g. path.rate=20mbit; may be repeated.
        #[arg(long = "set", value_name = "FIELD=VALUE")]
        set: Vec<String>,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    }

    #[derive(Default)]
    struct Seen {
        samples: u64,
        rtts: u64,
        links: u64,
        drops: u64,
    }

    impl Observer for Seen {
        fn on_flow(&mut self, sample: &FlowSample) {
            self.samples += 1;
            self.rtts += u64::from(sample.rtt.ns() > 0);
        }
        fn on_link(&mut self, _: &rampcc_trace::LinkSample) {
            self.links += 1;
        }
        fn on_event(&mut self, event: &FlowEvent) {
            match event.kind {
                FlowEventKind::Dropped { .. } => self.drops += 1,
                FlowEventKind::Received { .. } => {}
                kind => println!("{:>12} flow {}: {kind:?}", event.now.to_string(), event.flow),
            }
        }
    }

    pub(crate) fn main() -> miette::Result<()> {
        let arguments = Arguments::parse();
        if !missing_capabilities().is_empty() {
            enter_user_namespace().into_diagnostic()?;
        }
        let settings =
            arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let scenario = Scenario::open_with(&arguments.scenario, &settings)?;
        let (scenario, row) = match Row::of_kernel(&arguments.row) {
            Some(row) => (scenario, row),
            None => (scenario.with_arm(&Arm::parse(&arguments.row)?), Row::Core),
        };
        let mut seen = Seen::default();
        let interrupted = AtomicBool::new(false);
        let task = Task::new(&scenario, row, arguments.seed);
        let played = play(&task, &mut seen, &interrupted).into_diagnostic()?;
        println!(
            "{} samples ({} RTTs), {} of the queue, {} drops; {:?}",
            seen.samples, seen.rtts, seen.links, seen.drops, played.samples
        );
        for flow in &played.outcome.flows {
            println!("{flow:?}");
        }
        println!("{:?}", played.buffers);
        print!("{}", played.report);
        Ok(())
    }
}
