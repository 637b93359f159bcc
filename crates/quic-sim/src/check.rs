//! What a scenario may ask of QUIC hosts.

use rampcc_backend::Control;
use rampcc_scenario::{Scenario, TrafficKind};
use rampcc_tcp::{Avoidance, ReceiverConfig, Recovery, SenderConfig};

use crate::wishes::mtu;

/// Smallest datagram that QUIC may count on (RFC 9000 §14).
const MTU_MIN: u16 = 1200;

/// Everything that QUIC hosts cannot do of a scenario.
/// `own`: the controls that the backend has.
pub(crate) fn check(scenario: &Scenario, own: &[Control], control: Option<&Control>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(control) = control
        && !own.contains(control)
    {
        found.push(format!("`{}` is the {}'s own, and no QUIC host has it", control.name, control.owner));
    }
    if scenario.cpu.is_some() {
        found.push("`[cpu]` prices what TCP's hosts do with a packet, and QUIC's do other things".to_owned());
    }
    for flow in &scenario.flows {
        found.extend(ends(&flow.sender, &flow.receiver).map(|what| format!("flow `{}`: {what}", flow.name)));
    }
    for traffic in &scenario.traffic {
        let (TrafficKind::Poisson { sender, receiver, under_test_share, .. }
        | TrafficKind::Web { sender, receiver, under_test_share, .. }) = &traffic.kind
        else {
            continue;
        };
        let name = &traffic.name;
        found.extend(ends(sender, receiver).map(|what| format!("traffic `{name}`: {what}")));
        if control.is_some() && *under_test_share > 0.0 {
            found.push(format!("traffic `{name}`: a stack's own controls steer listed flows alone"));
        }
    }
    found.dedup();
    found
}

fn ends(sender: &SenderConfig, receiver: &ReceiverConfig) -> impl Iterator<Item = String> + use<> {
    let mtu = mtu(sender);
    let refusals = [
        (
            mtu < MTU_MIN,
            format!("segments of {} bytes; QUIC needs datagrams of {MTU_MIN} bytes", sender.mss_bytes),
        ),
        (sender.recovery != Recovery::Sack, "`recovery`: QUIC repairs as RFC 9002 says".to_owned()),
        (!sender.handshake, "`handshake = false`: a QUIC connection begins with one".to_owned()),
        (sender.extra_startup_rounds > 0, "one round more in start-up is a question for TCP".to_owned()),
        (sender.abc_limit_packets != 0, "`abc-limit`: QUIC grows by all that an ACK acknowledges".to_owned()),
        (sender.max_burst_packets != 0, "`max-burst`: QUIC stacks have no such limit".to_owned()),
        (
            matches!(sender.avoidance_in_use(), Avoidance::Vegas | Avoidance::Westwood),
            "`congestion-control`: after start-up, QUIC hosts have CUBIC, Reno or BBR here".to_owned(),
        ),
        (
            receiver.sack_suppression_segments > 0,
            "its receiver sends no SACK, and QUIC's ACKs always list ranges".to_owned(),
        ),
    ];
    refusals.into_iter().filter(|(refused, _)| *refused).map(|(_, what)| what)
}
