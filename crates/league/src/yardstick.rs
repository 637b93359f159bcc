//! What a download takes at least: for who knows the path, and for who does not.

use rampcc_lab::Context;
use rampcc_scenario::Scenario;
use rampcc_tcp::ReceiveWindow;

use crate::features::cbr;

/// When the first byte of data can be there, in round trips: the SYN, its answer, and half a one more.
const FIRST_DATA: f64 = 1.5;
/// And the first byte that was sent in answer to an ACK: one more.
const FIRST_ANSWER: f64 = 2.5;

/// Seconds from opening a connection to the last of `bytes`, if all of what the path has left is used from the first instant on:
/// 1.5 RTT + bytes / A. Where the rate changes, A does.
pub(crate) fn at_least_s(scenario: &Scenario, context: &Context, bytes: u64) -> f64 {
    served_s(scenario, context, FIRST_DATA, bytes)
}

/// The same for every sender, whatever it knows: before the first ACK it may send what the receiver announced in its SYN-ACK, and
/// nothing else. The larger of 1.5 RTT + bytes / A and 2.5 RTT + (bytes - that window) / A.
///
/// A bound where A is all that the path ever has: a constant rate, and no other flow that would yield. Elsewhere a reference.
pub(crate) fn causal_s(scenario: &Scenario, context: &Context, bytes: u64) -> f64 {
    let later = bytes.saturating_sub(announced_bytes(scenario));
    let at_once = at_least_s(scenario, context, bytes);
    if later == 0 { at_once } else { at_once.max(served_s(scenario, context, FIRST_ANSWER, later)) }
}

/// A round trip of packets without data: that of a full segment less the time that this takes on the link, which is part of size over
/// rate.
fn handshake_s(context: &Context) -> f64 {
    let rate = context.capacity.first().map_or(f64::INFINITY, |step| step.bytes_per_s.max(1.0));
    (context.base_rtt_s - f64::from(context.mss_bytes) / rate).max(0.0)
}

/// What the receiver's SYN-ACK allows.
fn announced_bytes(scenario: &Scenario) -> u64 {
    let Some(flow) = scenario.flows.iter().find(|flow| flow.under_test) else { return u64::MAX };
    let window = match flow.receiver.window {
        ReceiveWindow::Fixed(bytes) => bytes,
        ReceiveWindow::Autotuned { initial, .. } => initial,
        ReceiveWindow::Unlimited => u64::MAX,
    };
    window.min(flow.receiver.syn_window_bytes)
}

/// Until so many bytes have passed, the first of which arrives after so many round trips.
fn served_s(scenario: &Scenario, context: &Context, first: f64, bytes: u64) -> f64 {
    let opened_s =
        scenario.flows.iter().find(|flow| flow.under_test).map_or(0.0, |flow| flow.start.secs_f64());
    let taken: f64 =
        scenario.traffic.iter().filter_map(|t| cbr(&t.kind)).map(|r| r.bits_per_s() as f64).sum();
    let taken = taken / 8.0 / context.wire_factor();
    let first_s = opened_s + first * handshake_s(context);
    let mut left = bytes as f64;
    for (index, step) in context.capacity.iter().enumerate() {
        let from = step.from_s.max(first_s);
        let to = context.capacity.get(index + 1).map_or(f64::INFINITY, |next| next.from_s);
        let rate = (step.bytes_per_s - taken).max(0.0);
        if to <= from || rate <= 0.0 {
            continue;
        }
        let here = (to - from) * rate;
        if here >= left {
            return from + left / rate - opened_s;
        }
        left -= here;
    }
    context.end_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> (Scenario, Context) {
        let scenario = Scenario::parse("test", text, None).unwrap();
        let context = rampcc_experiment::context(&scenario);
        (scenario, context)
    }

    #[test]
    fn a_constant_rate_gives_the_formula_and_a_changing_one_its_integral() {
        let (plain, context) = scenario("size = '10 MB'\n[path]\nrate = '80 Mbit/s'\nrtt = '100 ms'\n");
        let payload = context.capacity[0].bytes_per_s;
        let formula = 1.5 * handshake_s(&context) + 1e7 / payload;
        assert!((handshake_s(&context) - 0.1).abs() < 1e-4, "100 ms, and an ACK's few bytes");
        assert!((at_least_s(&plain, &context, 10_000_000) - formula).abs() < 1e-9);
        let half = "size = '10 MB'\n[path]\nrate = '80 Mbit/s'\nrtt = '100 ms'\ncross-traffic = '50 %'\n";
        let (half, context) = scenario(half);
        let twice = 1.5 * handshake_s(&context) + 2e7 / payload;
        assert!((at_least_s(&half, &context, 10_000_000) / twice - 1.0).abs() < 1e-6);
        let (steps, context) = scenario(
            "size = '10 MB'\n[path]\nrtt = '100 ms'\nrate = [{ at = '0 s', rate = '80 Mbit/s' }, { at = '0.65 s', rate = '0 bit/s' }, \
             { at = '1.65 s', rate = '80 Mbit/s' }]\n",
        );
        let later = at_least_s(&steps, &context, 10_000_000);
        assert!((later - formula - 1.0).abs() < 0.01, "an outage of a second: {later}");
    }

    #[test]
    fn what_the_receiver_does_not_announce_comes_a_round_trip_later() {
        let (long, context) = scenario("size = '10 MB'\n[path]\nrate = '80 Mbit/s'\nrtt = '100 ms'\n");
        let payload = context.capacity[0].bytes_per_s;
        let expected = 2.5 * handshake_s(&context) + (1e7 - 65_535.0) / payload;
        assert!((causal_s(&long, &context, 10_000_000) - expected).abs() < 1e-9);
        // 64 kB in one flight.
        let once = at_least_s(&long, &context, 65_535);
        assert!((causal_s(&long, &context, 65_535) - once).abs() < 1e-12);
        // A pipe that the first flight fills loses nothing.
        let (short, context) = scenario("size = '10 MB'\n[path]\nrate = '1 Mbit/s'\nrtt = '100 ms'\n");
        let once = at_least_s(&short, &context, 10_000_000);
        assert!((causal_s(&short, &context, 10_000_000) - once).abs() < 1e-12);
    }
}
