//! Runs with this kernel's TCP: which rows it has, which privileges they take, and what a run says of itself.

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum KernelError {
    /// Ctrl-C.
    Interrupted {
        /// How far the run had come.
        at: ramp::Time,
    },
    /// The machine was too busy for the answer to stand, as often as it was tried.
    Refused(String),
    /// Anything else.
    Failed(String),
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::AtomicBool;

    use ramp::Time;
    use ramp_lab::Emulation;
    use ramp_scenario::Scenario;
    use ramp_testbed::{Options, Played, TestbedError, Verdict};
    use ramp_trace::Observer;

    use super::KernelError;
    use crate::error::CliError;
    use crate::rows::{Row, Steering};

    /// A congestion control of the kernel's own.
    pub(crate) type KernelRow = ramp_testbed::Row;

    /// What results are kept by: the kernel's release, the sources that decide what it is given, and how the machine's
    /// CUBIC is set up where that is not as Linux ships it.
    pub(crate) fn identity() -> String {
        let release = ramp_testbed::kernel_release();
        let cubic = ramp_testbed::cubic_settings().into_iter().map(|setting| format!("+{setting}"));
        format!("linux-{release}+{}{}", env!("RAMP_LINUX_SOURCE"), cubic.collect::<String>())
    }

    /// Becomes root of a user namespace if the privileges that emulation takes are missing. To be called before the
    /// first thread starts.
    pub(crate) fn prepare() -> Result<(), CliError> {
        let missing = ramp_testbed::missing_capabilities();
        if missing.is_empty() {
            return Ok(());
        }
        ramp_testbed::enter_user_namespace().map_err(|cause| CliError::Kernel {
            message: format!(
                "emulating a path needs {}, or a user namespace: {cause}",
                missing.join(" and ")
            ),
            help: Some("run as root".to_owned()),
        })
    }

    /// One of the kernel's own by its name.
    pub(crate) fn row(name: &str) -> Option<KernelRow> {
        KernelRow::of_kernel(name)
    }

    /// As command lines call it.
    pub(crate) fn name(row: KernelRow) -> &'static str {
        row.name()
    }

    /// The algorithm that the simulator plays for it.
    pub(crate) fn simulated_by(row: KernelRow) -> Option<&'static str> {
        row.simulated_by()
    }

    /// The rows that this kernel has of itself.
    pub(crate) fn own_rows() -> Vec<Row> {
        let offered = KernelRow::KERNEL.into_iter().filter(|row| row.offered());
        offered.map(|row| Row { label: row.name().to_owned(), steering: Steering::Kernel(row) }).collect()
    }

    /// Every row that a kernel may have of itself: name, meaning, whether it is to be had here.
    pub(crate) fn listing() -> Vec<Vec<String>> {
        let here = |row: KernelRow| match obstacle().filter(|_| row.needs_bpf()) {
            Some(obstacle) => format!("no: {obstacle}"),
            None if row.offered() => "yes".to_owned(),
            None => format!("no: modprobe tcp_{}", row.name()),
        };
        KernelRow::KERNEL
            .into_iter()
            .map(|row| vec![row.name().to_owned(), row.meaning().to_owned(), here(row)])
            .collect()
    }

    /// Whether a row takes a BPF program.
    pub(crate) fn needs_bpf(row: KernelRow) -> bool {
        row.needs_bpf()
    }

    /// What keeps BPF programs out of the kernel, and what to do.
    pub(crate) fn obstacle() -> Option<String> {
        ramp_testbed::obstacle().map(|obstacle| obstacle.to_string())
    }

    /// Everything that a scenario asks and the kernel cannot do.
    pub(crate) fn check(scenario: &Scenario, row: &Row) -> Result<(), Vec<String>> {
        ramp_testbed::check(&row.scenario(scenario), kind(row))
            .map_err(|all| all.iter().map(ToString::to_string).collect())
    }

    /// Plays a run in real time; `scenario` is as the row plays it.
    pub(crate) fn play(
        scenario: &Scenario,
        row: &Row,
        seed: u64,
        observer: &mut impl Observer,
        interrupted: &AtomicBool,
    ) -> Result<(Time, Emulation), KernelError> {
        match ramp_testbed::play(scenario, kind(row), seed, &Options::default(), observer, interrupted) {
            Ok(played) => Ok((played.outcome.end, emulation(&played))),
            Err(TestbedError::Interrupted { at }) => Err(KernelError::Interrupted { at }),
            Err(error @ (TestbedError::Refused { .. } | TestbedError::LeftOut { .. })) => {
                Err(KernelError::Refused(error.to_string()))
            }
            Err(error) => Err(KernelError::Failed(error.to_string())),
        }
    }

    fn kind(row: &Row) -> KernelRow {
        match row.steering {
            Steering::Core(_) => KernelRow::Core,
            Steering::Kernel(row) => row,
        }
    }

    fn emulation(played: &Played) -> Emulation {
        let report = &played.report;
        let us = |time: Time| time.ns() as f64 / 1e3;
        let marked = match &report.verdict {
            Verdict::Ok => Vec::new(),
            Verdict::Marked(reasons) | Verdict::Refused(reasons) => reasons.clone(),
        };
        Emulation {
            kernel: format!("Linux {}", played.kernel),
            marked,
            attempts: played.attempts,
            packets: report.lateness.packets,
            lateness_median_us: us(report.lateness.median),
            lateness_p99_us: us(report.lateness.p99),
            lateness_max_us: us(report.lateness.max),
            tolerated_us: us(report.tolerated),
            realtime: report.realtime,
            cpu_share: report.cpu_share,
            samples: played.samples.looks + played.samples.kernel_events,
            samples_lost: played.samples.lost(),
            sockets: sockets(played),
        }
    }

    fn sockets(played: &Played) -> String {
        let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let buffers = &played.buffers;
        let held =
            buffers.window.map_or(String::new(), |window| format!(", receive window held to {}", mb(window)));
        format!(
            "Sockets: tcp_rmem {} growing to {}, tcp_wmem growing to {}, sized to the path{held}; no metrics of earlier \
             connections, no offloads",
            mb(buffers.receive_initial),
            mb(buffers.receive_max),
            mb(buffers.send_max)
        )
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::sync::atomic::AtomicBool;

    use ramp::Time;
    use ramp_lab::Emulation;
    use ramp_scenario::Scenario;
    use ramp_trace::Observer;

    use super::KernelError;
    use crate::error::CliError;
    use crate::rows::Row;

    /// There are none.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum KernelRow {}

    const NOT_LINUX: &str = "--on linux plays with the TCP of the Linux kernel, and this system is not Linux";

    pub(crate) fn identity() -> String {
        "linux".to_owned()
    }

    pub(crate) fn prepare() -> Result<(), CliError> {
        Err(CliError::Kernel { message: NOT_LINUX.to_owned(), help: None })
    }

    pub(crate) fn row(_: &str) -> Option<KernelRow> {
        None
    }

    pub(crate) fn name(row: KernelRow) -> &'static str {
        match row {}
    }

    pub(crate) fn simulated_by(row: KernelRow) -> Option<&'static str> {
        match row {}
    }

    pub(crate) fn own_rows() -> Vec<Row> {
        Vec::new()
    }

    pub(crate) fn listing() -> Vec<Vec<String>> {
        vec![vec!["none".to_owned(), NOT_LINUX.to_owned(), "no".to_owned()]]
    }

    pub(crate) fn needs_bpf(row: KernelRow) -> bool {
        match row {}
    }

    pub(crate) fn obstacle() -> Option<String> {
        Some(NOT_LINUX.to_owned())
    }

    pub(crate) fn check(_: &Scenario, _: &Row) -> Result<(), Vec<String>> {
        Err(vec![NOT_LINUX.to_owned()])
    }

    pub(crate) fn play(
        _: &Scenario,
        _: &Row,
        _: u64,
        _: &mut impl Observer,
        _: &AtomicBool,
    ) -> Result<(Time, Emulation), KernelError> {
        Err(KernelError::Failed(NOT_LINUX.to_owned()))
    }
}
