//! `ramp gate --a … --b …`: the same question of two programs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use rampcc_experiment::{ExperimentError, Sweep};
use rampcc_league::gate::{Counted, Gate, PATHS, Programs as Question, REPLAYED, Terms, Tested};
use rampcc_testbed::{FAULTS, Program, Programs};
use rampcc_trace::quoted;

use crate::backends;
use crate::error::{CliError, Result};
use crate::programs::ProgramArgs;
use crate::progress::{self, Bar};

/// Names of rows that are commands.
const NAMES: [&str; 2] = ["a", "b"];

/// Two programs instead of two start-ups.
#[derive(Args, Debug)]
#[command(next_help_heading = "Programs")]
pub(crate) struct TwoPrograms {
    /// The server as it was: a ready-made row, or a command (docs/guide/programs.md). With --self-test, the one that is tested
    #[arg(long, value_name = "ROW|COMMAND", conflicts_with_all = ["old", "new"])]
    a: Option<String>,
    /// The server as it may become
    #[arg(long, value_name = "ROW|COMMAND", requires = "a", conflicts_with = "self_test")]
    b: Option<String>,
    /// The client's command of both, or of one: a=COMMAND, b=COMMAND; without one ramp's own HTTP/1.1 client
    #[arg(long = "client", value_name = "[a=|b=]COMMAND", requires = "a")]
    clients: Vec<String>,
    /// A file of rows, which --a and --b may name as well as the ready-made ones
    #[arg(long = "programs", value_name = "FILE.toml", requires = "a")]
    file: Option<PathBuf>,
    /// Both over IPv6
    #[arg(long, requires = "a")]
    ipv6: bool,
    /// Cannot tell after this time
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = duration, requires = "a")]
    time: Duration,
}

/// A number with s, m or min, h; without a unit seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a number with s, m or h".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * scale;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a time that is not that long".to_owned())
}

/// A row's name without its congestion control.
fn kind(text: &str) -> &str {
    text.split(':').next().unwrap_or(text).trim()
}

impl TwoPrograms {
    /// Whether programs are asked about.
    pub(crate) fn asked(&self) -> bool {
        self.a.is_some()
    }

    /// Plays them.
    pub(crate) fn gate(&self, terms: Terms, seed: Option<u64>) -> Result<Gate> {
        let Some(b) = &self.b else {
            return Err(CliError::input("--b is missing: the server as it may become"));
        };
        let sides = [self.a.as_deref().unwrap_or_default(), b];
        self.ask(&self.programs(sides)?, terms, seed)
    }

    /// What plays both over a path again: first with the same seed, then with others.
    pub(crate) fn replay(&self, path: &str, run_seed: u64) -> String {
        let play = format!(
            "ramp compare --on program {path} --size 2MB --set seed={run_seed} --runs {REPLAYED} --exact"
        );
        let rows = [&self.a, &self.b].map(|side| side.as_deref().unwrap_or_default());
        let mut rows: Vec<String> = self.texts(rows).into_iter().flatten().collect();
        // A row against itself is one.
        rows.dedup();
        let file = self.file.as_ref().map(|file| file.display().to_string());
        let options = [("--row", &rows[..]), ("--client", &self.clients), ("--programs", file.as_slice())];
        let words =
            options.iter().flat_map(|(option, values)| values.iter().map(move |value| (option, value)));
        let play =
            words.fold(play, |line, (option, value)| line + " " + option + " " + &quoted(value.as_ref()));
        if self.ipv6 { play + " --ipv6" } else { play }
    }

    /// As `--row` has them; `None`: the file of rows cannot be read, which has been said.
    fn texts(&self, sides: [&str; 2]) -> Option<[String; 2]> {
        let known = self.args(Vec::new()).known().ok()?;
        let is_known = |text: &str| known.iter().any(|program| program.name == kind(text));
        let text = |side: usize| match sides[side] {
            text if is_known(text) => text.trim().to_owned(),
            command => format!("{}={command}", NAMES[side]),
        };
        Some([text(0), text(1)])
    }

    fn args(&self, rows: Vec<String>) -> ProgramArgs {
        ProgramArgs { rows, clients: self.clients.clone(), file: self.file.clone(), ipv6: self.ipv6 }
    }

    /// Both rows, with two names.
    fn programs(&self, sides: [&str; 2]) -> Result<[Program; 2]> {
        let args = self.args(Vec::new());
        let known = args.known()?;
        let texts = self.texts(sides).unwrap_or_else(|| sides.map(str::to_owned));
        let args = self.args(texts.to_vec());
        let row = |text: &str| -> Result<Program> {
            let program = args.row(text, &known)?;
            let missing = program.missing();
            if missing.is_empty() {
                program.check_here().map_err(|error| CliError::input(error.to_string()))?;
                return Ok(program);
            }
            Err(CliError::input_help(
                format!("{} cannot be played: {}", program.name, missing.join(", ")),
                "scripts/setup programs installs what the ready-made rows need",
            ))
        };
        let (old, mut new) = (row(&texts[0])?, row(&texts[1])?);
        if new.name == old.name {
            new.name += "-b";
        }
        Ok([old, new])
    }

    fn ask(&self, programs: &[Program; 2], terms: Terms, seed: Option<u64>) -> Result<Gate> {
        let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
        // As long as the process, as all backends.
        let backend: &'static Programs = Box::leak(Box::new(Programs::new(programs.to_vec())));
        if let Err(obstacle) = rampcc_backend::Backend::prepare(backend) {
            return Err(CliError::input(format!("programs cannot be played here: {obstacle}")));
        }
        let mut rows = Sweep::parse(&[])?.rows(&names, &[backends::ALL, &[backend]].concat())?;
        let (Some(new), Some(old)) = (rows.pop(), rows.pop()) else {
            return Err(CliError::input("two programs are not two rows"));
        };
        let question = Question { old, new, terms, seed, backend };
        say!(
            "{} and {} in real time, on {PATHS} paths, until it is sure: {:.0} s at most",
            question.old.label,
            question.new.label,
            self.time.as_secs_f64()
        );
        let until = Instant::now() + self.time;
        let asked = question.ask(&Bar::default(), &|| Instant::now() < until, &progress::interruption());
        asked.map_err(|error| match error {
            ExperimentError::Interrupted { .. } => CliError::Interrupted,
            // It is not an answer, and the exit code 1 would be.
            error @ ExperimentError::Run { .. } => CliError::input(error.to_string()),
            error => error.into(),
        })
    }

    /// A program against itself, `alike` times, and against each of its faults.
    pub(crate) fn self_test(&self, terms: Terms, alike: u32) -> Result<Tested> {
        let name = self.a.as_deref().unwrap_or_default();
        let mut tested = Tested { terms, alike: Vec::new(), mutants: Vec::new() };
        for number in 0..alike {
            let gate = self.ask(&self.programs([name, name])?, terms, Some(u64::from(number)))?;
            say!("{}", gate.told("with itself"));
            tested.alike.push(Counted::of(&gate, ""));
        }
        let [sound, _] = self.programs([name, name])?;
        let wrong = |error: rampcc_testbed::ProgramError| CliError::input(error.to_string());
        for fault in FAULTS.iter().filter(|fault| fault.of.contains(&kind(name))) {
            let faulty = fault.of(&sound).map_err(wrong)?;
            let gate = self.ask(&[sound.clone(), faulty], terms, None)?;
            say!("{}", gate.told(fault.meaning));
            let mut counted = Counted::of(&gate, fault.meaning);
            if counted.passes() {
                let again = self.ask(
                    &[sound.clone(), fault.of(&sound).map_err(wrong)?],
                    terms,
                    Some(counted.other_seed()),
                )?;
                say!("{}", again.told("again, on other paths"));
                counted.confirm(&again);
            }
            tested.mutants.push(counted);
        }
        Ok(tested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(a: &str, b: &str) -> TwoPrograms {
        let [a, b] = [a, b].map(|text| Some(text.to_owned()));
        TwoPrograms {
            a,
            b,
            clients: vec!["sh {url}".to_owned()],
            file: None,
            ipv6: false,
            time: Duration::ZERO,
        }
    }

    #[test]
    fn a_side_is_a_ready_made_row_or_a_command() {
        let programs = |a, b| two(a, b).programs([a, b]).unwrap();
        let [old, new] = programs("sh --x=1 {port}", "python");
        assert_eq!((old.name.as_str(), old.server.as_str()), ("a", "sh --x=1 {port}"));
        assert_eq!((new.name.as_str(), new.client.as_deref()), ("python", Some("sh {url}")));
        let [old, new] = programs("python", "python");
        assert_eq!((old.name.as_str(), new.name.as_str()), ("python", "python-b"));
        assert_eq!(old.server, new.server);
        let replay = two("python", "python").replay("league:x", 7);
        assert_eq!(replay.matches("--row").count(), 1, "{replay}");
        let replay = two("sh {port}", "python").replay("league:x", 7);
        assert!(replay.ends_with("--row 'a=sh {port}' --row python --client 'sh {url}'"), "{replay}");
        let wrong = two("sh {hots}", "python").programs(["sh {hots}", "python"]);
        assert!(wrong.unwrap_err().to_string().contains("no template `{hots}`"));
    }

    #[test]
    fn times_have_units() {
        assert_eq!(["10m", "90", "1.5 h"].map(|text| duration(text).unwrap().as_secs()), [600, 90, 5400]);
        assert!(duration("soon").is_err() && duration("5 d").is_err());
    }
}
