//! What a download takes at least: for who knows the path, and for who does not.

use rampcc_lab::Context;
use rampcc_scenario::Scenario;

use crate::features::cbr;

/// When the first byte of data can be there, in round trips: the SYN, its answer, and half a one more.
const FIRST_DATA: f64 = 1.5;

/// Seconds from opening a connection to the last of `bytes`, if all of what the path has left is used from the first instant on:
/// 1.5 RTT + bytes / A. Where the rate changes, A does.
pub(crate) fn at_least_s(scenario: &Scenario, context: &Context, bytes: u64) -> f64 {
    let opened_s =
        scenario.flows.iter().find(|flow| flow.under_test).map_or(0.0, |flow| flow.start.secs_f64());
    let taken: f64 =
        scenario.traffic.iter().filter_map(|t| cbr(&t.kind)).map(|r| r.bits_per_s() as f64).sum();
    let taken = taken / 8.0 / context.wire_factor();
    let first_s = opened_s + FIRST_DATA * context.base_rtt_s;
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

/// And for who has to find out first what the path carries: one round trip later, as nothing is known before the first ACK; what
/// fits into the initial window needs nothing of it. `ideal` counts where it takes longer than that: it has CUBIC's losses too.
pub(crate) fn causal_s(
    ideal_s: f64,
    (at_least_s, bytes): (f64, u64),
    (rtt_s, initial_bytes): (f64, u64),
) -> f64 {
    let find_out = if bytes > initial_bytes { rtt_s } else { 0.0 };
    ideal_s.max(at_least_s + find_out)
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
        let formula = 1.5 * context.base_rtt_s + 1e7 / payload;
        assert!((at_least_s(&plain, &context, 10_000_000) - formula).abs() < 1e-9);
        let half = "size = '10 MB'\n[path]\nrate = '80 Mbit/s'\nrtt = '100 ms'\ncross-traffic = '50 %'\n";
        let (half, context) = scenario(half);
        let twice = 1.5 * context.base_rtt_s + 2e7 / payload;
        assert!((at_least_s(&half, &context, 10_000_000) / twice - 1.0).abs() < 1e-6);
        let (steps, context) = scenario(
            "size = '10 MB'\n[path]\nrtt = '100 ms'\nrate = [{ at = '0 s', rate = '80 Mbit/s' }, { at = '0.65 s', rate = '0 bit/s' }, \
             { at = '1.65 s', rate = '80 Mbit/s' }]\n",
        );
        let later = at_least_s(&steps, &context, 10_000_000);
        assert!((later - formula - 1.0).abs() < 0.01, "an outage of a second: {later}");
    }

    #[test]
    fn one_round_trip_to_find_out_and_never_below_ideal() {
        assert!((causal_s(1.0, (1.0, 1_000_000), (0.1, 14_480)) - 1.1).abs() < 1e-12);
        assert!((causal_s(3.0, (1.0, 1_000_000), (0.1, 14_480)) - 3.0).abs() < 1e-12);
        assert!((causal_s(0.5, (1.0, 10_000), (0.1, 14_480)) - 1.0).abs() < 1e-12);
    }
}
