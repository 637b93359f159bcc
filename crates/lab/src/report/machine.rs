//! A comparison for programs.

use crate::comparison::{Better, Comparison, Finding, IntervalMethod, Representative, Test};

/// One row per algorithm and metric, after the provenance as comments.
pub fn csv(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        "algorithm",
        "yardstick",
        "metric",
        "unit",
        "better",
        "runs",
        "n",
        "unfinished",
        "mean",
        "median",
        "sd",
        "low_95",
        "high_95",
        "interval",
        "bimodal_p",
        "leader",
        "difference_from_leader",
        "ratio_to_leader",
        "test",
        "p_holm",
        "p_equivalence",
        "finding",
        "runs_needed",
        "carries",
    ]);
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
    comparison.provenance.comment() + &table.text
}

/// One row per algorithm, seed and metric, after the provenance as comments.
pub fn runs_csv(comparison: &Comparison) -> String {
    let mut table = Table::new(&["algorithm", "seed", "metric", "unit", "value"]);
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
    comparison.provenance.comment() + &table.text
}

/// The whole comparison but its curves, provenance first.
pub fn json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&without_curves(comparison))? + "\n")
}

/// What [`json`] writes, as a part of a larger document.
pub fn json_value(comparison: &Comparison) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(without_curves(comparison))
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
        let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
        self.text.push_str(&quoted.join(","));
        self.text.push('\n');
    }
}

/// RFC 4180.
fn quote(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
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
