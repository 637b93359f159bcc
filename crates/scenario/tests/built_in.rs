//! The scenarios that come with ramp.

use ramp_scenario::{Arm, Scenario};

#[test]
fn every_built_in_scenario_parses_and_describes_itself() {
    for name in Scenario::built_in_names() {
        let text = Scenario::built_in_text(name).expect("listed");
        let scenario = Scenario::parse(name, text, None).unwrap_or_else(|e| panic!("{}", e.explain()));
        assert_eq!(scenario.name, name);
        assert!(scenario.description.len() > 80, "{name}: say what path it is and what to expect");
        let arm = Arm { label: "slow_start".into(), algorithm: &ramp::algorithms()[0], set: vec![] };
        let told = scenario.with_arm(&arm);
        for flow in told.flows.iter().filter(|f| f.under_test) {
            assert!(flow.sender.path_bdp_bytes > 0, "{name}");
        }
        let facts = scenario.facts(0);
        println!("{name}: rtt {} bdp {} buffer {} {:?}", facts.base_rtt, facts.bdp_bytes, facts.buffer_bytes, facts.capacity.iter().take(3).collect::<Vec<_>>());
    }
}
