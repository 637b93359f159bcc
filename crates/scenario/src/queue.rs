//! Queues: the fields of each, what `ramp-path` makes of them, and their words.

use rampcc::{Rate, Time};
use rampcc_path::{Limit, QueueConfig};

use crate::document::{Section, Value};
use crate::error::Result;
use crate::field::Default::{At, Flag, Number, Required, Words};
use crate::field::{FLAG, PROBABILITY, RATE, TIME, bytes as size, number, table, words};
use crate::names::kinds;
use crate::numbers::{bytes, percent};
use crate::units::Buffer;

/// Wire bytes of a full packet, where a buffer is counted before any sender is known.
pub(crate) const PACKET_BYTES: u64 = 1500;

kinds! { QueueKind {
    DropTail = "drop-tail": DROP_TAIL,
    Red = "red": RED,
    CoDel = "codel": CODEL,
    RandomDrop = "random-drop": RANDOM_DROP,
    Policer = "policer": POLICER,
} }

table! { DROP_TAIL: "queue = { kind = \"drop-tail\" }", "Drops what does not fit.";
    "kind": words("drop-tail") => Required, "Which one.";
}

table! { RED: "queue = { kind = \"red\" }", "Random early detection (Floyd & Jacobson 1993).";
    "kind": words("red") => Required, "Which one.";
    "min": number(0.0, 1e9) => Number(20.0), "Lower threshold of the average queue, packets.";
    "max": number(0.0, 1e9) => Number(80.0), "Upper threshold of the average queue, packets.";
    "weight": number(1e-9, 1.0) => Number(0.002), "Weight of a new sample in the average.";
    "max-p": PROBABILITY => Number(0.1), "Drop probability at `max`.";
    "gentle": FLAG => Flag(true), "From `max-p` to 1 between `max` and twice `max`, instead of at once.";
    "wait": FLAG => Flag(true), "No drop sooner than 1/p packets after the one before, as in ns-2; without it RED is FreeBSD's dummynet: any of the next 1/p packets is dropped, each as likely, a packet that finds the queue full does not move the average, and idle time counts as packets of 512 bytes.";
    "ecn": FLAG => Flag(false), "Up to `max`, marks packets of senders with `ecn` instead of dropping them.";
}

table! { CODEL: "queue = { kind = \"codel\" }", "RFC 8289.";
    "kind": words("codel") => Required, "Which one.";
    "target": TIME => At(Time::from_ms(5)), "Acceptable standing delay.";
    "interval": TIME => At(Time::from_ms(100)), "Sliding window of the minimum.";
    "ecn": FLAG => Flag(false), "Marks packets of senders with `ecn` instead of dropping them.";
}

table! { RANDOM_DROP: "queue = { kind = \"random-drop\" }", "Drops arriving packets at random above a level.";
    "kind": words("random-drop") => Required, "Which one.";
    "above": words("bytes, packets, bdp or time") => Words("half the buffer"), "Level above which packets are dropped.";
    "probability": PROBABILITY => Number(0.25), "Of each packet arriving above it, independently.";
}

table! { POLICER: "queue = { kind = \"policer\" }", "A token bucket without a queue, before the link's own: drops what finds no tokens, and delays nothing.";
    "kind": words("policer") => Required, "Which one.";
    "rate": RATE => Required, "Tokens come at this rate, for wire bytes.";
    "burst": size(1, u64::MAX) => Required, "The bucket holds so many, and is full at first.";
}

/// The queue that `value` describes, which holds `limit`. `scale` counts buffers in bytes or packets.
pub(crate) fn queue(
    value: &Value<'_>,
    limit: Limit,
    scale: impl Fn(Buffer) -> Result<Limit, (&'static str, &'static str)>,
) -> Result<QueueConfig> {
    let (kind, s) = value.tagged::<QueueKind>()?;
    Ok(match kind {
        QueueKind::DropTail => QueueConfig::DropTail { limit },
        QueueKind::Red => {
            let (min, max) = (s.of("min"), s.of("max"));
            if max <= min && s.is_sound() {
                return Err(value.error(&format!("`max` is {max} and `min` is {min}"), "`max` above `min`"));
            }
            let (weight, max_p) = (s.of("weight"), s.of("max-p"));
            let (gentle, wait) = (s.of("gentle"), s.of("wait"));
            QueueConfig::Red { limit, min, max, weight, max_p, gentle, wait, ecn: s.of("ecn") }
        }
        QueueKind::CoDel => {
            let (target, interval) = (s.of("target"), s.of("interval"));
            if interval == Time::ZERO {
                return Err(value.error("`interval` is zero", "an interval above zero"));
            }
            QueueConfig::CoDel { limit, target, interval, ecn: s.of("ecn") }
        }
        QueueKind::RandomDrop => {
            let above_bytes = level(value, &s, limit, scale)?;
            QueueConfig::RandomDrop { limit, above_bytes, probability: s.of("probability") }
        }
        QueueKind::Policer => {
            QueueConfig::Policer { limit, rate: s.of::<Rate>("rate"), burst_bytes: s.of("burst") }
        }
    })
}

/// From where on packets are dropped at random.
fn level(
    value: &Value<'_>,
    s: &Section<'_>,
    limit: Limit,
    scale: impl Fn(Buffer) -> Result<Limit, (&'static str, &'static str)>,
) -> Result<u64> {
    let bytes = |limit| match limit {
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Packets(packets) => Some(packets.saturating_mul(PACKET_BYTES)),
        Limit::Unlimited => None,
    };
    match s.get("above") {
        Some(above) => {
            let level = scale(above.buffer()?).map_err(|wrong| above.error(wrong.0, wrong.1))?;
            bytes(level).ok_or_else(|| above.error("found \"unlimited\"", "bytes, packets, bdp or time"))
        }
        None => bytes(limit).map(|bytes| bytes / 2).ok_or_else(|| {
            value.error("`above` is missing and the buffer is unlimited", "`above = \"18 MB\"` in the table")
        }),
    }
}

/// A queue for people: `drop-tail queue of 36 MB`.
pub(crate) fn in_words(queue: &QueueConfig) -> String {
    let room = match queue.limit() {
        Limit::Bytes(size) => format!(" of {}", bytes(size)),
        Limit::Packets(count) => format!(" of {count} packets"),
        Limit::Unlimited => " without limit".to_owned(),
    };
    match queue {
        QueueConfig::DropTail { .. } => format!("drop-tail queue{room}"),
        QueueConfig::Red { min, max, ecn, .. } => {
            format!("RED queue{room}, thresholds {min} and {max} packets{}", marking(*ecn))
        }
        QueueConfig::CoDel { target, ecn, .. } => {
            format!("CoDel queue{room}, target {target}{}", marking(*ecn))
        }
        QueueConfig::RandomDrop { above_bytes, probability, .. } => {
            let (share, level) = (percent(*probability), bytes(*above_bytes));
            format!("queue{room} that drops {share} of arrivals above {level}")
        }
        QueueConfig::Policer { rate, burst_bytes, .. } => {
            format!("policer of {rate} with a bucket of {}, queue{room}", bytes(*burst_bytes))
        }
    }
}

/// What a queue drops or marks before it is full: `CoDel`, `25 % of arrivals dropped above 1.6 BDP`. `bdp` is in bytes as the queue counts
/// them.
pub(crate) fn early_drops(queue: &QueueConfig, bdp: u64) -> Option<String> {
    match queue {
        QueueConfig::DropTail { .. } => None,
        QueueConfig::Red { ecn, .. } => Some(format!("RED{}", marking(*ecn))),
        QueueConfig::CoDel { ecn, .. } => Some(format!("CoDel{}", marking(*ecn))),
        // A queue that is full before drops nothing early.
        QueueConfig::RandomDrop { above_bytes, limit: Limit::Bytes(full), .. } if above_bytes >= full => None,
        QueueConfig::RandomDrop { above_bytes, probability, .. } => {
            let above = if bdp > 0 {
                format!("{:.2} BDP", *above_bytes as f64 / bdp as f64)
            } else {
                bytes(*above_bytes)
            };
            Some(format!("{} of arrivals dropped above {above}", percent(*probability)))
        }
        QueueConfig::Policer { rate, .. } => Some(format!("policed to {rate}")),
    }
}

fn marking(ecn: bool) -> &'static str {
    if ecn { ", with ECN" } else { "" }
}
