//! Parts of a comparison, as its results directory keeps them.

use std::ops::RangeInclusive;

use rampcc_lab::{About, Comparison, Context, JudgeOptions, LeftOut, RunRecord, judge};
use rampcc_scenario::Scenario;
use rampcc_trace::Provenance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::row::Row;
use crate::store::{Store, lean};

/// Contents of a results directory; written before the first run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Of the comparison.
    pub identity: String,
    /// Recipe for making it again.
    pub provenance: Provenance,
    /// The command as typed, with where its results go.
    pub typed: String,
    /// The path.
    pub context: Context,
    /// In order.
    pub rows: Vec<PlannedRow>,
    /// Rows that were asked for and could not be played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Seed of the first run of every row; the next ones count up.
    pub first_seed: u64,
    /// Runs of every row.
    pub runs: u64,
}

/// A row of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedRow {
    /// As tables call it.
    pub label: String,
    /// Full description of the algorithm of the flows under test: the runs are found by it.
    pub steering: String,
    /// What it is; `None`: the plan is of an older version.
    #[serde(default)]
    pub about: Option<About>,
    /// True if it knows the path.
    pub yardstick: bool,
    /// Parameters that differ from its algorithm's table.
    pub departures: Option<String>,
}

impl PlannedRow {
    /// A row on a scenario.
    pub fn new(row: &Row, scenario: &Scenario) -> Self {
        Self {
            label: row.label.clone(),
            steering: row.steering(scenario),
            about: Some(row.about(scenario)),
            yardstick: row.yardstick(),
            departures: row.departures(scenario),
        }
    }
}

impl Plan {
    /// Seeds of every row.
    pub fn seeds(&self) -> RangeInclusive<u64> {
        self.first_seed..=self.first_seed.saturating_add(self.runs.saturating_sub(1))
    }

    /// Parameters of rows that differ from their algorithms' tables, a line each.
    pub fn departures(&self) -> Vec<String> {
        self.rows.iter().filter_map(|row| row.departures.clone()).collect()
    }

    /// The number of the first row that is steered as this one is: it is played, and this one is the same.
    pub fn played_as(&self, row: usize) -> usize {
        let same = |other: &PlannedRow| other.steering == self.rows[row].steering;
        self.rows.iter().position(same).unwrap_or(row)
    }

    /// The numbers of the rows that are played.
    pub fn played_rows(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|row| self.played_as(*row) == *row).collect()
    }

    /// For every row its own records, of those of the rows that are played.
    pub fn shared(&self, records: Vec<RunRecord>) -> Vec<RunRecord> {
        let mut all = records;
        for (index, row) in self.rows.iter().enumerate() {
            let played = &self.rows[self.played_as(index)].label;
            if *played != row.label {
                let own: Vec<_> = all.iter().filter(|r| r.provenance.arm == *played).cloned().collect();
                all.extend(own.into_iter().map(|mut record| {
                    row.label.clone_into(&mut record.provenance.arm);
                    record
                }));
            }
        }
        all
    }

    /// Whatever runs of this plan a directory has, in the order of playing.
    pub fn finished(&self, store: &Store) -> Vec<RunRecord> {
        let seeds = self.seeds();
        let numbered = |mut record: RunRecord| {
            let key = record.key();
            let row = self.rows.iter().position(|row| row.steering == key.steering)?;
            let asked = seeds.contains(&key.seed) && key.extra_startup_rounds <= 1;
            let same = key.scenario_hash == self.provenance.scenario_hash
                && key.version == self.provenance.version
                && key.backend == self.provenance.backend;
            self.rows[row].label.clone_into(&mut record.provenance.arm);
            (asked && same).then_some(((key.extra_startup_rounds, key.seed, row), lean(record)))
        };
        let mut found: Vec<_> = store.all_runs().filter_map(numbered).collect();
        found.sort_by_key(|(number, _)| *number);
        self.shared(found.into_iter().map(|(_, record)| record).collect())
    }

    /// Judge runs of this plan.
    pub fn judge(&self, records: &[RunRecord]) -> Comparison {
        let mut options = JudgeOptions::new(self.provenance.clone(), self.context.clone());
        options.arms = self.rows.iter().map(|row| row.label.clone()).collect();
        let about = self.rows.iter().filter_map(|row| Some((row.label.clone(), row.about.clone()?)));
        options.about = about.collect();
        options.left_out.clone_from(&self.left_out);
        let yardsticks = self.rows.iter().filter(|row| row.yardstick);
        options.yardsticks = yardsticks.map(|row| row.label.clone()).collect();
        judge(records, &options)
    }
}
