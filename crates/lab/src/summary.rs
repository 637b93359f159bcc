//! Distributions, intervals and tests as they are stored.

use serde::{Deserialize, Serialize};

/// A distribution over runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// One value per seed of the comparison; `None`: no such run, or no value in it.
    pub values: Vec<Option<f64>>,
    /// Number of values.
    pub n: u32,
    /// Lower bounds, by seed, of values that the end of a run cut off (a download that did not finish takes longer
    /// than the run lasted); empty: nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<Option<f64>>,
    /// Mean; values that were cut off count as what they are at least (the restricted mean of survival analysis).
    pub mean: f64,
    /// Median, likewise.
    pub median: f64,
    /// Standard deviation (n - 1); `None` below two values.
    pub sd: Option<f64>,
    /// 95 % interval of the mean; `None` below two values.
    pub interval: Option<Interval>,
    /// Set where the values fall into two groups.
    pub modes: Option<Modes>,
}

impl Summary {
    /// The distribution of values, one for each run; `None` without any value.
    pub fn of(values: Vec<Option<f64>>) -> Option<Self> {
        crate::statistics::summarise(values, Vec::new())
    }

    /// Number of values that were cut off.
    pub fn unfinished(&self) -> u32 {
        u32::try_from(self.at_least.iter().flatten().count()).unwrap_or(u32::MAX)
    }

    /// By seed the value, or what it is at least.
    pub fn known_or_least(&self) -> Vec<Option<f64>> {
        let least = |i: usize| self.at_least.get(i).copied().flatten();
        self.values.iter().enumerate().map(|(i, value)| value.or_else(|| least(i))).collect()
    }
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Method.
    pub method: IntervalMethod,
}

/// Method of finding an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Student's t.
    T,
    /// Bias-corrected and accelerated bootstrap (Efron 1987).
    Bca,
    /// No interval, but the smallest and the largest value: Student's t would reach below zero, where none can be.
    Range,
}

/// Two groups of values where one was expected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Mean of the lower group.
    pub low: f64,
    /// Mean of the upper group.
    pub high: f64,
    /// Share of runs in the lower group.
    pub low_share: f64,
    /// Hartigan's dip test: probability of such a dip from one mode.
    pub p: f64,
}

/// Test that decided whether two rows differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Paired t test.
    T,
    /// Wilcoxon's signed-rank test, exact, where one of the rows is bimodal.
    SignedRank,
    /// Sign test, where the difference is the same in every run.
    Sign,
    /// None: nothing is left to chance.
    Certain,
}
