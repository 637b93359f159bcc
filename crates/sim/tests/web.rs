//! Web sessions: the load, the sizes, the thinking times and the round trips that were asked for.

#![allow(clippy::disallowed_methods, reason = "what is compared has a tolerance")]

use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_scenario::Scenario;
use rampcc_sim::simulate;
use rampcc_trace::FlowTotals;

/// The bed of the papers' background traffic, with `fields` of the generator, for so many seconds.
fn play(fields: &str, seconds: u32, seed: u64) -> Vec<FlowTotals> {
    struct Nobody;
    impl rampcc_trace::Observer for Nobody {}
    let text = format!(
        "profile = 'era'\nduration = '{seconds} s'\nstop = 'duration'\n[path]\nrate = '100 Mbit/s'\nrtt = '20 ms'\nbuffer = 'unlimited'\n\
         [[flow]]\nsize = '1 kB'\n[[traffic]]\nkind = 'web'\n{fields}"
    );
    let scenario = Scenario::parse("web", &text, None).unwrap_or_else(|e| panic!("{}\n{text}", e.explain()));
    let outcome = simulate(&scenario, seed, &mut Nobody, &AtomicBool::new(false)).expect("it runs");
    outcome.flows[1..].to_vec()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mbit/s of payload asked for from `from_s` to `to_s`.
fn asked(flows: &[FlowTotals], from_s: f64, to_s: f64) -> f64 {
    let within = flows.iter().filter(|flow| (from_s..to_s).contains(&flow.opened.secs_f64()));
    within.map(|flow| flow.size_bytes as f64).sum::<f64>() * 8e-6 / (to_s - from_s)
}

#[test]
fn sessions_ask_for_the_stated_load_from_the_start_on() {
    for (fields, load) in [
        ("load = '20 Mbit/s'\n", 20.0),
        ("load = '8 Mbit/s'\npages = 20\nobjects = 1\nthink = '3 s'\nsize = '5 kB'\n", 8.0),
        ("load = '5 Mbit/s'\npages = 1\nsize = { kind = 'constant', mean = '10 kB' }\n", 5.0),
    ] {
        let runs: Vec<Vec<FlowTotals>> = (1..=6).map(|seed| play(fields, 40, seed)).collect();
        let over = |from_s, to_s| mean(&runs.iter().map(|run| asked(run, from_s, to_s)).collect::<Vec<_>>());
        let whole = over(0.0, 40.0) / load;
        assert!((whole - 1.0).abs() < 0.05, "{fields}: {whole} of the load");
        for (from_s, to_s) in [(0.0, 5.0), (5.0, 20.0), (20.0, 40.0)] {
            let part = over(from_s, to_s) / load;
            assert!((part - 1.0).abs() < 0.15, "{fields}: {part} of the load from {from_s} to {to_s} s");
        }
        let received: u64 = runs.iter().flatten().map(|flow| flow.received_bytes).sum();
        let delivered = received as f64 * 8e-6 / (6.0 * 40.0) / load;
        assert!((0.93..1.06).contains(&delivered), "{fields}: {delivered} of it delivered");
    }
}

#[test]
fn sizes_follow_the_distribution_up_to_its_largest() {
    let size = "size = { kind = 'pareto', mean = '12 kB', shape = 1.2, max = '1 MB' }\n";
    let flows = play(&format!("load = '60 Mbit/s'\n{size}"), 60, 3);
    let sizes: Vec<f64> = flows.iter().map(|flow| flow.size_bytes as f64).collect();
    assert!(sizes.len() > 30_000, "{}", sizes.len());
    let average = mean(&sizes);
    assert!((average / 12e3 - 1.0).abs() < 0.05, "mean {average}");
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(sizes.iter().all(|&size| size <= 1e6));
    // In a Pareto distribution the share above a size falls with its power of -1.2, here counted from the largest on.
    let law = |size: f64| (smallest / size).powf(1.2);
    for size in [5e3, 20e3, 100e3] {
        let above = sizes.iter().filter(|&&s| s > size).count() as f64 / sizes.len() as f64;
        let expected = (law(size) - law(1e6)) / (1.0 - law(1e6));
        let deviation = (expected * (1.0 - expected) / sizes.len() as f64).sqrt();
        assert!((above - expected).abs() < 3.0 * deviation, "{above} above {size}, expected {expected}");
    }
}

#[test]
fn thinking_times_are_exponential() {
    let fields = "sessions = 1\nobjects = 1\nthink = '200 ms'\nsize = { kind = 'constant', mean = '1 kB' }\n";
    let flows = play(fields, 600, 5);
    let pauses: Vec<f64> =
        flows.windows(2).map(|pair| (pair[1].opened - pair[0].completed).secs_f64()).collect();
    assert!(pauses.len() > 2000, "{}", pauses.len());
    let average = mean(&pauses);
    let spread = mean(&pauses.iter().map(|pause| (pause - average).powi(2)).collect::<Vec<_>>()).sqrt();
    let long = pauses.iter().filter(|&&pause| pause > 0.4).count() as f64 / pauses.len() as f64;
    assert!((average / 0.2 - 1.0).abs() < 0.06, "mean {average}");
    assert!((spread / average - 1.0).abs() < 0.08, "deviation {spread}");
    assert!((long / (-2.0_f64).exp() - 1.0).abs() < 0.15, "{long} longer than twice the mean");
}

#[test]
fn round_trips_are_lognormal_within_their_bounds() {
    let fields = "load = '2 Mbit/s'\nsize = { kind = 'constant', mean = '1 kB' }\nobjects = 1\n\
                  rtt = { median = '80 ms', sigma = 0.7, min = '30 ms', max = '400 ms' }\n";
    let flows = play(fields, 20, 7);
    // A SYN and one segment of data are held back, each by what the path's 20 ms lack. Three packets take half of those and
    // their service.
    let path_s = 1.5 * 0.020 + (1052.0 + 2.0 * 40.0) * 8e-8;
    let completed = flows.iter().filter(|flow| flow.completed != Time::NEVER);
    let mut trips: Vec<f64> =
        completed.map(|flow| 0.020 + ((flow.completed - flow.opened).secs_f64() - path_s) / 2.0).collect();
    trips.sort_by(f64::total_cmp);
    let count = trips.len();
    assert!(count > 4000, "{count}");
    let rank = |share: f64| trips[(share * count as f64) as usize];
    for (share, expected) in [(0.1587, 0.080 / 2.013_75), (0.5, 0.080), (0.8413, 0.080 * 2.013_75)] {
        assert!(
            (rank(share) / expected - 1.0).abs() < 0.08,
            "{} at {share}, expected {expected}",
            rank(share)
        );
    }
    // 8 % are below the smallest and 1 % above the largest; at such loads few packets wait for one another.
    assert!((rank(0.02) - 0.030).abs() < 0.001 && (rank(0.999) - 0.400).abs() < 0.002);
    assert!(trips[0] > 0.0295, "{}", trips[0]);
}

#[test]
fn the_same_seed_draws_the_same_and_another_seed_does_not() {
    let fields = "load = '5 Mbit/s'\nrtt = { median = '80 ms' }\n";
    let [a, b, other] = [1, 1, 2].map(|seed| play(fields, 3, seed));
    assert_eq!(a, b);
    assert_ne!(a, other);
}
