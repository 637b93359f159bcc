//! Which rows a backend plays, and which it refuses or leaves out.

use rampcc_backend::Backend;

use crate::error::ExperimentError;
use crate::row::{Row, Steering};

/// How rows were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// By name: what cannot be played is refused. Otherwise the backend's own rows are beside them.
    pub named: bool,
    /// Of this backend alone. Otherwise what only another one can play is left out.
    pub alone: bool,
}

/// Those of `rows` that `backend` can play, and what must be said of the others.
///
/// If the rows were `asked` for by name, each is played or refused, but those that a group brought; if not, the backend's own are
/// beside them. What a group brought and is not here is left out. A row that only another backend can play is left out, unless
/// this one is alone.
pub fn playable(
    rows: &[Row],
    backend: &dyn Backend,
    asked: Asked,
) -> Result<(Vec<Row>, Option<String>), ExperimentError> {
    let Asked { named, alone } = asked;
    let rows: Vec<Row> = rows.iter().map(|row| row.on(backend)).collect();
    let foreign = |row: &&Row| match row.control() {
        Some(control) => !backend.controls().contains(control),
        None => !backend.steers(),
    };
    // What nobody named is not missed.
    let rows: Vec<Row> = rows.into_iter().filter(|row| !(row.brought && foreign(&row))).collect();
    if let Some(row) = rows.iter().find(foreign).filter(|_| alone) {
        return Err(foreign_row(row, backend));
    }
    let here = rows.iter().filter(|row| !foreign(row)).cloned();
    let (needy, mut rows): (Vec<Row>, Vec<Row>) = here.partition(|row| row.unmet(backend).is_some());
    let refused = needy.iter().find(|row| !row.brought && alone);
    if let Some(row) = refused.or_else(|| needy.first().filter(|_| rows.is_empty())) {
        return Err(needy_row(row, backend));
    }
    let mut left_out: Vec<String> = needy.iter().filter_map(|row| row.unmet(backend)).collect();
    if !named {
        let here = backend.controls().iter().filter(|control| backend.offers(control).is_ok());
        rows.extend(here.map(|control| Row {
            label: control.name.to_owned(),
            steering: Steering::Own(control),
            brought: true,
            code: None,
        }));
    }
    if let Some(obstacle) = rows.iter().find_map(|row| backend.obstacle(row.control())) {
        let (without, with): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| backend.obstacle(row.control()).is_none());
        let labels: Vec<&str> = with.iter().map(|row| row.label.as_str()).collect();
        let labels = labels.join(", ");
        if without.is_empty() || with.iter().any(|row| !row.brought) {
            return Err(ExperimentError::Unavailable {
                backend: backend.title(),
                rows: labels,
                help: Some(obstacle),
            });
        }
        left_out.push(format!("{labels}: {obstacle}"));
        rows = without;
    }
    let said = (!left_out.is_empty()).then(|| format!("without {}", left_out.join("; without ")));
    Ok((rows, said))
}

fn needy_row(row: &Row, backend: &dyn Backend) -> ExperimentError {
    ExperimentError::input_help(
        format!("{} cannot play {}", backend.title(), row.unmet(backend).unwrap_or_default()),
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
