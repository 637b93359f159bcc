//! The kinds of connections that a scenario has.

use rampcc::Time;
use rampcc_scenario::{FlowConfig, Scenario, Source, Traffic, TrafficKind};

/// Each listed flow, then one for each `[[traffic]]` of web sessions: all its connections are set up in the same way.
pub(crate) fn kinds(scenario: &Scenario) -> Vec<FlowConfig> {
    let web = scenario.traffic.iter().filter_map(|traffic| of_sessions(scenario, traffic));
    scenario.flows.iter().cloned().chain(web).collect()
}

/// How the connections of web sessions are set up.
pub(crate) fn of_sessions(scenario: &Scenario, traffic: &Traffic) -> Option<FlowConfig> {
    let TrafficKind::Web { sender, receiver, under_test_share, .. } = &traffic.kind else { return None };
    let (from, to) = *traffic.pairs.first()?;
    let mut sender = (**sender).clone();
    let under_test = *under_test_share > 0.0;
    if under_test {
        scenario.steering.apply(&mut sender);
    }
    // There are too many of them for a record of every ACK.
    sender.sampled = false;
    Some(FlowConfig {
        name: traffic.name.clone(),
        from,
        to,
        start: traffic.start,
        start_jitter: Time::ZERO,
        source: Source::Bulk,
        sender,
        receiver: *receiver,
        under_test,
    })
}
