//! `ramp reproduce`: published experiments, played and checked.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::CompletionCandidate;
use clap_complete::engine::ArgValueCompleter;
use rampcc::figures::counted;
use rampcc_backend::Backend;
use rampcc_experiment::{Playing, Store};
use rampcc_reproduce::{
    Done, Experiment, Extent, Judged, Paper, ReproduceError, Tally, Variant, Verdict, Work, chosen, ids,
    paper_ids, tally, verdicts, write_gallery,
};

use crate::backends::{self, On};
use crate::error::{CliError, Result};
use crate::playing::PlayingArgs;
use crate::progress::{self, Bar};
use crate::provenance;
use crate::table::table;
use crate::terminal::{Terminal, broken};

/// Play the experiments of published papers
///
/// Plays figures and tables, checks what the papers claim of them, and writes a page for each. ramp keeps finished runs:
/// a second call plays only the missing ones, and Ctrl-C loses nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp reproduce hystart-fig18b                   one figure
  ramp reproduce --paper past                     those of a paper
  ramp reproduce --all                            everything
  ramp reproduce --all --quick                    everything, with fewer runs and points
  ramp reproduce --list                           what there is
  ramp reproduce hystart-fig9c --show             its file: set-up, claims, reasons
  ramp reproduce hystart-fig9c --set receiver.quick-acks=4
                                                  the same with another value
  ramp reproduce my-figure.toml                   an experiment of your own (docs/guide/reproduce.md)
  ramp reproduce my-paper/                        all experiments of a folder of your own

Exit codes: 0 done, 1 a run failed or, in the simulator, a claim does not hold without a stated reason, 2 the input is wrong,
130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "they are options of a command line")]
pub(crate) struct ReproduceArgs {
    /// Experiments, by identifier, or files, or folders of files
    #[arg(value_name = "ID", add = ArgValueCompleter::new(known))]
    ids: Vec<String>,
    /// All experiments of a paper
    #[arg(long, value_name = "PAPER", value_parser = PossibleValuesParser::new(paper_ids()))]
    paper: Vec<String>,
    /// All experiments
    #[arg(long)]
    all: bool,
    /// Fewer runs and points; what they cannot show is not checked
    #[arg(long)]
    quick: bool,
    /// List experiments and play nothing
    #[arg(long)]
    list: bool,
    /// Print the file of one experiment and play nothing
    #[arg(long, conflicts_with_all = ["list", "all", "paper", "quick", "json", "set", "choice"])]
    show: bool,
    /// Another value for a field of the scenario: FIELD=VALUE, as for `ramp compare`
    ///
    /// It wins over the file, its arms and its swept values. Pages of such a variant go to a directory of their own.
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// A value of what the paper leaves open: NAME=VALUE, from a `[[choice]]` of the experiment
    #[arg(long, value_name = "NAME=VALUE")]
    choice: Vec<String>,
    /// Runs of each row, instead of as many as the file has
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// What plays it
    ///
    /// `linux` is this kernel's own TCP over an emulated path, in real time (docs/guide/linux.md). It plays the experiments
    /// whose files say that it can.
    #[arg(long, value_parser = backends::by_name(), value_name = "BACKEND", default_value = "sim")]
    on: On,
    /// Directory for runs and pages
    #[arg(long, short, value_name = "DIR", default_value = "ramp-results/reproduce")]
    out: PathBuf,
    /// Print verdicts as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    playing: PlayingArgs,
}

/// Identifiers for the shell to complete.
fn known(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_str().unwrap_or_default();
    ids().filter(|id| id.starts_with(current)).map(CompletionCandidate::new).collect()
}

impl ReproduceArgs {
    /// What it plays on.
    pub(crate) fn backend(&self) -> &'static dyn Backend {
        self.on.0
    }

    /// Fails where it does not say what to play.
    pub(crate) fn asks_for(&self) -> Result {
        self.experiments().map(|_| ())
    }

    fn extent<'v>(&self, variant: &'v Variant) -> Extent<'v> {
        let variant = (!variant.is_plain()).then_some(variant);
        Extent { quick: self.quick, backend: self.backend(), variant }
    }

    fn variant(&self) -> Result<Variant> {
        Ok(Variant::parse(&self.set, &self.choice, self.runs)?)
    }

    fn simulates(&self) -> bool {
        self.backend().name() == backends::ALL[0].name()
    }

    /// Those of which a variant can be played; naming another one is an error.
    fn varied(&self, mut experiments: Vec<Experiment>) -> Result<Vec<Experiment>> {
        let by_name: BTreeSet<String> =
            rampcc_reproduce::chosen(&self.ids, &[])?.into_iter().map(|one| one.id).collect();
        if let Some(one) = experiments.iter().find(|one| !one.is_played() && by_name.contains(&one.id)) {
            return Err(CliError::input_help(
                format!("nothing of `{}` is played, so that nothing can be set for it", one.id),
                "`ramp reproduce --list` says which experiments are played",
            ));
        }
        experiments.retain(Experiment::is_played);
        Ok(experiments)
    }

    fn experiments(&self) -> Result<Vec<Experiment>> {
        let everything = self.all || (self.list && self.ids.is_empty() && self.paper.is_empty());
        let papers = if everything { paper_ids().map(str::to_owned).collect() } else { self.paper.clone() };
        let mut chosen = chosen(&self.ids, &papers)?;
        if chosen.is_empty() {
            return Err(CliError::input_help(
                "nothing to reproduce is named",
                "name experiments (`ramp reproduce --list`), a paper (`--paper past`) or `--all`",
            ));
        }
        if self.simulates() {
            return Ok(chosen);
        }
        // Those of a paper say that they can be played there, or are left out.
        let by_name: BTreeSet<String> =
            rampcc_reproduce::chosen(&self.ids, &[])?.into_iter().map(|one| one.id).collect();
        for experiment in chosen.iter().filter(|one| !one.on_linux() && by_name.contains(&one.id)) {
            if !experiment.is_played() {
                return Err(CliError::input_help(
                    format!("nothing of `{}` is played", experiment.id),
                    "`ramp reproduce --list` says which experiments are played, and on what",
                ));
            }
            // If it was named, what the backend cannot do of it is an error, or it is played as it stands.
            Work::plan([experiment], self.extent(&Variant::default()))?;
        }
        chosen.retain(|one| one.on_linux() || by_name.contains(&one.id));
        Ok(chosen)
    }
}

/// Run the command.
pub(crate) fn reproduce(args: &ReproduceArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let experiments = args.experiments()?;
    if args.list {
        return list(&experiments, terminal, out);
    }
    if args.show {
        return show(&experiments, out);
    }
    let variant = args.variant()?;
    let experiments = if variant.is_plain() { experiments } else { args.varied(experiments)? };
    let extent = args.extent(&variant);
    let work = Work::plan(&experiments, extent)?;
    if args.all && !args.json {
        let megabytes = (work.bytes() / 1_000_000).max(1);
        say!(
            "{} to find or play, about {megabytes} MB in {}",
            counted(work.runs(), "run"),
            args.out.display()
        );
    }
    args.playing.spread();
    let interrupted = progress::interruption_of([args.backend()]);
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64();
    let store = Store::create_compressed(&args.out)?;
    let command = provenance::command();
    let progress = Bar::default();
    let playing = Playing {
        reuse: args.playing.reuse(),
        command: &command,
        seconds: Some(&clock),
        ..Playing::new(&store, extent.backend, &progress, &interrupted)
    };
    let done = work.play(&playing).map_err(|error| match error {
        ReproduceError::Experiment(error) => progress::kept(error),
        error => error.into(),
    })?;
    let index = write_gallery(&extent.pages(&args.out), &done.experiments, &provenance::command())?;
    progress::say_found(done.reused, done.reused + done.fresh);
    if args.json {
        writeln!(out, "{}", verdicts(&done.experiments)?)?;
    } else {
        print(&done, terminal, out)?;
        writeln!(out, "pages: {}", index.display())?;
    }
    progress::ended(done.refused, out)?;
    let unexplained = |one: &&Judged| one.claims.iter().any(Verdict::unexplained);
    let failed: Vec<String> = done.experiments.iter().filter(unexplained).map(|one| one.id.clone()).collect();
    if failed.is_empty() || !variant.is_plain() {
        return Ok(());
    }
    out.flush()?;
    if !args.simulates() {
        // Files state what the simulator found. In real time no two runs are the same, and the verdicts are the result.
        say!("without a reason that counts in the kernel: {}", failed.join(", "));
        return Ok(());
    }
    Err(CliError::Unexplained { experiments: failed })
}

/// In words.
fn claims_held(tally: Tally) -> String {
    let Tally { held, checked, computed_held, computed, contradicted } = tally;
    let formulae = if computed > 0 {
        format!("; {computed_held} of {computed} about formulae, which no run decides")
    } else {
        String::new()
    };
    let apart = if contradicted > 0 {
        format!("; {contradicted} more that their own paper contradicts (≠)")
    } else {
        String::new()
    };
    format!("{held} of {checked} checked claims hold{formulae}{apart}")
}

fn show(experiments: &[Experiment], out: &mut impl Write) -> Result {
    let [one] = experiments else {
        let named = format!("`--show` prints one file, and {} experiments are named", experiments.len());
        return Err(CliError::input_help(named, "name one experiment (`ramp reproduce --list`)"));
    };
    write!(out, "{}", one.text())?;
    for (name, settings) in one.shared() {
        writeln!(out, "# @{name}, of its paper.toml: {}", settings.join(", "))?;
    }
    Ok(())
}

fn list(experiments: &[Experiment], terminal: Terminal, out: &mut impl Write) -> Result {
    let header = ["experiment", "kind", "figure", "on", "shows"].map(str::to_owned);
    let row = |one: &Experiment| {
        let on = match (one.is_played(), one.on_linux()) {
            (false, _) => "–",
            (true, false) => "sim",
            (true, true) => "sim, linux",
        };
        vec![one.id.clone(), one.kind.word().to_owned(), one.figure.clone(), on.to_owned(), one.title.clone()]
    };
    let rows: Vec<Vec<String>> = experiments.iter().map(row).collect();
    writeln!(out, "{}", table(&header, &rows, terminal.width))?;
    Ok(())
}

fn print(done: &Done, terminal: Terminal, out: &mut impl Write) -> Result {
    let width = terminal.width;
    let wrapped = |text: &str, indent: &str| {
        let options = broken(width).initial_indent(indent).subsequent_indent("      ");
        textwrap::fill(text, options)
    };
    for one in &done.experiments {
        let runs = counted(one.runs, "run");
        let took = if one.runs > 0 { format!(" ({runs}, {:.1} s)", one.took_s) } else { String::new() };
        writeln!(out, "{} {}{}", terminal.bold(&one.id), one.title, terminal.faint(&took))?;
        for claim in &one.claims {
            let mark = match claim.holds {
                _ if claim.contradicted.is_some() => "≠",
                Some(true) => "✓",
                Some(false) => "✗",
                None => "–",
            };
            writeln!(out, "{}", wrapped(&claim.text, &format!("  {mark} ")))?;
            let source =
                if claim.source.is_empty() { String::new() } else { format!(" (paper: {})", claim.source) };
            writeln!(out, "{}", terminal.faint(&wrapped(&format!("{}{source}", claim.measured), "      ")))?;
            if let Some(reason) = claim.reason.as_ref().filter(|_| claim.holds == Some(false)) {
                writeln!(out, "{}", wrapped(reason, "      because: "))?;
            }
            if let Some(found) = &claim.contradicted {
                writeln!(out, "{}", wrapped(&found.why, "      the paper contradicts it: "))?;
                for (check, measured) in &found.proof {
                    writeln!(out, "{}", terminal.faint(&wrapped(&format!("{check}  {measured}"), "      ")))?;
                }
            }
            if let Some(why) = &claim.reason_fails {
                writeln!(out, "{}", wrapped(why, "      the reason in its file does not count: "))?;
            }
        }
    }
    writeln!(out)?;
    for paper in Paper::in_order(done.experiments.iter().map(|one| &one.paper)) {
        let of_paper = tally(done.experiments.iter().filter(|one| one.paper == *paper));
        if of_paper != Tally::default() {
            writeln!(out, "{:<16}{}", paper.name, claims_held(of_paper))?;
        }
    }
    let all = tally(&done.experiments);
    writeln!(out, "{:<16}{}", "together", claims_held(all))?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rampcc_backend::Clock;
    use rampcc_reproduce::built_in;

    use super::*;

    #[test]
    fn every_experiment_that_says_so_can_be_played_in_the_kernel() {
        let kernel = backends::ALL.iter().find(|backend| backend.clock() == Clock::Real).unwrap();
        let experiments = built_in().unwrap();
        let there: Vec<&Experiment> = experiments.iter().filter(|one| one.on_linux()).collect();
        for id in ["best-fig4", "best-fig12", "best-fig13", "best-tab1", "hystart-fig12", "hystart-tab3"] {
            assert!(there.iter().any(|one| one.id == id), "{id}");
        }
        for id in ["hystart-fig9a", "hystart-fig9c", "past-fig2", "past-fig17", "past-tab4"] {
            assert!(there.iter().any(|one| one.id == id), "{id}");
        }
        for quick in [false, true] {
            for one in &there {
                let work = Work::plan([*one], Extent { quick, backend: *kernel, variant: None });
                let work = work.unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)));
                assert!(work.runs() > 0, "{}", one.id);
            }
        }
    }
}
