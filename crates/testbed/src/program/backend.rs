//! Programs as a backend.

use std::sync::atomic::AtomicBool;

use rampcc_backend::{Backend, BackendError, Clock, Control, Play, Played, Result};
use rampcc_scenario::{Scenario, Source};
use rampcc_trace::{Emulation, Observer};

use super::play::{Task, play};
use super::row::Program;
use crate::backend::path_of;
use crate::{Row, check, kernel_release};

const NAME: &str = "program";

/// Servers and clients over an emulated path, in real time.
#[derive(Clone, Debug)]
pub struct Programs {
    programs: Vec<Program>,
    controls: &'static [Control],
}

impl Programs {
    /// With no row at all.
    pub const NONE: Self = Self { programs: Vec::new(), controls: &[] };

    /// With these rows. Their names and definitions stay in memory, as those of all controls do.
    pub fn new(programs: Vec<Program>) -> Self {
        let control = |program: &Program| Control {
            name: program.name.clone().leak(),
            owner: NAME,
            backend: NAME,
            meaning: program.meaning.clone().leak(),
            simulated_by: None,
            like: program.like.clone().map(|like| &*like.leak()),
            definition: program.definition().leak(),
        };
        let controls = programs.iter().map(control).collect::<Vec<_>>().leak();
        Self { programs, controls }
    }

    fn program(&self, control: Option<&Control>) -> Option<&Program> {
        let name = control?.name;
        self.programs.iter().find(|program| program.name == name)
    }
}

impl Backend for Programs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "programs"
    }

    fn meaning(&self) -> &'static str {
        "Servers and clients of your own over an emulated path, in real time"
    }

    fn hosts(&self) -> Option<&'static str> {
        Some("the programs of the rows")
    }

    fn identity(&self) -> String {
        format!("program-linux-{}+{}", kernel_release(), env!("RAMP_TESTBED_SOURCES"))
    }

    fn clock(&self) -> Clock {
        Clock::Real
    }

    fn controls(&self) -> &'static [Control] {
        self.controls
    }

    fn steers(&self) -> bool {
        false
    }

    fn prepare(&self) -> Result<(), String> {
        crate::Kernel.prepare()
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        if !scenario.traffic.is_empty() || scenario.flows.len() != 1 {
            found.push("a row is one download: one flow, and no other traffic".to_owned());
        }
        if scenario.flows.iter().any(|flow| !matches!(flow.source, Source::Sized(_))) {
            found.push("a row is one download: the flow's `size` is one number of bytes".to_owned());
        }
        if let Err(kernel) = check(scenario, Row::Cubic) {
            found.extend(kernel.iter().map(ToString::to_string));
        }
        if let Some(program) = self.program(control).filter(|program| program.ipv6) {
            if let Some(word) = program.only_ipv4() {
                found.push(format!(
                    "row `{}`: `{word}` is no address of IPv6, which needs brackets; write {{host}} for {{address}}",
                    program.name
                ));
            }
            if let (true, Err(path)) = (found.is_empty(), rampcc_emulator::check(scenario, program.family()))
            {
                found.push(path.to_string());
            }
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn run(
        &self,
        asked: &Play<'_>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played> {
        let Some(program) = self.program(asked.control) else {
            return Err(BackendError::Failed("an algorithm cannot steer a program".to_owned()));
        };
        let scenario = &asked.scenario.at_seed(asked.seed);
        let task = Task { program, scenario, seed: asked.seed, interrupted };
        let played = play(&task, &mut observer)?;
        let emulation = Some(emulation(&played, program));
        Ok(Played { outcome: played.outcome, emulation })
    }
}

/// How true the path of a run was, and how quick the server.
fn emulation(played: &super::play::Played, program: &Program) -> Emulation {
    let report = &played.report;
    let mut emulation = Emulation {
        kernel: format!("Linux {}", kernel_release()),
        attempts: played.attempts,
        samples: report.packets.len() as u64,
        samples_lost: report.queue_samples_lost + report.drops_lost + report.packets_lost,
        sockets: program.in_words(),
        wire: Some(played.wire),
        ..path_of(report)
    };
    emulation.marked.extend(played.marked.iter().cloned());
    emulation
}
