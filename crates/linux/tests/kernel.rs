//! The algorithms in the running kernel. Needs root and a kernel with BTF; in CI that is not optional.

use std::time::Duration;

use ramp::{Algorithm, ExitReason, algorithm, algorithms};
use ramp_linux::{
    Counters, Event, FlowEvent, LoadError, Loaded, Options, Pinned, Record, Replay, detach_pinned, load,
    load_pinned,
};
use support::{Bottleneck, Network, Open, ready, run};

mod support;

/// A queue of 200 ms behind an RTT of well under 1 ms: room for an algorithm to take its time.
const DEEP: Bottleneck = Bottleneck::Queue(1_000_000);
const MEGABYTES: u64 = 1_000_000;
/// Enough to overflow the DEEP queue by slow start.
const SIZE: u64 = 4 * MEGABYTES;

/// Registered under a name of its own, so that tests run side by side.
fn put_in(algorithm: &'static Algorithm, tag: &str, record: Record) -> Loaded {
    let mut options = Options::new(algorithm);
    options.name = Some(format!("r{tag}_{}", algorithm.id));
    options.record = record;
    // 40 Mbit/s and a part of the DEEP queue, for `ideal`.
    options.path_bdp_bytes = 250_000;
    options.path_bytes_per_s = 4_700_000;
    load(algorithm, &options).unwrap_or_else(|error| panic!("{}: {error}\n{}", algorithm.id, error.log()))
}

/// Everything that has come, once the last connection has closed.
fn all_events(loaded: &Loaded, closed: u64) -> (Vec<Event>, Counters) {
    let mut events = Vec::new();
    for _ in 0..300 {
        events.extend(loaded.drain(Duration::from_millis(100)).expect("events"));
        let counters = loaded.counters().expect("counters");
        if counters.closed >= closed {
            events.extend(loaded.drain(Duration::ZERO).expect("events"));
            return (events, counters);
        }
    }
    panic!("connections stay open: {:?}", loaded.counters());
}

fn exits(events: &[Event]) -> Vec<&FlowEvent> {
    events.iter().filter_map(|event| if let Event::Exit(exit) = event { Some(exit) } else { None }).collect()
}

/// Why this algorithm leaves where a queue builds up.
fn own_reasons(id: &str) -> &'static [ExitReason] {
    match id {
        "hystart11" | "hystart" => &[ExitReason::Delay, ExitReason::AckTrain],
        "hystartpp" => &[ExitReason::Delay],
        "paced" => &[ExitReason::Gap],
        "best" => &[ExitReason::Bandwidth],
        "ideal" => &[ExitReason::Known],
        _ => &[ExitReason::Loss],
    }
}

#[test]
fn every_algorithm_loads_and_leaves_for_its_own_reason_on_both_kinds_of_open() {
    if !ready() {
        return;
    }
    let (deep, shallow) = (Network::new(DEEP), Network::new(Bottleneck::Queue(100_000)));
    for algorithm in algorithms() {
        let loaded = put_in(algorithm, "a", Record::Flows);
        let network = if own_reasons(algorithm.id) == [ExitReason::Loss] { &shallow } else { &deep };
        for open in [Open::Passive, Open::Active] {
            assert_eq!(network.transfer(loaded.name(), open, SIZE), SIZE);
        }
        let (events, counters) = all_events(&loaded, 2);
        assert_eq!((counters.opened, counters.without_storage, counters.late), (2, 0, 0), "{}", algorithm.id);
        let exits = exits(&events);
        assert_eq!(exits.len(), 2, "{}: {events:?}", algorithm.id);
        for exit in exits {
            let reason = exit.decision.exit_reason();
            assert!(own_reasons(algorithm.id).contains(&reason), "{}: {exit:?}", algorithm.id);
            assert!(exit.exited() > Some(exit.opened()));
            assert!(exit.tuple.local().port() > 0 && exit.tuple.remote().port() > 0);
            assert_eq!(counters.exits(reason), 2);
        }
        let acked: Vec<_> = events
            .iter()
            .filter_map(|e| if let Event::Close(c) = e { Some(c.acked_bytes) } else { None })
            .collect();
        assert!(acked.len() == 2 && acked.iter().all(|bytes| (0..=2).contains(&(bytes - SIZE))), "{acked:?}");
    }
}

#[test]
fn the_kernel_decides_as_the_native_core() {
    if !ready() {
        return;
    }
    let networks = [DEEP, Bottleneck::Queue(30_000), Bottleneck::Lossless].map(Network::new);
    for algorithm in algorithms() {
        let loaded = put_in(algorithm, "b", Record::All);
        let mut replay = Replay::new(algorithm);
        for network in &networks {
            assert_eq!(network.transfer(loaded.name(), Open::Passive, SIZE), SIZE);
        }
        let (events, counters) = all_events(&loaded, networks.len() as u64);
        assert_eq!(counters.lost_events, 0);
        for event in &events {
            replay.handle_event(event).unwrap_or_else(|difference| panic!("{}: {difference}", algorithm.id));
        }
        let acks = events.iter().filter(|event| matches!(event, Event::Ack(_))).count();
        assert!(acks >= 3 && replay.compared() > acks as u64 * 2, "{}: {acks} ACKs", algorithm.id);
        contract_holds(algorithm.id, &events);
        let pacing = |event: &Event| matches!(event, Event::Ack(e) if e.after.pacing_bytes_per_s > 0);
        assert!(loaded.paces() || !events.iter().any(pacing), "{} paces unheard", algorithm.id);
        assert_eq!(loaded.paces(), ["paced", "ideal"].contains(&algorithm.id), "{}", algorithm.id);
    }
}

/// Totals add up, time never goes back, and nothing is acknowledged that was not sent.
fn contract_holds(id: &str, events: &[Event]) {
    let mut last: std::collections::BTreeMap<u64, ramp::Ack> = std::collections::BTreeMap::new();
    for event in events {
        let Event::Ack(e) = event else { continue };
        let (ack, flow) = (&e.ack, e.header.flow);
        assert!(ack.acked_bytes > 0 && ack.mss_bytes > 0, "{id}: {ack:?}");
        assert!(ack.newest_acked_bytes <= ack.sent_bytes, "{id}: {ack:?}");
        assert!(ack.in_flight_bytes >= ack.acked_bytes, "{id}: {ack:?}");
        assert!(ack.newest_sent_ns <= ack.now_ns, "{id}: {ack:?}");
        let before = last.insert(flow, *ack);
        let Some(before) = before else {
            assert_eq!(ack.delivered_bytes, ack.acked_bytes, "{id}: {ack:?}");
            continue;
        };
        assert_eq!(before.delivered_bytes + ack.acked_bytes, ack.delivered_bytes, "{id}: {ack:?}");
        assert!(before.now_ns <= ack.now_ns && before.sent_bytes <= ack.sent_bytes, "{id}: {ack:?}");
        assert!(before.newest_acked_bytes <= ack.newest_acked_bytes, "{id}: {ack:?}");
    }
}

#[test]
fn without_memory_for_its_state_a_connection_is_plain_cubic() {
    if !ready() {
        return;
    }
    let network = Network::new(Bottleneck::None);
    network.sender_sysctl("net.core.optmem_max=1500");
    let loaded = put_in(algorithm("best").expect("a row"), "c", Record::All);
    for open in [Open::Passive, Open::Active] {
        assert_eq!(network.transfer(loaded.name(), open, SIZE), SIZE);
    }
    let counters = loaded.counters().expect("counters");
    assert_eq!((counters.without_storage, counters.opened, counters.all_exits()), (2, 0, 0));
    assert_eq!(loaded.drain(Duration::ZERO).expect("events"), []);
}

#[test]
fn three_hundred_connections_leave_nothing_behind() {
    if !ready() {
        return;
    }
    let network = Network::new(Bottleneck::None);
    let loaded = put_in(algorithm("best").expect("a row"), "d", Record::Flows);
    assert_eq!(network.crowd(loaded.name(), 300, 20_000), 300 * 20_000);
    let (events, counters) = all_events(&loaded, 300);
    assert_eq!((counters.opened, counters.closed, counters.open()), (300, 300, 0));
    assert_eq!((counters.without_storage, counters.lost_events), (0, 0));
    let closes = events.iter().filter(|event| matches!(event, Event::Close(_))).count();
    assert_eq!(closes, 300);
}

#[test]
fn running_connections_survive_detach_and_replacement() {
    if !ready() {
        return;
    }
    let network = Network::new(DEEP);
    let best = algorithm("best").expect("a row");
    let mut first = Some(put_in(best, "e", Record::Flows));
    let name = first.as_ref().expect("loaded").name().to_owned();
    let mut second = None;
    let arrived = network.transfer_with(&name, Open::Active, 6 * MEGABYTES, |_, written| {
        if written > MEGABYTES
            && let Some(first) = first.take()
        {
            assert!(matches!(load_again(best, &name), Err(LoadError::NameTaken { .. })));
            first.detach();
            assert!(!network.offers(&name));
        }
        if written > 2 * MEGABYTES && second.is_none() {
            second = Some(load_again(best, &name).expect("the name is free again"));
        }
    });
    assert_eq!(arrived, 6 * MEGABYTES);
    let second = second.expect("loaded while the transfer ran");
    assert_eq!(network.transfer(&name, Open::Passive, MEGABYTES), MEGABYTES);
    assert_eq!(second.counters().expect("counters").opened, 1);
}

fn load_again(algorithm: &'static Algorithm, name: &str) -> Result<Loaded, LoadError> {
    let mut options = Options::new(algorithm);
    options.name = Some(name.to_owned());
    load(algorithm, &options)
}

#[test]
fn a_connection_may_change_its_congestion_control_and_come_back() {
    if !ready() {
        return;
    }
    let network = Network::new(Bottleneck::Queue(30_000));
    let loaded = put_in(algorithm("slow_start").expect("a row"), "f", Record::Exits);
    let mut changes = 0;
    let arrived = network.transfer_with(loaded.name(), Open::Active, 4 * MEGABYTES, |socket, written| {
        if changes < written / MEGABYTES {
            changes = written / MEGABYTES;
            let next = if changes % 2 == 1 { "reno" } else { loaded.name() };
            socket.set_tcp_congestion(next.as_bytes()).expect("TCP_CONGESTION");
        }
    });
    assert_eq!((arrived, changes), (4 * MEGABYTES, 4));
    let counters = loaded.counters().expect("counters");
    // It came back after its losses: nothing is left to start up.
    assert!(counters.opened == 1 && counters.closed == 1 && counters.late >= 1, "{counters:?}");
}

#[test]
fn pinned_it_outlives_its_loader_until_it_is_taken_back() {
    if !ready() {
        return;
    }
    let file_system = format!("/run/ramp-test-{}", std::process::id());
    std::fs::create_dir(&file_system).expect("a mount point");
    run(&format!("mount -t bpf bpf {file_system}"));
    let network = Network::new(Bottleneck::None);
    let tried = std::panic::catch_unwind(|| {
        // With a link, and as kernels before 6.4 do it; pinned afterwards, and from the start.
        for (link, afterwards) in [(true, true), (true, false), (false, true), (false, false)] {
            outlives_its_loader(&network, &file_system, link, afterwards);
        }
    });
    run(&format!("umount {file_system}"));
    std::fs::remove_dir(&file_system).expect("the mount point is empty again");
    tried.expect("pinning and taking back");
}

fn outlives_its_loader(network: &Network, file_system: &str, link: bool, afterwards: bool) {
    let algorithm = algorithm("hystart").expect("a row");
    let mut options = Options::new(algorithm);
    options.name = Some("rg_hystart".into());
    options.link = link;
    let directory = std::path::PathBuf::from(format!("{file_system}/rg_hystart"));
    if afterwards {
        let loaded = load(algorithm, &options).expect("loads");
        assert_eq!(loaded.linked(), link);
        loaded.pin(&directory).expect("pins");
    } else {
        drop(load_pinned(algorithm, &options, &directory).expect("loads and pins"));
    }
    assert!(network.offers("rg_hystart"), "it does not outlive its loader: {link} {afterwards}");
    assert_eq!(network.transfer("rg_hystart", Open::Active, 20_000), 20_000);
    let pinned = Pinned::open(&directory).expect("pins");
    assert_eq!(pinned.counters().expect("counters").opened, 1);
    pinned.detach().expect("detaching");
    assert!(!network.offers("rg_hystart") && !directory.exists());
    assert!(Pinned::open(&directory).is_none());
    detach_pinned(&directory).expect("doing it again does no harm");
}

#[test]
fn continues_with_reno_where_asked_to() {
    if !ready() {
        return;
    }
    let network = Network::new(DEEP);
    let hystart = algorithm("hystart").expect("a row");
    let mut options = Options::new(hystart);
    options.name = Some("rh_reno".into());
    options.avoidance = ramp_linux::Avoidance::Reno;
    let loaded = load(hystart, &options).expect("loads");
    assert_eq!(network.transfer(loaded.name(), Open::Passive, SIZE), SIZE);
    let (events, _) = all_events(&loaded, 1);
    assert_eq!(exits(&events).len(), 1);
}

#[test]
fn names_that_the_kernel_cannot_hold_are_refused() {
    let best = algorithm("best").expect("a row");
    for name in ["", "sixteen_letters_", "two words"] {
        assert!(matches!(load_again(best, name), Err(LoadError::Name { .. })), "{name:?}");
    }
}
