//! The qlog of a start-up, held to what the drafts require of its records.

mod schema;

use rampcc::Time;
use rampcc_quic::qlog::Qlog;
use rampcc_quic::{Congestion, Connection, Observer, PacketId, Rules};
use serde_json::Value;

const MTU: u32 = 1200;

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
    schema::records(&text)
}

#[test]
fn the_head_says_what_the_file_is() {
    let head = &records()[0];
    schema::check_head(head, "server");
    assert_eq!(head["title"], "a \"title\" ");
}

#[test]
fn every_event_is_of_a_schema_and_the_exit_is_among_them() {
    let records = records();
    let (exits, states) = schema::check_events(&records[1..]);
    assert_eq!(states, ["slow_start", "recovery"]);
    let [exit] = exits.as_slice() else { panic!("one exit: {exits:?}") };
    assert_eq!((&exit["reason"], &exit["evidence"]), (&"loss".into(), &MTU.into()));
    assert!(exit["congestion_window"].as_u64().is_some_and(|window| window > 12_000));
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
