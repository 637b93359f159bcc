//! A trial's file: its plan, a line for each connection that is done, its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::judge::{Ending, How, TrialReport, judge};
use super::plan::Plan;
use crate::error::HostError;
use crate::files::Directory;

/// In the directory of `--out`.
const NAME: &str = "trial.jsonl";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Trial(Plan),
    Connection(Connection),
    End(Ending),
}

/// Written as the trial goes on, so that what is there survives whatever happens to the process.
pub(super) struct TrialFile {
    directory: Directory,
    path: PathBuf,
    file: BufWriter<File>,
}

impl TrialFile {
    pub(super) fn create(directory: &Path, plan: &Plan) -> Result<Self, HostError> {
        let path = directory.join(NAME);
        let directory = Directory::make(directory).map_err(HostError::file("create", directory))?;
        let file = directory.create(NAME).map_err(HostError::file("create", &path))?;
        let mut trial = Self { directory, path, file: BufWriter::new(file) };
        trial.write(&Line::Trial(plan.clone()))?;
        trial.flush()?;
        Ok(trial)
    }

    pub(super) fn connection(&mut self, connection: &Connection) -> Result<(), HostError> {
        self.write(&Line::Connection(connection.clone()))
    }

    pub(super) fn end(&mut self, ending: &Ending) -> Result<(), HostError> {
        self.write(&Line::End(ending.clone()))?;
        self.flush()
    }

    pub(super) fn flush(&mut self) -> Result<(), HostError> {
        self.file.flush().map_err(HostError::file("write", &self.path))
    }

    /// Nothing was tried.
    pub(super) fn discard(self) -> Result<(), HostError> {
        self.directory.remove(NAME).map_err(HostError::file("remove", &self.path))
    }

    fn write(&mut self, line: &Line) -> Result<(), HostError> {
        let text = serde_json::to_string(line).expect("lines have string keys only");
        writeln!(self.file, "{text}").map_err(HostError::file("write", &self.path))
    }
}

impl TrialReport {
    /// Judges what an earlier trial has left in its directory.
    pub fn read(directory: &Path) -> Result<Self, HostError> {
        let path = directory.join(NAME);
        let file = Directory::open(directory).and_then(|directory| directory.regular(NAME));
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let file = file.and_then(|file| file.ok_or_else(missing)).map_err(HostError::file("open", &path))?;
        let (mut plan, mut ending, mut connections) = (None, None, Vec::new());
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(HostError::file("read", &path))?;
            match serde_json::from_str(&line) {
                Ok(Line::Trial(first)) if number == 0 => plan = Some(first),
                Ok(Line::Connection(connection)) if connection.arm < 2 => connections.push(connection),
                Ok(Line::End(last)) => ending = Some(last),
                // The last line of a process that died may be torn.
                Err(_) if plan.is_some() && !line.ends_with('}') => break,
                _ => {
                    return Err(HostError::input(
                        format!("{}, line {}: not a line of a trial", path.display(), number + 1),
                        "the file that `ramp trial --out` writes",
                    ));
                }
            }
        }
        let Some(plan) = plan else {
            return Err(HostError::input(format!("{} is empty", path.display()), "a trial that began"));
        };
        let ending = ending.unwrap_or_else(|| died(&connections));
        Ok(judge(&plan, &ending, &connections))
    }
}

/// All that is known of a trial without an end.
fn died(connections: &[Connection]) -> Ending {
    let of_arm = |arm| connections.iter().filter(|c| c.arm == arm).count() as u64;
    Ending {
        how: How::Unknown,
        after_s: connections.iter().map(|c| c.opened_s).fold(0.0, f64::max),
        assigned: [of_arm(0), of_arm(1)],
        open: [0, 0],
        refused: [0, 0],
        chosen: 0,
        without_storage: 0,
        lost_events: 0,
    }
}
