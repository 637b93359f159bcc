//! Made-up runs of a GEO download, for the tests of reports and for trying them out. Nothing here was measured.

#![allow(dead_code, reason = "each test uses a part of it")]

use rampcc_trace::{FlowSeries, LinkSeries, Mark, MarkKind, Provenance, RunSeries};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use rampcc_lab::carries::{NeighbourPath, Neighbourhood, UncertainField};
use rampcc_lab::{
    About, CapacityStep, Comparison, Context, Download, ExitReason, ExitRecord, JudgeOptions, RunRecord,
    judge,
};

/// One made-up algorithm: label, reason, exit window over BDP, download time, packets lost, queue peak in ms.
struct Row(&'static str, ExitReason, f64, f64, f64, f64);

const ROWS: [Row; 9] = [
    Row("ideal", ExitReason::Known, 1.0, 3.6, 0.0, 20.0),
    Row("slow_start", ExitReason::Loss, 2.1, 6.9, 1_804.0, 590.0),
    Row("limited", ExitReason::Ssthresh, 0.4, 9.8, 0.0, 40.0),
    Row("hystart11", ExitReason::AckTrain, 0.9, 4.9, 0.0, 60.0),
    Row("hystart", ExitReason::Delay, 0.06, 13.1, 0.0, 15.0),
    Row("hystartpp", ExitReason::Delay, 0.5, 8.0, 0.0, 45.0),
    Row("paced", ExitReason::Gap, 0.85, 4.4, 0.0, 30.0),
    Row("best", ExitReason::Bandwidth, 0.97, 4.3, 0.0, 35.0),
    Row("enhanced", ExitReason::Bandwidth, 0.8, 5.2, 2.0, 80.0),
];

const RTT_S: f64 = 0.6;
const BYTES_PER_S: f64 = 18_000_000.0;
const SIZE: u64 = 36_000_000;

/// A comparison of nine algorithms over twelve seeds, with curves.
pub(crate) fn sample_comparison() -> Comparison {
    judge(&sample_records(), &sample_options())
}

pub(crate) fn sample_options() -> JudgeOptions {
    let mut options = JudgeOptions::new(provenance("", 1), sample_context());
    options.arms = ROWS.iter().map(|row| row.0.to_owned()).collect();
    let known = rampcc::algorithms().iter().map(|known| {
        (known.id.to_owned(), About::Algorithm { id: known.id.to_owned(), settings: Vec::new() })
    });
    options.about = known.collect();
    options
}

/// The path of [`sample_comparison`]: 144 Mbit/s, 600 ms, a buffer of one BDP.
pub(crate) fn sample_context() -> Context {
    let bdp_bytes = (RTT_S * BYTES_PER_S) as u64;
    let word = |heading: &str, text: &str| (heading.to_owned(), text.to_owned());
    Context {
        description: "A made-up GEO download.".to_owned(),
        words: vec![
            word("Forward", "150 Mbit/s, 300 ms one way, drop-tail queue of 10.8 MB"),
            word(
                "Return",
                "5 Mbit/s, 300 ms one way, drop-tail queue of 375 kB, jitter: grants every 20 ms ± 5 ms",
            ),
        ],
        base_rtt_s: RTT_S,
        capacity: vec![CapacityStep { from_s: 0.0, bytes_per_s: BYTES_PER_S }],
        drain: Vec::new(),
        before_bottleneck_s: None,
        bdp_bytes,
        buffer_bytes: Some(bdp_bytes),
        buffer_stated_bdp: None,
        early_drops: String::new(),
        mss_bytes: 1448,
        header_bytes: 52,
        bottleneck: 0,
        size_bytes: Some(SIZE),
        flows_under_test: 1,
        endless_flows: None,
        generated: false,
        shared: false,
        application_limited: false,
        writes: None,
        end_s: 60.0,
        chance: true,
    }
}

/// The runs behind [`sample_comparison`]: real ones and, for each, one with a round more.
pub(crate) fn sample_records() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for seed in 1..=12 {
        for row in &ROWS {
            let record = record(row, seed);
            let mut later = record.clone();
            later.extra_startup_rounds = 1;
            later.series = None;
            if let Some(exit) = &mut later.exit {
                exit.cwnd_bytes *= 2;
                exit.time_s += RTT_S;
                exit.at_s += RTT_S;
            }
            let factor = if row.2 < 0.6 { 0.7 } else { 1.2 };
            later.metrics.entry("download_time".to_owned()).and_modify(|time| *time *= factor);
            records.push(record);
            records.push(later);
        }
    }
    records
}

/// [`sample_comparison`] with 64 neighbouring paths: a slow return link is bad for the leader, and nothing else matters.
pub(crate) fn sample_carries() -> Comparison {
    let (neighbourhood, records) = sample_neighbours();
    let mut comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    if let Some(loss) = comparison.carries.as_mut().and_then(|carries| carries.nearest_loss.as_mut()) {
        loss.scenario = Some(
            "[path]\nrate = \"150 Mbit/s\"\nrtt = \"600 ms\"\nreverse = { rate = \"3 Mbit/s\" }\n".into(),
        );
    }
    comparison
}

pub(crate) fn sample_neighbours() -> (Neighbourhood, Vec<RunRecord>) {
    let field = |field: &str, values: &str, range, unit: &str, described| UncertainField {
        field: field.to_owned(),
        values: values.to_owned(),
        range,
        unit: unit.to_owned(),
        logarithmic: range.is_some(),
        reason: "Made up.".to_owned(),
        assumed: false,
        described,
    };
    let fields = vec![
        field("path.buffer", "0.25 to 4 bdp", Some((0.25, 4.0)), "bdp", Some(0.5)),
        field("path.queue", "drop-tail, codel", None, "", None),
        field("path.reverse.rate", "1 to 50 Mbit/s", Some((1.0, 50.0)), "Mbit/s", Some(0.6)),
    ];
    let (mut paths, mut records) = (Vec::new(), Vec::new());
    for number in 0..64_u64 {
        let mut random = Pcg64Mcg::seed_from_u64(9_000 + number);
        let (buffer, queue): (f64, f64) = (random.random_range(0.0..1.0), random.random_range(0.0..1.0));
        let rate = (number as f64 + 0.5) / 64.0;
        let scenario_hash = format!("neighbour-{number}");
        for Row(label, _, _, time_s, ..) in &ROWS {
            // Below some 4 Mbit/s the leader is late.
            let late = if *label == "best" && rate < 0.35 { 1.0 + 6.0 * (0.35 - rate) } else { 1.0 };
            let mut made = provenance(label, 1 + number);
            made.scenario_hash.clone_from(&scenario_hash);
            let seconds = time_s * late * (1.0 + 0.02 * buffer);
            // The slowest row does not always finish.
            let finished = *label != "hystart" || queue > 0.2;
            let metrics = finished.then(|| ("download_time".to_owned(), seconds));
            records.push(RunRecord {
                provenance: made,
                metrics: metrics.into_iter().collect(),
                ..RunRecord::default()
            });
        }
        paths.push(NeighbourPath {
            scenario_hash,
            seed: 1 + number,
            at: vec![buffer, queue, rate],
            values: vec![
                format!("{:.3} bdp", 0.25 * libm::pow(16.0, buffer)),
                if queue < 0.5 { "drop-tail" } else { "codel" }.to_owned(),
                format!("{:.3} Mbit/s", libm::pow(50.0, rate)),
            ],
        });
    }
    (Neighbourhood { fields, paths }, records)
}

fn provenance(arm: &str, seed: u64) -> Provenance {
    Provenance {
        version: "0.1.0".to_owned(),
        command: "ramp compare geo-sample --runs 12".to_owned(),
        backend: "sim".to_owned(),
        scenario: "geo-sample".to_owned(),
        scenario_hash: "5a3b1e".to_owned(),
        scenario_text:
            "description = \"A GEO download.\"\n\n[path]\nrate = \"150 Mbit/s\"\nrtt = \"600 ms\"\n\
                        buffer = \"1 bdp\"\n\n[[flow]]\nsize = \"36 MB\"\nunder_test = true\n"
                .to_owned(),
        arm: arm.to_owned(),
        seed,
    }
}

fn record(row: &Row, seed: u64) -> RunRecord {
    let &Row(label, reason, exit_bdp, time_s, lost, queue_ms) = row;
    // The first draw is the path's luck, the same for all; the second is the algorithm's own.
    let luck: f64 = Pcg64Mcg::seed_from_u64(seed).random_range(-0.05..0.05);
    let own: f64 = Pcg64Mcg::seed_from_u64(seed * 1_000 + label.len() as u64).random_range(-0.03..0.03);
    // hystart's delay test fires at once in some runs and late in others.
    let late = label == "hystart" && seed.is_multiple_of(3);
    let (exit_bdp, time_s) = if late { (0.7, 5.5) } else { (exit_bdp, time_s) };
    let time_s = time_s * (1.0 + luck + own);
    let bdp = RTT_S * BYTES_PER_S;
    let cwnd = exit_bdp * bdp * (1.0 + own);
    let exit_s = RTT_S * (1.0 + libm::log2((cwnd / 14_480.0).max(1.0)));
    let startup_s = if reason == ExitReason::Loss { exit_s + 3.0 * RTT_S } else { exit_s };
    let (evidence, limit) = match reason {
        ExitReason::Delay => (668_000, 616_000),
        ExitReason::AckTrain => (301_200, 300_000),
        ExitReason::Gap => (82_100, 71_000),
        ExitReason::Loss => ((lost * 1448.0) as u64, 0),
        _ => ((cwnd * 1.01) as u64, cwnd as u64),
    };
    let exit = ExitRecord {
        flow: 0,
        reason,
        evidence,
        limit,
        time_s: exit_s,
        at_s: exit_s,
        cwnd_before_bytes: cwnd as u64,
        cwnd_bytes: cwnd as u64,
        deciding_sent_s: Some(exit_s - RTT_S),
        deciding_cwnd_bytes: Some((cwnd / 2.0) as u64),
        min_rtt_s: Some(RTT_S),
        queueing_s: Some(if late { 0.06 } else { queue_ms / 3_000.0 }),
    };
    let delivered = |t: f64| delivered_bytes(t, exit_s, cwnd).min(SIZE as f64);
    let metrics = [
        ("download_time", time_s),
        ("unfinished", 0.0),
        ("goodput", SIZE as f64 * 8e-6 / time_s),
        ("utilisation", SIZE as f64 / (time_s * BYTES_PER_S)),
        ("exit_time", exit_s),
        ("exit_window", cwnd),
        ("exit_window_bdp", cwnd / bdp),
        ("detection_lag", RTT_S),
        ("deciding_window_bdp", cwnd / bdp / 2.0),
        ("detection_growth", 2.0),
        ("startup_time", startup_s - RTT_S),
        ("startup_throughput", delivered(startup_s) * 8e-6 / startup_s),
        ("startup_utilisation", delivered(startup_s) / (startup_s * BYTES_PER_S)),
        ("startup_lost_packets", (lost * (1.0 + 10.0 * own)).round()),
        ("startup_loss", lost / 24_862.0),
        ("startup_share", delivered(startup_s) / SIZE as f64),
        ("overshoot", (cwnd - 2.0 * bdp).max(0.0)),
        ("lost_packets", (lost * (1.0 + 10.0 * own)).round()),
        ("retransmissions", (lost * (1.0 + 10.0 * own)).round()),
        ("timeouts", 0.0),
        ("queue_peak", queue_ms * (1.0 + luck)),
        ("queue_p50", queue_ms * 0.1),
        ("queue_p95", queue_ms * 0.7),
        ("queue_peak_bdp", queue_ms * (1.0 + luck) / 600.0),
        ("blackout_longest", if lost > 100.0 { 0.5 } else { 0.0 }),
    ];
    let downloads = [10_000, 100_000, 1_000_000, 10_000_000, SIZE].map(|bytes| Download {
        bytes,
        seconds: Some(
            time_s
                .min(RTT_S * (1.5 + libm::log2(1.0 + bytes as f64 / 14_480.0)) + bytes as f64 / BYTES_PER_S)
                * if bytes == SIZE { 1.0 } else { 0.9 },
        ),
    });
    RunRecord {
        provenance: provenance(label, seed),
        steering: label.to_owned(),
        extra_startup_rounds: 0,
        metrics: metrics.into_iter().map(|(id, value)| (id.to_owned(), value)).collect(),
        exit: Some(exit),
        stay: None,
        downloads: downloads.to_vec(),
        download_at_least_s: None,
        path: None,
        emulation: None,
        series: Some(series(exit_s, cwnd, time_s, queue_ms)),
        ..RunRecord::default()
    }
}

fn window_bytes(t: f64, exit_s: f64, cwnd: f64) -> f64 {
    if t < exit_s {
        (14_480.0 * libm::exp2((t / RTT_S - 1.0).max(0.0))).min(cwnd)
    } else {
        cwnd + 40_000.0 * (t - exit_s) / RTT_S
    }
}

fn delivered_bytes(t: f64, exit_s: f64, cwnd: f64) -> f64 {
    let step = 0.02;
    (0..(t / step) as u32)
        .map(|i| (window_bytes(f64::from(i) * step, exit_s, cwnd) / RTT_S).min(BYTES_PER_S) * step)
        .sum()
}

fn series(exit_s: f64, cwnd: f64, time_s: f64, queue_ms: f64) -> RunSeries {
    let mut flow = FlowSeries { flow: 0, under_test: true, opened_s: 0.0, ..FlowSeries::default() };
    let mut link = LinkSeries::default();
    let mut delivered = 0.0;
    let step = time_s / 400.0;
    for i in 0..400 {
        let t = f64::from(i) * step;
        let window = window_bytes(t, exit_s, cwnd);
        let queue = ((window / (RTT_S * BYTES_PER_S) - 1.0).max(0.0) * RTT_S).min(queue_ms / 1e3);
        delivered = (delivered + (window / RTT_S).min(BYTES_PER_S) * step).min(SIZE as f64);
        let micro = |s: f64| (s * 1e6).round() / 1e6;
        flow.time_s.push(micro(t));
        flow.cwnd_bytes.push(window as u64);
        flow.in_flight_bytes.push((window * 0.97) as u64);
        flow.delivered_bytes.push(delivered as u64);
        flow.rtt_ms.push((i % 7 != 3).then(|| micro((RTT_S + queue) * 1e3)));
        link.time_s.push(micro(t));
        link.queue_bytes.push((queue * BYTES_PER_S * 1500.0 / 1448.0) as u64);
    }
    let mark = |time_s, kind| Mark { time_s, kind };
    flow.marks = vec![
        mark(RTT_S, MarkKind::Established),
        mark(exit_s, MarkKind::StartupExit),
        mark(time_s, MarkKind::Completed),
    ];
    if queue_ms > 500.0 {
        flow.marks.insert(2, mark(exit_s, MarkKind::RecoveryStart));
        flow.marks.insert(3, mark(exit_s + 0.1, MarkKind::Drop));
        flow.marks.insert(4, mark(exit_s + 3.0 * RTT_S, MarkKind::RecoveryEnd));
    }
    RunSeries { flows: vec![flow], links: vec![link] }
}
