//! A trial's file: its plan, a line for each connection that is done, its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::judge::{Ending, How, TrialReport, judge};
use super::plan::Plan;
use crate::error::{HostError, Result};
use crate::files::Directory;

/// Bytes that no line takes.
const LONGEST: usize = 1 << 20;
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
    pub(super) fn create(directory: &Path, plan: &Plan) -> Result<Self> {
        let path = directory.join(NAME);
        let directory = Directory::make(directory).map_err(HostError::file("create", directory))?;
        let file = directory.create(NAME).map_err(HostError::file("create", &path))?;
        let mut trial = Self { directory, path, file: BufWriter::new(file) };
        trial.write(&Line::Trial(plan.clone()))?;
        trial.flush()?;
        Ok(trial)
    }

    pub(super) fn connection(&mut self, connection: &Connection) -> Result {
        self.write(&Line::Connection(connection.clone()))
    }

    pub(super) fn end(&mut self, ending: &Ending) -> Result {
        self.write(&Line::End(ending.clone()))?;
        self.flush()
    }

    pub(super) fn flush(&mut self) -> Result {
        self.file.flush().map_err(HostError::file("write", &self.path))
    }

    /// Nothing was tried.
    pub(super) fn discard(self) -> Result {
        self.directory.remove(NAME).map_err(HostError::file("remove", &self.path))
    }

    fn write(&mut self, line: &Line) -> Result {
        let text = serde_json::to_string(line).expect("lines have string keys only");
        writeln!(self.file, "{text}").map_err(HostError::file("write", &self.path))
    }
}

impl TrialReport {
    /// Judges what an earlier trial has left in its directory.
    pub fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(NAME);
        let file = Directory::open(directory).and_then(|directory| directory.regular(NAME));
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let file = file.and_then(|file| file.ok_or_else(missing)).map_err(HostError::file("open", &path))?;
        let (mut plan, mut ending, mut connections) = (None, None, Vec::new());
        let mut lines = BufReader::new(file);
        for number in 0.. {
            let mut line = Vec::new();
            lines
                .by_ref()
                .take(LONGEST as u64)
                .read_until(b'\n', &mut line)
                .map_err(HostError::file("read", &path))?;
            if line.is_empty() {
                break;
            }
            let whole = line.pop_if(|byte| *byte == b'\n').is_some();
            match serde_json::from_slice(&line) {
                Ok(Line::Trial(first)) if number == 0 => plan = Some(first),
                Ok(Line::Connection(connection)) if connection.arm < 2 => connections.push(connection),
                Ok(Line::End(last)) => ending = Some(last),
                // The last line of a process that died may be torn.
                Err(_) if plan.is_some() && !whole && line.len() < LONGEST => break,
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
        nested: 0,
        without_storage: 0,
        lost_events: 0,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{env, fs, process};

    use super::*;

    /// Of two arms for ten minutes in blocks of half a minute; `share`: of the first, in 1/10,000 of connections.
    pub(in crate::trial) fn plan(share: u32) -> Plan {
        Plan {
            arms: ["best".into(), "cubic".into()],
            controls: ["try_best".into(), "cubic".into()],
            cgroup: "/sys/fs/cgroup/web".into(),
            share,
            length_s: 600.0,
            block_s: 30.0,
            margin: 0.05,
            alpha: 0.05,
            all: false,
            tick_s: 0.004,
            began_s: 0,
            command: String::new(),
            version: String::new(),
        }
    }

    #[test]
    fn only_the_last_line_may_be_torn() {
        let directory = env::temp_dir().join(format!("ramp-trial-file-{}", process::id()));
        let _ = fs::remove_dir_all(&directory);
        let mut trial = TrialFile::create(&directory, &plan(5_000)).expect("it can be written");
        trial.end(&died(&[])).expect("it can be written");
        drop(trial);
        let path = directory.join(NAME);
        let text = fs::read_to_string(&path).expect("the file");
        let lines: Vec<_> = text.lines().collect();
        let [first, last] = lines[..] else { panic!("{text}") };
        let read = |text: &str| {
            fs::write(&path, text).expect("a file");
            TrialReport::read(&directory).map_err(|error| error.to_string())
        };
        assert!(read(&text).is_ok() && read(&format!("{first}\n{last}")).is_ok());
        let torn = &last[..last.len() / 2];
        let report = read(&format!("{first}\n{torn}")).expect("its process has died");
        assert_eq!(report.ending.how, How::Unknown);
        for damaged in [
            format!("{first}\n{torn}\n{last}\n"),
            format!("{first}\nxxx\n{last}\n"),
            format!("{first}\n\n{last}\n"),
            format!("{first}\n{}", "x".repeat(LONGEST + 1)),
        ] {
            let error = read(&damaged).expect_err("it is damaged");
            assert!(error.contains("line 2: not a line of a trial"), "{error}");
        }
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
