//! From runs to values and verdicts.

use std::collections::BTreeMap;

use rampcc_lab::Summary;
use rampcc_lab::report::quantity;
use serde::Serialize;

use crate::error::ReproduceError;
use crate::experiment::{ClaimPlan, Experiment, FORMULA, How};
use crate::expression::{Check, Node, Outcome, Reference, Term, Values};
use crate::figure;
use crate::file::{Hold, Kind, Paper, Take};
use crate::plan::{Conditions, Plan};
use crate::play::Runs;
use crate::quantity::{Metric, Quantity};

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
    /// `None`: it was not checked, or a value is missing.
    pub holds: Option<bool>,
    /// Why it does not hold.
    pub reason: Option<String>,
}

impl Verdict {
    /// Whether it neither holds nor has a reason.
    pub fn unexplained(&self) -> bool {
        self.holds == Some(false) && self.reason.is_none()
    }
}

/// Values of metrics under one set of conditions.
pub(crate) struct Measures<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) runs: Option<&'a Runs>,
    cells: BTreeMap<(String, usize, usize), Option<Summary>>,
}

/// Judges an experiment; `runs` gives those of each set of conditions.
pub(crate) fn judge(
    plan: &Plan<'_>,
    runs: impl Fn(&Conditions) -> Result<Runs, ReproduceError>,
) -> Result<Judged, ReproduceError> {
    let experiment = plan.experiment;
    let described = plan.settings.first().map(&runs).transpose()?;
    let measures = Measures::new(experiment, described.as_ref());
    let quick = plan.extent.quick;
    let claims: Vec<Verdict> =
        experiment.claims.iter().map(|claim| verdict(claim, &measures, &plan.points, quick)).collect();
    let mut tables: Vec<figure::ChoiceTable> = Vec::new();
    for conditions in plan.settings.iter().skip(1) {
        let Some((choice, at)) = conditions.choice else { continue };
        let found = runs(conditions)?;
        let measures = Measures::new(experiment, Some(&found));
        let verdicts =
            experiment.claims.iter().map(|claim| verdict(claim, &measures, &plan.points, quick)).collect();
        tables.push(figure::ChoiceTable { choice, at, verdicts });
    }
    let all = || described.iter().flat_map(|runs| runs.runs.values().flatten());
    let runs = all().count();
    let took_s = all().map(|run| run.took_s).sum();
    Ok(Judged {
        id: experiment.id.clone(),
        paper: experiment.paper,
        title: experiment.title.clone(),
        kind: experiment.kind,
        figure: figure::figure(plan, &measures, (&claims, &tables), (runs, took_s)),
        claims,
        runs,
        took_s,
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
            return if inside { formula.node.evaluate(point, &[], self) } else { None };
        }
        let summary = self.summary(name, point, arm)?;
        let over = self.experiment.metrics.get(name).map_or(Take::Mean, |metric| metric.over);
        match over {
            Take::Mean => Some(summary.mean),
            Take::Median => Some(summary.median),
            other => other.of(&summary.values.iter().flatten().copied().collect::<Vec<f64>>()),
        }
    }

    /// The unit of a term, if it is one value.
    fn unit(&self, term: &Term) -> &str {
        match &term.node {
            Node::Value(reference) if reference.metric != FORMULA => {
                let own = self.experiment.metrics.get(&reference.metric).map(|metric| metric.unit.as_str());
                own.or_else(|| Quantity::named(&reference.metric).map(|q| q.unit())).unwrap_or("")
            }
            _ => "",
        }
    }
}

impl Values for Measures<'_> {
    fn value(&self, reference: &Reference, point: usize) -> Option<f64> {
        let point = self.experiment.point_of(reference, point)?;
        let arm = self.experiment.arms.iter().position(|arm| arm.label == reference.arm)?;
        self.number(&reference.metric, point, arm)
    }

    fn x(&self, point: usize) -> f64 {
        self.experiment.x(point)
    }
}

/// Most points whose values a verdict lists.
const LISTED: usize = 6;

fn verdict(claim: &ClaimPlan, measures: &Measures<'_>, played: &[usize], quick: bool) -> Verdict {
    let experiment = measures.experiment;
    let mut points: Vec<usize> =
        played.iter().copied().filter(|point| experiment.is_at(*point, &claim.at)).collect();
    let computed = |point: &usize| {
        // Where a formula does not hold, nothing is claimed of it.
        let named = claim.check.references();
        experiment.is_played() || named.iter().all(|reference| measures.value(reference, *point).is_some())
    };
    points.retain(computed);
    let (holds, measured) = if quick && !claim.quick {
        (None, "not checked in a quick run".to_owned())
    } else if points.is_empty() {
        (None, "its points are not played in a quick run".to_owned())
    } else if claim.check.varies(experiment.dimensions.len()) && points.len() > 1 {
        at_points(claim, measures, &points)
    } else {
        let outcome = claim.check.at(points[0], &points, measures);
        (outcome.holds, words(&claim.check, &outcome, measures))
    };
    Verdict {
        text: claim.text.clone(),
        place: claim.place.clone(),
        source: claim.source.clone(),
        check: claim.written.clone(),
        measured,
        holds,
        reason: claim.reason.clone(),
    }
}

fn at_points(claim: &ClaimPlan, measures: &Measures<'_>, points: &[usize]) -> (Option<bool>, String) {
    let outcomes: Vec<(usize, Outcome)> =
        points.iter().map(|&point| (point, claim.check.at(point, points, measures))).collect();
    let all: Option<Vec<bool>> = outcomes.iter().map(|(_, outcome)| outcome.holds).collect();
    let holds = all.map(|all| {
        let held = all.iter().filter(|held| **held).count();
        match claim.hold {
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
    let one = |(point, outcome): &&(usize, Outcome)| {
        let label = measures.experiment.labels(*point).join(", ");
        format!("{label}: {}", words(&claim.check, outcome, measures))
    };
    let mut measured = shown.iter().map(one).collect::<Vec<_>>().join("; ");
    if outcomes.len() > LISTED {
        let held = outcomes.iter().filter(|(_, outcome)| outcome.holds == Some(true)).count();
        measured = format!("at {held} of {} points; {measured}", outcomes.len());
    }
    (holds, measured)
}

fn words(check: &Check, outcome: &Outcome, measures: &Measures<'_>) -> String {
    check.words(outcome, |term, value| quantity(value, measures.unit(term)).trim().to_owned())
}

/// Claims that hold, and those that were checked, of several experiments.
pub fn share<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> (usize, usize) {
    let claims = judged.into_iter().flat_map(|one| &one.claims);
    claims
        .filter_map(|claim| claim.holds)
        .fold((0, 0), |(held, all), holds| (held + usize::from(holds), all + 1))
}
