//! Names for the shell to complete: asked for at each press of the key, so that they are those of this version.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Write};

use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use rampcc_experiment::groups;
use rampcc_scenario::{Scenario, schema};

use crate::backends;
use crate::error::{CliError, Result};

/// The variable by which a shell asks.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// The script that a shell reads at its start.
pub(crate) fn script(shell: Shell, out: &mut impl Write) -> Result {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let Some(shell) = shells.completer(&name) else {
        let known = shells.names().collect::<Vec<_>>().join(", ");
        return Err(CliError::input(format!("there are no completions for {name}, only for {known}")));
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "ramp", "ramp", "ramp", &mut script).map_err(io::Error::other)?;
    Ok(out.write_all(&script)?)
}

/// Built-in scenarios and files.
pub(crate) fn scenarios(current: &OsStr) -> Vec<CompletionCandidate> {
    let named = beginning(current, "", Scenario::built_in_names().map(str::to_owned));
    named.into_iter().chain(PathCompleter::file().complete(current)).collect()
}

/// What steers a row, after the comma of the row before and behind a label.
pub(crate) fn rows(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_str().unwrap_or_default();
    let start = text.rfind([',', '=']).map_or(0, |at| at + 1);
    let (before, _) = text.split_at(start);
    let algorithms = rampcc::algorithms().iter().map(|algorithm| algorithm.id.to_owned());
    beginning(current, before, algorithms.chain(controls()))
}

/// The same, and groups of rows where no label stands before.
pub(crate) fn rows_and_groups(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_str().unwrap_or_default();
    let before = &text[..text.rfind([',', '=']).map_or(0, |at| at + 1)];
    let labelled = before.ends_with('=');
    let groups = groups().filter(|_| !labelled).map(|(word, _)| word.to_owned());
    beginning(current, before, groups).into_iter().chain(rows(current)).collect()
}

/// Algorithms alone, as `attach` takes them.
#[cfg(all(target_os = "linux", feature = "linux"))]
pub(crate) fn algorithms(current: &OsStr) -> Vec<CompletionCandidate> {
    let carried = rampcc::algorithms().iter().filter(|row| row.runs_without(rampcc::LINUX_LACKS));
    beginning(current, "", carried.map(|algorithm| algorithm.id.to_owned()))
}

/// What `explain` explains.
pub(crate) fn topics(current: &OsStr) -> Vec<CompletionCandidate> {
    let algorithms = rampcc::algorithms().iter().map(|algorithm| algorithm.id);
    let metrics = rampcc_lab::definitions();
    let reasons = rampcc::ExitReason::ALL.map(rampcc::ExitReason::word);
    let all = algorithms
        .chain(Scenario::built_in_names())
        .chain(metrics.iter().map(|metric| metric.id))
        .chain(reasons)
        .chain(crate::glossary::terms().map(|(term, _)| term));
    let more = crate::topics::all().into_iter().map(|topic| topic.name);
    let all: BTreeSet<String> = all.map(str::to_owned).chain(more).collect();
    beginning(current, "", all.into_iter())
}

/// Fields of a scenario with one path, and every parameter, each up to its `=`.
pub(crate) fn fields(current: &OsStr) -> Vec<CompletionCandidate> {
    let tables = schema::tables();
    let of = |table: &'static str, prefix: &'static str| {
        let fields =
            tables.iter().filter(move |t| t.name == table).flat_map(|t| t.fields()).collect::<Vec<_>>();
        fields.into_iter().map(move |field| format!("{prefix}{}=", field.name))
    };
    let tables = [("[path]", "path."), ("[path.reverse]", "path.reverse."), ("[sender]", "sender.")];
    let receiver = of("[receiver]", "receiver.");
    let parameters = rampcc::algorithms().iter().flat_map(|algorithm| {
        let parameters = algorithm.parameters.iter();
        parameters.map(|parameter| format!("algorithm.{}.{}=", algorithm.id, parameter.name))
    });
    let all = tables.into_iter().flat_map(|(table, prefix)| of(table, prefix)).chain(receiver);
    beginning(current, "", all.chain(parameters))
}

fn controls() -> impl Iterator<Item = String> {
    backends::ALL.iter().flat_map(|backend| backend.controls()).map(|control| control.name.to_owned())
}

/// Those of `names` that go on as `current` does after `before`.
fn beginning(current: &OsStr, before: &str, names: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let Some(begun) = current.to_str().and_then(|text| text.strip_prefix(before)) else {
        return Vec::new();
    };
    names
        .filter(|name| name.starts_with(begun))
        .map(|name| CompletionCandidate::new(format!("{before}{name}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(found: &[CompletionCandidate]) -> Vec<&str> {
        found.iter().filter_map(|candidate| candidate.get_value().to_str()).collect()
    }

    #[test]
    fn names_go_on_as_they_begin() {
        assert_eq!(values(&rows(OsStr::new("best,late=hystartp"))), ["best,late=hystartpp"]);
        assert_eq!(values(&rows_and_groups(OsStr::new("best,pap"))), ["best,papers"]);
        assert!(values(&rows_and_groups(OsStr::new("pa"))).contains(&"paced"));
        assert!(values(&rows_and_groups(OsStr::new("late=pap"))).is_empty());
        assert_eq!(values(&topics(OsStr::new("download_t"))), ["download_time"]);
        assert_eq!(values(&scenarios(OsStr::new("geo-sat"))), ["geo-satellite"]);
        assert!(values(&fields(OsStr::new("path.rev"))).contains(&"path.reverse.rate="));
        assert!(values(&fields(OsStr::new("path.b"))).contains(&"path.buffer="));
        assert_eq!(values(&fields(OsStr::new("algorithm.hystart.low"))), ["algorithm.hystart.low_window="]);
        assert!(values(&fields(OsStr::new("sender."))).len() > 3);
    }

    #[test]
    fn every_shell_has_a_script_that_asks_ramp() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            let mut out = Vec::new();
            script(shell, &mut out).unwrap();
            let script = String::from_utf8(out).unwrap();
            assert!(script.contains(VARIABLE) && script.contains("ramp"), "{shell}: {script}");
        }
    }
}
