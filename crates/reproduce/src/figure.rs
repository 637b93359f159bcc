//! What a page shows of an experiment.

use rampcc_lab::report::html::gallery::{
    Axis, Choice, Claim, Contradiction, Dot, Figure, Panel, Series, Shape,
};

use crate::catalogue;
use crate::experiment::{Base, Dimension, Experiment, How, PlotPlan};
use crate::file::{Form, Kind};
use crate::judge::{Measures, Verdict};
use crate::measure::Measured;
use crate::plan::{Plan, version};
use crate::play::Runs;
use crate::quantity::{Column, Metric};
use crate::variant::Variant;

/// The claims under one value of a choice.
pub(crate) struct ChoiceTable {
    /// Number of the choice.
    pub(crate) choice: usize,
    /// Number of its point.
    pub(crate) at: usize,
    /// Runs of each arm at each point.
    pub(crate) runs: usize,
    pub(crate) verdicts: Vec<Verdict>,
}

/// Most points of a curve over time.
const CURVE_POINTS: usize = 500;
/// Most flows of a run whose windows are drawn.
const FLOWS_DRAWN: usize = 5;

pub(crate) fn figure(
    plan: &Plan<'_>,
    measures: &Measures<'_>,
    claims: &[Verdict],
    tables: &[ChoiceTable],
) -> Figure {
    let experiment = plan.experiment;
    Figure {
        id: experiment.id.clone(),
        title: experiment.title.clone(),
        paper: experiment.paper.name.clone(),
        reference: experiment.paper.reference.clone(),
        figure: experiment.figure.clone(),
        kind: experiment.kind.word().to_owned(),
        computed: experiment.kind == Kind::Analytic,
        about: experiment.about.clone(),
        quick: quick(plan),
        variant: plan.extent.variant.filter(|_| experiment.is_played()).map(Variant::words),
        substitute: experiment.substitute.clone(),
        taken: plan.taken(),
        panels: experiment.plots.iter().flat_map(|plot| panels(plot, plan, measures)).collect(),
        claims: claims.iter().map(claim).collect(),
        choices: choices(experiment, claims, tables),
        facts: facts(plan, measures.runs),
        commands: commands(plan),
        version: version().to_owned(),
    }
}

/// What a quick run leaves out, and how to have it.
fn quick(plan: &Plan<'_>) -> Option<String> {
    let experiment = plan.experiment;
    if !plan.extent.quick || !experiment.is_played() {
        return None;
    }
    let (some, all) = (plan.points.len(), experiment.points.len());
    let points = if some < all { format!("{some} of {all} points, ") } else { String::new() };
    let runs = match plan.seeds.len() {
        1 => "one run of each row".to_owned(),
        runs => format!("{runs} runs of each row"),
    };
    let choices = if experiment.choices.is_empty() { "" } else { ", none of what the paper leaves open" };
    let name = catalogue::name(experiment);
    Some(format!("{points}{runs}{choices}. ramp reproduce {name} plays all."))
}

fn claim(verdict: &Verdict) -> Claim {
    Claim {
        text: verdict.text.clone(),
        place: verdict.place.clone(),
        source: verdict.source.clone(),
        measured: verdict.measured.clone(),
        check: verdict.check.clone(),
        holds: verdict.holds,
        reason: verdict.reason.clone(),
        reason_fails: verdict.reason_fails.clone(),
        contradicted: verdict
            .contradicted
            .as_ref()
            .map(|found| Contradiction { why: found.why.clone(), proof: found.proof.clone() }),
    }
}

fn choices(experiment: &Experiment, claims: &[Verdict], tables: &[ChoiceTable]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (number, dimension) in experiment.choices.iter().enumerate() {
        let here: Vec<&ChoiceTable> = tables.iter().filter(|table| table.choice == number).collect();
        if here.is_empty() {
            continue;
        }
        let label = |table: &&ChoiceTable| dimension.points.get(table.at).map_or("", |p| &p.label).to_owned();
        let row = |index: usize| {
            let cell = |table: &&ChoiceTable| {
                table.verdicts.get(index).map_or((None, String::new()), |v| (v.holds, v.measured.clone()))
            };
            (claims[index].text.clone(), here.iter().map(cell).collect())
        };
        choices.push(Choice {
            name: dimension.name.clone(),
            runs: here.iter().map(|table| table.runs).max().unwrap_or(0),
            values: here.iter().map(label).collect(),
            claims: (0..claims.len()).map(row).collect(),
        });
    }
    choices
}

fn facts(plan: &Plan<'_>, runs: Option<&Runs>) -> Vec<(String, String)> {
    let experiment = plan.experiment;
    let mut facts = vec![("Kind".to_owned(), experiment.kind.word().to_owned())];
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    match &experiment.base {
        Base::BuiltIn(name, _) => fact("Scenario", name.clone()),
        Base::Inline(..) => fact("Scenario", "in the experiment's file".to_owned()),
        Base::None => {}
    }
    if !experiment.set.is_empty() {
        fact("Set", experiment.set.iter().map(|set| set.setting.text()).collect::<Vec<_>>().join(" · "));
    }
    if !plan.varied.is_empty() {
        let varied = plan.varied.iter().map(|set| set.setting.text());
        fact("Set by the command", varied.collect::<Vec<_>>().join(" · "));
    }
    for arm in &experiment.arms {
        match &arm.how {
            How::Played { algorithm, set } => {
                let what = algorithm.split_once('=').map_or(algorithm.as_str(), |(_, what)| what);
                let sets = set.iter().map(|set| set.setting.text().to_owned());
                fact(
                    &arm.label,
                    std::iter::once(what.to_owned()).chain(sets).collect::<Vec<_>>().join(" · "),
                );
            }
            How::Recorded { by, .. } => fact(&arm.label, by.clone()),
            How::Computed { formula, .. } => fact(&arm.label, format!("y = {}", formula.text)),
        }
    }
    if let Some(runs) = runs {
        for (number, dimension) in experiment.dimensions.iter().enumerate() {
            let played = |at: usize| {
                plan.points.iter().any(|point| experiment.points[*point].get(number) == Some(&at))
            };
            let labels: Vec<&str> = (dimension.points.iter().enumerate())
                .filter(|(at, _)| played(*at))
                .map(|(_, point)| point.label.as_str())
                .collect();
            fact(&dimension.name, labels.join(", "));
        }
        fact("Played on", plan.extent.backend.title().to_owned());
        let seeds = match plan.seeds.as_slice() {
            [] => String::new(),
            [one] => format!(", seed {one}"),
            [first, .., last] => format!(", seeds {first} to {last}"),
        };
        fact("Runs", format!("{}{seeds}", runs.count()));
        fact("Time taken", format!("{:.1} s, all runs together", runs.took_s()));
    }
    facts
}

fn commands(plan: &Plan<'_>) -> Vec<(String, String)> {
    let experiment = plan.experiment;
    let quick = if plan.extent.quick { " --quick" } else { "" };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let name = catalogue::name(experiment);
    let name = if name == experiment.id { name.to_owned() } else { quoted(name) };
    let options = plan.extent.variant.map(Variant::options).unwrap_or_default();
    let varied: Vec<String> =
        options.iter().map(|(option, value)| format!(" {option} {}", quoted(value))).collect();
    let varied = varied.concat();
    let mut commands = vec![("This page again".to_owned(), format!("ramp reproduce {name}{quick}{varied}"))];
    if let (Base::BuiltIn(name, _), Some(&point)) = (&experiment.base, plan.points.last()) {
        let mut words = format!("ramp compare {name}");
        let swept = experiment.dimensions.iter().zip(&experiment.points[point]);
        let swept = swept.flat_map(|(dimension, at)| &dimension.points[*at].set);
        let sets = experiment.set.iter().chain(swept).chain(&plan.varied);
        for set in sets {
            words += &format!(" --set {}", quoted(set.setting.text()));
        }
        let arms: Vec<&str> = experiment
            .arms
            .iter()
            .filter_map(|arm| match &arm.how {
                How::Played { algorithm, set } if set.is_empty() => Some(algorithm.as_str()),
                _ => None,
            })
            .collect();
        if !arms.is_empty() {
            words += &format!(" --exact --algorithms {}", quoted(&arms.join(",")));
            let at = experiment.labels(point).join(", ");
            let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
            commands.push((format!("A full report of its path{at}"), words));
        }
    }
    commands
}

fn panels(plot: &PlotPlan, plan: &Plan<'_>, measures: &Measures<'_>) -> Vec<Panel> {
    let experiment = plan.experiment;
    let points: Vec<usize> =
        (plan.points.iter().copied()).filter(|p| experiment.is_at(*p, &plot.at)).collect();
    let arms: Vec<usize> = (0..experiment.arms.len())
        .filter(|arm| plot.arms.is_empty() || plot.arms.contains(&experiment.arms[*arm].label))
        .collect();
    let mut panels = match plot.form {
        Form::Lines | Form::Bars => over_sweep(plot, experiment, measures, &points, &arms),
        Form::Scatter => vec![scatter(plot, experiment, measures, &points, &arms)],
        Form::Cdf | Form::Time => {
            let panel = |&point: &usize| {
                let mut panel = of_runs(plot, measures, point, &arms)?;
                let labels = experiment.labels(point).join(", ");
                let title = plot.title.clone().unwrap_or_default();
                let parts = [title, labels].into_iter().filter(|part| !part.is_empty());
                panel.title = parts.collect::<Vec<_>>().join(" · ");
                Some(panel)
            };
            points.iter().filter_map(panel).collect()
        }
    };
    for panel in &mut panels {
        panel.range = plot.range;
        panel.lines = plot.lines.iter().map(|line| (line.label.get_ref().clone(), line.x, line.y)).collect();
    }
    panels
}

/// A panel for each combination of the fields that are swept besides the first one.
fn over_sweep(
    plot: &PlotPlan,
    experiment: &Experiment,
    measures: &Measures<'_>,
    points: &[usize],
    arms: &[usize],
) -> Vec<Panel> {
    let mut rest: Vec<Vec<usize>> = Vec::new();
    for point in points {
        let others = experiment.points[*point].get(1..).unwrap_or_default().to_vec();
        if !rest.contains(&others) {
            rest.push(others);
        }
    }
    let first = experiment.dimensions.first();
    let bars = plot.form == Form::Bars;
    let panel = |others: &Vec<usize>| {
        let here: Vec<usize> = points
            .iter()
            .copied()
            .filter(|point| experiment.points[*point].get(1..).unwrap_or_default() == others.as_slice())
            .collect();
        let series = arms.iter().map(|&arm| {
            let dot = |(index, &point): (usize, &usize)| {
                let y = measures.number(&plot.name, point, arm)?;
                let interval = measures.interval(&plot.name, point, arm);
                let x = if bars { index as f64 } else { experiment.x(point) };
                Some(Dot { x, y, interval: interval.map(|i| (i.low, i.high)) })
            };
            let points = here.iter().enumerate().filter_map(dot).collect();
            Series { label: experiment.arms[arm].label.clone(), style: arm, points }
        });
        let labels = experiment.dimensions.iter().skip(1).zip(others);
        let labels = labels.filter_map(|(dimension, at)| Some(dimension.points.get(*at)?.label.clone()));
        let title = plot.title.iter().cloned().chain(labels).collect::<Vec<_>>().join(" · ");
        let categories: Vec<String> = if !bars {
            Vec::new()
        } else if first.is_none() {
            vec![String::new()]
        } else {
            here.iter().map(|&p| experiment.labels(p).first().map_or("", |l| *l).to_owned()).collect()
        };
        Panel {
            title,
            shape: match (bars, experiment.is_played()) {
                (true, _) => Shape::Bars,
                (false, true) => Shape::Lines,
                (false, false) => Shape::Curves,
            },
            x: axis(plot.x.as_ref(), first.map_or("", |first: &Dimension| &first.name), plot.log.0),
            y: y_axis(plot, &plot.metric, experiment),
            categories,
            series: series.collect(),
            ..Panel::default()
        }
    };
    rest.iter().map(panel).collect()
}

fn axis(label: Option<&String>, otherwise: &str, log: bool) -> Axis {
    Axis { label: label.cloned().unwrap_or_else(|| otherwise.to_owned()), log }
}

fn y_axis(plot: &PlotPlan, metric: &Metric, experiment: &Experiment) -> Axis {
    axis(plot.y.as_ref(), &if experiment.is_played() { named(metric) } else { "y".to_owned() }, plot.log.1)
}

fn named(metric: &Metric) -> String {
    match metric.unit.as_str() {
        "" | "share" | "count" => metric.title.clone(),
        unit => format!("{} [{unit}]", metric.title),
    }
}

fn scatter(
    plot: &PlotPlan,
    experiment: &Experiment,
    measures: &Measures<'_>,
    points: &[usize],
    arms: &[usize],
) -> Panel {
    let series = arms.iter().map(|&arm| {
        let dots = points.iter().flat_map(|&point| {
            let values = |name: &str| {
                let summary = measures.summary(name, point, arm);
                summary.map(|summary| summary.values.clone()).unwrap_or_default()
            };
            let both = values(&plot.against_name).into_iter().zip(values(&plot.name));
            both.filter_map(|(x, y)| Some(Dot { x: x?, y: y?, interval: None })).collect::<Vec<_>>()
        });
        Series { label: experiment.arms[arm].label.clone(), style: arm, points: dots.collect() }
    });
    Panel {
        title: plot.title.clone().unwrap_or_default(),
        shape: Shape::Dots,
        x: axis(plot.x.as_ref(), &plot.against.as_ref().map(named).unwrap_or_default(), plot.log.0),
        y: y_axis(plot, &plot.metric, experiment),
        categories: Vec::new(),
        series: series.collect(),
        ..Panel::default()
    }
}

/// A distribution, or curves over time.
fn of_runs(plot: &PlotPlan, measures: &Measures<'_>, point: usize, arms: &[usize]) -> Option<Panel> {
    let experiment = measures.experiment;
    let found = measures.runs?;
    let mut series = Vec::new();
    for &arm in arms {
        let Some(runs) = found.runs.get(&(point, arm)) else { continue };
        let Some(path) = found.paths.get(&(point, arm)) else { continue };
        let label = experiment.arms[arm].label.clone();
        if plot.form == Form::Cdf {
            let values = runs.iter().flat_map(|run| plot.metric.values(run, path)).collect();
            series.push(Series { label, style: arm, points: distribution(values) });
            continue;
        }
        let Some(run) = runs.first() else { continue };
        let until = plot.until.unwrap_or(f64::INFINITY);
        for (flow, curve) in curves(&plot.metric, run) {
            let shown = curve.into_iter().filter(|(t, _)| *t <= until);
            let curve: Vec<(f64, f64)> = shown.map(|(t, y)| (t, y * plot.metric.scale)).collect();
            let many = flow.is_some() && arms.len() > 1;
            let style = if arms.len() > 1 { arm } else { flow.unwrap_or(arm) };
            let label = match flow {
                Some(flow) if many => format!("{label}, flow {}", flow + 1),
                Some(flow) => format!("flow {}", flow + 1),
                None => label.clone(),
            };
            series.push(Series { label, style, points: thinned(&curve) });
        }
        if arms.len() == 1 {
            series.extend(thresholds(&plot.metric, run, until));
        }
    }
    let time = plot.form == Form::Time;
    let (x, y) = if time {
        ("time [s]".to_owned(), named(&plot.metric))
    } else {
        (named(&plot.metric), "share".to_owned())
    };
    Some(Panel {
        title: String::new(),
        shape: if time { Shape::Curves } else { Shape::Steps },
        x: axis(plot.x.as_ref(), &x, plot.log.0),
        y: axis(plot.y.as_ref(), &y, plot.log.1),
        categories: Vec::new(),
        series,
        ..Panel::default()
    })
}

/// A flow, if it is drawn alone, and its values over time.
type Curve = (Option<usize>, Vec<(f64, f64)>);

/// A metric of a run over time: windows of each flow, anything else of all together.
fn curves(metric: &Metric, run: &Measured) -> Vec<Curve> {
    if metric.quantity.column() != Some(Column::Window) {
        return vec![(None, metric.curve(run))];
    }
    let mss = f64::from(run.flows.mss_bytes.max(1));
    let series = run.record.series.iter().flat_map(|series| &series.flows).take(FLOWS_DRAWN).enumerate();
    let chosen: Vec<_> = series.filter(|(index, _)| metric.flow.is_none_or(|flow| flow == *index)).collect();
    let single = chosen.len() == 1;
    let curve = |(index, flow): (usize, &rampcc_trace::FlowSeries)| {
        let points = flow.time_s.iter().zip(&flow.cwnd_bytes);
        let points = points.map(|(time, bytes)| (*time, *bytes as f64 / mss)).collect();
        ((!single).then_some(index), points)
    };
    chosen.into_iter().map(curve).collect()
}

/// The thresholds of the flows whose windows are drawn, in the style after the last of these.
fn thresholds(metric: &Metric, run: &Measured, until: f64) -> Vec<Series> {
    if metric.quantity.column() != Some(Column::Window) {
        return Vec::new();
    }
    let mss = f64::from(run.flows.mss_bytes.max(1));
    let tests = run.flows.bins.flows.iter().filter(|flow| flow.test).take(FLOWS_DRAWN).enumerate();
    let tests = tests.filter(|(index, _)| metric.flow.is_none_or(|flow| flow == *index));
    let drawn = tests.map(|(index, flow)| {
        let at = |bin: usize| (bin as f64 + 1.0) * run.flows.bins.width_s;
        let known =
            flow.ssthresh_bytes.iter().enumerate().filter(|(bin, value)| **value > 0 && at(*bin) <= until);
        let curve: Vec<(f64, f64)> = known.map(|(bin, value)| (at(bin), *value as f64 / mss)).collect();
        Series { label: format!("flow {}, ssthresh", index + 1), style: index + 2, points: thinned(&curve) }
    });
    drawn.filter(|series| !series.points.is_empty()).collect()
}

fn distribution(mut values: Vec<f64>) -> Vec<Dot> {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let every = values.len().div_ceil(CURVE_POINTS).max(1);
    let last = values.len().saturating_sub(1);
    let all = values.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
    all.map(|(i, x)| Dot { x: *x, y: (i + 1) as f64 / n, interval: None }).collect()
}

/// At most so many points, with the extremes of what is left out.
fn thinned(curve: &[(f64, f64)]) -> Vec<Dot> {
    let every = curve.len().div_ceil(CURVE_POINTS / 2).max(1);
    let mut dots = Vec::new();
    for piece in curve.chunks(every) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (piece.iter().min_by(by_value), piece.iter().max_by(by_value)) else {
            continue;
        };
        let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
        dots.push(Dot { x: first.0, y: first.1, interval: None });
        if first != second {
            dots.push(Dot { x: second.0, y: second.1, interval: None });
        }
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes_and_order() {
        let curve: Vec<(f64, f64)> =
            (0..10_000).map(|i| (f64::from(i), if i == 4321 { 99.0 } else { f64::from(i % 7) })).collect();
        let dots = thinned(&curve);
        assert!(dots.len() <= CURVE_POINTS);
        assert!(dots.iter().any(|dot| dot.y > 98.0));
        assert!(dots.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }

    #[test]
    fn a_distribution_ends_at_one() {
        let dots = distribution((0..1234).map(f64::from).rev().collect());
        assert!((dots.last().unwrap().y - 1.0).abs() < 1e-12);
        assert!(dots.len() <= CURVE_POINTS + 1 && dots.windows(2).all(|pair| pair[0].y < pair[1].y));
        assert!(distribution(Vec::new()).is_empty());
    }
}
