//! `AFStart` as far as it is public: the window's steps, and the search for the available bandwidth.

use rampcc::{Ack, ExitReason, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, ack, config, row, set};
use super::{config_for, near, path_a, path_b};

const RTT_US: u32 = 100_000;

/// A path that serves a packet of 1000 bytes in so many nanoseconds; the window does not grow by itself.
struct Path {
    startup: Startup,
    gap_ns: u64,
    now: u64,
    acked: u64,
}

impl Path {
    fn new(gap_ns: u64, streams: u64) -> Self {
        let mut config = config(row("afstart"), 10);
        set(&mut config, row("afstart"), "streams", streams);
        config.handshake_rtt_us = RTT_US;
        Self { startup: Startup::new(row("afstart"), &config), gap_ns, now: 1_000_000_000, acked: 0 }
    }

    /// A flight whose packets left this far apart: they arrive no closer together than the path serves them.
    fn flight(&mut self, packets: u64, sent_gap_ns: u64) {
        let sent = self.acked + packets;
        let from = self.now;
        for packet in 1..=packets {
            self.acked += 1;
            let ack = Ack {
                now_ns: from + u64::from(RTT_US) * 1000 + packet * sent_gap_ns.max(self.gap_ns),
                newest_sent_ns: from + packet * sent_gap_ns,
                sent_bytes: sent * u64::from(MSS),
                newest_acked_bytes: self.acked * u64::from(MSS),
                rtt_us: RTT_US,
                flags: 0,
                ..ack(1)
            };
            self.startup.on_ack(&ack);
            self.now = ack.now_ns;
        }
    }

    /// A stream at the rate of its hint.
    fn stream(&mut self) -> u64 {
        let rate = self.startup.decision().pacing_bytes_per_s;
        self.flight(10, u64::from(MSS) * 1_000_000_000 / rate);
        rate
    }

    fn window(&self) -> u64 {
        self.startup.decision().cwnd_bytes / u64::from(MSS)
    }
}

/// Three packets, then the rest of the flight after a second: that is no rate of the path.
#[test]
fn a_pause_of_the_application_says_nothing_of_the_path() {
    let mut path = Path::new(80_000, 8);
    for packet in 1..=10 {
        let paused = packet > 3;
        path.startup.on_ack(&Ack {
            now_ns: 1_100_000_000 + packet * 80_000 + if paused { 1_000_000_000 } else { 0 },
            newest_sent_ns: 1_000_000_000 + if paused { 1_000_000_000 } else { 0 },
            sent_bytes: if paused { 10_000 } else { 3_000 },
            newest_acked_bytes: packet * 1000,
            rtt_us: RTT_US,
            flags: if packet == 3 { rampcc::AckFlags::APP_LIMITED } else { 0 },
            ..ack(1)
        });
    }
    let decision = path.startup.decision();
    assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Startup, rampcc::UNSET));
}

#[test]
fn the_range_is_halved_and_the_window_goes_half_of_what_is_missing() {
    // 8 MB/s. Nothing is too fast for it: 4, 6 and 7 MB/s pass, and the middle of what is left is 7.5 MB/s.
    let mut path = Path::new(125_000, 8);
    path.flight(10, 0);
    assert_eq!(path.startup.decision().ssthresh_bytes, 800_000);
    let rates: Vec<u64> = std::iter::repeat_with(|| path.stream()).take(3).collect();
    for (rate, expected) in rates.iter().zip([4e6, 6e6, 7e6]) {
        near(*rate as f64 / expected, 1.0, 0.01);
    }
    near(path.startup.decision().ssthresh_bytes as f64 / 750_000.0, 1.0, 0.01);
    near(path.window() as f64 / 380.0, 1.0, 0.01);
    near(path.startup.decision().pacing_bytes_per_s as f64 / 3_800_000.0, 1.0, 0.01);
    path.flight(10, 0);
    let decision = path.startup.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Bandwidth));
    assert_eq!((decision.cwnd_bytes, decision.evidence), (decision.ssthresh_bytes, decision.limit));
    near(decision.pacing_bytes_per_s as f64 / 7_500_000.0, 1.0, 0.01);
    path.flight(10, 0);
    assert_eq!(path.startup.decision().phase(), Phase::Done);
    assert_eq!(path.startup.decision().pacing_bytes_per_s, 0);
}

#[test]
fn cross_traffic_is_not_available() {
    // 8 MB/s, of which others take 5: a stream above 3 MB/s arrives slower than it left.
    let mut path = Path::new(125_000, 8);
    path.flight(10, 0);
    path.gap_ns = 333_333;
    assert_eq!(std::iter::repeat_with(|| path.stream()).take_while(|rate| *rate > 3_000_000).count(), 1);
    while path.startup.decision().phase() == Phase::Startup {
        path.stream();
    }
    near(path.startup.decision().ssthresh_bytes as f64 / 300_000.0, 1.0, 0.1);
}

#[test]
fn so_many_streams_are_enough() {
    let mut path = Path::new(125_000, 3);
    path.flight(10, 0);
    path.gap_ns = 1_000_000_000;
    for high in [400_000, 200_000] {
        path.stream();
        near(path.startup.decision().ssthresh_bytes as f64 / f64::from(high), 1.0, 0.01);
    }
    path.stream();
    near(path.startup.decision().ssthresh_bytes as f64 / 50_000.0, 1.0, 0.01);
    assert_eq!(path.window(), 30, "half of what was missing");
}

#[test]
fn on_a_clean_path_it_leaves_within_a_tenth_of_one_bdp() {
    for (pipe, initial, every) in [(path_a(), 10, 1), (path_b(), 10, 1), (path_a(), 10, 2)] {
        let pipe = Pipe { ack_every: every, delayed_ack_ns: 40_000_000, ..pipe };
        let mut config = config_for(&pipe, row("afstart"), initial);
        config.abc_limit_packets = 0;
        let outcome = play(&pipe, row("afstart"), &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        near(outcome.cwnd / pipe.bdp_packets(), 0.95, 0.1);
        assert_eq!(outcome.loss_s, None);
    }
}

/// The ACK that ends a flight of ten packets comes by the receiver's timer, or a round trip later with what left then:
/// taken for the path's it left at 0.07 BDP.
#[test]
fn a_receivers_timer_is_not_the_paths_rate() {
    for (ack_every, delayed_ack_ns) in
        [3, 4, 6, 8].map(|every| [(every, 40_000_000), (every, 100_000_000)]).concat()
    {
        let pipe = Pipe { ack_every, delayed_ack_ns, ..Pipe::new(100_000_000, 30_000, 1448, 259) };
        let mut config = config_for(&pipe, row("afstart"), 10);
        config.flags = rampcc::ConfigFlags::DELAYED_ACKS;
        config.abc_limit_packets = 0;
        let outcome = play(&pipe, row("afstart"), &config);
        let case = format!("every {ack_every}, {delayed_ack_ns} ns");
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth, "{case}");
        let share = outcome.cwnd / pipe.bdp_packets();
        assert!((0.8..1.1).contains(&share), "{case}: {share}");
    }
}
