//! A sweep with its rows gathered: the headline, and what the chart draws.

use serde::Serialize;

use super::axis::numbers;
use super::{Overview, SweptPoint};
use crate::comparison::Finding;
use crate::metric::{self, Definition};
use crate::report::html::data::styles;
use crate::report::html::number::{interval_of, kind, round};
use crate::report::html::summary::capital;
use crate::{ArmSummary, Comparison, MetricInfo};

/// What the chart can show besides the metric that decides.
const METRICS: [Definition; 8] = [
    metric::GOODPUT,
    metric::EXIT_TIME,
    metric::EXIT_WINDOW_BDP,
    metric::STARTUP_LOST_PACKETS,
    metric::STARTUP_UTILISATION,
    metric::QUEUE_PEAK,
    metric::RETRANSMISSIONS,
    metric::UNFINISHED,
];

/// A sweep with its rows gathered.
pub(super) struct Swept<'a> {
    pub(super) overview: &'a Overview<'a>,
    /// Rows of all comparisons, each as it is where it first appears, in that order; yardsticks last.
    pub(super) arms: Vec<&'a ArmSummary>,
    /// What decides.
    pub(super) info: Option<&'a MetricInfo>,
    /// Index of the field on the horizontal axis: the one with the most values.
    along: usize,
}

#[derive(Serialize)]
pub(super) struct Data {
    arms: Vec<Arm>,
    overview: Lines,
}

#[derive(Serialize)]
struct Arm {
    label: String,
    yardstick: bool,
    style: usize,
}

#[derive(Serialize)]
struct Lines {
    axis: String,
    /// Whether the values are numbers of one kind, so that their distances mean something.
    numeric: bool,
    metrics: Vec<Metric>,
    /// One for each combination of the other fields.
    facets: Vec<Facet>,
}

#[derive(Serialize)]
struct Metric {
    title: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Facet {
    title: String,
    points: Vec<Point>,
    /// By metric, arm and point: mean, the ends of its interval, and a 1 where the mean is at least that.
    values: Vec<Vec<Vec<Option<Vec<f64>>>>>,
}

#[derive(Serialize)]
struct Point {
    x: f64,
    text: String,
}

impl<'a> Swept<'a> {
    pub(super) fn new(overview: &'a Overview<'a>) -> Self {
        let mut arms: Vec<&ArmSummary> = Vec::new();
        for arm in overview.points.iter().flat_map(|point| &point.comparison.arms) {
            if arms.iter().all(|known| known.label != arm.label) {
                arms.push(arm);
            }
        }
        arms.sort_by_key(|arm| arm.yardstick);
        let info = overview.points.iter().find_map(|point| point.comparison.primary_info());
        let values = |field: usize| {
            let mut seen: Vec<&str> =
                overview.points.iter().filter_map(|p| p.values.get(field)).map(String::as_str).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        // The first of several that have equally many.
        let along = (0..overview.fields.len()).rev().max_by_key(|&field| values(field)).unwrap_or(0);
        Self { overview, arms, info, along }
    }

    pub(super) fn fields(&self) -> String {
        self.overview.fields.join(" and ")
    }

    fn value(&self, point: &'a SweptPoint<'a>) -> &'a str {
        point.values.get(self.along).map_or("", String::as_str)
    }

    /// Who is ahead where; the leader depends on the values only where no row could lead at all of them.
    pub(super) fn sentence(&self) -> String {
        let decided: Vec<(&SweptPoint<'_>, &str)> = (self.overview.points.iter())
            .filter_map(|point| Some((point, point.comparison.leader.as_deref()?)))
            .collect();
        if decided.is_empty() {
            return "No value has a leader.".to_owned();
        }
        let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
        for (point, best) in &decided {
            let place = point.values.join(", ");
            match ahead.iter_mut().find(|(label, _)| label == best) {
                Some((_, places)) => places.push(place),
                None => ahead.push((best, vec![place])),
            }
        }
        ahead.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        let name = self.info.map_or("the deciding metric", |info| info.name.as_str());
        let first = decided[0].0.comparison;
        let apart = format!("less than {} apart", crate::format::share(first.margin));
        let (all, fields) = (self.overview.points.len(), self.fields());
        let everywhere = |close: fn(Finding) -> bool| -> Vec<&str> {
            let labels = self.arms.iter().filter(|arm| !arm.yardstick).map(|arm| arm.label.as_str());
            let holds =
                |label: &&str| decided.iter().all(|(point, best)| near(point.comparison, label, best, close));
            labels.filter(holds).collect()
        };
        let contenders = self.arms.iter().filter(|arm| !arm.yardstick).count();
        let equal = everywhere(|finding| finding == Finding::Equivalent);
        let unclear = everywhere(|finding| matches!(finding, Finding::Equivalent | Finding::CannotTell));
        let at = if decided.len() == all {
            format!("{} values of {fields}", all_of(all))
        } else {
            format!("{} of {all} values of {fields}", decided.len())
        };
        let who = || {
            let part = |(label, places): &(&str, Vec<String>)| {
                format!("{label} at {} of {all} ({})", places.len(), places.join("; "))
            };
            ahead.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        let mut text = if contenders > 1 && equal.len() == contenders {
            format!("In {name}, {} algorithms are {apart} at {at}.", all_of(contenders))
        } else if let [(label, _)] = ahead.as_slice() {
            let beside = |labels: &[&str]| {
                let others: Vec<&str> = labels.iter().copied().filter(|other| other != label).collect();
                (!others.is_empty()).then(|| crate::format::list(&others))
            };
            let close = match (beside(&equal), beside(&unclear)) {
                (Some(others), _) => {
                    format!(", less than {} ahead of {others}", crate::format::share(first.margin))
                }
                (None, Some(others)) => format!(", and the runs cannot tell it from {others}"),
                (None, None) => String::new(),
            };
            format!("{label} leads in {name} at {at}{close}.")
        } else if let Some(label) = equal.first() {
            format!("In {name}, {label} and the leader are {apart} at {at}. Nominally leads {}.", who())
        } else if let Some(label) = unclear.first() {
            format!(
                "In {name}, the runs do not show that who leads depends on {fields}: {label} may lead at {at}. Nominally leads {}.",
                who()
            )
        } else {
            format!("In {name}, who leads depends on {fields}: {}.", who())
        };
        if decided.len() < all {
            text.push_str(&format!(" At {} none finished.", all - decided.len()));
        }
        text
    }

    /// Whether some mean is at least what it is given as.
    pub(super) fn cut_off(&self) -> bool {
        let arms = || self.overview.points.iter().flat_map(|point| &point.comparison.arms);
        arms().any(|arm| arm.metrics.values().any(|summary| summary.unfinished() > 0))
    }

    /// Points that share the values of all other fields, in the order of the sweep.
    pub(super) fn facets(&self) -> Vec<(String, Vec<&'a SweptPoint<'a>>)> {
        let mut facets: Vec<(String, Vec<&SweptPoint<'_>>)> = Vec::new();
        for point in &self.overview.points {
            let others: Vec<String> = (self.overview.fields.iter().zip(&point.values).enumerate())
                .filter(|(field, _)| *field != self.along)
                .map(|(_, (field, value))| format!("{field} {value}"))
                .collect();
            let title = others.join(", ");
            match facets.iter_mut().find(|(known, _)| *known == title) {
                Some((_, points)) => points.push(point),
                None => facets.push((title, vec![point])),
            }
        }
        facets
    }

    pub(super) fn metrics(&self) -> Vec<&'a MetricInfo> {
        let find = |id: &str| {
            let all = self.overview.points.iter().flat_map(|point| &point.comparison.metrics);
            all.into_iter().find(|info| info.id == id)
        };
        let rest =
            METRICS.iter().map(|metric| metric.id).filter(|id| self.info.is_none_or(|info| info.id != *id));
        self.info.into_iter().chain(rest.filter_map(find)).collect()
    }

    pub(super) fn data(&self) -> Data {
        let owned: Vec<ArmSummary> = self.arms.iter().map(|arm| (*arm).clone()).collect();
        let arms = self.arms.iter().zip(styles(&owned)).map(|(arm, style)| Arm {
            label: arm.label.clone(),
            yardstick: arm.yardstick,
            style,
        });
        let texts: Vec<&str> = self.overview.points.iter().map(|point| self.value(point)).collect();
        let numbers = numbers(&texts);
        let metrics = self.metrics();
        let facet = |(title, points): (String, Vec<&'a SweptPoint<'a>>)| {
            let point = |point: &&SweptPoint<'_>| {
                let text = self.value(point);
                let place = texts.iter().position(|known| *known == text).unwrap_or(0);
                let x = numbers.as_ref().map_or(place as f64, |numbers| numbers[place]);
                Point { x, text: text.to_owned() }
            };
            let mut points = points;
            if numbers.is_some() {
                points.sort_by(|a, b| point(a).x.total_cmp(&point(b).x));
            }
            let of = |info: &MetricInfo| {
                let (_, factor) = kind(&info.unit);
                let arm = |arm: &&ArmSummary| {
                    let at = |point: &&SweptPoint<'_>| {
                        let summary = point.comparison.arm(&arm.label)?.metric(&info.id)?;
                        let ends =
                            interval_of(summary).map_or((summary.mean, summary.mean), |i| (i.low, i.high));
                        let mut value = [summary.mean, ends.0, ends.1].map(|v| round(v * factor)).to_vec();
                        value.extend((summary.unfinished() > 0).then_some(1.0));
                        Some(value)
                    };
                    points.iter().map(at).collect()
                };
                self.arms.iter().map(arm).collect()
            };
            Facet {
                title,
                values: metrics.iter().map(|info| of(info)).collect(),
                points: points.iter().map(point).collect(),
            }
        };
        Data {
            arms: arms.collect(),
            overview: Lines {
                axis: self.overview.fields.get(self.along).cloned().unwrap_or_default(),
                numeric: numbers.is_some(),
                metrics: metrics
                    .iter()
                    .map(|info| Metric { title: capital(&info.name), kind: kind(&info.unit).0 })
                    .collect(),
                facets: self.facets().into_iter().map(facet).collect(),
            },
        }
    }
}

fn all_of(count: usize) -> String {
    if count == 2 { "both".to_owned() } else { format!("all {count}") }
}

/// Whether a row leads, or stands to the leader as `close` says.
fn near(comparison: &Comparison, label: &str, leader: &str, close: fn(Finding) -> bool) -> bool {
    label == leader
        || comparison.pair(&comparison.primary, label, leader).is_some_and(|pair| close(pair.finding))
}
