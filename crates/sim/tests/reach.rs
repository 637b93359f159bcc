//! Reach from its page alone, beside the core in whole runs: every call of the algorithm, with recovery, marks, jitter and
//! bunched ACKs as they happen.

#[path = "../../ramp/tests/oracle/reach/model/mod.rs"]
mod model;

use std::sync::atomic::AtomicBool;

use model::{Clock, Reach};
use rampcc::{ExitReason, Phase, Time, algorithm};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{FlowDecision, Observer, Told};

/// Asks the page what the core was asked.
#[derive(Default)]
struct Beside {
    page: Option<Reach>,
    calls: u32,
    exit: Option<ExitReason>,
    /// It reads the receiver's clock.
    sure: bool,
}

impl Observer for Beside {
    fn wants_decisions(&self) -> bool {
        true
    }

    fn on_decision(&mut self, decision: &FlowDecision) {
        let call = &decision.call;
        if let Told::Open(opening) = &call.told {
            self.page = Some(Reach::begin(opening.algorithm, &opening.config));
        }
        let page = self.page.as_mut().expect("an opening comes first");
        match &call.told {
            Told::Open(_) => {}
            Told::Ack(ack) => {
                page.set_decision(call.before);
                page.on_ack(ack);
            }
            Told::Event(event) => {
                page.set_decision(call.before);
                page.on_event(event);
            }
        }
        assert_eq!(*page.decision(), call.after, "page, core; in {:?}, {:?}", page.step(), call.told);
        self.calls += 1;
        self.sure |= page.clock() == Clock::Sure;
        if self.exit.is_none() && call.after.phase() == Phase::Done {
            self.exit = Some(call.after.exit_reason());
        }
    }
}

/// Seconds of each; the shipped scenarios that differ most.
const PLAYED: [(&str, f64); 9] = [
    ("geo-satellite", 12.0),
    ("geo-jitter", 8.0),
    ("cable", 2.0),
    ("data-centre", 0.1),
    ("leo-starlink", 3.0),
    ("lossy-wireless", 3.0),
    ("lte", 4.0),
    ("shallow-buffer-50mbps-40ms", 2.0),
    ("wifi", 2.0),
];

#[test]
fn the_core_does_what_the_page_says_in_whole_runs() {
    let reach = algorithm("reach").expect("a row");
    let (mut calls, mut sure, mut exits) = (0, 0, Vec::new());
    for (name, seconds) in PLAYED {
        let scenario = Scenario::built_in(name).unwrap_or_else(|| panic!("no scenario {name}"));
        let mut scenario = scenario.with_arm(&Arm::parse(reach.id).expect("an arm"));
        scenario.stop.after = Time::from_secs_f64(seconds);
        for flow in scenario.flows.iter_mut().filter(|flow| flow.under_test).take(1) {
            flow.sender.sampled = true;
        }
        for seed in 1..=2 {
            let mut beside = Beside::default();
            simulate(&scenario, seed, &mut beside, &AtomicBool::new(false)).expect("it runs");
            assert!(beside.calls > 20, "{name}: {} calls", beside.calls);
            calls += beside.calls;
            sure += u32::from(beside.sure);
            exits.extend(beside.exit);
        }
    }
    assert!(calls > 10_000, "{calls}");
    assert!(sure > 10, "the receiver's clock was read in {sure} runs only");
    for reason in [ExitReason::Proof, ExitReason::Agreement, ExitReason::Loss] {
        assert!(exits.contains(&reason), "{reason:?} is not among {exits:?}");
    }
}
