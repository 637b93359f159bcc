//! [AK23] "BEST Algorithm", Figure 10, and the error of its median.

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, Config, ExitReason, Phase, Startup};

use super::support::events::runner;
use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};
use super::{config_for, near, path_a, path_d};

const MSS_1448: u64 = 1448;
const GEO_RTT_US: u32 = 600_000;
/// Half a bin of 32 in a power of two.
const MEDIAN_ERROR: f64 = 1.0 / 64.0;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("best");
    let mut config = config(algorithm, 10);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// One round of (bytes, ns) between ACKs, then the ACK that ends it: it brings no sample of its own.
fn round(startup: &mut Startup, samples: &[(u64, u64)], rtt_us: u32) -> Option<u64> {
    let (mut now_ns, mut delivered) = (1_000_000_000, 0);
    let mut step = |ns: u64, bytes: u64, newest: u64| {
        now_ns += ns;
        delivered += bytes;
        let ack = Ack {
            now_ns,
            rtt_us,
            delivered_bytes: delivered,
            acked_bytes: bytes,
            sent_bytes: 1_000_000,
            newest_acked_bytes: newest,
            flags: 0,
            ..ack(1)
        };
        startup.on_ack(&ack).ssthresh_bytes
    };
    step(0, 0, 1);
    for (bytes, ns) in samples {
        step(*ns, *bytes, 1);
    }
    let ssthresh = step(0, 0, 2_000_000);
    (ssthresh != rampcc::UNSET).then_some(ssthresh)
}

#[test]
fn figure_11_round_one_is_below_the_threshold() {
    let samples = [(MSS_1448, 4_000_000); 9];
    assert_eq!(round(&mut start(|_| {}), &samples, GEO_RTT_US), None);
    // Figure 10 as printed, threshold 0, would end start-up at 150 packets.
    let mut startup = start(|c| set(c, row("best"), "threshold", 0));
    let ssthresh = round(&mut startup, &samples, GEO_RTT_US).expect("an estimate");
    near(ssthresh as f64, 217_200.0, 217_200.0 * MEDIAN_ERROR);
}

#[test]
fn figure_11_round_five_finds_the_path() {
    let samples = [
        vec![(2 * MSS_1448, 154_000); 40],
        vec![(2 * MSS_1448, 10_000); 15],
        vec![(2 * MSS_1448, 4_000_000); 10],
    ]
    .concat();
    let ssthresh = round(&mut start(|_| {}), &samples, GEO_RTT_US).expect("an estimate");
    near(ssthresh as f64, 11_283_000.0, 11_283_000.0 * MEDIAN_ERROR);
}

#[test]
fn acks_that_deliver_nothing_or_come_together_are_no_samples() {
    let samples =
        [vec![(0, 1_000_000); 6], vec![(2 * MSS_1448, 154_000); 5], vec![(2 * MSS_1448, 0); 20]].concat();
    let ssthresh = round(&mut start(|_| {}), &samples, GEO_RTT_US).expect("an estimate");
    near(ssthresh as f64, 11_283_000.0, 11_283_000.0 * MEDIAN_ERROR);
}

/// A link that hands over what has gathered in a millisecond: one sample of each batch, with all of its bytes.
#[test]
fn acks_in_batches_lose_no_bytes() {
    let mut samples = Vec::new();
    for _ in 0..20 {
        samples.extend([(MSS_1448, 1_000_000), (MSS_1448, 0), (MSS_1448, 0), (MSS_1448, 0)]);
    }
    let ssthresh = round(&mut start(|_| {}), &samples, 40_000).expect("an estimate");
    let batch_per_ms = 4.0 * 1448.0 * 40.0;
    near(ssthresh as f64, batch_per_ms, batch_per_ms * MEDIAN_ERROR);

    for (mbits, ack_every) in [(24, 1), (48, 1), (96, 1), (96, 2)] {
        let pipe = Pipe {
            ack_quantum_ns: 1_000_000,
            ack_every,
            ..Pipe::new(mbits * 1_000_000, 40_000, 1500, 10_000)
        };
        let algorithm = row("best");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        let share = outcome.cwnd / pipe.bdp_packets();
        assert!((0.7..1.15).contains(&share), "{mbits} Mbit/s, one ACK per {ack_every}: {share} BDP");
    }
}

#[test]
fn the_ideal_satellite_window() {
    // 150 Mbit/s: 18.75 MB/s
    let samples = [(18_750, 1_000_000); 50];
    let ssthresh = round(&mut start(|_| {}), &samples, GEO_RTT_US).expect("an estimate");
    near(ssthresh as f64, 11_250_000.0, 11_250_000.0 * MEDIAN_ERROR);
    let mut startup = start(|c| set(c, row("best"), "rtt", 1));
    let ssthresh = round(&mut startup, &samples, 750_000).expect("an estimate");
    near(ssthresh as f64, 14_062_500.0, 14_062_500.0 * MEDIAN_ERROR);
}

#[test]
fn of_an_even_number_the_lower_middle_counts() {
    let mut startup = start(|c| set(c, row("best"), "threshold", 0));
    let samples = [1000, 2000, 3000, 10_000].map(|rate| (rate, 1_000_000_000));
    let ssthresh = round(&mut startup, &samples, 1_000_000).expect("an estimate");
    near(ssthresh as f64, 2000.0, 2000.0 * MEDIAN_ERROR);
}

#[test]
fn the_first_estimate_stays_unless_told_to_track() {
    for (track, second) in [(0, 1_000_000.0), (1, 4_000_000.0)] {
        let mut startup = start(|c| {
            set(c, row("best"), "track", track);
            set(c, row("best"), "threshold", 0);
        });
        round(&mut startup, &[(10_000_000, 1_000_000_000); 9], 100_000);
        // The next round's marker lies where the first one ended.
        let mut ack = Ack {
            now_ns: 100_000_000_000,
            rtt_us: 100_000,
            sent_bytes: 3_000_000,
            newest_acked_bytes: 2_000_000,
            flags: 0,
            ..ack(1)
        };
        for _ in 0..9 {
            ack.now_ns += 1_000_000;
            ack.delivered_bytes = ack.delivered_bytes.max(1_000_000_000) + 40_000;
            startup.on_ack(&ack);
        }
        ack.newest_acked_bytes = 4_000_000;
        startup.on_ack(&ack);
        let ssthresh = startup.decision().ssthresh_bytes as f64;
        near(ssthresh, second, second * (MEDIAN_ERROR + 0.001));
    }
}

#[test]
fn the_window_is_not_reduced_to_a_smaller_estimate() {
    let mut startup = start(|c| c.initial_window_bytes = 30_000_000);
    round(&mut startup, &[(18_750, 1_000_000); 50], GEO_RTT_US);
    let decision = startup.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Bandwidth));
    assert_eq!((decision.cwnd_bytes, decision.evidence), (30_000_000, 30_000_000));
    assert_eq!(decision.limit, decision.ssthresh_bytes);
}

#[test]
fn on_a_clean_path_it_leaves_at_one_bdp() {
    for (pipe, every, quick, at_s) in
        [(path_a(), 1, 0, 0.772), (path_a(), 2, 16, 1.389), (path_d(), 1, 0, 6.206)]
    {
        let initial = if quick > 0 { 3 } else { 10 };
        let mut pipe = pipe;
        (pipe.ack_every, pipe.quick_acks, pipe.delayed_ack_ns) = (every, quick, 40_000_000);
        let algorithm = row("best");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, initial));
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        near(outcome.cwnd / pipe.bdp_packets(), 1.0, MEDIAN_ERROR + 0.002);
        near(outcome.exit_s.expect("an exit"), at_s, 0.02);
    }
}

#[test]
fn the_median_is_within_its_stated_error_of_the_exact_one() {
    let rate = (any::<u64>(), 24..56_u32).prop_map(|(n, shift)| (n >> shift).max(256));
    let rates = prop_oneof![vec(rate.clone(), 1..300), (rate, 1..300_usize).prop_map(|(r, n)| vec![r; n])];
    runner(400)
        .run(&rates, |rates| {
            // Milliseconds for high rates, so that no sample reaches the cap of 16 GiB.
            let samples: Vec<(u64, u64)> = rates
                .iter()
                .map(|r| if *r < 1 << 30 { (*r, 1_000_000_000) } else { (r / 1000, 1_000_000) })
                .collect();
            let mut exact: Vec<u64> =
                samples.iter().map(|(bytes, ns)| bytes * (1_000_000_000 / ns)).collect();
            exact.sort_unstable();
            let exact = exact[(exact.len() - 1) / 2];
            let mut startup = start(|c| set(c, row("best"), "threshold", 0));
            let estimate = round(&mut startup, &samples, 1_000_000).expect("an estimate");
            let error = (estimate as f64 / exact as f64 - 1.0).abs();
            prop_assert!(error <= MEDIAN_ERROR, "{estimate} for {exact}: {error}");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
