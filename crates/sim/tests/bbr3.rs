//! BBR of version 3 as a whole: the core's Startup and Drain, and what the sender does after it.

mod common;

use common::{Log, play};
use rampcc::{ExitReason, Phase, Time};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::{FlowEventKind, FlowSample};

const PATH: &str = "[path]\nrate = '40 Mbit/s'\nrtt = '50 ms'\n";
const BYTES_PER_S: f64 = 40e6 / 8.0 * 1448.0 / 1500.0;
const BDP: f64 = BYTES_PER_S * 0.05;

fn run(arm: &str, text: &str) -> Log {
    let scenario = Scenario::parse("bbr3", text, None).expect("the text is a scenario");
    let mut scenario = scenario.with_arm(&Arm::parse(arm).expect("an arm"));
    scenario.flows[0].sender.sampled = true;
    play(&scenario, 1).1
}

fn steady(buffer: &str, more: &str) -> Log {
    run("bbr3", &format!("size = '200 MB'\nduration = '20 s'\n{PATH}buffer = '{buffer}'\n{more}"))
}

fn after(log: &Log, from: f64, to: f64) -> impl Iterator<Item = &FlowSample> {
    let within = move |at: Time| at.secs_f64() > from && at.secs_f64() < to;
    log.flows.iter().filter(move |sample| within(sample.now))
}

/// Payload delivered over what the path carries.
fn share(log: &Log, from: f64, to: f64) -> f64 {
    let delivered: Vec<u64> = after(log, from, to).map(|sample| sample.delivered_bytes).collect();
    let (Some(first), Some(last)) = (delivered.first(), delivered.last()) else { return 0.0 };
    (last - first) as f64 / (to - from) / BYTES_PER_S
}

fn exit(log: &Log) -> (ExitReason, f64) {
    log.first(|event| match event {
        FlowEventKind::StartupExit { reason, cwnd_bytes, .. } => Some((*reason, *cwnd_bytes as f64 / BDP)),
        _ => None,
    })
    .expect("it leaves start-up")
    .1
}

/// Spells of pacing at so many percent of the rate, with the time when each began.
fn spells(log: &Log, from: f64, to: f64) -> Vec<(i64, f64)> {
    let mut spells: Vec<(i64, f64)> = Vec::new();
    for sample in after(log, from, to) {
        let percent = (sample.pacing_bytes_per_s as f64 / BYTES_PER_S / 0.99 * 20.0).round() as i64 * 5;
        if spells.last().is_none_or(|(last, _)| *last != percent) {
            spells.push((percent, sample.now.secs_f64()));
        }
    }
    spells
}

fn lost_packets(log: &Log) -> u64 {
    log.flows.last().map_or(0, |sample| sample.lost_bytes / 1448)
}

#[test]
fn it_fills_a_path_and_asks_for_more_every_two_to_three_seconds() {
    let log = steady("4 bdp", "");
    let (reason, window) = exit(&log);
    assert_eq!(reason, ExitReason::Plateau);
    assert!((1.95..2.2).contains(&window), "{window}");
    assert!((0.95..1.0).contains(&share(&log, 2.0, 20.0)));
    assert_eq!(lost_packets(&log), 0);
    let spells = spells(&log, 1.5, 20.0);
    assert!(spells.iter().all(|(percent, _)| [90, 100, 125].contains(percent)), "{spells:?}");
    let asks: Vec<f64> = spells.iter().filter(|(percent, _)| *percent == 125).map(|(_, at)| *at).collect();
    assert!((5..=8).contains(&asks.len()), "{asks:?}");
    // The wait, the probe, and where ProbeRTT begins the wait again up to as much more.
    assert!(asks.windows(2).all(|pair| (2.0..6.0).contains(&(pair[1] - pair[0]))), "{asks:?}");
    // Between probes there is no queue: a round trip and the packets in service.
    let quiet = after(&log, 2.0, 2.9).map(|sample| sample.rtt).max().expect("samples");
    assert!(quiet < Time::from_ms(52), "{quiet}");
}

#[test]
fn every_five_seconds_half_the_bdp_is_in_flight() {
    let log = steady("4 bdp", "");
    let mut low: Vec<(f64, f64)> = Vec::new();
    for sample in after(&log, 1.5, 20.0).filter(|sample| (sample.cwnd_bytes as f64) < 0.55 * BDP) {
        let at = sample.now.secs_f64();
        match low.last_mut() {
            Some((_, end)) if at - *end < 1.0 => *end = at,
            _ => low.push((at, at)),
        }
    }
    assert_eq!(low.len(), 3, "{low:?}");
    assert!(low.iter().all(|(begin, end)| (0.2..0.4).contains(&(end - begin))), "{low:?}");
    assert!(low.windows(2).all(|pair| (5.0..5.5).contains(&(pair[1].0 - pair[0].1))), "{low:?}");
    let back = after(&log, low[0].1, low[0].1 + 0.1).map(|sample| sample.cwnd_bytes).max();
    assert!(back.is_some_and(|cwnd| cwnd as f64 > 1.9 * BDP), "{back:?}");
}

#[test]
fn a_short_buffer_costs_it_a_probe_and_not_the_whole_path() {
    for (buffer, least, cruise) in [("0.5 bdp", 0.95, 1.4), ("0.1 bdp", 0.9, 1.0)] {
        let log = steady(buffer, "");
        assert_eq!(exit(&log).0, ExitReason::Loss);
        assert!(share(&log, 2.0, 20.0) > least, "{buffer}: {}", share(&log, 2.0, 20.0));
        let from_probes =
            lost_packets(&log) - after(&log, 1.5, 2.0).last().map_or(0, |sample| sample.lost_bytes / 1448);
        assert!((10..200).contains(&from_probes), "{buffer}: {from_probes}");
        // While it cruises, the window leaves 15 % of what the path has held.
        let window = after(&log, 6.5, 7.0).map(|sample| sample.cwnd_bytes).max().expect("samples");
        assert!((window as f64 / BDP) < cruise, "{buffer}: {window}");
    }
}

/// The draft tolerates losses below 2 % and gives way to more.
#[test]
fn two_percent_of_loss_is_the_line() {
    let carried = |loss: &str| share(&steady("4 bdp", &format!("loss = '{loss} %'\n")), 2.0, 20.0);
    let (little, one, much) = (carried("0.5"), carried("1"), carried("3"));
    assert!(little > 0.75, "{little}");
    assert!(one > 0.65, "{one}");
    assert!(much < 0.3, "{much}");
}

#[test]
fn another_start_up_may_go_before_it_and_another_avoidance_after() {
    let text = |control: &str| {
        format!("size = '40 MB'\n[sender]\ncongestion-control = '{control}'\n{PATH}buffer = '4 bdp'\n")
    };
    let log = run("slow_start", &text("bbr3"));
    assert!(share(&log, 3.0, 6.0) > 0.9, "{}", share(&log, 3.0, 6.0));
    assert!(after(&log, 3.0, 6.0).all(|sample| sample.pacing_bytes_per_s > 0));
    let log = run("bbr3", &text("cubic"));
    let done = |sample: &&FlowSample| sample.phase == Phase::Done;
    assert!(after(&log, 0.5, 6.0).filter(done).count() > 1000);
    assert!(after(&log, 0.5, 6.0).filter(done).all(|sample| sample.pacing_bytes_per_s == 0));
}

#[test]
fn a_timeout_gives_the_window_back_once_it_is_repaired() {
    let text = "size = '60 MB'\nduration = '12 s'\n[path]\nrtt = '50 ms'\nbuffer = '4 bdp'\n\
                rate = [{ at = '0 s', rate = '40 Mbit/s' }, { at = '3 s', rate = '0 bit/s' }, { at = '4 s', rate = '40 Mbit/s' }]\n";
    let log = run("bbr3", text);
    assert!(log.first(|event| matches!(event, FlowEventKind::Timeout { .. }).then_some(())).is_some());
    assert!(share(&log, 8.0, 11.0) > 0.9, "{}", share(&log, 8.0, 11.0));
}
