//! Files of decisions: what is written comes back, what is broken is named, and a recording decides again as it did.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rampcc::{
    Ack, Config, Decision, Event, EventKind, ExitReason, Hint, HintSource, Phase, Time, UNSET, algorithm,
    algorithms,
};
use rampcc_trace::{
    Call, DecisionWriter, Difference, FlowDecision, Format, Observer, Opening, Provenance, Recorded, Replay,
    Told, read_decisions,
};

#[derive(Debug, Default, PartialEq)]
struct Heard(Vec<FlowDecision>);

impl Observer for Heard {
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.0.push(decision.clone());
    }
}

fn provenance() -> Provenance {
    Provenance { scenario: "test".to_owned(), arm: "best".to_owned(), seed: 3, ..Provenance::default() }
}

fn written(format: Format, decisions: &[FlowDecision]) -> String {
    let mut out = Vec::new();
    let mut writer = DecisionWriter::new(&mut out, format, &provenance()).unwrap();
    assert!(writer.wants_decisions());
    for decision in decisions {
        writer.on_decision(decision);
    }
    writer.finish().unwrap();
    String::from_utf8(out).unwrap()
}

fn read(text: &str) -> Result<Vec<FlowDecision>, String> {
    let mut heard = Heard::default();
    let found = read_decisions(text.as_bytes(), &mut heard).map_err(|error| error.to_string())?;
    assert_eq!(found, provenance());
    Ok(heard.0)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(UNSET), any::<u64>()]
}

fn decision() -> impl Strategy<Value = Decision> {
    let numbers = proptest::array::uniform12(number());
    (numbers, 0..Phase::ALL.len(), 0..ExitReason::ALL.len()).prop_map(|(n, phase, reason)| {
        let mut decision = Decision::new();
        decision.cwnd_bytes = n[0];
        decision.ssthresh_bytes = n[1];
        decision.pacing_bytes_per_s = n[2];
        decision.burst_until_bytes = n[3];
        (decision.evidence, decision.limit) = (n[4], n[5]);
        (decision.pacing_burst_bytes, decision.pacing_percent) = (n[6] as u32, n[7] as u32);
        (decision.chirp_packets, decision.chirp_gap_ns) = (n[8] as u32, n[9] as u32);
        (decision.chirp_step_ns, decision.chirp_pause_ns) = (n[10] as u32, n[11] as u32);
        decision.placed(Phase::ALL[phase], ExitReason::ALL[reason])
    })
}

fn told() -> impl Strategy<Value = Told> {
    let opening =
        (0..algorithms().len(), proptest::array::uniform8(number()), any::<u64>(), 0..HintSource::ALL.len());
    let opening = opening.prop_map(|(row, n, parameter, source)| {
        let algorithm = &algorithms()[row];
        let mut config = Config::new(algorithm, n[0] as u32, n[1]);
        (config.size_bytes, config.receive_window_bytes, config.initial_ssthresh_bytes) = (n[2], n[3], n[4]);
        (config.handshake_rtt_us, config.flags) = (n[5] as u32, n[6] as u32);
        (config.now_ns, config.tsval) = (n[1], n[2] as u32);
        for value in config.parameter.iter_mut().take(algorithm.parameters.len()) {
            *value = parameter;
        }
        let mut hint = Hint::of(HintSource::ALL[source]);
        (hint.window_bytes, hint.rtt_us) = (n[7], n[0] as u32);
        config.hint = hint;
        Opening::told(algorithm, config)
    });
    let ack = proptest::array::uniform8(number()).prop_map(|n| {
        Told::Ack(Ack {
            now_ns: n[0],
            newest_sent_ns: n[1],
            sent_bytes: n[2],
            receive_window_bytes: n[3],
            delivery_bytes_per_s: n[4],
            rtt_us: n[5] as u32,
            mss_bytes: n[6] as u32,
            flags: n[7] as u32,
            tsval: n[2] as u32,
            ..Ack::default()
        })
    });
    let event =
        (0..EventKind::ALL.len(), number(), any::<u32>()).prop_map(|(kind, lost_bytes, mss_bytes)| {
            Told::Event(Event {
                now_ns: 7,
                lost_bytes,
                in_flight_bytes: 9,
                kind: EventKind::ALL[kind],
                mss_bytes,
            })
        });
    prop_oneof![opening, ack, event]
}

proptest! {
    #[test]
    fn what_is_written_comes_back(
        calls in proptest::collection::vec((number(), any::<u32>(), told(), decision(), decision()), 1..8),
    ) {
        let decisions: Vec<_> = calls
            .into_iter()
            .zip(0..)
            .map(|((now, flow, told, before, after), index)| FlowDecision {
                now: Time::from_ns(now),
                flow,
                index,
                call: Call { told, before, after },
            })
            .collect();
        for format in [Format::Csv, Format::JsonLines] {
            prop_assert_eq!(read(&written(format, &decisions)).unwrap(), decisions.clone());
        }
    }
}

/// One connection: opened, so many ACKs that let it grow, a loss.
fn connection(acks: u32) -> Vec<FlowDecision> {
    let slow_start = algorithm("slow_start").unwrap();
    let config = Config::new(slow_start, 1000, 10);
    let mut startup = rampcc::Startup::waiting(slow_start);
    let mut decisions = Vec::new();
    for index in 0..acks + 2 {
        let now_ns = u64::from(index) * 1_000_000;
        let told = if index == 0 {
            Opening::told(slow_start, config)
        } else if index <= acks {
            Told::Ack(Ack {
                now_ns,
                sent_bytes: u64::from(index) * 2000 + 10_000,
                newest_acked_bytes: u64::from(index) * 1000,
                delivered_bytes: u64::from(index) * 1000,
                acked_bytes: 1000,
                in_flight_bytes: 10_000,
                rtt_us: 40_000,
                mss_bytes: 1000,
                flags: 1,
                ..Ack::default()
            })
        } else {
            let kind = EventKind::Loss;
            Told::Event(Event { now_ns, lost_bytes: 1000, in_flight_bytes: 9000, kind, mss_bytes: 1000 })
        };
        let before = *startup.decision();
        match &told {
            Told::Open(opening) => startup.begin(&opening.config),
            Told::Ack(ack) => drop(startup.on_ack(ack)),
            Told::Event(event) => drop(startup.on_event(event)),
        }
        let call = Call { told, before, after: *startup.decision() };
        decisions.push(FlowDecision { now: Time::from_ns(now_ns), flow: 0, index, call });
    }
    decisions
}

#[test]
fn what_is_broken_is_named_by_line_and_field() {
    let good = written(Format::Csv, &connection(2));
    let lines: Vec<&str> = good.lines().collect();
    let header = lines.iter().position(|line| line.starts_with("record,")).unwrap();
    let column = |name: &str| lines[header].split(',').position(|column| column == name).unwrap();
    let broken = |line: usize, name: &str, value: &str| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut cells: Vec<&str> = lines[header + line].split(',').collect();
        cells[column(name)] = value;
        lines[header + line] = cells.join(",");
        let error = read(&lines.join("\n")).unwrap_err();
        assert!(error.contains(&format!("line {}, `{name}`", header + line + 1)), "{error}");
        error
    };
    assert!(
        broken(2, "rtt_us", "fast").contains("found `fast`, expected a whole number from 0 to 4294967295")
    );
    assert!(broken(2, "rtt_us", "4294967296").contains("expected a whole number from 0 to 4294967295"));
    assert!(broken(3, "acked_bytes", "").contains("found nothing"));
    assert!(broken(1, "algorithm", "nosuch").contains("slow_start, "));
    assert!(broken(1, "parameters", "gain=2").contains("found `gain=2`"));
    assert!(broken(4, "kind", "lost").contains("one of: loss, mark, timeout"));
    assert!(broken(4, "after_phase", "gone").contains("one of: startup"));
    assert!(broken(2, "record", "flow").contains("one of: open, ack, event"));
    let unknown = good.replacen("record,", "record,colour,", 1);
    assert!(read(&unknown).unwrap_err().contains("`colour`: found an unknown column"));
    assert!(read("time,cwnd\n").unwrap_err().contains("not a file of samples or decisions"));
    let json = written(Format::JsonLines, &connection(2)).replacen("\"rtt_us\":40000", "\"rtt_us\":-1", 1);
    let error = read(&json).unwrap_err();
    assert!(error.contains("line 3, `rtt_us`"), "{error}");
}

#[test]
fn another_row_is_asked_until_the_recorded_one_leaves() {
    let decisions = connection(40);
    let limited = algorithm("limited").unwrap();
    let mut recorded = Recorded::default();
    let mut again = Replay::recorded();
    let mut other = Replay::other(limited, limited.default_parameters());
    for decision in &decisions {
        recorded.handle_decision(decision);
        again.handle_decision(decision).unwrap();
        other.handle_decision(decision).unwrap();
    }
    let left = recorded.courses()[&0];
    let exit = left.exit.unwrap();
    assert_eq!((exit.reason, exit.at, left.calls), (ExitReason::Loss, Time::from_ms(41), 42));
    assert_eq!(again.courses().next(), Some((0, &left)));
    assert_eq!(again.compared(), 42);
    let (_, course) = other.courses().next().unwrap();
    assert_eq!((course.algorithm, course.calls, course.until), ("limited", 42, left.until));
    // A loss ends every start-up, after calls that are the recorded one's.
    assert_eq!(course.exit.unwrap().reason, ExitReason::Loss);
}

#[test]
fn what_the_host_wrote_is_found_by_another_row_too() {
    let mut decisions = connection(3);
    // After the second ACK, the host takes the window back to what it was.
    decisions[3].call.before.cwnd_bytes = 5000;
    let slow_start = algorithm("slow_start").unwrap();
    let mut other = Replay::other(slow_start, slow_start.default_parameters());
    for decision in &decisions[..4] {
        other.handle_decision(decision).unwrap();
    }
    let (_, course) = other.courses().next().unwrap();
    assert_eq!((course.cwnd_bytes, course.exit), (6000, None));
}

#[test]
fn gaps_and_other_decisions_are_told() {
    let decisions = connection(5);
    let mut replay = Replay::recorded();
    replay.handle_decision(&decisions[0]).unwrap();
    let lost = Difference::Lost { flow: 0, expected: 1, found: 3 };
    assert_eq!(replay.handle_decision(&decisions[3]), Err(lost));
    assert_eq!(replay.handle_decision(&decisions[4]), Ok(()), "it is over");

    let mut decisions = connection(5);
    decisions[2].call.after.cwnd_bytes += 1;
    let mut replay = Replay::recorded();
    let found: Vec<_> =
        decisions.iter().filter_map(|decision| replay.handle_decision(decision).err()).collect();
    assert!(matches!(found.as_slice(), [Difference::Decision { index: 2, .. }]), "{found:?}");
}

/// Recorded on the kernel that the file's provenance names, by the command there.
#[test]
fn what_a_kernel_decided_is_decided_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kernel.csv");
    let text = fs::read_to_string(path).unwrap();
    let mut heard = Heard::default();
    let provenance = read_decisions(text.as_bytes(), &mut heard).unwrap();
    assert!(provenance.backend.starts_with("linux-"), "{}", provenance.backend);
    let mut replay = Replay::recorded();
    let mut recorded = Recorded::default();
    for decision in &heard.0 {
        replay.handle_decision(decision).unwrap();
        recorded.handle_decision(decision);
    }
    assert_eq!(replay.compared(), heard.0.len() as u64);
    let course = recorded.courses()[&0];
    assert_eq!(replay.courses().next(), Some((0, &course)));
    assert!(course.exit.is_some() && heard.0.len() > 50, "{course:?}");
}
