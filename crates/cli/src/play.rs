//! One run from scenario to record, and many of them on all cores.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use ramp::Time;
use ramp_lab::{CapacityStep, Context, Meter, RunKey, RunPath, RunRecord};
use ramp_scenario::{Scenario, Source};
use ramp_sim::{SimulationError, simulate};
use ramp_trace::{Both, Provenance, Recorder, RecorderOptions};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::backend::Backend;
use crate::error::CliError;
use crate::kernel::{self, KernelError};
use crate::provenance::VERSION;
use crate::rows::Row;
use crate::store::{Store, hexadecimal};

/// One run to be played.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    /// The path and its traffic.
    pub(crate) scenario: &'a Scenario,
    /// Of that scenario.
    pub(crate) digest: &'a str,
    /// What steers the flows under test, and what that is called here.
    pub(crate) row: &'a Row,
    /// The former in full ([`Row::steering`]).
    pub(crate) steering: &'a str,
    /// What plays it.
    pub(crate) backend: Backend,
    /// For everything random.
    pub(crate) seed: u64,
    /// What if they stayed in start-up for so many rounds more.
    pub(crate) extra_startup_rounds: u32,
    /// Whether curves for charts are kept.
    pub(crate) curves: bool,
}

/// How many runs came from where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played {
    /// Found in the results directory.
    pub(crate) reused: usize,
    /// Played now.
    pub(crate) fresh: usize,
    /// Neither, because the machine was too busy; which, and why.
    pub(crate) refused: Vec<String>,
}

impl Played {
    /// How many were asked for and came to something.
    pub(crate) fn finished(&self) -> usize {
        self.reused + self.fresh
    }

    /// And those of another comparison.
    pub(crate) fn add(&mut self, more: Self) {
        self.reused += more.reused;
        self.fresh += more.fresh;
        self.refused.extend(more.refused);
    }
}

impl Run<'_> {
    /// What the result is kept by: everything that decides it, and nothing else. The row's label is not part of it.
    pub(crate) fn key(&self) -> RunKey {
        RunKey {
            scenario_hash: self.digest.to_owned(),
            steering: self.steering.to_owned(),
            seed: self.seed,
            version: VERSION.to_owned(),
            backend: self.backend.identity(),
            extra_startup_rounds: self.extra_startup_rounds,
        }
    }

    /// The scenario as this run plays it.
    pub(crate) fn scenario(&self) -> Scenario {
        let mut scenario = self.row.scenario(&self.scenario.at_seed(self.seed));
        for flow in scenario.flows.iter_mut().filter(|f| f.under_test) {
            flow.sender.extra_startup_rounds += self.extra_startup_rounds;
        }
        scenario
    }

    /// How to make this run again.
    pub(crate) fn provenance(&self, command: &str) -> Provenance {
        Provenance {
            version: VERSION.to_owned(),
            command: command.to_owned(),
            backend: self.backend.identity(),
            scenario: self.scenario.name.clone(),
            scenario_hash: self.digest.to_owned(),
            scenario_text: self.scenario.text.clone(),
            arm: self.row.label.clone(),
            seed: self.seed,
        }
    }

    /// What it met, where every run starts elsewhere in the traces.
    pub(crate) fn path(&self, context: &Context, end: Time) -> Option<RunPath> {
        (self.scenario.trace_offset_range > Time::ZERO)
            .then(|| RunPath::new(context, end.secs_f64(), self.curves))
    }

    /// Play it.
    fn play(&self, command: &str, interrupted: &AtomicBool) -> Result<Ended, CliError> {
        let scenario = self.scenario();
        let bottleneck = u32::try_from(scenario.bottleneck).into_iter().collect();
        let recorder = Recorder::new(RecorderOptions { links: bottleneck, ..RecorderOptions::default() });
        let context = context(&scenario);
        let mut observer = Both(Meter::new(&context), self.curves.then_some(recorder));
        let (end, emulation) = match self.backend {
            Backend::Sim => match simulate(&scenario, self.seed, &mut observer, interrupted) {
                Ok(outcome) => (outcome.end, None),
                Err(SimulationError::Interrupted { .. }) => return Ok(Ended::Interrupted),
                Err(cause) => return Err(CliError::Simulation { run: self.to_string(), cause }),
            },
            Backend::Linux => {
                match kernel::play(&scenario, self.row, self.seed, &mut observer, interrupted) {
                    Ok((end, emulation)) => (end, Some(emulation)),
                    Err(KernelError::Interrupted { .. }) => return Ok(Ended::Interrupted),
                    Err(KernelError::Refused(reason)) => return Ok(Ended::Refused(reason)),
                    Err(KernelError::Failed(cause)) => {
                        return Err(CliError::Run { run: self.to_string(), cause });
                    }
                }
            }
        };
        let Both(meter, recorder) = observer;
        let found = meter.finish(end);
        Ok(Ended::Finished(Box::new(RunRecord {
            provenance: self.provenance(command),
            steering: self.steering.to_owned(),
            extra_startup_rounds: self.extra_startup_rounds,
            metrics: found.metrics,
            exit: found.exit,
            downloads: found.downloads,
            download_at_least_s: found.download_at_least_s,
            path: self.path(&context, end),
            emulation,
            series: recorder.map(Recorder::finish),
        })))
    }
}

/// How a run ended.
enum Ended {
    Finished(Box<RunRecord>),
    /// By Ctrl-C.
    Interrupted,
    /// The machine was too busy for the answer to stand.
    Refused(String),
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}", self.row.label, self.seed)
    }
}

/// Find or play all runs, one after the other as they come from the iterator; the records come in that order, without
/// those that Ctrl-C prevented and without what every run says alike.
pub(crate) fn play_all<'a>(
    runs: impl Iterator<Item = Run<'a>> + Send,
    store: &Store,
    options: &PlayOptions<'_>,
) -> Result<(Vec<RunRecord>, Played), CliError> {
    let bar = options.bar;
    let reused = AtomicUsize::new(0);
    let refused = Mutex::new(Vec::new());
    let records = Mutex::new(Vec::new());
    let keep = |number: usize, record: RunRecord| {
        records.lock().unwrap_or_else(PoisonError::into_inner).push((number, lean(record)));
        bar.inc(1);
    };
    let play = |(number, run): (usize, Run<'_>)| -> Result<(), CliError> {
        let found = if options.reuse { store.load(&run.key(), &run.row.label) } else { None };
        if let Some(record) = found.filter(|record| record.series.is_some() || !run.curves) {
            reused.fetch_add(1, Ordering::Relaxed);
            keep(number, record);
            return Ok(());
        }
        if run.backend == Backend::Linux {
            bar.set_message(run.to_string());
        }
        match run.play(options.command, options.interrupted)? {
            Ended::Finished(record) => {
                store.save(&record)?;
                bar.set_message(run.to_string());
                keep(number, *record);
            }
            Ended::Refused(reason) => {
                let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push(format!("{run}: {reason}"));
            }
            Ended::Interrupted => {}
        }
        Ok(())
    };
    // Ctrl-C ends the iterator: however many runs were asked for, what is waiting costs nothing.
    let waiting = runs.enumerate().take_while(|_| !options.interrupted.load(Ordering::Relaxed));
    if options.one_at_a_time {
        let mut waiting = waiting;
        waiting.try_for_each(play)?;
    } else {
        // Handed out one by one, so that an interrupted comparison has the same seeds of every algorithm.
        waiting.par_bridge().try_for_each(play)?;
    }
    let mut records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
    records.sort_by_key(|(number, _)| *number);
    let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
    let reused = reused.into_inner();
    let played = Played { reused, fresh: records.len() - reused, refused };
    Ok((records.into_iter().map(|(_, record)| record).collect(), played))
}

/// A record without what all runs of a comparison say alike: there may be very many of them.
pub(crate) fn lean(mut record: RunRecord) -> RunRecord {
    record.provenance.command = String::new();
    record.provenance.scenario_text = String::new();
    record
}

/// What holds for all runs of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct PlayOptions<'a> {
    /// Whether results on disk are taken.
    pub(crate) reuse: bool,
    /// Goes into every record.
    pub(crate) command: &'a str,
    /// Moves with every finished run.
    pub(crate) bar: &'a ProgressBar,
    /// Real time cannot be shared: each run has the machine for itself.
    pub(crate) one_at_a_time: bool,
    /// Raised by Ctrl-C.
    pub(crate) interrupted: &'a AtomicBool,
}

/// Tells scenarios apart by everything they say, the files they name included.
pub(crate) fn digest(scenario: &Scenario) -> String {
    let mut hash = Sha256::new();
    hash.update(&scenario.name);
    hash.update([0]);
    // What is not known decides no run.
    hash.update(scenario.certain_text());
    for file in &scenario.files {
        hash.update(file.checksum.to_le_bytes());
    }
    hexadecimal(&hash.finalize()[..16])
}

/// What lab needs to know of a scenario's path.
pub(crate) fn context(scenario: &Scenario) -> Context {
    let flow = scenario.flows.iter().position(|f| f.under_test).unwrap_or(0);
    let facts = scenario.facts(flow);
    let under_test = || scenario.flows.iter().filter(|f| f.under_test);
    let config = scenario.flows.get(flow);
    let finite = |bytes: u64| (bytes != u64::MAX).then_some(bytes);
    let sizes: Vec<Option<u64>> = under_test().map(|f| finite(f.source.size_bytes())).collect();
    let same = sizes.windows(2).all(|pair| pair[0] == pair[1]);
    Context {
        description: scenario.description.clone(),
        words: scenario.in_words(),
        base_rtt_s: facts.base_rtt.secs_f64(),
        capacity: facts
            .capacity
            .iter()
            .map(|(at, rate)| CapacityStep {
                from_s: at.secs_f64(),
                bytes_per_s: rate.bits_per_s() as f64 / 8.0,
            })
            .collect(),
        bdp_bytes: facts.bdp_bytes,
        buffer_bytes: (facts.buffer_bytes < u64::MAX).then_some(facts.buffer_bytes),
        mss_bytes: config.map_or(0, |f| f.sender.mss_bytes),
        header_bytes: config.map_or(0, |f| f.sender.header_bytes),
        bottleneck: u32::try_from(scenario.bottleneck).unwrap_or(u32::MAX),
        size_bytes: if same { sizes.first().copied().flatten() } else { None },
        flows_under_test: u32::try_from(sizes.len()).unwrap_or(u32::MAX).max(1),
        application_limited: under_test().any(|f| matches!(f.source, Source::Chunks { .. })),
        end_s: scenario.stop.after.secs_f64(),
        chance: scenario.has_chance(),
    }
}
