//! From a file to a checked experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rampcc::{ExitReason, Time};
use rampcc_experiment::Row;
use rampcc_scenario::{Scenario, Setting, parse_bytes, parse_time};
use toml::Spanned;

use crate::error::{ReproduceError, Source, one_of};
use crate::experiment::{
    ArmPlan, Base, ClaimPlan, Dimension, Experiment, FORMULA, How, OnLinux, PlotPlan, Point, Set,
};
use crate::expression::{Check, Reference, Wrong, parse, parse_term};
use crate::file::{self, File, Form, Kind, Take, Text, Whose};
use crate::quantity::{Metric, Quantity};

/// Most combinations of the swept fields' points.
const POINTS_MAX: usize = 1000;

/// Checks a file; what its scenarios say is checked when they are made.
pub(crate) fn experiment(source: &Source<'_>, file: File) -> Result<Experiment, ReproduceError> {
    let kind = *file.kind.get_ref();
    let played = matches!(kind, Kind::Run | Kind::Substitute);
    if kind == Kind::Substitute && file.substitute.is_none() {
        let allowed = "`substitute`: a sentence about what is played, and why";
        return Err(source.wrong(file.kind.span(), "kind", "nothing says what is played instead", allowed));
    }
    let dimensions =
        file.sweep.iter().map(|sweep| dimension(source, sweep)).collect::<Result<Vec<_>, _>>()?;
    let dimensions = match &file.x {
        Some(x) => vec![axis(source, x)?],
        None => dimensions,
    };
    let points = product(&dimensions);
    if points.len() > POINTS_MAX {
        let problem = format!("there are {} points", points.len());
        return Err(source.wrong(file.id.span(), "sweep", problem, format!("at most {POINTS_MAX}")));
    }
    let mut experiment = Experiment {
        base: base(source, &file, played)?,
        set: settings(source, &file.set)?,
        arms: arms(source, &file, played)?,
        metrics: metrics(source, &file, played)?,
        choices: file
            .choice
            .iter()
            .map(|choice| {
                let sweep = file::Sweep {
                    name: choice.name.clone(),
                    field: choice.field.clone(),
                    values: choice.values.clone(),
                    points: choice.points.clone(),
                };
                dimension(source, &sweep)
            })
            .collect::<Result<_, _>>()?,
        bin: match &file.bin {
            Some(text) => time(source, text, "bin")?,
            None => Time::from_ms(100),
        },
        id: file.id.into_inner(),
        paper: file.paper,
        figure: file.figure,
        title: file.title,
        kind,
        substitute: file.substitute,
        about: file.about,
        taken: file.taken,
        file: source.file.to_owned(),
        text: source.text.to_owned(),
        runs: file.runs,
        seed: file.seed,
        quick: (file.quick.runs.unwrap_or(1), Vec::new()),
        linux: None,
        dimensions,
        points,
        plots: Vec::new(),
        claims: Vec::new(),
    };
    experiment.quick.1 = experiment.known_labels(source, &file.quick.at)?;
    if let Some(linux) = &file.linux {
        experiment.linux = Some(OnLinux {
            taken: linux.taken.clone(),
            set: settings(source, &linux.set)?,
            runs: linux.runs,
            at: experiment.known_labels(source, &linux.at)?,
        });
    }
    for plot in &file.plot {
        let plot = plan_plot(source, &experiment, plot)?;
        experiment.plots.push(plot);
    }
    for claim in file.claim {
        let claim = plan_claim(source, &experiment, claim)?;
        experiment.claims.push(claim);
    }
    Ok(experiment)
}

fn base(source: &Source<'_>, file: &File, played: bool) -> Result<Base, ReproduceError> {
    match (&file.scenario, &file.inline) {
        (Some(name), None) => {
            let names: Vec<&str> = Scenario::built_in_names().collect();
            if !names.contains(&name.get_ref().as_str()) {
                let problem = format!("there is no scenario `{}`", name.get_ref());
                return Err(source.wrong(
                    name.span(),
                    "scenario",
                    problem,
                    one_of(name.get_ref(), names.into_iter()),
                ));
            }
            Ok(Base::BuiltIn(name.get_ref().clone(), name.span()))
        }
        (None, Some(text)) => Ok(Base::Inline(text.get_ref().clone(), text.span())),
        (Some(_), Some(text)) => {
            Err(source.wrong(text.span(), "inline", "there is a `scenario` as well", "one of the two"))
        }
        (None, None) if played => Err(source.wrong(
            file.id.span(),
            "scenario",
            "nothing says what is played",
            "`scenario` or `inline`",
        )),
        (None, None) => Ok(Base::None),
    }
}

fn settings(source: &Source<'_>, texts: &[Text]) -> Result<Vec<Set>, ReproduceError> {
    let one = |text: &Text| {
        let setting = Setting::parse(text.get_ref()).map_err(|error| {
            source.wrong(text.span(), "set", error.to_string(), "FIELD=VALUE, as for `--set`")
        })?;
        Ok(Set { setting, place: text.span() })
    };
    texts.iter().map(one).collect()
}

fn arms(source: &Source<'_>, file: &File, played: bool) -> Result<Vec<ArmPlan>, ReproduceError> {
    let mut arms = Vec::new();
    for arm in &file.arm {
        let text = format!("{}={}", arm.label.get_ref(), arm.algorithm.get_ref());
        Row::parse(&text, &[]).map_err(|error| {
            source.wrong(
                arm.algorithm.span(),
                "algorithm",
                error.to_string(),
                "a row as for `ramp compare --algorithms`",
            )
        })?;
        let how = How::Played { algorithm: text, set: settings(source, &arm.set)? };
        arms.push(ArmPlan { label: arm.label.get_ref().clone(), how, place: arm.label.span() });
    }
    for curve in &file.curve {
        let formula = parse_term(curve.formula.get_ref())
            .map_err(|wrong| misread(source, &curve.formula, "formula", wrong))?;
        let mut named = Vec::new();
        formula.node.references(&mut named);
        if let Some(reference) = named.first() {
            let place = within(source, &curve.formula, &reference.place);
            return Err(source.wrong(place, "formula", "it names a metric", "numbers, x and functions"));
        }
        let (from, to) = (curve.from.unwrap_or(f64::NEG_INFINITY), curve.to.unwrap_or(f64::INFINITY));
        let how = How::Computed { formula: Box::new(formula), from, to };
        arms.push(ArmPlan { label: curve.label.get_ref().clone(), how, place: curve.label.span() });
    }
    let mut labels = BTreeSet::new();
    for arm in &arms {
        if !labels.insert(arm.label.as_str()) {
            let problem = format!("`{}` is there twice", arm.label);
            return Err(source.wrong(arm.place.clone(), "label", problem, "a label of its own"));
        }
        if arm.label.contains(['[', ']', '@']) {
            return Err(source.wrong(
                arm.place.clone(),
                "label",
                "it has a bracket or an @",
                "a label without them",
            ));
        }
    }
    let (has, lacks) =
        if played { (!file.arm.is_empty(), "[[arm]]") } else { (!file.curve.is_empty(), "[[curve]]") };
    if !has && *file.kind.get_ref() != Kind::Diagram {
        return Err(source.wrong(
            file.id.span(),
            "arm",
            "there is nothing to show",
            format!("at least one {lacks}"),
        ));
    }
    Ok(arms)
}

fn dimension(source: &Source<'_>, sweep: &file::Sweep) -> Result<Dimension, ReproduceError> {
    let mut points = Vec::new();
    if let Some(field) = &sweep.field {
        for value in &sweep.values {
            let text = format!("{}={}", field.get_ref(), value.get_ref());
            let setting = Setting::parse(&text).map_err(|error| {
                source.wrong(field.span(), "field", error.to_string(), "a field as for `--set`")
            })?;
            points.push(Point {
                label: value.get_ref().clone(),
                x: leading_number(value.get_ref()).unwrap_or(points.len() as f64),
                set: vec![Set { setting, place: value.span() }],
            });
        }
    }
    for point in &sweep.points {
        let label = point.label.get_ref();
        points.push(Point {
            label: label.clone(),
            x: point.x.or_else(|| leading_number(label)).unwrap_or(points.len() as f64),
            set: settings(source, &point.set)?,
        });
    }
    let mut labels = BTreeSet::new();
    if let Some(twice) = points.iter().find(|point| !labels.insert(point.label.clone())) {
        let place =
            sweep.points.iter().map(|p| p.label.span()).chain(sweep.values.iter().map(Spanned::span)).last();
        let problem = format!("`{}` is there twice", twice.label);
        return Err(source.wrong(place.unwrap_or(0..0), "values", problem, "each value once"));
    }
    if points.is_empty() {
        let place = sweep.field.as_ref().map_or(0..0, Spanned::span);
        return Err(source.wrong(
            place,
            "sweep",
            format!("`{}` has no value", sweep.name),
            "`field` and `values`, or `points`",
        ));
    }
    Ok(Dimension { name: sweep.name.clone(), points })
}

/// The x of formulae.
fn axis(source: &Source<'_>, x: &Spanned<file::Axis>) -> Result<Dimension, ReproduceError> {
    let file::Axis { from, to, step } = *x.get_ref();
    let count = ((to - from) / step).round();
    if !(step > 0.0 && (1.0..POINTS_MAX as f64).contains(&count)) {
        let problem = format!("{from} to {to} in steps of {step}");
        return Err(source.wrong(
            x.span(),
            "x",
            problem,
            format!("a step that fits 1 to {} times", POINTS_MAX - 1),
        ));
    }
    let points = (0..=count as u32).map(|i| {
        let x = from + f64::from(i) * step;
        // Without the noise of the sum.
        let x = (x * 1e9).round() / 1e9;
        Point { label: x.to_string(), x, set: Vec::new() }
    });
    Ok(Dimension { name: "x".to_owned(), points: points.collect() })
}

fn product(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new()];
    for dimension in dimensions.iter().rev() {
        points = points
            .iter()
            .flat_map(|rest| (0..dimension.points.len()).map(move |at| [&[at], rest.as_slice()].concat()))
            .collect();
    }
    points
}

fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn time(source: &Source<'_>, text: &Text, field: &str) -> Result<Time, ReproduceError> {
    let found = parse_time(text.get_ref()).map_err(|problem| (text, problem));
    match found {
        Ok(time) if time > Time::ZERO => Ok(time),
        Ok(_) => Err(source.wrong(text.span(), field, "it is 0", "a time such as \"100 ms\"")),
        Err((_, problem)) => Err(source.wrong(text.span(), field, problem, "a time such as \"100 ms\"")),
    }
}

fn metrics(
    source: &Source<'_>,
    file: &File,
    played: bool,
) -> Result<BTreeMap<String, Metric>, ReproduceError> {
    let mut metrics = BTreeMap::new();
    for (name, given) in &file.metric {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || name.is_empty() || name == "x" || !played {
            let allowed = if played { "letters, digits and _" } else { "none: a formula's value is `y`" };
            return Err(source.wrong(
                given.of.span(),
                &format!("metric.{name}"),
                "it cannot have this name",
                allowed,
            ));
        }
        metrics.insert(name.clone(), metric(source, name, given)?);
    }
    Ok(metrics)
}

fn metric(source: &Source<'_>, name: &str, given: &file::Metric) -> Result<Metric, ReproduceError> {
    let field = |field: &str| format!("metric.{name}.{field}");
    let of = given.of.get_ref();
    let Some(mut quantity) = Quantity::named(of) else {
        let problem = format!("there is no metric `{of}`");
        return Err(source.wrong(
            given.of.span(),
            &field("of"),
            problem,
            one_of(of, Quantity::names().collect::<Vec<_>>().into_iter()),
        ));
    };
    let window =
        given.window.as_ref().map(|window| pair(source, window, &field("window"), seconds)).transpose()?;
    if let Some(given) = given.window.as_ref().filter(|_| !quantity.takes_window()) {
        let problem = format!("`{of}` is of a whole run");
        let allowed = "no window; goodput, utilisation, throughput, cwnd, rtt, queue and zero_time have one";
        return Err(source.wrong(given.span(), &field("window"), problem, allowed));
    }
    if let (Quantity::Lab(definition), Some(_)) = (quantity, window) {
        quantity = Quantity::Windowed(definition);
    }
    let flow = match &given.flow {
        None => None,
        Some(flow) if *flow.get_ref() == 0 || !quantity.takes_flow() => {
            let problem = if *flow.get_ref() == 0 {
                "flows count from 1".to_owned()
            } else {
                format!("`{of}` is of all flows")
            };
            return Err(source.wrong(
                flow.span(),
                &field("flow"),
                problem,
                "1 for the first flow under test, or no `flow`",
            ));
        }
        Some(flow) => usize::try_from(*flow.get_ref() - 1).ok(),
    };
    for reason in &given.left {
        if !ExitReason::ALL.iter().any(|known| known.word() == reason.get_ref()) {
            let known: Vec<&str> = ExitReason::ALL.iter().map(|known| known.word()).collect();
            let problem = format!("there is no reason `{}`", reason.get_ref());
            return Err(source.wrong(
                reason.span(),
                &field("left"),
                problem,
                one_of(reason.get_ref(), known.into_iter()),
            ));
        }
    }
    let scale = given.scale.unwrap_or(1.0);
    Ok(Metric {
        quantity,
        window,
        flow,
        whose: given.whose,
        size: given
            .size
            .as_ref()
            .map(|size| pair(source, size, &field("size"), bytes))
            .transpose()?
            .map(|(from, to)| from..to),
        opened: given
            .opened
            .as_ref()
            .map(|opened| pair(source, opened, &field("opened"), seconds))
            .transpose()?,
        left: given.left.iter().map(|reason| reason.get_ref().clone()).collect(),
        take: given.take.unwrap_or_default(),
        over: given.over,
        title: given.title.clone().unwrap_or_else(|| quantity.title().to_owned()),
        unit: given.unit.clone().unwrap_or_else(|| quantity.unit().to_owned()),
        scale,
    })
}

fn seconds(text: &str) -> Result<f64, String> {
    // 0 needs no unit here.
    if text.trim() == "0" { Ok(0.0) } else { parse_time(text).map(Time::secs_f64) }
}

fn bytes(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { parse_bytes(text) }
}

fn pair<T: PartialOrd>(
    source: &Source<'_>,
    given: &Spanned<Vec<String>>,
    field: &str,
    read: fn(&str) -> Result<T, String>,
) -> Result<(T, T), ReproduceError> {
    let allowed = "two values with units, the smaller one first, such as [\"10 s\", \"70 s\"]";
    let [from, to] = given.get_ref().as_slice() else {
        let problem = format!("there are {} values", given.get_ref().len());
        return Err(source.wrong(given.span(), field, problem, allowed));
    };
    let read = |text: &str| read(text).map_err(|problem| source.wrong(given.span(), field, problem, allowed));
    let (from, to) = (read(from)?, read(to)?);
    if from < to {
        return Ok((from, to));
    }
    Err(source.wrong(given.span(), field, "the second value is not the larger one", allowed))
}

/// A metric by name, or one of the lab's as it is.
fn named_metric(
    source: &Source<'_>,
    experiment: &Experiment,
    name: &str,
    place: Range<usize>,
    field: &str,
) -> Result<Metric, ReproduceError> {
    if let Some(metric) = experiment.metrics.get(name) {
        return Ok(metric.clone());
    }
    if experiment.is_played()
        && let Some(quantity) = Quantity::named(name)
    {
        return Ok(plain(quantity));
    }
    if !experiment.is_played() && name == FORMULA {
        return Ok(plain(Quantity::named("goodput").expect("the lab has it")));
    }
    let own = experiment.metrics.keys().map(String::as_str);
    let known: Vec<&str> = if experiment.is_played() {
        own.chain(Quantity::names().collect::<Vec<&str>>()).collect()
    } else {
        vec![FORMULA]
    };
    Err(source.wrong(place, field, format!("there is no metric `{name}`"), one_of(name, known.into_iter())))
}

pub(crate) fn plain(quantity: Quantity) -> Metric {
    Metric {
        quantity,
        window: None,
        flow: None,
        whose: Whose::Test,
        size: None,
        opened: None,
        left: Vec::new(),
        take: Take::Mean,
        over: Take::Mean,
        title: quantity.title().to_owned(),
        unit: quantity.unit().to_owned(),
        scale: 1.0,
    }
}

fn plan_plot(
    source: &Source<'_>,
    experiment: &Experiment,
    plot: &file::Plot,
) -> Result<PlotPlan, ReproduceError> {
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
    })
}

fn known_arm(
    source: &Source<'_>,
    experiment: &Experiment,
    label: &str,
    place: Range<usize>,
    field: &str,
) -> Result<(), ReproduceError> {
    let known = || experiment.arms.iter().map(|arm| arm.label.as_str());
    if known().any(|arm| arm == label) {
        return Ok(());
    }
    let allowed = one_of(label, known().collect::<Vec<_>>().into_iter());
    Err(source.wrong(place, field, format!("there is no arm `{label}`"), allowed))
}

fn plan_claim(
    source: &Source<'_>,
    experiment: &Experiment,
    claim: file::Claim,
) -> Result<ClaimPlan, ReproduceError> {
    let check =
        parse(claim.check.get_ref()).map_err(|wrong| misread(source, &claim.check, "claim.check", wrong))?;
    known_references(source, experiment, &claim.check, &check)?;
    Ok(ClaimPlan {
        at: experiment.known_labels(source, &claim.at)?,
        text: claim.text,
        place: claim.place,
        source: claim.source,
        written: claim.check.get_ref().clone(),
        check,
        hold: claim.hold,
        reason: claim.reason,
        quick: claim.quick,
    })
}

fn known_references(
    source: &Source<'_>,
    experiment: &Experiment,
    text: &Text,
    check: &Check,
) -> Result<(), ReproduceError> {
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
) -> Result<(), ReproduceError> {
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

fn misread(source: &Source<'_>, text: &Text, field: &str, wrong: Wrong) -> ReproduceError {
    source.wrong(within(source, text, &wrong.at), field, wrong.problem, wrong.allowed)
}

/// A place in a text, as one in the file.
fn within(source: &Source<'_>, text: &Text, place: &Range<usize>) -> Range<usize> {
    let span = text.span();
    // Escapes would move it: then the whole text is meant.
    let plain = source.text.get(span.start + 1..span.end - 1).is_some_and(|inside| inside == text.get_ref());
    if plain { span.start + 1 + place.start..span.start + 1 + place.end } else { span }
}
