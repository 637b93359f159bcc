//! Trials that make their own load: nginx behind emulated paths, to the end or killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use crate::bench::{Bench, finish, text};
use crate::commands::{FREED, links, offered};
use crate::ready::program_path;
use crate::tally::Tally;

const PATHS: &str = include_str!("../../../../docs/guide/trial-paths.toml");
/// On trial here alone.
const TRIED: &str = "reach";
const SECONDS: &str = "6";

/// Why there are none.
pub(crate) fn no_nginx() -> Option<&'static str> {
    program_path("nginx").is_none().then_some("nginx is not installed: scripts/setup test")
}

pub(crate) fn over(bench: &Bench, rng: &mut Pcg64Mcg, whole: Duration, tally: &mut Tally) {
    let place = bench.root.join("over");
    fs::create_dir_all(&place).expect("a directory");
    fs::write(place.join("paths.toml"), PATHS).expect("a scenario");
    while tally.goes_on() {
        let outcome = ended(&place, tally).and_then(|()| nothing_left(&place));
        tally.tried("a trial over emulated paths", outcome.and_then(|()| bench.connects()));
        // An older kernel keeps what a dead process has registered until the next command takes it away.
        if !links() || tally.enough() {
            continue;
        }
        let delay = whole.mul_f64(rng.random_range(0.5..2.0));
        tally.count("killed", u64::from(kill(&place, delay)));
        let outcome = nothing_left(&place);
        tally.tried(
            &format!("a trial over emulated paths, killed after {delay:?}"),
            outcome.and_then(|()| bench.connects()),
        );
    }
}

/// Nothing is to stop it early: only counts are judged.
fn command(place: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramp"));
    command.args(["trial", TRIED, "--against", "cubic", "--over"]).arg(place.join("paths.toml"));
    command.args([
        "--for",
        &format!("{SECONDS}s"),
        "--drain",
        "4s",
        "--alpha",
        "0.001",
        "--margin",
        "99",
        "--json",
    ]);
    command.current_dir(place).env("TMPDIR", place).env_remove("COLUMNS").env_remove("NO_COLOR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command")
}

fn ended(place: &Path, tally: &mut Tally) -> Result<(), String> {
    let output = finish(command(place), &["trial", "--over"])?;
    let said = text(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}, and it says: {said}", output.status));
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let count = |arm: usize, what: &str| report["arms"][arm][what].as_u64().unwrap_or_default();
    for arm in [0, 1] {
        let [assigned, delivered] = ["assigned", "delivered"].map(|what| count(arm, what));
        let kept = delivered + count(arm, "cut_off") + count(arm, "open");
        if delivered == 0 || assigned != kept {
            return Err(format!("of {assigned} connections {delivered} were delivered: {report}"));
        }
        tally.count("connections delivered", delivered);
    }
    let exits = report["arms"][0]["exits"].as_object().map_or(0, serde_json::Map::len);
    if exits == 0 {
        return Err(format!("no start-up has ended: {report}"));
    }
    Ok(())
}

/// Whether it was still there.
#[expect(clippy::disallowed_methods, reason = "it is killed at a time, not at a step")]
fn kill(place: &Path, delay: Duration) -> bool {
    let mut child = command(place);
    thread::sleep(delay);
    let hit = child.try_wait().expect("its state").is_none() && child.kill().is_ok();
    let _ = child.wait();
    hit
}

/// Neither of its algorithm nor of its servers.
fn nothing_left(place: &Path) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let mut left: BTreeSet<String> = offered(TRIED).into_iter().collect();
        left.extend(servers(place));
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > FREED {
            return Err(format!("{left:?} is left"));
        }
        thread::yield_now();
    }
}

/// Processes of nginx whose files are in this place.
fn servers(place: &Path) -> Vec<String> {
    let own = place.to_string_lossy();
    let all = fs::read_dir("/proc").expect("procfs").flatten();
    let told = all.filter_map(|entry| {
        let line = text(&fs::read(entry.path().join("cmdline")).ok()?);
        (line.contains("nginx") && line.contains(&*own)).then(|| line.replace('\0', " "))
    });
    told.collect()
}
