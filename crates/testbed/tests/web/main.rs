//! nginx serves over an emulated path, and our congestion control steers its connections.
#![cfg(all(target_os = "linux", feature = "bpf"))]
#![allow(clippy::disallowed_methods, reason = "waiting for a server")]

#[path = "../../../linux/tests/support/left_out.rs"]
mod left_out;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;
mod site;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use left_out::{complete, repeated};
use rampcc::{ExitReason, algorithm};
use rampcc_linux::{Event, FlowEvent, Options, Record, load};
use rampcc_scenario::{Arm, Scenario};
use rampcc_testbed::{Options as Playing, Row, Task, obstacle, play};
use rampcc_trace::{FlowEvent as Told, FlowEventKind, Observer};
use site::{Site, content, installed};

const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '60 ms'\nbuffer = '1 bdp'\n[[flow]]\nsize = '10 MB'\n";
const LARGE: usize = 10_000_000;
const SMALL: usize = 100_000;
/// BEST must see the path's rate once in so many downloads; a busy machine may bunch ACKs in some.
const ATTEMPTS: u32 = 4;

/// What keeps these tests from this machine.
fn ready() -> Option<()> {
    let reason = match (obstacle(), installed()) {
        (None, true) => ready::no_tun(),
        (None, false) => Some("nginx and curl are not installed: scripts/setup test".to_owned()),
        (Some(obstacle), _) => Some(obstacle.to_string()),
    };
    ready::unobstructed(reason.as_deref())
}

#[test]
fn files_arrive_whole_and_best_steers_their_connections() {
    let Some(()) = ready() else { return };
    let by_bandwidth = (0..ATTEMPTS).any(|_| {
        let [large, small] = repeated(download_both);
        assert!(large.acked_bytes >= LARGE as u64, "{large:?}");
        assert!(small.acked_bytes >= SMALL as u64 && small.acked_bytes < LARGE as u64, "{small:?}");
        // 100 kB are sent before a round trip has shown the path's rate.
        (large.exits, large.decision.exit_reason(), small.exits) == (1, ExitReason::Bandwidth, 0)
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

/// Two servers behind one bottleneck, of which one is steered by what is compared.
const SERVERS: &str = "duration = '5 s'\nstop = 'duration'\n\
    [sender]\ncongestion-control = 'reno'\n\
    [dumbbell]\npairs = 2\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '66 packets'\naccess = '100 Mbit/s'\n\
    [[traffic]]\nkind = 'web'\nload = '10 Mbit/s'\nfrom = 'sender-1'\nto = 'receiver-1'\nunder-test = true\n\
    [[traffic]]\nkind = 'web'\nload = '10 Mbit/s'\nfrom = 'sender-2'\nto = 'receiver-2'\n";

#[derive(Default)]
struct Exits(BTreeSet<u32>);

impl Observer for Exits {
    fn on_event(&mut self, event: &Told) {
        if let FlowEventKind::StartupExit { reason, cwnd_bytes, .. } = event.kind {
            assert!(reason != ExitReason::None && cwnd_bytes > 0);
            assert!(self.0.insert(event.flow), "{event:?}: it left before");
        }
    }
}

#[test]
fn of_two_servers_one_is_steered_by_what_is_compared() {
    let Some(()) = ready() else { return };
    let paced = Arm::parse("paced").expect("a row of the registry");
    let scenario =
        Scenario::parse("servers", SERVERS, None).expect("the text is a scenario").with_arm(&paced);
    let mut exits = Exits::default();
    let options = Playing { keep_refused: true, ..Playing::default() };
    let task = Task { options, ..Task::new(&scenario, Row::Core, 1) };
    // It fails if fewer connections met the program than loaded something.
    let played = play(&task, &mut exits, &AtomicBool::new(false)).expect("it is played");
    let flows = &played.outcome.flows;
    for under_test in [true, false] {
        let of = flows.iter().filter(|flow| flow.under_test == under_test);
        let whole = of.filter(|flow| flow.received_bytes == flow.size_bytes).count();
        assert!(whole > 50, "{whole} objects");
    }
    // The other server has the kernel's own Reno, and a program tells of its own connections alone.
    assert!(!exits.0.is_empty(), "nobody left start-up");
    assert!(exits.0.iter().all(|flow| flows[*flow as usize].under_test), "{:?}", exits.0);
}
