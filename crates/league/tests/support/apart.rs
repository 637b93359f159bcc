//! Candidates in processes of the test's own program.

use std::env;
use std::process::{Command, Stdio};

use rampcc_league::{Apart, serve_candidate};
use rampcc_sim::Simulator;

/// A name that no test has: it tells the process of a candidate from the suite.
const SERVING: &str = "serving-a-candidate";
const ARGUMENTS: [&str; 4] = ["--exact", "apart::serve", SERVING, "--test-threads=1"];

pub(crate) fn apart() -> Apart {
    Apart::new("cc", env::current_exe().unwrap(), &ARGUMENTS)
}

/// The process of a candidate where another test starts it. In the suite it starts one without another end: such a
/// process ends by itself.
#[test]
fn serve() {
    if env::args().any(|argument| argument == SERVING) {
        serve_candidate(&Simulator).unwrap();
        return;
    }
    let alone =
        Command::new(env::current_exe().unwrap()).args(ARGUMENTS).stdin(Stdio::null()).output().unwrap();
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stdout));
}
