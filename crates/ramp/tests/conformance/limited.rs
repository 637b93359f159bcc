//! RFC 3742 §2.

use rampcc::{Event, EventKind, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, ack, config, row};
use super::{config_for, near, packets, path_a, path_b, path_d};

fn at(window: u64) -> Startup {
    let algorithm = row("limited");
    let mut startup = Startup::new(algorithm, &config(algorithm, 10));
    startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
    startup
}

#[test]
fn section_2_growth_per_ack() {
    let table = [
        (50, 1.0),
        (100, 1.0),
        (101, 0.5),
        (149, 0.5),
        (150, 1.0 / 3.0),
        (200, 0.25),
        (1000, 0.05),
        (5000, 0.01),
    ];
    for (window, growth) in table {
        let mut startup = at(window);
        let mut grown = 0;
        for _ in 0..120 {
            grown += startup.on_ack(&ack(1)).cwnd_bytes - window * u64::from(MSS);
            startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
        }
        // The fraction of a byte still carried is the only difference.
        near(grown as f64, 120.0 * growth * f64::from(MSS), 1.0);
    }
}

#[test]
fn footnote_3_rounds_to_reach_a_window() {
    let table = [
        (1, 5000, 105, 5014.0),
        (2, 5000, 104, 5014.0),
        (10, 5000, 102, 5030.0),
        (10, 883, 20, 930.1),
        (2, 500, 14, 514.1),
        (10, 7500, 152, 7530.0),
    ];
    for (initial, target, rounds, window) in table {
        let mut startup = at(initial);
        let mut count = 0;
        while packets(&startup) < f64::from(target) {
            for _ in 0..startup.decision().cwnd_bytes / u64::from(MSS) {
                startup.on_ack(&ack(1));
            }
            count += 1;
        }
        assert_eq!(count, rounds, "from {initial} to {target}");
        near(packets(&startup), window, 0.3);
    }
}

#[test]
fn a_timeout_leaves_the_limit_in_force() {
    let mut startup = at(400);
    let timeout =
        Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 0, kind: EventKind::Timeout, mss_bytes: MSS };
    let loss = Event { kind: EventKind::Loss, ..timeout };
    assert_eq!(startup.on_event(&loss).phase(), Phase::Done);
    assert_eq!(startup.on_event(&timeout).phase(), Phase::Startup);
    startup.decision_mut().cwnd_bytes = 200_000;
    startup.on_ack(&ack(1));
    near(packets(&startup), 200.25, 0.001);
}

#[test]
fn it_still_overflows_but_by_fifty_packets_a_round() {
    for (pipe, initial, at_s, window) in [(path_a(), 10, 4.891, 1768.0), (path_b(), 2, 2.093, 754.0)] {
        let algorithm = row("limited");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, initial));
        near(outcome.loss_s.expect("a drop"), at_s, 0.002);
        near(outcome.cwnd, window, 1.0);
    }
}

#[test]
fn on_a_satellite_path_it_takes_minutes() {
    let mut pipe = path_d();
    pipe.limit_ns = 25_000_000_000;
    let algorithm = row("limited");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
    assert_eq!(outcome.loss_s, None);
    near(outcome.cwnd, 1980.1, 1.0);
    assert!(outcome.cwnd < 0.3 * pipe.bdp_packets());
}
