//! Which rows a backend plays, and which it refuses or leaves out.

use rampcc_backend::Backend;
use rampcc_lab::LeftOut;

use crate::error::{ExperimentError, Result};
use crate::row::{Row, Steering};

/// How rows were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// By name: what cannot be played is refused. Otherwise the backend's own rows are added.
    pub named: bool,
    /// Of this backend alone. Otherwise what only another one can play is left out.
    pub alone: bool,
}

/// The rows that a backend plays.
#[derive(Clone, Debug)]
pub struct Playable {
    /// In order.
    pub here: Vec<Row>,
    /// Those that a group asked for and that cannot be played here.
    pub left_out: Vec<LeftOut>,
}

impl Playable {
    /// "without best, paced: ...": what must be said of those that are left out.
    pub fn without(&self) -> Option<String> {
        let all = self.left_out.iter().map(|left_out| {
            let why = left_out.why.trim_end_matches('.');
            format!("without {}: {why}", left_out.rows.join(", "))
        });
        (!self.left_out.is_empty()).then(|| all.collect::<Vec<_>>().join("; "))
    }

    fn leave_out(&mut self, label: &str, why: String) {
        match self.left_out.iter_mut().find(|known| known.why == why) {
            Some(known) => known.rows.push(label.to_owned()),
            None => self.left_out.push(LeftOut { rows: vec![label.to_owned()], why }),
        }
    }
}

/// Those of `rows` that `backend` can play, and the others with the reasons.
///
/// If the rows were `asked` for by name, each is played or refused, but those that a group brought; if not, the backend's own are
/// added. What a group brought and is not here is left out. A row that only another backend can play is left out, unless
/// this one is alone.
pub fn playable(rows: &[Row], backend: &dyn Backend, asked: Asked) -> Result<Playable> {
    let Asked { named, alone } = asked;
    let rows: Vec<Row> = rows.iter().map(|row| row.on(backend)).collect();
    let foreign = |row: &&Row| match row.control() {
        Some(control) => !backend.controls().contains(control),
        None => !backend.steers(),
    };
    // What was not named may be missing.
    let rows: Vec<Row> = rows.into_iter().filter(|row| !(row.brought && foreign(&row))).collect();
    if let Some(row) = rows.iter().find(foreign).filter(|_| alone) {
        return Err(foreign_row(row, backend));
    }
    let here = rows.iter().filter(|row| !foreign(row)).cloned();
    let (needy, here): (Vec<Row>, Vec<Row>) = here.partition(|row| row.unmet(backend).is_some());
    let refused = needy.iter().find(|row| !row.brought && alone);
    if let Some(row) = refused.or_else(|| needy.first().filter(|_| here.is_empty())) {
        return Err(needy_row(row, backend));
    }
    let mut found = Playable { here, left_out: Vec::new() };
    for row in &needy {
        found.leave_out(&row.label, row.unmet(backend).unwrap_or_default());
    }
    if !named {
        own(&mut found, backend);
    }
    without_obstacle(found, backend)
}

/// The backend's own controls besides the rows, as far as it has them here.
fn own(found: &mut Playable, backend: &dyn Backend) {
    for control in backend.controls() {
        match backend.offers(control) {
            Ok(()) => found.here.push(Row {
                label: control.name.to_owned(),
                steering: Steering::Own(control),
                brought: true,
                code: None,
            }),
            Err(what_helps) => {
                found.leave_out(
                    control.name,
                    format!("{} does not have it now ({what_helps})", backend.title()),
                );
            }
        }
    }
}

/// Without the rows that something in this process keeps from being played; an error if one of them was named, or none is left.
fn without_obstacle(mut found: Playable, backend: &dyn Backend) -> Result<Playable> {
    let Some(obstacle) = found.here.iter().find_map(|row| backend.obstacle(row.control())) else {
        return Ok(found);
    };
    let (here, kept): (Vec<Row>, Vec<Row>) =
        found.here.into_iter().partition(|row| backend.obstacle(row.control()).is_none());
    if here.is_empty() || kept.iter().any(|row| !row.brought) {
        let labels: Vec<&str> = kept.iter().map(|row| row.label.as_str()).collect();
        return Err(ExperimentError::Unavailable {
            backend: backend.title(),
            rows: labels.join(", "),
            help: Some(obstacle),
        });
    }
    found.here = here;
    for row in kept {
        found.leave_out(&row.label, obstacle.clone());
    }
    Ok(found)
}

fn needy_row(row: &Row, backend: &dyn Backend) -> ExperimentError {
    ExperimentError::input_help(
        format!("{} cannot play {}: {}", backend.title(), row.label, row.unmet(backend).unwrap_or_default()),
        "play it on `sim` (--on sim), which meets every need; `ramp list algorithms` says where each row runs",
    )
}

fn foreign_row(row: &Row, backend: &dyn Backend) -> ExperimentError {
    let Some(control) = row.control() else {
        return ExperimentError::input(format!("{} does not have `{}`", backend.title(), row.label));
    };
    let twin = control.simulated_by.and_then(|traits| rampcc::having(traits).next());
    let like = twin.map_or(String::new(), |algorithm| {
        format!("; `{}`, which every backend has, leaves start-up as it does", algorithm.id)
    });
    ExperimentError::input_help(
        format!("{} does not have `{}`, {}", backend.title(), row.label, control.meaning),
        format!("play it on `{}` (--on {0}){like}", control.backend),
    )
}
