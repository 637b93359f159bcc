//! Which path: a built-in scenario, a file, or options; and which rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::slice;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use ramp_scenario::{AdHoc, Arm, Scenario, Setting, TrafficKind};

use crate::completions;
use crate::error::CliError;
use crate::kernel;
use crate::rows::Row;

/// What is played unless the command line says otherwise.
const DEFAULT_SCENARIO: &str = "geo-satellite";
/// Identifier of the algorithm that knows the path.
pub(crate) const YARDSTICK: &str = "ideal";
/// Most comparisons that sweeps may ask for.
const VARIANTS_MAX: usize = 1000;

/// A path.
#[derive(Args, Debug)]
pub(crate) struct ScenarioArgs {
    /// Name of a built-in scenario (`ramp list scenarios`), or a scenario file
    ///
    /// Default: geo-satellite; with any of the path options below, a path made of them alone.
    #[arg(add = ArgValueCompleter::new(completions::scenarios))]
    scenario: Option<String>,
    /// Set any field of the scenario, e.g. `path.buffer=0.25bdp` or `algorithm.hystart.low_window=32`
    #[arg(long, value_name = "FIELD=VALUE", allow_hyphen_values = true, value_parser = quantity,
        add = ArgValueCompleter::new(completions::fields))]
    set: Vec<String>,
    #[command(flatten)]
    path: PathArgs,
}

/// A path on the command line, or changes of a scenario's.
#[derive(Args, Debug)]
#[command(next_help_heading = "Path")]
struct PathArgs {
    /// Bottleneck rate, e.g. 100mbit or "150 Mbit/s"
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    rate: Option<String>,
    /// Round-trip propagation delay, e.g. 50ms
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    rtt: Option<String>,
    /// Bottleneck queue, e.g. 1bdp, 36MB, "250 packets", 50ms or unlimited
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    buffer: Option<String>,
    /// What the flow sends, e.g. 10MB or bulk
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    size: Option<String>,
    /// Measured capacity instead of --rate: a mahimahi trace
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Measured one-way delay, one value in ms per line, on the clock of --trace
    #[arg(long, value_name = "FILE")]
    delay_trace: Option<String>,
    /// Where in the traces a run starts: a time, or `random`, elsewhere with each seed [default: random, where no
    /// scenario says otherwise]
    #[arg(long, value_name = "TIME", value_parser = quantity, allow_hyphen_values = true)]
    trace_offset: Option<String>,
    /// What the medium loses, e.g. 0.1%
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    loss: Option<String>,
    /// What waits: drop-tail, red, codel or random-drop
    #[arg(long)]
    queue: Option<String>,
    /// Delay that varies, e.g. 5ms or '{ kind = "pareto", median = "2 ms" }'
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    jitter: Option<String>,
    /// Rate of the way back
    #[arg(long, value_name = "RATE", value_parser = quantity, allow_hyphen_values = true)]
    reverse_rate: Option<String>,
    /// How the hosts behave: modern (Linux today), era (the RFCs of the papers' years) or ns2 (ns-2.35)
    #[arg(long)]
    profile: Option<String>,
    /// When a run ends at the latest, e.g. 60s
    #[arg(long, value_name = "TIME", value_parser = quantity, allow_hyphen_values = true)]
    duration: Option<String>,
}

/// A value with a unit. A negative one is a value, told by its own error; another option is none.
fn quantity(text: &str) -> Result<String, String> {
    if text.starts_with("--") {
        return Err(format!("a value is required here, and `{text}` is an option"));
    }
    Ok(text.to_owned())
}

/// What `--sweep` asks for: the product of all swept scenario fields, and rows.
pub(crate) struct Sweep {
    /// Settings of each comparison; one empty list without sweeps.
    pub(crate) variants: Vec<Vec<Setting>>,
    /// Rows of each swept parameter.
    pub(crate) rows: Vec<Vec<Arm>>,
}

impl ScenarioArgs {
    /// The scenario, with `--set` and then `settings` on top.
    pub(crate) fn scenario(&self, settings: &[Setting]) -> Result<Scenario, CliError> {
        let mut all = Vec::new();
        for text in &self.set {
            all.push(Setting::parse(text)?);
        }
        all.extend(settings.iter().cloned());
        let path = &self.path;
        let scenario: Result<Scenario, CliError> = match &self.scenario {
            None if path.is_empty() => Ok(Scenario::open_with(DEFAULT_SCENARIO, &all)?),
            None => {
                path.describes_a_path(&all)?;
                Ok(path.ad_hoc(all).scenario(Some(Path::new("")))?)
            }
            Some(name) => {
                let mut changes = path.settings()?;
                changes.extend(all);
                Ok(Scenario::open_with(name, &changes)?)
            }
        };
        let scenario = scenario?;
        tests_something(&scenario)?;
        Ok(scenario)
    }
}

/// There is nothing to compare where every flow names its algorithm.
fn tests_something(scenario: &Scenario) -> Result<(), CliError> {
    let drawn = scenario.traffic.iter().any(|traffic| match traffic.kind {
        TrafficKind::Cbr { .. } => false,
        TrafficKind::Poisson { under_test_share, .. }
        | TrafficKind::Web { under_test_share, .. }
        | TrafficKind::Listed { under_test_share, .. } => under_test_share > 0.0,
    });
    if drawn || scenario.flows.iter().any(|flow| flow.under_test) {
        return Ok(());
    }
    Err(CliError::input_help(
        format!("{}: no flow is under test", scenario.name),
        "leave `algorithm` out of at least one `[[flow]]`, or give `[[traffic]]` an `under-test-share`",
    ))
}

impl PathArgs {
    fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, value)| value.is_none()) && self.trace_offset.is_none()
    }

    /// Without a scenario, a rate and a round-trip time are needed; who gives neither means the scenario that is played
    /// without options.
    fn describes_a_path(&self, settings: &[Setting]) -> Result<(), CliError> {
        let described = [&self.rate, &self.rtt, &self.trace, &self.delay_trace];
        let set = |setting: &Setting| setting.key().starts_with("path.");
        if described.iter().any(|option| option.is_some()) || settings.iter().any(set) {
            return Ok(());
        }
        let fields = self.fields();
        let given = fields.iter().filter_map(|(field, value)| Some((*field, value.as_ref()?)));
        let option = |field: &str| field.trim_start_matches("path.").replace('.', "-");
        let words: Vec<String> = given.map(|(field, value)| format!("--{} {value}", option(field))).collect();
        Err(CliError::input_help(
            format!("--rate and --rtt are required beside {}", words.join(" ")),
            format!("or name the scenario to change: {DEFAULT_SCENARIO} {}", words.join(" ")),
        ))
    }

    fn ad_hoc(&self, settings: Vec<Setting>) -> AdHoc {
        AdHoc {
            rate: self.rate.clone(),
            rtt: self.rtt.clone(),
            buffer: self.buffer.clone(),
            size: self.size.clone(),
            trace: self.trace.clone(),
            delay_trace: self.delay_trace.clone(),
            trace_offset: self.trace_offset.clone(),
            loss: self.loss.clone(),
            queue: self.queue.clone(),
            jitter: self.jitter.clone(),
            reverse_rate: self.reverse_rate.clone(),
            profile: self.profile.clone(),
            duration: self.duration.clone(),
            settings,
        }
    }

    /// The options as changes of a scenario that has a `[path]`.
    fn settings(&self) -> Result<Vec<Setting>, CliError> {
        let mut settings = Vec::new();
        for (field, value) in self.fields() {
            if let Some(value) = value {
                settings.push(Setting::parse(&format!("{field}={value}"))?);
            }
        }
        if let Some(text) = &self.trace_offset {
            for (key, value) in AdHoc::trace_offset(text) {
                settings.push(Setting::parse(&format!("{key}={value}"))?);
            }
        }
        Ok(settings)
    }

    fn fields(&self) -> [(&'static str, Option<&String>); 12] {
        [
            ("profile", self.profile.as_ref()),
            ("size", self.size.as_ref()),
            ("duration", self.duration.as_ref()),
            ("path.rate", self.rate.as_ref()),
            ("path.rtt", self.rtt.as_ref()),
            ("path.buffer", self.buffer.as_ref()),
            ("path.trace", self.trace.as_ref()),
            ("path.delay-trace", self.delay_trace.as_ref()),
            ("path.loss", self.loss.as_ref()),
            ("path.queue", self.queue.as_ref()),
            ("path.jitter", self.jitter.as_ref()),
            ("path.reverse.rate", self.reverse_rate.as_ref()),
        ]
    }
}

impl Sweep {
    /// From all `--sweep` options.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, CliError> {
        let mut sweep = Self { variants: vec![Vec::new()], rows: Vec::new() };
        for text in texts {
            if text.trim_start().starts_with("algorithm.") {
                sweep.rows.push(Arm::sweep(text)?);
                continue;
            }
            let settings = Setting::sweep(text)?;
            let product = |chosen: &Vec<Setting>| {
                let chosen = chosen.clone();
                settings
                    .iter()
                    .map(move |setting| [&chosen[..], slice::from_ref(setting)].concat())
                    .collect::<Vec<_>>()
            };
            sweep.variants = sweep.variants.iter().flat_map(product).collect();
            if sweep.variants.len() > VARIANTS_MAX {
                return Err(CliError::input(format!(
                    "--sweep asks for more than {VARIANTS_MAX} comparisons"
                )));
            }
        }
        Ok(sweep)
    }

    /// The rows of a comparison: `named` ones (none: all algorithms, or only the yardstick beside swept rows), each
    /// swept algorithm in the place of its plain row.
    pub(crate) fn rows(&self, named: &[String]) -> Result<Vec<Row>, CliError> {
        let mut all: Vec<Row> = Vec::new();
        if !named.is_empty() {
            if named.iter().all(|text| text.trim().is_empty()) {
                return Err(CliError::input("--algorithms is empty"));
            }
            for text in whole_arms(named) {
                if text.is_empty() {
                    return Err(CliError::input("--algorithms has an empty row between two commas"));
                }
                all.push(Row::parse(&text)?);
            }
        } else if self.rows.is_empty() {
            for algorithm in ramp::algorithms() {
                all.push(Arm::parse(algorithm.id)?.into());
            }
        } else {
            all.push(Arm::parse(YARDSTICK)?.into());
        }
        for rows in self.rows.iter().rev() {
            let plain = |row: &Row| row.label == rows[0].algorithm.id;
            let place = all.iter().position(plain).unwrap_or(0);
            all.retain(|row| !plain(row));
            all.splice(place..place, rows.iter().cloned().map(Row::from));
        }
        let mut labels = BTreeSet::new();
        match all.iter().find(|row| !labels.insert(row.label.as_str())) {
            Some(twice) => {
                let swept = self.rows.iter().flatten().any(|arm| arm.label == twice.label);
                let option = if swept { "--sweep" } else { "--algorithms" };
                Err(CliError::input(format!("{option} names the row `{}` twice", twice.label)))
            }
            None => Ok(all),
        }
    }
}

/// Rows as people separate them: a comma also separates the settings of one row (`best:a=1,b=2,hystart`).
fn whole_arms(pieces: &[String]) -> Vec<String> {
    let mut arms: Vec<String> = Vec::new();
    for piece in pieces.iter().flat_map(|p| p.split(',')).map(str::trim) {
        let is_setting = !piece.contains(':')
            && piece.split_once('=').is_some_and(|(_, value)| {
                let value = value.trim();
                ramp::algorithm(value).is_none() && kernel::row(value).is_none()
            });
        match arms.last_mut().filter(|last| is_setting && last.contains(':')) {
            Some(last) => {
                last.push(',');
                last.push_str(piece);
            }
            None => arms.push(piece.to_owned()),
        }
    }
    arms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    fn labels(named: &[&str], sweeps: &[&str]) -> Vec<String> {
        let sweep = Sweep::parse(&strings(sweeps)).unwrap();
        sweep.rows(&strings(named)).unwrap().into_iter().map(|a| a.label).collect()
    }

    #[test]
    fn commas_separate_rows_and_settings_of_a_row() {
        let pieces = strings(&["hystart:low_window=32,samples=4,best", "late=hystart,ideal"]);
        assert_eq!(whole_arms(&pieces), ["hystart:low_window=32,samples=4", "best", "late=hystart", "ideal"]);
    }

    #[test]
    fn without_names_all_algorithms_are_compared() {
        assert_eq!(labels(&[], &[]).len(), ramp::algorithms().len());
    }

    #[test]
    fn swept_rows_take_the_place_of_the_plain_one() {
        let sweep = ["algorithm.hystart.low_window=16,32"];
        let swept = ["hystart low_window=16", "hystart low_window=32"];
        assert_eq!(labels(&[], &sweep), [swept[0], swept[1], "ideal"]);
        assert_eq!(labels(&["best,hystart,limited"], &sweep), ["best", swept[0], swept[1], "limited"]);
    }

    #[test]
    fn swept_fields_multiply() {
        let sweep = Sweep::parse(&strings(&["path.buffer=1bdp,2bdp", "path.rtt=1ms,2ms,3ms"])).unwrap();
        assert_eq!(sweep.variants.len(), 6);
        assert!(sweep.variants.iter().all(|settings| settings.len() == 2));
        assert!(Sweep::parse(&strings(&["a=1,2,3,4,5,6,7,8,9,10,11"; 3])).is_err());
    }
}
