//! What the choices do where many connections start at once, which a larger initial window meets first.

use std::sync::atomic::AtomicBool;

use rampcc_experiment::{Progress, Result, context};
use rampcc_lab::statistics::weighted::geometric_mean;
use rampcc_lab::{Definition, metric};
use serde::Serialize;

use crate::crowds::Crowds;
use crate::play::Request;
use crate::population::Population;

const PATHS: &str = include_str!("../../population/starts.toml");
/// Runs of each crowd: who begins when is drawn.
const SEEDS: u32 = 5;

/// Twenty downloads at once, played by every choice.
#[derive(Clone, Debug)]
pub struct Starts {
    crowds: Crowds,
    /// Of each path: packets that its files have together.
    packets: Vec<f64>,
}

/// What a choice does where twenty downloads begin within two round trips, all of them with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crowd {
    /// Mean download time over that with the stack's default, geometric mean over the crowds.
    pub time: f64,
    /// The same of the 95th percentile over a crowd's downloads.
    pub slowest: f64,
    /// Packets that the links drop over those that the files have, mean over the crowds.
    pub dropped: f64,
}

impl Starts {
    /// Plays the rows of a request in the crowds, with what is set on its paths.
    ///
    /// # Errors
    ///
    /// As [`Request::play`].
    pub fn play(request: &Request<'_>, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Self> {
        let population = Population::parse("starts", PATHS, None)?.with(&request.population.settings)?;
        let packets = |path: &crate::population::Path| {
            let facts = context(&path.scenario);
            let bytes = facts.size_bytes.unwrap_or_default() * u64::from(facts.flows_under_test);
            bytes as f64 / f64::from(facts.mss_bytes.max(1))
        };
        let packets = population.paths.iter().map(packets).collect();
        let request = Request {
            population,
            entrants: request.entrants.iter().filter(|row| !row.yardstick()).cloned().collect(),
            sizes: request.sizes.clone(),
            seeds: request.seeds.max(SEEDS),
            out: request.out.clone(),
            ..*request
        };
        Ok(Self { crowds: request.play_crowds(progress, interrupted)?, packets })
    }

    /// Of a choice, against the default; `None`: one of the two was not played, or has no result.
    pub(super) fn of(&self, label: &str, default: &str) -> Option<Crowd> {
        let place = |label: &str| self.crowds.rows.iter().position(|row| row == label);
        let (row, default) = (place(label)?, place(default)?);
        let over = |metric: Definition| {
            let mut ratios = Vec::new();
            for path in &self.crowds.runs {
                for (own, other) in path[row].iter().zip(&path[default]) {
                    ratios.push((own.value(metric)? / other.value(metric)?, 1.0));
                }
            }
            geometric_mean(ratios)
        };
        let dropped = |(path, packets): (&Vec<Vec<rampcc_lab::Measures>>, &f64)| {
            let runs = &path[row];
            let sum: Option<f64> = runs.iter().map(|run| run.value(metric::DROPPED_PACKETS)).sum();
            Some(sum? / runs.len() as f64 / packets)
        };
        let dropped: Option<Vec<f64>> = self.crowds.runs.iter().zip(&self.packets).map(dropped).collect();
        let dropped = dropped?;
        Some(Crowd {
            time: over(metric::FLOWS_TIME)?,
            slowest: over(metric::FLOWS_TIME_P95)?,
            dropped: dropped.iter().sum::<f64>() / dropped.len() as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use rampcc_lab::Measures;

    use super::*;

    #[test]
    fn a_crowd_is_held_against_that_of_the_default() {
        let run = |mean: f64, slowest: f64, dropped: f64| -> Measures {
            let values = [
                (metric::FLOWS_TIME, mean),
                (metric::FLOWS_TIME_P95, slowest),
                (metric::DROPPED_PACKETS, dropped),
            ];
            values.into_iter().map(|(metric, value)| (metric.id.to_owned(), value)).collect()
        };
        let starts = Starts {
            crowds: Crowds {
                rows: vec!["ten".to_owned(), "many".to_owned()],
                access: vec![String::new(); 2],
                runs: vec![
                    vec![vec![run(1.0, 2.0, 0.0)], vec![run(2.0, 2.0, 50.0)]],
                    vec![vec![run(1.0, 2.0, 10.0)], vec![run(0.5, 8.0, 30.0)]],
                ],
            },
            packets: vec![100.0, 200.0],
        };
        let many = starts.of("many", "ten").unwrap();
        assert!((many.time - 1.0).abs() < 1e-12 && (many.slowest - 2.0).abs() < 1e-12, "{many:?}");
        assert!((many.dropped - 0.325).abs() < 1e-12, "{many:?}");
        assert!((starts.of("ten", "ten").unwrap().dropped - 0.025).abs() < 1e-12);
        assert!(starts.of("nobody", "ten").is_none());
    }
}
