//! Real packets meet the scenario's rates, delays, queues and losses.
//!
//! Judged by the links' own totals and by what the kernel's TCP measures, with bounds that hold on a machine that is
//! busy: a late packet makes a transfer longer, never a path faster or shorter.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../linux/tests/support/judged.rs"]
mod judged;

use std::net::UdpSocket;

use common::{assert_conserved, port, scenario, start};
use judged::{judged, require};
use rampcc::Time;
use rampcc_emulator::{Download, Emulator, EmulatorError, End, Opener, Options, Running};
use rampcc_path::{DropReason, Link, Packet, Totals};
use rampcc_scenario::Scenario;
use rampcc_scenario::random::link_seed;

fn reno(bytes: u64) -> Download {
    Download { size_bytes: bytes, congestion_control: Some("reno".to_owned()), ..Download::default() }
}

/// Sends UDP datagrams of `payload` bytes back to back along the first flow's route.
fn blast(running: &Running, datagrams: usize, payload: usize) {
    let address =
        |end| running.hosts().iter().find(|host| host.end == end).expect("both ends have hosts").address;
    let socket = |end| {
        let bound = running.in_namespace(end, || UdpSocket::bind((address(end), 0)));
        bound.expect("the namespace is there").expect("the address is the host's")
    };
    let (from, to) = (socket(End::Sender), socket(End::Receiver));
    from.connect(to.local_addr().expect("it is bound")).expect("there is a route");
    for _ in 0..datagrams {
        from.send(&vec![0; payload]).expect("the device takes it");
    }
}

/// Stops once everything has left the links; the queue of the path under test empties within `seconds`.
fn settle(running: Running, seconds: u64) -> rampcc_emulator::ErrorReport {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(std::time::Duration::from_secs(seconds));
    running.stop().expect("the emulator ran")
}

fn totals(report: &rampcc_emulator::ErrorReport, name: &str) -> Totals {
    report.links.iter().find(|link| link.name == name).expect("flows cross the link").totals
}

#[test]
fn rate_and_delay_are_obeyed() {
    for (mbit, rtt_ms) in [(10u32, 100), (40, 20)] {
        let text = format!("size = '4 MB'\n[path]\nrate = '{mbit} Mbit/s'\nrtt = '{rtt_ms} ms'\n");
        judged(|| {
            let Some((running, _alone)) = start(&scenario(&text), &Options::default()) else { return Ok(()) };
            let result = running.download(&reno(4_000_000), |_| {}).expect("the transfer runs");
            let report = running.stop().expect("the emulator ran");
            assert_conserved(&report);
            let completed = result.completed.expect("it completes within two minutes");
            let rtt_us = u64::from(result.sender.min_rtt_us);
            let earliest = rtt_ms * 1_000 - 2 * Options::default().back_dating.us();
            assert!(rtt_us >= earliest, "{rtt_us} us of {rtt_ms} ms");
            require(rtt_us < rtt_ms * 1_000 + 5_000, || format!("{rtt_us} us of {rtt_ms} ms"))?;
            // 1448 of 1500 bytes are payload; nothing arrives before half a round trip.
            let sending = completed - result.established - Time::from_us(rtt_ms * 500);
            let fastest = Time::from_secs_f64(4e6 * 8.0 * 1500.0 / 1448.0 / (f64::from(mbit) * 1e6));
            assert!(sending.ns() as f64 > 0.99 * fastest.ns() as f64, "{sending} of {fastest}");
            require(sending.ns() < 3 * fastest.ns(), || format!("{sending} of {fastest}"))
        });
    }
}

#[test]
fn a_burst_fills_a_drop_tail_queue_to_its_limit_and_no_further() {
    let text = "size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\nbuffer = '20 packets'\n";
    judged(|| {
        let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return Ok(()) };
        blast(&running, 120, 1472);
        let report = settle(running, 1);
        assert_conserved(&report);
        let link = totals(&report, "bottleneck");
        assert_eq!(link.arrived.packets, 120);
        assert!(link.peak_queue.packets <= 20, "{link:?}");
        require(link.peak_queue.packets == 20, || format!("{link:?}"))?;
        // 1.2 ms per packet: sending 120 takes less than the 118 ms after which none would be dropped.
        require(link.dropped_for(DropReason::Overflow).packets > 0, || format!("{link:?}"))?;
        assert!(link.delivered.packets >= 21, "{link:?}");
        assert_eq!(link.delivered.packets, port(&report, End::Receiver).written.packets);
        Ok(())
    });
}

struct Plain;

impl Packet for Plain {
    fn wire_bytes(&self) -> u32 {
        228
    }
    fn flow(&self) -> u32 {
        0
    }
    fn pure_ack(&self) -> bool {
        false
    }
}

#[test]
fn losses_are_those_of_the_simulators_link_packet_by_packet() {
    let text =
        "size = '1 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = 'unlimited'\nloss = '5 %'\n";
    let played = scenario(text);
    let Some((running, _alone)) = start(&played, &Options::default()) else { return };
    blast(&running, 2_000, 200);
    let report = settle(running, 1);
    let index = played.bottleneck;
    let mut link = Link::new(&played.topology.links[index].config, link_seed(1, index));
    for i in 0..2_000 {
        link.handle_packet(Time::from_ms(i), Plain, &mut |_, _, _| {});
    }
    let lost = link.totals().dropped_for(DropReason::Medium);
    assert!((60..140).contains(&lost.packets), "{lost:?}");
    let link = totals(&report, "bottleneck");
    assert_eq!(link.arrived.packets, 2_000);
    assert_eq!(link.dropped_for(DropReason::Medium), lost);
    assert_eq!(link.delivered.packets, 2_000 - lost.packets);
    assert_conserved(&report);
}

#[test]
fn nothing_appears_or_vanishes_under_loss_and_overflow() {
    let text =
        "size = '2 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\nbuffer = '10 packets'\nloss = '1 %'\n";
    let options = Options { sample_queue: true, ..Options::default() };
    let Some((running, _alone)) = start(&scenario(text), &options) else { return };
    let result = running.download(&reno(2_000_000), |_| {}).expect("the transfer runs");
    let report = running.stop().expect("the emulator ran");
    assert_eq!(result.received_bytes, 2_000_000);
    assert_conserved(&report);
    let (down, up) = (totals(&report, "bottleneck"), totals(&report, "return"));
    let (sender, receiver) = (port(&report, End::Sender), port(&report, End::Receiver));
    assert_eq!(down.arrived.packets, sender.read.packets - sender.strays);
    assert_eq!(up.arrived.packets, receiver.read.packets - receiver.strays);
    assert_eq!(down.delivered.packets, receiver.written.packets);
    assert_eq!(up.delivered.packets, sender.written.packets);
    assert!(down.dropped().packets > 5, "{down:?}");
    assert!(u64::from(result.sender.total_retrans) >= down.dropped().packets, "{down:?}");
    assert_eq!(report.queue.len() as u64 + report.queue_samples_lost, down.arrived.packets);
    assert!(report.queue.iter().all(|sample| sample.queue_packets <= 10));
    assert!(report.queue.is_sorted_by_key(|sample| sample.now));
}

#[test]
fn every_pair_of_a_dumbbell_takes_its_own_way() {
    let text = "[dumbbell]\npairs = 2\nrate = '20 Mbit/s'\nrtt = '30 ms'\naccess = '50 Mbit/s'\n\
        [[flow]]\nfrom = 'sender-1'\nto = 'receiver-1'\nsize = '1 MB'\n\
        [[flow]]\nfrom = 'sender-2'\nto = 'receiver-2'\nsize = '500 kB'\n";
    let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return };
    std::thread::scope(|scope| {
        for (flow, bytes) in [(0, 1_000_000), (1, 500_000)] {
            let running = &running;
            scope.spawn(move || {
                let download = Download { flow, ..reno(bytes) };
                let result = running.download(&download, |_| {}).expect("the transfer runs");
                assert_eq!(result.received_bytes, bytes);
            });
        }
    });
    let report = running.stop().expect("the emulator ran");
    assert_conserved(&report);
    for (name, least) in [("sender-1->left", 690), ("right->receiver-2", 345), ("bottleneck", 1_035)] {
        assert!(totals(&report, name).arrived.packets >= least, "{name}");
    }
    assert_eq!(report.ports.map(|port| port.strays), [0, 0]);
}

#[test]
fn segments_have_the_scenarios_size() {
    for (mss, headers) in [(1448, 52), (1000, 40), (1400, 66)] {
        let text = format!(
            "size = '200 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '10 ms'\nbuffer = 'unlimited'\n[sender]\nmss = '{mss} B'\nheaders = '{headers} B'\n"
        );
        let Some((running, _alone)) = start(&scenario(&text), &Options::default()) else { return };
        let result = running.download(&reno(200_000), |_| {}).expect("the transfer runs");
        let report = running.stop().expect("the emulator ran");
        assert_eq!(result.sender.snd_mss, mss);
        assert_conserved(&report);
        // All but the handshake and the last segment are full.
        let packets = 200_000 / u64::from(mss) + u64::from(result.sender.total_retrans);
        let full = packets * u64::from(mss + headers);
        let bytes = totals(&report, "bottleneck").arrived.bytes;
        assert!((full..full + 4_000).contains(&bytes), "{bytes} of {full}");
    }
}

#[test]
fn samples_come_in_order_whichever_end_opens_the_connection() {
    let text = "size = '2 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";
    for opener in [Opener::Sender, Opener::Receiver] {
        let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return };
        let mut seen = Vec::new();
        let download = Download { opener, ..reno(2_000_000) };
        let result = running.download(&download, |sample| seen.push(*sample)).expect("the transfer runs");
        assert_eq!(result.congestion_control, "reno");
        assert_eq!(result.samples, seen.len() as u64);
        assert!(result.samples > 20 && result.samples_lost == 0, "{result:?}");
        assert!(seen.is_sorted_by_key(|sample| sample.now));
        let [first, .., last] = seen.as_slice() else { panic!("{seen:?}") };
        assert!(first.cwnd_bytes >= 10 * 1448 && last.delivered_bytes > 1_000_000, "{last:?}");
        assert_eq!(result.received_bytes, 2_000_000);
        assert!(result.opened < result.established && Some(result.established) < result.completed);
    }
}

#[test]
fn a_transfer_gives_up_at_its_limit() {
    let text = "size = '1 MB'\n[path]\nrate = '1 Mbit/s'\nrtt = '20 ms'\n";
    let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return };
    let download = Download { limit: Time::from_ms(500), ..reno(u64::MAX) };
    let result = running.download(&download, |_| {}).expect("the transfer runs");
    assert_eq!(result.completed, None);
    assert!(result.received_bytes < 1_000_000);
}

#[test]
fn a_congestion_control_that_is_not_there_is_named() {
    let text = "size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
    let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return };
    let download = Download { congestion_control: Some("nosuch".to_owned()), ..Download::default() };
    let error = running.download(&download, |_| {}).expect_err("there is none");
    assert_eq!(error.to_string(), "congestion control `nosuch`: the kernel has no such one");
}

#[test]
fn programs_run_in_their_namespace_and_see_its_settings() {
    let text = "size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
    let Some((running, _alone)) = start(&scenario(text), &Options::default()) else { return };
    let buffers = running.buffers();
    for end in End::BOTH {
        let read = |file: &str| {
            let mut command = running.command(end, "cat").expect("descriptors are left");
            let output = command.arg(file).output().expect("cat runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert!(read("/proc/self/net/dev").contains("ramp0"));
        let mut ip = running.command(end, "ip").expect("descriptors are left");
        let link = ip.args(["link", "show", "ramp0"]).output().expect("iproute2 is installed");
        let link = String::from_utf8_lossy(&link.stdout).into_owned();
        assert!(link.contains("mtu 1500") && link.contains("qlen 40000"), "{link}");
        let rmem = read("/proc/sys/net/ipv4/tcp_rmem");
        assert_eq!(rmem.split_whitespace().last(), Some(buffers.receive_max.to_string().as_str()));
        assert_eq!(read("/proc/sys/net/ipv4/tcp_congestion_control").trim(), "reno");
        assert_eq!(read("/proc/sys/net/ipv4/tcp_no_metrics_save").trim(), "1");
        assert_eq!(read("/proc/sys/net/ipv4/tcp_tso_win_divisor").trim(), "255");
        assert!(running.namespace_path(end).exists());
    }
    let path = running.namespace_path(End::Sender);
    drop(running);
    let left = std::fs::read_link(path).unwrap_or_default();
    assert!(!left.to_string_lossy().starts_with("net:"), "the namespace is still held: {left:?}");
}

#[test]
fn what_cannot_be_played_does_not_start() {
    let data_centre = Scenario::built_in("data-centre").expect("it comes with ramp");
    let error = Emulator::start(&data_centre, 1, &Options::default()).expect_err("it is too fast");
    assert!(matches!(error, EmulatorError::Unsupported(_)), "{error}");
    assert!(error.to_string().starts_with("the emulator cannot play this scenario: flow `"), "{error}");
}
