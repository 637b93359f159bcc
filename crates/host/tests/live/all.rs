//! Start-ups of the kernel's own congestion controls, seen from outside.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use rampcc::ExitReason;
use rampcc_emulator::End;
use rampcc_host::live::{Exit, Flow, Live, Snapshot};

use crate::support::judged::{judged, require};
use crate::support::{BpfFileSystem, Cgroup, Line, Load, Open, ready, snapshots};

const LOAD: Load = Load { open: Open::Clients, connections: 6, lanes: 1, bytes: 600_000, control: None };

fn watched(live: Live, line: &Line, load: Load) -> (Vec<Flow>, Vec<Exit>) {
    let seen = snapshots(live, line, load);
    assert!(seen.iter().all(|snapshot| snapshot.missed == 0));
    // The whole machine is watched: those of the path are ours.
    let flows = seen.iter().flat_map(|s| s.flows.clone()).filter(|flow| flow.local.port() == 5001);
    let exits = seen.iter().flat_map(|s| s.exits.clone()).filter(|exit| exit.local.port() == 5001);
    (flows.collect(), exits.collect())
}

fn everything(pins: &BpfFileSystem) -> Live {
    Live::new(&pins.host(), false).with_all().unwrap_or_else(|error| panic!("{error}"))
}

/// What the kernel has counted in the sender's network namespace.
fn counted(line: &Line) -> BTreeMap<String, u64> {
    let text =
        line.at(End::Sender, || fs::read_to_string("/proc/thread-self/net/netstat").expect("the counters"));
    let mut lines = text.lines();
    let mut all = BTreeMap::new();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let values = values.split(' ').skip(1).map(|value| value.parse().unwrap_or(0));
        all.extend(names.split(' ').skip(1).map(str::to_owned).zip(values));
    }
    all
}

#[test]
fn hystart_of_the_kernels_cubic_is_told_from_its_state() {
    if ready().is_some() {
        judged(hystart_is_told);
    }
}

fn hystart_is_told() -> Result<(), String> {
    let (_cgroup, pins) = (Cgroup::enter(), BpfFileSystem::new());
    // Deep enough that nothing is lost before HyStart has looked.
    let line = Line::new("rate = '10 Mbit/s'\nrtt = '60 ms'\nbuffer = '400 packets'");
    let (flows, exits) = watched(everything(&pins), &line, Load { control: Some("cubic"), ..LOAD });
    require(exits.len() == 6, || format!("{} exits of 6 connections: {exits:?}", exits.len()))?;
    let counted = counted(&line);
    let count = |reason| exits.iter().filter(|exit| exit.reason == reason).count() as u64;
    let (trains, delays) = (count(ExitReason::AckTrain), count(ExitReason::Delay));
    assert_eq!(trains + delays, 6, "{exits:?}");
    // One call may find both; then both are counted.
    let (kernel_trains, kernel_delays) = (counted["TCPHystartTrainDetect"], counted["TCPHystartDelayDetect"]);
    assert!(trains <= kernel_trains && delays <= kernel_delays, "{counted:?} {exits:?}");
    if kernel_trains + kernel_delays == 6 {
        let windows: u64 = exits.iter().map(|exit| u64::from(exit.cwnd_packets)).sum();
        let kernel = counted["TCPHystartTrainCwnd"] + counted["TCPHystartDelayCwnd"];
        // The ACK that ended it may have let the window grow by what it acknowledged.
        require((kernel..=kernel + 6 * 8).contains(&windows), || format!("{windows} {kernel} {exits:?}"))?;
    }
    for exit in &exits {
        assert_eq!((exit.algorithm.as_str(), exit.scope.as_str()), ("cubic", "this host"));
        assert!(!exit.at_least && exit.startup_s > 0.06 && exit.rtt_s > 0.058, "{exit:?}");
        assert!(exit.reason != ExitReason::Delay || exit.evidence > exit.limit, "{exit:?}");
    }
    require(flows.iter().any(|flow| flow.age_s.is_some() && flow.ssthresh_packets.is_none()), || {
        format!("none was seen in start-up: {flows:?}")
    })
}

#[test]
fn a_loss_ends_the_start_up_of_reno() {
    if ready().is_some() {
        judged(a_loss_ends_it);
    }
}

fn a_loss_ends_it() -> Result<(), String> {
    let (_cgroup, pins) = (Cgroup::enter(), BpfFileSystem::new());
    let line = Line::new("rate = '4 Mbit/s'\nrtt = '60 ms'\nbuffer = '20 packets'");
    let live = everything(&pins);
    let (_, exits) = watched(live, &line, Load { control: Some("reno"), ..LOAD });
    require(exits.len() >= 6, || format!("{exits:?}"))?;
    for exit in &exits {
        assert!(matches!(exit.reason, ExitReason::Loss | ExitReason::Timeout), "{exit:?}");
        // Pipe and buffer hold 40 packets; slow start overshoots by no more than as much.
        require((10..=90).contains(&exit.cwnd_packets), || format!("{exit:?}"))?;
    }
    // Nothing is attached, and nothing is left once no one looks.
    let mut plain = Live::new(&pins.host(), true);
    plain.refresh().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plain.look().unwrap_or_else(|error| panic!("{error}")), Snapshot::default());
    // The kernel frees them a moment later.
    let left = || {
        let programs = libbpf_rs::query::ProgInfoIter::default();
        programs.filter(|program| program.name.to_string_lossy().starts_with("starts_")).count()
    };
    let mut looks = 0;
    while left() > 0 && looks < 250 {
        thread::sleep(Duration::from_millis(20));
        looks += 1;
    }
    require(left() == 0, || format!("{} programs are left", left()))
}
