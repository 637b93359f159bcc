//! An algorithm without one of its mechanisms, or with another constant.

use std::path::Path;

use rampcc_experiment::{ExperimentError, Result, Row, Steering};
use serde::Deserialize;

use super::{Cell, Geo, Line, Played, Sheet, harm, standing};
use crate::judge::Table;

/// Settings of an algorithm, each played as a row of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arms {
    arms: Vec<Arm>,
    #[serde(skip)]
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arm {
    /// `NAME=VALUE,…`.
    set: String,
    /// What that leaves out.
    label: Option<String>,
}

impl Arms {
    /// From a TOML file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = rampcc_scenario::read_small(path).map_err(|cause| ExperimentError::Request {
            field: "ablation",
            problem: format!("names a file that cannot be read, {}: {cause}", path.display()),
            help: None,
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// From its text.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let wrong = |message: String| {
            ExperimentError::Input {
            message,
            help: Some(
                "arms = [{ set = \"NAME=VALUE,…\", label = \"what that leaves out\" }, …], `label` if you like"
                    .to_owned(),
            ),
        }
        };
        let mut arms: Self =
            toml::from_str(text).map_err(|error| wrong(format!("{name}: {}", error.to_string().trim())))?;
        if arms.arms.is_empty() {
            return Err(wrong(format!("{name}: `arms` is empty")));
        }
        name.clone_into(&mut arms.name);
        Ok(arms)
    }

    /// A row for each, made of this one.
    pub fn rows(&self, of: &Row) -> Result<Vec<Row>> {
        self.arms.iter().map(|arm| self.row(of, arm)).collect()
    }

    fn row(&self, of: &Row, arm: &Arm) -> Result<Row> {
        let place = |problem: String| format!("{}, `{}`: {problem}", self.name, arm.set);
        let Steering::Core(core) = &of.steering else {
            return Err(ExperimentError::Input {
                message: place(format!("`{}` has no parameters", of.label)),
                help: None,
            });
        };
        let mut core = core.clone();
        for setting in arm.set.split(',') {
            let Some((name, value)) = setting.split_once('=') else {
                return Err(ExperimentError::Input {
                    message: place(format!("`{setting}` has no `=`")),
                    help: Some("NAME=VALUE,…".to_owned()),
                });
            };
            core = core.with(name.trim(), value.trim()).map_err(|error| ExperimentError::Input {
                message: place(error.to_string()),
                help: miette::Diagnostic::help(&error).map(|help| help.to_string()),
            })?;
        }
        core.label = format!("{} {}", of.label, arm.set);
        Ok(Row { code: of.code.clone(), ..core.into() })
    }

    /// In words: what is left out, and how.
    fn words(arm: &Arm) -> String {
        let settings: Vec<String> = (arm.set.split(','))
            .map(|setting| {
                let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
                format!("`{}` {}", name.trim(), value.trim())
            })
            .collect();
        let settings = settings.join(", ");
        arm.label.as_ref().map_or_else(|| settings.clone(), |label| format!("{label} ({settings})"))
    }
}

/// The table: what each arm of `of` does to times, losses and a running flow. The first population counts.
pub fn ablation(played: &Played, arms: &Arms, of: &Row) -> Result<Sheet> {
    let mut head = vec![
        "time over `ideal`: mean, 95 %".to_owned(),
        "clean, 95 %".to_owned(),
        format!("> 5 % slower than `{}`", rampcc::of_cubic().id),
        "lost in start-up: mean, 95 %, worst".to_owned(),
        "harm".to_owned(),
    ];
    head.extend(fast(played).map(|geo| format!("GEO, {}", geo.access)));
    let labels = arms.rows(of)?.into_iter().map(|row| row.label);
    let words = arms.arms.iter().map(Arms::words);
    let rows = std::iter::once((of.label.clone(), "as it is".to_owned())).chain(labels.zip(words));
    let line = |(label, measure): (String, String)| Line { measure, cells: cells(played, &label) };
    Ok(Sheet { head, lines: rows.map(line).collect() })
}

fn cells(played: &Played, label: &str) -> Vec<Cell> {
    let mut cells = played.populations.first().map_or_else(Vec::new, |table| of_population(table, label));
    cells.push(
        harm(&played.beside, label).map_or_else(Cell::default, |harm| Cell::plain(format!("{harm:.2}"))),
    );
    cells.extend(fast(played).map(|geo| {
        geo.of(label).map_or_else(Cell::default, |row| {
            let lost = if row.lost_packets > 0.0 {
                format!(", {:.0} lost", row.lost_packets)
            } else {
                String::new()
            };
            Cell::plain(format!("{:.1} s{lost}", row.seconds))
        })
    }));
    cells
}

/// Where a return link is not the bottleneck.
fn fast(played: &Played) -> impl Iterator<Item = &Geo> {
    played.geo.iter().filter(|geo| geo.is_fast())
}

fn of_population(table: &Table, label: &str) -> Vec<Cell> {
    let Some(row) = standing(table, label) else { return vec![Cell::default(); 4] };
    let [mean, p95, worst] = row.cost.startup_lost;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    [
        format!("{:.3}, {:.2}", row.ideal.mean, row.ideal.p95),
        row.clean.as_ref().map_or(String::new(), |over| format!("{:.2}", over.p95)),
        row.cubic.as_ref().map_or(String::new(), |versus| percent(versus.slower)),
        format!("{mean:.3}, {p95:.2}, {worst:.2}"),
    ]
    .map(Cell::plain)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_the_row_with_its_settings() {
        let arms = "# Half and none.\narms = [\n{ set = \"trial=100\", label = \"no trial\" },\n{ set = \"far=12, trial=35\" },\n]\n";
        let arms = Arms::parse("mine.toml", arms).unwrap();
        let rows = arms.rows(&Row::parse("reach:cap=11", &[]).unwrap()).unwrap();
        let set = |row: &Row| match &row.steering {
            Steering::Core(arm) => arm.set.clone(),
            Steering::Own(_) => Vec::new(),
        };
        let named = |name: &str, value| (name.to_owned(), value);
        assert_eq!(set(&rows[0]), [named("cap", 11), named("trial", 100)]);
        assert_eq!(set(&rows[1]), [named("cap", 11), named("far", 12), named("trial", 35)]);
        let words: Vec<String> = arms.arms.iter().map(Arms::words).collect();
        assert_eq!(words, ["no trial (`trial` 100)", "`far` 12, `trial` 35"]);
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, problem) in [
            ("arms = []", "`arms` is empty"),
            ("arm = []", "mine.toml: TOML parse error at line 1"),
            ("arms = [\n{ sets = \"trial=1\" }]", "line 2"),
        ] {
            let error = Arms::parse("mine.toml", text).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        }
        let reach = Row::parse("reach", &[]).unwrap();
        for (set, problem) in [
            ("trail=1", "mine.toml, `trail=1`"),
            ("trial", "`trial` has no `=`"),
            ("trial=0", "mine.toml, `trial=0`"),
        ] {
            let arms = Arms::parse("mine.toml", &format!("arms = [{{ set = \"{set}\" }}]")).unwrap();
            let error = arms.rows(&reach).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        }
    }
}
