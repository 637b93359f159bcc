//! QUIC in real time as a backend.

use std::sync::atomic::AtomicBool;

use rampcc::{Lacking, Time};
use rampcc_backend::{Backend, Clock, Control, Play, Played, Result};
use rampcc_emulator::Lateness;
use rampcc_path::QueueConfig;
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_scenario::{Scenario, Source};
use rampcc_trace::{Emulation, HostLateness, Observer};

use super::play::{Task, play};
use super::socket::BUFFER_BYTES;
use crate::backend::path_of;
use crate::kernel_release;

/// What has the same rows in virtual time.
const VIRTUAL: VirtualQuic = VirtualQuic(Stack::Noq);
/// Headers of TCP over IPv4 with and without time stamps: a datagram takes the place of a segment.
const HEADERS: [u32; 2] = [52, 40];

/// A QUIC stack at both ends of an emulated path, over UDP sockets and TLS, in real time.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealQuic {
    /// A run that was refused each time has a result all the same: for what does not depend on time.
    pub keep_refused: bool,
}

impl Backend for RealQuic {
    fn name(&self) -> &'static str {
        "quic-real"
    }

    fn title(&self) -> &'static str {
        "QUIC in real time"
    }

    fn meaning(&self) -> &'static str {
        "The stack of `quic` over UDP sockets, TLS and an emulated path, in real time"
    }

    fn identity(&self) -> String {
        format!(
            "quic-real-linux-{}+{}+{}",
            kernel_release(),
            env!("RAMP_TESTBED_SOURCES"),
            VIRTUAL.identity()
        )
    }

    fn clock(&self) -> Clock {
        Clock::Real
    }

    fn controls(&self) -> &'static [Control] {
        VIRTUAL.controls()
    }

    fn lacks(&self) -> &'static [Lacking] {
        VIRTUAL.lacks()
    }

    fn prepare(&self) -> Result<(), String> {
        crate::Kernel.prepare()
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let mut found = VIRTUAL.check(scenario, control).err().unwrap_or_default();
        if !scenario.traffic.is_empty() || scenario.flows.len() != 1 {
            found.push("a run is one download: one flow, and no other traffic".to_owned());
        }
        for flow in &scenario.flows {
            let mut refuse = |what: &str| found.push(format!("flow `{}`: {what}", flow.name));
            if !matches!(flow.source, Source::Sized(_)) {
                refuse("a run is one download: `size` is one number of bytes");
            }
            if !flow.under_test {
                refuse("it names its algorithm; the one flow is under test");
            }
            if flow.sender.ecn {
                refuse("`ecn` is on; its sockets do not ask for marks");
            }
            let own = HEADERS[usize::from(!flow.receiver.stamps())];
            if flow.sender.header_bytes != own {
                refuse(&format!(
                    "`headers` of {} bytes; a datagram is as large as a segment with {own}, and carries nothing besides",
                    flow.sender.header_bytes
                ));
            }
        }
        for link in &scenario.topology.links {
            if let QueueConfig::Red { ecn: true, .. } | QueueConfig::CoDel { ecn: true, .. } =
                link.config.queue
            {
                found.push(format!(
                    "link `{}`: its queue marks, and this side's sockets do not ask for it",
                    link.name
                ));
            }
        }
        if let Err(path) = rampcc_emulator::check(scenario, rampcc_emulator::Family::V4) {
            found.push(path.to_string());
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn run(
        &self,
        asked: &Play<'_>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played> {
        let scenario = &asked.scenario.at_seed(asked.seed);
        let (control, seed) = (asked.control.copied(), asked.seed);
        let task = Task { scenario, control, seed, keep_refused: self.keep_refused, interrupted };
        let played = play(&task, &mut observer)?;
        let emulation = Some(emulation(&played));
        Ok(Played { outcome: played.outcome, emulation })
    }
}

/// How true the path was, and how late the hosts.
fn emulation(played: &super::play::Played) -> Emulation {
    let report = &played.report;
    Emulation {
        kernel: format!("Linux {}", kernel_release()),
        attempts: played.attempts,
        samples: played.samples,
        samples_lost: report.queue_samples_lost + report.drops_lost,
        sockets: format!(
            "Sockets: UDP, buffers of {} MB; TLS 1.3; a thread drives each end",
            BUFFER_BYTES >> 20
        ),
        hosts: Some(lateness(&played.hosts)),
        ..path_of(report)
    }
}

fn lateness(hosts: &Lateness) -> HostLateness {
    let us = |time: Time| time.ns() as f64 / 1e3;
    HostLateness {
        count: hosts.packets,
        median_us: us(hosts.median),
        p99_us: us(hosts.p99),
        max_us: us(hosts.max),
    }
}
