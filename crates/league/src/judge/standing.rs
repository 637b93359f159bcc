//! How one algorithm's line of the table is made.

use rayon::prelude::*;

use super::certain::{Interval, Pair, interval, resamples};
use super::line::{BySize, Cost, Fails, Harm, Over, Standing, Versus};
use super::tree::{Point, groups};
use super::{FAR, LARGE_BDP_PACKETS, NEAR, Ratio, Table, Times, Weights};
use crate::outcome::{Others, Outcome};
use crate::play::League;
use crate::population::edition;
use rampcc_lab::statistics::weighted::{geometric_mean, mean, quantile};

/// Between what others had with a download and without it, on a path.
type Difference = dyn Fn(&crate::PlayedPath, Others, Others) -> Option<f64>;

/// What every row is judged with.
struct Judge<'a> {
    league: &'a League,
    times: &'a Times,
    /// Of each path; the sum over all cases that are pooled is 1.
    path_weight: Vec<f64>,
    /// Pooled cases, with their weights.
    pooled: Vec<(usize, f64)>,
    /// Of every case, the fastest contender's time.
    fastest: Vec<f64>,
    /// True for a population drawn from this one.
    drawn: bool,
}

pub(super) fn table(league: &League, times: &Times, weights: &Weights) -> Table {
    let judge = Judge::new(league, times, weights);
    let mut standings: Vec<(usize, Standing)> =
        (0..league.rows.len()).map(|row| (row, judge.standing(row))).collect();
    standings
        .sort_by(|(_, a), (_, b)| a.yardstick.cmp(&b.yardstick).then(a.ideal.mean.total_cmp(&b.ideal.mean)));
    if let Some(first) = standings.first().filter(|(_, first)| !first.yardstick).map(|(row, _)| *row) {
        for (row, standing) in standings.iter_mut().skip(1).filter(|(_, standing)| !standing.yardstick) {
            standing.over_first = interval(&judge.pairs(*row, first));
        }
    }
    judge.place(&mut standings);
    judge.table(standings.into_iter().map(|(_, standing)| standing).collect())
}

/// As [`League::paired`].
pub(super) fn paired(league: &League, times: &Times, row: usize, other: usize) -> Option<Interval> {
    let pairs = Judge::new(league, times, &Weights::default()).pairs(row, other);
    // Of one path, what is there.
    let alone = || {
        let [pair] = pairs.as_slice() else { return None };
        let ratio = libm::exp(pair.difference);
        Some(Interval { ratio, low: ratio, high: ratio })
    };
    interval(&pairs).or_else(alone)
}

/// As [`League::resampled`].
pub(super) fn resampled(
    league: &League,
    times: &Times,
    weights: &Weights,
    rows: &[usize],
    draws: usize,
) -> Vec<Table> {
    let judge = Judge::new(league, times, weights);
    let access: Vec<&str> = league.paths.iter().map(|path| path.access.as_str()).collect();
    let table = |times: &Vec<f64>| {
        let judge = judge.weighed(times);
        judge.table(rows.iter().map(|row| judge.standing(*row)).collect())
    };
    resamples(&access, draws).par_iter().map(table).collect()
}

impl<'a> Judge<'a> {
    fn new(league: &'a League, times: &'a Times, weights: &Weights) -> Self {
        let sizes = league.pooled();
        let is_large = |case: &super::Case| sizes.contains(&case.size);
        // A path whose downloads are all small counts by those.
        let is_small = |path: usize| sizes.iter().all(|size| *size >= league.paths[path].sizes);
        let of_pool = |case: &super::Case| is_large(case) || is_small(case.path);
        let counts = |path: usize| times.cases.iter().any(|case| case.path == path && of_pool(case));
        let counting: Vec<bool> = (0..league.paths.len()).map(counts).collect();
        // Those of an access type share its weight; what was not compared has no part of it.
        let count = |kind: &str| {
            let of_kind = league.paths.iter().zip(&counting).filter(|(path, _)| path.access == kind);
            let (all, counting) =
                of_kind.fold((0, 0), |(all, of), (_, counts)| (all + 1, of + u32::from(*counts)));
            f64::from(if counting > 0 { counting } else { all })
        };
        let raw: Vec<f64> =
            league.paths.iter().map(|path| weights.of(&path.access) / count(&path.access)).collect();
        let counted: f64 =
            raw.iter().zip(&counting).filter(|(_, counts)| **counts).map(|(weight, _)| weight).sum();
        let total = if counted > 0.0 { counted } else { raw.iter().sum() };
        let path_weight: Vec<f64> = raw.iter().map(|weight| weight / total).collect();
        let pooled = times.cases.iter().enumerate().filter(|(_, case)| of_pool(case));
        // A path with three sizes counts as often as one with two.
        let pooled = pooled.map(|(index, case)| {
            let of_path = |other: &&super::Case| other.path == case.path && of_pool(other);
            (index, path_weight[case.path] / times.cases.iter().filter(of_path).count() as f64)
        });
        let contenders: Vec<usize> =
            (0..league.rows.len()).filter(|row| !league.rows[*row].yardstick).collect();
        let fastest = (0..times.cases.len())
            .map(|case| {
                contenders.iter().map(|row| times.over[*row][case].seconds).fold(f64::INFINITY, f64::min)
            })
            .collect();
        Self { league, times, pooled: pooled.collect(), path_weight, fastest, drawn: false }
    }

    /// The same where each path counts so many times.
    fn weighed(&self, times: &[f64]) -> Self {
        let path_weight: Vec<f64> =
            self.path_weight.iter().zip(times).map(|(weight, times)| weight * times).collect();
        let pooled =
            self.pooled.iter().map(|(case, weight)| (*case, weight * times[self.times.cases[*case].path]));
        Self { path_weight, pooled: pooled.collect(), fastest: self.fastest.clone(), drawn: true, ..*self }
    }

    fn table(&self, standings: Vec<Standing>) -> Table {
        let (league, times) = (self.league, self.times);
        let mut kinds: Vec<(String, f64)> = Vec::new();
        for (case, weight) in &self.pooled {
            let access = &league.paths[times.cases[*case].path].access;
            match kinds.iter_mut().find(|(kind, _)| kind == access) {
                Some((_, sum)) => *sum += weight,
                None => kinds.push((access.clone(), *weight)),
            }
        }
        Table {
            population: league.title.clone(),
            edition: edition(&league.name),
            paths: self.path_weight.iter().filter(|weight| **weight > 0.0).count(),
            left_out: times.left_out.len(),
            weights: kinds,
            pooled: (0..league.sizes.len())
                .filter(|size| self.pooled.iter().any(|(case, _)| times.cases[*case].size == *size))
                .map(|size| league.sizes[size])
                .collect(),
            sizes: league.sizes.clone(),
            standings,
        }
    }

    fn standing(&self, row: usize) -> Standing {
        let played = &self.league.rows[row];
        let own = &self.times.over[row];
        let pooled = || self.pooled.iter().copied();
        let near = |limit: f64| {
            mean(pooled().map(|(case, weight)| {
                (f64::from(u8::from(own[case].seconds <= self.fastest[case] * (1.0 + limit))), weight)
            }))
            .unwrap_or(0.0)
        };
        let is_clean =
            |case: &(usize, f64)| self.league.paths[self.times.cases[case.0].path].features.is_clean();
        let clean: Vec<(usize, f64)> = pooled().filter(is_clean).collect();
        let of_size = |size: usize| {
            let cases = self.times.cases.iter().enumerate().filter(|(_, case)| case.size == size);
            let cases: Vec<(usize, f64)> =
                cases.map(|(index, case)| (index, self.path_weight[case.path])).collect();
            BySize { bytes: self.league.sizes[size], ideal: self.over(row, &cases, |ratio| ratio.ideal) }
        };
        let rtts: Vec<(f64, f64)> = pooled().map(|(case, weight)| (own[case].rtts, weight)).collect();
        let of_cubic = rampcc::of_cubic().id;
        let standard = rampcc::standard().id;
        Standing {
            label: played.label.clone(),
            name: rampcc::algorithm(&played.label)
                .map_or_else(|| played.label.clone(), |algorithm| algorithm.name.to_owned()),
            over_first: None,
            places: None,
            same_as: self.same_as(row, standard),
            yardstick: played.yardstick,
            candidate: played.candidate,
            ideal: self.over(row, &self.pooled, |ratio| ratio.ideal).unwrap_or_else(Over::nothing),
            causal: self.over(row, &self.pooled, |ratio| ratio.causal).unwrap_or_else(Over::nothing),
            clean: self.over(row, &clean, |ratio| ratio.causal),
            clean_attained: self.over(row, &clean, |ratio| ratio.causal.min(ratio.ideal)),
            extra_rtts: [0.5, 0.95].map(|share| quantile(&rtts, share).unwrap_or(0.0)),
            by_size: (0..self.league.sizes.len()).map(of_size).collect(),
            // The last bits of times that are alike may differ.
            best: if played.yardstick { 0.0 } else { near(1e-3) },
            near_best: near(NEAR),
            slow_start: self.versus(row, standard),
            cubic: self.versus(row, of_cubic),
            cost: self.cost(row),
            harm: self.harm(row),
            together: self.together(row),
            among: self.league.crowds.as_ref().and_then(|crowds| crowds.among(&played.label)),
            fails: if self.drawn { Fails::default() } else { self.fails(row) },
        }
    }

    /// Those that the population cannot tell from the first of them share their places.
    fn place(&self, standings: &mut [(usize, Standing)]) {
        let contenders = standings.iter().take_while(|(_, standing)| !standing.yardstick).count();
        let mut first = 0;
        while first < contenders {
            let leader = standings[first].0;
            let tied = |row: usize| interval(&self.pairs(row, leader)).is_none_or(|over| over.tied());
            let more = standings[first + 1..contenders].iter().take_while(|(row, _)| tied(*row)).count();
            for (_, standing) in &mut standings[first..=first + more] {
                standing.places = Some([first + 1, first + more + 1]);
            }
            first += more + 1;
        }
    }

    fn name(&self, case: usize) -> String {
        self.league.paths[self.times.cases[case].path].name.clone()
    }

    fn over(&self, row: usize, cases: &[(usize, f64)], of: impl Fn(&Ratio) -> f64) -> Option<Over> {
        let own = &self.times.over[row];
        let values: Vec<(f64, f64)> = cases.iter().map(|(case, weight)| (of(&own[*case]), *weight)).collect();
        let counted = cases.iter().filter(|(_, weight)| *weight > 0.0);
        let (worst, _) = counted.max_by(|a, b| of(&own[a.0]).total_cmp(&of(&own[b.0])))?;
        let share = |holds: &dyn Fn(&Ratio) -> bool| {
            mean(cases.iter().map(|(case, weight)| (f64::from(u8::from(holds(&own[*case]))), *weight)))
                .unwrap_or(0.0)
        };
        Some(Over {
            mean: geometric_mean(values.iter().copied())?,
            median: quantile(&values, 0.5)?,
            p95: quantile(&values, 0.95)?,
            worst: of(&own[*worst]),
            worst_path: self.name(*worst),
            above_two: share(&|ratio| of(ratio) > 2.0),
            cut: share(&|ratio| ratio.cut),
        })
    }

    fn versus(&self, row: usize, label: &str) -> Option<Versus> {
        let other = &self.times.over[self.league.row(label)?];
        let own = &self.times.over[row];
        let ideal = &self.times.over[self.league.yardstick()];
        let ratio = |case: usize| own[case].seconds / other[case].seconds;
        let share = |holds: &dyn Fn(usize) -> bool| {
            mean(self.pooled.iter().map(|(case, weight)| (f64::from(u8::from(holds(*case))), *weight)))
                .unwrap_or(0.0)
        };
        let slower = |case: usize| ratio(case) > 1.0 + NEAR;
        let ideal_slower = |case: usize| ideal[case].seconds / other[case].seconds > 1.0 + NEAR;
        let counted = self.pooled.iter().filter(|(_, weight)| *weight > 0.0);
        let (worst, _) = counted.max_by(|a, b| ratio(a.0).total_cmp(&ratio(b.0)))?;
        Some(Versus {
            label: label.to_owned(),
            mean: geometric_mean(self.pooled.iter().map(|(case, weight)| (ratio(*case), *weight)))?,
            slower: share(&slower),
            slower_alone: share(&|case| slower(case) && !ideal_slower(case)),
            much_slower: share(&|case| ratio(case) > 1.0 + FAR),
            faster: share(&|case| ratio(case) < 1.0 - NEAR),
            worst: ratio(*worst),
            worst_path: self.name(*worst),
        })
    }

    /// A value of each path: the mean over its seeds, with the path's weight.
    fn by_path(&self, row: usize, value: impl Fn(usize, &Outcome) -> Option<f64>) -> Vec<(usize, f64, f64)> {
        let of_path = |(path, weight): (usize, &f64)| {
            let outcomes = &self.league.paths[path].outcomes[row];
            let values: Option<Vec<f64>> = outcomes.iter().map(|outcome| value(path, outcome)).collect();
            let values = values.filter(|values| !values.is_empty() && *weight > 0.0)?;
            Some((path, values.iter().sum::<f64>() / values.len() as f64, *weight))
        };
        self.path_weight.iter().enumerate().filter_map(of_path).collect()
    }

    fn cost(&self, row: usize) -> Cost {
        let plain = |values: &[(usize, f64, f64)]| -> Vec<(f64, f64)> {
            values.iter().map(|(_, value, weight)| (*value, *weight)).collect()
        };
        let large = |path: usize| self.league.paths[path].features.get("bdp") >= LARGE_BDP_PACKETS;
        let lost = self.by_path(row, |path, outcome| outcome.startup_lost.filter(|_| large(path)));
        let worst = lost.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let file = |path: usize| self.league.paths[path].file_bytes.max(1) as f64;
        let share = |of: &dyn Fn(&Outcome) -> f64| {
            let values = self.by_path(row, |path, outcome| Some(of(outcome) / file(path)));
            mean(plain(&values)).unwrap_or(0.0)
        };
        let queue = plain(&self.by_path(row, |_, outcome| Some(outcome.queue_p95_s * 1e3)));
        let all = plain(&lost);
        Cost {
            startup_lost: [
                mean(all.iter().copied()).unwrap_or(0.0),
                quantile(&all, 0.95).unwrap_or(0.0),
                worst.map_or(0.0, |worst| worst.1),
            ],
            startup_lost_path: worst.map_or(String::new(), |worst| self.league.paths[worst.0].name.clone()),
            lost: share(&|outcome| outcome.lost_bytes),
            again: share(&|outcome| outcome.again_bytes),
            queue_ms: [0.5, 0.95].map(|share| quantile(&queue, share).unwrap_or(0.0)),
        }
    }

    fn harm(&self, row: usize) -> Option<Harm> {
        // By path with a running flow: the same of the run with a download and of that without.
        let against = |of: &Difference| {
            let of_path = |(index, path): (usize, &crate::PlayedPath)| {
                let runs = path.outcomes[row].iter().zip(&path.alone);
                let values: Option<Vec<f64>> =
                    runs.map(|(run, alone)| of(path, run.others?, alone.others?)).collect();
                let values = values.filter(|values| !values.is_empty())?;
                let weight = self.path_weight[index];
                (weight > 0.0).then(|| (index, values.iter().sum::<f64>() / values.len() as f64, weight))
            };
            self.league.paths.iter().enumerate().filter_map(of_path).collect::<Vec<_>>()
        };
        let lost = against(&|path, run, alone| {
            Some((run.lost_packets - alone.lost_packets) / path.holds_packets?.max(1.0))
        });
        let goodput = against(&|_, run, alone| Some(1.0 - run.goodput_mbit / alone.goodput_mbit.max(1e-9)));
        let all: Vec<(f64, f64)> = lost.iter().map(|(_, value, weight)| (*value, *weight)).collect();
        let worst = lost.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Harm {
            lost: [mean(all.iter().copied())?, quantile(&all, 0.95)?, worst.1],
            lost_path: self.league.paths[worst.0].name.clone(),
            goodput: mean(goodput.iter().map(|(_, value, weight)| (*value, *weight)))?,
            paths: lost.len(),
        })
    }

    /// Path by path, by how much the logarithms of two rows' times differ.
    fn pairs(&self, row: usize, other: usize) -> Vec<Pair> {
        let kinds: Vec<&str> = self.league.paths.iter().map(|path| path.access.as_str()).collect();
        let mut pairs: Vec<(usize, Pair)> = Vec::new();
        for (case, weight) in self.pooled.iter().filter(|(_, weight)| *weight > 0.0) {
            let path = self.times.cases[*case].path;
            let seconds = |row: usize| libm::log(self.times.over[row][*case].seconds);
            let difference = (seconds(row) - seconds(other)) * weight;
            if let Some((_, pair)) = pairs.last_mut().filter(|(last, _)| *last == path) {
                pair.difference += difference;
                pair.weight += weight;
            } else {
                let access = kinds.iter().position(|kind| *kind == kinds[path]).unwrap_or(0);
                pairs.push((path, Pair { access, weight: *weight, difference }));
            }
        }
        let mean = |(_, pair): (usize, Pair)| Pair { difference: pair.difference / pair.weight, ..pair };
        pairs.into_iter().map(mean).collect()
    }

    fn same_as(&self, row: usize, label: &str) -> Option<String> {
        let other = self.league.row(label).filter(|other| *other != row)?;
        let kept = |run: &Outcome| {
            (run.seconds.clone(), run.had_s.to_bits(), run.lost_bytes.to_bits(), run.again_bytes.to_bits())
        };
        let same = |path: &crate::PlayedPath| {
            path.outcomes[row].iter().map(kept).eq(path.outcomes[other].iter().map(kept))
        };
        self.league.paths.iter().all(same).then(|| label.to_owned())
    }

    fn together(&self, row: usize) -> Option<[f64; 3]> {
        let runs = self.league.together.get(row).filter(|runs| !runs.is_empty())?;
        Some(std::array::from_fn(|after| {
            let values: Vec<(f64, f64)> = runs.iter().map(|run| (run[after], 1.0)).collect();
            quantile(&values, 0.5).unwrap_or(1.0)
        }))
    }

    fn fails(&self, row: usize) -> Fails {
        let own = &self.times.over[row];
        let mut points: Vec<Point<'_>> = Vec::new();
        for (case, weight) in &self.pooled {
            let path = self.times.cases[*case].path;
            let value = libm::log(own[*case].ideal);
            match points.last_mut().filter(|last| last.path == path) {
                // The mean over the sizes of a path.
                Some(last) => {
                    let both = last.weight + weight;
                    last.value =
                        if both > 0.0 { (last.value * last.weight + value * weight) / both } else { value };
                    last.weight = both;
                }
                None => {
                    points.push(Point {
                        path,
                        features: &self.league.paths[path].features,
                        value,
                        weight: *weight,
                    });
                }
            }
        }
        points.retain(|point| point.weight > 0.0);
        let groups = groups(&points);
        let examples = groups.iter().map(|group| self.league.paths[group.worst].name.clone()).collect();
        Fails { groups, examples }
    }
}

impl Over {
    fn nothing() -> Self {
        Self {
            mean: 1.0,
            median: 1.0,
            p95: 1.0,
            worst: 1.0,
            worst_path: String::new(),
            above_two: 0.0,
            cut: 0.0,
        }
    }
}
