//! An algorithm outside the registry, which uses what the contract tells and lets it say: hint, handshake RTT, lost
//! bytes, recovery, its end.

mod common;
#[path = "../../ramp/tests/scratch/mod.rs"]
mod scratch;

use common::{Log, empty, flow, link, mbit, ms, plain, play, startup};
use rampcc::{Algorithm, ExitReason, Hint, Phase, Time, UNSET};
use rampcc_scenario::Source;
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};
use rampcc_trace::{FlowEventKind, SenderState};
use scratch::{careful, remembered};

const MSS: u64 = 1448;
/// 100 ms at 40 Mbit/s of payload and headers.
const BDP: u64 = 40_000_000 / 8 / 10;

/// Four megabytes over 100 ms and this rate, with a queue of 60 packets.
fn download(algorithm: &'static Algorithm, hint: Hint, rate: u64) -> Log {
    let mut scenario = empty(2, 60.0);
    link(&mut scenario, 0, 1, plain(mbit(rate), ms(50.0), 60));
    link(&mut scenario, 1, 0, plain(mbit(1000), ms(50.0), 1000));
    let mut flow = flow(0, 1, Source::Sized(4_000_000), "slow_start");
    flow.sender = SenderConfig::new(Profile::Modern, algorithm);
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

#[test]
fn without_a_hint_that_fits_it_is_slow_start() {
    let plain = download(startup("slow_start"), Hint::NONE, 40);
    for hint in [Hint::NONE, remembered(BDP, 300_000), remembered(BDP, 9_000), Hint::path(BDP, BDP * 10)] {
        let careful = download(careful(), hint, 40);
        assert_eq!((&careful.flows, &careful.events), (&plain.flows, &plain.events), "{hint:?}");
    }
}

#[test]
fn half_of_what_the_path_held_goes_out_at_once_and_evenly() {
    let (plain, careful) =
        (download(careful(), Hint::NONE, 40), download(careful(), remembered(BDP, 100_000), 40));
    let saved = completed(&plain) - completed(&careful);
    assert!(saved > ms(200.0), "two of slow start's rounds at least: {saved}");
    let jump = careful.flows.iter().find(|sample| sample.pacing_bytes_per_s > 0).expect("it jumps");
    assert_eq!(jump.cwnd_bytes, BDP / 2);
    let rate = BDP / 2 * 10;
    assert!(
        (rate * 98 / 100..=rate).contains(&jump.pacing_bytes_per_s),
        "over the handshake's RTT: {jump:?}"
    );
    // One round trip later all of it has left, and ACKs are the clock again.
    let after: Vec<_> = careful.flows.iter().filter(|s| s.now > jump.now + ms(105.0)).collect();
    assert!(after.iter().all(|sample| sample.pacing_bytes_per_s == 0));
    let at_once = careful.flows.iter().filter(|s| s.now < jump.now + ms(105.0)).map(|s| s.sent_bytes).max();
    assert!(at_once > Some(BDP / 2), "{at_once:?}");
    assert!(after[0].lost_bytes == 0, "the path is as it was");
}

#[test]
fn on_a_path_that_has_become_narrow_it_lands_on_what_that_delivers() {
    let log = download(careful(), remembered(2 * BDP, 100_000), 10);
    let (_, (reason, lost)) = log
        .first(|kind| match kind {
            FlowEventKind::StartupExit { reason, evidence, .. } => Some((*reason, *evidence)),
            _ => None,
        })
        .expect("it leaves");
    assert_eq!(reason, ExitReason::Loss);
    assert!(lost > 50 * MSS, "all that was lost by then, not what was found first: {lost}");
    let recovering: Vec<_> = log.flows.iter().filter(|s| s.state == SenderState::Recovery).collect();
    assert!(!recovering.is_empty() && recovering.iter().all(|s| s.ssthresh_bytes != UNSET));
    let leaving = recovering.iter().filter(|s| s.phase == Phase::Leaving).count();
    assert!(leaving > 10, "the algorithm has a say until the repair is over: {leaving}");
    let narrow = 10_000_000 / 8 / 10;
    let landed = log.flows.iter().find(|s| s.phase == Phase::Done).expect("it ends");
    let goal = landed.ssthresh_bytes;
    assert!((narrow / 2..=3 * narrow).contains(&goal), "half of what a round and a queue deliver: {goal}");
    let last = recovering.last().expect("some").now;
    let end = log.flows.iter().find(|s| s.now > last && s.state == SenderState::Open).expect("it goes on");
    assert!(end.cwnd_bytes <= goal + 2 * MSS, "{end:?}");
    completed(&log);
}
