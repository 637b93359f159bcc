//! Writes the HTML report of the made-up comparison: `cargo run -p ramp-lab --example sample_report -- OUT.html`.
//!
//! With a second path it writes there the same report with hostile text wherever text may come from outside.

use std::{env, fs, io};

use ramp_lab::Comparison;
use ramp_lab::fixture::sample_comparison;
use ramp_lab::report::html;

fn main() -> io::Result<()> {
    let mut paths = env::args().skip(1);
    let path = paths.next().unwrap_or_else(|| "report.html".to_owned());
    let comparison = sample_comparison();
    fs::write(path, html::render(&comparison))?;
    if let Some(path) = paths.next() {
        fs::write(path, html::render(&hostile(comparison)))?;
    }
    Ok(())
}

fn hostile(mut comparison: Comparison) -> Comparison {
    const ATTACK: &str =
        "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>\"'&<!--";
    let from = &mut comparison.provenance;
    for text in [&mut from.scenario, &mut from.scenario_text, &mut from.command, &mut comparison.verdict] {
        text.push_str(ATTACK);
    }
    comparison.notes.push(ATTACK.to_owned());
    if let Some(arm) = comparison.arms.first_mut() {
        arm.label.push_str(ATTACK);
        if let Some(run) = &mut arm.representative {
            run.explanation.push_str(ATTACK);
        }
    }
    comparison
}
