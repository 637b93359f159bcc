//! Counters for Prometheus, in its text format.

mod exposition;
mod http;
mod server;

use rampcc::ExitReason;
use rampcc_linux::Counters;

use crate::error::Result;
use crate::host::Host;
use crate::status::{AttachedAlgorithm, Attachment};
use exposition::{Exposition, Kind};

pub use exposition::CONTENT_TYPE;
pub use server::MetricsServer;

/// All counters of everything that is attached to this host, in the text format 0.0.4.
pub fn text(host: &Host) -> Result<String> {
    Ok(of(&host.attachments_alone()?))
}

/// The answer to what a client has sent so far, for fuzzing; `None`: there is more to come.
#[doc(hidden)]
pub fn answered(head: &[u8]) -> Option<Vec<u8>> {
    http::respond(head, http::Limits::default(), &mut |path| http::Answer::plain(http::OK, path))
}

/// Of an attachment.
type Figure = fn(&Counters) -> u64;

/// One family per figure, one sample per attachment.
fn of(attachments: &[Attachment]) -> String {
    let mut out = Exposition::default();
    let labelled: Vec<_> = attachments
        .iter()
        .filter_map(|attachment| Some((attachment, attachment.attached.as_ref()?)))
        .map(|(attachment, attached)| (attachment, attached, labels(attachment, attached)))
        .collect();
    out.family("ramp_attached", Kind::Gauge, "Whether new connections of the scope start by this algorithm.");
    for (attachment, _, labels) in &labelled {
        out.sample("", labels, u64::from(attachment.health.in_force()));
    }
    for attachment in attachments.iter().filter(|attachment| attachment.attached.is_none()) {
        let Some(name) = attachment.health.left_in_force() else { continue };
        let algorithm = name.split_once('_').map_or("", |(_, id)| id).to_owned();
        let labels =
            vec![("scope", attachment.scope.clone()), ("algorithm", algorithm), ("congestion_control", name)];
        out.sample("", &labels, 1);
    }
    out.family(
        "ramp_attached_since_seconds",
        Kind::Gauge,
        "When it was attached, in seconds since 1970 by the clock as it is now.",
    );
    for (_, attached, labels) in &labelled {
        out.sample("", labels, attached.since_s);
    }
    let counted: Vec<_> = labelled
        .iter()
        .filter_map(|(_, attached, labels)| Some((attached.counters.as_ref()?, labels)))
        .collect();
    let figures: [(&str, Kind, &str, Figure); 11] = [
        ("ramp_connections_opened_total", Kind::Counter, "Connections that began a start-up.", |c| c.opened),
        (
            "ramp_connections_closed_total",
            Kind::Counter,
            "Of these, closed or given to another congestion control.",
            |c| c.closed,
        ),
        ("ramp_connections_open", Kind::Gauge, "Connections that are open now.", |c| c.open()),
        (
            "ramp_connections_without_storage_total",
            Kind::Counter,
            "Connections that ran as the kernel's CUBIC because it had no memory for their state.",
            |c| c.without_storage,
        ),
        (
            "ramp_connections_late_total",
            Kind::Counter,
            "Connections that ran as the kernel's CUBIC because their start-up was over when they came.",
            |c| c.late,
        ),
        (
            "ramp_connections_left_out_total",
            Kind::Counter,
            "Connections steered from their first ACK on, because the kernel had not announced them.",
            |c| c.left_out,
        ),
        (
            "ramp_connections_short_rtt_total",
            Kind::Counter,
            "Connections left to the kernel's CUBIC because their round trip was shorter than the least asked for.",
            |c| c.short_rtt,
        ),
        (
            "ramp_connections_bounded_total",
            Kind::Counter,
            "Connections whose window was held by the bound asked for.",
            |c| c.bounded,
        ),
        (
            "ramp_startups_too_late_total",
            Kind::Counter,
            "Start-ups that the algorithm chose to end, with a loss, mark or timeout before two windows were acknowledged.",
            |c| c.too_late,
        ),
        (
            "ramp_startups_too_early_total",
            Kind::Counter,
            "Start-ups that the algorithm chose to end, and the window more than doubled afterwards without loss.",
            |c| c.too_early,
        ),
        ("ramp_events_lost_total", Kind::Counter, "Events for which the ring buffer had no room.", |c| {
            c.lost_events
        }),
    ];
    for (name, kind, help, figure) in figures {
        out.family(name, kind, help);
        for (counters, labels) in &counted {
            out.sample("", labels, figure(counters));
        }
    }
    out.family("ramp_startup_exits_total", Kind::Counter, "Start-ups that ended, by reason.");
    for (counters, labels) in &counted {
        for reason in reasons() {
            let mut labels = (*labels).clone();
            labels.push(("reason", reason.word().to_owned()));
            out.sample("", &labels, counters.exits(reason));
        }
    }
    out.family(
        "ramp_startup_duration_seconds",
        Kind::Histogram,
        "From the handshake to the end of start-up, waiting for data included.",
    );
    for (counters, labels) in &counted {
        let mut count = 0;
        for (bound, below) in counters.durations() {
            let mut labels = (*labels).clone();
            labels.push(("le", bound.map_or("+Inf".to_owned(), |bound| bound.secs_f64().to_string())));
            out.sample("_bucket", &labels, below);
            count = below;
        }
        out.sample("_sum", labels, counters.startup_time().secs_f64());
        out.sample("_count", labels, count);
    }
    out.family(
        "ramp_cgroup_assigned_total",
        Kind::Counter,
        "Connections of a control group that were assigned.",
    );
    let assigned = || labelled.iter().filter_map(|(_, attached, labels)| Some((attached.assigned?, labels)));
    for (counters, labels) in assigned() {
        out.sample("", labels, counters.assigned.iter().sum::<u64>());
    }
    out.family(
        "ramp_cgroup_left_alone_total",
        Kind::Counter,
        "Connections of a control group whose application had chosen a congestion control.",
    );
    for (counters, labels) in assigned() {
        out.sample("", labels, counters.chosen);
    }
    out.family(
        "ramp_cgroup_nested_total",
        Kind::Counter,
        "Connections of a control group that one further inside had given a congestion control.",
    );
    for (counters, labels) in assigned() {
        out.sample("", labels, counters.nested);
    }
    out.text()
}

fn labels(attachment: &Attachment, attached: &AttachedAlgorithm) -> Vec<(&'static str, String)> {
    vec![
        ("scope", attachment.scope.clone()),
        ("algorithm", attached.id.clone()),
        ("congestion_control", attached.name.clone()),
    ]
}

/// Every way a start-up ends.
fn reasons() -> impl Iterator<Item = ExitReason> {
    ExitReason::ALL.into_iter().filter(|reason| *reason != ExitReason::None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prometheus_parse::{Scrape, Value};
    use rampcc_linux::Counters;

    use super::of;
    use crate::status::{AttachedAlgorithm, Attachment, Health};

    fn attachment(scope: &str, health: Health, counters: Option<&Counters>) -> Attachment {
        let attached = AttachedAlgorithm {
            algorithm: rampcc::algorithm("best"),
            id: "best".into(),
            parameters: Vec::new(),
            name: "ramp_best".into(),
            since_s: 1_700_000_000,
            age_s: 60,
            guard: rampcc_linux::Guard::default(),
            pins: "/sys/fs/bpf/ramp/x/1".into(),
            counters: counters.copied(),
            places: None,
            assigned: None,
        };
        Attachment {
            scope: scope.into(),
            unit: None,
            health,
            key: "x".into(),
            attached: Some(attached),
            replaced: Some("cubic".into()),
            connections: Some(BTreeMap::new()),
        }
    }

    fn parse(text: &str) -> Scrape {
        Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).expect("it is the text format")
    }

    #[test]
    fn a_parser_of_the_format_reads_it_back() {
        let mut counters = Counters::default();
        (counters.opened, counters.closed, counters.late) = (12, 5, 1);
        (counters.bounded, counters.too_late) = (4, 2);
        let text = of(&[
            attachment("system", Health::InForce, Some(&counters)),
            attachment("cgroup /a \"b\"\\c\nd", Health::Overridden("reno".into()), None),
        ]);
        let scrape = parse(&text);
        let find = |name: &str, scope: &str| {
            let mut found = scrape.samples.iter().filter(|sample| sample.metric == name);
            found.find(|sample| sample.labels.get("scope") == Some(scope)).map(|sample| sample.value.clone())
        };
        assert_eq!(find("ramp_connections_opened_total", "system"), Some(Value::Counter(12.0)));
        assert_eq!(find("ramp_connections_open", "system"), Some(Value::Gauge(7.0)));
        assert_eq!(find("ramp_connections_bounded_total", "system"), Some(Value::Counter(4.0)));
        assert_eq!(find("ramp_startups_too_late_total", "system"), Some(Value::Counter(2.0)));
        assert_eq!(find("ramp_attached", "system"), Some(Value::Gauge(1.0)));
        let Some(Value::Histogram(buckets)) = find("ramp_startup_duration_seconds", "system") else {
            panic!("{text}")
        };
        assert_eq!(buckets.len(), 18);
        assert!((buckets[10].less_than - 1.024).abs() < 1e-12);
        assert!(buckets[17].less_than.is_infinite());
        let exits = scrape.samples.iter().filter(|sample| sample.metric == "ramp_startup_exits_total");
        let reasons: Vec<_> = exits.filter_map(|sample| sample.labels.get("reason")).collect();
        assert_eq!(reasons.len(), rampcc::ExitReason::ALL.len() - 1, "each but that there was none");
        assert!(reasons.contains(&"ack-train") && reasons.contains(&"bandwidth"), "{reasons:?}");
        // Without counters there are no samples but that it is not in force.
        assert!(text.contains(r#"ramp_attached{scope="cgroup /a \"b\"\\c\nd",algorithm="best""#), "{text}");
        assert_eq!(text.matches("cgroup /a").count(), 2, "{text}");
    }

    #[test]
    fn what_is_in_force_is_attached_whatever_is_left_of_pins_and_record() {
        let lost = |name: Option<&str>| Attachment {
            attached: None,
            ..attachment("system", Health::Lost(name.map(str::to_owned)), None)
        };
        for (attachment, value) in [
            (attachment("system", Health::Unpinned, None), Some(1.0)),
            (attachment("system", Health::Unregistered, None), Some(0.0)),
            (lost(Some("ramp_best")), Some(1.0)),
            (lost(None), None),
        ] {
            let health = attachment.health.clone();
            let scrape = parse(&of(&[attachment]));
            let sample = scrape.samples.iter().find(|sample| sample.metric == "ramp_attached");
            assert_eq!(sample.map(|s| s.value.clone()), value.map(Value::Gauge), "{health:?}");
            if let Some(sample) = sample {
                assert_eq!(sample.labels.get("algorithm"), Some("best"), "{health:?}");
                assert_eq!(sample.labels.get("congestion_control"), Some("ramp_best"), "{health:?}");
            }
        }
    }

    #[test]
    fn nothing_attached_is_a_valid_answer() {
        let text = of(&[]);
        assert!(parse(&text).samples.is_empty());
        assert!(text.lines().all(|line| line.starts_with('#')) && text.ends_with('\n'));
    }
}
