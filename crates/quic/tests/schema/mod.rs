//! What the drafts require of a qlog's records.

use serde_json::Value;

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

pub(crate) fn records(text: &str) -> Vec<Value> {
    let records = text.strip_prefix('\u{1e}').expect("RFC 7464: a record begins with its separator");
    let parse = |record: &str| {
        assert!(record.ends_with('\n'), "RFC 7464: a record ends with a line feed");
        serde_json::from_str(record).expect("JSON")
    };
    records.split('\u{1e}').map(parse).collect()
}

/// Holds the head to what it must say; `side` writes.
pub(crate) fn check_head(head: &Value, side: &str) {
    assert_eq!(head["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(head["serialization_format"], "application/qlog+json-seq");
    assert!(head["title"].is_string());
    let trace = &head["trace"];
    assert_eq!(trace["vantage_point"]["type"], side);
    assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
    assert_eq!(trace["common_fields"]["reference_time"]["clock_type"], "monotonic");
    assert!(trace["event_schemas"].as_array().is_some_and(|schemas| schemas.len() == 2));
}

/// Holds every event to its schema; returns the exits' data and the congestion states in order.
pub(crate) fn check_events(events: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let (mut last, mut exits, mut states) = (0.0, Vec::new(), Vec::new());
    for event in events {
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
                let numbers = ["evidence", "limit", "congestion_window"];
                assert!(
                    data["reason"].is_string() && numbers.iter().all(|name| data[*name].is_u64()),
                    "{event}"
                );
                exits.push(event["data"].clone());
            }
            other => panic!("{other}"),
        }
    }
    (exits, states)
}
