//! Linux `net/ipv4/tcp_cubic.c`, versions 2.6.29, 5.10 and 6.14.

use rampcc::{Ack, AckFlags, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{Stream, config, row, set};
use super::{config_for, near, path_a, path_d};

const V2_6_29: u64 = 0;
const V5_10: u64 = 1;
const V6_14: u64 = 2;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

struct Connection {
    startup: Startup,
    stream: Stream,
    /// With every ACK, besides the stream's.
    flags: u32,
}

/// A connection at 100 packets that has seen `rtt_us`; the next ACK opens a round.
fn seasoned(version: u64, hz: u64, rtt_us: u32, flags: u32) -> Connection {
    let algorithm = row("hystart");
    let mut config = config(algorithm, 100);
    set(&mut config, algorithm, "version", version);
    set(&mut config, algorithm, "hz", hz);
    let mut connection =
        Connection { startup: Startup::new(algorithm, &config), stream: Stream::new(), flags };
    connection.stream.open_round(1);
    // Late enough that no version sees a train reaching back to time zero.
    connection.step(10_000 * MS, rtt_us, 0);
    assert_eq!(connection.startup.decision().phase(), Phase::Startup);
    connection.stream.open_round(100_000);
    connection
}

impl Connection {
    fn step(&mut self, now_ns: u64, rtt_us: u32, pacing_bytes_per_s: u64) -> Phase {
        let mut ack = Ack { pacing_bytes_per_s, ..self.stream.ack(now_ns, rtt_us) };
        ack.flags |= self.flags;
        self.startup.on_ack(&ack).phase()
    }

    /// The largest RTT of a whole round that does not end start-up, and the limit reported for one more.
    fn leaves_at(&mut self, rtt_us: u32) -> bool {
        (0..40).any(|_| self.step(self.stream.now_ns + 21 * MS, rtt_us, 0) == Phase::Done)
    }
}

#[test]
fn since_5_6_eta_is_an_eighth_of_the_minimum_from_4_to_16_ms() {
    let table = [
        (1_000, 5_000),
        (8_000, 12_000),
        (31_999, 35_999),
        (32_000, 36_000),
        (40_000, 45_000),
        (100_000, 112_500),
        (106_000, 119_250),
        (127_999, 143_998),
        (128_000, 144_000),
        (200_000, 216_000),
        (600_000, 616_000),
    ];
    for version in [V5_10, V6_14] {
        for (min, limit) in table {
            assert!(!seasoned(version, 1000, min, 0).leaves_at(limit), "{min}");
            let mut connection = seasoned(version, 1000, min, 0);
            assert!(connection.leaves_at(limit + 1), "{min}");
            let decision = connection.startup.decision();
            assert_eq!(decision.exit_reason(), ExitReason::Delay);
            assert_eq!((decision.evidence, decision.limit), (u64::from(limit) + 1, u64::from(limit)));
            assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes);
        }
    }
}

#[test]
fn since_5_6_the_train_bound_counts_the_hosts_batches_and_pacing_keeps_all_of_it() {
    // (pacing rate, us added)
    for (rate, added) in
        [(0, 0), (1_000_000, 1000), (125_000_000, 1000), (262_144_000, 1000), (1_250_000_000, 209)]
    {
        let paced = 100_000 + added;
        for (flags, bound) in [(AckFlags::PACED, paced), (0, paced / 2)] {
            let mut connection = seasoned(V6_14, 1000, 100_000, flags);
            let start = connection.stream.now_ns + MS;
            let mut train = 0;
            // Every 500 us, then every 1 us.
            while connection.step(start + train * US, 100_000, rate) != Phase::Done {
                train += if train + 600 < bound { 500 } else { 1 };
            }
            let decision = connection.startup.decision();
            assert_eq!((train, decision.evidence, decision.limit), (bound + 1, bound + 1, bound), "{rate}");
            assert_eq!(decision.exit_reason(), ExitReason::AckTrain);
        }
    }
}

#[test]
fn version_2_6_29_counts_in_jiffies() {
    // (HZ, RTT ms, train that ends it, RTT x 8 that is still tolerated, spacing), jiffies
    let table = [
        (1000, 10, 5, 12 * 8, 2),
        (1000, 106, 53, 901, 2),
        (1000, 240, 120, 255 * 8, 2),
        (1000, 600, 300, 616 * 8, 2),
        (250, 10, 1, 5 * 8, 1),
        (250, 106, 13, 29 * 8, 1),
        (250, 240, 30, 510, 1),
        (250, 600, 75, 1275, 1),
        (100, 106, 5, 13 * 8, 1),
        (100, 240, 12, 26 * 8, 1),
        (100, 600, 30, 510, 1),
    ];
    for (hz, rtt_ms, train, tolerated, spacing) in table {
        let jiffy_us = 1_000_000 / hz;
        let mut connection = seasoned(V2_6_29, hz, rtt_ms * 1000, 0);
        let first = connection.stream.now_ns;
        // The ACK that opens the round is judged by the round before.
        connection.step(first + 10 * spacing * jiffy_us * US, rtt_ms * 1000, 0);
        let start = connection.stream.now_ns;
        let mut jiffies = 1;
        while connection.step(start + jiffies * jiffy_us * US, rtt_ms * 1000, 0) != Phase::Done {
            jiffies += 1;
        }
        assert_eq!(jiffies, train, "HZ {hz}, {rtt_ms} ms");
        let decision = connection.startup.decision();
        assert_eq!(decision.evidence, train * jiffy_us);
        assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes + 1000, "cwnd <= ssthresh grows once more");

        // RTTs are whole jiffies, so the first that exceeds the limit is the next one up.
        let over = u32::try_from((tolerated / 8 + 1) * jiffy_us).expect("an RTT");
        assert!(
            !seasoned(V2_6_29, hz, rtt_ms * 1000, 0)
                .leaves_at(over - u32::try_from(jiffy_us).expect("a tick"))
        );
        let mut connection = seasoned(V2_6_29, hz, rtt_ms * 1000, 0);
        assert!(connection.leaves_at(over), "HZ {hz}, {rtt_ms} ms");
        let decision = connection.startup.decision();
        assert_eq!(decision.exit_reason(), ExitReason::Delay);
        assert_eq!(decision.limit, tolerated * jiffy_us / 8, "HZ {hz}, {rtt_ms} ms");
    }
}

#[test]
fn at_100_hz_and_10_ms_every_ack_is_a_train() {
    let algorithm = row("hystart");
    let mut config = config(algorithm, 100);
    set(&mut config, algorithm, "version", V2_6_29);
    set(&mut config, algorithm, "hz", 100);
    let mut connection =
        Connection { startup: Startup::new(algorithm, &config), stream: Stream::new(), flags: 0 };
    connection.stream.open_round(10);
    // A threshold of 0 jiffies: the second ACK of the round ends start-up.
    connection.step(10_000 * MS, 10_000, 0);
    assert_eq!(connection.step(10_000 * MS + US, 10_000, 0), Phase::Done);
    assert_eq!(connection.startup.decision().limit, 0);
}

#[test]
fn the_earliest_delay_decision_is_on_the_ninth_sample() {
    for version in [V2_6_29, V5_10, V6_14] {
        let mut connection = seasoned(version, 1000, 100_000, 0);
        let opening = u32::from(version != V6_14);
        for sample in 1..=9 + opening {
            let phase = connection.step(connection.stream.now_ns + 21 * MS, 150_000, 0);
            assert_eq!(phase == Phase::Done, sample == 9 + opening, "version {version}, sample {sample}");
        }
    }
}

#[test]
fn only_2_6_29_freezes_the_minimum_after_eight_samples() {
    for (version, leaves) in [(V2_6_29, true), (V5_10, false), (V6_14, false)] {
        let mut connection = seasoned(version, 1000, 100_000, 0);
        connection.step(connection.stream.now_ns + 21 * MS, 150_000, 0);
        for _ in 0..8 {
            connection.step(connection.stream.now_ns + 21 * MS, 150_000, 0);
        }
        // A ninth sample that is short again.
        let already = connection.startup.decision().phase() == Phase::Done;
        connection.step(connection.stream.now_ns + 21 * MS, 100_000, 0);
        let phase = connection.startup.decision().phase();
        assert!(already == (version == V6_14), "6.14 counts the opening ACK and has left");
        if version != V6_14 {
            assert_eq!(phase == Phase::Done, leaves, "version {version}");
        }
    }
}

#[test]
fn until_6_14_a_round_begins_only_on_a_full_window() {
    for (version, resets) in [(V5_10, false), (V6_14, true)] {
        let algorithm = row("hystart");
        let mut config = config(algorithm, 100);
        set(&mut config, algorithm, "version", version);
        let mut startup = Startup::new(algorithm, &config);
        let mut stream = Stream::new();
        stream.open_round(10_000);
        for i in 0..200 {
            let mut ack = stream.ack(10_000 * MS + i * MS, 100_000);
            ack.flags &= !AckFlags::CWND_LIMITED;
            startup.on_ack(&ack);
        }
        // Without a reset last_ack stays at 0, so no train is seen.
        assert_eq!(startup.decision().phase() == Phase::Done, resets, "version {version}");
    }
}

#[test]
fn on_a_clean_path_it_leaves_where_the_closed_form_says() {
    let algorithm = row("hystart");
    // The closed form adds the full 1 ms of batching: any rate up to 262 MB/s gives it.
    for (mut pipe, at_s, window) in [(path_a(), 0.797, 1087.0), (path_d(), 6.301, 9012.0)] {
        pipe.host_pacing_bytes_per_s = 1_000_000;
        let mut config = config_for(&pipe, algorithm, 10);
        config.abc_limit_packets = 0;
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::AckTrain);
        near(outcome.exit_s.expect("an exit"), at_s, 0.002);
        near(outcome.cwnd, window, 3.0);
    }
}
