//! The yardstick has no source; this is its definition.

use rampcc::{ExitReason, Hint, Phase, Startup};

use super::support::pipe::play;
use super::support::{ack, config, row};
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
fn on_an_unknown_path_it_is_slow_start() {
    let algorithm = row("ideal");
    let mut startup = Startup::new(algorithm, &config(algorithm, 10));
    assert_eq!(startup.on_ack(&ack(2)).cwnd_bytes, 12_000);
    assert_eq!(startup.decision().phase(), Phase::Startup);
}
