//! From runs to values and verdicts.

use std::collections::{BTreeMap, BTreeSet};

use rampcc_lab::{Interval, Summary};
use serde::Serialize;

use crate::error::Result;
use crate::experiment::{ClaimPlan, Experiment, FORMULA, How, ProofPlan, ReasonPlan};
use crate::expression::{Check, Outcome, Reference, Term, Values};
use crate::figure;
use crate::file::{Hold, Kind, Take};
use crate::paper::Paper;
use crate::plan::{Conditions, Plan};
use crate::play::Runs;
use crate::quantity::{Metric, Quantity};

use words::{bounds, words};

/// An experiment that was played, computed or listed.
#[derive(Debug)]
pub struct Judged {
    /// Identifier.
    pub id: String,
    /// Source.
    pub paper: Paper,
    /// What it shows.
    pub title: String,
    /// What was done for it.
    pub kind: Kind,
    /// Its claims, checked.
    pub claims: Vec<Verdict>,
    /// Number of its runs.
    pub runs: usize,
    /// What these took one after the other, seconds.
    pub took_s: f64,
    /// As pages show it.
    pub figure: rampcc_lab::report::html::gallery::Figure,
}

/// A claim, checked.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// In words.
    pub text: String,
    /// Where the source says so.
    pub place: String,
    /// The source's value.
    pub source: String,
    /// What was checked.
    pub check: String,
    /// What was measured.
    pub measured: String,
    /// `None`: it was not checked. Where a value is missing, it does not hold.
    pub holds: Option<bool>,
    /// Why it does not hold: only where that is for what was measured.
    pub reason: Option<String>,
    /// Why the reason or the proof in its file does not count.
    pub reason_fails: Option<String>,
    /// It does not hold, and its source itself says otherwise: what shows it. Such claims are counted apart.
    pub contradicted: Option<Contradiction>,
}

/// What shows that a claim's own source contradicts it.
#[derive(Clone, Debug, Serialize)]
pub struct Contradiction {
    /// In words.
    pub why: String,
    /// What was checked, each with what was found.
    pub proof: Vec<(String, String)>,
}

impl Verdict {
    /// Whether it neither holds nor has a reason.
    pub fn unexplained(&self) -> bool {
        self.holds == Some(false) && self.reason.is_none() && self.contradicted.is_none()
    }
}

/// Values of metrics under one set of conditions.
pub(crate) struct Measures<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) runs: Option<&'a Runs>,
    cells: BTreeMap<(String, usize, usize), Option<Summary>>,
}

/// Judges an experiment; `runs` gives those of each set of conditions.
pub(crate) fn judge(plan: &Plan<'_>, runs: impl Fn(&Conditions) -> Result<Runs>) -> Result<Judged> {
    let experiment = plan.experiment;
    let described = plan.settings.first().map(&runs).transpose()?;
    let measures = Measures::new(experiment, described.as_ref());
    let mut claims: Vec<Verdict> =
        experiment.claims.iter().map(|claim| verdict(claim, &measures, plan)).collect();
    let mut tables: Vec<figure::ChoiceTable> = Vec::new();
    for conditions in plan.settings.iter().skip(1) {
        let Some((choice, at)) = conditions.choice else { continue };
        let found = runs(conditions)?;
        let measures = Measures::new(experiment, Some(&found));
        let verdicts = experiment.claims.iter().map(|claim| verdict(claim, &measures, plan)).collect();
        tables.push(figure::ChoiceTable { choice, at, runs: conditions.seeds.len(), verdicts });
    }
    settled(&mut claims, experiment, &tables);
    Ok(Judged {
        id: experiment.id.clone(),
        paper: experiment.paper.clone(),
        title: experiment.title.clone(),
        kind: experiment.kind,
        figure: figure::figure(plan, &measures, &claims, &tables),
        claims,
        runs: described.as_ref().map_or(0, Runs::count),
        took_s: described.as_ref().map_or(0.0, Runs::took_s),
    })
}

impl<'a> Measures<'a> {
    fn new(experiment: &'a Experiment, runs: Option<&'a Runs>) -> Self {
        let mut measures = Self { experiment, runs, cells: BTreeMap::new() };
        let mut named: BTreeMap<String, Metric> = experiment.metrics.clone();
        let references = experiment.claims.iter().flat_map(|claim| claim.check.references());
        for reference in references {
            if let (None, Some(quantity)) = (named.get(&reference.metric), Quantity::named(&reference.metric))
            {
                named.insert(reference.metric.clone(), crate::read::plain(quantity));
            }
        }
        for plot in &experiment.plots {
            named.entry(plot.name.clone()).or_insert_with(|| plot.metric.clone());
            if let Some(against) = &plot.against {
                named.entry(plot.against_name.clone()).or_insert_with(|| against.clone());
            }
        }
        for (name, metric) in &named {
            for point in 0..experiment.points.len() {
                for arm in 0..experiment.arms.len() {
                    let summary = measures.summarise(metric, point, arm);
                    measures.cells.insert((name.clone(), point, arm), summary);
                }
            }
        }
        measures
    }

    fn summarise(&self, metric: &Metric, point: usize, arm: usize) -> Option<Summary> {
        let runs = self.runs?;
        let found = runs.runs.get(&(point, arm))?;
        let path = runs.paths.get(&(point, arm))?;
        Summary::of(found.iter().map(|run| metric.value(run, path)).collect())
    }

    /// A metric of an arm at a point, over runs.
    pub(crate) fn summary(&self, name: &str, point: usize, arm: usize) -> Option<&Summary> {
        self.cells.get(&(name.to_owned(), point, arm))?.as_ref()
    }

    pub(crate) fn number(&self, name: &str, point: usize, arm: usize) -> Option<f64> {
        if let How::Computed { formula, from, to } = &self.experiment.arms.get(arm)?.how {
            let x = self.x(point);
            let inside = name == FORMULA && *from <= x && x <= *to;
            let at = ClaimValues { measures: self, paper: &BTreeMap::new(), seed: None };
            return if inside { formula.node.evaluate(point, &[], &at) } else { None };
        }
        if let How::Recorded { values, .. } = &self.experiment.arms.get(arm)?.how {
            return values.get(name)?.get(&point).copied();
        }
        let summary = self.summary(name, point, arm)?;
        let over = self.experiment.metrics.get(name).map_or(Take::Mean, |metric| metric.over);
        match over {
            Take::Mean => Some(summary.mean),
            Take::Median => Some(summary.median),
            other => other.of(&summary.values.iter().flatten().copied().collect::<Vec<f64>>()),
        }
    }

    /// The 95 % interval of [`Measures::number`] over the runs, where that is a mean.
    pub(crate) fn interval(&self, name: &str, point: usize, arm: usize) -> Option<Interval> {
        let mean = self.experiment.metrics.get(name).is_none_or(|metric| metric.over == Take::Mean);
        let mut interval = self.summary(name, point, arm).filter(|_| mean)?.interval?;
        // A share has no more than all and no less than none.
        if self.experiment.metrics.get(name).is_some_and(|metric| metric.quantity.is_of_exits()) {
            interval = Interval { low: interval.low.max(0.0), high: interval.high.min(1.0), ..interval };
        }
        Some(interval)
    }

    fn value(&self, reference: &Reference, point: usize) -> Option<f64> {
        let (point, arm) = self.cell(reference, point)?;
        self.number(&reference.metric, point, arm)
    }

    /// The point and arm that a reference means, seen from a point.
    fn cell(&self, reference: &Reference, point: usize) -> Option<(usize, usize)> {
        let point = self.experiment.point_of(reference, point)?;
        Some((point, self.experiment.arms.iter().position(|arm| arm.label == reference.arm)?))
    }

    fn x(&self, point: usize) -> f64 {
        self.experiment.x(point)
    }
}

/// What a claim's formulae are computed from: all runs of a cell together, or one seed's alone.
struct ClaimValues<'m, 'e> {
    measures: &'m Measures<'e>,
    paper: &'m BTreeMap<usize, f64>,
    seed: Option<usize>,
}

impl Values for ClaimValues<'_, '_> {
    fn value(&self, reference: &Reference, point: usize) -> Option<f64> {
        let Some(seed) = self.seed else { return self.measures.value(reference, point) };
        let (point, arm) = self.measures.cell(reference, point)?;
        *self.measures.summary(&reference.metric, point, arm)?.values.get(seed)?
    }

    fn x(&self, point: usize) -> f64 {
        self.measures.experiment.x(point)
    }

    fn paper(&self, point: usize) -> Option<f64> {
        self.paper.get(&point).copied()
    }
}

impl ClaimValues<'_, '_> {
    /// The 95 % interval of a term over the runs, each seed's value being of that seed's runs alone: only where the term is of
    /// means at single points, of which that is an estimate.
    fn interval(&self, term: &Term, point: usize, points: &[usize]) -> Option<Interval> {
        let mut references = Vec::new();
        term.node.references(&mut references);
        if references.is_empty() || term.node.aggregates() {
            return None;
        }
        let mut seeds = usize::MAX;
        for reference in references {
            let own = self.measures.experiment.metrics.get(&reference.metric);
            if own.is_some_and(|metric| metric.over != Take::Mean) {
                return None;
            }
            let (point, arm) = self.measures.cell(reference, point)?;
            seeds = seeds.min(self.measures.summary(&reference.metric, point, arm)?.values.len());
        }
        let of_seed = |seed| term.node.evaluate(point, points, &ClaimValues { seed: Some(seed), ..*self });
        Summary::of((0..seeds).map(of_seed).collect())?.interval
    }
}

/// Most points whose values a verdict lists.
const LISTED: usize = 12;

/// What was found at the points of a claim.
struct Found {
    /// `None`: a value is missing.
    holds: Option<bool>,
    measured: String,
    /// What was asked of it, where that is known beforehand and the same at all points; may be empty.
    bounds: String,
}

fn verdict(claim: &ClaimPlan, measures: &Measures<'_>, plan: &Plan<'_>) -> Verdict {
    let experiment = measures.experiment;
    let mut points: Vec<usize> =
        plan.points.iter().copied().filter(|point| experiment.is_at(*point, &claim.at)).collect();
    let computed = |point: &usize| {
        // Where a formula does not hold, nothing is claimed of it.
        let named = claim.check.references();
        experiment.is_played() || named.iter().all(|reference| measures.value(reference, *point).is_some())
    };
    points.retain(computed);
    let mut verdict = Verdict {
        text: claim.text.clone(),
        place: claim.place.clone(),
        source: claim.source.clone(),
        check: claim.written.clone(),
        measured: String::new(),
        holds: None,
        reason: None,
        reason_fails: None,
        contradicted: None,
    };
    let values = ClaimValues { measures, paper: &claim.paper, seed: None };
    if !reaches(&claim.check, plan, &points) {
        "its points are not played here".clone_into(&mut verdict.measured);
    } else if plan.extent.quick && !claim.quick {
        let found = check_at(&claim.check, claim.hold, &values, &points);
        verdict.measured = format!("{}; not checked in a quick run", found.measured);
    } else {
        let found = check_at(&claim.check, claim.hold, &values, &points);
        verdict.measured = found.measured + &found.bounds;
        verdict.holds = Some(found.holds == Some(true));
        if verdict.holds == Some(false)
            && let Some(proof) = &claim.proof
        {
            match contradiction(proof, &values, plan, &points) {
                Ok(found) => verdict.contradicted = Some(found),
                Err(why) => verdict.reason_fails = Some(why),
            }
        }
        if verdict.holds == Some(false)
            && verdict.contradicted.is_none()
            && let Some(reason) = claim.reason(plan.extent.backend.clock())
        {
            let known = found.holds.ok_or_else(|| "a value is missing".to_owned());
            match known.and_then(|_| bound(reason, &values, plan, &points)) {
                Ok(()) => verdict.reason = Some(reason.why.trim().to_owned()),
                Err(why) => verdict.reason_fails = Some(why),
            }
        }
    }
    verdict
}

/// Whether all that a check names is played: a quick run leaves points out.
fn reaches(check: &Check, plan: &Plan<'_>, points: &[usize]) -> bool {
    let experiment = plan.experiment;
    if plan.points.len() == experiment.points.len() {
        return true;
    }
    let played = |reference: &&Reference| {
        let mut named = points.iter().map(|point| experiment.point_of(reference, *point));
        named.all(|point| point.is_some_and(|point| plan.points.contains(&point)))
    };
    !points.is_empty() && check.references().iter().all(played)
}

/// Whether what was measured is what a reason was found for.
fn bound(
    reason: &ReasonPlan,
    values: &ClaimValues<'_, '_>,
    plan: &Plan<'_>,
    points: &[usize],
) -> Result<(), String> {
    let checked = reason.found.iter().filter(|(_, check)| reaches(check, plan, points));
    for (written, check) in checked {
        let found = check_at(check, Hold::All, values, points);
        if found.holds != Some(true) {
            return Err(format!("it was found for {written}; now {}", found.measured));
        }
    }
    Ok(())
}

/// What a proof shows, where all of it holds that is played.
fn contradiction(
    proof: &ProofPlan,
    values: &ClaimValues<'_, '_>,
    plan: &Plan<'_>,
    points: &[usize],
) -> Result<Contradiction, String> {
    let mut shown = Vec::new();
    for (written, check) in proof.checks.iter().filter(|(_, check)| reaches(check, plan, points)) {
        let found = check_at(check, Hold::All, values, points);
        if found.holds != Some(true) {
            return Err(format!("the proof fails at {written}; now {}", found.measured));
        }
        shown.push((written.clone(), found.measured));
    }
    // It was written of the paper's own bed.
    let of_its_bed = if plan.extent.variant.is_some() { "on the paper's bed: " } else { "" };
    Ok(Contradiction { why: format!("{of_its_bed}{}", proof.why), proof: shown })
}

/// A reason that names a choice counts where the claim holds with one of its values.
fn settled(verdicts: &mut [Verdict], experiment: &Experiment, tables: &[figure::ChoiceTable]) {
    if tables.is_empty() {
        return;
    }
    for (index, (verdict, claim)) in verdicts.iter_mut().zip(&experiment.claims).enumerate() {
        let Some(choice) = claim.reason.as_ref().and_then(|reason| reason.choice) else { continue };
        let here = tables.iter().filter(|table| table.choice == choice);
        let holds = here.into_iter().any(|table| table.verdicts[index].holds == Some(true));
        if verdict.reason.is_some() && !holds {
            verdict.reason = None;
            let name = &experiment.choices[choice].name;
            verdict.reason_fails = Some(format!("the claim holds under no value of the choice `{name}`"));
        }
    }
}

fn check_at(check: &Check, hold: Hold, values: &ClaimValues<'_, '_>, points: &[usize]) -> Found {
    let experiment = values.measures.experiment;
    if check.varies(experiment.dimensions.len()) && points.len() > 1 {
        return at_points(check, hold, values, points);
    }
    let Some(&first) = points.first() else {
        return Found { holds: None, measured: "no point has a value".to_owned(), bounds: String::new() };
    };
    let outcome = check.at(first, points, values);
    Found {
        holds: outcome.holds,
        measured: words(check, &outcome, values, first, points),
        bounds: bounds(check, &outcome, values.measures),
    }
}

fn at_points(check: &Check, hold: Hold, values: &ClaimValues<'_, '_>, points: &[usize]) -> Found {
    let outcomes: Vec<(usize, Outcome)> =
        points.iter().map(|&point| (point, check.at(point, points, values))).collect();
    let all: Option<Vec<bool>> = outcomes.iter().map(|(_, outcome)| outcome.holds).collect();
    let holds = all.map(|all| {
        let held = all.iter().filter(|held| **held).count();
        match hold {
            Hold::All => held == all.len(),
            Hold::Most => 2 * held > all.len(),
            Hold::Any => held > 0,
        }
    });
    // Of many points those count that speak against it.
    let against: Vec<&(usize, Outcome)> =
        outcomes.iter().filter(|(_, outcome)| outcome.holds != Some(true)).collect();
    let shown: Vec<&(usize, Outcome)> = if outcomes.len() <= LISTED {
        outcomes.iter().collect()
    } else if holds == Some(true) || against.is_empty() {
        vec![&outcomes[0], &outcomes[outcomes.len() / 2], &outcomes[outcomes.len() - 1]]
    } else {
        against.into_iter().take(LISTED).collect()
    };
    let bounded: BTreeSet<String> =
        shown.iter().map(|(_, outcome)| bounds(check, outcome, values.measures)).collect();
    let alike = bounded.len() == 1;
    let one = |(point, outcome): &&(usize, Outcome)| {
        let label = values.measures.experiment.labels(*point).join(", ");
        let own = if alike { String::new() } else { bounds(check, outcome, values.measures) };
        format!("{label}: {}{own}", words(check, outcome, values, *point, points))
    };
    let mut measured = shown.iter().map(one).collect::<Vec<_>>().join("; ");
    let held = outcomes.iter().filter(|(_, outcome)| outcome.holds == Some(true)).count();
    if outcomes.len() > LISTED || 0 < held && held < outcomes.len() {
        measured = format!("at {held} of {} points; {measured}", outcomes.len());
    }
    let bounds = bounded.into_iter().next().filter(|_| alike).unwrap_or_default();
    Found { holds, measured, bounds }
}

/// How many claims hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Of those that were checked in runs.
    pub held: usize,
    /// Checked in runs.
    pub checked: usize,
    /// Of those about formulae.
    pub computed_held: usize,
    /// About formulae.
    pub computed: usize,
    /// Those that their own source contradicts; in none of the other numbers.
    pub contradicted: usize,
}

/// Counts claims; those about formulae, which no run decides, apart, and those that their source contradicts.
pub fn tally<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> Tally {
    let mut tally = Tally::default();
    for one in judged {
        let contradicted = one.claims.iter().filter(|claim| claim.contradicted.is_some()).count();
        tally.contradicted += contradicted;
        let counted = one.claims.iter().filter(|claim| claim.contradicted.is_none());
        for holds in counted.filter_map(|claim| claim.holds) {
            let (held, all) = if one.kind == Kind::Analytic {
                (&mut tally.computed_held, &mut tally.computed)
            } else {
                (&mut tally.held, &mut tally.checked)
            };
            *held += usize::from(holds);
            *all += 1;
        }
    }
    tally
}

#[cfg(test)]
mod tests;
mod units;
mod words;
