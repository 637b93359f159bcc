//! `ramp gate`: whether a change of a start-up makes it worse.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Row, Sweep, write_whole};
use rampcc_league::gate::{
    Gate, Question, REPLAY, REPLAYED, SelfTest, Terms, Tested, Verdict, Worst, cells, markdown,
};
use rampcc_league::text::Cells;
use rampcc_league::{candidate, header};
use rampcc_trace::quoted;

use crate::backends;
use crate::candidate::apart;
use crate::error::{CliError, Result};
#[cfg(target_os = "linux")]
use crate::gate_programs::TwoPrograms;
use crate::playing::PlayingArgs;
use crate::progress::{self, Bar, Said};
use crate::provenance;
use crate::table::table;
use crate::terminal::{Terminal, broken};

/// Fail a change to a start-up only if it makes the start-up worse
///
/// Plays the old and the new start-up over the same paths with the same seeds, a path at a time, and stops as soon as the answer is
/// sure. Paths are drawn from the ranges of `ramp league`, by a seed that depends on both start-ups, so that neither can
/// have been tuned to them. docs/guide/gate.md explains the measures and how certain the answer is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp gate old/my_start.h new/my_start.h            a header before and after a change
  ramp gate reach my_reach.h                         a row of the registry against a header
  ramp gate my_start.h my_start.h:gain=3             a parameter
  ramp gate old.h new.h --markdown gate.md           a table for a pull request
  ramp gate --a nginx --b ./my-nginx.sh              two servers, in real time, for ten minutes at most (docs/guide/gate.md)
  ramp gate --self-test                              how often it is wrong: minutes

Exit codes: 0 not worse, 1 worse (of --self-test: more false alarms than --alpha allows, or fewer than 95 of 100 faults found),
2 the input is wrong, 3 cannot tell, 130 interrupted.")]
pub(crate) struct GateArgs {
    /// The start-up as it was: FILE.h, or an algorithm, with parameters after a colon
    #[arg(value_name = "OLD", required_unless_present_any = ["self_test", "a"])]
    old: Option<String>,
    /// The start-up as it may become
    #[arg(value_name = "NEW", required_unless_present_any = ["self_test", "a"])]
    new: Option<String>,
    /// By how many per cent the download time may rise
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Chance of a false "worse", and of a false "not worse", at most
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Pairs of runs after which it cannot tell
    #[arg(long, value_name = "N", default_value_t = Terms::default().pairs, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pairs: u32,
    /// Draw the paths by this seed [default: derived from both start-ups]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Write the answer as Markdown, for a pull request
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Test the gate: rows against themselves with other seeds, and against mutants of them
    #[arg(long, conflicts_with_all = ["old", "new", "seed"])]
    self_test: bool,
    /// Gates between equals in --self-test
    #[arg(long, value_name = "N", default_value_t = 100, requires = "self_test")]
    alike: u32,
    /// Rows that --self-test uses [default: those of `ramp compare`]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', requires = "self_test")]
    algorithms: Vec<String>,
    /// Directory for results [default: ramp-results/gate]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    programs: TwoPrograms,
    #[command(flatten)]
    playing: PlayingArgs,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| "no number".to_owned())?;
    if number > 0.0 && number < 50.0 {
        Ok(number / 100.0)
    } else {
        Err("more than 0 and less than 50".to_owned())
    }
}

impl GateArgs {
    fn terms(&self) -> Terms {
        let usual = if self.of_programs() { Terms::of_programs() } else { Terms::default() };
        let mut terms = Terms { pairs: self.pairs, ..usual };
        terms.alpha = self.alpha.unwrap_or(terms.alpha);
        if let Some(margin) = self.margin {
            terms.margins[0] = margin.ln_1p();
        }
        terms
    }

    #[cfg(target_os = "linux")]
    fn of_programs(&self) -> bool {
        self.programs.asked()
    }

    #[cfg(not(target_os = "linux"))]
    fn of_programs(&self) -> bool {
        false
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("ramp-results/gate"))
    }
}

/// Run the command.
pub(crate) fn gate(args: &GateArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    ask(args, terminal, out).map_err(no_answer)
}

/// What fails is no answer: exit code 1 would say that the new start-up is worse.
fn no_answer(error: CliError) -> CliError {
    match error {
        CliError::Worse | CliError::Output(_) => error,
        CliError::Kernel { message, help } => CliError::Input { message, help },
        error if error.exit_code() == 1 => CliError::input(error.to_string()),
        error => error,
    }
}

fn ask(args: &GateArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    args.playing.spread();
    if let Some(path) = &args.markdown {
        writable(path)?;
    }
    if args.self_test {
        return self_test(args, out);
    }
    #[cfg(target_os = "linux")]
    if args.of_programs() {
        let gate = args.programs.gate(args.terms(), args.seed)?;
        let replay = gate.worst.as_ref().map(|worst| args.programs.replay(&worst.path, worst.run_seed));
        return answer(args, &gate, replay.as_deref(), terminal, out);
    }
    let (Some(old), Some(new)) = (&args.old, &args.new) else {
        return Err(CliError::input("OLD and NEW are missing"));
    };
    let backend = backends::ALL[0];
    let old_row = row(old, backend, None)?;
    let new_row = row(new, backend, Some(&old_row.label))?;
    let question = Question {
        old: old_row,
        new: new_row,
        terms: args.terms(),
        seed: args.seed,
        backend,
        out: args.out(),
        reuse: args.playing.reuse(),
    };
    let gate = question.ask(&Bar::default(), &progress::interruption_soon()).map_err(kept)?;
    let replay = gate.worst.as_ref().map(|worst| replay(worst, old, new));
    answer(args, &gate, replay.as_deref(), terminal, out)
}

/// Says it in every form that was asked for, and by the exit code.
fn answer(
    args: &GateArgs,
    gate: &Gate,
    replay: Option<&str>,
    terminal: Terminal,
    out: &mut impl Write,
) -> Result {
    if let Some(path) = &args.markdown {
        let text = markdown(gate, replay);
        write_whole(path, |file| file.write_all(text.as_bytes()))?;
        say!("written: {}", path.display());
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *out, gate).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(gate, replay, terminal, out)?;
    }
    out.flush()?;
    match gate.verdict {
        Verdict::NotWorse => Ok(()),
        Verdict::Worse => Err(CliError::Worse),
        Verdict::CannotTell => Err(CliError::CannotTell),
    }
}

/// An error of a gate. Where it was interrupted, says how to go on, and not after how many runs, which is not known.
fn kept(error: ExperimentError) -> CliError {
    let place = match error {
        ExperimentError::Interrupted { place, .. } => place,
        other => return other.into(),
    };
    say!("interrupted: finished runs are kept in {}", place.display());
    say!("to continue: {}", provenance::typed());
    CliError::Interrupted
}

/// A header, or a row of the registry; one that is called as the other is "new".
fn row(text: &str, backend: &'static dyn Backend, taken: Option<&str>) -> Result<Row> {
    let mut row = if header(text).is_some() {
        candidate(text, &apart(), &[])?
    } else {
        let mut rows = Sweep::parse(&[])?.rows(&[text.to_owned()], &[backend])?;
        match (rows.pop(), rows.pop()) {
            (Some(row), None) => row,
            _ => {
                return Err(CliError::input_help(
                    format!("`{text}` is not one start-up"),
                    "a header, FILE.h, or the name of an algorithm, with parameters after a colon",
                ));
            }
        }
    };
    if row.yardstick() {
        return Err(CliError::input_help(
            format!("`{}` knows the path in advance", row.label),
            "a start-up that knows what its ACKs say",
        ));
    }
    if let Some(unmet) = row.unmet(backend) {
        return Err(CliError::input_help(
            format!("{}: {unmet}", row.label),
            "a row that the simulator can play",
        ));
    }
    if taken == Some(row.label.as_str()) {
        row.label += " (new)";
    }
    Ok(row)
}

/// What plays both over a path again, with the same size: first with the same seed, then with others, since one run ranks nothing.
fn replay(worst: &Worst, old: &str, new: &str) -> String {
    let option = |text: &str| if header(text).is_some() { "--candidate" } else { "--algorithms" };
    let size = worst
        .setting
        .as_ref()
        .map_or_else(String::new, |setting| format!(" --set {}", quoted(setting.as_ref())));
    // Otherwise the usual rows would be played together with two headers.
    let other = if header(old).is_some() && header(new).is_some() { " --algorithms slow_start" } else { "" };
    format!(
        "ramp compare {}{size} --set seed={} --runs {REPLAYED} --exact {} {} {} {}{other}",
        worst.path,
        worst.run_seed,
        option(old),
        quoted(old.as_ref()),
        option(new),
        quoted(new.as_ref())
    )
}

/// Fails early, not after minutes.
fn writable(path: &Path) -> Result {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.is_dir() || directory.is_some_and(|directory| !directory.is_dir()) {
        return Err(CliError::input_help(
            format!("--markdown {} cannot be written", path.display()),
            "a file in a directory that exists",
        ));
    }
    Ok(())
}

fn print(gate: &Gate, replay: Option<&str>, terminal: Terminal, out: &mut impl Write) -> Result {
    let Cells { head, rows } = cells(gate);
    writeln!(out, "{}", terminal.bold(&gate.sentence()))?;
    writeln!(out, "\n{}", table(&head, &rows, terminal.width))?;
    if let Some(worst) = &gate.worst {
        writeln!(out, "\n{}", textwrap::fill(&format!("{}.", worst.sentence()), broken(terminal.width)))?;
        if let Some(replay) = replay {
            writeln!(out, "{REPLAY}: {replay}")?;
        }
    }
    Ok(())
}

fn self_test(args: &GateArgs, out: &mut impl Write) -> Result {
    #[cfg(target_os = "linux")]
    if args.of_programs() {
        return tested(args, &args.programs.self_test(args.terms(), args.alike)?, out);
    }
    let rows = args.algorithms.iter().map(|name| {
        rampcc::algorithm(name).ok_or_else(|| {
            CliError::input_help(
                format!("--algorithms: there is no algorithm `{name}`"),
                "`ramp list algorithms`",
            )
        })
    });
    let test = SelfTest {
        alike: args.alike,
        rows: rows.collect::<Result<_, _>>()?,
        terms: args.terms(),
        backend: backends::ALL[0],
        apart: &apart(),
        out: args.out(),
        reuse: args.playing.reuse(),
    };
    tested(args, &test.play(&Said, &progress::interruption_soon()).map_err(kept)?, out)
}

fn tested(args: &GateArgs, tested: &Tested, out: &mut impl Write) -> Result {
    if args.json {
        serde_json::to_writer_pretty(&mut *out, tested).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", tested.markdown())?;
    }
    if let Some(path) = &args.markdown {
        let text = format!("{}\n`{}`\n", tested.markdown(), provenance::command());
        write_whole(path, |file| file.write_all(text.as_bytes()))?;
        say!("written: {}", path.display());
    }
    out.flush()?;
    if tested.as_it_should_be() { Ok(()) } else { Err(CliError::Worse) }
}
