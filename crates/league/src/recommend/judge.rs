//! Which choice, what the others cost, and where the answer flips.

use rampcc_lab::carries::{CarriedRow, Neighbourhood, influences};
use serde::Serialize;

use super::stack::{Choice, Stack};
use super::starts::{Crowd, Starts};
use crate::judge::tree::{Point, groups};
use crate::judge::{Interval, NEAR, Standing, Times, Weights};
use crate::play::League;
use rampcc_lab::statistics::weighted::geometric_mean;

/// An influence is certain if it comes by chance less often than this.
const CERTAIN: f64 = 0.05;

/// A difference of losses, as a share of the payload or of what a path holds, that is no reason to choose otherwise.
pub(super) const SLIGHT: f64 = 0.005;

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendation {
    /// The stack, in prose.
    pub stack: String,
    /// What must be known of it.
    pub notes: String,
    /// The paths: a population, or the scenario whose ranges they come from.
    pub population: String,
    /// Their number.
    pub paths: usize,
    /// `FIELD: values`, of what the paths differ in if they were drawn from stated ranges.
    pub ranges: Vec<String>,
    /// Sizes of downloads, bytes; all count alike.
    pub sizes: Vec<u64>,
    /// Label of the recommended choice.
    pub recommended: String,
    /// Label of what the stack does by itself.
    pub default: String,
    /// Label of the fastest choice, where that is certainly faster than the recommended one: it loses more than the default, costs a running flow more, or does more harm in a crowd.
    pub faster: Option<String>,
    /// Label of the choice that would be recommended if connections never started together, where that is another one.
    pub without_crowds: Option<String>,
    /// Paths on which the recommended choice is within 5 % of the fastest one.
    pub holds: usize,
    /// Every choice, from the fastest.
    pub choices: Vec<Judged>,
    /// For each size, the fastest.
    pub by_size: Vec<BySize>,
    /// Where another choice is better, the largest loss first.
    pub flips: Vec<Flip>,
}

/// A choice.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// `32 / cubic / fq`.
    pub label: String,
    /// Packets.
    pub initial_window: u32,
    /// As the stack calls it.
    pub start_up: String,
    /// As the stack calls it; empty: the start-up paces by itself.
    pub pacing: String,
    /// True of what the stack does by itself.
    pub default: bool,
    /// How to set it, where that differs from the default.
    pub set: Vec<String>,
    /// Download time over that of a sender that knows the path, geometric mean.
    pub ideal: f64,
    /// Download time over the recommended choice's, with its 95 % interval; `None` for that.
    pub over_recommended: Option<Interval>,
    /// Share of paths and sizes on which it takes more than 5 % longer than the fastest choice.
    pub slower: f64,
    /// The largest ratio to a sender that knows the path, and where.
    pub worst: f64,
    /// As above.
    pub worst_path: String,
    /// Payload that it loses over the file, mean.
    pub lost: f64,
    /// Queueing delay not exceeded for 95 % of a download, ms, median over the paths.
    pub queue_ms: f64,
    /// Packets that a running flow loses because of it, over those that pipe and buffer hold together, mean; `None`: no path has one.
    pub others_lost: Option<f64>,
    /// What it does where twenty downloads begin within two round trips; `None`: a download there did not end.
    pub crowd: Option<Crowd>,
}

/// The fastest choice for a size.
#[derive(Clone, Debug, Serialize)]
pub struct BySize {
    /// Bytes.
    pub bytes: u64,
    /// Its label.
    pub fastest: String,
    /// Download time of the recommended choice over its.
    pub recommended: f64,
}

/// Paths on which another choice is better.
#[derive(Clone, Debug, Serialize)]
pub struct Flip {
    /// What they have in common, in words.
    pub condition: String,
    /// The field of a scenario that decides, of stated ranges.
    pub field: Option<String>,
    /// Value of it from which on, or up to which, the answer is another one.
    pub value: Option<String>,
    /// Number of these paths.
    pub paths: usize,
    /// Label of the fastest choice there.
    pub instead: String,
    /// Download time of the recommended choice over its, there.
    pub costs: f64,
}

pub(super) fn recommendation(
    stack: &Stack,
    starts: &Starts,
    league: &League,
    ranges: Option<&Neighbourhood>,
) -> Recommendation {
    let times = league.times();
    let table = league.judge(&Weights::default());
    let standings: Vec<&Standing> = table.standings.iter().filter(|row| !row.yardstick).collect();
    let default = stack.choices[stack.default()].row.label.as_str();
    let crowd = |label: &str| starts.of(label, default);
    let alone = harmless(stack, &standings);
    let together: Vec<&Standing> = (alone.iter().copied())
        .filter(|standing| standing.label == default || no_harm(crowd(&standing.label), crowd(default)))
        .collect();
    let without_crowds = gentlest(stack, league, &alone);
    let chosen = gentlest(stack, league, &together);
    let paths = ByPath::new(league, &times, stack.choices.len());
    let row = |label: &str| stack.choices.iter().position(|choice| choice.row.label == label).unwrap_or(0);
    let recommended = row(&chosen.label);
    let judged = |standing: &&Standing| {
        let choice = &stack.choices[row(&standing.label)];
        Judged {
            over_recommended: league
                .paired(&standing.label, &chosen.label)
                .filter(|_| standing.label != chosen.label),
            crowd: crowd(&standing.label),
            ..Judged::new(choice, standing)
        }
    };
    let flips = match ranges {
        Some(ranges) => paths.flips_of_fields(stack, recommended, ranges),
        None => paths.flips_of_groups(stack, recommended, league),
    };
    Recommendation {
        stack: stack.title.clone(),
        notes: stack.notes.trim().to_owned(),
        population: league.title.clone(),
        paths: league.paths.len(),
        ranges: ranges.map_or_else(Vec::new, |ranges| {
            ranges.fields.iter().map(|field| format!("{}: {}", field.field, field.values)).collect()
        }),
        sizes: league.sizes.clone(),
        recommended: chosen.label.clone(),
        default: default.to_owned(),
        faster: league
            .paired(&standings[0].label, &chosen.label)
            .filter(|over| over.high < 1.0)
            .map(|_| standings[0].label.clone()),
        without_crowds: (without_crowds.label != chosen.label).then(|| without_crowds.label.clone()),
        holds: paths.regrets(recommended).iter().flatten().filter(|regret| **regret <= NEAR).count(),
        choices: standings.iter().map(judged).collect(),
        by_size: by_size(stack, league, &times, recommended),
        flips,
    }
}

/// The choices that lose and cost a running flow no more than the stack's default, which is one of them.
fn harmless<'a>(stack: &Stack, standings: &[&'a Standing]) -> Vec<&'a Standing> {
    let label = &stack.choices[stack.default()].row.label;
    let default =
        standings.iter().find(|standing| standing.label == *label).expect("the default is a choice");
    let others = |standing: &Standing| standing.harm.as_ref().map_or(0.0, |harm| harm.lost[0]);
    let no_worse = |standing: &&&Standing| {
        standing.cost.lost <= default.cost.lost + SLIGHT && others(standing) <= others(default) + SLIGHT
    };
    standings.iter().filter(no_worse).copied().collect()
}

/// Whether a choice's crowd loses no more than the default's, and its slowest download takes no longer.
pub(super) fn no_harm(crowd: Option<Crowd>, default: Option<Crowd>) -> bool {
    let (Some(crowd), Some(default)) = (crowd, default) else { return false };
    crowd.dropped <= default.dropped + SLIGHT && crowd.slowest <= default.slowest * (1.0 + NEAR)
}

/// Of the choices that are certainly less than 5 % slower than the fastest of these, the one that loses least, then the one that queues least,
/// and of equals the stack's default.
fn gentlest<'a>(stack: &Stack, league: &League, standings: &[&'a Standing]) -> &'a Standing {
    let equal = |standing: &&&Standing| {
        let over = league.paired(&standing.label, &standings[0].label);
        standing.label == standings[0].label || over.is_some_and(|over| over.high <= 1.0 + NEAR)
    };
    let default = &stack.choices[stack.default()].row.label;
    let key = |standing: &Standing| {
        // Differences below these show nowhere.
        let lost = (standing.cost.lost * 1e3).round();
        let queue = standing.cost.queue_ms[0].round();
        (lost, queue, standing.label != *default, standing.ideal.mean)
    };
    let better = |a: &&&Standing, b: &&&Standing| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).then(a.3.total_cmp(&b.3))
    };
    standings.iter().filter(equal).min_by(better).expect("the fastest is among them")
}

impl Judged {
    fn new(choice: &Choice, standing: &Standing) -> Self {
        Self {
            label: choice.row.label.clone(),
            initial_window: choice.initial_window,
            start_up: choice.start_up.clone(),
            pacing: choice.pacing.clone(),
            default: choice.default,
            set: choice.set.clone(),
            ideal: standing.ideal.mean,
            over_recommended: None,
            slower: 1.0 - standing.near_best,
            worst: standing.ideal.worst,
            worst_path: standing.ideal.worst_path.clone(),
            lost: standing.cost.lost,
            queue_ms: standing.cost.queue_ms[0],
            others_lost: standing.harm.as_ref().map(|harm| harm.lost[0]),
            crowd: None,
        }
    }
}

fn by_size(stack: &Stack, league: &League, times: &Times, recommended: usize) -> Vec<BySize> {
    let of_size = |size: usize| {
        let cases: Vec<usize> =
            (0..times.cases.len()).filter(|case| times.cases[*case].size == size).collect();
        let mean =
            |row: usize| geometric_mean(cases.iter().map(|case| (times.over[row][*case].seconds, 1.0)));
        let means: Option<Vec<f64>> = (0..stack.choices.len()).map(mean).collect();
        let means = means?;
        let fastest = least(&means)?;
        Some(BySize {
            bytes: league.sizes[size],
            fastest: stack.choices[fastest].row.label.clone(),
            recommended: means[recommended] / means[fastest],
        })
    };
    (0..league.sizes.len()).filter_map(of_size).collect()
}

fn least(values: &[f64]) -> Option<usize> {
    (0..values.len()).min_by(|a, b| values[*a].total_cmp(&values[*b]))
}

/// Logarithms of download times, the mean over the sizes of each path.
struct ByPath {
    /// By row and path; `None`: the path has no size that is compared.
    times: Vec<Vec<Option<f64>>>,
}

impl ByPath {
    fn new(league: &League, times: &Times, rows: usize) -> Self {
        let of = |row: usize, path: usize| {
            let cases = times.cases.iter().enumerate().filter(|(_, case)| case.path == path);
            geometric_mean(cases.map(|(case, _)| (times.over[row][case].seconds, 1.0))).map(libm::log)
        };
        let times =
            (0..rows).map(|row| (0..league.paths.len()).map(|path| of(row, path)).collect()).collect();
        Self { times }
    }

    /// By how much a row is slower than the fastest, as a share, by path.
    fn regrets(&self, row: usize) -> Vec<Option<f64>> {
        let fastest = |path: usize| self.times.iter().filter_map(|of| of[path]).min_by(f64::total_cmp);
        let regret = |path: usize| Some(libm::exp(self.times[row][path]? - fastest(path)?) - 1.0);
        (0..self.times[row].len()).map(regret).collect()
    }

    /// The row that is fastest on these paths, and the time of `row` over its.
    fn instead(&self, row: usize, paths: &[usize]) -> Option<(usize, f64)> {
        let mean = |row: usize| {
            let times: Vec<f64> = paths.iter().filter_map(|path| self.times[row][*path]).collect();
            times.iter().sum::<f64>() / times.len().max(1) as f64
        };
        let means: Vec<f64> = (0..self.times.len()).map(mean).collect();
        let fastest = least(&means)?;
        Some((fastest, libm::exp(means[row] - means[fastest])))
    }

    /// On the side of a field's value where the recommended choice holds less often.
    fn flips_of_fields(&self, stack: &Stack, row: usize, ranges: &Neighbourhood) -> Vec<Flip> {
        let regrets = self.regrets(row);
        let carried = CarriedRow {
            label: stack.choices[row].row.label.clone(),
            yardstick: false,
            carries: None,
            values: self.times[row].iter().map(|time| time.map(libm::exp)).collect(),
            regrets,
        };
        let certain = influences(ranges, &carried, NEAR).into_iter().filter(|found| found.p < CERTAIN);
        let flip = |found: rampcc_lab::carries::Influence| {
            let split = found.split?;
            let field = &ranges.fields[found.field];
            let share = |(holds, of): (u32, u32)| f64::from(holds) / f64::from(of.max(1));
            let below = share(split.holds_below) <= share(split.holds_above);
            let (word, value) = if below { ("below", split.above) } else { ("above", split.below) };
            let inside = |path: &usize| (ranges.paths[*path].at[found.field] < split.at) == below;
            let paths: Vec<usize> = (0..ranges.paths.len()).filter(inside).collect();
            let condition = format!(
                "{} {word} {}",
                rampcc_lab::carries::field_name(&field.field),
                rampcc_lab::carries::short(&value)
            );
            self.flip(stack, row, &paths, condition).map(|flip| Flip {
                field: Some(field.field.clone()),
                value: Some(value),
                ..flip
            })
        };
        sorted(certain.filter_map(flip).collect())
    }

    /// In the groups of a tree over the properties of paths.
    fn flips_of_groups(&self, stack: &Stack, row: usize, league: &League) -> Vec<Flip> {
        let regrets = self.regrets(row);
        let point = |(path, regret): (usize, &Option<f64>)| {
            Some(Point {
                path,
                features: &league.paths[path].features,
                value: libm::log1p((*regret)?),
                weight: 1.0,
            })
        };
        let points: Vec<Point<'_>> = regrets.iter().enumerate().filter_map(point).collect();
        let flip = |group: &crate::judge::Group| {
            let inside = |path: &usize| {
                let features = &league.paths[*path].features;
                regrets[*path].is_some() && group.conditions.iter().all(|condition| condition.holds(features))
            };
            let paths: Vec<usize> = (0..league.paths.len()).filter(inside).collect();
            let words: Vec<String> = group.conditions.iter().map(crate::judge::Condition::words).collect();
            let condition =
                if words.is_empty() { "all of them together".to_owned() } else { words.join(", ") };
            self.flip(stack, row, &paths, condition)
        };
        sorted(groups(&points).iter().filter_map(flip).collect())
    }

    /// `None`: no other choice is more than 5 % faster there.
    fn flip(&self, stack: &Stack, row: usize, paths: &[usize], condition: String) -> Option<Flip> {
        let (instead, costs) = self.instead(row, paths)?;
        (costs > 1.0 + NEAR).then(|| Flip {
            condition,
            field: None,
            value: None,
            paths: paths.len(),
            instead: stack.choices[instead].row.label.clone(),
            costs,
        })
    }
}

fn sorted(mut flips: Vec<Flip>) -> Vec<Flip> {
    flips.sort_by(|a, b| b.costs.total_cmp(&a.costs));
    flips
}
