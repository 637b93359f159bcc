//! A fingerprint of what is kept of a run, so that one that was kept otherwise is not found.

fn main() {
    rampcc_fingerprint::emit("RAMP_LEAGUE_SOURCES", &["src/outcome.rs", "src/pairs.rs"]);
    rampcc_fingerprint::emit("RAMP_LEAGUE_SIDES_SOURCES", &["src/sides/runs.rs"]);
}
