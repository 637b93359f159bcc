//! What applications write, and when.

mod common;

use common::{Log, empty, flow, link, mbit, ms, plain, play};
use rampcc::Time;
use rampcc_scenario::Source;

/// 100 Mbit/s, 100 ms.
fn sent(source: Source) -> (Time, Log) {
    let mut scenario = empty(2, 10.0);
    link(&mut scenario, 0, 1, plain(mbit(100), ms(50.0), 1000));
    link(&mut scenario, 1, 0, plain(mbit(100), ms(50.0), 1000));
    scenario.flows.push(flow(0, 1, source, "slow_start"));
    scenario.flows[0].sender.sampled = true;
    scenario.flows[0].sender.initial_window_packets = 10;
    scenario.flows[0].sender.handshake = true;
    let (outcome, log) = play(&scenario, 1);
    (outcome.flows[0].completed, log)
}

/// What the sender knows to have arrived by then.
fn by(log: &Log, at: Time) -> u64 {
    log.flows.iter().take_while(|sample| sample.now <= at).last().map_or(0, |sample| sample.delivered_bytes)
}

/// A TLS server's first flight is answered after a round trip; a response follows `think` later, and so does the next one.
#[test]
fn a_response_waits_for_its_request() {
    let source =
        Source::Responses { first_bytes: 4_000, response_bytes: 10_000, think: ms(30.0), responses: 2 };
    assert_eq!(source.size_bytes(), 24_000);
    let (completed, log) = sent(source);
    // Handshake to 100 ms; the first flight is acknowledged at 200, the response written at 230 and acknowledged at 330, the next
    // one written at 360; it arrives at 410.
    for (at, bytes) in [(195.0, 0), (205.0, 4_000), (325.0, 4_000), (340.0, 14_000)] {
        assert_eq!(by(&log, ms(at)), bytes, "{at} ms");
    }
    assert!(completed >= ms(410.0) && completed <= ms(414.0), "{completed:?}");
}

#[test]
fn a_first_response_without_a_handshake_of_its_own_comes_at_once() {
    let one = Source::Responses { first_bytes: 0, response_bytes: 10_000, think: ms(30.0), responses: 1 };
    assert_eq!(sent(one).0, sent(Source::Sized(10_000)).0);
}
