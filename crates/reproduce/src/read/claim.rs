//! Plots and claims.

use std::collections::BTreeMap;
use std::ops::Range;

use rampcc::Time;

use super::{misread, named_metric, time, within};
use crate::error::{Result, Source, one_of};
use crate::experiment::{ArmPlan, ClaimPlan, Experiment, FORMULA, How, PlotPlan, ProofPlan, ReasonPlan};
use crate::expression::{Check, Reference, parse};
use crate::file::{self, Form, Text};

pub(super) fn plan_plot(source: &Source<'_>, experiment: &Experiment, plot: &file::Plot) -> Result<PlotPlan> {
    let given = plot.metric.as_ref().or(plot.of.as_ref());
    let (name, place) = match given {
        Some(text) => (text.get_ref().clone(), text.span()),
        None if !experiment.is_played() => (FORMULA.to_owned(), 0..0),
        None => return Err(source.wrong(0..0, "plot", "a plot has no metric", "`metric`")),
    };
    let metric = named_metric(source, experiment, &name, place.clone(), "plot.metric")?;
    if plot.form == Form::Time && !metric.quantity.takes_window() {
        let allowed = "throughput, cwnd, rtt or queue, or a metric of one of them";
        return Err(source.wrong(place, "plot.metric", format!("`{name}` is no curve over time"), allowed));
    }
    let against = match (&plot.of, plot.form) {
        (Some(of), Form::Scatter) => {
            Some(named_metric(source, experiment, of.get_ref(), of.span(), "plot.of")?)
        }
        (None, Form::Scatter) => {
            return Err(source.wrong(
                place,
                "plot.of",
                "a scatter has no second metric",
                "`of`: the metric of x",
            ));
        }
        _ => None,
    };
    let mut log = (false, false);
    for axis in &plot.log {
        match axis.get_ref().as_str() {
            "x" => log.0 = true,
            "y" => log.1 = true,
            other => {
                return Err(source.wrong(
                    axis.span(),
                    "plot.log",
                    format!("`{other}` is no axis"),
                    "\"x\" or \"y\"",
                ));
            }
        }
    }
    if let Some(line) = plot.line.iter().find(|line| line.x.is_some() == line.y.is_some()) {
        let problem = format!("`{}` is at neither or at both", line.label.get_ref());
        return Err(source.wrong(line.label.span(), "plot.line", problem, "`x` or `y`"));
    }
    for arm in &plot.arms {
        known_arm(source, experiment, arm.get_ref(), arm.span(), "plot.arms")?;
    }
    Ok(PlotPlan {
        form: plot.form,
        metric,
        against,
        name,
        against_name: plot.of.as_ref().map(|of| of.get_ref().clone()).unwrap_or_default(),
        title: plot.title.clone(),
        x: plot.x.clone(),
        y: plot.y.clone(),
        log,
        at: experiment.known_labels(source, &plot.at)?,
        arms: plot.arms.iter().map(|arm| arm.get_ref().clone()).collect(),
        until: plot
            .until
            .as_ref()
            .map(|until| time(source, until, "plot.until"))
            .transpose()?
            .map(Time::secs_f64),
        range: plot.range.as_ref().map(|range| ends(source, range)).transpose()?,
        lines: plot.line.clone(),
    })
}

fn known_arm(
    source: &Source<'_>,
    experiment: &Experiment,
    label: &str,
    place: Range<usize>,
    field: &str,
) -> Result {
    let known = || experiment.arms.iter().map(|arm| arm.label.as_str());
    if known().any(|arm| arm == label) {
        return Ok(());
    }
    let allowed = one_of(label, known().collect::<Vec<_>>().into_iter());
    Err(source.wrong(place, field, format!("there is no arm `{label}`"), allowed))
}

pub(super) fn plan_claim(
    source: &Source<'_>,
    experiment: &Experiment,
    claim: file::Claim,
) -> Result<ClaimPlan> {
    let check = read_check(source, experiment, &claim.check, "claim.check")?;
    let at = experiment.known_labels(source, &claim.at)?;
    let paper = paper_values(source, experiment, &claim)?;
    let planned = |reason: Option<file::Reason>, table| {
        reason.map(|reason| plan_reason(source, experiment, reason, table)).transpose()
    };
    let reason = planned(claim.reason, "claim.reason")?;
    if let Some(choice) = claim.linux.as_ref().and_then(|reason| reason.choice.as_ref()) {
        let problem = "choices are played in the simulator alone";
        return Err(source.wrong(choice.span(), "claim.linux.choice", problem, "`why` and `found`"));
    }
    let on_linux = planned(claim.linux, "claim.linux")?;
    let proof = claim.proof.map(|proof| plan_proof(source, experiment, &proof)).transpose()?;
    let asked = check.names_paper()
        || reason
            .iter()
            .chain(&on_linux)
            .flat_map(|reason| &reason.found)
            .any(|(_, found)| found.names_paper());
    let lacking = (0..experiment.points.len())
        .find(|point| asked && experiment.is_at(*point, &at) && !paper.contains_key(point));
    if let Some(point) = lacking {
        let problem = format!("the paper's value at `{}` is missing", experiment.labels(point).join(", "));
        return Err(source.wrong(
            claim.check.span(),
            "claim.paper",
            problem,
            "a value for every point of the claim",
        ));
    }
    if let Some(value) = claim.paper.values().next().filter(|_| !asked) {
        return Err(source.wrong(
            value.span(),
            "claim.paper",
            "the check does not name them",
            "`paper` in the check",
        ));
    }
    Ok(ClaimPlan {
        at,
        text: claim.text,
        place: claim.place,
        source: claim.source,
        written: claim.check.get_ref().clone(),
        check,
        hold: claim.hold,
        paper,
        reason,
        proof,
        on_linux,
        quick: claim.quick,
    })
}

/// An arm with the recorded values of another program.
pub(super) fn recorded_arm(
    source: &Source<'_>,
    experiment: &Experiment,
    recorded: &file::Recorded,
) -> Result<ArmPlan> {
    let label = recorded.label.get_ref();
    let wrong = |place, field: &str, problem: String, allowed: String| {
        Err(source.wrong(place, &format!("recorded.{field}"), problem, allowed))
    };
    if experiment.arms.iter().any(|arm| arm.label == *label) || label.contains(['[', ']', '@']) {
        let allowed = "a label of its own without brackets and @".to_owned();
        return wrong(recorded.label.span(), "label", format!("`{label}` cannot name it"), allowed);
    }
    if recorded.by.get_ref().trim().is_empty() {
        let allowed = "the program and the command that made it".to_owned();
        return wrong(recorded.by.span(), "by", "it says nothing".to_owned(), allowed);
    }
    let mut values = BTreeMap::new();
    for (metric, given) in &recorded.values {
        named_metric(source, experiment, metric, recorded.label.span(), "recorded.values")?;
        values.insert(metric.clone(), by_point(source, experiment, given, "recorded.values")?);
    }
    let how = How::Recorded { by: recorded.by.get_ref().clone(), values };
    Ok(ArmPlan { label: label.clone(), how, place: recorded.label.span() })
}

/// A check whose names are all known.
fn read_check(source: &Source<'_>, experiment: &Experiment, text: &Text, field: &str) -> Result<Check> {
    let check = parse(text.get_ref()).map_err(|wrong| misread(source, text, field, wrong))?;
    known_references(source, experiment, text, &check)?;
    Ok(check)
}

/// The source's values, by point.
fn paper_values(
    source: &Source<'_>,
    experiment: &Experiment,
    claim: &file::Claim,
) -> Result<BTreeMap<usize, f64>> {
    by_point(source, experiment, &claim.paper, "claim.paper")
}

fn by_point(
    source: &Source<'_>,
    experiment: &Experiment,
    given: &BTreeMap<String, toml::Spanned<f64>>,
    field: &str,
) -> Result<BTreeMap<usize, f64>> {
    let named: BTreeMap<String, usize> =
        (0..experiment.points.len()).map(|point| (experiment.labels(point).join(", "), point)).collect();
    let one = |(label, value): (&String, &toml::Spanned<f64>)| {
        if let Some(point) = named.get(label) {
            return Ok((*point, *value.get_ref()));
        }
        let problem = format!("there is no point `{label}`");
        let allowed = one_of(label, named.keys().map(String::as_str));
        Err(source.wrong(value.span(), field, problem, allowed))
    };
    given.iter().map(one).collect()
}

/// Of an axis.
fn ends(source: &Source<'_>, range: &toml::Spanned<Vec<f64>>) -> Result<(f64, f64)> {
    match range.get_ref().as_slice() {
        [from, to] if from < to => Ok((*from, *to)),
        _ => Err(source.wrong(
            range.span(),
            "plot.range",
            "it is no range",
            "two values, the smaller one first",
        )),
    }
}

fn plan_proof(source: &Source<'_>, experiment: &Experiment, proof: &file::Proof) -> Result<ProofPlan> {
    let why = proof.why.get_ref().trim();
    if why.is_empty() || proof.checks.is_empty() {
        let problem = if why.is_empty() { "it says nothing" } else { "nothing is checked" };
        let allowed = "`why` the source contradicts the claim, and `checks` that show it";
        return Err(source.wrong(proof.why.span(), "claim.proof", problem, allowed));
    }
    let one = |text: &Text| {
        let check = read_check(source, experiment, text, "claim.proof.checks")?;
        Ok((text.get_ref().clone(), check))
    };
    let checks = proof.checks.iter().map(one).collect::<Result<_>>()?;
    Ok(ProofPlan { why: why.to_owned(), checks })
}

fn plan_reason(
    source: &Source<'_>,
    experiment: &Experiment,
    reason: file::Reason,
    table: &str,
) -> Result<ReasonPlan> {
    if reason.why.get_ref().trim().is_empty() {
        let allowed = "what was found to be the cause, or that none was found";
        return Err(source.wrong(reason.why.span(), &format!("{table}.why"), "it says nothing", allowed));
    }
    let allowed = "ranges of measured values, such as \"0.9 <= time[A] / time[B] <= 1.1\"";
    if reason.found.is_empty() {
        let problem = "nothing says for which values the reason holds";
        return Err(source.wrong(reason.why.span(), &format!("{table}.found"), problem, allowed));
    }
    let mut found = Vec::new();
    for text in &reason.found {
        let check = read_check(source, experiment, text, &format!("{table}.found"))?;
        if !check.is_range() {
            let problem = "it has no measured value between two known ones";
            return Err(source.wrong(text.span(), &format!("{table}.found"), problem, allowed));
        }
        found.push((text.get_ref().clone(), check));
    }
    let choice = match &reason.choice {
        None => None,
        Some(name) => {
            let known = || experiment.choices.iter().map(|choice| choice.name.as_str());
            let at = known().position(|choice| choice == name.get_ref());
            if at.is_none() {
                let allowed = one_of(name.get_ref(), known().collect::<Vec<_>>().into_iter());
                let problem = format!("there is no choice `{}`", name.get_ref());
                return Err(source.wrong(name.span(), &format!("{table}.choice"), problem, allowed));
            }
            at
        }
    };
    Ok(ReasonPlan { why: reason.why.into_inner(), found, choice })
}

fn known_references(source: &Source<'_>, experiment: &Experiment, text: &Text, check: &Check) -> Result {
    for reference in check.references() {
        let place = within(source, text, &reference.place);
        named_metric(source, experiment, &reference.metric, place.clone(), "claim.check")?;
        known_arm(source, experiment, &reference.arm, place.clone(), "claim.check")?;
        known_point(source, experiment, reference, place)?;
    }
    Ok(())
}

fn known_point(
    source: &Source<'_>,
    experiment: &Experiment,
    reference: &Reference,
    place: Range<usize>,
) -> Result {
    let known: Vec<&str> =
        experiment.dimensions.iter().flat_map(|d| &d.points).map(|point| point.label.as_str()).collect();
    for label in &reference.at {
        if !known.contains(&label.as_str()) {
            let allowed = one_of(label, known.iter().copied());
            return Err(source.wrong(place, "claim.check", format!("there is no point `{label}`"), allowed));
        }
    }
    Ok(())
}
