//! Writes the HTML report of the made-up comparison: `cargo run -p rampcc-lab --example sample_report -- OUT.html`.
//!
//! With a second path it writes there the same report with hostile text wherever text may come from outside, with a third one
//! the overview of a made-up sweep, with a fourth one a report of many rows with long names.

use std::{env, fs, io};

use fixture::sample_carries;
use rampcc_lab::Comparison;
use rampcc_lab::report::html::{self, Overview, SweptPoint};

#[path = "../tests/support/fixture.rs"]
mod fixture;

fn main() -> io::Result<()> {
    let mut paths = env::args().skip(1);
    let path = paths.next().unwrap_or_else(|| "report.html".to_owned());
    let comparison = sample_carries();
    fs::write(path, html::render(&comparison))?;
    if let Some(path) = paths.next() {
        fs::write(path, html::render(&hostile(comparison.clone())))?;
    }
    if let Some(path) = paths.next() {
        fs::write(path, overview(&comparison))?;
    }
    if let Some(path) = paths.next() {
        fs::write(path, html::render(&crowded(comparison)))?;
    }
    Ok(())
}

/// Each row three times, under names as long as a sweep of two parameters makes them.
fn crowded(mut comparison: Comparison) -> Comparison {
    let copies = comparison.arms.clone();
    for (copy, growth) in [(1_u32, 1.01), (2, 1.02)] {
        for mut arm in copies.iter().filter(|arm| !arm.yardstick).cloned() {
            arm.label = format!("{} low_window={copy} ack_train_span=1234 min_samples=8", arm.label);
            for summary in arm.metrics.values_mut() {
                summary.mean *= growth;
            }
            comparison.arms.push(arm);
        }
    }
    comparison
}

/// Buffers that tell the rows apart by turns.
fn overview(comparison: &Comparison) -> String {
    let buffers = [("0.25 bdp", 1.6), ("0.5 bdp", 1.2), ("1 bdp", 1.0), ("4 bdp", 0.7)];
    let comparisons: Vec<Comparison> = buffers
        .iter()
        .map(|(_, factor)| {
            let mut comparison = comparison.clone();
            for arm in comparison.arms.iter_mut().filter(|arm| arm.label.starts_with("slow")) {
                if let Some(time) = arm.metrics.get_mut("download_time") {
                    time.mean *= factor;
                    time.interval = None;
                }
            }
            // Where the buffer is smallest, one row does not finish.
            let slowest = comparison.arms.iter_mut().find(|arm| arm.label == "limited" && *factor > 1.5);
            if let Some(time) = slowest.and_then(|arm| arm.metrics.get_mut("download_time")) {
                time.at_least = vec![Some(60.0); time.values.len()];
                time.values.fill(None);
                (time.n, time.mean, time.median, time.interval) = (0, 60.0, 60.0, None);
            }
            comparison
        })
        .collect();
    let points = buffers.iter().zip(&comparisons).map(|((value, _), comparison)| SweptPoint {
        values: vec![(*value).to_owned()],
        report: Some(format!("path.buffer-{}/report.html", value.replace(' ', "-"))),
        comparison,
    });
    html::render_overview(&Overview { fields: vec!["path.buffer".to_owned()], points: points.collect() })
}

fn hostile(mut comparison: Comparison) -> Comparison {
    const ATTACK: &str =
        "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>\"'&<!--";
    let from = &mut comparison.provenance;
    for text in [&mut from.scenario, &mut from.scenario_text, &mut from.command] {
        text.push_str(ATTACK);
    }
    if let Some(carries) = &mut comparison.carries {
        for field in &mut carries.neighbourhood.fields {
            for text in [&mut field.field, &mut field.values, &mut field.unit, &mut field.reason] {
                text.push_str(ATTACK);
            }
        }
        carries.neighbourhood.paths.iter_mut().for_each(|path| path.values[0].push_str(ATTACK));
        if let Some(loss) = &mut carries.nearest_loss {
            loss.winner.push_str(ATTACK);
            loss.scenario.as_mut().into_iter().for_each(|text| text.push_str(ATTACK));
        }
    }
    comparison.arms.iter_mut().for_each(|arm| arm.label.push_str(ATTACK));
    // The words are made of the labels.
    let said = [&mut comparison.leader, &mut comparison.baseline, &mut comparison.yardstick];
    let pairs = comparison.pairs.iter_mut().flat_map(|pair| [&mut pair.arm, &mut pair.against]);
    said.into_iter().flatten().chain(pairs).for_each(|label| label.push_str(ATTACK));
    comparison
}
