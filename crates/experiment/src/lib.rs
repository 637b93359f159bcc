//! Comparisons of start-up algorithms: planned, played on any backend, kept, swept, judged and judged again.
//!
//! What `ramp compare` does, without a command line: a [`Request`] says what to compare, [`Experiment::plan`] checks it,
//! [`Experiment::play`] finds or plays every run and judges, and [`judge_again`] does so from what is on disk. Runs are kept in
//! files, each under everything that decides it, and found again by it. Who plays is a [`Backend`](rampcc_backend::Backend), in this
//! process or in [other ones](Workers). Progress goes to a [`Progress`]; a flag interrupts. Nothing is printed.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use rampcc_backend::Backend;
//! use rampcc_experiment::{Experiment, ExperimentError, Found, Request};
//! use rampcc_scenario::Scenario;
//! use rampcc_sim::Simulator;
//!
//! # fn main() -> Result<(), ExperimentError> {
//! let backends: [&dyn Backend; 1] = [&Simulator];
//! let path = "size = '200 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
//! let mut request = Request::new(&backends, |settings| {
//!     Ok(Scenario::parse_with("short", path, None, settings)?)
//! });
//! request.algorithms = vec!["slow_start".into(), "hystart".into()];
//! request.around.paths = Some(0);
//! # let place = std::env::temp_dir().join(format!("ramp-experiment-doc-{}", std::process::id()));
//! request.out = Some(place.clone());
//!
//! let finished = Experiment::plan(request, &())?.play(&(), &AtomicBool::new(false))?;
//! let Found::Comparisons(results) = finished.found else { panic!("no field is swept") };
//! let comparison = &results[0].comparisons()[0];
//! assert_eq!(comparison.arms.len(), 2);
//! assert!(place.join("report.html").is_file());
//! # std::fs::remove_dir_all(&place).unwrap();
//! # Ok(())
//! # }
//! ```

mod asked;
mod context;
mod elsewhere;
mod error;
mod experiment;
mod judged;
mod log;
mod neighbours;
mod place;
mod plan;
mod play;
mod playable;
mod progress;
mod request;
mod results;
mod row;
mod run;
mod session;
mod sides;
mod store;
mod sweep;
mod variant;
mod version;

pub use asked::{Sweep, groups};
pub use context::{context, digest};
pub use elsewhere::{Keep, Parcel, Received, Sender, Sent, Task, Tasks, Workers, failed};
pub use error::{ExperimentError, Result};
pub use experiment::{Experiment, Finished, check};
pub use judged::{Found, judge_again};
pub use neighbours::{Around, neighbourhood};
pub use place::comparisons;
pub use plan::{Plan, PlannedRow};
pub use play::{Played, Playing, Refused};
pub use playable::{Asked, Playable, playable};
pub use progress::{Ahead, Progress};
pub use request::{MakeScenario, Request};
pub use results::Results;
pub use row::{Code, Player, Row, Steering, control};
pub use run::{Kept, Run};
pub use session::{Job, Session, Wish};
pub use store::{Store, hexadecimal, write_whole};
pub use sweep::Swept;
pub use version::VERSION;
