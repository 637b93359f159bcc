//! Short runs with the kernel's TCP. Judged by what does not depend on how busy the machine is.
#![cfg(target_os = "linux")]

#[path = "../../linux/tests/support/judged.rs"]
mod judged;
#[cfg(feature = "bpf")]
#[path = "../../linux/tests/support/left_out.rs"]
mod left_out;
mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use judged::{judged, require};
use rampcc::{ExitReason, Time};
use rampcc_scenario::{Arrival, Generator, Scenario};
use rampcc_testbed::{Options, Played, Row, Task, TestbedError, Unsupported, check, play};
use rampcc_trace::{FlowEventKind, FlowSample};
use support::ready::unobstructed;
use support::{Seen, alone, ready};

fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", text, None).expect("the text is a scenario")
}

fn run(scenario: &Scenario, row: Row) -> (Seen, Played) {
    let _alone = alone();
    let mut seen = Seen::default();
    let options = Options { attempts: 3, keep_refused: true, ..Options::default() };
    let task = Task { options, ..Task::new(scenario, row, 1) };
    let played = play(&task, &mut seen, &AtomicBool::new(false)).expect("it is played");
    assert!(seen.order.is_sorted(), "told out of order");
    assert_eq!(played.samples.lost(), 0);
    (seen, played)
}

const SMALL: &str = "size = '600 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '30 packets'\n";

#[test]
fn the_kernels_own_rows_give_the_samples_and_events_of_a_simulation() {
    let Some(()) = ready() else { return };
    judged(|| {
        for row in [Row::Cubic, Row::Reno, Row::Bbr].into_iter().filter(|row| row.offered()) {
            // Long enough for BBR, too, to leave.
            let (seen, played) = run(&scenario(&SMALL.replace("600 kB", "2 MB")), row);
            let flow = played.outcome.flows[0];
            assert_eq!((flow.received_bytes, flow.under_test), (2_000_000, true));
            assert_eq!(
                seen.events[0].kind,
                FlowEventKind::Opened { size_bytes: 2_000_000, under_test: true }
            );
            assert_eq!(seen.of(0, |kind| *kind == FlowEventKind::Established).len(), 1);
            assert_eq!(seen.of(0, |kind| *kind == FlowEventKind::Completed { bytes: 2_000_000 }).len(), 1);
            let progress = seen.of(0, |kind| matches!(kind, FlowEventKind::Received { .. }));
            // A reader that waits for a processor takes several steps at once.
            require(progress.len() >= 4, || format!("{} steps", progress.len()))?;
            // 100 kB of path and 45 kB of buffer: slow start overflows them, or HyStart is in time.
            let Some((reason, cwnd_bytes)) = seen.exit(0) else { return Err(format!("{row:?} stays")) };
            let expected: &[ExitReason] = match row {
                Row::Bbr => &[ExitReason::Plateau],
                Row::Reno => &[ExitReason::Loss],
                _ => &[ExitReason::Loss, ExitReason::AckTrain, ExitReason::Delay],
            };
            require(expected.contains(&reason) && cwnd_bytes >= 10 * 1448, || {
                format!("{row:?}: {reason:?}, {cwnd_bytes}")
            })?;
            require(seen.samples.len() > 20 && seen.links.len() > 400, || format!("{:?}", played.samples))?;
            // The last look may be later than the end.
            assert!(
                (0..=2).contains(&(played.samples.looks - seen.samples.len() as u64)),
                "{:?}",
                played.samples
            );
        }
        Ok(())
    });
}

#[test]
fn drops_are_the_flows_and_retransmissions_follow() {
    let Some(()) = ready() else { return };
    judged(|| {
        let (seen, played) = run(&scenario(SMALL), Row::Reno);
        let dropped =
            seen.of(0, |kind| matches!(kind, FlowEventKind::Dropped { data: true, .. })).len() as u64;
        let flow = played.outcome.flows[0];
        require(dropped > 0, || "nothing was dropped".into())?;
        assert_eq!(flow.dropped_packets, dropped);
        let bottleneck = scenario(SMALL).bottleneck;
        assert_eq!(played.outcome.links[bottleneck].dropped.packets, dropped);
        // The last segment is a short one.
        assert!(flow.retransmitted_bytes > (dropped - 1) * 1448, "{flow:?}");
        assert!(!seen.of(0, |kind| matches!(kind, FlowEventKind::RecoveryStart { .. })).is_empty());
        Ok(())
    });
}

#[test]
fn flows_of_a_dumbbell_start_at_their_times_and_the_run_ends_with_those_under_test() {
    let Some(()) = ready() else { return };
    let text = "duration = '20 s'\n[dumbbell]\npairs = 2\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '1 bdp'\n\
        [[flow]]\nname = 'other'\nfrom = 'sender-1'\nto = 'receiver-1'\nalgorithm = 'hystart'\n\
        [[flow]]\nname = 'test'\nfrom = 'sender-2'\nto = 'receiver-2'\nsize = '200 kB'\nstart = '300 ms'\n";
    judged(|| {
        let (seen, played) = run(&scenario(text), Row::Reno);
        let [other, test] = played.outcome.flows.as_slice() else { panic!("two flows") };
        assert!(!other.under_test && test.under_test);
        assert!(test.opened >= Time::from_ms(300) && other.opened < test.opened);
        assert_eq!((test.received_bytes, other.completed), (200_000, Time::NEVER));
        require(other.received_bytes > 100_000 && played.outcome.end < Time::from_secs(20), || {
            format!("{other:?}")
        })?;
        let last = seen.of(0, |kind| matches!(kind, FlowEventKind::Unfinished { .. }));
        assert_eq!(last[0].kind, FlowEventKind::Unfinished { bytes: other.received_bytes });
        Ok(())
    });
}

#[test]
fn an_application_that_writes_now_and_then_takes_its_time() {
    let Some(()) = ready() else { return };
    let text = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
        [[flow]]\nchunks = { size = '20 kB', interval = '150 ms', count = 4 }\n";
    let (_, played) = run(&scenario(text), Row::Cubic);
    let flow = played.outcome.flows[0];
    assert_eq!(flow.received_bytes, 80_000);
    assert!(flow.completed - flow.opened >= Time::from_ms(450), "{flow:?}");
}

#[test]
fn an_application_that_answers_requests_waits_for_them() {
    let Some(()) = ready() else { return };
    let text = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
        [[flow]]\nresponses = { first-flight = '4 kB', size = '20 kB', count = 3, think = '30 ms' }\n";
    let (_, played) = run(&scenario(text), Row::Cubic);
    let flow = played.outcome.flows[0];
    assert_eq!(flow.received_bytes, 64_000);
    // A handshake, three waits of a round trip and a thought, and half a round trip for the last.
    assert!(flow.completed - flow.opened >= Time::from_ms(40 + 3 * 70 + 20), "{flow:?}");
}

#[test]
fn a_run_ends_at_its_time() {
    let Some(()) = ready() else { return };
    let text = "size = 'bulk'\nduration = '500 ms'\n[path]\nrate = '5 Mbit/s'\nrtt = '40 ms'\n";
    judged(|| {
        let (seen, played) = run(&scenario(text), Row::Reno);
        assert_eq!(played.outcome.end, Time::from_ms(500));
        assert!(seen.order.last() <= Some(&Time::from_ms(500)));
        let flow = played.outcome.flows[0];
        assert_eq!(flow.completed, Time::NEVER);
        require(flow.received_bytes > 0, || "nothing came in half a second".into())
    });
}

#[test]
fn hosts_are_told_what_the_scenario_says() {
    let Some(()) = ready() else { return };
    let first_window = |text: &str| run(&scenario(text), Row::Reno).0.samples[0].cwnd_bytes;
    let path = "size = '100 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";
    for packets in [3, 32] {
        let text = format!("{path}[sender]\ninitial-window = {packets}\n");
        assert_eq!(first_window(&text), packets * 1448);
    }
    let acks = |text: &str| {
        let scenario = scenario(text);
        let (_, played) = run(&scenario, Row::Reno);
        let flow = played.outcome.flows[0];
        let back =
            scenario.route(scenario.flows[0].to, scenario.flows[0].from).expect("there is a way back")[0];
        (played.outcome.links[back].arrived.packets, flow.data_packets)
    };
    judged(|| {
        let (quick, data) = acks(&format!("{path}[receiver]\nacks = 'quick'\n"));
        require(quick >= data, || format!("{quick} ACKs of {data} segments"))
    });
    judged(|| {
        let paced = run(&scenario(&format!("{path}[sender]\npacing = 'always'\n")), Row::Reno).0;
        require(paced.samples.iter().any(|sample| sample.pacing_bytes_per_s > 0), || "not paced".into())
    });
}

#[test]
fn an_interrupted_run_says_so() {
    let Some(()) = ready() else { return };
    let _alone = alone();
    let interrupted = AtomicBool::new(true);
    let scenario = scenario(SMALL);
    let error = play(&Task::new(&scenario, Row::Reno, 1), &mut (), &interrupted);
    // Before anything is loaded or made.
    assert!(matches!(error, Err(TestbedError::Interrupted { at: Time::ZERO })), "{error:?}");
    interrupted.store(false, Ordering::Relaxed);
}

#[cfg(feature = "bpf")]
mod bpf {
    use super::*;

    use crate::left_out::{complete, repeated};

    /// Whether BPF programs can be tested here.
    fn ready_for_bpf() -> Option<()> {
        let obstacle = rampcc_testbed::obstacle().map(|obstacle| obstacle.to_string());
        unobstructed(obstacle.as_deref()).and_then(|()| ready())
    }

    fn steered(text: &str, arm: &str) -> Scenario {
        scenario(text).with_arm(&rampcc_scenario::Arm::parse(arm).expect("an algorithm"))
    }

    /// A run of a flow that leaves start-up.
    fn run_to_exit(scenario: &Scenario, row: Row) -> (Seen, Played) {
        repeated(|| {
            let (seen, played) = run(scenario, row);
            complete(seen.exit(0).is_some(), played.samples);
            (seen, played)
        })
    }

    /// What this process has in the kernel; others may play at the same time. Its number stands behind the dot, in base 62,
    /// the smallest digit first.
    fn registered() -> Vec<String> {
        let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let digit = |value: u32| match value % 62 {
            n @ 0..10 => (b'0' + n as u8) as char,
            n @ 10..36 => (b'a' + n as u8 - 10) as char,
            n => (b'A' + n as u8 - 36) as char,
        };
        let process: String = (0..4).map(|place| digit(std::process::id() / 62u32.pow(place))).collect();
        let own = |name: &&str| name.split_once('.').is_some_and(|(_, tag)| tag.starts_with(&process));
        all.expect("it is there").split_whitespace().filter(own).map(str::to_owned).collect()
    }

    #[test]
    fn algorithms_tell_each_ack_of_their_start_up_and_why_it_ended() {
        let Some(()) = ready_for_bpf() else { return };
        let deep = "size = '1 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '3 bdp'\n";
        judged(|| {
            for (text, arm, reasons) in [
                (SMALL, "slow_start", &[ExitReason::Loss][..]),
                (deep, "best", &[ExitReason::Bandwidth]),
                (deep, "hystart", &[ExitReason::AckTrain, ExitReason::Delay]),
                (deep, "ideal", &[ExitReason::Known]),
            ] {
                let (seen, played) = run_to_exit(&steered(text, arm), Row::Core);
                let (reason, cwnd_bytes) = seen.exit(0).expect("it leaves");
                require(reasons.contains(&reason) && cwnd_bytes >= 10 * 1448, || {
                    format!("{arm}: {reason:?}, {cwnd_bytes}")
                })?;
                assert!(played.samples.kernel_events > 2, "{arm}: {:?}", played.samples);
                let exits = seen.of(0, |kind| matches!(kind, FlowEventKind::StartupExit { .. }));
                // A timeout begins start-up again.
                require(exits.len() == 1, || format!("{arm}: {exits:?}"))?;
                let rtts = seen.samples.iter().filter(|sample| sample.rtt > Time::ZERO);
                assert!(rtts.clone().all(|sample| sample.rtt >= Time::from_us(39_500)), "{arm}");
                assert!(rtts.count() > 0, "{arm}");
            }
            assert_eq!(registered(), [""; 0], "something is left behind");
            Ok(())
        });
    }

    #[test]
    fn parameters_of_the_scenario_reach_the_kernel() {
        let Some(()) = ready_for_bpf() else { return };
        let text = "size = '1 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '3 bdp'\n";
        judged(|| {
            let late = run(&steered(text, "hystart:low_window=1000"), Row::Core).0;
            let usual = run_to_exit(&steered(text, "hystart"), Row::Core).0;
            let cwnd = |seen: &Seen| seen.exit(0).map(|exit| exit.1);
            require(cwnd(&usual).is_some_and(|usual| usual < 200_000), || format!("{:?}", usual.exit(0)))?;
            require(cwnd(&late).is_none_or(|late| late > 250_000), || format!("{:?}", late.exit(0)))
        });
    }

    #[test]
    fn without_hystart_the_kernels_cubic_leaves_by_loss_alone() {
        let Some(()) = ready_for_bpf() else { return };
        let text = "size = '2 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '1 bdp'\n";
        judged(|| {
            let Some(with) = run(&scenario(text), Row::Cubic).0.exit(0) else {
                return Err("it stays".into());
            };
            let without =
                run_to_exit(&scenario(text), Row::CubicWithoutHystart).0.exit(0).expect("it leaves");
            require([ExitReason::AckTrain, ExitReason::Delay].contains(&with.0), || format!("{with:?}"))?;
            require(without.0 == ExitReason::Loss, || format!("{without:?}"))?;
            require(without.1 > with.1, || format!("{without:?} against {with:?}"))
        });
    }

    #[test]
    fn pacing_does_not_show_in_the_window() {
        let Some(()) = ready_for_bpf() else { return };
        let text = "size = '1 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";
        judged(|| {
            let (seen, _) = run(&steered(text, "ideal"), Row::Core);
            let bdp = scenario(text).facts(0).bdp_bytes;
            let low = seen.samples.iter().find(|sample| sample.cwnd_bytes + 2 * 1448 < bdp);
            // After a timeout the window begins again.
            require(low.is_none(), || {
                format!("it knows the path's {bdp} bytes from the first sample on: {low:?}")
            })
        });
    }

    /// Linux grows a send buffer with ACKs that leave room in the window. Were the window held down to space the train
    /// when that is looked at, some 45 packets would leave and the rest wait for the first ACK.
    #[test]
    fn a_train_is_not_cut_to_what_the_send_buffer_held_before_it() {
        let Some(()) = ready_for_bpf() else { return };
        let text = "size = '3 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '2 bdp'\n";
        judged(|| {
            let (seen, _) = run_to_exit(&steered(text, "paced"), Row::Core);
            let sent_before = |now| {
                let before = seen.samples.iter().rev().find(|sample| sample.now < now);
                before.map_or(0, |sample| sample.sent_bytes)
            };
            let filling = seen.samples.iter().find(|sample| sample.phase == rampcc::Phase::Leaving);
            let Some(filling) = filling.map(|sample| sample.now) else {
                return Err("no gap is found".into());
            };
            let left = seen.of(0, |kind| matches!(kind, FlowEventKind::StartupExit { .. }))[0].now;
            let train = (sent_before(left) - sent_before(filling)) / 1448;
            // On a machine that is late, ACKs come while the train still leaves.
            require(train > 90, || format!("{train} packets left before the first of them was acknowledged"))
        });
    }

    /// The first flight's last ACK opens the window from 20 packets to 320, and the next ACK is a fifth of a second away.
    #[test]
    fn a_flight_is_not_cut_to_what_the_send_buffer_held_before_it() {
        let Some(()) = ready_for_bpf() else { return };
        let text = "size = '5 MB'\n[path]\nrate = '100 Mbit/s'\nrtt = '600 ms'\nbuffer = '1 bdp'\n\
                    [path.reverse]\nrate = '14 Mbit/s'\n\
                    jitter = { kind = 'grant', period = '40 ms', assured = '60 B', request-delay = '500 ms' }\n";
        judged(|| {
            let (seen, _) = run(&steered(text, "reach"), Row::Core);
            let opened = seen.samples.iter().find(|sample| sample.cwnd_bytes > 200 * 1448);
            let Some(opened) = opened else { return Err("the window was never opened".into()) };
            let before_next_ack =
                |sample: &&FlowSample| sample.delivered_bytes < opened.delivered_bytes + 1448;
            let last = seen.samples.iter().rfind(before_next_ack).map_or(0, |sample| sample.sent_bytes);
            let flight = (last - opened.sent_bytes) / 1448;
            require(flight > 200, || format!("{flight} packets left before the next ACK"))
        });
    }
}

/// What keeps web sessions from being played here, besides what keeps any run.
fn no_nginx(scenario: &Scenario) -> Option<String> {
    let refused = check(scenario, Row::Reno).err().unwrap_or_default();
    assert!(refused.iter().all(|one| matches!(one, Unsupported::Nginx { .. })), "{refused:?}");
    refused.first().map(|one| format!("{one}: run scripts/setup test"))
}

#[test]
fn web_sessions_load_their_pages_from_nginx_as_the_scenario_draws_them() {
    let scenario = scenario(
        "duration = '6 s'\nstop = 'duration'\n\
         [dumbbell]\npairs = 2\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '30 packets'\naccess = '100 Mbit/s'\n\
         [[traffic]]\nkind = 'web'\nload = '6 Mbit/s'\nsize = { kind = 'pareto', mean = '12 kB', shape = 1.2, max = '1 MB' }\n\
         from = 'sender-1'\nto = 'receiver-1'\nunder-test = true\n\
         [[traffic]]\nkind = 'web'\nload = '6 Mbit/s'\nsize = { kind = 'pareto', mean = '12 kB', shape = 1.2, max = '1 MB' }\n\
         from = 'sender-2'\nto = 'receiver-2'\nalgorithm = 'hystart'\n",
    );
    let Some(()) = ready().and_then(|()| unobstructed(no_nginx(&scenario).as_deref())) else { return };
    judged(|| {
        let (seen, played) = run(&scenario, Row::Reno);
        let flows = &played.outcome.flows;
        let of = |under_test| flows.iter().filter(move |flow| flow.under_test == under_test);
        for under_test in [true, false] {
            let completed: Vec<_> = of(under_test).filter(|flow| flow.completed != Time::NEVER).collect();
            require(completed.len() > 50, || format!("{} of {}", completed.len(), of(under_test).count()))?;
            assert!(completed.iter().all(|flow| flow.received_bytes == flow.size_bytes));
            // The client's handshake, its request, and the answer: two round trips at least.
            assert!(completed.iter().all(|flow| flow.completed - flow.opened >= Time::from_ms(80)));
        }
        // One seed, one draw: the sessions that are there from the start ask for the same first objects.
        let mut generator = Generator::new(&scenario.traffic[0], 0, 1);
        let mut drawn = Vec::new();
        while drawn.len() < 2 {
            let Some(Arrival::Flow { size_bytes, .. }) = generator.poll_arrival(generator.poll_timeout())
            else {
                panic!()
            };
            drawn.push(size_bytes);
        }
        let sizes: Vec<u64> = of(true).map(|flow| flow.size_bytes).collect();
        assert_eq!(sizes.first(), drawn.first());
        assert!(sizes.contains(&drawn[1]));
        // 30 packets of buffer for windows of ten packets and more: some are dropped, and each belongs to an object.
        let dropped: u64 = flows.iter().map(|flow| flow.dropped_packets).sum();
        let links: u64 = played.outcome.links.iter().map(|link| link.dropped.packets).sum();
        let told = |wanted| {
            let drops = seen.events.iter().filter_map(|event| match event.kind {
                FlowEventKind::Dropped { data, .. } => Some(data),
                _ => None,
            });
            drops.filter(|data| *data == wanted).count() as u64
        };
        assert_eq!(dropped, told(true));
        // Handshakes and ends meet full queues, too. It is unknown whose the packets of a handshake are that never ended.
        let all = told(true) + told(false);
        assert!(all <= links, "{links} dropped, {all} told");
        require(links - all <= links / 20 + 3, || format!("{links} dropped, {all} told"))?;
        require(dropped > 0, || "nothing was dropped".into())?;
        assert!(flows.iter().all(|flow| flow.data_packets >= flow.dropped_packets));
        let bytes: u64 = flows.iter().map(|flow| flow.received_bytes).sum();
        let sent: u64 = flows.iter().map(|flow| flow.data_packets).sum();
        assert!(sent * 1448 >= bytes, "{sent} packets for {bytes} bytes");
        require(sent * 1448 < bytes * 2, || format!("{sent} packets for {bytes} bytes"))?;
        assert!(seen.events.iter().all(|event| (event.flow as usize) < flows.len()));
        Ok(())
    });
}
