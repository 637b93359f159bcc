//! A comparison for programs.

use serde::Serialize;

use crate::carries::Carries;
use crate::comparison::{Comparison, Finding, Representative};
use crate::metric::Better;
use crate::summary::{IntervalMethod, Test};
use crate::words::Words;

/// Number of the form of files for programs. It grows when something is removed, renamed or means something else; what is added
/// leaves it as it is.
pub const FORMAT: u32 = 1;

/// Columns of [`csv()`]: name and meaning, in Markdown. Without a value a cell is empty.
pub const CSV_COLUMNS: [(&str, &str); 24] = [
    ("algorithm", "label of the row"),
    ("yardstick", "whether it knows the path"),
    ("metric", "identifier, as `ramp list metrics` has it"),
    ("unit", "unit of the values"),
    ("better", "`lower`, `higher` or `neither`"),
    ("runs", "finished runs of the row"),
    ("n", "runs with a value"),
    ("unfinished", "values that the end of a run cut off: they count as at least so much"),
    ("mean", "mean"),
    ("median", "median"),
    ("sd", "standard deviation (n - 1)"),
    ("low_95", "lower end of the 95 % interval of the mean"),
    ("high_95", "upper end of it"),
    ("interval", "its method: `t`, `bca`, or `range`, which is the smallest and largest value"),
    ("bimodal_p", "Hartigan's dip test; empty: one mode"),
    ("leader", "label of the leader"),
    ("difference_from_leader", "mean paired difference from the leader, in the unit"),
    ("ratio_to_leader", "geometric mean of the paired ratios to the leader"),
    ("test", "what decided: `t`, `signed_rank`, `sign`, or `certain` where nothing is left to chance"),
    ("p_holm", "probability of such a difference by chance, corrected by Holm"),
    ("p_equivalence", "probability of such closeness if the true difference were the margin"),
    ("finding", "`lower`, `higher`, `equivalent` or `cannot_tell`, against the leader"),
    ("runs_needed", "about how many runs would decide"),
    (
        "carries",
        "share of the neighbouring paths with a result on which the row is within the margin of the leader there",
    ),
];

/// Columns of [`runs_csv`]; a run without a value has no line.
pub const RUNS_COLUMNS: [(&str, &str); 5] = [
    ("algorithm", "label of the row"),
    ("seed", "seed of the run"),
    ("metric", "identifier"),
    ("unit", "unit of the value"),
    ("value", "value"),
];

/// A document for programs, which begins with the number of its form.
#[derive(Serialize)]
pub(super) struct Numbered<T> {
    format: u32,
    #[serde(flatten)]
    document: T,
}

impl<T> Numbered<T> {
    pub(super) fn new(document: T) -> Self {
        Self { format: FORMAT, document }
    }
}

/// One row per algorithm and metric, after the provenance as comments.
pub fn csv(comparison: &Comparison) -> String {
    let mut table = Table::new(&CSV_COLUMNS.map(|(name, _)| name));
    for arm in &comparison.arms {
        for info in &comparison.metrics {
            let Some(summary) = arm.metric(&info.id) else { continue };
            let pair =
                comparison.leader.as_deref().and_then(|leader| comparison.pair(&info.id, &arm.label, leader));
            let interval = summary.interval;
            table.row(&[
                arm.label.clone(),
                arm.yardstick.to_string(),
                info.id.clone(),
                info.unit.clone(),
                better(info.better).to_owned(),
                arm.n.to_string(),
                summary.n.to_string(),
                summary.unfinished().to_string(),
                summary.mean.to_string(),
                summary.median.to_string(),
                some(summary.sd),
                some(interval.map(|i| i.low)),
                some(interval.map(|i| i.high)),
                interval.map_or("", |i| method(i.method)).to_owned(),
                some(summary.modes.map(|modes| modes.p)),
                comparison.leader.clone().unwrap_or_default(),
                some(pair.map(|pair| pair.difference)),
                some(pair.and_then(|pair| pair.ratio)),
                pair.map_or("", |pair| test(pair.test)).to_owned(),
                some(pair.and_then(|pair| pair.p)),
                some(pair.and_then(|pair| pair.p_equivalence)),
                pair.map_or("", |pair| finding(pair.finding)).to_owned(),
                pair.and_then(|pair| pair.runs_needed).map_or_else(String::new, |runs| runs.to_string()),
                some(arm.carries),
            ]);
        }
    }
    comparison.provenance.comment() + &numbered() + &table.text
}

/// One row per algorithm, seed and metric, after the provenance as comments.
pub fn runs_csv(comparison: &Comparison) -> String {
    let mut table = Table::new(&RUNS_COLUMNS.map(|(name, _)| name));
    for arm in &comparison.arms {
        for info in &comparison.metrics {
            let Some(summary) = arm.metric(&info.id) else { continue };
            for (seed, value) in comparison.seeds.iter().zip(&summary.values) {
                let Some(value) = value else { continue };
                table.row(&[
                    arm.label.clone(),
                    seed.to_string(),
                    info.id.clone(),
                    info.unit.clone(),
                    value.to_string(),
                ]);
            }
        }
    }
    comparison.provenance.comment() + &numbered() + &table.text
}

/// The number of the form, as a comment.
pub(super) fn numbered() -> String {
    format!("# format: {FORMAT}\n")
}

/// The whole comparison but its curves, and what it says, after the number of the form.
pub fn json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&Numbered::new(Written::new(comparison)))? + "\n")
}

/// A comparison as JSON.
#[derive(Serialize)]
pub struct Written {
    /// The numbers.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// What they say.
    #[serde(flatten)]
    pub words: Words,
    /// Reach of this result, where neighbouring paths were played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carries: Option<WrittenCarries>,
}

/// How far an answer carries as JSON.
#[derive(Serialize)]
pub struct WrittenCarries {
    /// The numbers.
    #[serde(flatten)]
    pub carries: Carries,
    /// All this in one sentence.
    pub sentence: String,
}

impl Written {
    fn new(comparison: &Comparison) -> Self {
        let words = Words::of(comparison);
        let mut comparison = without_curves(comparison);
        let sentence = words.reach.clone().unwrap_or_default();
        let carries = comparison.carries.take().map(|carries| WrittenCarries { carries, sentence });
        Self { comparison, words, carries }
    }
}

/// What [`json`] writes, as a part of a larger document.
pub fn json_value(comparison: &Comparison) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(Written::new(comparison))
}

fn without_curves(comparison: &Comparison) -> Comparison {
    let mut comparison = comparison.clone();
    for arm in &mut comparison.arms {
        arm.representative.iter_mut().chain(&mut arm.drawn).for_each(Representative::without_curves);
    }
    comparison
}

pub(super) struct Table {
    pub(super) text: String,
}

impl Table {
    pub(super) fn new(names: &[&str]) -> Self {
        Self { text: names.join(",") + "\n" }
    }

    pub(super) fn row(&mut self, cells: &[String]) {
        self.text.push_str(&csv_line(cells));
        self.text.push('\n');
    }
}

/// A line of CSV (RFC 4180), without its end.
pub fn csv_line(cells: &[impl AsRef<str>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells.iter().map(AsRef::as_ref)).expect("one line, in memory");
    let mut bytes = writer.into_inner().expect("memory takes everything");
    bytes.pop(); // its end
    String::from_utf8(bytes).expect("cells are text")
}

pub(super) fn some(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Neither => "neither",
    }
}

fn method(method: IntervalMethod) -> &'static str {
    match method {
        IntervalMethod::T => "t",
        IntervalMethod::Bca => "bca",
        IntervalMethod::Range => "range",
    }
}

fn test(test: Test) -> &'static str {
    match test {
        Test::T => "t",
        Test::SignedRank => "signed_rank",
        Test::Sign => "sign",
        Test::Certain => "certain",
    }
}

pub(super) fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Lower => "lower",
        Finding::Higher => "higher",
        Finding::Equivalent => "equivalent",
        Finding::CannotTell => "cannot_tell",
    }
}
