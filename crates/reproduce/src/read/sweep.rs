//! Swept fields, choices, and the x of formulae.

use std::collections::BTreeSet;

use rampcc_scenario::Setting;
use toml::Spanned;

use super::{POINTS_MAX, shared_settings};
use crate::error::{Result, Source};
use crate::experiment::{Dimension, Point, Set};
use crate::file;
use crate::paper::Paper;

pub(super) fn dimension(source: &Source<'_>, sweep: &file::Sweep, of: &Paper) -> Result<Dimension> {
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
                set: vec![Set { setting, place: Some(value.span()) }],
            });
        }
    }
    for point in &sweep.points {
        let label = point.label.get_ref();
        points.push(Point {
            label: label.clone(),
            x: point.x.or_else(|| leading_number(label)).unwrap_or(points.len() as f64),
            set: shared_settings(source, &point.set, of)?,
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

pub(super) fn axis(source: &Source<'_>, x: &Spanned<file::Axis>) -> Result<Dimension> {
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

pub(super) fn product(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
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
