//! Parts of a sweep: a comparison for each value of a scenario's field, a row for each value of a parameter.

use std::collections::BTreeSet;
use std::slice;

use rampcc::Traits;
use rampcc_backend::Backend;
use rampcc_scenario::{Arm, Setting};

use crate::error::ExperimentError;
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
    pub fn parse(texts: &[String]) -> Result<Self, ExperimentError> {
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

    /// The rows of a comparison: `named` ones (none: the default ones, or only the yardstick beside swept rows), each
    /// swept algorithm in the place of its plain row.
    pub fn rows(&self, named: &[String], backends: &[&dyn Backend]) -> Result<Vec<Row>, ExperimentError> {
        let mut all: Vec<Row> = Vec::new();
        if !named.is_empty() {
            if named.iter().all(|text| text.trim().is_empty()) {
                return Err(ExperimentError::request("algorithms", "is empty"));
            }
            for text in whole_arms(named, backends) {
                if text.is_empty() {
                    return Err(ExperimentError::request(
                        "algorithms",
                        "has an empty row between two commas",
                    ));
                }
                all.push(Row::parse(&text, backends)?);
            }
        } else if self.rows.is_empty() {
            let compared = |traits: Traits| traits.has(Traits::DEFAULT) || traits.has(Traits::KNOWS_PATH);
            for algorithm in rampcc::algorithms().iter().filter(|algorithm| compared(algorithm.traits)) {
                all.push(Arm::parse(algorithm.id)?.into());
            }
        } else {
            for algorithm in rampcc::having(Traits::KNOWS_PATH) {
                all.push(Arm::parse(algorithm.id)?.into());
            }
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
                let field = if swept { "sweep" } else { "algorithms" };
                Err(ExperimentError::request(field, format!("names the row `{}` twice", twice.label)))
            }
            None => Ok(all),
        }
    }
}

/// Rows as people separate them: a comma also separates the settings of one row (`best:a=1,b=2,hystart`).
fn whole_arms(pieces: &[String], backends: &[&dyn Backend]) -> Vec<String> {
    let mut arms: Vec<String> = Vec::new();
    for piece in pieces.iter().flat_map(|p| p.split(',')).map(str::trim) {
        let is_setting = !piece.contains(':')
            && piece.split_once('=').is_some_and(|(_, value)| {
                let value = value.trim();
                rampcc::algorithm(value).is_none() && control(value, backends).is_none()
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
        let pieces = strings(&["hystart:low_window=32,samples=4,best", "late=hystart,ideal"]);
        assert_eq!(
            whole_arms(&pieces, &[]),
            ["hystart:low_window=32,samples=4", "best", "late=hystart", "ideal"]
        );
    }

    #[test]
    fn without_names_all_algorithms_are_compared() {
        assert_eq!(labels(&[], &[]).len(), rampcc::algorithms().len());
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
