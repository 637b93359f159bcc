//! Initial spreading: when the packets of the first window leave.

use rampcc::{EventKind, ExitReason, Hint, Phase};

use super::sender::{PACKET, Sender};
use super::support::pipe::{Pipe, play};
use super::support::{row, set};
use super::{config_for, near};

fn with(rtt_us: u32, window: u64) -> Sender {
    Sender::with("spread", Hint::NONE, rtt_us, |config| set(config, row("spread"), "initial_window", window))
}

#[test]
fn the_first_window_takes_a_round_trip_and_then_it_is_slow_start() {
    for (window, packets) in [(0, 10), (32, 32), (64, 64)] {
        let mut sender = with(100_000, window);
        let decision = sender.decision();
        assert_eq!(
            (decision.cwnd_bytes, decision.pacing_bytes_per_s),
            (packets * PACKET, packets * 10 * PACKET)
        );
        sender.send(packets);
        let decision = sender.ack(1);
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), ((packets + 1) * PACKET, 0));
    }
    let mut sender = with(0, 0);
    assert_eq!(sender.decision().pacing_bytes_per_s, 0, "no round-trip time is known");
    sender.fill();
    assert_eq!(sender.ack(1).cwnd_bytes, 11 * PACKET);
}

/// The delay of the first window's last packet, ms, at 1, 10 and 100 Mbit/s over 100 ms.
#[test]
fn the_queue_of_the_first_window_is_gone_where_the_path_takes_it_in_a_round_trip() {
    let table = [
        (10, [108.0, 10.8, 1.08], [18.0, 0.0, 0.0]),
        (32, [372.0, 37.2, 3.72], [275.12, 0.0, 0.0]),
        (64, [756.0, 75.6, 7.56], [657.56, 0.0, 0.0]),
    ];
    for (window, burst, spread) in table {
        for (rate, queues) in
            [1_000_000, 10_000_000, 100_000_000].into_iter().zip(burst.into_iter().zip(spread))
        {
            for (id, expected) in [("slow_start", queues.0), ("spread", queues.1)] {
                let mut pipe = Pipe::new(rate, 100_000, 1500, 1000);
                pipe.access_bits_per_s = 1_000_000_000_000;
                let mut config = config_for(&pipe, row(id), window);
                config.handshake_rtt_us = 100_000;
                let acks = play(&pipe, row(id), &config).acks;
                let last = acks.iter().find(|ack| ack.delivered_bytes >= window * 1500).expect("it arrives");
                let alone = 100.0 + 12e6 / rate as f64;
                near(f64::from(last.rtt_us) / 1000.0 - alone, expected, 0.02);
            }
        }
    }
}

#[test]
fn ssthresh_and_congestion_end_it_and_what_was_none_is_taken_back() {
    let mut sender = with(100_000, 0);
    let before = sender.decision();
    assert_eq!(sender.tell(EventKind::Timeout, 1).pacing_bytes_per_s, 0);
    assert_eq!(sender.tell(EventKind::Undone, 0), before);
    sender.startup.decision_mut().ssthresh_bytes = 12 * PACKET;
    sender.fill();
    sender.ack(1);
    assert_eq!(sender.ack(1).exit_reason(), ExitReason::Ssthresh);
    let mut sender = with(100_000, 0);
    sender.fill();
    sender.ack(1);
    assert_eq!(sender.tell(EventKind::Loss, 1).phase(), Phase::Done);
}
