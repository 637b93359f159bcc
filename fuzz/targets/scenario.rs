//! Any text is a scenario that can be asked anything and played, or is refused with a word about what is expected.
#![no_main]

use std::sync::atomic::AtomicBool;

use libfuzzer_sys::{Corpus, fuzz_target};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;

/// Larger ones only take longer.
const TEXT_MAX: usize = 16 << 10;

fuzz_target!(|text: &str| -> Corpus {
    if text.len() > TEXT_MAX {
        return Corpus::Reject;
    }
    match Scenario::parse("fuzz", text, None) {
        Err(error) => {
            let told = error.explain();
            assert!(told.contains("; expected ") && told.len() < 60_000, "{told}");
        }
        Ok(scenario) => {
            let again = Scenario::parse("fuzz", &scenario.text, None).expect("its own text");
            assert_eq!(again.flows.len(), scenario.flows.len());
            let scenario = scenario.at_seed(7).with_arm(&Arm::parse("ideal").expect("a row"));
            for flow in 0..scenario.flows.len().min(3) {
                assert!(!scenario.facts(flow).capacity.is_empty());
            }
            // As far as building its network: playing may take as long as the scenario says.
            let _ = simulate(&scenario, 7, &mut (), &AtomicBool::new(true));
        }
    }
    Corpus::Keep
});
