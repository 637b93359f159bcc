//! Many connections at a time, and those that write little: what each flow gets, and what the others do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc::Time;
use rampcc_backend::BackendError;
use rampcc_experiment::{Ahead, ExperimentError, Progress, Row, Run, Wanted, check, digest};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::elsewhere::Job;
use crate::judge::weighted::{geometric_mean, quantile};
use crate::log::Log;
use crate::play::{Request, key};
use crate::playing::{Counts, Playing};
use crate::population::Population;

/// The crowds.
pub(crate) const PATHS: &str = include_str!("../population/crowds.toml");
/// Access types of those of which others are a half, and of those that begin together: what every row of a league is played in.
const BESIDE: &str = "web load, half";
const STARTS: &str = "20 starts";

/// Finished runs of a results directory.
const RUNS: &str = "crowds.jsonl";
/// Seconds after which shares are compared.
pub const SHARES_AFTER_S: u64 = 3;

/// What a crowd's run is kept by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crowd {
    /// Seconds that flows under test took: mean, 95th and 99th percentile. A flow that the run's end cut off counts with what it had.
    /// `None`: there was none.
    pub own_s: Option<[f64; 3]>,
    /// The same of the others.
    pub others_s: Option<[f64; 3]>,
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

/// What an algorithm does among others, over what plain slow start does in its place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Among {
    /// Web loads of which it is half: mean completion time of its own flows.
    pub own: f64,
    /// There, of the others: mean, 95th and 99th percentile.
    pub others: [f64; 3],
    /// The 95th percentile for each seed: the lowest and the highest.
    pub others_p95: [f64; 2],
    /// There, packets that links dropped.
    pub dropped: f64,
    /// Twenty that start within two round trips: packets that links dropped.
    pub starts_dropped: f64,
}

impl Crowds {
    /// `None`: this row or plain slow start was not played, or a path of either kind.
    pub fn among(&self, label: &str) -> Option<Among> {
        let place = |label: &str| self.rows.iter().position(|row| row == label);
        let (row, standard) = (place(label)?, place(rampcc::standard().id)?);
        let of_kind = |kind: &'static str| {
            let of_kind = self.access.iter().zip(&self.runs).filter(move |(access, _)| *access == kind);
            of_kind.map(|(_, runs)| runs[row].iter().zip(&runs[standard])).collect::<Vec<_>>()
        };
        let beside = of_kind(BESIDE);
        let over = |of: &dyn Fn(&Crowd) -> Option<f64>, seed: Option<usize>| {
            let mut ratios = Vec::new();
            for path in &beside {
                for (_, (own, standard)) in
                    path.clone().enumerate().filter(|(at, _)| seed.is_none_or(|seed| seed == *at))
                {
                    ratios.push((of(own)? / of(standard)?.max(1e-9), 1.0));
                }
            }
            geometric_mean(ratios)
        };
        let others = |which: usize| move |crowd: &Crowd| Some(crowd.others_s?[which]);
        let seeds = beside.first()?.len();
        let by_seed: Option<Vec<f64>> = (0..seeds).map(|seed| over(&others(1), Some(seed))).collect();
        let by_seed = by_seed?;
        let dropped = |kind: &'static str| {
            let runs = of_kind(kind).into_iter().flatten();
            let sum = runs.fold((0.0, 0.0), |sum, (own, other)| (sum.0 + own.dropped, sum.1 + other.dropped));
            (sum.1 > 0.0).then(|| sum.0 / sum.1)
        };
        Some(Among {
            own: over(&|crowd| Some(crowd.own_s?[0]), None)?,
            others: [over(&others(0), None)?, over(&others(1), None)?, over(&others(2), None)?],
            others_p95: [
                by_seed.iter().copied().reduce(f64::min)?,
                by_seed.iter().copied().reduce(f64::max)?,
            ],
            dropped: dropped(BESIDE)?,
            starts_dropped: dropped(STARTS)?,
        })
    }
}

impl Request<'_> {
    /// Plays the same rows in the crowds whose others [`Crowds::among`] looks at; with one run each, in one of each kind.
    pub(crate) fn play_among(
        &self,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
    ) -> Result<Crowds, ExperimentError> {
        let mut population = Population::parse("crowds", PATHS, None)?.with(&self.population.settings)?;
        population.paths.retain(|path| [BESIDE, STARTS].contains(&path.access.as_str()));
        if self.seeds == 1 {
            population = population.of_each(1);
        }
        let request = Request {
            population,
            entrants: self.entrants.clone(),
            sizes: self.sizes.clone(),
            out: self.out.clone(),
            ..*self
        };
        request.play_crowds(progress, interrupted)
    }

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
    let mut watch = Watch::default();
    let played = run.play(&mut watch, interrupted)?;
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
            Some([mean, quantile(&seconds, 0.95)?, quantile(&seconds, 0.99)?])
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
        assert_eq!((crowd.own_s, crowd.others_s), (Some([5.0, 9.0, 9.0]), Some([5.0; 3])));
        assert_eq!((crowd.dropped, crowd.ended, crowd.window), (1.0, 0.0, 1.0));
        // 300 and 100 after three seconds.
        assert!((crowd.jain - 0.8).abs() < 1e-12, "{}", crowd.jain);
        assert!((jain(&[7, 7, 7]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_others_have_is_held_against_slow_start_in_the_same_place() {
        let crowd = |own, others, dropped| Crowd {
            own_s: Some([own; 3]),
            others_s: Some([1.0, others, 3.0]),
            dropped,
            ..Crowd::default()
        };
        let crowds = Crowds {
            rows: vec!["slow_start".to_owned(), "mine".to_owned()],
            access: [BESIDE, STARTS, BESIDE].map(str::to_owned).to_vec(),
            runs: vec![
                vec![
                    vec![crowd(1.0, 2.0, 10.0), crowd(1.0, 2.0, 10.0)],
                    vec![crowd(2.0, 8.0, 5.0), crowd(2.0, 2.0, 5.0)],
                ],
                vec![vec![crowd(9.0, 9.0, 10.0)], vec![crowd(9.0, 9.0, 30.0)]],
                vec![
                    vec![crowd(1.0, 1.0, 10.0), crowd(1.0, 1.0, 10.0)],
                    vec![crowd(0.5, 1.0, 0.0), crowd(0.5, 1.0, 0.0)],
                ],
            ],
        };
        let found = crowds.among("mine").unwrap();
        assert!((found.own - 1.0).abs() < 1e-12, "{found:?}");
        // 4 and 1 on one path, 1 and 1 on the other.
        assert!((found.others[1] - std::f64::consts::SQRT_2).abs() < 1e-12, "{found:?}");
        assert!(
            (found.others_p95[0] - 1.0).abs() < 1e-12 && (found.others_p95[1] - 2.0).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!((found.others[0], found.others[2]), (1.0, 1.0));
        assert_eq!((found.dropped, found.starts_dropped), (0.25, 3.0));
        assert!(crowds.among("nobody").is_none());
    }
}
