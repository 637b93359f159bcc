//! What the GEO scenarios reproduce of the measurements in [AK23], and how that depends on the return link; the tables of
//! `docs/geo.md`.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rampcc::UNSET;
use rampcc_scenario::{Arm, Scenario, Setting};
use rampcc_sim::simulate;
use rampcc_trace::{FlowSample, Observer};

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;

/// Rounds that [AK23] Fig. 11 shows.
const ROUNDS: usize = 5;
/// The bounds of [AK23] for the return carrier, about 0.5 to 50 Mbit/s, and what lies between.
const RATES: [&str; 7] = ["0.5", "2", "5", "10", "14", "20", "50"];

/// One run in the terms of [AK23].
#[derive(Default)]
struct Seen {
    seconds: f64,
    retransmitted_packets: f64,
    exit_bytes: Option<u64>,
    /// Bytes per second between successive ACKs, by the round they came in.
    rounds: Vec<Vec<f64>>,
    round_end_bytes: u64,
    previous: Option<(u64, u64)>,
    mss_bytes: f64,
}

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.retransmitted_packets = sample.retransmitted_bytes as f64 / self.mss_bytes;
        if self.exit_bytes.is_none()
            && sample.lost_bytes == 0
            && sample.ssthresh_bytes != UNSET
            && sample.cwnd_bytes >= sample.ssthresh_bytes
        {
            self.exit_bytes = Some(sample.cwnd_bytes);
        }
        if sample.delivered_bytes == 0 {
            return;
        }
        let (now, delivered) = (sample.now.ns(), sample.delivered_bytes);
        if let (Some((then, before)), Some(round)) = (self.previous, self.rounds.last_mut())
            && now > then
            && delivered > before
        {
            round.push((delivered - before) as f64 * 1e9 / (now - then) as f64);
        }
        self.previous = Some((now, delivered));
        if delivered >= self.round_end_bytes && self.rounds.len() <= ROUNDS {
            self.rounds.push(Vec::new());
            self.round_end_bytes = sample.sent_bytes;
        }
    }
}

impl Seen {
    fn play(name: &str, rate: &str, algorithm: &str) -> Self {
        let rate = Setting::parse(&format!("path.reverse.rate={rate} Mbit/s")).expect("a setting");
        let scenario = Scenario::open_with(name, &[rate]).expect("it ships");
        let mut scenario = scenario.with_arm(&Arm::parse(algorithm).expect("an arm"));
        let flow = &mut scenario.flows[0];
        flow.sender.sampled = true;
        let mut seen = Self { mss_bytes: f64::from(flow.sender.mss_bytes), ..Self::default() };
        let outcome = simulate(&scenario, 1, &mut seen, &AtomicBool::new(false)).expect("a valid scenario");
        let flow = &outcome.flows[0];
        seen.seconds = (flow.completed - flow.opened).secs_f64();
        seen
    }

    /// Share of the samples of a round, counted from 1, below 1 MB/s.
    fn low_share(&self, round: usize) -> f64 {
        let samples = &self.rounds[round - 1];
        samples.iter().filter(|rate| **rate < 1e6).count() as f64 / samples.len() as f64
    }

    /// Of the samples of a round that are not below 1 MB/s, in MB/s.
    fn high_median(&self, round: usize) -> f64 {
        let mut high: Vec<f64> = self.rounds[round - 1].iter().copied().filter(|rate| *rate >= 1e6).collect();
        high.sort_by(f64::total_cmp);
        high.get(high.len() / 2).map_or(0.0, |rate| rate / 1e6)
    }
}

/// The queue that [AK23] states, and the one without AQM of its Fig. 13.
const SCENARIOS: [(&str, &str); 2] = [
    ("geo-satellite", "36 MB, a quarter dropped at random above 18 MB"),
    ("best-geo", "drop-tail, half a BDP"),
];
const HYSTART: &str = "hystart:version=5.10";

/// Plays all of `runs` on all cores; results in order.
fn play(runs: &[(&'static str, &'static str, &'static str)]) -> Vec<Seen> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, rate, algorithm)) = runs.get(i) else { return done };
            done.push((i, Seen::play(name, rate, algorithm)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<_> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no panic")).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, seen)| seen).collect()
}

#[test]
fn the_geo_paths_show_what_was_measured_on_the_real_one() {
    let mut runs = Vec::new();
    for (name, _) in SCENARIOS {
        runs.push((name, "14", HYSTART));
        runs.extend(RATES.iter().flat_map(|rate| [(name, *rate, "best"), (name, *rate, "slow_start")]));
    }
    let seen = play(&runs);
    let of = |name, rate, algorithm| {
        &seen[runs.iter().position(|run| *run == (name, rate, algorithm)).expect("it is in the list")]
    };
    let bdp_bytes = {
        let scenario = Scenario::built_in("geo-satellite").expect("it ships");
        scenario.facts(0).bdp_bytes as f64
    };
    let mut text = String::new();
    for (name, queue) in SCENARIOS {
        let rows = RATES.map(|rate| {
            let (best, plain) = (of(name, rate, "best"), of(name, rate, "slow_start"));
            format!(
                "| {rate} | {} | {:.1} | {:.1} | {:.0} | {:.1} | {:.0} |\n",
                best.exit_bytes
                    .map_or_else(|| "loss".to_owned(), |bytes| format!("{:.2}", bytes as f64 / bdp_bytes)),
                best.high_median(4),
                best.seconds,
                best.retransmitted_packets,
                plain.seconds,
                plain.retransmitted_packets,
            )
        });
        let on = of(name, "14", HYSTART);
        write!(
            text,
            "`{name}` ({queue}):\n\n\
            | return link, Mbit/s | BEST leaves at, BDP | samples in a grant, MB/s | BEST, s | sent again | slow start, s | sent again |\n\
            |---:|---:|---:|---:|---:|---:|---:|\n{}\n\
            HyStart of Linux 5.10 at 14 Mbit/s: {:.1} s, {:.0} packets sent again.\n\n",
            rows.concat(),
            on.seconds,
            on.retransmitted_packets,
        )
        .expect("a text takes all");
    }
    let best = of("best-geo", "14", "best");
    let low: Vec<String> =
        (1..=ROUNDS).map(|round| format!("{:.0} %", 100.0 * best.low_share(round))).collect();
    writeln!(text, "Samples below 1 MB/s in rounds 1 to {ROUNDS}: {}.", low.join(", "))
        .expect("a text takes all");
    blessed::between(&blessed::page("geo.md"), BEGIN, END, &format!("\n{text}\n"));

    // [AK23] Fig. 11: rounds 1 to 3 mostly below 1 MB/s, rounds 4 and 5 about 150 Mbit/s, which is 18.75 MB/s.
    assert!((1..=3).all(|round| best.low_share(round) >= 0.5), "{low:?}");
    assert!((4..=5).all(|round| best.low_share(round) < 0.5), "{low:?}");
    for (rate, about) in [("5", 18.75), ("14", 50.0)] {
        let median = of("best-geo", rate, "best").high_median(4);
        assert!((0.8..1.25).contains(&(median / about)), "{rate} Mbit/s: {median}");
    }
    // Table 1: 88 retransmissions with HyStart, 9111 without, 4328 with BEST. Fig. 12: about 30 s with HyStart.
    let (plain, on) = (of("best-geo", "14", "slow_start"), of("best-geo", "14", HYSTART));
    assert!((0.8..1.25).contains(&(plain.retransmitted_packets / 9111.0)), "{}", plain.retransmitted_packets);
    assert!((0.8..1.25).contains(&(best.retransmitted_packets / 4328.0)), "{}", best.retransmitted_packets);
    assert!(on.retransmitted_packets <= 88.0, "{}", on.retransmitted_packets);
    assert!((25.0..35.0).contains(&on.seconds), "{}", on.seconds);
}

const BEGIN: &str = "<!-- made by the test `geo`; `make bless` -->\n";
const END: &str = "<!-- end -->\n";
