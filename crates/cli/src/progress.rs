//! A bar over runs, on a terminal only, what is said meanwhile, and the flag that Ctrl-C and its like raise.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use std::{process, thread};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rampcc::figures::{counted, plural};
use rampcc_backend::{Backend, Clock};
use rampcc_experiment::{Ahead, ExperimentError, Progress, Refused};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{CliError, Result};
use crate::provenance;

/// Says on standard error what people should know, and no more.
pub(crate) struct Said;

impl Progress for Said {
    fn on_note(&self, line: &str) {
        say!("{line}");
    }
}

/// The same with a bar over the runs of each backend.
pub(crate) struct Bar(Mutex<ProgressBar>);

impl Default for Bar {
    fn default() -> Self {
        Self(Mutex::new(ProgressBar::hidden()))
    }
}

impl Bar {
    fn bar(&self) -> MutexGuard<'_, ProgressBar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says how many of `all` runs an earlier command had finished.
pub(crate) fn say_found(found: usize, all: usize) {
    if found > 0 {
        say!("{found} of {} {} finished already", counted(all, "run"), plural(all, "was", "were"));
    }
}

/// Says how to go on where it was interrupted.
pub(crate) fn kept(error: ExperimentError) -> CliError {
    let ExperimentError::Interrupted { finished, runs, place } = error else { return error.into() };
    say!(
        "interrupted: {finished} of {} {} finished and kept in {}",
        counted(runs, "run"),
        plural(runs, "is", "are"),
        place.display()
    );
    say!("to continue: {}", provenance::typed());
    CliError::Interrupted
}

/// Ends a command whose output is written. Runs that were refused are an error, and what there is shall be seen before it.
pub(crate) fn ended(refused: Vec<Refused>, out: &mut impl Write) -> Result {
    if refused.is_empty() {
        return Ok(());
    }
    out.flush()?;
    Err(CliError::Refused { refused })
}

impl Progress for Bar {
    fn on_backend(&self, ahead: &Ahead<'_>) {
        if ahead.backend.clock() == Clock::Real {
            say!(
                "{}: {} in real time, one after the other, each {:.0} s at most; Ctrl-C keeps the finished ones",
                ahead.backend.name(),
                counted(ahead.runs_here, "run"),
                ahead.longest.secs_f64()
            );
        }
        *self.bar() = bar(ahead.runs);
    }

    fn on_start(&self, run: &str) {
        self.bar().set_message(run.to_owned());
    }

    fn on_finish(&self, run: &str) {
        let bar = self.bar();
        bar.set_message(run.to_owned());
        bar.inc(1);
    }

    fn on_end(&self) {
        self.bar().finish_and_clear();
    }

    fn on_note(&self, line: &str) {
        say!("{line}");
    }
}

/// A bar on standard error; invisible unless that is a terminal.
fn bar(runs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs  {wide_msg}  {eta} left")
        .expect("the template is constant");
    bar.with_style(style)
}

/// A flag that the first Ctrl-C raises, or the first SIGTERM or SIGHUP. The second one ends the process: what is
/// finished is on disk, whole.
pub(crate) fn interruption() -> Arc<AtomicBool> {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // Fails only where signals cannot be caught; they then end the process, which is safe as well. In this order, so that
        // it takes a second one to end it.
        let _ = flag::register_conditional_shutdown(signal, 130, Arc::clone(&raised))
            .and_then(|_| flag::register(signal, Arc::clone(&raised)));
    }
    raised
}

/// How long anything may go on after an interruption: with what the kernel then takes back, within two seconds.
const GRACE: Duration = Duration::from_secs(1);

/// The same for work whose results are kept: where it has not ended of itself soon after the signal, the process ends. Everything that
/// is finished is on disk, whole, and the same command goes on.
pub(crate) fn interruption_soon() -> Arc<AtomicBool> {
    let raised = interruption();
    let seen = Arc::clone(&raised);
    thread::spawn(move || {
        let (_quiet, never) = mpsc::channel::<()>();
        while !seen.load(Ordering::Relaxed) {
            let _ = never.recv_timeout(GRACE / 20);
        }
        let _ = never.recv_timeout(GRACE);
        say!("interrupted; what is finished is kept. To continue: {}", provenance::typed());
        process::exit(130);
    });
    raised
}

/// The same for a command that plays on these backends; one whose runs would leave something behind ends them in its own time.
pub(crate) fn interruption_of(backends: impl IntoIterator<Item = &'static dyn Backend>) -> Arc<AtomicBool> {
    if backends.into_iter().all(Backend::ends_with_process) { interruption_soon() } else { interruption() }
}

#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::SIGHUP;

    // With hang-ups ignored (`nohup`), the work is to go on.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok())
        .unwrap_or(0);
    let mut signals = vec![SIGINT, SIGTERM];
    if ignored >> (SIGHUP - 1) & 1 == 0 {
        signals.push(SIGHUP);
    }
    signals
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}
