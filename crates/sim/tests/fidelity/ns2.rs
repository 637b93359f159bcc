//! The single-flow runs of ns-2: [LU]'s topology and [HS03]'s Fig. 8.

use rampcc::{Rate, Time};
use rampcc_scenario::Source;
use rampcc_tcp::{AckPolicy, Avoidance, Profile, ReceiverConfig, Recovery, SenderConfig};

use crate::bulk::{Allowed, Bulk, NS2, Oracle, OracleRow};
use crate::topology::Bottleneck;

/// Throughput and drops within 5 %, and much closer where nothing but rounding is in between.
const CLOSE: Allowed = Allowed {
    throughput: 0.01,
    drops: 0.0,
    first_drop: 0.001,
    // RFC 3742 leaves doubling above its threshold, ns-2 at it: 101 and 100.
    exit_cwnd: 0.011,
    curve: 0.02,
    startup: 0.02,
    timeouts: true,
    reason: "",
};

/// `boot_time_` of the only connection, by ns-2's default seed.
pub(crate) const PHASE: Time = Time::from_us(5_559);

/// ns-2's label, start-up, initial ssthresh in packets, recovery and avoidance.
struct Algorithm(&'static str, &'static str, Option<u32>, Recovery, Avoidance);

const ALGORITHMS: [Algorithm; 11] = [
    Algorithm("nr_ss32", "slow_start", Some(32), Recovery::NewRenoImpatient, Avoidance::Reno),
    Algorithm("nr_ss800", "slow_start", Some(800), Recovery::NewRenoImpatient, Avoidance::Reno),
    Algorithm("nr_huge", "slow_start", None, Recovery::NewRenoImpatient, Avoidance::Reno),
    Algorithm("nr_huge_slowsteady", "slow_start", None, Recovery::NewRenoSteady, Avoidance::Reno),
    Algorithm("nr_hoe", "hoe", None, Recovery::NewRenoFlywheel, Avoidance::Reno),
    Algorithm("nr_lss100", "limited", None, Recovery::NewRenoImpatient, Avoidance::Reno),
    Algorithm("sack_huge", "slow_start", None, Recovery::SackNs2, Avoidance::Reno),
    Algorithm("sack_lss100", "limited", None, Recovery::SackNs2, Avoidance::Reno),
    Algorithm("vegas", "vegas", None, Recovery::NewRenoImpatient, Avoidance::Vegas),
    Algorithm("tahoe_ss800", "slow_start", Some(800), Recovery::Tahoe, Avoidance::Reno),
    Algorithm("tahoe_huge", "slow_start", None, Recovery::Tahoe, Avoidance::Reno),
];

/// Mbit/s and packets of buffer: the first path with smaller buffers, and faster ones with half a BDP and one.
const FULL_QUEUES: [(u64, u64); 15] = [
    (40, 100),
    (40, 120),
    (40, 140),
    (40, 160),
    (40, 180),
    (60, 375),
    (60, 750),
    (70, 438),
    (70, 875),
    (80, 500),
    (80, 1000),
    (90, 562),
    (90, 1125),
    (100, 625),
    (100, 1250),
];

/// Every run.
pub(crate) fn cases() -> Vec<Bulk> {
    let mut cases = Vec::new();
    for algorithm in &ALGORITHMS {
        for max_burst in [5, 0] {
            cases.push(enhanced_start(algorithm, max_burst, "2.35"));
        }
        for variant in ["delayed ACK", "windowInit_=1"] {
            cases.push(enhanced_start(algorithm, 5, variant));
        }
    }
    cases.extend(limited_once());
    for label in ["nr_hoe", "nr_huge", "sack_huge"] {
        cases.extend(FULL_QUEUES.iter().map(|&(rate, queue)| full_queue(label, rate, queue)));
    }
    cases.extend((0..=90).step_by(10).map(|cbr| paced_start("sack_huge", cbr)));
    cases.extend((0..=80).step_by(20).map(|cbr| paced_start("newreno_hoe", cbr)));
    cases.extend((0..=80).step_by(20).map(|cbr| paced_start("vegas", cbr)));
    cases
}

/// 40 Mbit/s, 50 ms and 250 packets between side links of 500 Mbit/s and 0.1 ms, 20 s.
fn enhanced_start(algorithm: &Algorithm, max_burst: u32, variant: &str) -> Bulk {
    let &Algorithm(label, id, ssthresh, recovery, avoidance) = algorithm;
    let mut sender = sender(id);
    sender.rto.phase = Some(PHASE);
    sender.initial_ssthresh_packets = ssthresh;
    sender.recovery = recovery;
    sender.avoidance = avoidance;
    sender.max_burst_packets = max_burst;
    if avoidance == Avoidance::Vegas {
        // Its agent forgets to add them.
        sender.header_bytes = 0;
    }
    let mut receiver = ReceiverConfig::new(Profile::Ns2);
    match variant {
        "delayed ACK" => receiver.ack_policy = AckPolicy::Delayed { every: 2, timer: Time::from_ms(100) },
        "windowInit_=1" => sender.initial_window_packets = 1,
        _ => {}
    }
    let series = (variant == "2.35" && max_burst == 5).then(|| format!("ns2/single_{label}_10ms.csv.gz"));
    let name = match variant {
        "2.35" => format!("{label}, maxburst {max_burst}"),
        other => format!("{label}, {other}"),
    };
    Bulk {
        name,
        path: Bottleneck {
            rate: mbit(40),
            delay: Time::from_ms(50),
            side_rate: mbit(500),
            side_delay: Time::from_us(100),
            queue_packets: 250 - 1,
        },
        sender,
        receiver,
        start: Time::ZERO,
        end: Time::from_secs(20),
        cbr: Rate::default(),
        source: Source::Bulk,
        oracle: Oracle::Row(OracleRow {
            file: "ns2/single.csv",
            row: vec![
                ("alg", label.to_owned()),
                ("maxburst", max_burst.to_string()),
                ("variant", variant.to_owned()),
            ],
            series,
            columns: NS2,
        }),
        allowed: allowed(label, variant),
    }
}

fn allowed(label: &str, variant: &str) -> Allowed {
    let mut allowed = CLOSE;
    if variant == "windowInit_=1" {
        // What its script takes for the exit is the SYN's window of two.
        allowed.exit_cwnd = f64::INFINITY;
    }
    match label {
        "nr_lss100" => Allowed {
            throughput: f64::INFINITY,
            drops: f64::INFINITY,
            curve: f64::INFINITY,
            timeouts: false,
            reason: "Limited slow start after a timeout",
            ..allowed
        },
        _ => allowed,
    }
}

/// `nr_lss100` against runs of the oracle's script that set `max_ssthresh_` to 0 between the losses and the timeout, so
/// that what follows is standard slow start and congestion avoidance: packets acknowledged, drops, timeouts.
fn limited_once() -> impl Iterator<Item = Bulk> {
    let known = [
        (5, "2.35", 44_034.0, 50.0),
        (0, "2.35", 44_995.0, 50.0),
        (5, "delayed ACK", 40_634.0, 26.0),
        (5, "windowInit_=1", 43_704.0, 50.0),
    ];
    known.into_iter().map(|(max_burst, variant, acked, drops)| {
        let algorithm = ALGORITHMS.iter().find(|a| a.0 == "nr_lss100").expect("the algorithm");
        let mut case = enhanced_start(algorithm, max_burst, variant);
        case.name = case.name.replace("nr_lss100", "nr_lss100 once");
        case.oracle = Oracle::Known { throughput_mbps: acked * 8e-3 / 20.0, drops, timeouts: 1.0 };
        case.allowed =
            Allowed { throughput: 0.025, first_drop: f64::INFINITY, exit_cwnd: f64::INFINITY, ..CLOSE };
        case
    })
}

/// 50 ms and a buffer that the first overflow fills, 20 s.
fn full_queue(label: &str, rate_mbps: u64, queue_packets: u64) -> Bulk {
    let algorithm = ALGORITHMS.iter().find(|a| a.0 == label).expect("the algorithm");
    let mut case = enhanced_start(algorithm, 5, "2.35");
    case.name = format!("{label}, {rate_mbps} Mbit/s, {queue_packets} packets");
    case.path.rate = mbit(rate_mbps);
    case.path.queue_packets = queue_packets - 1;
    case.oracle = Oracle::Row(OracleRow {
        file: "ns2/full_queue.csv",
        row: vec![
            ("alg", label.to_owned()),
            ("bw_mbps", rate_mbps.to_string()),
            ("buf_pkts", queue_packets.to_string()),
        ],
        series: None,
        columns: NS2,
    });
    // Side link and bottleneck are in the ratio of whole numbers, and a service ends where another packet arrives.
    case.allowed.drops = 0.002;
    case
}

/// 100 Mbit/s, 80 ms and 1000 packets next to a CBR flow, 50 s.
fn paced_start(label: &str, cbr_mbps: u64) -> Bulk {
    let mut sender = sender(match label {
        "newreno_hoe" => "hoe",
        "vegas" => "vegas",
        _ => "slow_start",
    });
    sender.recovery = match label {
        "sack_huge" => Recovery::SackNs2,
        "newreno_hoe" => Recovery::NewRenoFlywheel,
        _ => Recovery::NewRenoImpatient,
    };
    if label == "vegas" {
        sender.avoidance = Avoidance::Vegas;
        sender.header_bytes = 0;
    }
    sender.rto.phase = Some(PHASE);
    sender.initial_ssthresh_packets = Some(20_000);
    let series = (label == "sack_huge" && matches!(cbr_mbps, 0 | 40 | 80))
        .then(|| format!("ns2/beside_cbr_{cbr_mbps}_10ms.csv.gz"));
    Bulk {
        name: format!("{label} beside {cbr_mbps} Mbit/s"),
        path: Bottleneck {
            rate: mbit(100),
            delay: Time::from_ms(30),
            side_rate: mbit(1000),
            side_delay: Time::from_ms(5),
            queue_packets: 1000 - 1,
        },
        sender,
        receiver: ReceiverConfig::new(Profile::Ns2),
        start: Time::from_secs(1),
        end: Time::from_secs(51),
        cbr: mbit(cbr_mbps),
        source: Source::Bulk,
        oracle: Oracle::Row(OracleRow {
            file: "ns2/beside_cbr.csv",
            row: vec![
                ("alg", label.to_owned()),
                ("cbw_mbps", cbr_mbps.to_string()),
                ("cbr_random", "0".to_owned()),
            ],
            series,
            columns: NS2,
        }),
        allowed: Allowed {
            drops: 0.02,
            curve: 0.05,
            // Whether one of the last retransmissions is lost too.
            timeouts: cbr_mbps != 90,
            ..CLOSE
        },
    }
}

/// The profile `ns2` around a start-up algorithm.
pub(crate) fn sender(id: &str) -> SenderConfig {
    SenderConfig::new(Profile::Ns2, rampcc::algorithm(id).expect("a registered algorithm"))
}

pub(crate) fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_s(rate * 1_000_000)
}
