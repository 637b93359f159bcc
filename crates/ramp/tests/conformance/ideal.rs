//! The yardstick has no source; this is its definition.

use rampcc::{Ack, AckFlags, ExitReason, Hint, Phase, Startup, UNSET};

use super::support::pipe::play;
use super::support::{MSS, ack, config, row, set};
use super::{config_for, near, path_a};

#[test]
fn it_fills_the_path_in_one_round_trip_and_queues_nothing() {
    let pipe = path_a();
    let algorithm = row("ideal");
    let mut config = config_for(&pipe, algorithm, 10);
    let bytes_per_s = pipe.bits_per_s / 8;
    config.hint = Hint::path(bytes_per_s * pipe.rtt_ns / 1_000_000_000, bytes_per_s);
    let outcome = play(&pipe, algorithm, &config);
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Known);
    near(outcome.cwnd, pipe.bdp_packets().ceil(), 0.0);
    near(outcome.exit_s.expect("an exit"), 0.106, 0.001);
    assert!(outcome.queue_peak <= 1, "{}", outcome.queue_peak);
    assert_eq!(outcome.decision.ssthresh_bytes, outcome.decision.cwnd_bytes);
    assert_eq!(outcome.decision.pacing_bytes_per_s, 0);
    assert_eq!(outcome.decision.limit, config.hint.window_bytes);
}

#[test]
fn it_is_paced_until_the_path_has_been_full() {
    let algorithm = row("ideal");
    let mut config = config(algorithm, 10);
    config.hint = Hint::path(100_000, 1_000_000);
    let in_flight = |packets: u64| Ack {
        in_flight_bytes: packets * u64::from(MSS),
        receive_window_bytes: UNSET,
        sent_bytes: 200_000,
        newest_acked_bytes: 100_000,
        ..ack(1)
    };
    let mut startup = Startup::new(algorithm, &config);
    for packets in [65, 97, 20] {
        let decision = *startup.on_ack(&in_flight(packets));
        assert_eq!((decision.phase(), decision.cwnd_bytes), (Phase::Leaving, 100_000), "{packets}");
        assert_eq!(decision.pacing_bytes_per_s, 1_000_000, "{packets}");
    }
    let decision = *startup.on_ack(&in_flight(98));
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
    // Timers are late, and a round trip has not filled it. A closed window or a pause is another matter.
    let later = Ack { sent_bytes: 300_000, newest_acked_bytes: 200_001, ..in_flight(80) };
    for (other, phase) in [
        (Ack { receive_window_bytes: 99_999, ..later }, Phase::Leaving),
        (Ack { flags: AckFlags::APP_LIMITED, ..later }, Phase::Leaving),
        (later, Phase::Done),
    ] {
        let mut startup = Startup::new(algorithm, &config);
        startup.on_ack(&in_flight(80));
        assert_eq!(startup.on_ack(&other).phase(), phase, "{other:?}");
    }
    // A window of more than the BDP is never full at the path's rate.
    set(&mut config, algorithm, "bdp_percent", 200);
    let mut startup = Startup::new(algorithm, &config);
    assert_eq!(startup.on_ack(&in_flight(97)).phase(), Phase::Leaving);
    assert_eq!(startup.on_ack(&in_flight(98)).phase(), Phase::Done);
}

#[test]
fn on_an_unknown_path_it_is_slow_start() {
    let algorithm = row("ideal");
    let mut startup = Startup::new(algorithm, &config(algorithm, 10));
    assert_eq!(startup.on_ack(&Ack { in_flight_bytes: 10_000, ..ack(2) }).cwnd_bytes, 12_000);
    assert_eq!(startup.decision().phase(), Phase::Startup);
}
