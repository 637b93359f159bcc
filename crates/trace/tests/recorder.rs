//! Curves: bounded, with their extremes, exact around the exit.

use proptest::prelude::*;
use rampcc::{ExitReason, Time};
use rampcc_trace::{
    FlowEvent, FlowEventKind, FlowSample, LinkSample, MarkKind, Observer, Recorder, RecorderOptions,
    RunSeries,
};

const POINTS: usize = 200;

fn recorder() -> Recorder {
    let mut recorder = Recorder::new(RecorderOptions { points: POINTS, flows: 2, links: vec![3] });
    for flow in 0..4 {
        recorder.on_event(&event(0, flow, FlowEventKind::Opened { size_bytes: 1, under_test: flow > 0 }));
    }
    recorder
}

fn event(us: u64, flow: u32, kind: FlowEventKind) -> FlowEvent {
    FlowEvent { now: Time::from_us(us), flow, kind }
}

fn sample(us: u64, cwnd_bytes: u64) -> FlowSample {
    FlowSample { now: Time::from_us(us), flow: 1, cwnd_bytes, delivered_bytes: us, ..FlowSample::default() }
}

fn record(windows: &[u64], exit_at: Option<usize>) -> RunSeries {
    let mut recorder = recorder();
    for (i, cwnd) in windows.iter().enumerate() {
        let us = 1_000 + 37 * i as u64;
        recorder.on_flow(&sample(us, *cwnd));
        recorder.on_link(&LinkSample {
            now: Time::from_us(us),
            link: 3,
            queue_bytes: *cwnd,
            queue_packets: 1,
        });
        if exit_at == Some(i) {
            recorder.on_event(&event(
                us,
                1,
                FlowEventKind::StartupExit {
                    reason: ExitReason::Delay,
                    evidence: 1,
                    limit: 1,
                    cwnd_bytes: 1,
                    deciding_sent: Time::ZERO,
                },
            ));
        }
    }
    recorder.finish()
}

/// A packet every 37 us, however few points are left of them.
#[test]
fn points_farther_apart_than_a_curve_says_had_none_between() {
    for count in [10, 1_000, 50_000] {
        let windows: Vec<u64> = (0..count).map(|i| i * 7_919 % 1_000).collect();
        let found = record(&windows, None);
        let (flow, link) = (&found.flows[0], &found.links[0]);
        let at_most: [&dyn Fn(f64) -> f64; 2] = [&|at_s| flow.gap_s(at_s), &|at_s| link.gap_s(at_s)];
        for (times, gap_s) in [&flow.time_s, &link.time_s].into_iter().zip(at_most) {
            for pair in times.windows(2) {
                let (gap, most) = (pair[1] - pair[0], gap_s(pair[1]));
                assert!(gap <= most.max(37e-6) + 1e-6, "{count}: {gap} > {most} at {}", pair[1]);
            }
        }
        let end_s = *link.time_s.last().unwrap();
        assert!(
            link.gap_s(end_s) < 37e-6 * count as f64 / 4.0 || count == 10,
            "{count}: {}",
            link.gap_s(end_s)
        );
    }
}

/// Start-up is what a reader looks at, however long the rest lasts.
#[test]
fn what_begins_is_finer_than_what_lasts() {
    let windows: Vec<u64> = (0..500_000).map(|i| i * 7_919 % 1_000).collect();
    let times = &record(&windows, None).links[0].time_s;
    let within = |from: f64, to: f64| times.iter().filter(|at| (from..to).contains(*at)).count();
    let (first, last) = (within(0.0, 0.185), within(18.315, 18.5));
    assert!(
        first > 8 && first >= 4 * last,
        "{first} points in the first hundredth of 18.5 s, {last} in the last"
    );
}

#[test]
fn the_exit_is_exact() {
    let windows: Vec<u64> = (0..100_000).collect();
    let curve = &record(&windows, Some(50_000)).flows[0];
    let from = curve.cwnd_bytes.iter().position(|cwnd| *cwnd == 49_969).unwrap();
    let around: Vec<u64> = curve.cwnd_bytes[from..from + 64].to_vec();
    assert_eq!(around, (49_969..50_033).collect::<Vec<_>>());
    assert!(curve.time_s.len() <= POINTS + 64 + 4, "{}", curve.time_s.len());
}

#[test]
fn only_the_first_flows_under_test_are_kept() {
    let series = recorder().finish();
    assert_eq!(series.flows.iter().map(|flow| flow.flow).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(series.links.iter().map(|link| link.link).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_flood_of_drops_and_recoveries_stays_bounded() {
    let mut recorder = recorder();
    for us in 0..50_000 {
        recorder.on_event(&event(us, 1, FlowEventKind::Dropped { link: 3, wire_bytes: 1500, data: true }));
        recorder.on_event(&event(us, 1, FlowEventKind::RecoveryEnd));
    }
    recorder.on_event(&event(60_000, 1, FlowEventKind::Completed { bytes: 1 }));
    let marks = &recorder.finish().flows[0].marks;
    assert!(marks.len() <= POINTS / 2 + 1_001, "{}", marks.len());
    let drops = marks.iter().filter(|mark| mark.kind == MarkKind::Drop).count();
    assert!(drops > POINTS / 8, "{drops}");
    assert_eq!(marks.last().map(|mark| mark.kind), Some(MarkKind::Completed));
}

proptest! {
    #[test]
    fn curves_are_bounded_in_order_and_keep_their_extremes(windows in prop::collection::vec(1..1_000_000u64, 1..3_000)) {
        let series = record(&windows, None);
        let (flow, link) = (&series.flows[0], &series.links[0]);
        prop_assert!(flow.time_s.len() <= POINTS + 4 && link.time_s.len() <= POINTS + 4);
        prop_assert!(flow.time_s.is_sorted() && link.time_s.is_sorted());
        prop_assert_eq!(flow.cwnd_bytes.len(), flow.time_s.len());
        prop_assert_eq!(flow.rtt_ms.len(), flow.time_s.len());
        prop_assert_eq!(flow.cwnd_bytes.iter().max(), windows.iter().max());
        prop_assert_eq!(flow.cwnd_bytes.iter().min(), windows.iter().min());
        prop_assert_eq!(link.queue_bytes.iter().max(), windows.iter().max());
        prop_assert_eq!(flow.cwnd_bytes.first(), windows.first());
        prop_assert_eq!(flow.cwnd_bytes.last(), windows.last());
    }
}
