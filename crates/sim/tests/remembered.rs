//! Start-ups that begin with what an earlier connection has seen: on the path as it was, and on one that has changed.

mod common;

use common::{Log, empty, flow, link, mbit, ms, plain, play};
use rampcc::{ExitReason, Hint, HintSource, Phase, Time, algorithm};
use rampcc_scenario::Source;
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};
use rampcc_trace::{FlowEventKind, SenderState};

const MSS: u64 = 1448;
/// 100 ms at 40 Mbit/s of payload and headers.
const BDP: u64 = 40_000_000 / 8 / 10;

/// What an earlier connection has seen.
fn remembered(window_bytes: u64, rtt_us: u32) -> Hint {
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.rtt_us) = (window_bytes, rtt_us);
    hint
}

/// Four megabytes over 100 ms and this rate, with a queue of 60 packets.
fn download(id: &str, hint: Hint, rate: u64) -> Log {
    let mut scenario = empty(2, 60.0);
    link(&mut scenario, 0, 1, plain(mbit(rate), ms(50.0), 60));
    link(&mut scenario, 1, 0, plain(mbit(1000), ms(50.0), 1000));
    let mut flow = flow(0, 1, Source::Sized(4_000_000), "slow_start");
    flow.sender = SenderConfig::new(Profile::Modern, algorithm(id).expect("a row"));
    flow.sender.hint = hint;
    flow.sender.sampled = true;
    flow.receiver = ReceiverConfig::new(Profile::Modern);
    scenario.flows.push(flow);
    scenario.stop.when_complete = true;
    play(&scenario, 1).1
}

fn completed(log: &Log) -> Time {
    log.first(|kind| matches!(kind, FlowEventKind::Completed { .. }).then_some(())).expect("it arrives").0
}

fn left(log: &Log) -> ExitReason {
    log.first(|kind| match kind {
        FlowEventKind::StartupExit { reason, .. } => Some(*reason),
        _ => None,
    })
    .map_or(ExitReason::None, |(_, reason)| reason)
}

#[test]
fn without_a_hint_that_fits_careful_resume_is_slow_start() {
    let plain = download("slow_start", Hint::NONE, 40);
    for hint in [Hint::NONE, remembered(BDP, 300_000), remembered(BDP, 9_000), Hint::path(BDP, BDP * 10)] {
        let careful = download("careful", hint, 40);
        assert_eq!((&careful.flows, &careful.events), (&plain.flows, &plain.events), "{hint:?}");
    }
}

#[test]
fn half_of_what_the_path_held_goes_out_at_once_and_evenly() {
    let (plain, careful) =
        (download("careful", Hint::NONE, 40), download("careful", remembered(BDP, 100_000), 40));
    let saved = completed(&plain) - completed(&careful);
    assert!(saved > ms(500.0), "{saved}");
    let jump = careful.flows.iter().find(|sample| sample.pacing_bytes_per_s > 0).expect("it jumps");
    assert_eq!(jump.cwnd_bytes, BDP / 2);
    let rate = BDP / 2 * 10;
    assert!(
        (rate * 96 / 100..=rate).contains(&jump.pacing_bytes_per_s),
        "over the round trip that the initial window had: {jump:?}"
    );
    // One round trip later all of it has left, and ACKs are the clock again.
    let after: Vec<_> = careful.flows.iter().filter(|s| s.now > jump.now + ms(108.0)).collect();
    assert!(after.iter().all(|sample| sample.pacing_bytes_per_s == 0));
    let at_once = careful.flows.iter().filter(|s| s.now < jump.now + ms(105.0)).map(|s| s.sent_bytes).max();
    assert!(at_once > Some(BDP / 2), "{at_once:?}");
    assert!(after[0].lost_bytes == 0, "the path is as it was");
}

#[test]
fn on_a_path_that_has_become_narrow_careful_resume_retreats_to_what_that_delivers() {
    let narrow = 10_000_000 / 8 / 10;
    for times in [2, 4, 16] {
        let log = download("careful", remembered(times * BDP / 2, 100_000), 10);
        assert_eq!(left(&log), ExitReason::Loss);
        let first = log.flows.iter().find(|s| s.state == SenderState::Recovery).expect("it loses packets");
        let goal = first.ssthresh_bytes;
        assert!(goal <= narrow && goal >= narrow / 3, "half of what slow start would have reached: {goal}");
        // Nothing moves it until the repair is over: then the window is there, and ssthresh beyond.
        let repaired =
            log.first(|kind| matches!(kind, FlowEventKind::RecoveryEnd).then_some(())).expect("repaired").0;
        let during = log.flows.iter().filter(|s| s.now >= first.now && s.now < repaired);
        assert!(during.clone().all(|s| s.ssthresh_bytes == goal && s.phase == Phase::Leaving));
        assert!(during.count() > 10);
        let after = log.flows.iter().find(|s| s.now > repaired).expect("it goes on");
        assert!(after.cwnd_bytes <= goal + 2 * MSS, "{after:?}");
        let pipe = 2 * after.ssthresh_bytes;
        assert!((narrow..=3 * narrow).contains(&pipe), "what a round and a queue deliver: {pipe}");
        completed(&log);
    }
}

/// The retreat costs at most what slow start's own overshoot does, where the remembered window is not far too large.
#[test]
fn a_window_remembered_too_large_costs_little_and_far_too_large_costs_much() {
    let plain = completed(&download("slow_start", Hint::NONE, 10)).secs_f64();
    let [twice, far] = [2, 16].map(|times| {
        completed(&download("careful", remembered(times * BDP / 4, 100_000), 10)).secs_f64() / plain
    });
    assert!((0.9..1.1).contains(&twice), "{twice}");
    assert!((1.1..1.5).contains(&far), "{far}");
}

/// Seconds that the download takes, packets lost, and why start-up ended.
fn outcome(id: &str, window_bytes: u64, rate: u64) -> (f64, u64, ExitReason) {
    let hint = if window_bytes == 0 { Hint::NONE } else { remembered(window_bytes, 100_000) };
    let log = download(id, hint, rate);
    (completed(&log).secs_f64(), log.flows.last().expect("a sample").lost_bytes / MSS, left(&log))
}

#[test]
fn what_was_right_saves_slow_starts_rounds_and_its_overshoot() {
    let (slow_start, lost, _) = outcome("slow_start", 0, 40);
    assert!(lost > 60, "{lost}");
    for id in ["fast_start", "stateful"] {
        let (seconds, lost, left) = outcome(id, BDP, 40);
        assert!(seconds < 0.65 * slow_start, "{id}: {seconds} of {slow_start}");
        assert!(lost < 40, "{id}: {lost}");
        assert_eq!(left, ExitReason::Ssthresh, "{id}");
        // Half of it is lost nowhere, and congestion avoidance has to find the rest.
        let (seconds, lost, _) = outcome(id, BDP / 2, 40);
        assert!(seconds < 0.85 * slow_start && lost == 0, "{id}: {seconds} {lost}");
    }
    // With what the receiver takes at first as its limit, a jump to any of them is the same one.
    let [right, twice] = [BDP, 2 * BDP].map(|window| outcome("quicly", window, 40));
    assert_eq!((right.0.to_bits(), right.1), (twice.0.to_bits(), twice.1));
    assert!(right.0 < 0.9 * slow_start, "{right:?}");
}

#[test]
fn what_is_sixteen_times_too_much_is_lost_and_the_download_goes_on() {
    let (slow_start, lost_by_slow_start, _) = outcome("slow_start", 0, 10);
    for (id, left) in [("fast_start", ExitReason::Loss), ("stateful", ExitReason::Ssthresh)] {
        let (seconds, lost, reason) = outcome(id, 4 * BDP, 10);
        assert_eq!(reason, left, "{id}");
        assert!(lost > 5 * lost_by_slow_start, "{id}: {lost}, {lost_by_slow_start}");
        assert!(seconds < 1.1 * slow_start, "{id}: {seconds} of {slow_start}");
    }
}

/// The window never leaves what the receiver took at first, but by congestion avoidance.
#[test]
fn jump_start_sends_what_the_receiver_takes() {
    let log = download("jump", Hint::NONE, 40);
    let first = log.flows.iter().find(|s| s.sent_bytes > 0).expect("it sends");
    assert!((44 * MSS..46 * MSS).contains(&first.cwnd_bytes), "{first:?}");
    let round = log.flows.iter().find(|s| s.now > first.now + ms(99.0)).expect("it goes on");
    assert!(round.sent_bytes >= first.cwnd_bytes - MSS, "all of it in a round trip: {round:?}");
    assert_eq!(left(&log), ExitReason::Ssthresh);
}

/// Threefold growth is there two round trips before slow start, and lands on what arrived.
#[test]
fn rapid_start_triples_and_lands_on_what_arrived() {
    let (rapid, plain) = (download("rapid", Hint::NONE, 40), download("slow_start", Hint::NONE, 40));
    let reached = |log: &Log| log.flows.iter().find(|s| s.cwnd_bytes >= BDP / 2).expect("it grows").now;
    assert!(reached(&rapid) + ms(200.0) < reached(&plain));
    let first = rapid.flows.iter().position(|s| s.state == SenderState::Recovery).expect("it loses packets");
    let window = rapid.flows[first - 1].cwnd_bytes;
    let end =
        rapid.first(|kind| matches!(kind, FlowEventKind::RecoveryEnd).then_some(())).expect("repaired").0;
    let after = rapid.flows.iter().find(|s| s.now > end).expect("it goes on");
    let arrived = window - (after.lost_bytes - rapid.flows[first - 1].lost_bytes);
    let share = after.cwnd_bytes as f64 / arrived as f64;
    assert!((0.65..0.75).contains(&share), "{share}: {} of {window}", after.cwnd_bytes);
}
