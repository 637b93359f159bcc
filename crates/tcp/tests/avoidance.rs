//! Congestion avoidance's answers, event by event.

mod support;

use rampcc_tcp::{Avoidance, Profile, SenderConfig};
use rampcc_trace::SenderState;
use support::{MSS, Script, config, ms};

fn westwood() -> SenderConfig {
    SenderConfig { avoidance: Avoidance::Westwood, rack_tlp: false, ..config(Profile::Modern) }
}

/// Eighty segments are out at 210 ms. One sample of the rate is complete: 40 segments in 110 ms, 36.4 in a round trip.
fn measured() -> Script {
    let mut script = Script::warmed_up(&westwood(), 20);
    for (at, number) in [(100, 10), (110, 20), (200, 40), (210, 60)] {
        script.ack(ms(at), number, &[]);
    }
    assert_eq!((script.cwnd(), script.in_flight()), (80, 80));
    script
}

fn window(script: &Script) -> (u64, u64) {
    let sample = script.sender.sample(script.now);
    (sample.cwnd_bytes, sample.ssthresh_bytes)
}

/// Linux: Reno's half while the loss is repaired, and the estimate with its end (`CA_EVENT_COMPLETE_CWR`).
#[test]
fn westwood_goes_to_its_estimate_when_the_repair_is_over() {
    let mut script = measured();
    script.ack(ms(300), 60, &[(61, 100)]);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Recovery);
    assert_eq!(script.ssthresh(), 40);
    script.ack(ms(310), 60, &[(61, 140)]);
    assert_eq!(script.ssthresh(), 40);
    script.ack(ms(400), 140, &[]);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Open);
    // The second sample: 99 segments in 190 ms. Two filters of 7/8: 363 632, 383 309 and 366 091 bytes/s; times 100 ms.
    assert_eq!(window(&script), (36_609, 36_609));
}

/// The window goes up, too: a link that loses one packet in a hundred is not full.
#[test]
fn westwood_goes_up_to_its_estimate_from_a_small_window() {
    let mut rules = westwood();
    rules.initial_ssthresh_packets = Some(40);
    let mut script = Script::warmed_up(&rules, 20);
    for (at, number) in [(100, 10), (110, 20), (200, 40), (210, 60)] {
        script.ack(ms(at), number, &[]);
    }
    assert_eq!((script.cwnd(), script.in_flight()), (41, 41));
    script.ack(ms(300), 60, &[(61, 80)]);
    assert_eq!(script.ssthresh(), 20);
    script.ack(ms(310), 60, &[(61, 100)]);
    script.ack(ms(400), 101, &[]);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Open);
    let (cwnd, ssthresh) = window(&script);
    assert_eq!(cwnd, ssthresh);
    assert!((33 * MSS..37 * MSS).contains(&cwnd), "{cwnd}");
}

/// `CA_EVENT_LOSS`: slow start from one packet goes to the estimate.
#[test]
fn westwood_has_its_estimate_for_threshold_at_once_after_a_timeout() {
    let mut script = measured();
    script.wait();
    assert_eq!(script.sender.sample(script.now).state, SenderState::Loss);
    assert_eq!(window(&script), (MSS, 36_363));
}
