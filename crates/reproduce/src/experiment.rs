//! A published experiment, checked: every name resolved, every formula read.

use std::collections::BTreeMap;
use std::ops::Range;

use rampcc::Time;
use rampcc_backend::Clock;
use rampcc_experiment::ExperimentError;
use rampcc_scenario::{Scenario, ScenarioError, Setting};

use crate::error::{ReproduceError, Result, Source, one_of};
use crate::expression::{Check, Reference, Term};
use crate::file::{Form, Hold, Kind, Line, Text};
use crate::paper::Paper;
use crate::quantity::Metric;

/// A published experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Identifier, as `hystart-fig9a`.
    pub id: String,
    /// Source.
    pub paper: Paper,
    /// Which figure or table of it.
    pub figure: String,
    /// What it shows.
    pub title: String,
    /// What is done for it.
    pub kind: Kind,
    /// What is played instead.
    pub substitute: Option<String>,
    /// In a few sentences.
    pub about: String,
    /// What the source leaves open, and what is taken here.
    pub taken: Vec<String>,
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) base: Base,
    pub(crate) set: Vec<Set>,
    /// Names of its paper's settings that are among these.
    pub(crate) shared: Vec<String>,
    pub(crate) runs: Option<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) bin: Time,
    pub(crate) quick: (u32, Vec<String>),
    pub(crate) linux: Option<OnLinux>,
    pub(crate) arms: Vec<ArmPlan>,
    pub(crate) dimensions: Vec<Dimension>,
    /// Every combination of the dimensions' points; the first dimension changes fastest.
    pub(crate) points: Vec<Vec<usize>>,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) plots: Vec<PlotPlan>,
    pub(crate) claims: Vec<ClaimPlan>,
    pub(crate) choices: Vec<Dimension>,
    /// Number of runs under each choice; `None`: as many as described.
    pub(crate) choice_runs: Vec<Option<u32>>,
}

/// What an experiment is played on.
#[derive(Debug)]
pub(crate) enum Base {
    /// Nothing is played.
    None,
    BuiltIn(String, Range<usize>),
    /// Its text, and where that stands.
    Inline(String, Range<usize>),
}

/// A setting with its place.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) setting: Setting,
    /// `None`: it is not the file's, but a [`crate::Variant`]'s.
    pub(crate) place: Option<Range<usize>>,
}

/// Other conditions for the kernel.
#[derive(Debug)]
pub(crate) struct OnLinux {
    /// What is otherwise there.
    pub(crate) taken: Vec<String>,
    pub(crate) set: Vec<Set>,
    pub(crate) runs: Option<u32>,
    pub(crate) at: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct ArmPlan {
    pub(crate) label: String,
    pub(crate) how: How,
    pub(crate) place: Range<usize>,
}

/// What a row of an experiment is.
#[derive(Debug)]
pub(crate) enum How {
    Played {
        algorithm: String,
        set: Vec<Set>,
    },
    /// Values by metric and point, and what made them.
    Recorded {
        by: String,
        values: BTreeMap<String, BTreeMap<usize, f64>>,
    },
    /// Where the formula holds.
    Computed {
        formula: Box<Term>,
        from: f64,
        to: f64,
    },
}

/// A swept field, or a choice.
#[derive(Debug)]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) label: String,
    pub(crate) x: f64,
    pub(crate) set: Vec<Set>,
}

#[derive(Debug)]
pub(crate) struct PlotPlan {
    pub(crate) form: Form,
    pub(crate) metric: Metric,
    /// Of a scatter's x.
    pub(crate) against: Option<Metric>,
    pub(crate) name: String,
    pub(crate) against_name: String,
    pub(crate) title: Option<String>,
    pub(crate) x: Option<String>,
    pub(crate) y: Option<String>,
    pub(crate) log: (bool, bool),
    pub(crate) at: Vec<String>,
    pub(crate) arms: Vec<String>,
    pub(crate) until: Option<f64>,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct ClaimPlan {
    pub(crate) text: String,
    pub(crate) place: String,
    pub(crate) source: String,
    pub(crate) written: String,
    pub(crate) check: Check,
    pub(crate) at: Vec<String>,
    pub(crate) hold: Hold,
    /// The source's values, by point.
    pub(crate) paper: BTreeMap<usize, f64>,
    pub(crate) reason: Option<ReasonPlan>,
    pub(crate) proof: Option<ProofPlan>,
    /// In the kernel, where that is another one.
    pub(crate) on_linux: Option<ReasonPlan>,
    pub(crate) quick: bool,
}

/// Why a claim does not hold.
#[derive(Debug)]
pub(crate) struct ReasonPlan {
    pub(crate) why: String,
    /// Ranges of measured values for which it was found.
    pub(crate) found: Vec<(String, Check)>,
    /// Number of the choice that decides.
    pub(crate) choice: Option<usize>,
}

/// That the source contradicts a claim of its own.
#[derive(Debug)]
pub(crate) struct ProofPlan {
    pub(crate) why: String,
    pub(crate) checks: Vec<(String, Check)>,
}

impl ClaimPlan {
    /// Why it does not hold on a backend with this clock.
    pub(crate) fn reason(&self, clock: Clock) -> Option<&ReasonPlan> {
        let there = self.on_linux.as_ref().filter(|_| clock == Clock::Real);
        there.or(self.reason.as_ref())
    }
}

/// The name that formulae have as a metric.
pub(crate) const FORMULA: &str = "y";

impl Experiment {
    /// Whether anything of it is played.
    pub fn is_played(&self) -> bool {
        matches!(self.kind, Kind::Run | Kind::Substitute)
    }

    /// Its file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What its file names of its paper's settings, each with its name.
    pub fn shared(&self) -> impl Iterator<Item = (&str, &[String])> {
        let sets = self.shared.iter().filter_map(|name| self.paper.sets.get_key_value(name));
        sets.map(|(name, settings)| (name.as_str(), settings.as_slice()))
    }

    /// Whether the kernel can play it.
    pub fn on_linux(&self) -> bool {
        self.linux.is_some()
    }

    pub(crate) fn labels(&self, point: usize) -> Vec<&str> {
        let at = self.points.get(point).map_or(&[][..], Vec::as_slice);
        let swept = self.dimensions.iter().zip(at);
        swept.filter_map(|(dimension, at)| Some(dimension.points.get(*at)?.label.as_str())).collect()
    }

    /// Number of a point: that of the first swept field.
    pub(crate) fn x(&self, point: usize) -> f64 {
        let at = self.points.get(point).and_then(|at| at.first());
        let first = self.dimensions.first().zip(at).and_then(|(first, at)| first.points.get(*at));
        first.map_or(0.0, |point| point.x)
    }

    /// Whether a point is among those that are named; none are named: all are.
    pub(crate) fn is_at(&self, point: usize, named: &[String]) -> bool {
        let at = self.points.get(point).map_or(&[][..], Vec::as_slice);
        self.dimensions.iter().zip(at).all(|(dimension, at)| {
            let known = |label: &&String| dimension.points.iter().any(|point| point.label == **label);
            let mut here = named.iter().filter(known).peekable();
            here.peek().is_none() || here.any(|label| dimension.points[*at].label == *label)
        })
    }

    /// The point that a reference means, seen from another.
    pub(crate) fn point_of(&self, reference: &Reference, from: usize) -> Option<usize> {
        if reference.at.is_empty() {
            return Some(from);
        }
        let mut wanted = self.points.get(from)?.clone();
        for (dimension, at) in self.dimensions.iter().zip(&mut wanted) {
            let named = |point: &Point| reference.at.contains(&point.label);
            if let Some(found) = dimension.points.iter().position(named) {
                *at = found;
            }
        }
        self.points.iter().position(|point| *point == wanted)
    }

    /// Its scenario with these settings on top.
    pub(crate) fn scenario(&self, sets: &[&Set]) -> Result<Scenario> {
        let settings: Vec<Setting> = sets.iter().map(|set| set.setting.clone()).collect();
        let source = Source { file: &self.file, text: &self.text };
        let made = match &self.base {
            Base::None => {
                return Err(source.wrong(0..0, "scenario", "nothing is played", "`scenario` or `inline`"));
            }
            Base::BuiltIn(name, _) => Scenario::open_with(name, &settings),
            Base::Inline(text, _) => Scenario::parse_with(&self.id, text, None, &settings),
        };
        made.map_err(|error| self.misplaced(error, sets))
    }

    /// A scenario's error, with its place in this file.
    fn misplaced(&self, error: ScenarioError, sets: &[&Set]) -> ReproduceError {
        let source = Source { file: &self.file, text: &self.text };
        let by = match &error {
            ScenarioError::Setting { text, .. } => Some(text.as_str()),
            _ => error.field().and_then(|field| field.setting.as_deref()),
        };
        let set = by.and_then(|text| {
            sets.iter().find(|set| set.setting.text().starts_with(text.trim_end_matches('…')))
        });
        let place = match set.map(|set| &set.place) {
            Some(None) => return ExperimentError::from(error).into(),
            Some(Some(place)) => place.clone(),
            None => 0..0,
        };
        let told = error.explain();
        let (problem, allowed) =
            told.split_once("; expected ").unwrap_or((&told, "what docs/guide/scenarios.md describes"));
        if let (Some(_), Some(field)) = (set, error.field()) {
            return source.wrong(place, &field.field, &field.problem, &field.allowed);
        }
        if let Some(set) = set {
            return source.wrong(place, &set.setting.key(), problem, allowed);
        }
        match &self.base {
            Base::Inline(_, place) => {
                let Some(field) = error.field() else {
                    return source.wrong(place.clone(), "inline", problem, allowed);
                };
                let from = inline_start(source.text, place);
                let line = |n: usize| {
                    source
                        .text
                        .get(from..)
                        .into_iter()
                        .flat_map(|t| t.split_inclusive('\n'))
                        .take(n)
                        .map(str::len)
                        .sum::<usize>()
                };
                let at = from + line(field.line.saturating_sub(1));
                source.wrong(at..at, &field.field, &field.problem, &field.allowed)
            }
            Base::BuiltIn(_, place) => source.wrong(place.clone(), "scenario", problem, allowed),
            Base::None => source.wrong(0..0, "scenario", problem, allowed),
        }
    }

    /// An error about something in this file.
    pub(crate) fn wrong(
        &self,
        place: &Range<usize>,
        field: &str,
        problem: &str,
        allowed: &str,
    ) -> ReproduceError {
        Source { file: &self.file, text: &self.text }.wrong(place.clone(), field, problem, allowed)
    }

    /// Fails where a label names no point.
    pub(crate) fn known_labels(&self, source: &Source<'_>, labels: &[Text]) -> Result<Vec<String>> {
        let known = || self.dimensions.iter().flat_map(|d| &d.points).map(|point| point.label.as_str());
        for label in labels {
            if !known().any(|point| point == label.get_ref()) {
                let allowed = if known().next().is_none() {
                    "nothing: no field is swept".to_owned()
                } else {
                    one_of(label.get_ref(), known().collect::<Vec<_>>().into_iter())
                };
                return Err(source.wrong(
                    label.span(),
                    "at",
                    format!("there is no point `{}`", label.get_ref()),
                    allowed,
                ));
            }
        }
        Ok(labels.iter().map(|label| label.get_ref().clone()).collect())
    }
}

/// Where the text between the quotation marks begins.
fn inline_start(text: &str, place: &Range<usize>) -> usize {
    let marks = if text.get(place.start..).is_some_and(|t| t.starts_with("'''") || t.starts_with("\"\"\"")) {
        3
    } else {
        1
    };
    let from = place.start + marks;
    from + usize::from(text.get(from..).is_some_and(|t| t.starts_with('\n')))
}
