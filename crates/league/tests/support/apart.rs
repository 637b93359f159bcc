//! Candidates in processes of the test's own program.

use std::env;

use rampcc_league::{Apart, serve_candidate};
use rampcc_sim::Simulator;

pub(crate) fn apart() -> Apart {
    let own = env::current_exe().unwrap();
    Apart::new("cc", own, &["--exact", "apart::serve", "--ignored", "--test-threads=1"])
}

#[test]
#[ignore = "the process of a candidate, which other tests start"]
fn serve() {
    serve_candidate(&Simulator).unwrap();
}
