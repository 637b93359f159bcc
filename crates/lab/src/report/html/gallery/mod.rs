//! Figures of published experiments as pages: one for each, and an index. Every chart is drawn here as SVG, so that the pages
//! need no script to show them.

mod axis;
mod chart;
mod index;
mod page;

pub use index::{Index, render_index};
pub use page::render_figure;

/// A figure or table of a paper, as it was reproduced.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Identifier; its page is `ID.html`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Name of the paper.
    pub paper: String,
    /// The paper in full.
    pub reference: String,
    /// Which figure or table of it.
    pub figure: String,
    /// What was done for it: a word.
    pub kind: String,
    /// True where its claims are about formulae: they are counted apart.
    pub computed: bool,
    /// In a few sentences.
    pub about: String,
    /// What a quick run leaves out.
    pub quick: Option<String>,
    /// What a variant sets otherwise than the experiment has it.
    pub variant: Option<String>,
    /// What was played instead of the original.
    pub substitute: Option<String>,
    /// What the paper leaves open, and what was taken.
    pub taken: Vec<String>,
    /// Its plots.
    pub panels: Vec<Panel>,
    /// Its claims, checked.
    pub claims: Vec<Claim>,
    /// How the claims depend on what the paper leaves open.
    pub choices: Vec<Choice>,
    /// Parameters: a name and a value each.
    pub facts: Vec<(String, String)>,
    /// Commands, each with what it does.
    pub commands: Vec<(String, String)>,
    /// Version of ramp.
    pub version: String,
}

/// A claim, checked.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// Where the paper says so.
    pub place: String,
    /// The paper's value.
    pub source: String,
    /// The measured one.
    pub measured: String,
    /// The formula that was checked.
    pub check: String,
    /// `None`: not checked.
    pub holds: Option<bool>,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// Why the reason that was given does not count.
    pub reason_fails: Option<String>,
    /// That the paper itself says otherwise: then it counts neither way.
    pub contradicted: Option<Contradiction>,
}

impl Claim {
    /// Whether it counts as one that was checked.
    pub(super) fn counts(&self) -> Option<bool> {
        self.holds.filter(|_| self.contradicted.is_none())
    }
}

/// What shows that a paper contradicts a claim of its own.
#[derive(Clone, Debug, Default)]
pub struct Contradiction {
    /// In words.
    pub why: String,
    /// What was checked, each with what was found.
    pub proof: Vec<(String, String)>,
}

/// A choice that the paper leaves open: the claims under each value.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What is chosen.
    pub name: String,
    /// Runs of each row at each point.
    pub runs: usize,
    /// Its values.
    pub values: Vec<String>,
    /// A claim, and what was found under each value.
    pub claims: Vec<(String, Vec<Found>)>,
}

/// Whether a claim holds, and what was measured.
pub type Found = (Option<bool>, String);

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Above it; may be empty.
    pub title: String,
    /// How it is drawn.
    pub shape: Shape,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Names of whole x, instead of numbers.
    pub categories: Vec<String>,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Ends of the horizontal axis, where they are not those of the values.
    pub range: Option<(f64, f64)>,
    /// Lines across: a label, and where it stands upright or at which height it lies.
    pub lines: Vec<(String, Option<f64>, Option<f64>)>,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Lines with dots at their points.
    #[default]
    Lines,
    /// Lines alone.
    Curves,
    /// Steps to the right, then up.
    Steps,
    /// Groups of bars.
    Bars,
    /// Dots.
    Dots,
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// With the unit.
    pub label: String,
    /// True for equal ratios at equal distances.
    pub log: bool,
}

/// A row of a plot.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// In the legend.
    pub label: String,
    /// Colour and dash.
    pub style: usize,
    /// Where it is.
    pub points: Vec<Dot>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dot {
    /// Horizontally.
    pub x: f64,
    /// Vertically.
    pub y: f64,
    /// An interval around y.
    pub interval: Option<(f64, f64)>,
}

#[cfg(test)]
mod tests;
