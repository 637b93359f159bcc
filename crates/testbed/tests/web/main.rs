//! nginx serves files over an emulated path, and our congestion control steers its connections.
#![cfg(all(target_os = "linux", feature = "bpf"))]
#![allow(clippy::disallowed_methods, reason = "waiting for a server")]

#[path = "../../../linux/tests/support/left_out.rs"]
mod left_out;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;
mod site;

use std::time::Duration;

use left_out::{complete, repeated};
use rampcc::{ExitReason, algorithm};
use rampcc_linux::{Event, FlowEvent, Options, Record, load};
use rampcc_scenario::Scenario;
use rampcc_testbed::obstacle;
use site::{Site, content, installed};

const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '60 ms'\nbuffer = '1 bdp'\n[[flow]]\nsize = '10 MB'\n";
const LARGE: usize = 10_000_000;
const SMALL: usize = 100_000;
/// BEST must see the path's rate once in so many downloads; a busy machine may bunch ACKs in some.
const ATTEMPTS: u32 = 4;

#[test]
fn files_arrive_whole_and_best_steers_their_connections() {
    let reason = match (obstacle(), installed()) {
        (None, true) => ready::no_tun(),
        (None, false) => Some("nginx and curl are not installed: scripts/setup test".to_owned()),
        (Some(obstacle), _) => Some(obstacle.to_string()),
    };
    if !ready::unobstructed(reason.as_deref()) {
        return;
    }
    let by_bandwidth = (0..ATTEMPTS).any(|_| {
        let [large, small] = repeated(download_both);
        assert!(large.acked_bytes >= LARGE as u64 && large.exits == 1, "{large:?}");
        assert!(small.acked_bytes >= SMALL as u64 && small.acked_bytes < LARGE as u64, "{small:?}");
        let reason = large.decision.exit_reason();
        assert!(matches!(reason, ExitReason::Bandwidth | ExitReason::Loss), "{reason:?}");
        // 100 kB are sent before a round trip has shown the path's rate.
        assert_eq!(small.exits, 0, "{small:?}");
        reason == ExitReason::Bandwidth
    });
    assert!(by_bandwidth, "BEST never left because of what it measured");
}

/// The two connections' figures, the large one's first.
fn download_both() -> [FlowEvent; 2] {
    let scenario = Scenario::parse("web", PATH, None).expect("the text is a scenario");
    let best = algorithm("best").expect("a row of the registry");
    let options =
        Options { name: Some("ramp_web_best".to_owned()), record: Record::Flows, ..Options::new(best) };
    let loaded = load(best, &options).expect("the kernel takes it");
    let site = Site::start(&scenario, 1, loaded.name(), &[LARGE, SMALL]).expect("nginx serves");
    for size in [LARGE, SMALL] {
        let fetched = site.fetch(size).expect("curl downloads");
        assert!(fetched.content == content(size), "{size} bytes arrive as they are");
        assert!(fetched.seconds > 0.12, "two round trips at least: {} s", fetched.seconds);
    }
    // Connections close over the path too.
    let mut closed = Vec::new();
    for _ in 0..100 {
        for event in loaded.drain(Duration::from_millis(50)).expect("the ring buffer can be read") {
            if let Event::Close(flow) = event {
                closed.push(flow);
            }
        }
        if closed.len() >= 2 {
            break;
        }
    }
    site.stop().expect("everything ends");
    closed.sort_by_key(|flow| std::cmp::Reverse(flow.acked_bytes));
    complete(closed.len() >= 2 && closed[0].exits > 0, &closed);
    closed.try_into().unwrap_or_else(|closed| panic!("two connections were ours: {closed:?}"))
}
