//! The guard and the judge on trials whose truth is known.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

use rampcc_lab::{ExitReason, Finding};

use super::connection::Connection;
use super::file::tests::plan;
use super::guard::{Guard, Harm, Known, Open, Stop};
use super::judge::{Ending, How, Metric, TrialReport, judge};
use super::plan::Plan;

/// What the arm on trial does.
#[derive(Clone, Copy)]
struct Truth {
    /// Ratio of its transfer times.
    slowdown: f64,
    /// What it retransmits beyond the other's 2 %.
    retransmits: f64,
    /// Its connections that never finish.
    hang: f64,
}

const ALIKE: Truth = Truth { slowdown: 1.0, retransmits: 0.0, hang: 0.0 };

/// Connections in the order of their opening, and when each is done; hanging ones never are.
fn connections(plan: &Plan, truth: Truth, per_block: u32, seed: u64) -> Vec<(Connection, f64)> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut all = Vec::new();
    let mut load: f64 = 0.0;
    for block in 0..plan.blocks() {
        // The path's state wanders from block to block and moves all times in a block together.
        let step: f64 = StandardNormal.sample(&mut random);
        load = 0.8 * load + 0.4 * step;
        for _ in 0..per_block {
            let arm = usize::from(!random.random_bool(plan.new_share()));
            let opened_s = (f64::from(block) + random.random_range(0.0..1.0)) * plan.block_s;
            let normal: f64 = StandardNormal.sample(&mut random);
            // From a few kB to some MB; times grow with sizes and have a heavy tail.
            let bytes = libm::exp(11.5 + 1.8 * normal) as u64;
            let noise: f64 = StandardNormal.sample(&mut random);
            let tail = if random.random_bool(0.02) { 10.0 } else { 1.0 };
            let slowdown = if arm == 0 { truth.slowdown } else { 1.0 };
            let busy =
                0.1 * libm::pow(bytes as f64 / 1e5, 0.6) * libm::exp(load + 0.5 * noise) * tail * slowdown;
            let lossy = random.random_bool(0.2);
            let extra = if arm == 0 { truth.retransmits } else { 0.0 };
            let share = if lossy { 0.1 * random.random_range(0.0..2.0) } else { 0.0 } + extra;
            let hangs = arm == 0 && random.random_bool(truth.hang);
            let connection = Connection {
                arm,
                opened_s,
                local: ([192, 0, 2, 1], 443).into(),
                remote: ([198, 51, 100, 7], 40_000).into(),
                passive: true,
                delivered: true,
                bytes,
                sent_bytes: bytes + (bytes as f64 * share) as u64,
                retransmitted_bytes: (bytes as f64 * share) as u64,
                lost_packets: 0,
                busy_s: (busy / plan.tick_s).round() * plan.tick_s,
                receiver_limited_s: 0.0,
                last_ack_s: Some(busy),
                startup_s: lossy.then_some(busy / 2.0),
                startup_cwnd_packets: lossy.then_some(100),
                rtt_s: 0.05,
                min_rtt_s: 0.04,
                exit: lossy.then_some(ExitReason::Loss),
            };
            all.push((connection, if hangs { f64::INFINITY } else { opened_s + busy }));
        }
    }
    all
}

/// The whole trial, look by look.
fn run(plan: &Plan, truth: Truth, per_block: u32, seed: u64) -> Option<Stop> {
    let all = connections(plan, truth, per_block, seed);
    let mut guard = Guard::new(plan);
    (1..=plan.blocks()).find_map(|look| {
        let now_s = f64::from(look) * plan.block_s;
        assert!(guard.due(now_s));
        let (mut done, mut open) = (Vec::new(), Vec::new());
        for (c, until) in all.iter().filter(|(c, _)| c.opened_s < now_s) {
            if *until <= now_s {
                done.push(c.clone());
            } else {
                open.push(Open { arm: c.arm, opened_s: c.opened_s });
            }
        }
        guard.look(&Known { now_s, done: &done, open: &open })
    })
}

fn report(plan: &Plan, truth: Truth, per_block: u32, seed: u64) -> TrialReport {
    let done: Vec<_> = connections(plan, truth, per_block, seed).into_iter().map(|(c, _)| c).collect();
    let of_arm = |arm| done.iter().filter(|c| c.arm == arm).count() as u64;
    let ending = Ending {
        how: How::Completed,
        after_s: plan.length_s,
        assigned: [of_arm(0), of_arm(1)],
        open: [0, 0],
        refused: [0, 0],
        chosen: 0,
        nested: 0,
        without_storage: 0,
        lost_events: 0,
    };
    judge(plan, &ending, &done)
}

#[test]
fn an_arm_that_is_no_worse_is_stopped_at_most_as_often_as_allowed() {
    const TRIALS: u64 = 400;
    for (share, truth) in [(5_000, ALIKE), (1_000, ALIKE), (5_000, Truth { slowdown: 0.8, ..ALIKE })] {
        let plan = plan(share);
        let stopped = (0..TRIALS).filter(|seed| run(&plan, truth, 24, *seed).is_some()).count();
        // 5 % are allowed.
        assert!(stopped <= 20, "{stopped} of {TRIALS} at {share}");
    }
}

#[test]
fn each_harm_is_seen_early() {
    let harms = [
        (Truth { slowdown: 1.6, ..ALIKE }, Harm::Slower),
        (Truth { retransmits: 0.03, ..ALIKE }, Harm::Retransmits),
        (Truth { hang: 0.1, ..ALIKE }, Harm::Unfinished),
    ];
    for (truth, harm) in harms {
        for seed in 0..40 {
            let stop = run(&plan(5_000), truth, 60, seed);
            let stop = stop.unwrap_or_else(|| panic!("{harm:?} is not seen with seed {seed}"));
            assert_eq!(stop.harm, harm, "{stop:?}");
            assert!(stop.look <= 15 && stop.p < stop.threshold, "seed {seed}: {stop:?}");
        }
    }
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRIALS: u32 = 200;
    for slowdown in [1.0, 0.7] {
        let held = (0..TRIALS).filter(|seed| {
            let truth = Truth { slowdown, ..ALIKE };
            let report = report(&plan(5_000), truth, 40, u64::from(*seed));
            let [low, high] = report.overall().interval.expect("twenty blocks");
            (low..high).contains(&slowdown)
        });
        // 95 % of 200, less three standard deviations.
        let held = held.count();
        assert!((180..=200).contains(&held), "{held} of {TRIALS} at {slowdown}");
    }
}

#[test]
fn the_verdict_says_what_is_so() {
    let faster = report(&plan(5_000), Truth { slowdown: 0.7, ..ALIKE }, 200, 1);
    assert_eq!(faster.overall().finding, Finding::Lower);
    assert!(faster.verdict.starts_with("Transfers under best took "), "{}", faster.verdict);
    assert!(faster.verdict.contains("less time than under cubic"), "{}", faster.verdict);
    let slower = report(&plan(5_000), Truth { slowdown: 1.4, retransmits: 0.02, ..ALIKE }, 200, 2);
    assert!(slower.verdict.contains("more time"), "{}", slower.verdict);
    assert!(slower.verdict.contains(", and best retransmitted more ("), "{}", slower.verdict);
    let alike = report(&plan(5_000), ALIKE, 2_000, 3);
    assert!(alike.verdict.contains("same time within 5 %"), "{}", alike.verdict);
    let few = report(&plan(5_000), ALIKE, 6, 4);
    assert!(few.verdict.contains("cannot be told apart"), "{}", few.verdict);
    let share = faster.rows.iter().find(|row| row.metric == Metric::CutOffShare).expect("a row");
    assert_eq!((share.values, share.finding), ([Some(0.0); 2], Finding::Equivalent));
}

#[test]
fn a_draw_that_keeps_connections_from_an_arm_is_noticed() {
    let mut report = report(&plan(5_000), ALIKE, 100, 1);
    assert!(!report.uneven(), "{:?}", report.draw_p);
    report.ending.assigned = [900, 1_100];
    let uneven = judge(&report.plan, &report.ending, &[]);
    assert!(uneven.uneven() && uneven.notes[0].contains("900 of 2000"), "{:?}", uneven.notes);
    report.ending.assigned = [960, 1_040];
    assert!(!judge(&report.plan, &report.ending, &[]).uneven());
}

#[test]
fn a_trial_without_connections_says_that_it_tried_nothing_and_why() {
    let mut report = report(&plan(5_000), ALIKE, 1, 1);
    report.ending = Ending { how: How::Completed, assigned: [0, 0], open: [0, 0], ..report.ending };
    let said = |ending: &Ending| {
        let report = judge(&report.plan, ending, &[]);
        assert!(
            report.nothing_tried() && report.verdict.starts_with("Nothing was tried, since "),
            "{}",
            report.verdict
        );
        report.verdict
    };
    assert!(said(&report.ending).contains("had no new connection (a server's own is in /proc/PID/cgroup"));
    assert!(said(&Ending { chosen: 3, ..report.ending.clone() }).ends_with("was left alone."));
    assert!(said(&Ending { refused: [1, 1], ..report.ending.clone() }).ends_with("could have its arm."));
    report.ending.assigned = [1, 0];
    assert!(!judge(&report.plan, &report.ending, &[]).nothing_tried());
}

#[test]
fn nothing_to_compare_is_said_so() {
    let mut report = report(&plan(5_000), ALIKE, 1, 1);
    report.ending.how = How::Interrupted;
    let report = judge(&report.plan, &report.ending, &[]);
    assert!(report.verdict.contains("too few transfers"), "{}", report.verdict);
    assert_eq!(report.overall().finding, Finding::CannotTell);
}
