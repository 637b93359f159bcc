//! Files of samples: what is written comes back, and what is broken is named.

use proptest::prelude::*;
use rampcc::{ExitReason, Phase, Time, UNSET};
use rampcc_trace::{
    FlowEvent, FlowEventKind, FlowSample, Format, LinkSample, Observer, Provenance, SenderState, TraceError,
    Writer, read,
};

/// Everything it got, in order.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    flows: Vec<FlowSample>,
    links: Vec<LinkSample>,
    events: Vec<FlowEvent>,
}

impl Observer for Heard {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.flows.push(*sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.events.push(*event);
    }
}

impl Heard {
    fn tell(&self, observer: &mut impl Observer) {
        self.events.iter().for_each(|event| observer.on_event(event));
        self.flows.iter().for_each(|sample| observer.on_flow(sample));
        self.links.iter().for_each(|sample| observer.on_link(sample));
    }
}

fn provenance() -> Provenance {
    Provenance {
        version: "0.1.0".to_owned(),
        command: "ramp run geo --algorithms best".to_owned(),
        scenario: "geo".to_owned(),
        scenario_text: "[path]\nrate = \"1 Mbit/s\"\n".to_owned(),
        arm: "best".to_owned(),
        seed: 3,
        ..Provenance::default()
    }
}

fn written(format: Format, told: &Heard) -> String {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, format, &provenance()).unwrap();
    told.tell(&mut writer);
    writer.finish().unwrap();
    String::from_utf8(out).unwrap()
}

fn every_event() -> Vec<FlowEvent> {
    let kinds = [
        FlowEventKind::Opened { size_bytes: u64::MAX, under_test: true },
        FlowEventKind::Opened { size_bytes: 7, under_test: false },
        FlowEventKind::Established,
        FlowEventKind::StartupExit {
            reason: ExitReason::AckTrain,
            evidence: 301,
            limit: 300,
            cwnd_bytes: 5,
            deciding_sent: Time::from_ms(4),
        },
        FlowEventKind::RecoveryStart { cwnd_bytes: 9, in_flight_bytes: 8 },
        FlowEventKind::RecoveryEnd,
        FlowEventKind::Timeout { backoff: 2 },
        FlowEventKind::Undone,
        FlowEventKind::StartupResumed,
        FlowEventKind::ConnectionLost,
        FlowEventKind::Dropped { link: 1, wire_bytes: 1500, data: true },
        FlowEventKind::Received { bytes: 6 },
        FlowEventKind::Completed { bytes: 7 },
        FlowEventKind::Unfinished { bytes: 6 },
    ];
    (0..).zip(kinds).map(|(i, kind)| FlowEvent { now: Time::from_ms(i), flow: 4, kind }).collect()
}

#[test]
fn every_event_survives_both_formats() {
    let told = Heard { events: every_event(), ..Heard::default() };
    for format in [Format::Csv, Format::JsonLines] {
        let mut heard = Heard::default();
        let found = read(written(format, &told).as_bytes(), &mut heard).unwrap();
        assert_eq!(heard, told);
        assert_eq!(found, provenance());
    }
}

#[test]
fn a_file_begins_with_how_to_make_it_again() {
    let csv = written(Format::Csv, &Heard::default());
    assert!(
        csv.starts_with("# version: \"0.1.0\"\n# command: \"ramp run geo --algorithms best\"\n"),
        "{csv}"
    );
    let json = written(Format::JsonLines, &Heard::default());
    assert!(json.starts_with("{\"provenance\":{\"version\":\"0.1.0\""), "{json}");
}

#[test]
fn a_broken_line_is_named() {
    let told = Heard { events: every_event(), ..Heard::default() };
    let csv = written(Format::Csv, &told).replace("ack-train", "boredom");
    let error = read(csv.as_bytes(), &mut ()).unwrap_err().to_string();
    // Eight comment lines, the names, three events before.
    assert!(
        error.starts_with("line 13: `reason` is `boredom`, which is none of: never-left, ssthresh"),
        "{error}"
    );

    let json = written(Format::JsonLines, &told).replace("\"backoff\":2", "\"backoff\":-2");
    let error = read(json.as_bytes(), &mut ()).unwrap_err().to_string();
    assert!(error.starts_with("line 8: "), "{error}");
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read(&b"time,cwnd\n"[..], &mut ()), Err(TraceError::NoProvenance)));
    assert!(matches!(read(&b""[..], &mut ()), Err(TraceError::NoProvenance)));
    assert!(matches!(read(&b"{\"a\":1}\n"[..], &mut ()), Err(TraceError::Json { line: 1, .. })));
}

#[test]
fn the_first_failure_comes_out() {
    /// Takes this many bytes and no more.
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::new(Full(500), Format::JsonLines, &provenance()).unwrap();
    for event in every_event() {
        writer.on_event(&event);
    }
    assert!(writer.failed());
    assert!(writer.finish().is_err());
}

prop_compose! {
    fn flow_sample()(v in prop::array::uniform12(0..1u64 << 60), ssthresh in prop_oneof![Just(UNSET), 0..1u64 << 40])
        -> FlowSample {
        FlowSample {
            now: Time::from_ns(v[0]),
            flow: v[1] as u32,
            cwnd_bytes: v[2],
            ssthresh_bytes: ssthresh,
            in_flight_bytes: v[3],
            sent_bytes: v[4],
            delivered_bytes: v[5],
            retransmitted_bytes: v[6],
            lost_bytes: v[7],
            rtt: Time::from_ns(v[8]),
            min_rtt: Time::from_ns(v[8] / 2),
            smoothed_rtt: Time::from_ns(v[8]),
            pacing_bytes_per_s: v[9],
            delivery_bytes_per_s: v[10],
            receive_window_bytes: if v[11] % 2 == 0 { u64::MAX } else { v[11] },
            phase: [Phase::Startup, Phase::Conservative, Phase::Leaving, Phase::Done][v[1] as usize % 4],
            state: [SenderState::Open, SenderState::Recovery, SenderState::Loss][v[2] as usize % 3],
        }
    }
}

proptest! {
    #[test]
    fn samples_survive_both_formats(
        flows in prop::collection::vec(flow_sample(), 0..20),
        queues in prop::collection::vec(any::<(u32, u64, u64)>(), 0..20),
    ) {
        let links = queues
            .into_iter()
            .map(|(link, ns, bytes)| LinkSample { now: Time::from_ns(ns), link, queue_bytes: bytes, queue_packets: 1 })
            .collect();
        let told = Heard { flows, links, events: Vec::new() };
        for format in [Format::Csv, Format::JsonLines] {
            let mut heard = Heard::default();
            read(written(format, &told).as_bytes(), &mut heard).unwrap();
            prop_assert_eq!(&heard, &told);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0..3usize) {
        let head: &[u8] = [&b""[..], b"# seed: 1\nrecord,time_ns,flow\n", b"{\"provenance\":"][head];
        let _ = read(&[head, &bytes].concat()[..], &mut ());
    }
}
