//! Parts of a sweep: a comparison for each value of a scenario's field, a row for each value of a parameter.

use std::collections::BTreeSet;
use std::slice;

use rampcc::Traits;
use rampcc_backend::Backend;
use rampcc_scenario::{Arm, Setting, nearest};

use crate::error::{ExperimentError, Result};
use crate::row::{Row, control};

/// Most comparisons that sweeps may ask for.
const VARIANTS_MAX: usize = 1000;

/// The product of all swept scenario fields, and rows.
pub struct Sweep {
    /// Settings of each comparison; one empty list without sweeps.
    pub variants: Vec<Vec<Setting>>,
    /// Rows of each swept parameter.
    pub rows: Vec<Vec<Arm>>,
}

impl Sweep {
    /// From `FIELD=A,B,C` each; fields that begin with `algorithm.` make rows.
    pub fn parse(texts: &[String]) -> Result<Self> {
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
                let problem = format!("asks for more than {VARIANTS_MAX} comparisons");
                return Err(ExperimentError::request("sweep", problem));
            }
        }
        Ok(sweep)
    }

    /// The rows of a comparison: `named` ones and those of named groups (none: the default ones, or only the yardstick
    /// with swept rows), each swept algorithm in the place of its plain row.
    pub fn rows(&self, named: &[String], backends: &[&dyn Backend]) -> Result<Vec<Row>> {
        let mut all = if !named.is_empty() {
            named_rows(named, backends)?
        } else if self.rows.is_empty() {
            members(Traits::DEFAULT).collect()
        } else {
            members(Traits::KNOWS_PATH).collect()
        };
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
                let field = if swept { "sweep" } else { "algorithms" };
                Err(ExperimentError::request(field, format!("names the row `{}` twice", twice.label)))
            }
            None => Ok(all),
        }
    }
}

/// Every row of the registry, as `--algorithms` calls them.
pub(crate) const EVERY: &str = "all";

/// Groups of rows that a request may name, each with its meaning.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static str)> {
    let default = Traits::ALL.into_iter().filter(|each| each.bit == Traits::DEFAULT);
    let named = default.chain(Traits::FAMILIES).map(|each| (each.word, each.meaning));
    [(EVERY, "every algorithm")].into_iter().chain(named)
}

/// The trait that each member of a group has; every row has [`Traits::NONE`].
fn group(word: &str) -> Option<Traits> {
    if word == EVERY {
        return Some(Traits::NONE);
    }
    let default = Traits::ALL.into_iter().filter(|each| each.bit == Traits::DEFAULT);
    default.chain(Traits::FAMILIES).find(|each| each.word == word).map(|each| each.bit)
}

/// Rows of a group in registry order, the yardstick among them.
fn members(of: Traits) -> impl Iterator<Item = Row> {
    let member = move |traits: Traits| traits.has(of) || traits.has(Traits::KNOWS_PATH);
    rampcc::algorithms()
        .iter()
        .filter(move |algorithm| member(algorithm.traits))
        .map(Arm::new)
        .map(|arm| Row { brought: true, ..arm.into() })
}

/// Rows as they are asked for; what is named by itself is not brought again by a group.
fn named_rows(named: &[String], backends: &[&dyn Backend]) -> Result<Vec<Row>> {
    if named.iter().all(|text| text.trim().is_empty()) {
        return Err(ExperimentError::request("algorithms", "is empty"));
    }
    let texts = whole_arms(named, backends);
    if texts.iter().any(String::is_empty) {
        return Err(ExperimentError::request("algorithms", "has an empty row between two commas"));
    }
    let alone: Vec<Row> = texts
        .iter()
        .filter(|text| group(text).is_none())
        .map(|text| Row::parse(text, backends).map_err(|error| near_group(text).unwrap_or(error)))
        .collect::<Result<_, _>>()?;
    let mut labels: BTreeSet<String> = alone.iter().map(|row| row.label.clone()).collect();
    let mut alone = alone.into_iter();
    let mut rows = Vec::new();
    for text in &texts {
        match group(text) {
            Some(of) => rows.extend(members(of).filter(|row| labels.insert(row.label.clone()))),
            None => rows.extend(alone.next()),
        }
    }
    Ok(rows)
}

fn near_group(text: &str) -> Option<ExperimentError> {
    let known: Vec<&str> = groups().map(|(word, _)| word).collect();
    let word = nearest(text, known.iter().copied())?;
    Some(ExperimentError::input_help(
        format!("there is no algorithm or group `{text}`; did you mean `{word}`?"),
        format!("groups: {}; algorithms: ramp list algorithms", known.join(", ")),
    ))
}

/// Rows as people separate them: a comma also separates the settings of one row (`best:a=1,b=2,hystart`).
fn whole_arms(pieces: &[String], backends: &[&dyn Backend]) -> Vec<String> {
    let mut arms: Vec<String> = Vec::new();
    for piece in pieces.iter().flat_map(|p| p.split(',')).map(str::trim) {
        let is_setting = !piece.contains(':')
            && piece.split_once('=').is_some_and(|(name, value)| {
                let value = value.trim();
                let is_row = rampcc::algorithm(value).is_some() || control(value, backends).is_some();
                // Its values are names of algorithms, too: `congestion-control=vegas`.
                !is_row || Arm::has_field(name.trim())
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
        sweep.rows(&strings(named), &[]).unwrap().into_iter().map(|a| a.label).collect()
    }

    #[test]
    fn commas_separate_rows_and_settings_of_a_row() {
        let named = strings(&["hystart:pacing=always,congestion-control=vegas,best"]);
        assert_eq!(whole_arms(&named, &[]), ["hystart:pacing=always,congestion-control=vegas", "best"]);
        let pieces = strings(&["hystart:low_window=32,samples=4,best", "late=hystart,ideal"]);
        assert_eq!(
            whole_arms(&pieces, &[]),
            ["hystart:low_window=32,samples=4", "best", "late=hystart", "ideal"]
        );
    }

    #[test]
    fn without_names_the_default_group_is_compared() {
        assert_eq!(labels(&[], &[]), labels(&["default"], &[]));
        assert!(labels(&[], &[]).contains(&"ideal".to_owned()));
    }

    #[test]
    fn a_group_brings_its_rows_once_and_the_yardstick() {
        let all: Vec<&str> = rampcc::algorithms().iter().map(|algorithm| algorithm.id).collect();
        assert_eq!(labels(&["all"], &[]), all);
        for family in Traits::FAMILIES {
            let members = labels(&[family.word], &[]);
            let belongs = |id: &String| {
                let traits = rampcc::algorithm(id).unwrap().traits;
                traits.has(family.bit) || traits.has(Traits::KNOWS_PATH)
            };
            assert!(members.len() > 1 && members.iter().all(belongs), "{members:?}");
        }
        let both = labels(&["deployed,papers,all"], &[]);
        assert_eq!(both.len(), all.len(), "{both:?}");
        let mixed = labels(&["best,papers,late=hystart,best:track=1"], &[]);
        assert_eq!(mixed.iter().filter(|label| *label == "best").count(), 1);
        assert_eq!(
            (mixed[0].as_str(), &mixed[mixed.len() - 2..]),
            ("best", &["late".to_owned(), "best track=1".to_owned()][..])
        );
        let sweep = Sweep::parse(&[]).unwrap();
        let rows = sweep.rows(&strings(&["best,all"]), &[]).unwrap();
        assert!(!rows[0].brought && rows[1..].iter().all(|row| row.brought));
        let error = sweep.rows(&strings(&["pappers"]), &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean `papers`?"), "{error}");
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
