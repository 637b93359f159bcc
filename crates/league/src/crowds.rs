//! Many connections at a time, and those that write little: what each flow gets, and what the others do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc::Time;
use rampcc_backend::{BackendError, Play};
use rampcc_experiment::{Ahead, ExperimentError, Progress, Row, Run, Wanted, check, digest};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::elsewhere::Job;
use crate::judge::weighted::quantile;
use crate::log::Log;
use crate::play::{Request, key};
use crate::playing::{Counts, Playing};

/// Finished runs of a results directory.
const RUNS: &str = "crowds.jsonl";
/// Seconds after which shares are compared.
pub const SHARES_AFTER_S: u64 = 3;

/// What a crowd's run is kept by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crowd {
    /// Seconds that flows under test took: mean and 95th percentile. A flow that the run's end cut off counts with what it had.
    /// `None`: there was none.
    pub own_s: Option<[f64; 2]>,
    /// The same of the others.
    pub others_s: Option<[f64; 2]>,
    /// Data packets that links dropped.
    pub dropped: f64,
    /// Jain's index of what the flows under test had received [`SHARES_AFTER_S`] after the first opened.
    pub jain: f64,
    /// The largest window of a flow under test over its first one.
    pub window: f64,
    /// Flows under test that ended start-up.
    pub ended: f64,
}

/// Crowds played: by path, row and seed.
#[derive(Clone, Debug)]
pub struct Crowds {
    /// Labels of the rows.
    pub rows: Vec<String>,
    /// Access type of each path.
    pub access: Vec<String>,
    /// By path, row and seed.
    pub runs: Vec<Vec<Vec<Crowd>>>,
}

impl Request<'_> {
    /// Plays the population as crowds, on this process's threads.
    ///
    /// # Errors
    ///
    /// As [`Request::play`].
    pub fn play_crowds(
        &self,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
    ) -> Result<Crowds, ExperimentError> {
        let paths = &self.population.paths;
        let mut jobs = Vec::new();
        let digests: Vec<String> = paths.iter().map(|path| digest(&path.scenario)).collect();
        let mut of_path = Vec::new();
        for (path, digest) in paths.iter().zip(&digests) {
            check(self.backend, &path.scenario, &self.entrants)?;
            let seeds = if path.scenario.has_chance() { self.seeds } else { 1 };
            of_path.push(seeds as usize);
            for row in &self.entrants {
                for seed in (path.scenario.seed..).take(seeds as usize) {
                    let mut job = Job {
                        scenario: &path.scenario,
                        digest,
                        row,
                        steering: row.steering(&path.scenario),
                        seed,
                        key: String::new(),
                        wanted: Wanted::Shares,
                        name: format!("{} on {}", row.label, path.name),
                    };
                    job.key = key(&job.run(self.backend).key(), &[SHARES_AFTER_S]);
                    jobs.push(job);
                }
            }
        }
        progress.on_backend(&Ahead {
            backend: self.backend,
            runs: jobs.len(),
            runs_here: jobs.len(),
            longest: paths.iter().map(|path| path.scenario.stop.after).max().unwrap_or_default(),
        });
        let counts = Counts::default();
        let log = Log::open(&self.out, RUNS)?;
        let playing = Playing { log, reuse: self.reuse, counts: &counts, progress, interrupted };
        let one = |job: &Job<'_>| {
            playing.needed(job.named(), |interrupted| crowd(&job.run(self.backend), interrupted))
        };
        let all: Result<Vec<Option<Crowd>>, ExperimentError> =
            jobs.par_iter().with_max_len(1).map(one).collect();
        progress.on_end();
        let Some(all) = all?.into_iter().collect::<Option<Vec<Crowd>>>() else {
            return Err(ExperimentError::Interrupted {
                finished: counts.finished.load(Ordering::Relaxed),
                runs: jobs.len(),
                place: self.out.clone(),
            });
        };
        let mut all = all.into_iter();
        let runs = of_path.into_iter().map(|seeds| {
            self.entrants.iter().map(|_| all.by_ref().take(seeds).collect::<Vec<_>>()).collect()
        });
        Ok(Crowds {
            runs: runs.collect(),
            rows: self.entrants.iter().map(|row: &Row| row.label.clone()).collect(),
            access: paths.iter().map(|path| path.access.clone()).collect(),
        })
    }
}

fn crowd(run: &Run<'_>, interrupted: &AtomicBool) -> Result<Crowd, BackendError> {
    let scenario = run.scenario();
    let mut watch = Watch::default();
    let play = Play { scenario: &scenario, control: run.row.control(), seed: run.seed };
    let played = run.backend.run(&play, &mut watch, interrupted)?;
    Ok(watch.crowd(played.outcome.end))
}

#[derive(Debug, Default)]
struct Seen {
    under_test: bool,
    opened: Time,
    ended: Option<Time>,
    received: u64,
    first_window: u64,
    largest_window: u64,
    left: bool,
}

#[derive(Debug, Default)]
struct Watch {
    flows: BTreeMap<u32, Seen>,
    dropped: u64,
    shares: Option<Vec<u64>>,
    first: Option<Time>,
}

impl Watch {
    fn under_test(&self) -> impl Iterator<Item = &Seen> {
        self.flows.values().filter(|flow| flow.under_test)
    }

    fn until(&mut self, now: Time) {
        let due = self.first.is_some_and(|first| now > first + Time::from_secs(SHARES_AFTER_S));
        if due && self.shares.is_none() {
            self.shares = Some(self.under_test().map(|flow| flow.received).collect());
        }
    }

    fn crowd(mut self, end: Time) -> Crowd {
        self.until(Time::NEVER);
        let times = |under_test: bool| {
            let of = self.flows.values().filter(|flow| flow.under_test == under_test);
            let seconds =
                of.map(|flow| ((flow.ended.unwrap_or(end).max(flow.opened) - flow.opened).secs_f64(), 1.0));
            let seconds: Vec<(f64, f64)> = seconds.collect();
            let mean = seconds.iter().map(|(seconds, _)| seconds).sum::<f64>() / seconds.len() as f64;
            Some([mean, quantile(&seconds, 0.95)?])
        };
        let window = |flow: &Seen| flow.largest_window as f64 / flow.first_window.max(1) as f64;
        Crowd {
            own_s: times(true),
            others_s: times(false),
            dropped: self.dropped as f64,
            jain: jain(self.shares.as_deref().unwrap_or(&[])),
            window: self.under_test().map(window).fold(1.0, f64::max),
            ended: self.under_test().filter(|flow| flow.left).count() as f64,
        }
    }
}

/// Jain's index of fairness: 1 where all are equal, 1/n where one has all.
fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| *share as f64 * *share as f64).sum();
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 1.0 }
}

impl Observer for Watch {
    fn on_flow(&mut self, sample: &FlowSample) {
        if let Some(flow) = self.flows.get_mut(&sample.flow) {
            if flow.first_window == 0 {
                flow.first_window = sample.cwnd_bytes;
            }
            flow.largest_window = flow.largest_window.max(sample.cwnd_bytes);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        self.until(event.now);
        if let FlowEventKind::Opened { under_test, .. } = event.kind {
            if under_test {
                self.first.get_or_insert(event.now);
            }
            self.flows.insert(event.flow, Seen { under_test, opened: event.now, ..Seen::default() });
            return;
        }
        let Some(flow) = self.flows.get_mut(&event.flow) else { return };
        match event.kind {
            FlowEventKind::Received { bytes } => flow.received = flow.received.max(bytes),
            FlowEventKind::Completed { .. } => flow.ended = Some(event.now),
            FlowEventKind::StartupExit { .. } => flow.left = true,
            FlowEventKind::Dropped { data: true, .. } => self.dropped += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_what_its_flows_had() {
        let mut watch = Watch::default();
        let ms = Time::from_ms;
        let mut tell = |at: u64, flow: u32, kind: FlowEventKind| {
            watch.on_event(&FlowEvent { now: ms(at), flow, kind });
        };
        for (flow, under_test) in [(0, true), (1, true), (2, false)] {
            tell(0, flow, FlowEventKind::Opened { size_bytes: 10, under_test });
        }
        tell(500, 0, FlowEventKind::Received { bytes: 300 });
        tell(600, 1, FlowEventKind::Received { bytes: 100 });
        tell(700, 2, FlowEventKind::Dropped { link: 0, wire_bytes: 1500, data: true });
        tell(700, 2, FlowEventKind::Dropped { link: 0, wire_bytes: 40, data: false });
        tell(1000, 0, FlowEventKind::Completed { bytes: 300 });
        tell(4000, 1, FlowEventKind::Received { bytes: 300 });
        tell(5000, 2, FlowEventKind::Completed { bytes: 10 });
        let crowd = watch.crowd(ms(9000));
        assert_eq!((crowd.own_s, crowd.others_s), (Some([5.0, 9.0]), Some([5.0, 5.0])));
        assert_eq!((crowd.dropped, crowd.ended, crowd.window), (1.0, 0.0, 1.0));
        // 300 and 100 after three seconds.
        assert!((crowd.jain - 0.8).abs() < 1e-12, "{}", crowd.jain);
        assert!((jain(&[7, 7, 7]) - 1.0).abs() < 1e-12);
    }
}
