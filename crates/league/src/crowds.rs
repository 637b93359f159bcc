//! Many connections at a time, and those that write little: what each flow gets, and what the others do.

use std::sync::atomic::AtomicBool;

use rampcc_experiment::{Ahead, Progress, Result, Row, Run, Store, check, digest};
use rampcc_lab::statistics::weighted::geometric_mean;
use rampcc_lab::{Definition, Measures, metric};
use serde::Serialize;

use crate::play::Request;
use crate::playing::Counts;
use crate::population::Population;

pub(crate) const PATHS: &str = include_str!("../population/crowds.toml");
/// Access types of those of which others are a half, and of those that begin together: what every row of a league is played in.
const BESIDE: &str = "web load, half";
const STARTS: &str = "20 starts";

/// Crowds played: by path, row and seed.
#[derive(Clone, Debug)]
pub struct Crowds {
    /// Labels of the rows.
    pub rows: Vec<String>,
    /// Access type of each path.
    pub access: Vec<String>,
    /// By path, row and seed: what was measured.
    pub runs: Vec<Vec<Vec<Measures>>>,
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
        let over = |metric: Definition, seed: Option<usize>| {
            let mut ratios = Vec::new();
            for path in &beside {
                for (_, (own, standard)) in
                    path.clone().enumerate().filter(|(at, _)| seed.is_none_or(|seed| seed == *at))
                {
                    ratios.push((own.value(metric)? / standard.value(metric)?.max(1e-9), 1.0));
                }
            }
            geometric_mean(ratios)
        };
        let seeds = beside.first()?.len();
        let by_seed: Option<Vec<f64>> =
            (0..seeds).map(|seed| over(metric::OTHERS_TIME_P95, Some(seed))).collect();
        let by_seed = by_seed?;
        let dropped = |kind: &'static str| {
            let runs = of_kind(kind).into_iter().flatten();
            let dropped = |run: &Measures| run.value(metric::DROPPED_PACKETS).unwrap_or(0.0);
            let sum =
                runs.fold((0.0, 0.0), |sum, (own, other)| (sum.0 + dropped(own), sum.1 + dropped(other)));
            (sum.1 > 0.0).then(|| sum.0 / sum.1)
        };
        Some(Among {
            own: over(metric::FLOWS_TIME, None)?,
            others: [
                over(metric::OTHERS_TIME, None)?,
                over(metric::OTHERS_TIME_P95, None)?,
                over(metric::OTHERS_TIME_P99, None)?,
            ],
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
    pub(crate) fn play_among(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Crowds> {
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
    pub fn play_crowds(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Crowds> {
        let paths = &self.population.paths;
        let digests: Vec<String> = paths.iter().map(|path| digest(&path.scenario)).collect();
        let (mut places, mut runs) = (Vec::new(), Vec::new());
        for (index, (path, digest)) in paths.iter().zip(&digests).enumerate() {
            check(self.backend, &path.scenario, &self.entrants)?;
            let seeds = if path.scenario.has_chance() { self.seeds } else { 1 };
            for (number, row) in self.entrants.iter().enumerate() {
                let run = Run::of(&path.scenario, digest, row, self.backend);
                for seed in (path.scenario.seed..).take(seeds as usize) {
                    places.push((index, number));
                    runs.push(Run { seed, ..run.clone() });
                }
            }
        }
        progress.on_backend(&Ahead {
            backend: self.backend,
            runs: runs.len(),
            runs_here: runs.len(),
            longest: paths.iter().map(|path| path.scenario.stop.after).max().unwrap_or_default(),
        });
        let store = Store::lines(&self.out)?;
        let playing = self.playing(&store, progress, interrupted);
        let all = Counts::of(runs.len()).all(&playing, &runs, |_, record| record.metrics);
        progress.on_end();
        let mut measured = vec![vec![Vec::new(); self.entrants.len()]; paths.len()];
        for ((path, row), measures) in places.into_iter().zip(all?) {
            measured[path][row].push(measures);
        }
        Ok(Crowds {
            rows: self.entrants.iter().map(|row: &Row| row.label.clone()).collect(),
            access: paths.iter().map(|path| path.access.clone()).collect(),
            runs: measured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_is_held_against_slow_start_in_the_same_place() {
        let crowd = |own, others, dropped| -> Measures {
            let values = [
                (metric::FLOWS_TIME, own),
                (metric::OTHERS_TIME, 1.0),
                (metric::OTHERS_TIME_P95, others),
                (metric::OTHERS_TIME_P99, 3.0),
                (metric::DROPPED_PACKETS, dropped),
            ];
            values.into_iter().map(|(metric, value)| (metric.id.to_owned(), value)).collect()
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
