//! A few of the recorded runs again, on this machine's kernel.

use rampcc_testbed::{Options, TestbedError, Verdict, obstacle};

use crate::cases::{CASES, Case};
use crate::ready;
use crate::run::Run;

/// Case, row and arm.
const LIVE: [(&str, &str, &str); 5] = [
    ("40 Mbit/s, 100 ms, 1 BDP", "slow_start", "slow_start"),
    ("40 Mbit/s, 100 ms, 1 BDP", "best", "best"),
    ("40 Mbit/s, 100 ms, 3 BDP", "cubic", "hystart"),
    ("10 Mbit/s, 40 ms, 2 BDP", "hystart", "hystart"),
    ("20 Mbit/s, 200 ms, Linux's buffers", "best", "best"),
];
/// A busy machine may spoil runs; it does not spoil all of them in the right direction.
const ATTEMPTS: u32 = 5;
/// One run, not the median of several, on a machine that may be busy: twice the aims.
const TOLERATED: f64 = 0.1;
const TOLERATED_RETRANSMISSIONS: f64 = 0.2;

#[test]
fn the_kernel_does_what_the_simulator_does() {
    let obstacle = obstacle().map(|obstacle| obstacle.to_string());
    let Some(()) = ready::unobstructed(obstacle.or_else(ready::no_tun).as_deref()) else { return };
    for (name, row, arm) in LIVE {
        let case = CASES.iter().find(|case| case.name == name).expect("a case of the table");
        let mut seen = Vec::new();
        let agreed = (1..=ATTEMPTS).any(|_| {
            let differences = differences(case, row, arm);
            let agreed = differences.is_empty();
            seen.push(differences);
            agreed
        });
        assert!(agreed, "{name}, {row}:\n{}", seen.concat().join("\n"));
    }
}

/// Where one run in the kernel and one in the simulator part.
fn differences(case: &Case, row: &str, arm: &str) -> Vec<String> {
    let (kernel, played) = match Run::played(case, row, arm, 1, &Options::default()) {
        Ok(result) => result,
        Err(TestbedError::Refused { report, .. }) => return vec![format!("refused: {:?}", report.verdict)],
        Err(error @ TestbedError::LeftOut { .. }) => return vec![error.to_string()],
        Err(error) => panic!("{}, {row}: {error}", case.name),
    };
    let simulated = Run::simulated(case, arm, 1);
    let mut differences = Vec::new();
    let mut compare = |name: &str, ours: Option<f64>, theirs: Option<f64>, share: f64, least: f64| {
        let apart = match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() > (share * theirs).max(least),
            (None, None) => false,
            _ => true,
        };
        if apart {
            differences.push(format!("{name}: {ours:?} simulated, {theirs:?} in the kernel"));
        }
    };
    compare("exit window", simulated.exit_window, kernel.exit_window, TOLERATED, 4.0);
    compare("download time", simulated.download_s, kernel.download_s, TOLERATED, 0.0);
    let sent_again = [&simulated, &kernel].map(|run| Some(run.retransmissions));
    compare("retransmissions", sent_again[0], sent_again[1], TOLERATED_RETRANSMISSIONS, 10.0);
    if !differences.is_empty() && played.report.verdict != Verdict::Ok {
        differences.push(format!("the emulator: {:?}", played.report.verdict));
    }
    differences
}
