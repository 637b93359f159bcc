//! What happens to packets on a link besides queueing.

use std::sync::Arc;

use rampcc::Time;
use rampcc_path::{AckFilter, Demand, Jitter, LossConfig, Reordering};

use crate::document::{Section, Value};
use crate::error::{Result, listed};
use crate::names::{Tagged, names};
use crate::read::default_of;
use crate::schema::{self, AckFilterKind, JitterKind, LossKind};

pub(crate) fn jitter(value: &Value<'_>) -> Result<Option<Jitter>> {
    let mut parts = Vec::new();
    let elements = value.elements();
    if elements.len() > 16 {
        return Err(value.error(&format!("the list has {} elements", elements.len()), "at most 16"));
    }
    for element in &elements {
        parts.extend(element.file.keep(one_jitter(element)).flatten());
    }
    Ok(match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Jitter::Sum(parts)),
    })
}

fn one_jitter(value: &Value<'_>) -> Result<Option<Jitter>> {
    if !value.is_table() {
        if value.is_list() {
            return Err(value.error("found a list", "a time or a table with `kind`"));
        }
        let max = value.time()?;
        return Ok((max > Time::ZERO).then_some(Jitter::Uniform { max, step: Time::ZERO }));
    }
    let (kind, s) = value.tagged::<JitterKind>()?;
    Ok(Some(match kind {
        JitterKind::Uniform => Jitter::Uniform { max: s.of("max"), step: s.of("step") },
        JitterKind::Normal => Jitter::Normal { mean: s.of("mean"), sigma: s.of("sigma"), step: s.of("step") },
        JitterKind::Pareto => {
            let median: Time = s.of("median");
            let max = s.maybe("max").unwrap_or(Time::from_ns(median.ns().saturating_mul(100)));
            Jitter::Pareto { median, shape: s.of("shape"), max, step: s.of("step") }
        }
        JitterKind::Sine => Jitter::Sine { amplitude: s.of("amplitude"), period: s.of("period") },
        JitterKind::Grant => {
            let period: Time = s.of("period");
            Jitter::Grant { period, jitter: s.of("jitter"), demand: demand(&s, period)? }
        }
    }))
}

/// What grants of a period carry; `None`: all that waits.
fn demand(s: &Section<'_>, period: Time) -> Result<Option<Demand>> {
    let longest = if s.is_sound() { Time::from_ns(period.ns().saturating_mul(10_000)) } else { Time::NEVER };
    let delay = s.read("request-delay", |v| v.time_in(&(Time::ZERO..=longest)));
    let delay = delay.unwrap_or_else(|| default_of(s.schema(), "request-delay"));
    let beside = ["request-delay", "free"].into_iter().find(|field| s.get(field).is_some());
    if let Some(field) = beside.filter(|_| s.get("assured").is_none()) {
        return Err(s.error("assured", "it is missing", &format!("bytes, where there is a `{field}`")));
    }
    let free = s.of("free");
    Ok(s.maybe("assured").map(|assured_bytes| Demand { assured_bytes, delay, free }))
}

pub(crate) fn reordering(value: &Value<'_>) -> Result<Reordering> {
    let s = value.section(&schema::REORDERING)?;
    Ok(Reordering { probability: s.of("probability"), delay: s.of("delay") })
}

pub(crate) fn loss(value: &Value<'_>) -> Result<LossConfig> {
    let random = |probability: f64| {
        if probability > 0.0 { LossConfig::Random { probability } } else { LossConfig::None }
    };
    if !value.is_table() {
        return value.probability().map(random);
    }
    let (kind, s) = value.tagged::<LossKind>()?;
    match kind {
        LossKind::Random => Ok(random(s.of("probability"))),
        LossKind::GilbertElliott => Ok(LossConfig::GilbertElliott {
            to_bad: s.of("to-bad"),
            to_good: s.of("to-good"),
            good: s.of("good"),
            bad: s.of("bad"),
        }),
        LossKind::Listed => {
            let number = |value: Value<'_>| value.count(&(0..=u64::from(u32::MAX)));
            let listed: Result<Vec<u64>, _> = s.need("packets")?.elements().into_iter().map(number).collect();
            let mut packets = listed?;
            packets.sort_unstable();
            packets.dedup();
            Ok(LossConfig::Listed(Arc::from(packets)))
        }
    }
}

pub(crate) fn ack_filter(value: &Value<'_>) -> Result<Option<AckFilter>> {
    if !value.is_table() {
        if value.is_list() || value.is_flag() {
            let kinds = listed(names::<AckFilterKind>().into_iter());
            let allowed = format!("a time, or a table with `kind`: {kinds}");
            return Err(value.error(&format!("found {}", value.found()), &allowed));
        }
        let hold = value.time()?;
        let count = default_of(AckFilterKind::Aggregate.table(), "count");
        return Ok((hold > Time::ZERO).then_some(AckFilter::Aggregate { count, hold }));
    }
    let (kind, s) = value.tagged::<AckFilterKind>()?;
    Ok(Some(match kind {
        AckFilterKind::Aggregate => AckFilter::Aggregate { count: s.of("count"), hold: s.of("hold") },
        AckFilterKind::Thin => AckFilter::Thin { keep: s.of("keep"), hold: s.of("hold") },
    }))
}
