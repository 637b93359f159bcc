//! From runs to a comparison.

use std::collections::{BTreeMap, BTreeSet};

use rampcc::{Traits, having};
use rampcc_trace::Provenance;

use crate::about::About;
use crate::alike;
use crate::comparison::{ArmSummary, Comparison, DownloadSummary, ExitCount, LeftOut, Met, Representative};
use crate::drawn::{DrawnSeed, drawn};
use crate::metric::{Better, MetricInfo};
use crate::pairs::pairs;
use crate::statistics::summarise;
use crate::summary::Summary;
use crate::{Context, Emulation, EmulationSummary, ExitReason, Explanation, RunRecord, gentle, metric};

/// Means that differ by no more of the smallest are the same: a table prints no more digits.
const SAME: f64 = 1e-3;

/// Options of judging runs.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeOptions {
    /// Recipe for making the comparison again; `arm` stays empty.
    pub provenance: Provenance,
    /// The path.
    pub context: Context,
    /// Row labels in the order of the report; arms without runs are kept as empty rows, and arms that are not
    /// listed follow in the order of their labels.
    pub arms: Vec<String>,
    /// What each row is, by its label; may lack rows.
    pub about: BTreeMap<String, About>,
    /// Rows that could not be played.
    pub left_out: Vec<LeftOut>,
    /// Labels of arms that know the path: shown for scale, never the winner.
    pub yardsticks: Vec<String>,
    /// The contender that the others are measured against; `None`: the row that a candidate would replace, or `hystart`, what
    /// Linux runs, or else the first that is not the leader.
    pub baseline: Option<String>,
    /// Id of the metric that decides; `None`: the first of `write_time` and `download_time` that any run has, else `goodput`.
    pub primary: Option<String>,
    /// Differences within this share either way count as none.
    pub margin: f64,
}

impl JudgeOptions {
    /// The usual: algorithms that know the path are yardsticks, and 5 % is the margin.
    pub fn new(provenance: Provenance, context: Context) -> Self {
        Self {
            provenance,
            context,
            arms: Vec::new(),
            about: BTreeMap::new(),
            left_out: Vec::new(),
            yardsticks: having(Traits::KNOWS_PATH).map(|algorithm| algorithm.id.to_owned()).collect(),
            baseline: None,
            primary: None,
            margin: 0.05,
        }
    }
}

/// Judge all finished runs of one scenario.
///
/// Runs with `extra_startup_rounds` are what-if runs: they explain exits and are not counted. Of two runs with the
/// same arm and seed the later one counts. No runs at all give an empty comparison that says so.
pub fn judge(records: &[RunRecord], options: &JudgeOptions) -> Comparison {
    let runs = Runs::new(records, options);
    let metrics = runs.metrics();
    let primary = options.primary.clone().unwrap_or_else(|| runs.default_primary());
    let mut arms: Vec<ArmSummary> =
        runs.labels.iter().map(|label| runs.summary(label, &primary, options)).collect();
    let leader = leader(&options.context, &arms, &metrics, &primary);
    let baseline = baseline(&arms, leader.as_deref(), options);
    alike::mark(&mut arms);
    let drawn =
        runs.drawn(&mut arms, leader.as_deref(), metrics.iter().find(|info| info.id == primary), options);
    let yardstick = arms.iter().find(|arm| arm.yardstick && arm.n > 0).map(|arm| arm.label.clone());
    let pairs = metrics
        .iter()
        .flat_map(|info| {
            let references = [leader.as_deref(), baseline.as_deref()];
            pairs(&info.id, &arms, references, yardstick.as_deref(), options)
        })
        .collect();
    let emulation = EmulationSummary::of(runs.emulations(None));
    let mut comparison = Comparison {
        provenance: options.provenance.clone(),
        context: options.context.clone(),
        drawn,
        met: Met::of(runs.real.values().flat_map(BTreeMap::values).filter_map(|run| run.path.as_ref())),
        seeds: runs.seeds,
        metrics,
        primary,
        arms,
        left_out: options.left_out.clone(),
        pairs,
        leader,
        baseline,
        yardstick,
        margin: options.margin,
        gentlest: None,
        emulation,
        carries: None,
    };
    comparison.gentlest = gentle::gentlest(&comparison);
    comparison
}

/// Real and what-if runs by arm and seed.
struct Runs<'a> {
    labels: Vec<String>,
    seeds: Vec<u64>,
    real: BTreeMap<&'a str, BTreeMap<u64, &'a RunRecord>>,
    what_if: BTreeMap<(&'a str, u64), &'a RunRecord>,
    /// Harm needs two arms, so it is not in any record: values by arm and seed.
    harm: BTreeMap<(&'static str, &'a str, u64), f64>,
}

impl<'a> Runs<'a> {
    fn new(records: &'a [RunRecord], options: &JudgeOptions) -> Self {
        let mut real: BTreeMap<&str, BTreeMap<u64, &RunRecord>> = BTreeMap::new();
        let mut what_if = BTreeMap::new();
        for record in records {
            let (arm, seed) = (record.provenance.arm.as_str(), record.provenance.seed);
            if record.extra_startup_rounds == 0 {
                real.entry(arm).or_default().insert(seed, record);
            } else {
                what_if.insert((arm, seed), record);
            }
        }
        let mut labels: Vec<String> = Vec::new();
        for label in options.arms.iter().map(String::as_str).chain(real.keys().copied()) {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
        let seeds: BTreeSet<u64> = real.values().flat_map(|runs| runs.keys().copied()).collect();
        let mut runs =
            Self { labels, seeds: seeds.into_iter().collect(), real, what_if, harm: BTreeMap::new() };
        runs.harm = runs.harm_against(options);
        runs
    }

    /// Ware et al. 2019: the share of the others' performance that this arm takes away, against the yardstick's
    /// run with the same seed (or the baseline's where there is no yardstick).
    fn harm_against(&self, options: &JudgeOptions) -> BTreeMap<(&'static str, &'a str, u64), f64> {
        let reference = options
            .yardsticks
            .iter()
            .chain(&options.baseline)
            .find_map(|label| self.real.get_key_value(label.as_str()));
        let mut harm = BTreeMap::new();
        let Some((reference, reference_runs)) = reference else { return harm };
        for (arm, runs) in self.real.iter().filter(|(arm, _)| *arm != reference) {
            for (seed, run) in runs {
                let Some(calm) = reference_runs.get(seed) else { continue };
                for derived in &metric::HARM {
                    let (Some(here), Some(there)) = (run.metric(derived.of), calm.metric(derived.of)) else {
                        continue;
                    };
                    if here > 0.0 && there > 0.0 {
                        let loss =
                            if derived.higher_is_better { 1.0 - here / there } else { 1.0 - there / here };
                        harm.insert((derived.definition.id, *arm, *seed), loss);
                    }
                }
            }
        }
        harm
    }

    /// What some run has a value for, in the order of reports.
    fn metrics(&self) -> Vec<MetricInfo> {
        let present: BTreeSet<&str> = self
            .real
            .values()
            .flat_map(|runs| runs.values())
            .flat_map(|run| run.metrics.keys().map(String::as_str))
            .chain(self.harm.keys().map(|(id, _, _)| *id))
            .collect();
        let on_wire = self.emulations(None).any(|run| run.wire.is_some());
        metric::definitions()
            .into_iter()
            .filter(|d| present.contains(d.id))
            .map(|d| if on_wire { metric::on_wire(d) } else { d })
            .map(MetricInfo::from)
            .collect()
    }

    /// What the runs of an arm, or of all, say of the path they met.
    fn emulations(&self, label: Option<&str>) -> impl Iterator<Item = &Emulation> {
        let arms = self.real.iter().filter(move |(arm, _)| label.is_none_or(|label| **arm == label));
        arms.flat_map(|(_, runs)| runs.values()).filter_map(|run| run.emulation.as_ref())
    }

    fn default_primary(&self) -> String {
        let any = |id| self.real.values().flat_map(|runs| runs.values()).any(|run| run.metric(id).is_some());
        let first = [metric::WRITE_TIME, metric::DOWNLOAD_TIME].into_iter().find(|metric| any(metric.id));
        first.unwrap_or(metric::GOODPUT).id.to_owned()
    }

    fn values(&self, arm: &str, value: impl Fn(u64, &RunRecord) -> Option<f64>) -> Vec<Option<f64>> {
        let runs = self.real.get(arm);
        self.seeds
            .iter()
            .map(|seed| runs.and_then(|runs| runs.get(seed)).and_then(|run| value(*seed, run)))
            .collect()
    }

    fn summary(&self, label: &str, primary: &str, options: &JudgeOptions) -> ArmSummary {
        let none = BTreeMap::new();
        let runs = self.real.get(label).unwrap_or(&none);
        let mut metrics = BTreeMap::new();
        for definition in metric::definitions() {
            let id = definition.id;
            let values = self.values(label, |seed, run| {
                run.metric(id)
                    .or_else(|| self.harm.get(&(id, label, seed)).copied())
                    .filter(|v| v.is_finite())
            });
            let cut_off = id == metric::DOWNLOAD_TIME.id;
            let least = self.values(label, |_, run| run.download_at_least_s.filter(|_| cut_off));
            if let Some(summary) = summarise(values, least) {
                metrics.insert(id.to_owned(), summary);
            }
        }
        let sizes: BTreeSet<u64> =
            runs.values().flat_map(|run| run.downloads.iter().map(|d| d.bytes)).collect();
        let downloads = sizes.into_iter().filter_map(|bytes| {
            let values = self.values(label, |_, run| {
                run.downloads.iter().find(|d| d.bytes == bytes).and_then(|d| d.seconds)
            });
            Some(DownloadSummary { bytes, seconds: summarise(values, Vec::new())? })
        });
        ArmSummary {
            label: label.to_owned(),
            alike: Vec::new(),
            about: options.about.get(label).cloned(),
            yardstick: options.yardsticks.iter().any(|y| y == label),
            n: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            downloads: downloads.collect(),
            exits: exits(runs.values().copied()),
            representative: self.representative(label, runs, metrics.get(primary), options),
            drawn: Vec::new(),
            emulation: EmulationSummary::of(self.emulations(Some(label))),
            carries: None,
            metrics,
        }
    }

    /// The run nearest to the median of the primary metric, the smallest seed of several.
    fn representative(
        &self,
        label: &str,
        runs: &BTreeMap<u64, &'a RunRecord>,
        primary: Option<&Summary>,
        options: &JudgeOptions,
    ) -> Option<Representative> {
        let distance = |i: usize| {
            let value = primary.and_then(|p| Some((p.values.get(i).copied().flatten()? - p.median).abs()));
            value.unwrap_or(f64::INFINITY)
        };
        let (_, seed) = (self.seeds.iter().enumerate())
            .filter(|(_, seed)| runs.contains_key(seed))
            .min_by(|(a, _), (b, _)| distance(*a).total_cmp(&distance(*b)))?;
        let run = self.shown(label, *seed, options)?;
        Some(Representative { series: None, ..run })
    }

    /// One run, with its curves where they were kept.
    fn shown(&self, label: &str, seed: u64, options: &JudgeOptions) -> Option<Representative> {
        let run = self.real.get(label)?.get(&seed)?;
        let what_if = self.what_if.get(&(label, seed)).copied();
        Some(Representative {
            seed,
            exit: run.exit.clone(),
            stay: run.stay.clone(),
            explanation: Explanation::of(run, &options.context.of_run(run.path.as_ref()), what_if),
            path: run.path.clone(),
            series: run.series.clone(),
        })
    }

    /// Picks the seeds that are drawn and gives every row its runs of them.
    fn drawn(
        &self,
        arms: &mut [ArmSummary],
        best: Option<&str>,
        primary: Option<&MetricInfo>,
        options: &JudgeOptions,
    ) -> Vec<DrawnSeed> {
        let rows = |seed: &u64| self.real.values().filter(|runs| runs.contains_key(seed)).count();
        let most = self.seeds.iter().map(rows).max().unwrap_or(0);
        let complete: Vec<bool> = self.seeds.iter().map(|seed| rows(seed) == most).collect();
        let leader = arms.iter().find(|arm| Some(arm.label.as_str()) == best);
        let better = primary.map_or(Better::Lower, |info| info.better);
        let summary = leader.zip(primary).and_then(|(arm, info)| arm.metric(&info.id));
        let seeds = drawn(&self.seeds, &complete, summary, better);
        for arm in arms {
            arm.drawn =
                seeds.iter().filter_map(|drawn| self.shown(&arm.label, drawn.seed, options)).collect();
        }
        seeds
    }
}

fn exits<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Vec<ExitCount> {
    let mut counts: BTreeMap<ExitReason, u32> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.exit.as_ref().map_or(ExitReason::None, |exit| exit.reason)).or_default() += 1;
    }
    let mut counts: Vec<ExitCount> =
        counts.into_iter().map(|(reason, runs)| ExitCount { reason, runs }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.runs));
    counts
}

/// The contender with the best mean among those of which the most is known: downloads that were cut off count as
/// what they took at least, and a row of which nothing finished does not lead. Of rows with the same mean the one leads that
/// queues and loses least.
fn leader(context: &Context, arms: &[ArmSummary], metrics: &[MetricInfo], primary: &str) -> Option<String> {
    let sign = match metrics.iter().find(|info| info.id == primary)?.better {
        Better::Higher => -1.0,
        Better::Lower | Better::Neither => 1.0,
    };
    // Of rows that delivered nothing none leads.
    let something =
        |summary: &&Summary| summary.n > 0 && (primary != metric::GOODPUT.id || summary.mean > 0.0);
    let known = |summary: &Summary| summary.n + summary.unfinished();
    let rows: Vec<(&ArmSummary, &Summary)> = (arms.iter().filter(|arm| !arm.yardstick))
        .filter_map(|arm| arm.metric(primary).filter(something).map(|summary| (arm, summary)))
        .collect();
    let (_, best) = *rows
        .iter()
        .min_by(|(_, a), (_, b)| known(b).cmp(&known(a)).then((sign * a.mean).total_cmp(&(sign * b.mean))))?;
    let same = |summary: &Summary| {
        known(summary) == known(best) && (summary.mean - best.mean).abs() <= SAME * best.mean.abs()
    };
    let first: Vec<&ArmSummary> = rows.iter().filter(|(_, s)| same(s)).map(|(arm, _)| *arm).collect();
    let mean = |arm: &ArmSummary| arm.metric(primary).map_or(f64::INFINITY, |summary| sign * summary.mean);
    let gentle = |a: &&&ArmSummary, b: &&&ArmSummary| {
        let burdens = gentle::burden(context, &first, a).total_cmp(&gentle::burden(context, &first, b));
        burdens.then(mean(a).total_cmp(&mean(b)))
    };
    first.iter().min_by(gentle).map(|arm| arm.label.clone())
}

fn baseline(arms: &[ArmSummary], leader: Option<&str>, options: &JudgeOptions) -> Option<String> {
    let contender = |label: &str| arms.iter().any(|arm| arm.label == label && arm.n > 0 && !arm.yardstick);
    let usual = || {
        let cubic = rampcc::of_cubic().id;
        let of_cubic = arms.iter().find(|arm| arm.label == cubic);
        let other = || arms.iter().find(|arm| contender(&arm.label) && Some(arm.label.as_str()) != leader);
        let replaced = arms.iter().filter(|arm| arm.is_candidate()).find_map(|arm| arm.replaces(arms));
        replaced.or(of_cubic).filter(|arm| contender(&arm.label)).or_else(other).map(|arm| arm.label.clone())
    };
    options.baseline.clone().filter(|label| contender(label)).or_else(usual)
}
