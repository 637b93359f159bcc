//! The Python package `rampcc`: the engine's work as functions, its results as Arrow tables.
//!
//! This is the part of the package that Python calls `rampcc._engine`; what users see, with its documentation and types, is in
//! `rampcc/*.py`. Nothing here decides anything: arguments become a request of `rampcc-experiment`, `rampcc-league` or `rampcc-reproduce`, and the
//! results become tables.

mod asked;
mod compare;
mod elsewhere;
mod error;
mod league;
mod reproduce;
mod run;
mod table;
mod work;

#[pyo3::pymodule]
mod _engine {
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::elsewhere::{Tasks, play, play_candidate};
    #[pymodule_export]
    use super::league::league;
    #[pymodule_export]
    use super::reproduce::reproduce;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    const VERSION: &str = rampcc_experiment::VERSION;
}
