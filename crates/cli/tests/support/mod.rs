//! Runs the built command in a directory of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) use place::Place;

#[path = "../../../experiment/tests/support/place.rs"]
mod place;

/// A small path: a few round trips, two rows, two seeds. Without jitter there would be one run.
pub(crate) const SMALL: &str = "compare --rate 20mbit --rtt 40ms --buffer 1bdp --size 500kB --algorithms slow_start,hystart \
                                --runs 2 --jitter 1ms --exact";

/// A command line as it is typed, without quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

impl Place {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command, in this directory, without anything of the environment that changes output.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramp"));
        command.current_dir(&self.0).args(arguments);
        command.env_remove("COLUMNS").env_remove("NO_COLOR");
        command
    }

    pub(crate) fn ramp(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.ramp(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The command until no run is refused: a busy machine refuses some, and what is finished is kept.
    pub(crate) fn patiently(&self, arguments: &[&str]) -> Output {
        for _ in 0..10 {
            let output = self.ramp(arguments);
            if output.status.success() || !stderr(&output).contains("refused") {
                return output;
            }
        }
        panic!("refused ten times: {arguments:?}");
    }

    /// The command must fail with this code and say all of `parts`; its words on standard error, on one line.
    pub(crate) fn fails(&self, code: i32, arguments: &[&str], parts: &[&str]) -> String {
        let output = self.ramp(arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{arguments:?} does not say `{part}`: {said}");
        }
        assert!(output.stdout.is_empty() && !said.contains("panicked"), "{arguments:?}: {said}");
        said
    }

    /// Files of a directory, by name, with their contents.
    pub(crate) fn files(&self, directory: &str) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.path(directory))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
            .collect();
        files.sort();
        files
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What it says, on one line: lines are wrapped to the width of a pipe.
pub(crate) fn said(output: &Output) -> String {
    stderr(output)
        .replace(['\n', '│'], " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" | ", " ")
}
