//! The load that a trial makes for itself: web sessions of a scenario over emulated paths.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rampcc::Time;
use rampcc_host::trial::OwnGroup;
use rampcc_lab::EmulationSummary;
use rampcc_scenario::{Scenario, Stop, TrafficKind};
use rampcc_testbed::{
    Options, Played, Row, Task, TestbedError, check, emulation, missing_capabilities, play,
};

use super::told;
use crate::error::{CliError, Result};

/// The emulator starts after the trial, and a connection may be its last.
const LONGER: Duration = Duration::from_secs(1);

/// A load that can begin, and the control group of its servers.
pub(super) struct Load {
    scenario: Scenario,
    seed: u64,
    group: OwnGroup,
}

/// A load that has begun.
pub(super) struct Running {
    thread: JoinHandle<Result<Played, TestbedError>>,
    stop: Arc<AtomicBool>,
}

impl Load {
    /// The web sessions of a scenario.
    pub(super) fn new(name: &str, seed: u64) -> Result<Self> {
        let mut scenario = Scenario::open_with(name, &[])?;
        let web = |kind: &TrafficKind| matches!(kind, TrafficKind::Web { .. });
        let only_web = scenario.traffic.iter().all(|traffic| web(&traffic.kind));
        if scenario.traffic.is_empty() || !only_web || !scenario.flows.is_empty() {
            return Err(CliError::input_help(
                format!("--over {name}: a trial plays web sessions and nothing else"),
                "a scenario whose [[traffic]] all have kind = \"web\" and under-test = true, and without [[flow]] and size",
            ));
        }
        // The trial decides about each of them.
        for traffic in &mut scenario.traffic {
            if let TrafficKind::Web { under_test_share, .. } = &mut traffic.kind {
                *under_test_share = 1.0;
            }
        }
        check(&scenario, STEERED)
            .map_err(|all| CliError::input(format!("--over {name}: {}", TestbedError::Unsupported(all))))?;
        let missing = missing_capabilities();
        if !missing.is_empty() {
            let message = format!("emulating a path needs {}", missing.join(" and "));
            return Err(CliError::Kernel { message, help: Some("run as root".to_owned()) });
        }
        Ok(Self { scenario, seed, group: OwnGroup::new().map_err(told)? })
    }

    /// Whose connections are its own.
    pub(super) fn cgroup(&self) -> &Path {
        self.group.path()
    }

    /// Begins, for so long. `stop` ends it early.
    pub(super) fn start(mut self, time: Duration, stop: &Arc<AtomicBool>) -> Result<Running> {
        let after = Time::from_secs_f64((time + LONGER).as_secs_f64());
        self.scenario.stop = Stop { after, when_complete: false };
        let (scenario, seed, group, raised) = (self.scenario, self.seed, self.group, Arc::clone(stop));
        let options = Options {
            attempts: 1,
            // The verdict is written next to the report.
            keep_refused: true,
            servers_in: Some(group.path().to_path_buf()),
            ..Options::default()
        };
        let work = move || {
            let task = Task { options, ..Task::new(&scenario, STEERED, seed) };
            let played = play(&task, &mut (), &raised);
            // Here: the thread that waits has given up the capability that removing it takes.
            drop(group);
            played
        };
        let thread = thread::Builder::new().name("ramp-load".to_owned()).spawn(work);
        let thread = thread.map_err(|cause: io::Error| CliError::Kernel {
            message: format!("cannot start a thread: {cause}"),
            help: None,
        })?;
        Ok(Running { thread, stop: Arc::clone(stop) })
    }
}

/// What the route to a client names, until the trial has drawn.
const STEERED: Row = Row::Reno;

impl Running {
    /// Before its time: it has failed.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for its end, or ends it; how true its paths were.
    pub(super) fn end(self, in_time: bool) -> Result<Option<String>> {
        if !in_time {
            self.stop.store(true, Ordering::Relaxed);
        }
        match self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(played) => Ok(EmulationSummary::of([emulation(&played)].iter()).map(|all| all.sentence())),
            Err(TestbedError::Interrupted { .. }) => Ok(None),
            Err(error) => Err(CliError::Kernel { message: format!("the load: {error}"), help: None }),
        }
    }
}
