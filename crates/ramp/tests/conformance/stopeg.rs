//! `StopEG` on flights that are spread evenly, so that the share follows from the growth alone.

use rampcc::{Ack, AckFlags, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, config, row, set};
use super::{config_for, path_a};

const RTT_US: u32 = 100_000;
const RTT_NS: f64 = 100e6;

/// A smooth sender whose rate grows by `growth` a round trip, with `queue` round trips of queue in front of the
/// bottleneck: the share it has when ten round trips are over, or the one it left with.
#[expect(clippy::disallowed_methods, reason = "the last bits are far below the tolerance")]
fn smooth(growth: f64, queue: f64, share_permille: u64) -> Startup {
    let algorithm = row("stopeg");
    let mut config = config(algorithm, 10);
    config.handshake_rtt_us = RTT_US;
    set(&mut config, algorithm, "share", share_permille);
    let mut startup = Startup::new(algorithm, &config);
    // Bytes sent until t, in round trips; what has arrived is what was sent a round trip and the queue earlier.
    let sent = |t: f64| 2e6 * growth.powf(t);
    let rtt_us = RTT_US + (f64::from(RTT_US) * queue) as u32;
    let mut t: f64 = 0.0;
    let mut delivered = sent(t - 1.0 - queue) as u64;
    while t < 10.0 && startup.decision().phase() == Phase::Startup {
        t += 0.003;
        let acked = sent(t - 1.0 - queue) as u64 - delivered;
        let in_flight = sent(t) as u64 - delivered;
        delivered += acked;
        let ack = Ack {
            now_ns: (1e9 + t * RTT_NS) as u64,
            sent_bytes: sent(t) as u64,
            newest_acked_bytes: delivered,
            delivered_bytes: delivered,
            acked_bytes: acked,
            in_flight_bytes: in_flight,
            rtt_us,
            mss_bytes: MSS,
            flags: AckFlags::CWND_LIMITED,
            ..Ack::default()
        };
        startup.on_ack(&ack);
    }
    startup
}

#[test]
fn the_share_of_a_smooth_sender_is_that_of_the_closed_form() {
    for growth in [1.25_f64, 1.5, 1.732, 2.0, 3.0] {
        let share = 1.0 / (1.0 + growth.sqrt().recip());
        let below = smooth(growth, 0.0, (share * 1000.0 - 8.0) as u64);
        assert_eq!(below.decision().exit_reason(), ExitReason::Delivery, "{growth}");
        let above = smooth(growth, 0.0, (share * 1000.0 + 8.0) as u64);
        assert_eq!(above.decision().phase(), Phase::Startup, "{growth}");
    }
}

#[test]
fn a_queue_stops_growth_and_the_window_stays() {
    let left = smooth(2.0, 0.1, 600);
    let decision = left.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Delivery));
    assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
    assert!(decision.evidence < decision.limit, "{decision:?}");
    assert_eq!(decision.pacing_percent, 0, "its pacing ends with it");
    assert_eq!(smooth(2.0, 0.0, 600).decision().phase(), Phase::Startup);
}

#[test]
fn few_packets_are_not_measured() {
    let algorithm = row("stopeg");
    let mut config = config(algorithm, 10);
    set(&mut config, algorithm, "share", 501);
    let mut startup = Startup::new(algorithm, &config);
    // Nothing ever comes back of fifteen packets within half a round trip.
    for i in 1..200_u64 {
        let ack = Ack {
            now_ns: i * 60_000_000,
            sent_bytes: 15_000 * i,
            newest_acked_bytes: 15_000 * i,
            delivered_bytes: 1000 * i,
            acked_bytes: 1000,
            in_flight_bytes: 15_000,
            rtt_us: 100_000,
            mss_bytes: MSS,
            ..Ack::default()
        };
        startup.on_ack(&ack);
    }
    assert_eq!(startup.decision().phase(), Phase::Startup);
}

/// The pipe's host paces nothing: each ACK releases two packets at once, and their queue counts.
#[test]
fn without_pacing_it_leaves_early() {
    let pipe = path_a();
    let algorithm = row("stopeg");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Delivery);
    assert_eq!(outcome.loss_s, None);
    let share = outcome.cwnd / pipe.bdp_packets();
    assert!((0.1..0.5).contains(&share), "{share}");
}
