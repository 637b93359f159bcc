//! Arms from the command line: `hystart`, `best:threshold=0`, `late=hystart:ack-train=off`.

use rampcc::Algorithm;

use crate::error::{Result, ScenarioError, shortened};
use crate::model::Arm;
use crate::of_sender::{FIELDS, OfSender};
use crate::parse::ends::{find_algorithm, find_parameter, parameter_range, parameter_value};
use crate::settings::list;

impl Arm {
    /// A row without settings of its own.
    pub fn new(algorithm: &'static Algorithm) -> Self {
        let label = algorithm.id.to_owned();
        Self { label, algorithm, set: Vec::new(), sender: OfSender::default() }
    }

    /// The parameters set on top of the scenario's. Fails if the row sets more than `what` can have, which has a sender of its own.
    pub fn parameters_of(&self, what: &str) -> Result<&[(String, u64)]> {
        match self.sender.words().first() {
            None => Ok(&self.set),
            Some(word) => Err(wrong(
                &format!("{}:{word}", self.algorithm.id),
                format!("{what} keeps the sender's own"),
                "parameters of the algorithm".to_owned(),
            )),
        }
    }

    /// Whether `NAME=VALUE` sets something of the sender, whatever the algorithm.
    pub fn has_field(name: &str) -> bool {
        FIELDS.contains(&name)
    }

    /// From `[LABEL=]ALGORITHM[:NAME=VALUE,…]`.
    ///
    /// Without a label, the row is called as it is written, `best:threshold=0` as `best threshold=0`.
    pub fn parse(text: &str) -> Result<Self> {
        let (head, settings) = match text.split_once(':') {
            Some((head, settings)) => (head, Some(settings)),
            None => (text, None),
        };
        let (label, id) = match head.split_once('=') {
            Some((label, id)) => (Some(label.trim()), id.trim()),
            None => (None, head.trim()),
        };
        let algorithm = find_algorithm(id).map_err(|(problem, allowed)| wrong(text, problem, allowed))?;
        let mut arm = Self::new(algorithm);
        for setting in settings.iter().flat_map(|s| list(s)) {
            let Some((name, value)) = setting.split_once('=') else {
                let allowed = "NAME=VALUE,… after the colon".to_owned();
                return Err(wrong(text, format!("`{}` has no `=`", shortened(setting)), allowed));
            };
            arm = arm.with(name.trim(), value.trim())?;
        }
        if let Some(label) = label.filter(|l| !l.is_empty()) {
            arm.label = shortened(label);
        }
        Ok(arm)
    }

    /// One arm for each of the values in `algorithm.ID.NAME=VALUE,VALUE,…`.
    pub fn sweep(text: &str) -> Result<Vec<Self>> {
        const ALLOWED: &str =
            "algorithm.ID.NAME=VALUE,VALUE,…, such as algorithm.best.threshold=0,1MB/s,2MB/s";
        let parts = text.split_once('=').and_then(|(key, values)| {
            let (id, name) = key.trim().strip_prefix("algorithm.")?.split_once('.')?;
            Some((id, name, values))
        });
        let Some((id, name, values)) = parts else {
            return Err(wrong(text, "it names no parameter of an algorithm".to_owned(), ALLOWED.to_owned()));
        };
        if values.trim().is_empty() {
            return Err(wrong(text, "there is no value".to_owned(), ALLOWED.to_owned()));
        }
        let arm = Self::parse(id).map_err(|error| match error {
            ScenarioError::Setting { problem, allowed, .. } => wrong(text, problem, allowed),
            other => other,
        })?;
        list(values).into_iter().map(|value| arm.with(name, value)).collect()
    }

    /// The same arm with one more parameter set, from a text with unit.
    pub fn with(&self, name: &str, value: &str) -> Result<Self> {
        let text = format!("{}:{name}={value}", self.algorithm.id);
        if value.trim().is_empty() {
            let allowed = "NAME=VALUE".to_owned();
            return Err(wrong(&text, "there is no value".to_owned(), allowed));
        }
        if let Some(set) = self.sender.with(name, value.trim()) {
            let sender = set.map_err(|(problem, allowed)| wrong(&text, problem, allowed))?;
            let label = format!("{} {}={}", self.label, name.replace('_', "-"), shortened(value));
            return Ok(Self { label, sender, ..self.clone() });
        }
        let index = find_parameter(self.algorithm, name)
            .map_err(|(problem, allowed)| wrong(&text, problem, allowed))?;
        let parameter = &self.algorithm.parameters[index];
        let found = parameter_value(parameter, value)
            .map_err(|problem| wrong(&text, problem, parameter_range(parameter)))?;
        let name = parameter.name;
        let mut arm = self.clone();
        arm.set.retain(|(set, _)| set != name);
        arm.set.push((name.to_owned(), found));
        arm.label = format!("{} {name}={}", self.label, shortened(value));
        Ok(arm)
    }
}

fn wrong(text: &str, problem: String, allowed: String) -> ScenarioError {
    ScenarioError::Setting { text: shortened(text), problem, allowed }
}
