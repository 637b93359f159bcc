//! `ramp league --goals` and `--ablation`: one algorithm, held to what a start-up should do, and taken apart.

use std::fs;
use std::io::Write;
use std::path::Path;

use rampcc_experiment::write_whole;
use rampcc_league::Extent;
use rampcc_league::goals::{Arms, Bench, Goals, Marked, Sheet, With, ablation, judged, markdown, sheets};

use crate::backends;
use crate::error::{CliError, Result};
use crate::league::LeagueArgs;
use crate::progress::{self, Bar};
use crate::provenance;

/// Run the command.
pub(crate) fn league(args: &LeagueArgs, out: &mut impl Write) -> Result {
    if args.format.csv() {
        return Err(CliError::input_help(
            "--csv: these tables are Markdown",
            "--json; the times of every path are in the results directory",
        ));
    }
    let arms = args.ablation.as_deref().map(Arms::load).transpose()?;
    let held = match &args.goals {
        Some(Some(file)) => Goals::load(file)?,
        _ => Goals::own()?,
    };
    let name = if arms.is_some() { "ablation" } else { "goals" };
    if let Some(path) = &args.into {
        marked(path, name)?;
    }
    let mut entrants = args.entrants()?;
    let row = judged(&entrants)?.clone();
    if let Some(arms) = &arms {
        entrants.extend(arms.rows(&row)?);
    }
    let which = args.populations();
    let extent =
        |which| -> Result<Extent> { Ok(Extent::new(args.population(which)?, args.quick, &[], args.seeds)?) };
    let populations: Result<Vec<Extent>, _> = match &arms {
        None => which.iter().map(extent).collect(),
        Some(_) => extent(&args.which()).map(|one| vec![one]),
    };
    let command = provenance::command();
    let bench = Bench {
        entrants,
        backend: backends::ALL[0],
        out: args.out(),
        reuse: args.playing.reuse(),
        quick: args.quick,
        command: command.clone(),
    };
    let with = With { pairs: arms.is_none(), traffic: arms.is_none() };
    let played = bench
        .play(populations?, with, &Bar::default(), &progress::interruption_soon())
        .map_err(progress::kept)?;
    let sheets: Vec<Sheet> = match &arms {
        None => sheets(&played, &row, &held).to_vec(),
        Some(arms) => vec![ablation(&played, arms, &row)?],
    };
    if let Some(path) = &args.into {
        // Again: another process may have written there while it played.
        let page = marked(path, name)?.page(&sheets, &command);
        write_whole(path, |file| file.write_all(page.as_bytes()))?;
        say!("written: {}", path.display());
    }
    if args.format.json() {
        serde_json::to_writer_pretty(&mut *out, &sheets).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let tables: Vec<String> = sheets.iter().map(markdown).collect();
    Ok(write!(out, "{}", tables.join("\n"))?)
}

/// The place of the tables.
fn marked(path: &Path, name: &str) -> Result<Marked> {
    let text = fs::read_to_string(path)
        .map_err(|cause| CliError::input(format!("--into {} cannot be read: {cause}", path.display())))?;
    Marked::find(&text, name).ok_or_else(|| {
        CliError::input_help(
            format!("--into {}: it has no place for this table", path.display()),
            format!("a line `<!-- {name}: … -->`, and `<!-- end -->` on a line of its own below"),
        )
    })
}
