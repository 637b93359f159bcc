//! The kernel as a backend.

use std::sync::atomic::AtomicBool;

use rampcc::{LINUX_LACKS, Lacking, Time};
use rampcc_backend::{Backend, Clock, Control, Play, Result};
use rampcc_scenario::Scenario;
use rampcc_trace::{Emulation, Observer};

use crate::{
    Played, Row, Task, Verdict, check, cubic_settings, enter_user_namespace, kernel_release,
    missing_capabilities, obstacle, play,
};

/// This kernel's own TCP over an emulated path, in real time.
#[derive(Clone, Copy, Debug)]
pub struct Kernel;

const NAME: &str = "linux";

/// [`Row::KERNEL`], as those who know only backends see it.
static CONTROLS: [Control; Row::KERNEL.len()] = {
    let mut controls = [control(Row::KERNEL[0]); Row::KERNEL.len()];
    let mut i = 0;
    while i < controls.len() {
        controls[i] = control(Row::KERNEL[i]);
        i += 1;
    }
    controls
};

const fn control(row: Row) -> Control {
    Control {
        name: row.name(),
        owner: "kernel",
        backend: NAME,
        meaning: row.meaning(),
        simulated_by: row.simulated_by(),
        like: None,
        definition: "",
    }
}

fn row(control: Option<&Control>) -> Row {
    control.and_then(|control| Row::of_kernel(control.name)).unwrap_or(Row::Core)
}

impl Backend for Kernel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "the kernel"
    }

    fn meaning(&self) -> &'static str {
        "This kernel's own TCP over an emulated path, in real time"
    }

    /// The kernel's release, the sources that decide what it is given, and how the machine's CUBIC is set up where that is not as
    /// Linux ships it.
    fn identity(&self) -> String {
        let ours = format!("linux-{}+{}", kernel_release(), env!("RAMP_TESTBED_SOURCES"));
        [vec![ours], cubic_settings()].concat().join("+")
    }

    fn clock(&self) -> Clock {
        Clock::Real
    }

    /// From Linux 6.4 on the registration of an algorithm belongs to a link, and ends with it.
    fn ends_with_process(&self) -> bool {
        has_links(&kernel_release())
    }

    fn controls(&self) -> &'static [Control] {
        &CONTROLS
    }

    fn offers(&self, control: &Control) -> Result<(), String> {
        if row(Some(control)).offered() { Ok(()) } else { Err(format!("modprobe tcp_{}", control.name)) }
    }

    fn lacks(&self) -> &'static [Lacking] {
        LINUX_LACKS
    }

    fn obstacle(&self, control: Option<&Control>) -> Option<String> {
        obstacle().filter(|_| row(control).needs_bpf()).map(|obstacle| obstacle.to_string())
    }

    /// Becomes root of a user namespace if the privileges that emulation takes are missing.
    fn prepare(&self) -> Result<(), String> {
        let missing = missing_capabilities();
        if missing.is_empty() {
            return Ok(());
        }
        enter_user_namespace().map_err(|cause| {
            format!(
                "emulating a path needs {}, or a user namespace: {cause}; run as root",
                missing.join(" and ")
            )
        })
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        check(scenario, row(control)).map_err(|all| all.iter().map(ToString::to_string).collect())
    }

    fn run(
        &self,
        asked: &Play<'_>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<rampcc_backend::Played> {
        let task = Task::new(asked.scenario, row(asked.control), asked.seed);
        let played = play(&task, &mut observer, interrupted)?;
        let emulation = Some(emulation(&played));
        Ok(rampcc_backend::Played { outcome: played.outcome, emulation })
    }
}

fn has_links(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    [numbers.next(), numbers.next()] >= [Some(6), Some(4)]
}

/// How true the path of a run was.
pub fn emulation(played: &Played) -> Emulation {
    Emulation {
        kernel: format!("Linux {}", played.kernel),
        attempts: played.attempts,
        samples: played.samples.looks + played.samples.kernel_events,
        samples_lost: played.samples.lost(),
        sockets: sockets(played),
        ..path_of(&played.report)
    }
}

/// The same, without what was done over the path.
pub(crate) fn path_of(report: &crate::ErrorReport) -> Emulation {
    let us = |time: Time| time.ns() as f64 / 1e3;
    let marked = match &report.verdict {
        Verdict::Ok => Vec::new(),
        Verdict::Marked(reasons) | Verdict::Refused(reasons) => reasons.clone(),
    };
    Emulation {
        marked,
        packets: report.lateness.packets,
        lateness_median_us: us(report.lateness.median),
        lateness_p99_us: us(report.lateness.p99),
        lateness_max_us: us(report.lateness.max),
        tolerated_us: us(report.tolerated),
        realtime: report.realtime,
        cpu_share: report.cpu_share,
        ..Emulation::default()
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

#[cfg(test)]
mod tests {
    use super::has_links;

    #[test]
    fn links_came_with_6_4() {
        for (release, has) in [
            ("6.1.0-56-cloud-amd64", false),
            ("6.3", false),
            ("6.4.0", true),
            ("6.18.44-fc", true),
            ("7.0-rc1", true),
        ] {
            assert_eq!(has_links(release), has, "{release}");
        }
        assert!(!has_links("unknown"));
    }
}
