//! The table: what each algorithm costs over a population, against who knows the path.

mod certain;
mod line;
mod standing;
pub(crate) mod tree;
mod weights;

pub use certain::Interval;
pub use line::{BySize, Cost, Fails, Harm, Over, Standing, Versus};
pub use tree::{Condition, Group};
pub use weights::Weights;
pub(crate) use weights::today;

use serde::Serialize;

use crate::play::League;

/// Less than this share apart is equally fast.
pub const NEAR: f64 = 0.05;
/// More than this share longer is much slower.
pub const FAR: f64 = 0.25;
/// Losses in start-up count on paths that hold so many packets: on smaller ones a burst is many times the path.
pub const LARGE_BDP_PACKETS: f64 = 20.0;

/// A league, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Population.
    pub population: String,
    /// [`EDITION`](crate::EDITION), unless the paths are a file's.
    pub edition: Option<&'static str>,
    /// Number of paths whose access type has a weight.
    pub paths: usize,
    /// Weight of each access type, their sum being 1.
    pub weights: Vec<(String, f64)>,
    /// Paths and sizes that are left out, because a run of the yardstick ended before its download.
    pub left_out: usize,
    /// Sizes that are pooled, bytes.
    pub pooled: Vec<u64>,
    /// All sizes, bytes.
    pub sizes: Vec<u64>,
    /// Contenders from the fastest to the slowest, by the geometric mean of their download times over the yardstick's; then
    /// yardsticks.
    pub standings: Vec<Standing>,
}

impl Table {
    /// Contenders than which none is both as fast and as gentle to others, by the 95th percentile of their completion times under a
    /// web load: from the fastest to the gentlest. Empty: nothing was played among others.
    pub fn front(&self) -> Vec<&str> {
        let contenders = || {
            let all =
                self.standings.iter().filter(|standing| !standing.yardstick && standing.same_as.is_none());
            all.filter_map(|standing| Some((standing, standing.among?.others[1])))
        };
        let mut gentlest = f64::INFINITY;
        let mut front = Vec::new();
        for (standing, others) in contenders() {
            if others < gentlest {
                gentlest = others;
                front.push(standing.label.as_str());
            }
        }
        front
    }
}

/// Download times of every row, path and size: what is judged.
#[derive(Clone, Debug)]
pub struct Times {
    /// Paths and sizes that are compared.
    pub cases: Vec<Case>,
    /// Those that are not, because a run of the yardstick ended before its download.
    pub left_out: Vec<Case>,
    /// By row and case: geometric mean over the seeds.
    pub over: Vec<Vec<Ratio>>,
}

/// A size on a path.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Place of the path in the population.
    pub path: usize,
    /// Place of the size in the league's sizes.
    pub size: usize,
}

/// Download time of a row in one case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ratio {
    /// Seconds.
    pub seconds: f64,
    /// Over the yardstick's.
    pub ideal: f64,
    /// Over what no sender can beat that learns from ACKs: a bound on clean paths, elsewhere a reference.
    pub causal: f64,
    /// Round trips more than the yardstick.
    pub rtts: f64,
    /// True if a run ended before the download did: a lower bound.
    pub cut: bool,
}

impl League {
    /// Place of the yardstick among the rows.
    pub fn yardstick(&self) -> usize {
        self.rows.iter().position(|row| row.yardstick).unwrap_or(0)
    }

    /// Place of the row with this label.
    pub fn row(&self, label: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.label == label && !row.candidate)
    }

    /// Place of the row with this label, a candidate's too.
    pub(crate) fn row_of(&self, label: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.label == label)
    }

    /// Download times against the yardstick's.
    pub fn times(&self) -> Times {
        let mut cases = Vec::new();
        for (path, played) in self.paths.iter().enumerate() {
            cases.extend((0..played.sizes).map(|size| Case { path, size }));
        }
        let yardstick = self.yardstick();
        let ends =
            |case: &Case| self.paths[case.path].outcomes[yardstick].iter().all(|run| !run.time(case.size).1);
        let (cases, left_out): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(ends);
        let over = (0..self.rows.len())
            .map(|row| cases.iter().map(|case| self.ratio(row, *case)).collect())
            .collect();
        Times { cases, left_out, over }
    }

    fn ratio(&self, row: usize, case: Case) -> Ratio {
        let path = &self.paths[case.path];
        let yardstick = self.yardstick();
        let mut all = Ratio { cut: false, ..Ratio::default() };
        let seeds = path.causal_s.len();
        for (seed, causal_s) in path.causal_s.iter().enumerate() {
            let (seconds, cut) = path.outcomes[row][seed].time(case.size);
            let (ideal, _) = path.outcomes[yardstick][seed].time(case.size);
            let causal = causal_s[case.size];
            all.seconds += libm::log(seconds);
            all.ideal += libm::log(seconds / ideal);
            all.causal += libm::log(seconds / causal);
            all.rtts += (seconds - ideal) / path.rtt_s;
            all.cut |= cut;
        }
        let count = seeds.max(1) as f64;
        Ratio {
            seconds: libm::exp(all.seconds / count),
            ideal: libm::exp(all.ideal / count),
            causal: libm::exp(all.causal / count),
            rtts: all.rtts / count,
            cut: all.cut,
        }
    }

    /// Judges.
    pub fn judge(&self, weights: &Weights) -> Table {
        let times = self.times();
        standing::table(self, &times, weights)
    }

    /// Download time of one row over that of another on the same paths, with how sure it is, of one path as it is there; `None`: one of the labels is no row's.
    pub fn paired(&self, label: &str, other: &str) -> Option<Interval> {
        standing::paired(self, &self.times(), self.row_of(label)?, self.row_of(other)?)
    }

    /// Tables of so many populations that have as many paths of each access type, drawn from these with replacement: standings of these
    /// rows, without an order and without where they fail. The draws are the same in every call.
    pub(crate) fn resampled(&self, weights: &Weights, labels: &[&str], draws: usize) -> Vec<Table> {
        let times = self.times();
        let rows: Vec<usize> = labels.iter().filter_map(|label| self.row_of(label)).collect();
        standing::resampled(self, &times, weights, &rows, draws)
    }

    /// Sizes that are pooled, by their places.
    pub fn pooled(&self) -> Vec<usize> {
        let large: Vec<usize> =
            (0..self.sizes.len()).filter(|size| self.sizes[*size] >= self.pooled_from).collect();
        if large.is_empty() { (0..self.sizes.len()).collect() } else { large }
    }
}
