//! Which path: a built-in scenario, a file, or options.

use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc_experiment::{ExperimentError, Row, Steering};
use rampcc_scenario::{AdHoc, Scenario, Setting};

use crate::completions;
use crate::error::CliError;

/// What is played unless the command line says otherwise.
const DEFAULT_SCENARIO: &str = "geo-satellite";

/// A path.
#[derive(Args, Debug)]
pub(crate) struct ScenarioArgs {
    /// Name of a built-in scenario (`ramp list scenarios`), a path of the league (league:cable-07), or a scenario file
    ///
    /// Without one: a path made of the path options below alone, if there are any, or else what the command plays by default (`ramp compare`: geo-satellite).
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
    /// Size of the transfer, e.g. 10MB or bulk
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    size: Option<String>,
    /// Measured capacity instead of --rate: a mahimahi trace
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Measured one-way delay, one value in ms per line, on the clock of --trace
    #[arg(long, value_name = "FILE")]
    delay_trace: Option<String>,
    /// Start of a run within the traces: a time, or `random` for another start with each seed [default: random, unless
    /// the scenario says otherwise]
    #[arg(long, value_name = "TIME", value_parser = quantity, allow_hyphen_values = true)]
    trace_offset: Option<String>,
    /// Random loss of the medium, e.g. 0.1%
    #[arg(long, value_parser = chance, allow_hyphen_values = true)]
    loss: Option<String>,
    /// Queue discipline: drop-tail, red, codel or random-drop
    #[arg(long)]
    queue: Option<String>,
    /// Jitter, e.g. 5ms or '{ kind = "pareto", median = "2 ms" }'
    #[arg(long, value_parser = quantity, allow_hyphen_values = true)]
    jitter: Option<String>,
    /// Rate of the return link
    #[arg(long, value_name = "RATE", value_parser = quantity, allow_hyphen_values = true)]
    reverse_rate: Option<String>,
    /// Rules of the hosts: modern (Linux today), era (the RFCs of the papers' years) or ns2 (ns-2.35)
    #[arg(long)]
    profile: Option<String>,
    /// Longest duration of a run, e.g. 60s
    #[arg(long, value_name = "TIME", value_parser = quantity, allow_hyphen_values = true)]
    duration: Option<String>,
}

/// A value with a unit. A negative one is a value, refused by an error of its own; another option is not a value.
pub(crate) fn quantity(text: &str) -> Result<String, String> {
    if text.starts_with("--") {
        return Err(format!("a value is required here, and `{text}` is an option"));
    }
    Ok(text.to_owned())
}

/// A share of packets. A plain 1 would be all of them, and is usually meant as one in a hundred.
fn chance(text: &str) -> Result<String, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if share >= 1.0 => {
            Err(format!("{text} is every packet; write {text}% for {text} in a hundred, or 100% for all"))
        }
        _ => quantity(text),
    }
}

impl ScenarioArgs {
    /// Whether a path is named or described.
    pub(crate) fn is_given(&self) -> bool {
        self.scenario.is_some() || !self.path.is_empty()
    }

    /// What `--set` says.
    pub(crate) fn settings(&self) -> Result<Vec<Setting>, ExperimentError> {
        Ok(self.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?)
    }

    /// An error for `--set` of an algorithm's parameter where nothing has that algorithm.
    pub(crate) fn sets_what_is_played<'r>(
        &self,
        rows: impl Iterator<Item = &'r Row>,
    ) -> crate::error::Result {
        let rows: Vec<&str> = rows
            .filter_map(|row| match &row.steering {
                Steering::Core(arm) => Some(arm.algorithm.id),
                Steering::Own(_) => None,
            })
            .collect();
        for setting in self.settings()? {
            let key = setting.key();
            let Some((id, _)) = key.strip_prefix("algorithm.").and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            if !rows.contains(&id) && !self.scenario(&[])?.starts_a_flow_with(id) {
                return Err(CliError::input_help(
                    format!(
                        "`--set {}` changes nothing: no row and no other flow starts with `{id}`",
                        setting.text()
                    ),
                    format!("name it among the rows: `-a {id}`"),
                ));
            }
        }
        Ok(())
    }

    /// The scenario, with `--set` and then `settings` on top.
    pub(crate) fn scenario(&self, settings: &[Setting]) -> Result<Scenario, ExperimentError> {
        let mut all = Vec::new();
        for text in &self.set {
            all.push(Setting::parse(text)?);
        }
        all.extend(settings.iter().cloned());
        let path = &self.path;
        match &self.scenario {
            None if path.is_empty() => Ok(Scenario::open_with(DEFAULT_SCENARIO, &all)?),
            None => {
                path.describes_a_path(&all)?;
                Ok(path.ad_hoc(all).scenario(Some(Path::new("")))?)
            }
            Some(name) => {
                let changes = path.ad_hoc(all).changes()?;
                if let Some(found) = rampcc_league::path(name, &changes) {
                    return found;
                }
                Ok(Scenario::open_with(name, &changes)?)
            }
        }
    }
}

impl PathArgs {
    fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, value)| value.is_none()) && self.trace_offset.is_none()
    }

    /// Without a scenario, a rate and a round-trip time are needed; who gives neither means the scenario that is played
    /// without options.
    fn describes_a_path(&self, settings: &[Setting]) -> Result<(), ExperimentError> {
        let described = [&self.rate, &self.rtt, &self.trace, &self.delay_trace];
        let set = |setting: &Setting| setting.key().starts_with("path.");
        if described.iter().any(|option| option.is_some()) || settings.iter().any(set) {
            return Ok(());
        }
        let fields = self.fields();
        let given = fields.iter().filter_map(|(field, value)| Some((*field, value.as_ref()?)));
        let option = |field: &str| field.trim_start_matches("path.").replace('.', "-");
        let words: Vec<String> = given.map(|(field, value)| format!("--{} {value}", option(field))).collect();
        Err(ExperimentError::Input {
            message: format!("--rate and --rtt are required with {}", words.join(" ")),
            help: Some(format!("or name the scenario to change: {DEFAULT_SCENARIO} {}", words.join(" "))),
        })
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
