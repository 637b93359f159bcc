//! Queues that mark instead of dropping, and senders that answer.

use std::sync::atomic::AtomicBool;

use rampcc::ExitReason;
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{FlowEvent, FlowEventKind, LinkTotals, Observer, Outcome};

#[derive(Default)]
struct Seen {
    exit: Option<ExitReason>,
    /// Reductions, for losses and marks.
    reductions: u32,
    timeouts: u32,
}

impl Observer for Seen {
    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::StartupExit { reason, .. } => self.exit = Some(reason),
            FlowEventKind::RecoveryStart { .. } => self.reductions += 1,
            FlowEventKind::Timeout { .. } => self.timeouts += 1,
            _ => {}
        }
    }
}

/// 20 MB over 50 Mbit/s and 40 ms with this queue, in front of it links that do not matter.
fn play(queue: &str, ecn: bool, profile: &str) -> (Outcome, Seen) {
    let text = format!(
        "profile = '{profile}'\nsize = '20 MB'\n[path]\nrate = '50 Mbit/s'\nrtt = '40 ms'\nbuffer = 'unlimited'\n\
         queue = {queue}\naccess = '1 Gbit/s'\n[sender]\necn = {ecn}\n"
    );
    let scenario = Scenario::parse("ecn", &text, None).unwrap_or_else(|e| panic!("{}\n{text}", e.explain()));
    let scenario = scenario.with_arm(&Arm::parse("slow_start").expect("an arm"));
    let mut seen = Seen::default();
    let outcome = simulate(&scenario, 1, &mut seen, &AtomicBool::new(false)).expect("it runs");
    (outcome, seen)
}

fn dropped(outcome: &Outcome) -> u64 {
    outcome.links.iter().map(|LinkTotals { dropped, .. }| dropped.packets).sum()
}

const CODEL: &str = "{ kind = 'codel', ecn = true }";
const RED: &str = "{ kind = 'red', min = 20, max = 400, weight = 0.02, ecn = true }";

#[test]
fn marks_take_the_place_of_drops() {
    for profile in ["era", "modern"] {
        for queue in [CODEL, RED] {
            let (outcome, seen) = play(queue, true, profile);
            assert_eq!(seen.exit, Some(ExitReason::Ecn), "{profile}, {queue}");
            assert_eq!(
                (dropped(&outcome), outcome.flows[0].retransmitted_bytes),
                (0, 0),
                "{profile}, {queue}"
            );
            assert!(seen.reductions > 1 && seen.timeouts == 0, "{profile}, {queue}: {}", seen.reductions);
            let (deaf, seen) = play(queue, false, profile);
            assert_eq!(
                seen.exit,
                Some(ExitReason::Loss),
                "{profile}, {queue}: who does not understand marks loses packets"
            );
            assert!(dropped(&deaf) > 0);
        }
    }
}

#[test]
fn who_marks_nothing_changes_nothing() {
    for (with, without) in
        [(CODEL, "{ kind = 'codel' }"), (RED, "{ kind = 'red', min = 20, max = 400, weight = 0.02 }")]
    {
        let a = play(with, false, "era").0;
        assert_eq!(a, play(without, false, "era").0, "no sender asks for marks");
        assert_eq!(a, play(without, true, "era").0, "no queue marks");
    }
}
