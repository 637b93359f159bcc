//! The algorithms in the running kernel. Needs root and a kernel with BTF.
#![expect(clippy::print_stdout, reason = "one process reads what another says")]

use std::time::Duration;

use rampcc::{Algorithm, ExitReason, Hint, LINUX_LACKS, Traits, algorithm, algorithms};
use rampcc_linux::{
    CallEvent, Calls, Counters, Event, FlowEvent, LoadError, Loaded, Options, Pinned, Record, detach_pinned,
    load, load_pinned,
};
use rampcc_trace::Replay;
use support::judged::{judged, require};
use support::left_out::{complete, repeated};
use support::path::Path;
use support::ready::unobstructed;
use support::{Bottleneck, EMULATED, Network, Open, ready, run, small};

#[path = "../../../ramp/tests/scratch/mod.rs"]
mod algorithms;
#[path = "../../../ramp/tests/support/used.rs"]
mod beyond;
mod connections;
mod forms;
mod guard;
mod hammer;
mod loaders;
mod other_kernels;
mod paced;
mod queueing;
mod scratch;
mod stamps;
#[path = "../support/mod.rs"]
mod support;
mod used;
mod verifier;

/// A queue of 400 ms behind an RTT of 20 ms: room for an algorithm to take its time.
const DEEP: &str = "rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '2 MB'";
/// Room for the initial window and no more: a row that leaves by losses does so soon.
const SHALLOW: &str = "rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '18 kB'";
/// A receive window that path and queue have room for.
const LOSSLESS: &str =
    "rate = '80 Mbit/s'\nrtt = '20 ms'\nbuffer = 'unlimited'\n[receiver]\nwindow = '300 kB'";
const MEGABYTES: u64 = 1_000_000;
/// Enough to leave start-up on each of them, save for HyStart++'s five conservative rounds on the first.
const SIZE: u64 = 3 * MEGABYTES;

/// `rtt_source = "tagged"`: one sample in a round.
const TAGGED: u64 = 1;

/// Rows that the kernel runs.
fn carried() -> impl Iterator<Item = &'static Algorithm> {
    algorithms().iter().filter(|algorithm| algorithm.runs_without(LINUX_LACKS))
}

/// Registered under a name of its own, so that tests run side by side.
fn put_in(algorithm: &'static Algorithm, tag: &str, record: Record) -> Loaded {
    let mut options = settings(algorithm);
    options.name = Some(format!("r{tag}_{}", algorithm.id));
    options.record = record;
    load(algorithm, &options).unwrap_or_else(|error| panic!("{}: {error}\n{}", algorithm.id, error.log()))
}

/// What a connection of the tests needs.
fn settings(algorithm: &Algorithm) -> Options {
    let mut options = Options::new(algorithm);
    // 40 Mbit/s and 20 ms, for `ideal`.
    options.hint = algorithm.admitted(Hint::path(96_000, 4_700_000));
    if let Some(index) = algorithm.parameters.iter().position(|p| p.name == "rtt_source") {
        options.parameters[index] = TAGGED; // looking at every ACK, Enhanced Start may never leave
    }
    options
}

/// Everything that has come once the last connection has closed, if none of them began or ended unannounced.
fn all_events(loaded: &Loaded, closed: u64) -> (Vec<Event>, Counters) {
    let (events, counters) = settled(loaded, closed);
    complete(counters.closed >= closed && counters.left_out == 0, counters);
    (events, counters)
}

/// Everything that has come once as many connections have closed, or nothing happens any more.
fn settled(loaded: &Loaded, closed: u64) -> (Vec<Event>, Counters) {
    // A lost FIN is sent again after a second at most, and after two if it is lost again.
    const QUIET: u32 = 50;
    let (mut events, mut last, mut quiet) = (Vec::new(), Counters::default(), 0);
    while last.closed < closed && quiet < QUIET {
        let more = loaded.drain(Duration::from_millis(100)).expect("events");
        let counters = loaded.counters().expect("counters");
        quiet = if more.is_empty() && counters == last { quiet + 1 } else { 0 };
        events.extend(more);
        last = counters;
    }
    events.extend(loaded.drain(Duration::ZERO).expect("events"));
    (events, last)
}

fn exits(events: &[Event]) -> Vec<&FlowEvent> {
    events.iter().filter_map(|event| if let Event::Exit(exit) = event { Some(exit) } else { None }).collect()
}

/// Why the algorithm with this id leaves where a queue builds up.
fn own_reasons(id: &str) -> Vec<ExitReason> {
    let own: Vec<_> = rampcc::algorithm(id).expect("a row").own_exits().collect();
    match id {
        // They begin with more than the queue holds.
        "jump" | "fast_start" | "stateful" | "quicly" | "spread" => {
            vec![ExitReason::Ssthresh, ExitReason::Loss]
        }
        "search" | "search4" => vec![ExitReason::Delivery, ExitReason::Loss],
        _ if own.is_empty() => vec![ExitReason::Loss],
        _ => own,
    }
}

#[test]
fn every_algorithm_loads_and_leaves_for_its_own_reason_on_both_kinds_of_open() {
    let Some(()) = ready() else { return };
    // The replay below goes over the same paths.
    let Some(()) = unobstructed(small().then_some(EMULATED)) else { return };
    for (path, bytes, leaving_by_loss) in [(DEEP, 2 * SIZE, false), (SHALLOW, SIZE, true)] {
        let path = Path::new(path);
        let leaves_so = |a: &&Algorithm| (own_reasons(a.id) == [ExitReason::Loss]) == leaving_by_loss;
        for algorithm in carried().filter(leaves_so) {
            // From 32 packets on, one more in a round trip where the estimate stays low: 78 of them overflow the queue.
            let bytes = if algorithm.id == "astart" { 3 * bytes } else { bytes };
            judged(|| repeated(|| leaves_for_its_own_reason(algorithm, &path, bytes)));
        }
        path.stop();
    }
}

fn leaves_for_its_own_reason(algorithm: &'static Algorithm, path: &Path, bytes: u64) -> Result<(), String> {
    let loaded = put_in(algorithm, "a", Record::Flows);
    for open in [Open::Passive, Open::Active] {
        path.transfer(loaded.name(), open, bytes);
    }
    let (events, counters) = all_events(&loaded, 2);
    assert_eq!((counters.opened, counters.without_storage, counters.late), (2, 0, 0), "{}", algorithm.id);
    let exits = exits(&events);
    // A timeout begins start-up again.
    require(exits.len() == 2, || format!("{}: {exits:?}", algorithm.id))?;
    for exit in exits {
        let reason = exit.decision.exit_reason();
        require(own_reasons(algorithm.id).contains(&reason), || format!("{}: {exit:?}", algorithm.id))?;
        assert!(exit.exited() > Some(exit.opened()));
        assert!(exit.tuple.local().port() > 0 && exit.tuple.remote().port() > 0);
    }
    assert_eq!(counters.all_exits(), 2);
    let acked: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::Close(c) = e { Some(c.acked_bytes) } else { None })
        .collect();
    assert!(acked.len() == 2 && acked.iter().all(|acked| (0..=2).contains(&(acked - bytes))), "{acked:?}");
    Ok(())
}

#[test]
fn the_kernel_decides_as_the_native_core() {
    if ready().is_some() {
        repeated(decides_as_the_native_core);
    }
}

/// In an emulated machine, which is slow, each row goes over one of two paths: even rows over this one, and in the machine
/// with the other kernel over the other one.
fn half() -> usize {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("procfs");
    usize::from(release.starts_with("6.1."))
}

fn decides_as_the_native_core() {
    let mut recorded: Vec<_> = carried().map(|a| (put_in(a, "b", Record::All), Vec::new())).collect();
    for (loaded, ..) in &recorded {
        let how = if loaded.linked() { "with a link" } else { "without a link" };
        println!("kernel: {} registered {how}", loaded.algorithm().id); // read by other_kernels
    }
    for (transfers, path) in [DEEP, SHALLOW, LOSSLESS].into_iter().enumerate() {
        if small() && path == LOSSLESS {
            break;
        }
        let path = Path::new(path);
        for (row, (loaded, events)) in recorded.iter_mut().enumerate() {
            if !small() || (row + transfers) % 2 == half() {
                path.transfer(loaded.name(), Open::Passive, if small() { SIZE / 5 } else { SIZE });
                let earlier = if small() { 0 } else { transfers as u64 };
                events.extend(all_events(loaded, earlier + 1).0);
            }
        }
        path.stop();
    }
    for (row, (loaded, events)) in recorded.into_iter().enumerate() {
        let id = loaded.algorithm().id;
        let counters = loaded.counters().expect("counters");
        assert_eq!(counters.lost_events, 0, "{id}: {counters:?}");
        // On the second path even slow start leaves. Adaptive Start may fit its threshold to it, and never does in a
        // short transfer.
        let may_stay = small() && (row % 2 == half() || id == "astart");
        complete(counters.all_exits() >= 1 || may_stay, (id, counters));
        let compared = replayed(&events);
        let acks = events.iter().filter(|event| ack(event).is_some()).count();
        // Who knows the path is done with its first ACK.
        assert!(acks >= if small() { 1 } else { 2 } && compared > acks as u64, "{id}: {acks} ACKs");
        contract_holds(id, &events);
        let pacing = |event: &Event| ack(event).is_some_and(|e| e.call.after.pacing_bytes_per_s > 0);
        assert!(loaded.paces() || !events.iter().any(pacing), "{id} paces unheard");
        assert_eq!(loaded.paces(), loaded.algorithm().traits.has(Traits::PACES), "{id}");
    }
}

fn ack(event: &Event) -> Option<&CallEvent> {
    if let Event::Call(call) = event { Some(call).filter(|call| call.ack().is_some()) } else { None }
}

/// How many decisions the native core takes as the kernel's did: all.
fn replayed(events: &[Event]) -> u64 {
    let (mut calls, mut replay) = (Calls::default(), Replay::recorded());
    for decision in events.iter().filter_map(|event| calls.handle_event(event)) {
        replay.handle_decision(&decision).unwrap_or_else(|difference| panic!("{difference}"));
    }
    replay.compared()
}

/// Totals add up, time never goes back, and nothing is acknowledged that was not sent.
fn contract_holds(id: &str, events: &[Event]) {
    let mut last: std::collections::BTreeMap<u64, rampcc::Ack> = std::collections::BTreeMap::new();
    for event in events {
        let Some(e) = ack(event) else { continue };
        let (ack, flow) = (e.ack().expect("an ACK"), e.header.flow);
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
    if ready().is_some() {
        repeated(without_memory);
    }
}

fn without_memory() {
    let network = Network::new(Bottleneck::None);
    let loaded = put_in(algorithm("best").expect("a row"), "c", Record::All);
    network.sender_memory(1500, || {
        for open in [Open::Passive, Open::Active] {
            assert_eq!(network.transfer(loaded.name(), open, MEGABYTES), MEGABYTES);
        }
    });
    let counters = loaded.counters().expect("counters");
    complete(counters.without_storage >= 2, counters);
    assert_eq!((counters.without_storage, counters.opened, counters.all_exits()), (2, 0, 0));
    assert_eq!(loaded.drain(Duration::ZERO).expect("events"), []);
}

#[test]
fn running_connections_survive_detach_and_replacement() {
    if ready().is_some() {
        repeated(survive_detach_and_replacement);
    }
}

fn survive_detach_and_replacement() {
    let network = Network::new(Bottleneck::Queue(1_000_000));
    let best = algorithm("best").expect("a row");
    let mut first = Some(put_in(best, "e", Record::Flows));
    let name = first.as_ref().expect("loaded").name().to_owned();
    let mut second = None;
    let unit = if small() { MEGABYTES / 4 } else { MEGABYTES };
    let arrived = network.transfer_with(&name, Open::Active, 6 * unit, |_, written| {
        if written > unit
            && let Some(first) = first.take()
        {
            assert!(matches!(load_again(best, &name), Err(LoadError::NameTaken { .. })));
            first.detach();
            assert!(!network.offers(&name));
        }
        if written > 2 * unit && second.is_none() {
            second = Some(load_again(best, &name).expect("the name is free again"));
        }
    });
    assert_eq!(arrived, 6 * unit);
    let second = second.expect("loaded while the transfer ran");
    assert_eq!(network.transfer(&name, Open::Passive, unit), unit);
    let counters = second.counters().expect("counters");
    complete(counters.opened >= 1, counters);
    assert_eq!(counters.opened, 1);
}

fn load_again(algorithm: &'static Algorithm, name: &str) -> Result<Loaded, LoadError> {
    let mut options = Options::new(algorithm);
    options.name = Some(name.to_owned());
    load(algorithm, &options)
}

#[test]
fn a_connection_may_change_its_congestion_control_and_come_back() {
    if ready().is_some() {
        repeated(changes_and_comes_back);
    }
}

fn changes_and_comes_back() {
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
    // It came back after its losses, when nothing is left to start up; but the kernel may have undone a reduction.
    complete(counters.opened + counters.late >= 3 && counters.late >= 1 && counters.closed >= 1, counters);
    assert!(counters.opened + counters.late == 3 && counters.closed <= counters.opened, "{counters:?}");
}

#[test]
fn pinned_it_outlives_its_loader_until_it_is_taken_back() {
    let Some(()) = ready() else { return };
    let file_system = format!("/run/ramp-test-{}", std::process::id());
    std::fs::create_dir(&file_system).expect("a mount point");
    run(&format!("mount -t bpf bpf {file_system}"));
    let network = Network::new(Bottleneck::None);
    let tried = std::panic::catch_unwind(|| {
        // With a link, and as kernels before 6.4 do it; pinned afterwards, and from the start.
        for (link, afterwards) in [(true, true), (true, false), (false, true), (false, false)] {
            repeated(|| outlives_its_loader(&network, &file_system, link, afterwards));
        }
    });
    run(&format!("umount {file_system}"));
    std::fs::remove_dir(&file_system).expect("the mount point is empty again");
    tried.expect("pinning and taking back");
}

/// Since Linux 6.4.
fn links_exist() -> bool {
    put_in(algorithm("hystart").expect("a row"), "m", Record::Exits).linked()
}

fn outlives_its_loader(network: &Network, file_system: &str, link: bool, afterwards: bool) {
    let algorithm = algorithm("hystart").expect("a row");
    let mut options = Options::new(algorithm);
    options.name = Some("rg_hystart".into());
    options.link = link;
    let directory = std::path::PathBuf::from(format!("{file_system}/rg_hystart"));
    if afterwards {
        let loaded = load(algorithm, &options).expect("loads");
        assert_eq!(loaded.linked(), link && links_exist(), "as asked, or as the kernel can");
        loaded.pin(&directory).expect("pins");
    } else {
        drop(load_pinned(algorithm, &options, &directory).expect("loads and pins"));
    }
    assert!(network.offers("rg_hystart"), "it does not outlive its loader: {link} {afterwards}");
    assert_eq!(network.transfer("rg_hystart", Open::Active, 20_000), 20_000);
    let pinned = Pinned::open(&directory).expect("pins");
    let counters = pinned.counters().expect("counters");
    pinned.detach().expect("detaching");
    assert!(!network.offers("rg_hystart") && !directory.exists());
    assert!(Pinned::open(&directory).is_none());
    detach_pinned(&directory).expect("doing it again does no harm");
    complete(counters.opened >= 1, counters);
    assert_eq!(counters.opened, 1);
}

#[test]
fn continues_with_reno_where_asked_to() {
    if ready().is_some() {
        repeated(continues_with_reno);
    }
}

fn continues_with_reno() {
    let path = Path::new(DEEP);
    let hystart = algorithm("hystart").expect("a row");
    let mut options = Options::new(hystart);
    options.name = Some("rh_reno".into());
    options.avoidance = rampcc_linux::Avoidance::Reno;
    let loaded = load(hystart, &options).expect("loads");
    path.transfer(loaded.name(), Open::Passive, SIZE);
    let (events, _) = all_events(&loaded, 1);
    complete(!exits(&events).is_empty(), &events);
    assert_eq!(exits(&events).len(), 1);
}

#[test]
fn names_that_the_kernel_cannot_hold_are_refused() {
    let best = algorithm("best").expect("a row");
    for name in ["", "sixteen_letters_", "two words"] {
        assert!(matches!(load_again(best, name), Err(LoadError::Name { .. })), "{name:?}");
    }
}
