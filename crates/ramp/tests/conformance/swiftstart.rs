//! Swift-Start: half of the capacity that four packets show.

use rampcc::{Ack, BACK_TO_BACK, Config, ConfigFlags, Event, EventKind, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{config, row, set};
use super::{config_for, near};

const RTT_US: u32 = 100_000;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("swiftstart");
    let mut config = config(algorithm, 10);
    config.mss_bytes = 1500;
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// ACKs of the first flight: (us since the last, packets).
fn first_flight(startup: &mut Startup, acks: &[(u64, u64)]) {
    let mut told = Ack {
        now_ns: 1_000_000_000,
        rtt_us: RTT_US,
        mss_bytes: 1500,
        sent_bytes: 6000,
        flags: 0,
        ..Ack::default()
    };
    for (gap_us, packets) in acks {
        told.now_ns += gap_us * 1000;
        told.acked_bytes = packets * 1500;
        told.delivered_bytes += told.acked_bytes;
        told.newest_acked_bytes = told.delivered_bytes;
        startup.on_ack(&told);
    }
}

fn window(startup: &Startup) -> f64 {
    startup.decision().cwnd_bytes as f64 / 1500.0
}

#[test]
fn it_begins_with_four_packets_back_to_back() {
    let startup = start(|_| {});
    assert_eq!(startup.decision().cwnd_bytes, 6000);
    assert_eq!(startup.decision().pacing_bytes_per_s, BACK_TO_BACK);
}

/// A gap of 120 us for 1500 bytes over 100 ms is 833 packets.
#[test]
fn the_window_is_a_share_of_capacity_times_rtt() {
    for (share, packets) in [(100, 833.3), (50, 416.7), (12, 100.0)] {
        let mut startup = start(|c| set(c, row("swiftstart"), "share", share));
        first_flight(&mut startup, &[(0, 1), (120, 1), (120, 1), (120, 1)]);
        near(window(&startup), packets, 0.1);
        // Over one round trip.
        let rate = startup.decision().pacing_bytes_per_s as f64;
        near(rate, window(&startup) * 1500.0 / 0.1, 20.0);
    }
    let mut startup = start(|c| c.initial_ssthresh_bytes = 150_000);
    first_flight(&mut startup, &[(0, 1), (120, 1), (120, 1), (120, 1)]);
    near(window(&startup), 100.0, 1e-9);
}

#[test]
fn the_median_gap_counts_and_bytes_are_counted() {
    let mut startup = start(|_| {});
    first_flight(&mut startup, &[(0, 1), (12, 1), (1200, 1), (120, 1)]);
    near(window(&startup), 416.7, 0.1);
    // Delayed ACKs: one gap for two packets.
    let mut startup = start(|c| c.flags = ConfigFlags::DELAYED_ACKS);
    first_flight(&mut startup, &[(0, 2), (240, 2)]);
    near(window(&startup), 416.7, 0.1);
    // Two gaps: the slower.
    let mut startup = start(|_| {});
    first_flight(&mut startup, &[(0, 1), (120, 1), (480, 2)]);
    near(window(&startup), 208.3, 0.1);
    // All in one ACK, or after a timer: nothing seen.
    for acks in [&[(0, 4)][..], &[(0, 2), (40_000, 2)]] {
        let mut startup = start(|_| {});
        first_flight(&mut startup, acks);
        near(window(&startup), 4.0, 1e-9);
        assert_eq!(startup.decision().pacing_bytes_per_s, 0);
    }
}

#[test]
fn a_loss_ends_it_and_an_undone_one_goes_on_pacing() {
    let event =
        |kind| Event { now_ns: 2_000_000_000, lost_bytes: 1500, in_flight_bytes: 0, kind, mss_bytes: 1500 };
    let mut startup = start(|_| {});
    first_flight(&mut startup, &[(0, 1), (120, 1), (120, 1), (120, 1)]);
    let rate = startup.decision().pacing_bytes_per_s;
    let left = *startup.on_event(&event(EventKind::Loss));
    assert_eq!((left.phase(), left.pacing_bytes_per_s), (Phase::Done, 0));
    assert_eq!(startup.on_event(&event(EventKind::Undone)).pacing_bytes_per_s, rate);
    let mut startup = start(|_| {});
    startup.on_event(&event(EventKind::Timeout));
    assert_eq!(startup.on_event(&event(EventKind::Undone)).pacing_bytes_per_s, BACK_TO_BACK);
}

#[test]
fn on_a_clean_path_it_has_half_of_it_after_two_round_trips() {
    let mut pipe = Pipe::new(100_000_000, 100_000, 1500, 900);
    let algorithm = row("swiftstart");
    pipe.limit_ns = 199_000_000;
    let config = config_for(&pipe, algorithm, 10);
    let outcome = play(&pipe, algorithm, &config);
    near(outcome.cwnd / pipe.bdp_packets(), 0.5, 0.01);
    assert!(outcome.queue_peak <= 3, "{}", outcome.queue_peak);
    // A round trip later the window doubles again, and the third overflows the buffer.
    pipe.limit_ns = 30_000_000_000;
    let outcome = play(&pipe, algorithm, &config);
    near(outcome.loss_s.expect("a loss"), 0.35, 0.1);
}
