//! Every way in which a connection comes, stops, breaks or goes.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use rampcc::{AckFlags, Algorithm, EventKind, ExitReason, Phase, algorithm};
use rampcc_emulator::End;
use rampcc_linux::{Event, Options, Record, load};
use rampcc_trace::Told;

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Bottleneck, Network, Open, counted, ready, ready_in_real_time, receive, send};
use crate::{MEGABYTES, ack, all_events, exits, put_in, replayed, settled};

#[path = "history.rs"]
mod history;

const BYTES: u64 = 300_000;

fn best() -> &'static Algorithm {
    algorithm("best").expect("a row")
}

fn slow_start() -> &'static Algorithm {
    algorithm("slow_start").expect("a row")
}

#[test]
fn behind_syn_cookies() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::None);
        network.sysctl("s", "net.ipv4.tcp_syncookies=2");
        let loaded = put_in(best(), "n", Record::Flows);
        assert_eq!(network.transfer(loaded.name(), Open::Passive, BYTES), BYTES);
        assert_eq!(network.count("s", "SyncookiesRecv"), 1);
        let (_, counters) = all_events(&loaded, 1);
        assert_eq!((counters.opened, counters.without_storage, counters.late), (1, 0, 0));
    });
}

/// The kernel takes the time before the first write for a pause of the application.
#[test]
fn the_first_packets_do_not_follow_a_pause() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let path = Path::new("rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '2 MB'");
        let loaded = put_in(slow_start(), "z", Record::All);
        for open in [Open::Passive, Open::Active] {
            path.transfer(loaded.name(), open, BYTES);
        }
        let (events, _) = all_events(&loaded, 2);
        for flow in [1, 2] {
            let acks: Vec<_> = events
                .iter()
                .filter(|event| event.header().flow == flow)
                .filter_map(|event| ack(event)?.ack())
                .collect();
            complete(acks.len() > 10, acks.len());
            let paused = acks[..10].iter().position(|ack| ack.flags & AckFlags::APP_LIMITED != 0);
            assert_eq!(paused, None, "{:?}", &acks[..10]);
        }
        path.stop();
    });
}

#[test]
fn with_tcp_fast_open_both_ways() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::None);
        for role in ["s", "c"] {
            // Client and server, without cookies, for every listener.
            network.sysctl(role, "net.ipv4.tcp_fastopen=1543");
        }
        let loaded = put_in(best(), "o", Record::Flows);
        assert_eq!(network.fast_open(loaded.name(), Open::Active, BYTES), BYTES);
        assert_eq!(network.count("s", "TCPFastOpenActive"), 1);
        assert_eq!(network.fast_open(loaded.name(), Open::Passive, BYTES), BYTES);
        assert_eq!(network.count("s", "TCPFastOpenPassive"), 1);
        let (_, counters) = all_events(&loaded, 2);
        assert_eq!((counters.opened, counters.without_storage, counters.late), (2, 0, 0));
    });
}

#[test]
fn over_ipv6() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::Queue(30_000));
        let loaded = put_in(slow_start(), "p", Record::Flows);
        for open in [Open::Active, Open::Passive] {
            assert_eq!(network.transfer_6(loaded.name(), open, MEGABYTES), MEGABYTES);
        }
        let (events, _) = all_events(&loaded, 2);
        let exits = exits(&events);
        complete(exits.len() >= 2, &events);
        assert_eq!(exits.len(), 2);
        for exit in exits {
            let (local, remote) = (exit.tuple.local(), exit.tuple.remote());
            assert!(matches!((local, remote), (SocketAddr::V6(_), SocketAddr::V6(_))), "{exit:?}");
            assert_eq!(
                (local.ip().to_string(), remote.ip().to_string()),
                ("fd77:1::1".into(), "fd77:2::1".into())
            );
        }
    });
}

#[test]
fn chosen_by_route_or_namespace() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::None);
        let loaded = put_in(best(), "q", Record::Flows);
        let name = loaded.name();
        assert_eq!(network.transfer("", Open::Passive, BYTES), BYTES);
        assert_eq!(loaded.counters().expect("counters").opened, 0);
        assert!(network.try_ip("ip", "s", &format!("route replace default via 10.77.1.2 congctl {name}")));
        for open in [Open::Active, Open::Passive] {
            assert_eq!(network.transfer("", open, BYTES), BYTES);
        }
        assert_eq!(all_events(&loaded, 2).1.opened, 2);
        assert!(network.try_ip("ip", "s", "route replace default via 10.77.1.2"));
        network.sysctl("s", &format!("net.ipv4.tcp_congestion_control={name}"));
        for open in [Open::Active, Open::Passive] {
            assert_eq!(network.transfer("", open, BYTES), BYTES);
        }
        assert_eq!(all_events(&loaded, 4).1.opened, 4);
        network.sysctl("s", "net.ipv4.tcp_congestion_control=reno");
    });
}

#[test]
fn chosen_after_it_was_opened() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::None);
        let loaded = put_in(best(), "r", Record::Flows);
        let (sending, receiving) = network.pair("reno");
        sending.set_tcp_congestion(loaded.name().as_bytes()).expect("TCP_CONGESTION");
        std::thread::scope(|scope| {
            scope.spawn(|| send(sending, BYTES, |_, _| {}));
            assert_eq!(receive(receiving), BYTES);
        });
        let (_, counters) = all_events(&loaded, 1);
        assert_eq!((counters.opened, counters.late), (1, 0));
    });
}

#[test]
fn aborted_in_start_up() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::Queue(1_000_000));
        let loaded = put_in(best(), "s", Record::Flows);
        for _ in 0..20 {
            let (sending, receiving) = network.pair(loaded.name());
            sending.set_nonblocking(true).expect("O_NONBLOCK");
            // More than leaves at once.
            let _ = sending.send(&vec![7; 500_000]).expect("a first write fits the buffer");
            sending.set_linger(Some(Duration::ZERO)).expect("SO_LINGER");
            drop(sending); // a reset
            drop(receiving);
        }
        let (events, counters) = all_events(&loaded, 20);
        assert_eq!((counters.opened, counters.closed), (20, 20));
        // A busy machine may let some send everything before they are cut off.
        assert_eq!(exits(&events).len() as u64, counters.all_exits());
        assert!(counters.all_exits() < 20, "{counters:?}");
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Close(_))).count(), 20);
        assert!(loaded.onlooker().expect("pins").table().expect("the table").is_empty());
    });
}

#[test]
fn a_timeout_ends_start_up_and_the_connection_recovers() {
    // On a single emulated processor everything sent is acknowledged before the path can be cut.
    if ready_in_real_time().is_some() {
        judged(|| repeated(times_out_and_recovers));
    }
}

fn times_out_and_recovers() -> Result<(), String> {
    // Room for everything: without the cut nothing is lost, however long it takes to cut.
    let network = Network::new(Bottleneck::Queue(4_000_000));
    let loaded = put_in(slow_start(), "t", Record::Flows);
    let network = &network;
    let (cut_off, cut) = std::sync::mpsc::channel();
    let mut cut_off = Some(cut_off);
    let arrived = std::thread::scope(|scope| {
        scope.spawn(move || {
            if cut.recv().is_err() {
                return;
            }
            while network.count("s", "TCPTimeouts") == 0 {
                let _ = cut.recv_timeout(Duration::from_millis(20));
            }
            assert!(network.try_ip("ip", "r", "route del blackhole 10.77.2.1/32"));
        });
        network.transfer_with(loaded.name(), Open::Active, 2 * MEGABYTES, |_, written| {
            if written >= 200_000
                && let Some(cut_off) = cut_off.take()
            {
                assert!(network.try_ip("ip", "r", "route add blackhole 10.77.2.1/32"));
                cut_off.send(()).expect("the other thread waits");
            }
        })
    });
    assert_eq!(arrived, 2 * MEGABYTES);
    let (events, _) = all_events(&loaded, 1);
    let exits = exits(&events);
    complete(!exits.is_empty(), &events);
    require(exits[0].decision.exit_reason() == ExitReason::Timeout, || format!("{exits:?}"))
}

#[test]
fn idle_in_start_up_it_restarts_as_the_kernel_says() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let network = Network::new(Bottleneck::Window);
            let loaded = put_in(slow_start(), "u", Record::All);
            let mut events = Vec::new();
            let mut paused = false;
            let arrived = network.transfer_with(loaded.name(), Open::Active, MEGABYTES, |_, written| {
                if written < 500_000 || paused {
                    return;
                }
                paused = true;
                // Longer than two of the shortest timeouts, after which the kernel lowers the window.
                let mut quiet = 0;
                while quiet < 8 {
                    let more = loaded.drain(Duration::from_millis(100)).expect("events");
                    quiet = if more.is_empty() { quiet + 1 } else { 0 };
                    events.extend(more);
                }
            });
            assert_eq!(arrived, MEGABYTES);
            let (rest, counters) = all_events(&loaded, 1);
            assert_eq!(counters.lost_events, 0, "{counters:?}");
            require(counters.all_exits() == 0, || format!("{counters:?}"))?;
            let before_pause = events.len();
            events.extend(rest);
            assert!(replayed(&events) > 0);
            let windows = |events: &[Event]| -> Vec<u64> {
                events.iter().filter_map(ack).map(|e| e.call.before.cwnd_bytes).collect()
            };
            let before = windows(&events[..before_pause]).pop().expect("ACKs before the pause");
            let after = windows(&events[before_pause..]).into_iter().next().expect("ACKs after it");
            require(after < before, || format!("from {before} to {after} bytes"))
        })
    });
}

#[test]
fn congestion_marks_end_start_up() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let network = Network::new(Bottleneck::Queue(400_000));
            for role in ["s", "c"] {
                network.sysctl(role, "net.ipv4.tcp_ecn=1");
            }
            let red = "qdisc add dev eth2 parent 1: handle 2: red limit 400000 min 20000 max 60000 avpkt 1500 burst 20 \
                   probability 1 bandwidth 40mbit ecn";
            assert!(network.try_ip("tc", "r", red) || mark(&network), "the router does not mark");
            let loaded = put_in(slow_start(), "v", Record::Flows);
            assert_eq!(network.transfer(loaded.name(), Open::Active, MEGABYTES), MEGABYTES);
            let (events, counters) = all_events(&loaded, 1);
            let exits = exits(&events);
            complete(!exits.is_empty(), &events);
            require(exits[0].decision.exit_reason() == ExitReason::Ecn, || format!("{exits:?}"))?;
            require(counters.exits(ExitReason::Ecn) == 1, || format!("{counters:?}"))
        })
    });
}

/// What a router says when packets are too long for it, and what anybody may forge who sees a connection.
#[test]
fn a_path_for_shorter_packets_does_not_end_start_up() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let network = Network::new(Bottleneck::None);
            assert!(network.try_ip("ip", "r", "link set eth2 mtu 900"));
            let loaded = put_in(slow_start(), "m", Record::Flows);
            for open in [Open::Active, Open::Passive] {
                assert_eq!(network.transfer(loaded.name(), open, MEGABYTES), MEGABYTES);
            }
            let (_, counters) = all_events(&loaded, 2);
            complete(counters.opened >= 2, counters);
            require(counters.exits(ExitReason::Timeout) == 0, || format!("{counters:?}"))
        })
    });
}

/// Without RED, a classifier marks.
fn mark(network: &Network) -> bool {
    let place = std::env::temp_dir().join(format!("ramp-mark-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory");
    let (source, object) = (place.join("mark.bpf.c"), place.join("mark.bpf.o"));
    std::fs::write(&source, include_str!("mark.bpf.c")).expect("the source");
    let compiled =
        Command::new("clang").args(["-O2", "-target", "bpf", "-c", "-o"]).args([&object, &source]).status();
    assert!(compiled.expect("clang").success(), "mark.bpf.c compiles");
    let filter = format!("filter add dev eth2 egress bpf da obj {} sec tc", object.display());
    let marks = network.try_ip("tc", "r", "qdisc add dev eth2 clsact") && network.try_ip("tc", "r", &filter);
    std::fs::remove_dir_all(&place).expect("it is ours");
    marks
}

/// As where the kernel leaves out `init`: what it has not announced is steered all the same.
#[test]
fn unannounced_they_begin_with_their_first_ack() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let network = Network::new(Bottleneck::Queue(30_000));
            let mut options = Options::new(slow_start());
            (options.name, options.record) = (Some("rw_slow_start".into()), Record::All);
            options.from_first_ack = true;
            let loaded = load(slow_start(), &options).expect("loads");
            for open in [Open::Active, Open::Passive] {
                assert_eq!(network.transfer(loaded.name(), open, MEGABYTES), MEGABYTES);
            }
            let (events, counters) = settled(&loaded, 2);
            complete(counters.closed >= 2, counters);
            assert_eq!((counters.opened, counters.left_out), (2, 2), "{counters:?}");
            assert_eq!((counters.late, counters.without_storage), (0, 0), "{counters:?}");
            let exits = exits(&events);
            complete(exits.len() >= 2, &events);
            for exit in exits {
                require(exit.decision.exit_reason() == ExitReason::Loss, || format!("{exit:?}"))?;
            }
            assert!(replayed(&events) > 0);
            Ok(())
        })
    });
}

/// All that leaves in 50 ms arrives two timers later: the first expires twice, both times needlessly.
#[test]
fn a_timer_that_expires_again_for_the_same_packet_is_told_once_and_taken_back() {
    let Some(()) = ready_in_real_time() else { return };
    judged(|| {
        repeated(|| {
            let loaded = put_in(algorithm("hystartpp").expect("a row"), "q", Record::All);
            // The receive window keeps start-up from ending before.
            let path = Path::new(
                "rate = '200 Mbit/s'\nbuffer = 'unlimited'\n\
             rtt = [{ at = '0 s', rtt = '50 ms' }, { at = '600 ms', rtt = '2 s' }, { at = '650 ms', rtt = '50 ms' }]\n\
             [receiver]\nwindow = '300 kB'",
            );
            path.transfer(loaded.name(), Open::Passive, 8 * MEGABYTES);
            let timeouts =
                path.running().in_namespace(End::Sender, || counted("TCPTimeouts")).expect("a namespace");
            require(timeouts == 2, || format!("{timeouts} timeouts"))?;
            let (events, _) = all_events(&loaded, 1);
            path.stop();
            let told: Vec<_> = events
                .iter()
                .filter_map(|event| if let Event::Call(call) = event { Some(&call.call) } else { None })
                .filter_map(|call| match call.told {
                    Told::Event(event) => Some((event.kind, call.before.phase(), call.after.phase())),
                    _ => None,
                })
                .collect();
            replayed(&events);
            complete(told.iter().any(|(kind, ..)| *kind == EventKind::Undone), &told);
            let expected = [
                (EventKind::Timeout, Phase::Startup, Phase::Done),
                (EventKind::Undone, Phase::Done, Phase::Startup),
            ];
            require(told == expected, || format!("{told:?}"))?;
            let mut calls = events
                .iter()
                .filter_map(|event| if let Event::Call(call) = event { Some(&call.call.told) } else { None })
                .skip_while(|told| !matches!(told, Told::Event(event) if event.kind == EventKind::Undone));
            match (calls.next(), calls.next()) {
                (Some(Told::Event(undone)), Some(Told::Ack(ack))) => {
                    assert!(
                        ack.now_ns == undone.now_ns && ack.acked_bytes > 0,
                        "the ACK that undid: {ack:?}"
                    );
                }
                other => panic!("{other:?}"),
            }
            Ok(())
        })
    });
}
