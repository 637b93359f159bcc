//! An experiment's file as it is written; [`crate::Experiment`] is the same, checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(crate) type Text = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct File {
    pub(crate) id: Text,
    /// Identifier of a [`crate::Paper`].
    pub(crate) paper: Text,
    pub(crate) figure: String,
    pub(crate) title: String,
    pub(crate) kind: Spanned<Kind>,
    /// What is played instead of what cannot be: for `kind = "substitute"`.
    pub(crate) substitute: Option<String>,
    #[serde(default)]
    pub(crate) about: String,
    /// What the source leaves open, and what is taken here.
    #[serde(default)]
    pub(crate) taken: Vec<String>,
    /// A scenario that comes with ramp.
    pub(crate) scenario: Option<Text>,
    /// A scenario's text, instead.
    pub(crate) inline: Option<Text>,
    #[serde(default)]
    pub(crate) set: Vec<Text>,
    pub(crate) runs: Option<Spanned<u32>>,
    pub(crate) seed: Option<u64>,
    /// Width of the bins of windows and curves over time.
    pub(crate) bin: Option<Text>,
    #[serde(default)]
    pub(crate) quick: Quick,
    pub(crate) linux: Option<Linux>,
    /// Of an analytic experiment: the values of x.
    pub(crate) x: Option<Spanned<Axis>>,
    #[serde(default)]
    pub(crate) arm: Vec<Arm>,
    #[serde(default)]
    pub(crate) recorded: Vec<Recorded>,
    #[serde(default)]
    pub(crate) curve: Vec<Curve>,
    #[serde(default)]
    pub(crate) sweep: Vec<Sweep>,
    #[serde(default)]
    pub(crate) metric: BTreeMap<String, Metric>,
    #[serde(default)]
    pub(crate) plot: Vec<Plot>,
    #[serde(default)]
    pub(crate) claim: Vec<Claim>,
    #[serde(default)]
    pub(crate) choice: Vec<Choice>,
}

/// What is to be done for an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is played.
    Run,
    /// It is computed.
    Analytic,
    /// A diagram: there is nothing to play.
    Diagram,
    /// It cannot be played here; something stated is played instead.
    Substitute,
}

impl Kind {
    /// For lists.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Analytic => "analytic",
            Self::Diagram => "diagram",
            Self::Substitute => "substitute",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quick {
    pub(crate) runs: Option<Spanned<u32>>,
    /// Labels of the points that are played; empty: all.
    #[serde(default)]
    pub(crate) at: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Linux {
    /// What is otherwise there.
    #[serde(default)]
    pub(crate) taken: Vec<String>,
    #[serde(default)]
    pub(crate) set: Vec<Text>,
    pub(crate) runs: Option<Spanned<u32>>,
    #[serde(default)]
    pub(crate) at: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) step: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    pub(crate) label: Text,
    pub(crate) algorithm: Text,
    #[serde(default)]
    pub(crate) set: Vec<Text>,
}

/// What another program did, as it was recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    pub(crate) label: Text,
    /// What made it.
    pub(crate) by: Text,
    /// By metric and point.
    pub(crate) values: BTreeMap<String, BTreeMap<String, Spanned<f64>>>,
}

/// A formula in x.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curve {
    pub(crate) label: Text,
    pub(crate) formula: Text,
    /// Where it holds.
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    pub(crate) name: String,
    pub(crate) field: Option<Text>,
    #[serde(default)]
    pub(crate) values: Vec<Text>,
    #[serde(default)]
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    pub(crate) label: Text,
    pub(crate) x: Option<f64>,
    #[serde(default)]
    pub(crate) set: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metric {
    pub(crate) of: Text,
    pub(crate) window: Option<Spanned<Vec<String>>>,
    /// Of `zero_time`: the share of the path's rate below which a second counts.
    pub(crate) below: Option<Spanned<f64>>,
    /// The only flow of interest, from 1 in the order of opening.
    pub(crate) flow: Option<Spanned<u32>>,
    pub(crate) whose: Option<Spanned<Whose>>,
    /// Only flows of at least and less than so many bytes.
    pub(crate) size: Option<Spanned<Vec<String>>>,
    /// Only flows that were opened then.
    pub(crate) opened: Option<Spanned<Vec<String>>>,
    /// Of single ACKs: the round trip, from 1.
    pub(crate) round: Option<Spanned<u32>>,
    /// Only flows that left start-up for one of these reasons.
    #[serde(default)]
    pub(crate) left: Vec<Text>,
    /// Of the flows or bins of a run.
    pub(crate) take: Option<Take>,
    /// Of the runs.
    #[serde(default)]
    pub(crate) over: Take,
    pub(crate) title: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) scale: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Whose {
    #[default]
    Test,
    Others,
    All,
}

/// What one number is taken of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Take {
    #[default]
    Mean,
    Median,
    Min,
    Max,
    P5,
    P10,
    P25,
    P75,
    P90,
    P95,
    Total,
    Count,
    /// Share of values that are not 0.
    Share,
    Last,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    pub(crate) form: Form,
    pub(crate) metric: Option<Text>,
    /// Of a curve over time, and of a scatter's x.
    pub(crate) of: Option<Text>,
    pub(crate) title: Option<String>,
    /// Axis labels.
    pub(crate) x: Option<String>,
    pub(crate) y: Option<String>,
    #[serde(default)]
    pub(crate) log: Vec<Text>,
    /// Points that it shows; empty: all.
    #[serde(default)]
    pub(crate) at: Vec<Text>,
    /// Arms that it shows; empty: all.
    #[serde(default)]
    pub(crate) arms: Vec<Text>,
    /// End of the time axis.
    pub(crate) until: Option<Text>,
    /// From and to of the horizontal axis, for plots that are compared.
    pub(crate) range: Option<Spanned<Vec<f64>>>,
    /// Lines across the plot: at a height (`y`) or upright (`x`).
    #[serde(default)]
    pub(crate) line: Vec<Line>,
}

/// A line that something is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) label: Text,
    pub(crate) x: Option<f64>,
    pub(crate) y: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// A line for each arm over the sweep.
    Lines,
    Bars,
    /// Distribution over flows or runs.
    Cdf,
    /// Over time, of the first seed.
    Time,
    /// One metric against another.
    Scatter,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) text: String,
    /// Where the source says so.
    #[serde(rename = "where")]
    pub(crate) place: String,
    /// The source's value, as it gives it.
    #[serde(default)]
    pub(crate) source: String,
    pub(crate) check: Text,
    /// Points at which it is checked; empty: all.
    #[serde(default)]
    pub(crate) at: Vec<Text>,
    #[serde(default)]
    pub(crate) hold: Hold,
    /// The source's values by point, for `paper` in the check.
    #[serde(default)]
    pub(crate) paper: BTreeMap<String, Spanned<f64>>,
    /// Why it does not hold.
    pub(crate) reason: Option<Reason>,
    /// That the source itself, or its own simulator, says otherwise.
    pub(crate) proof: Option<Proof>,
    /// Why it does not in the kernel, if for another reason.
    pub(crate) linux: Option<Reason>,
    /// False: fewer runs do not show it.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
}

/// Why a claim does not hold, and for which measured values that is so.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    pub(crate) why: Text,
    /// What was measured: with other values the reason does not count.
    pub(crate) found: Vec<Text>,
    /// The choice that decides: the claim holds with one of its values.
    pub(crate) choice: Option<Text>,
}

/// What shows that a claim contradicts its own source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proof {
    pub(crate) why: Text,
    /// All of them hold, or it is none.
    pub(crate) checks: Vec<Text>,
}

fn yes() -> bool {
    true
}

/// At how many of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hold {
    #[default]
    All,
    /// At more than half of them.
    Most,
    Any,
}

/// A choice that the source leaves open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Instead of as many as the experiment has.
    pub(crate) runs: Option<Spanned<u32>>,
    pub(crate) field: Option<Text>,
    #[serde(default)]
    pub(crate) values: Vec<Text>,
    #[serde(default)]
    pub(crate) points: Vec<Point>,
}
