//! Metrics of runs made by hand: every value can be checked with a pencil.

use rampcc::{ExitReason, Phase, Time};
use rampcc_lab::{CapacityStep, Context};
use rampcc_trace::{FlowEventKind, FlowSample, LinkSample, Observer, SenderState};

use metered::{Run, absent, context, values};

#[path = "support/metered.rs"]
mod metered;

/// A spike of delay longer than the retransmission timer, in start-up.
#[test]
fn an_exit_that_is_taken_back_is_not_the_runs() {
    let spiked = |left: bool| {
        let mut run = Run::new(&context());
        run.open(1_000, 0, 500_000);
        run.sample(1_200, |s| {
            (s.cwnd_bytes, s.in_flight_bytes, s.sent_bytes, s.delivered_bytes) =
                (40_000, 20_000, 50_000, 30_000);
        });
        run.event(1_400, 0, FlowEventKind::Timeout { backoff: 1 });
        run.exit(1_400, ExitReason::Timeout, 40_000, 0);
        run.sample(1_400, |s| {
            (s.cwnd_bytes, s.sent_bytes, s.delivered_bytes, s.phase, s.state) =
                (1_000, 51_000, 30_000, Phase::Done, SenderState::Loss);
        });
        run.event(1_500, 0, FlowEventKind::Undone).event(1_500, 0, FlowEventKind::StartupResumed);
        run.event(1_500, 0, FlowEventKind::RecoveryEnd);
        run.sample(1_600, |s| {
            (s.cwnd_bytes, s.sent_bytes, s.delivered_bytes) = (80_000, 130_000, 70_000);
        });
        if left {
            run.exit(1_700, ExitReason::Delay, 90_000, 1_600);
            run.sample(1_800, |s| {
                (s.cwnd_bytes, s.sent_bytes, s.delivered_bytes, s.phase) =
                    (90_000, 150_000, 140_000, Phase::Done);
            });
        }
        run.event(2_000, 0, FlowEventKind::Received { bytes: 500_000 });
        run.event(2_000, 0, FlowEventKind::Completed { bytes: 500_000 });
        run.finish(2_000)
    };
    let found = spiked(true);
    let exit = found.exit.as_ref().expect("it left in the end");
    assert_eq!((exit.reason, exit.cwnd_bytes), (ExitReason::Delay, 90_000));
    values(&found, &[("exit_time", 0.7), ("startup_time", 0.7)]);
    let found = spiked(false);
    assert!(found.exit.is_none(), "{:?}", found.exit);
    values(&found, &[("startup_time", 1.0)]);
}

#[test]
fn an_exit_without_loss_ends_startup_at_once() {
    let mut run = Run::new(&context());
    run.open(1_000, 0, 500_000);
    run.sample(1_100, |s| {
        (s.cwnd_bytes, s.in_flight_bytes, s.sent_bytes, s.delivered_bytes) = (20_000, 0, 10_000, 10_000);
    });
    run.sample(1_200, |s| {
        (s.cwnd_bytes, s.in_flight_bytes, s.sent_bytes, s.delivered_bytes) = (40_000, 20_000, 50_000, 30_000);
    });
    run.exit(1_200, ExitReason::Delay, 40_000, 1_100);
    run.sample(1_300, |s| {
        (s.cwnd_bytes, s.sent_bytes, s.delivered_bytes, s.phase) = (41_000, 110_000, 70_000, Phase::Done);
    });
    run.event(1_800, 0, FlowEventKind::Received { bytes: 500_000 });
    run.event(1_800, 0, FlowEventKind::Completed { bytes: 500_000 });
    let found = run.finish(2_000);

    values(
        &found,
        &[
            ("download_time", 0.8),
            ("slowdown", 0.8 / 0.65),
            ("unfinished", 0.0),
            ("goodput", 5.0),
            ("utilisation", 0.625),
            ("exit_time", 0.2),
            ("exit_window", 40_000.0),
            ("exit_window_bdp", 0.4),
            ("detection_lag", 0.1),
            ("deciding_window_bdp", 0.2),
            // 20 kB just before the ACK that decided.
            ("detection_growth", 1.0),
            ("startup_time", 0.2),
            ("startup_throughput", 1.2),
            ("startup_utilisation", 0.15),
            ("startup_lost_packets", 0.0),
            ("startup_loss", 0.0),
            ("startup_share", 30_000.0 / 500_000.0),
            ("overshoot", 0.0),
        ],
    );
    let exit = found.exit.unwrap();
    assert_eq!((exit.reason, exit.evidence, exit.limit), (ExitReason::Delay, 120_000, 112_500));
    assert_eq!(exit.deciding_cwnd_bytes, Some(20_000));
}

/// HyStart++ decides with its fifth round in CSS on what it saw before the first.
#[test]
fn the_queue_is_looked_for_where_growth_became_slower() {
    let queued = |slower: bool| {
        let mut run = Run::new(&context());
        run.open(1_000, 0, 500_000);
        for (ms, queue_bytes) in [(1_040, 0), (1_140, 22_000), (1_240, 0), (1_740, 1_100)] {
            run.meter.on_link(&LinkSample { now: Time::from_ms(ms), queue_bytes, ..LinkSample::default() });
        }
        run.sample(1_100, |s| s.cwnd_bytes = 20_000);
        for ms in [1_200, 1_300, 1_700] {
            run.sample(ms, |s| {
                s.cwnd_bytes = 30_000;
                s.phase = if slower { Phase::Conservative } else { Phase::Startup };
            });
        }
        run.exit(1_800, ExitReason::Delay, 30_000, 1_700);
        run.finish(2_000).exit.expect("an exit").queueing_s
    };
    // 22 kB and 1.1 kB on the wire at 1 MB/s of payload, 1.1 MB/s on the wire.
    assert_eq!([true, false].map(queued), [Some(0.02), Some(0.001)]);
}

#[test]
fn a_startup_that_overshoots_ends_with_its_repair() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.sample(100, |s| (s.in_flight_bytes, s.sent_bytes, s.delivered_bytes) = (180_000, 200_000, 20_000));
    run.exit(150, ExitReason::Delay, 100_000, 0);
    // What was sent before the exit turns out lost.
    run.drops(160, 0, 40);
    run.event(200, 0, FlowEventKind::RecoveryStart { cwnd_bytes: 100_000, in_flight_bytes: 100_000 });
    run.sample(300, |s| (s.sent_bytes, s.delivered_bytes, s.lost_bytes) = (240_000, 150_000, 40_000));
    run.event(400, 0, FlowEventKind::RecoveryEnd);
    run.drops(900, 0, 5);
    run.sample(1_000, |s| {
        (s.sent_bytes, s.delivered_bytes, s.retransmitted_bytes) = (900_000, 800_000, 45_000);
    });
    run.event(1_000, 0, FlowEventKind::Unfinished { bytes: 750_000 });
    let found = run.finish(1_000);

    values(
        &found,
        &[
            ("startup_time", 0.4),
            ("startup_lost_packets", 40.0),
            ("startup_loss", 40.0 / 240.0),
            ("startup_throughput", 3.0),
            ("startup_utilisation", 150.0 / 400.0),
            ("overshoot", 30_000.0),
            ("lost_packets", 45.0),
            ("retransmissions", 45.0),
            ("goodput", 6.0),
        ],
    );
    absent(&found, &["download_time", "unfinished", "others_goodput"]);
}

#[test]
fn after_a_timeout_startup_ends_when_ssthresh_is_reached() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.sample(100, |s| (s.sent_bytes, s.delivered_bytes) = (100_000, 20_000));
    run.event(300, 0, FlowEventKind::Timeout { backoff: 1 });
    run.exit(300, ExitReason::Timeout, 1_000, 0);
    run.event(350, 0, FlowEventKind::Timeout { backoff: 2 });
    run.event(400, 0, FlowEventKind::RecoveryEnd);
    let grow = |cwnd: u64, sent: u64| {
        move |s: &mut FlowSample| {
            (s.cwnd_bytes, s.ssthresh_bytes, s.sent_bytes, s.delivered_bytes) = (cwnd, 50_000, sent, sent);
            (s.state, s.phase) = (SenderState::Open, Phase::Done);
        }
    };
    run.sample(500, grow(30_000, 120_000));
    run.sample(600, grow(50_000, 150_000));
    run.sample(700, grow(51_000, 200_000));
    values(&run.finish(700), &[("startup_time", 0.6), ("timeouts", 2.0), ("startup_throughput", 2.0)]);
}

#[test]
fn a_loss_long_after_the_exit_is_not_startups() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.sample(100, |s| (s.sent_bytes, s.delivered_bytes) = (50_000, 20_000));
    run.exit(100, ExitReason::Gap, 50_000, 0);
    run.sample(200, |s| (s.sent_bytes, s.delivered_bytes, s.phase) = (100_000, 60_000, Phase::Done));
    run.drops(250, 0, 3);
    run.event(300, 0, FlowEventKind::RecoveryStart { cwnd_bytes: 50_000, in_flight_bytes: 40_000 });
    run.event(400, 0, FlowEventKind::RecoveryEnd);
    values(&run.finish(500), &[("startup_time", 0.1), ("startup_lost_packets", 0.0), ("lost_packets", 3.0)]);
}

#[test]
fn a_last_train_belongs_to_startup() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.sample(100, |s| (s.sent_bytes, s.delivered_bytes) = (50_000, 20_000));
    run.exit(100, ExitReason::Gap, 50_000, 0);
    run.sample(180, |s| (s.sent_bytes, s.delivered_bytes, s.phase) = (90_000, 40_000, Phase::Leaving));
    run.sample(300, |s| (s.sent_bytes, s.delivered_bytes, s.phase) = (140_000, 120_000, Phase::Done));
    values(&run.finish(500), &[("startup_time", 0.18), ("startup_throughput", 40.0 * 8e-3 / 0.18)]);
}

#[test]
fn a_flow_that_never_leaves_is_all_startup() {
    let mut run = Run::new(&context());
    run.open(0, 0, 30_000);
    // The ACKs of two thirds come after the last byte.
    run.sample(200, |s| (s.sent_bytes, s.delivered_bytes) = (10_000, 10_000));
    run.event(250, 0, FlowEventKind::Completed { bytes: 30_000 });
    let found = run.finish(1_000);
    values(&found, &[("startup_share", 1.0), ("startup_time", 0.25), ("download_time", 0.25)]);
    values(&found, &[("startup_utilisation", 30.0 / 250.0), ("startup_throughput", 30.0 * 8e-3 / 0.25)]);
    absent(&found, &["exit_time", "exit_window", "detection_lag"]);
    assert_eq!(found.exit, None);
}

#[test]
fn queue_delays_are_weighted_by_time() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    // 55 kB on the wire drain at 1.1 MB/s in 50 ms. Over 100 ms: half falling from 50 ms to 0, half empty.
    run.queue(0, 55_000);
    let found = run.finish(100);
    values(&found, &[("queue_peak", 50.0), ("queue_peak_bdp", 0.5), ("queue_p50", 0.0)]);
    // 5 % of the time above the 95th percentile: the first 5 ms, 50 to 45 ms.
    let p95 = found.metrics["queue_p95"];
    assert!((44.5..=45.5).contains(&p95), "{p95}");
    let p99 = found.metrics["queue_p99_bdp"];
    assert!((0.485..=0.495).contains(&p99), "{p99}");
}

#[test]
fn queues_without_a_flow_under_test_do_not_count() {
    let mut run = Run::new(&context());
    run.queue(0, 50_000);
    run.open(500, 0, 10);
    run.queue(500, 11_000);
    run.event(600, 0, FlowEventKind::Completed { bytes: 10 });
    run.queue(700, 50_000);
    values(&run.finish(1_000), &[("queue_peak", 10.0)]);
}

#[test]
fn capacity_is_reached_when_one_round_trip_carries_nine_tenths_of_it() {
    let mut run = Run::new(&context());
    run.open(1_000, 0, u64::MAX);
    let mut delivered = 0;
    // 50 kB in the first 100 ms, 80 kB in the second, then 1 kB every ms.
    for ms in 1..=400 {
        delivered += match ms {
            ..=100 => 500,
            101..=200 => 800,
            _ => 1_000,
        };
        run.sample(1_000 + ms, |s| s.delivered_bytes = delivered);
    }
    // 90 kB in 100 ms: half of them at 800, half at 1000 B/ms. Windows start at a sample at most 1/64 RTT back.
    let time = run.finish(2_000).metrics["time_to_capacity"];
    assert!((0.248..=0.252).contains(&time), "{time}");
}

#[test]
fn half_of_capacity_is_enough_for_one_of_two_flows_under_test() {
    let time = |flows_under_test| {
        let mut run = Run::new(&Context { flows_under_test, ..context() });
        run.open(0, 0, u64::MAX);
        for ms in 1..=400 {
            run.sample(ms, |s| s.delivered_bytes = 470 * ms);
        }
        run.finish(1_000).metrics.get("time_to_capacity").copied()
    };
    assert_eq!(time(1), None);
    assert_eq!(time(2), Some(0.1));
}

#[test]
fn a_blackout_is_a_gap_of_a_window_or_longer() {
    let delivered_at = |times: &[u64], context: &Context| {
        let mut run = Run::new(context);
        run.open(0, 0, u64::MAX);
        for ms in times {
            run.sample(*ms, |s| s.delivered_bytes = 200 * ms);
        }
        run.finish(3_000)
    };
    // Windows of 200 ms by steps of 20 ms; nothing between 1010 and 2010 ms.
    let steady = |ms: &u64| !(1_011..2_010).contains(ms);
    let times: Vec<u64> = (1..=300).map(|i| 10 * i).filter(steady).collect();
    let found = delivered_at(&times, &context());
    values(&found, &[("blackout_longest", 0.98), ("blackout_total", 0.98)]);

    let shorter: Vec<u64> = (1..=300).map(|i| 10 * i).filter(|ms| !(1_011..1_190).contains(ms)).collect();
    values(&delivered_at(&shorter, &context()), &[("blackout_longest", 0.0), ("blackout_total", 0.0)]);

    // An application that writes now and then has gaps of its own.
    absent(&delivered_at(&times, &Context { application_limited: true, ..context() }), &["blackout_longest"]);
}

#[test]
fn slow_first_rounds_are_no_blackout() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.sample(1_000, |s| s.delivered_bytes = 1_000);
    for ms in 1_500..3_000 {
        run.sample(ms, |s| s.delivered_bytes = 1_000 * (ms - 1_498));
    }
    values(&run.finish(3_000), &[("blackout_longest", 0.0), ("blackout_total", 0.0)]);
}

#[test]
fn download_times_by_size_are_those_of_the_first_bytes() {
    let mut run = Run::new(&context());
    run.open(1_000, 0, 500_000);
    for (ms, bytes) in [(1_100, 14_000), (1_200, 42_000), (1_300, 98_000), (1_400, 210_000), (1_700, 500_000)]
    {
        run.event(ms, 0, FlowEventKind::Received { bytes });
    }
    run.event(1_700, 0, FlowEventKind::Completed { bytes: 500_000 });
    let found: Vec<_> = run.finish(2_000).downloads.iter().map(|d| (d.bytes, d.seconds.unwrap())).collect();
    let expected =
        [(10_000, 0.1), (20_000, 0.2), (50_000, 0.3), (100_000, 0.4), (200_000, 0.4), (500_000, 0.7)];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-12, "{found:?} {expected:?}");
    }
}

#[test]
fn an_unfinished_transfer_has_the_sizes_it_reached() {
    let mut run = Run::new(&context());
    run.open(0, 0, 500_000);
    run.event(100, 0, FlowEventKind::Received { bytes: 60_000 });
    run.event(900, 0, FlowEventKind::Unfinished { bytes: 60_000 });
    let found = run.finish(900);
    let reached: Vec<_> = found.downloads.iter().filter(|d| d.seconds.is_some()).map(|d| d.bytes).collect();
    assert_eq!(reached, [10_000, 20_000, 50_000]);
    values(&found, &[("unfinished", 1.0)]);
    absent(&found, &["download_time"]);
    assert!(found.download_at_least_s.is_some_and(|least| least > 0.0));
    absent(&found, &["download_time"]);
}

/// The link stands still for a second, then has half its rate.
#[test]
fn the_least_time_counts_the_rate_as_it_is() {
    let mut context = context();
    context.capacity = [(0.0, 1e6), (1.35, 0.0), (2.35, 5e5)]
        .map(|(from_s, bytes_per_s)| CapacityStep { from_s, bytes_per_s })
        .to_vec();
    let mut run = Run::new(&context);
    run.open(1_000, 0, 500_000);
    run.event(5_000, 0, FlowEventKind::Completed { bytes: 500_000 });
    // 0.15 s of waiting, 200 kB in 0.2 s, none in 1 s, 300 kB in 0.6 s.
    values(&run.finish(6_000), &[("slowdown", 4.0 / 1.95)]);
    context.capacity.truncate(2);
    let mut run = Run::new(&context);
    run.open(1_000, 0, 500_000);
    run.event(5_000, 0, FlowEventKind::Completed { bytes: 500_000 });
    absent(&run.finish(6_000), &["slowdown"]);
}

#[test]
fn several_flows_under_test_are_averaged() {
    let mut run = Run::new(&context());
    for (flow, end) in [(0, 1_000), (1, 3_000)] {
        run.open(0, flow, 100_000);
        run.drops(10, flow, 2 * flow);
        run.event(end, flow, FlowEventKind::Completed { bytes: 100_000 });
    }
    let found = run.finish(4_000);
    values(
        &found,
        &[("download_time", 2.0), ("lost_packets", 1.0), ("goodput", f64::midpoint(0.8, 0.8 / 3.0))],
    );
    values(&found, &[("utilisation", 200_000.0 / 3e6)]);
}

#[test]
fn a_flow_without_samples_has_only_what_events_tell() {
    let mut run = Run::new(&context());
    run.open(0, 0, 50_000).exit(200, ExitReason::Loss, 40_000, 0).drops(200, 0, 3);
    run.event(800, 0, FlowEventKind::Completed { bytes: 50_000 });
    let found = run.finish(1_000);
    values(&found, &[("download_time", 0.8), ("exit_time", 0.2), ("lost_packets", 3.0), ("goodput", 0.5)]);
    absent(
        &found,
        &["startup_time", "startup_utilisation", "startup_lost_packets", "retransmissions", "overshoot"],
    );
}

#[test]
fn others_are_measured_apart() {
    let mut run = Run::new(&context());
    run.open(0, 0, u64::MAX);
    run.event(0, 7, FlowEventKind::Opened { size_bytes: 50_000, under_test: false });
    run.drops(100, 7, 4);
    run.event(500, 7, FlowEventKind::Completed { bytes: 50_000 });
    run.event(0, 8, FlowEventKind::Opened { size_bytes: u64::MAX, under_test: false });
    run.event(900, 8, FlowEventKind::Received { bytes: 100_000 });
    let found = run.finish(1_000);
    values(&found, &[("others_goodput", 0.8), ("others_download_time", 0.5), ("others_lost_packets", 4.0)]);
    values(&found, &[("lost_packets", 0.0)]);
}

#[test]
fn traffic_at_a_constant_rate_has_losses_and_nothing_else() {
    let mut run = Run::new(&context());
    run.open(0, 0, 50_000);
    run.event(0, 1, FlowEventKind::Opened { size_bytes: u64::MAX, under_test: false });
    run.drops(100, 1, 4);
    run.event(500, 0, FlowEventKind::Completed { bytes: 50_000 });
    let found = run.finish(1_000);
    values(&found, &[("others_lost_packets", 4.0), ("others_lost_early", 4.0), ("dropped_packets", 4.0)]);
    absent(
        &found,
        &[
            "others_goodput",
            "others_download_time",
            "others_time",
            "others_time_p95",
            "shares_1s",
            "shares_10s",
        ],
    );
}

#[test]
fn unknown_flows_and_impossible_orders_are_survived() {
    let mut run = Run::new(&Context::default());
    run.event(5, 9, FlowEventKind::Completed { bytes: u64::MAX });
    run.sample(3, |s| s.cwnd_bytes = u64::MAX);
    run.open(10, 0, 0).open(10, 0, 5);
    run.event(1, 0, FlowEventKind::Received { bytes: u64::MAX });
    run.event(1, 0, FlowEventKind::RecoveryEnd);
    run.event(0, 0, FlowEventKind::Completed { bytes: 0 });
    run.event(0, 0, FlowEventKind::Completed { bytes: 0 });
    run.queue(2, u64::MAX);
    let found = run.finish(0);
    assert!(found.metrics.values().all(|value| value.is_finite()));
}

#[test]
fn one_listed_flow_that_does_not_finish_bounds_the_time_of_all() {
    let mut run = Run::new(&Context { flows_under_test: 2, ..context() });
    run.open(1_000, 0, 500_000);
    run.open(2_000, 1, 500_000);
    run.event(1_800, 0, FlowEventKind::Received { bytes: 500_000 });
    run.event(1_800, 0, FlowEventKind::Completed { bytes: 500_000 });
    let found = run.finish(5_000);
    absent(&found, &["download_time"]);
    assert_eq!(found.download_at_least_s, Some(1.9));
    // Of drawn flows some are always cut off: the mean is over the others.
    let mut run = Run::new(&context());
    run.open(1_000, 0, 500_000);
    run.open(2_000, 1, 500_000);
    run.event(1_800, 0, FlowEventKind::Completed { bytes: 500_000 });
    let found = run.finish(5_000);
    values(&found, &[("download_time", 0.8), ("unfinished", 1.0)]);
    assert_eq!(found.download_at_least_s, None);
}

#[test]
fn of_several_flows_the_exit_is_of_the_first_to_open() {
    let mut run = Run::new(&Context { flows_under_test: 2, ..context() });
    run.open(1_000, 0, 500_000).open(1_100, 1, 500_000);
    let left = |flow_at_ms| FlowEventKind::StartupExit {
        reason: ExitReason::Loss,
        evidence: flow_at_ms,
        limit: 0,
        cwnd_bytes: 10_000,
        deciding_sent: Time::ZERO,
    };
    run.event(1_500, 1, left(1_500)).event(1_900, 0, left(1_900));
    let exit = run.finish(5_000).exit.expect("both left");
    assert_eq!((exit.flow, exit.evidence), (0, 1_900));
    let mut run = Run::new(&Context { flows_under_test: 2, ..context() });
    run.open(1_000, 0, 500_000).open(1_100, 1, 500_000).event(1_500, 1, left(1_500));
    assert_eq!(run.finish(5_000).exit.map(|exit| exit.flow), Some(1), "the first one stays");
}
