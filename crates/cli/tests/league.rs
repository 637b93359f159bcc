//! `ramp league --on quic`: the stack plays, and its own controllers are rows.

use support::{Place, stderr};

mod support;

const PATHS: &str =
    "[dsl]\naccess = \"dsl\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"40 ms\"\npath.buffer = \"1 bdp\"\n";

#[test]
fn the_league_is_played_by_the_backend_that_is_named() {
    let place = Place::new("league_on");
    place.write("paths.toml", PATHS);
    let play = |on: &str, rows: &str, out: &str| {
        place.ramp(&[
            "league",
            "--paths",
            "paths.toml",
            "--sizes",
            "1MB",
            "--algorithms",
            rows,
            "--on",
            on,
            "--out",
            out,
            "--json",
        ])
    };
    let quic = play("quic", "noq_cubic,hystart", "quic");
    assert!(quic.status.success(), "{}", stderr(&quic));
    let sim = play("sim", "hystart", "sim");
    let (quic, sim) = (String::from_utf8_lossy(&quic.stdout), String::from_utf8_lossy(&sim.stdout));
    assert!(quic.contains("noq_cubic") && quic.contains("hystart"), "{quic}");
    assert!(sim.contains("hystart") && !sim.contains("noq_cubic"), "{sim}");

    let refused = play("sim", "noq_cubic", "refused");
    let said = stderr(&refused);
    assert!(refused.status.code() == Some(2) && said.contains("--on quic"), "{said}");
}

#[test]
fn the_league_takes_what_a_comparison_has_played() {
    let place = Place::new("league_shares");
    // A path whose file is no larger than what the league downloads.
    let compare =
        ["compare", "league:dsl-02", "--exact", "--runs", "1", "--algorithms", "slow_start,hystart"];
    assert!(place.ramp(&compare).status.success());
    let league = place.ramp(&["league", "--quick", "--algorithms", "slow_start,hystart"]);
    assert!(league.status.success() && stderr(&league).starts_with("2 of "), "{}", stderr(&league));
}
