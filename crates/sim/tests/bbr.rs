//! BBR as a whole: the core's Startup and Drain, and what the sender does after it.

mod common;

use common::{Log, play};
use rampcc::{ExitReason, Phase, Time};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::{FlowEventKind, FlowSample};

/// 40 Mbit/s and 50 ms: 167 packets of 1448 bytes of payload.
const PATH: &str = "[path]\nrate = '40 Mbit/s'\nrtt = '50 ms'\nbuffer = '4 bdp'\n";
const BYTES_PER_S: f64 = 40e6 / 8.0 * 1448.0 / 1500.0;
const MSS: u64 = 1448;

fn run(arm: &str, text: &str) -> Log {
    let scenario = Scenario::parse("bbr", text, None).expect("the text is a scenario");
    let mut scenario = scenario.with_arm(&Arm::parse(arm).expect("an arm"));
    scenario.flows[0].sender.sampled = true;
    play(&scenario, 1).1
}

fn exit(log: &Log) -> (Time, ExitReason, u64) {
    let (at, (reason, cwnd)) = log
        .first(|event| match event {
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } => Some((*reason, *cwnd_bytes)),
            _ => None,
        })
        .expect("it leaves start-up");
    (at, reason, cwnd)
}

fn after(log: &Log, from: f64, to: f64) -> impl Iterator<Item = &FlowSample> {
    let within = move |at: Time| at.secs_f64() > from && at.secs_f64() < to;
    log.flows.iter().filter(move |sample| within(sample.now))
}

fn throughput(log: &Log, from: f64, to: f64) -> f64 {
    let delivered: Vec<u64> = after(log, from, to).map(|sample| sample.delivered_bytes).collect();
    let (Some(first), Some(last)) = (delivered.first(), delivered.last()) else { return 0.0 };
    (last - first) as f64 / (to - from)
}

#[test]
fn it_fills_a_path_without_keeping_a_queue() {
    let log = run("bbr", &format!("size = '30 MB'\n{PATH}"));
    let (at, reason, cwnd) = exit(&log);
    assert_eq!(reason, ExitReason::Plateau);
    assert!((0.4..1.2).contains(&at.secs_f64()), "{at}");
    // PROBE_BW's window: twice the BDP and three quanta.
    let bdp = BYTES_PER_S * 0.05;
    assert!((1.9..2.6).contains(&(cwnd as f64 / bdp)), "{cwnd}");
    let steady = throughput(&log, 1.5, 6.0) / BYTES_PER_S;
    assert!((0.95..1.01).contains(&steady), "{steady}");
    // A quarter of a round trip in one phase of eight at most, and three quanta.
    let queued = after(&log, 1.5, 6.0).map(|sample| sample.rtt).max().expect("samples");
    assert!(queued < Time::from_ms(70), "{queued}");
    assert_eq!(log.flows.last().map(|sample| sample.lost_bytes), Some(0));
}

#[test]
fn probe_bw_paces_a_quarter_more_then_a_quarter_less_then_six_phases_at_the_rate() {
    let log = run("bbr", &format!("size = '30 MB'\n{PATH}"));
    let rate = BYTES_PER_S * 0.99;
    let mut phases: Vec<(i64, f64)> = Vec::new();
    for sample in after(&log, 1.5, 5.0) {
        let percent = (sample.pacing_bytes_per_s as f64 / rate * 20.0).round() as i64 * 5;
        if phases.last().is_none_or(|(last, _)| *last != percent) {
            phases.push((percent, sample.now.secs_f64()));
        }
    }
    let gains: Vec<i64> = phases.iter().map(|(percent, _)| *percent).collect();
    let cycles = gains.windows(3).filter(|gains| *gains == [125, 75, 100]).count();
    assert!(cycles >= 5, "{gains:?}");
    assert!(gains.iter().all(|gain| [75, 100, 125].contains(gain)), "{gains:?}");
    // One cycle takes about eight smallest round-trip times.
    let starts: Vec<f64> = phases.iter().filter(|(gain, _)| *gain == 125).map(|(_, at)| *at).collect();
    let cycle = (starts[starts.len() - 1] - starts[0]) / (starts.len() - 1) as f64;
    assert!((0.36..0.5).contains(&cycle), "{cycle}");
}

#[test]
fn after_ten_seconds_without_a_smaller_round_trip_it_looks_for_one() {
    let log = run("bbr", &format!("size = '200 MB'\nduration = '25 s'\n{PATH}"));
    let low: Vec<f64> = after(&log, 1.5, 25.0)
        .filter(|sample| sample.cwnd_bytes <= 4 * MSS)
        .map(|sample| sample.now.secs_f64())
        .collect();
    let mut spells: Vec<(f64, f64)> = Vec::new();
    for at in low {
        match spells.last_mut() {
            Some((_, end)) if at - *end < 1.0 => *end = at,
            _ => spells.push((at, at)),
        }
    }
    assert!((1..=3).contains(&spells.len()), "{spells:?}");
    for (begin, end) in &spells {
        // 200 ms with four packets in flight, and the round trips before and after.
        assert!((0.2..0.45).contains(&(end - begin)), "{spells:?}");
    }
    assert!((9.9..12.0).contains(&spells[0].0), "{spells:?}");
    // The window is back at once.
    let back = after(&log, spells[0].1, spells[0].1 + 0.1).map(|sample| sample.cwnd_bytes).max();
    assert!(back.is_some_and(|cwnd| cwnd as f64 > 1.5 * BYTES_PER_S * 0.05), "{back:?}");
}

#[test]
fn random_loss_does_not_slow_it_down() {
    let lossy = |arm| {
        let log = run(arm, &format!("size = '60 MB'\nduration = '10 s'\n{PATH}loss = '1 %'\n"));
        throughput(&log, 2.0, 9.0) / BYTES_PER_S
    };
    let (bbr, cubic) = (lossy("bbr"), lossy("hystart"));
    assert!(bbr > 0.85, "{bbr}");
    assert!(cubic < 0.4, "{cubic}");
}

#[test]
fn a_timeout_gives_the_window_back_once_it_is_repaired() {
    // Nothing passes for a second.
    let text = "size = '60 MB'\nduration = '10 s'\n[path]\nrtt = '50 ms'\nbuffer = '4 bdp'\n\
                rate = [{ at = '0 s', rate = '40 Mbit/s' }, { at = '3 s', rate = '0 bit/s' }, { at = '4 s', rate = '40 Mbit/s' }]\n";
    let log = run("bbr", text);
    assert!(log.first(|event| matches!(event, FlowEventKind::Timeout { .. }).then_some(())).is_some());
    let steady = throughput(&log, 6.0, 9.0) / BYTES_PER_S;
    assert!(steady > 0.9, "{steady}");
}

#[test]
fn another_start_up_may_go_before_it_and_another_avoidance_after() {
    let text = format!("size = '30 MB'\n[sender]\ncongestion-control = 'bbr'\n{PATH}");
    let log = run("slow_start", &text);
    assert!(throughput(&log, 2.5, 5.0) / BYTES_PER_S > 0.95);
    assert!(after(&log, 3.0, 5.0).all(|sample| sample.pacing_bytes_per_s > 0));
    // CUBIC goes on from the window at which Drain stopped, about a BDP, and does not pace.
    let text = format!("size = '30 MB'\n[sender]\ncongestion-control = 'cubic'\n{PATH}");
    let log = run("bbr", &text);
    let (at, _, cwnd) = exit(&log);
    let bdp = BYTES_PER_S * 0.05;
    assert!((0.95..1.35).contains(&(cwnd as f64 / bdp)), "{cwnd}");
    let next = after(&log, at.secs_f64(), at.secs_f64() + 1.0);
    assert!(next.filter(|sample| sample.phase == Phase::Done).all(|sample| sample.pacing_bytes_per_s == 0));
}
