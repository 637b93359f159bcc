//! The qlog of a start-up, held to what the drafts require of its records.

use rampcc::Time;
use rampcc_quic::qlog::Qlog;
use rampcc_quic::{Congestion, Connection, Observer, PacketId, Rules};
use serde_json::Value;

const MTU: u32 = 1200;

/// Fields of `recovery:metrics_updated` that it may have (draft-ietf-quic-qlog-quic-events-12 §7.2), all of them numbers.
const METRICS: [&str; 10] = [
    "min_rtt",
    "smoothed_rtt",
    "latest_rtt",
    "rtt_variance",
    "pto_count",
    "congestion_window",
    "bytes_in_flight",
    "ssthresh",
    "packets_in_flight",
    "pacing_rate",
];

/// A start-up that a loss ends: its records.
fn records() -> Vec<Value> {
    let qlog = Qlog::new(Vec::new(), "a \"title\"\n").expect("memory takes everything");
    let mut connection = Connection::new(&Rules::new("slow_start").expect("a row"), MTU as u16);
    let mut now = Time::from_ms(1000);
    for round in 0..4_u64 {
        let sent = now;
        for packet in 0..10 {
            let id = PacketId { sent, number: round * 10 + packet };
            connection.on_packet_sent(sent, id, MTU);
        }
        now = sent + Time::from_ms(40);
        for packet in 0..10 {
            let id = PacketId { sent, number: round * 10 + packet };
            if round == 3 && packet == 0 {
                continue;
            }
            connection.on_packet_acked(id, MTU.into());
            connection.on_ack_end(now, (9 - packet) * u64::from(MTU));
            qlog.on_change(now, &connection);
        }
        if round == 3 {
            connection.on_packet_lost(30, MTU.into());
            connection.on_congestion(now, Congestion::Loss, sent, MTU.into());
            qlog.on_change(now, &connection);
        }
    }
    let text = String::from_utf8(qlog.into_inner().expect("no write failed")).expect("text");
    let records = text.strip_prefix('\u{1e}').expect("RFC 7464: a record begins with its separator");
    let parse = |record: &str| {
        assert!(record.ends_with('\n'), "RFC 7464: a record ends with a line feed");
        serde_json::from_str(record).expect("JSON")
    };
    records.split('\u{1e}').map(parse).collect()
}

#[test]
fn the_head_says_what_the_file_is() {
    let head = &records()[0];
    assert_eq!(head["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(head["serialization_format"], "application/qlog+json-seq");
    assert_eq!(head["title"], "a \"title\" ");
    let trace = &head["trace"];
    assert_eq!(trace["vantage_point"]["type"], "server");
    assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
    assert_eq!(trace["common_fields"]["reference_time"]["clock_type"], "monotonic");
    assert!(trace["event_schemas"].as_array().is_some_and(|schemas| schemas.len() == 2));
}

#[test]
fn every_event_is_of_a_schema_and_the_exit_is_among_them() {
    let records = records();
    let (mut last, mut exits, mut states) = (0.0, 0, Vec::new());
    for event in &records[1..] {
        let time = event["time"].as_f64().expect("a number");
        assert!(time >= last, "{event}");
        last = time;
        let data = event["data"].as_object().expect("an object");
        match event["name"].as_str().expect("a name") {
            "recovery:metrics_updated" => {
                assert!(!data.is_empty(), "{event}");
                for (name, value) in data {
                    assert!(METRICS.contains(&name.as_str()) && value.is_number(), "{event}");
                }
            }
            "recovery:congestion_state_updated" => {
                assert_eq!(data.get("old"), states.last(), "{event}");
                states.push(data["new"].clone());
            }
            "ramp:startup_exit" => {
                assert_eq!(data["reason"], "loss");
                assert_eq!(data["evidence"], MTU);
                assert!(data["congestion_window"].as_u64().is_some_and(|window| window > 12_000));
                exits += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((exits, states), (1, vec!["slow_start".into(), "recovery".into()]));
    let rtt = records.iter().find_map(|event| event["data"]["smoothed_rtt"].as_f64());
    assert_eq!(rtt, Some(40.0), "milliseconds");
}

#[test]
fn a_full_disk_stops_the_log_and_not_the_connection() {
    struct Full(u32);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| std::io::Error::other("full"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(Qlog::new(Full(0), "").is_err());
    let qlog = Qlog::new(Full(20), "").expect("there is room for the head");
    let connection = Connection::new(&Rules::new("slow_start").expect("a row"), 1200);
    for ms in 0..100 {
        qlog.on_change(Time::from_ms(ms), &connection);
    }
    let mut other = Connection::new(&Rules::new("slow_start").expect("a row"), 1400);
    for size in 0..100_u32 {
        other.on_packet_sent(
            Time::from_ms(1),
            PacketId { sent: Time::from_ms(1), number: size.into() },
            1400,
        );
        qlog.on_change(Time::from_ms(200), &other);
    }
    assert!(qlog.into_inner().is_none());
}
