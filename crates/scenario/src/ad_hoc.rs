//! A path from the command line.

use std::path::Path;

use crate::error::{Result, ScenarioError};
use crate::model::Scenario;
use crate::settings::Setting;
use crate::uncertain::{Range, Uncertain, Values};
use crate::units;

/// A single path described by options; what is `None` keeps the default of the scenario file's field.
///
/// Values are texts as in a scenario file: `rate: Some("100mbit".into())`.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is the field of the same name in docs/guide/scenarios.md")]
pub struct AdHoc {
    pub rate: Option<String>,
    pub rtt: Option<String>,
    /// 1 BDP unless given; 200 ms at the mean rate with a trace.
    pub buffer: Option<String>,
    /// Size of the one flow; 10 MB unless given.
    pub size: Option<String>,
    pub trace: Option<String>,
    pub delay_trace: Option<String>,
    /// A time, or `random`, which it is unless given: every seed begins elsewhere in the traces.
    pub trace_offset: Option<String>,
    pub loss: Option<String>,
    pub queue: Option<String>,
    pub jitter: Option<String>,
    /// `path.reverse.rate`.
    pub reverse_rate: Option<String>,
    pub profile: Option<String>,
    pub duration: Option<String>,
    /// Further settings, applied last.
    pub settings: Vec<Setting>,
}

impl AdHoc {
    /// True if no option is given at all, so that no ad-hoc path is meant.
    pub fn is_empty(&self) -> bool {
        self.options().iter().all(|(_, _, value)| value.is_none())
    }

    /// The scenario; its text is a scenario file that makes it again. Files are looked for in `directory`.
    ///
    /// Fails as [`Scenario::parse`] does; messages name the option, e.g. `--rate`.
    pub fn scenario(&self, directory: Option<&Path>) -> Result<Scenario> {
        if self.rate.is_none() && self.trace.is_none() && !self.sets("path.rate") && !self.sets("path.trace")
        {
            return Err(missing("--rate", &format!("{}; or --trace FILE", units::RATE)));
        }
        if self.rtt.is_none() && self.delay_trace.is_none() && !self.sets("path.rtt") {
            return Err(missing("--rtt", &format!("{}; or --delay-trace FILE", units::TIME)));
        }
        let mut settings = Vec::new();
        let mut set = |text: &str, key: &str, value: &str| -> Result {
            settings.push(Setting::new(text, key, value)?);
            Ok(())
        };
        let description = self.description();
        set("description", "description", &toml_edit::Value::from(description).to_string())?;
        for (option, key, value) in self.options() {
            match (value, key) {
                (Some(value), _) => set(&format!("{option} {value}"), key, value)?,
                (None, "size") => set("--size", key, "10 MB")?,
                // A mean BDP is nothing to a link that varies; 200 ms is what cellular and LEO schedulers hold.
                (None, "path.buffer") if self.trace.is_some() => set("--buffer", key, "200 ms")?,
                (None, _) => {}
            }
        }
        match self.trace_offset.as_deref() {
            None if self.trace.is_none() && self.delay_trace.is_none() => {}
            None => set("--trace", "path.random-trace-offset", "true")?,
            Some(text) => {
                for (key, value) in Self::trace_offset(text) {
                    set(&format!("--trace-offset {text}"), key, value)?;
                }
            }
        }
        settings.extend(self.settings.iter().cloned());
        let scenario = Scenario::parse_with("ad-hoc", "", directory, &settings)?;
        let buffered = self.buffer.is_some() || self.sets("path.buffer") || self.trace.is_none();
        let values = Range::parse("50 to 1000 ms", None).ok().filter(|_| !buffered).map(Values::Range);
        let buffer = values.map(|values| Uncertain {
            field: "path.buffer".to_owned(),
            values,
            reason: "Not stated. Base stations and access points hold from one scheduling round to a second."
                .to_owned(),
            assumed: true,
            option: None,
        });
        // The text says what was left open, so that it can be changed.
        Ok(scenario.with_uncertain(buffer.as_slice()))
    }

    /// The options as settings of another scenario, which has a `[path]`.
    pub fn changes(&self) -> Result<Vec<Setting>> {
        let given = self.options().into_iter().filter_map(|(_, key, value)| Some((key, value?)));
        let offset = self.trace_offset.as_deref().map(Self::trace_offset);
        let all = given.chain(offset.into_iter().flatten());
        let settings = all.map(|(key, value)| Setting::parse(&format!("{key}={value}")));
        settings.chain(self.settings.iter().cloned().map(Ok)).collect()
    }

    /// The fields that `--trace-offset` sets, on top of whatever they were; without a value, one is removed.
    pub fn trace_offset(text: &str) -> [(&'static str, &str); 2] {
        match text.trim() {
            "random" => [("path.trace-offset", ""), ("path.random-trace-offset", "true")],
            time => [("path.trace-offset", time), ("path.random-trace-offset", "")],
        }
    }

    fn options(&self) -> [(&'static str, &'static str, Option<&str>); 12] {
        [
            ("--profile", "profile", self.profile.as_deref()),
            ("--size", "size", self.size.as_deref()),
            ("--duration", "duration", self.duration.as_deref()),
            ("--rate", "path.rate", self.rate.as_deref()),
            ("--rtt", "path.rtt", self.rtt.as_deref()),
            ("--buffer", "path.buffer", self.buffer.as_deref()),
            ("--trace", "path.trace", self.trace.as_deref()),
            ("--delay-trace", "path.delay-trace", self.delay_trace.as_deref()),
            ("--loss", "path.loss", self.loss.as_deref()),
            ("--queue", "path.queue", self.queue.as_deref()),
            ("--jitter", "path.jitter", self.jitter.as_deref()),
            ("--reverse-rate", "path.reverse.rate", self.reverse_rate.as_deref()),
        ]
    }

    fn sets(&self, key: &str) -> bool {
        self.settings.iter().any(|s| s.key() == key)
    }

    fn description(&self) -> String {
        let given = |name: &str, value: &Option<String>| {
            value.as_ref().map(|v| format!("{name} {}", crate::error::shortened(v)))
        };
        let parts: Vec<String> = [
            given("rate", &self.rate),
            given("trace", &self.trace),
            given("rtt", &self.rtt),
            given("delay trace", &self.delay_trace),
            given("buffer", &self.buffer),
            given("queue", &self.queue),
            given("loss", &self.loss),
        ]
        .into_iter()
        .flatten()
        .collect();
        format!("An ad-hoc path: {}.", parts.join(", "))
    }
}

fn missing(option: &str, allowed: &str) -> ScenarioError {
    ScenarioError::Missing { option: option.to_owned(), allowed: allowed.to_owned() }
}
