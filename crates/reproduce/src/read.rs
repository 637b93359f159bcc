//! From a file to a checked experiment.

mod claim;
pub(crate) mod metric;
mod sweep;

use std::collections::BTreeSet;
use std::ops::Range;

use rampcc::Time;
use rampcc_experiment::Row;
use rampcc_scenario::{Scenario, Setting, parse_time};
use toml::Spanned;

use crate::error::{ReproduceError, Result, Source, one_of};
use crate::experiment::{ArmPlan, Base, Experiment, How, OnLinux, Set};
use crate::expression::{Wrong, parse_term};
use crate::file::{self, File, Kind, Text};
use crate::paper::{Paper, papers};
use claim::{plan_claim, plan_plot, recorded_arm};
pub(crate) use metric::plain;
use metric::{metrics, named_metric};
use sweep::{axis, dimension, product};

/// Most combinations of the swept fields' points.
const POINTS_MAX: usize = 1000;

impl Experiment {
    /// From a file's text; of a paper that comes with ramp.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it, with its place.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        Self::read_of(file, text, &papers()?)
    }

    /// From a file's text; of one of these papers.
    pub(crate) fn read_of(file: &str, text: &str, papers: &[Paper]) -> Result<Self> {
        let source = Source { file, text };
        let parsed: File = toml::from_str(text).map_err(|error| source.unreadable(&error))?;
        experiment(&source, parsed, papers)
    }
}

/// Checks a file; what its scenarios say is checked when they are made.
fn experiment(source: &Source<'_>, file: File, papers: &[Paper]) -> Result<Experiment> {
    let kind = *file.kind.get_ref();
    source.identifier(&file.id)?;
    let played = matches!(kind, Kind::Run | Kind::Substitute);
    if kind == Kind::Substitute && file.substitute.is_none() {
        let allowed = "`substitute`: a sentence about what is played, and why";
        return Err(source.wrong(file.kind.span(), "kind", "nothing says what is played instead", allowed));
    }
    let of = paper(source, &file.paper, papers)?;
    let dimensions =
        file.sweep.iter().map(|sweep| dimension(source, sweep, &of)).collect::<Result<Vec<_>, _>>()?;
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
        set: shared_settings(source, &file.set, &of)?,
        shared: names_of_shared(&file),
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
                dimension(source, &sweep, &of)
            })
            .collect::<Result<_, _>>()?,
        bin: match &file.bin {
            Some(text) => time(source, text, "bin")?,
            None => Time::from_ms(100),
        },
        id: file.id.into_inner(),
        paper: of,
        figure: file.figure,
        title: file.title,
        kind,
        substitute: file.substitute,
        about: file.about,
        taken: file.taken,
        file: source.file.to_owned(),
        text: source.text.to_owned(),
        runs: runs(source, file.runs.as_ref(), "runs")?,
        choice_runs: file
            .choice
            .iter()
            .map(|choice| runs(source, choice.runs.as_ref(), "choice.runs"))
            .collect::<Result<_, _>>()?,
        seed: file.seed,
        quick: (runs(source, file.quick.runs.as_ref(), "quick.runs")?.unwrap_or(1), Vec::new()),
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
            runs: runs(source, linux.runs.as_ref(), "linux.runs")?,
            at: experiment.known_labels(source, &linux.at)?,
        });
    }
    for recorded in &file.recorded {
        let arm = recorded_arm(source, &experiment, recorded)?;
        experiment.arms.push(arm);
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

fn paper(source: &Source<'_>, id: &Text, papers: &[Paper]) -> Result<Paper> {
    papers.iter().find(|paper| paper.id == *id.get_ref()).cloned().ok_or_else(|| {
        let known = one_of(id.get_ref(), papers.iter().map(|paper| paper.id.as_str()));
        let problem = format!("there is no paper `{}`", id.get_ref());
        source.wrong(id.span(), "paper", problem, format!("{known}, or a paper.toml next to the file"))
    })
}

fn runs(source: &Source<'_>, given: Option<&Spanned<u32>>, field: &str) -> Result<Option<u32>> {
    match given {
        Some(zero) if *zero.get_ref() == 0 => {
            Err(source.wrong(zero.span(), field, "nothing would be played", "1 or more"))
        }
        given => Ok(given.map(|runs| *runs.get_ref())),
    }
}

fn base(source: &Source<'_>, file: &File, played: bool) -> Result<Base> {
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

fn settings(source: &Source<'_>, texts: &[Text]) -> Result<Vec<Set>> {
    texts.iter().map(|text| setting(source, text, text.get_ref())).collect()
}

/// One of `text`, or of what it stands for.
fn setting(source: &Source<'_>, text: &Text, written: &str) -> Result<Set> {
    let setting = Setting::parse(written).map_err(|error| {
        source.wrong(text.span(), "set", error.to_string(), "FIELD=VALUE, as for `--set`")
    })?;
    Ok(Set { setting, place: Some(text.span()) })
}

/// The same, where `@name` stands for settings that the paper's experiments share.
fn shared_settings(source: &Source<'_>, texts: &[Text], of: &Paper) -> Result<Vec<Set>> {
    let mut found = Vec::new();
    for text in texts {
        let Some(name) = text.get_ref().strip_prefix('@') else {
            found.push(setting(source, text, text.get_ref())?);
            continue;
        };
        let shared = of.sets.get(name).ok_or_else(|| {
            let problem = format!("the paper.toml of `{}` has no set `{name}`", of.id);
            let known = one_of(name, of.sets.keys().map(String::as_str));
            let allowed = if of.sets.is_empty() { "FIELD=VALUE, as for `--set`".to_owned() } else { known };
            source.wrong(text.span(), "set", problem, allowed)
        })?;
        for written in shared {
            found.push(setting(source, text, written)?);
        }
    }
    Ok(found)
}

/// The names of the shared settings that a file puts in, each once.
fn names_of_shared(file: &File) -> Vec<String> {
    let points = file.sweep.iter().flat_map(|sweep| &sweep.points);
    let points = points.chain(file.choice.iter().flat_map(|choice| &choice.points));
    let texts = file.set.iter().chain(points.flat_map(|point| &point.set));
    let mut names = Vec::new();
    for name in texts.filter_map(|text| text.get_ref().strip_prefix('@')) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn arms(source: &Source<'_>, file: &File, played: bool) -> Result<Vec<ArmPlan>> {
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

fn time(source: &Source<'_>, text: &Text, field: &str) -> Result<Time> {
    let found = parse_time(text.get_ref()).map_err(|problem| (text, problem));
    match found {
        Ok(time) if time > Time::ZERO => Ok(time),
        Ok(_) => Err(source.wrong(text.span(), field, "it is 0", "a time such as \"100 ms\"")),
        Err((_, problem)) => Err(source.wrong(text.span(), field, problem, "a time such as \"100 ms\"")),
    }
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
