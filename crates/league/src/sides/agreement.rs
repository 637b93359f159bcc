//! Whether two backends agree: each row's times, the ranks of all rows, and where they differ.

use rampcc_lab::{LeftOut, ranks, spearman};
use serde::Serialize;

use super::{Sides, SidesPath};
use crate::judge::tree::{Point, groups};
use crate::judge::{Group, NEAR};
use crate::outcome::Outcome;
use crate::play::POOLED_FROM;
use rampcc_lab::statistics::weighted::{geometric_mean, mean, quantile};

/// Times that are farther apart than by this share are listed one by one.
const APART: f64 = 0.1;

/// Two backends, judged. Of each pair of values the first one is the first backend's.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// Of the paths.
    pub population: String,
    /// Names of the backends.
    pub backends: [&'static str; 2],
    /// What decides the runs of the second one.
    pub identity: String,
    /// All sizes, bytes.
    pub sizes: Vec<u64>,
    /// Of these, those that are judged: small downloads are decided by the initial window.
    pub pooled: Vec<u64>,
    /// Runs on the second backend, and how many of them are marked.
    pub runs: usize,
    /// As above.
    pub marked: usize,
    /// Rows that the second backend cannot play, and why.
    pub left_out: Vec<LeftOut>,
    /// Runs without a result, and why.
    pub refused: Vec<String>,
    /// Paths and sizes that every row has on both, out of how many.
    pub cases: [usize; 2],
    /// By rank on the second backend, the rows that know the path last.
    pub rows: Vec<RowSides>,
    /// Rank correlation of the rows' mean times, Spearman's and Kendall's; `None`: fewer than two rows, or no common case.
    pub ranks: Option<[f64; 2]>,
    /// Kendall's rank correlation of the rows in each case: 5 %, median.
    pub ranks_by_case: Option<[f64; 2]>,
    /// Second over first backend, every row and case: median, within 5 %.
    pub ratio: Spread,
    /// Pairs of rows, case by case.
    pub order: Order,
    /// By access type.
    pub access: Vec<Access>,
    /// Paths by what they have in common: by how much the backends differ there, mean over rows.
    pub groups: Vec<Group>,
    /// An example of each group.
    pub examples: Vec<String>,
    /// Times that differ by more than 10 %, the farthest first.
    pub apart: Vec<Apart>,
    /// Each path.
    pub paths: Vec<OnPath>,
}

/// Ratios of the second over the first backend's times.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Spread {
    /// Number of ratios.
    pub cases: usize,
    /// Geometric mean.
    pub mean: f64,
    /// Not exceeded by 5 %, 50 % and 95 %.
    pub quantiles: [f64; 3],
    /// Share within 5 % of 1.
    pub near: f64,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct RowSides {
    /// Its label.
    pub label: String,
    /// True if it knows the path: it has no rank.
    pub yardstick: bool,
    /// Geometric mean of its times over the fastest row's, on each backend; `None`: no case has all rows.
    pub over_fastest: Option<[f64; 2]>,
    /// Ranks by that, equal ones sharing the mean.
    pub ranks: Option<[f64; 2]>,
    /// Its times.
    pub ratio: Spread,
    /// Each of its ratios.
    pub ratios: Vec<f64>,
}

/// Pairs of rows in each case, as shares of all.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Order {
    /// Number of pairs.
    pub pairs: usize,
    /// More than 5 % apart on both, in the same order.
    pub same: f64,
    /// And in the other order.
    pub turned: f64,
    /// More than 5 % apart on one backend only.
    pub one: f64,
    /// Within 5 % on both.
    pub alike: f64,
    /// Rows that are turned most often: the faster one on the second backend, the other one, and how many cases.
    pub most: Vec<(String, String, usize)>,
}

/// Paths of an access type.
#[derive(Clone, Debug, Serialize)]
pub struct Access {
    /// Which.
    pub access: String,
    /// Number of paths.
    pub paths: usize,
    /// Their times.
    pub ratio: Spread,
}

/// A case on which the backends differ.
#[derive(Clone, Debug, Serialize)]
pub struct Apart {
    /// Path.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// Row.
    pub label: String,
    /// Seconds on each backend.
    pub seconds: [f64; 2],
    /// Whether a run ended before: at least so many seconds.
    pub cut: [bool; 2],
    /// Why it left start-up, of the first run.
    pub exits: [Option<String>; 2],
    /// True if a run was marked.
    pub marked: bool,
}

/// One path.
#[derive(Clone, Debug, Serialize)]
pub struct OnPath {
    /// Its name.
    pub path: String,
    /// Its access type.
    pub access: String,
    /// All rows and judged sizes.
    pub ratio: Spread,
    /// Kendall's rank correlation of the rows at the largest size; `None`: fewer than two rows have it on both.
    pub ranks: Option<f64>,
    /// Number of runs that are marked.
    pub marked: usize,
}

/// A path and size, with each row's seconds on both backends.
struct Case<'a> {
    path: &'a SidesPath,
    size: usize,
    rows: Vec<Option<Pair>>,
}

#[derive(Clone, Copy)]
struct Pair {
    seconds: [f64; 2],
    cut: [bool; 2],
}

impl Pair {
    fn ratio(self) -> f64 {
        self.seconds[1] / self.seconds[0]
    }
}

/// Judges.
pub fn judge(sides: &Sides) -> Agreement {
    let places = pooled(&sides.sizes);
    let cases: Vec<Case<'_>> = sides.paths.iter().flat_map(|path| cases(path, &places)).collect();
    let contenders: Vec<usize> = (0..sides.rows.len())
        .filter(|row| !sides.rows[*row].1 && cases.iter().any(|case| case.rows[*row].is_some()))
        .collect();
    let common: Vec<&Case<'_>> =
        cases.iter().filter(|case| contenders.iter().all(|row| case.rows[*row].is_some())).collect();
    let (rows, ranks) = rows(sides, &cases, &contenders, &common);
    let mut by_case: Vec<(f64, f64)> =
        common.iter().filter_map(|case| kendall_in(case, &contenders)).map(|tau| (tau, 1.0)).collect();
    by_case.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = |of: &dyn Fn(&&Case<'_>) -> bool| -> Vec<f64> {
        let pairs = cases.iter().filter(of).flat_map(|case| case.rows.iter().flatten());
        pairs.map(|pair| pair.ratio()).collect()
    };
    let mut access: Vec<Access> = Vec::new();
    for path in &sides.paths {
        match access.iter_mut().find(|known| known.access == path.access) {
            Some(known) => known.paths += 1,
            None => access.push(Access {
                access: path.access.clone(),
                paths: 1,
                ratio: Spread::of(&all(&|case| case.path.access == path.access)),
            }),
        }
    }
    let (groups, examples) = differing(sides, &cases);
    let second = || sides.paths.iter().flat_map(|path| path.runs.iter().flat_map(|runs| &runs[1]));
    Agreement {
        population: sides.title.clone(),
        backends: sides.backends,
        identity: sides.identity.clone(),
        sizes: sides.sizes.clone(),
        pooled: places.iter().map(|place| sides.sizes[*place]).collect(),
        runs: second().count(),
        marked: second().filter(|run| run.is_marked()).count(),
        left_out: sides.left_out.clone(),
        refused: sides.refused.iter().map(ToString::to_string).collect(),
        cases: [common.len(), cases.len()],
        rows,
        ranks,
        ranks_by_case: quantile(&by_case, 0.05).zip(quantile(&by_case, 0.5)).map(|(low, mid)| [low, mid]),
        ratio: Spread::of(&all(&|_| true)),
        order: order(sides, &common, &contenders),
        access,
        groups,
        examples,
        apart: apart(sides, &cases),
        paths: sides.paths.iter().map(|path| on_path(path, &cases, &contenders)).collect(),
    }
}

/// Sizes that are judged, by their places, as in the league's table.
fn pooled(sizes: &[u64]) -> Vec<usize> {
    let large: Vec<usize> = (0..sizes.len()).filter(|size| sizes[*size] >= POOLED_FROM).collect();
    if large.is_empty() { (0..sizes.len()).collect() } else { large }
}

/// Those of a path; one whose file is smaller than what is judged counts with its largest.
fn cases<'a>(path: &'a SidesPath, places: &[usize]) -> Vec<Case<'a>> {
    let mut sizes: Vec<usize> = places.iter().copied().filter(|size| *size < path.sizes).collect();
    if sizes.is_empty() {
        sizes.extend(path.sizes.checked_sub(1));
    }
    let case =
        |size: usize| Case { path, size, rows: path.runs.iter().map(|runs| pair(runs, size)).collect() };
    sizes.into_iter().map(case).collect()
}

/// Geometric means over the seeds; `None`: one of the backends has no run.
fn pair(runs: &[Vec<Outcome>; 2], size: usize) -> Option<Pair> {
    let of = |side: usize| geometric_mean(runs[side].iter().map(|run| (run.time(size).0, 1.0)));
    let cut = |side: usize| runs[side].iter().any(|run| run.time(size).1);
    Some(Pair { seconds: [of(0)?, of(1)?], cut: [cut(0), cut(1)] })
}

/// Every row, and the rank correlations over them.
fn rows(
    sides: &Sides,
    cases: &[Case<'_>],
    contenders: &[usize],
    common: &[&Case<'_>],
) -> (Vec<RowSides>, Option<[f64; 2]>) {
    let score = |row: usize, side: usize| {
        let seconds = |case: &&Case<'_>| case.rows[row].map(|pair| (pair.seconds[side], 1.0));
        let all: Option<Vec<(f64, f64)>> = common.iter().map(seconds).collect();
        all.and_then(geometric_mean)
    };
    let scores = |side: usize| contenders.iter().filter_map(|row| score(*row, side)).collect::<Vec<f64>>();
    let scores = [scores(0), scores(1)];
    let ranked = [ranks(&scores[0]), ranks(&scores[1])];
    let fastest = scores.each_ref().map(|all| all.iter().copied().fold(f64::INFINITY, f64::min));
    let mut rows: Vec<RowSides> = Vec::new();
    for (row, (label, yardstick)) in sides.rows.iter().enumerate() {
        let ratios: Vec<f64> = cases.iter().filter_map(|case| case.rows[row]).map(Pair::ratio).collect();
        let place = contenders.iter().position(|known| *known == row).filter(|_| !common.is_empty());
        let over = score(row, 0).zip(score(row, 1)).filter(|_| fastest[0].is_finite());
        rows.push(RowSides {
            label: label.clone(),
            yardstick: *yardstick,
            over_fastest: over.map(|(first, second)| [first / fastest[0], second / fastest[1]]),
            ranks: place.map(|place| [ranked[0][place] + 1.0, ranked[1][place] + 1.0]),
            ratio: Spread::of(&ratios),
            ratios,
        });
    }
    let key = |row: &RowSides| row.ranks.map_or(f64::INFINITY, |ranks| ranks[1]);
    rows.sort_by(|a, b| a.yardstick.cmp(&b.yardstick).then(key(a).total_cmp(&key(b))));
    let correlation = (scores[0].len() > 1)
        .then(|| Some([spearman(&scores[0], &scores[1])?, kendall(&scores[0], &scores[1], 0.0)?]));
    (rows, correlation.flatten())
}

impl Spread {
    fn of(ratios: &[f64]) -> Self {
        let all: Vec<(f64, f64)> = ratios.iter().map(|ratio| (*ratio, 1.0)).collect();
        let near = |ratio: f64| f64::from(u8::from(is_near(ratio)));
        Self {
            cases: all.len(),
            mean: geometric_mean(all.iter().copied()).unwrap_or(1.0),
            quantiles: [0.05, 0.5, 0.95].map(|share| quantile(&all, share).unwrap_or(1.0)),
            near: mean(all.iter().map(|(ratio, weight)| (near(*ratio), *weight))).unwrap_or(1.0),
        }
    }
}

/// Whether times with this ratio are less than 5 % apart.
fn is_near(ratio: f64) -> bool {
    libm::log(ratio).abs() <= libm::log(1.0 + NEAR)
}

fn order(sides: &Sides, common: &[&Case<'_>], contenders: &[usize]) -> Order {
    let mut order = Order::default();
    let mut counts = [0_usize; 4];
    let mut turned: std::collections::BTreeMap<(usize, usize), usize> = std::collections::BTreeMap::new();
    for case in common {
        for (index, a) in contenders.iter().enumerate() {
            for b in &contenders[index + 1..] {
                let (Some(left), Some(right)) = (case.rows[*a], case.rows[*b]) else { continue };
                let [first, second] = [0, 1].map(|side| left.seconds[side] / right.seconds[side]);
                let kind = match (is_near(first), is_near(second)) {
                    (true, true) => 3,
                    (false, false) if (first < 1.0) == (second < 1.0) => 0,
                    (false, false) => {
                        let pair = if second < 1.0 { (*a, *b) } else { (*b, *a) };
                        *turned.entry(pair).or_default() += 1;
                        1
                    }
                    _ => 2,
                };
                counts[kind] += 1;
            }
        }
    }
    order.pairs = counts.iter().sum();
    let share = |kind: usize| counts[kind] as f64 / order.pairs.max(1) as f64;
    (order.same, order.turned, order.one, order.alike) = (share(0), share(1), share(2), share(3));
    let mut most: Vec<((usize, usize), usize)> = turned.into_iter().collect();
    most.sort_by_key(|pair| std::cmp::Reverse(pair.1));
    let label = |row: usize| sides.rows[row].0.clone();
    order.most = most.into_iter().map(|((a, b), count)| (label(a), label(b), count)).collect();
    order
}

/// Groups of paths by how far the backends are apart there, with an example of each.
fn differing(sides: &Sides, cases: &[Case<'_>]) -> (Vec<Group>, Vec<String>) {
    let distance = |path: &SidesPath| {
        let of_path = cases.iter().filter(|case| std::ptr::eq(case.path, path));
        let pairs = of_path.flat_map(|case| case.rows.iter().flatten());
        mean(pairs.map(|pair| (libm::log(pair.ratio()).abs(), 1.0)))
    };
    let points: Vec<Point<'_>> = (sides.paths.iter().enumerate())
        .filter_map(|(place, path)| {
            Some(Point { path: place, features: &path.features, value: distance(path)?, weight: 1.0 })
        })
        .collect();
    let groups = groups(&points);
    let examples = groups.iter().map(|group| sides.paths[group.worst].name.clone()).collect();
    (groups, examples)
}

fn apart(sides: &Sides, cases: &[Case<'_>]) -> Vec<Apart> {
    let mut all: Vec<Apart> = Vec::new();
    for case in cases {
        for (row, pair) in case.rows.iter().enumerate() {
            let Some(pair) = pair else { continue };
            if libm::log(pair.ratio()).abs() <= libm::log(1.0 + APART) {
                continue;
            }
            let runs = &case.path.runs[row];
            all.push(Apart {
                path: case.path.name.clone(),
                bytes: sides.sizes[case.size],
                label: sides.rows[row].0.clone(),
                seconds: pair.seconds,
                cut: pair.cut,
                exits: [0, 1]
                    .map(|side| runs[side].first().and_then(|run| Some(run.exit.as_ref()?.0.clone()))),
                marked: runs[1].iter().any(Outcome::is_marked),
            });
        }
    }
    let far = |one: &Apart| libm::log(one.seconds[1] / one.seconds[0]).abs();
    all.sort_by(|a, b| far(b).total_cmp(&far(a)));
    all
}

fn on_path(path: &SidesPath, cases: &[Case<'_>], contenders: &[usize]) -> OnPath {
    let own: Vec<&Case<'_>> = cases.iter().filter(|case| std::ptr::eq(case.path, path)).collect();
    let pairs = own.iter().flat_map(|case| case.rows.iter().flatten());
    let marked = path.runs.iter().flat_map(|runs| &runs[1]).filter(|run| run.is_marked());
    OnPath {
        path: path.name.clone(),
        access: path.access.clone(),
        ratio: Spread::of(&pairs.map(|pair| pair.ratio()).collect::<Vec<f64>>()),
        ranks: own.last().and_then(|case| kendall_in(case, contenders)),
        marked: marked.count(),
    }
}

/// Over the rows of one case that both backends have.
fn kendall_in(case: &Case<'_>, contenders: &[usize]) -> Option<f64> {
    let pairs: Vec<Pair> = contenders.iter().filter_map(|row| case.rows[*row]).collect();
    let side = |side: usize| pairs.iter().map(|pair| pair.seconds[side]).collect::<Vec<f64>>();
    kendall(&side(0), &side(1), NEAR)
}

/// Kendall's tau-b, where times are equal that are less than this share apart; `None`: one of the lists tells no two values apart.
fn kendall(a: &[f64], b: &[f64], near: f64) -> Option<f64> {
    let sign = |values: &[f64], i: usize, j: usize| {
        if libm::log(values[i] / values[j]).abs() <= libm::log(1.0 + near) {
            return 0.0;
        }
        if values[i] < values[j] { -1.0 } else { 1.0 }
    };
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for i in 0..a.len().min(b.len()) {
        for j in 0..i {
            let (x, y): (f64, f64) = (sign(a, i, j), sign(b, i, j));
            both += x * y;
            of_a += x.abs();
            of_b += y.abs();
        }
    }
    (of_a > 0.0 && of_b > 0.0).then(|| both / libm::sqrt(of_a * of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlations_are_scipys() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let b = [2.0, 1.0, 4.0, 3.0, 5.0];
        // scipy.stats.spearmanr(a, b), kendalltau(a, b)
        assert!((spearman(&a, &b).unwrap() - 0.8).abs() < 1e-12);
        assert!((kendall(&a, &b, 0.0).unwrap() - 0.6).abs() < 1e-12);
        // kendalltau([1, 2, 3, 4], [1, 1, 3, 4]), spearmanr of the same
        assert!(
            (kendall(&a[..4], &[1.0, 1.0, 3.0, 4.0], 0.0).unwrap() - 0.912_870_929_175_276_9).abs() < 1e-12
        );
        assert!((spearman(&a[..4], &[1.0, 1.0, 3.0, 4.0]).unwrap() - 0.948_683_298_050_513_9).abs() < 1e-12);
        assert_eq!(kendall(&a, &[1.0, 1.02, 1.01, 1.0, 1.03], NEAR), None, "nobody can tell these apart");
    }
}
