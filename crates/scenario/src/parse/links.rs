//! The fields that every link has.

use std::sync::Arc;

use rampcc::{Rate, Time};
use rampcc_path::{
    AckFilter, Capacity, DelayConfig, Demand, Jitter, Limit, LinkConfig, LossConfig, Opportunities,
    Propagation, QueueConfig, Reordering,
};

use crate::document::{Section, Value};
use crate::error::{ScenarioError, listed};
use crate::facts::{mean_rate, smallest};
use crate::schema;
use crate::traces::Files;
use crate::units::{self, Buffer};

/// Most entries of a list of steps.
const STEPS_MAX: usize = 100_000;
/// Wire bytes of a full packet, where a buffer is counted before any sender is known.
const PACKET_BYTES: u64 = 1500;

/// ACKs that are released together at most, unless a scenario says otherwise.
const AGGREGATE_COUNT: u32 = 64;

/// What a link's own fields do not say.
pub(crate) struct Surroundings<'f> {
    /// One-way propagation delay.
    pub(crate) delay: Propagation,
    /// Smallest round-trip delay apart from this link's own, for `bdp`; `None`: not known for a single link.
    pub(crate) rest: Option<Time>,
    /// Without a rate field.
    pub(crate) capacity: Option<Capacity>,
    /// Without a buffer field.
    pub(crate) buffer: Buffer,
    /// Where traces are read from.
    pub(crate) files: &'f mut Files,
    /// Receives the range of a random trace offset.
    pub(crate) trace_offset_range: &'f mut Time,
}

/// A link from the shared fields of `section`.
pub(crate) fn link(section: &Section<'_>, around: Surroundings<'_>) -> LinkConfig {
    let offset = section.time("trace-offset", Time::ZERO);
    let Surroundings { delay, rest, capacity: default_capacity, buffer, files, trace_offset_range } = around;
    // What is left out for a mistake is nothing that the others could contradict.
    let capacity = section.file.keep(capacity(section, default_capacity, offset, files));
    let capacity = capacity.unwrap_or(Capacity::Constant(Rate::from_bits_per_s(1_000_000)));
    let propagation = section.file.keep(delay_trace(section, delay, offset, files));
    let propagation = propagation.unwrap_or(Propagation::Constant(Time::ZERO));
    section.file.keep(random_offset(section, &capacity, &propagation, trace_offset_range));
    let rtt = rest.map(|rest| rest + smallest(&propagation));
    let scale = Scale { capacity: &capacity, rtt };
    let limit = match section.get("buffer") {
        Some(value) => value
            .buffer()
            .and_then(|buffer| scale.limit(buffer).map_err(|wrong| value.error(wrong.0, wrong.1))),
        None => scale.limit(buffer).map_err(|wrong| section.error("buffer", wrong.0, wrong.1)),
    };
    let limit = section.file.keep(limit).unwrap_or(Limit::Packets(1));
    let queue =
        section.read("queue", |value| queue(value, limit, &scale)).unwrap_or(QueueConfig::DropTail { limit });
    let jitter = section.read("jitter", jitter).flatten();
    let reordering = section.read("reordering", reordering);
    let loss = section.read("loss", loss).unwrap_or(LossConfig::None);
    let ack_filter = section.read("ack-filter", ack_filter).flatten();
    LinkConfig { capacity, queue, delay: DelayConfig { propagation, jitter, reordering }, loss, ack_filter }
}

/// A delay or round-trip time: constant, or steps with an optional period. `share` divides each value.
pub(crate) fn delays(
    section: &Section<'_>,
    name: &'static str,
    period: &'static str,
) -> Result<Option<Propagation>, ScenarioError> {
    let Some(value) = section.get(name) else {
        if let Some(period) = section.get(period) {
            return Err(period.error(&format!("there is no list `{name}` to repeat"), "a list beside it"));
        }
        return Ok(None);
    };
    if !value.is_list() {
        if let Some(period) = section.get(period) {
            return Err(
                period.error(&format!("`{name}` is not a list, so nothing repeats"), "a list beside it")
            );
        }
        return value.time().map(|t| Some(Propagation::Constant(t)));
    }
    let table = if name == "rtt" { &schema::RTT_STEP } else { &schema::DELAY_STEP };
    let steps = steps(&value, table, |step| step.need(if name == "rtt" { "rtt" } else { "delay" })?.time())?;
    let period =
        section.get(period).map(|p| repetition(&p, steps.last().map_or(Time::ZERO, |s| s.0))).transpose()?;
    Ok(Some(Propagation::Steps { steps: steps.into(), period }))
}

/// `propagation` with every delay changed.
pub(crate) fn map_delays(propagation: &Propagation, change: impl Fn(Time) -> Time) -> Propagation {
    match propagation {
        Propagation::Constant(delay) => Propagation::Constant(change(*delay)),
        Propagation::Steps { steps, period } => Propagation::Steps {
            steps: steps.iter().map(|(at, delay)| (*at, change(*delay))).collect(),
            period: *period,
        },
        Propagation::Trace { values, step, offset } => Propagation::Trace {
            values: values.iter().map(|delay| change(*delay)).collect(),
            step: *step,
            offset: *offset,
        },
    }
}

/// The rate and round-trip time that buffers in bdp and time refer to.
struct Scale<'c> {
    capacity: &'c Capacity,
    rtt: Option<Time>,
}

impl Scale<'_> {
    fn limit(&self, buffer: Buffer) -> Result<Limit, (&'static str, &'static str)> {
        const FIXED: &str = "bytes, packets or \"unlimited\"";
        let unlimited = matches!(self.capacity, Capacity::Unlimited);
        let span = match buffer {
            Buffer::Unlimited => return Ok(Limit::Unlimited),
            Buffer::Packets(packets) => return Ok(Limit::Packets(packets)),
            Buffer::Bytes(bytes) => return Ok(Limit::Bytes(bytes)),
            Buffer::Bdp(_) | Buffer::Time(_) if unlimited => {
                return Err(("bdp and time mean nothing at an unlimited rate", FIXED));
            }
            Buffer::Time(span) => span,
            Buffer::Bdp(share) => match self.rtt {
                Some(rtt) => Time::from_ns((rtt.ns() as f64 * share) as u64),
                None => {
                    return Err((
                        "a single link has no round-trip time to count bdp with",
                        "bytes, packets or time",
                    ));
                }
            },
        };
        let window =
            Time::from_ns(self.rtt.unwrap_or_default().ns().saturating_mul(32)).max(Time::from_secs(10));
        // A queue that could not hold one full packet would drop everything.
        let bytes = mean_rate(self.capacity, window).bytes_in(span).max(PACKET_BYTES);
        Ok(Limit::Bytes(bytes))
    }
}

fn capacity(
    section: &Section<'_>,
    default: Option<Capacity>,
    offset: Time,
    files: &mut Files,
) -> Result<Capacity, ScenarioError> {
    let rate = section.get("rate");
    let period = section.get("rate-period");
    let only_lists =
        |value: &Value<'_>| value.error("`rate` is not a list, so nothing repeats", "a list beside it");
    match (section.get("trace"), rate, period) {
        (Some(trace), None, None) => {
            files.opportunities(&trace).map(|found| Capacity::Trace(Opportunities { offset, ..found }))
        }
        (Some(trace), ..) => Err(trace.error("`rate` is given as well", "either `rate` or `trace`")),
        (None, None, Some(period)) => Err(only_lists(&period)),
        (None, None, None) => default.ok_or_else(|| {
            section.error("rate", "it is missing", &format!("{}; or `trace = \"FILE\"`", units::RATE))
        }),
        (None, Some(rate), period) if rate.is_list() => {
            let steps = steps(&rate, &schema::RATE_STEP, |step| step.need("rate")?.rate_or_outage())?;
            if steps.iter().all(|(_, rate)| *rate == Rate::default()) {
                return Err(rate.error("the link never serves", "at least one rate above zero"));
            }
            let last = steps.last().map_or(Time::ZERO, |s| s.0);
            let period = period.map(|p| repetition(&p, last)).transpose()?;
            Ok(Capacity::Steps { steps: steps.into(), period })
        }
        (None, Some(_), Some(period)) => Err(only_lists(&period)),
        (None, Some(rate), None) if rate.is("unlimited") => Ok(Capacity::Unlimited),
        (None, Some(rate), None) => rate.rate().map(Capacity::Constant),
    }
}

fn steps<T>(
    list: &Value<'_>,
    table: &'static schema::Table,
    value: impl Fn(&Section<'_>) -> Result<T, ScenarioError>,
) -> Result<Vec<(Time, T)>, ScenarioError> {
    let elements = list.elements();
    if elements.is_empty() || elements.len() > STEPS_MAX {
        return Err(
            list.error(&format!("the list has {} steps", elements.len()), &format!("1 to {STEPS_MAX} steps"))
        );
    }
    let mut steps: Vec<(Time, T)> = Vec::with_capacity(elements.len());
    for element in elements {
        let step = element.section(table)?;
        let at = step.need("at")?;
        let time = at.time()?;
        match steps.last() {
            None if time != Time::ZERO => {
                return Err(at.error("the first step begins later", "0 s for the first step"));
            }
            Some((before, _)) if time <= *before => {
                return Err(at.error("steps are not in order", &format!("a time after {before}")));
            }
            _ => steps.push((time, value(&step)?)),
        }
    }
    Ok(steps)
}

fn repetition(value: &Value<'_>, last: Time) -> Result<Time, ScenarioError> {
    let period = value.time()?;
    if period <= last || period < Time::from_us(1) {
        return Err(value.error(
            &format!("the list begins again before its last step at {last}"),
            "a time after the last step, at least 1 us",
        ));
    }
    Ok(period)
}

fn delay_trace(
    section: &Section<'_>,
    constant: Propagation,
    offset: Time,
    files: &mut Files,
) -> Result<Propagation, ScenarioError> {
    let Some(value) = section.get("delay-trace") else {
        if let Some(step) = section.get("delay-trace-step") {
            return Err(step.error("there is no `delay-trace`", "`delay-trace` beside it"));
        }
        return Ok(constant);
    };
    let Propagation::Constant(constant) = constant else {
        return Err(
            value.error("delays are given as a list as well", "a constant delay beside `delay-trace`")
        );
    };
    let step = match section.get("delay-trace-step") {
        Some(step) => step.time_in((Time::from_us(1), Time::from_secs(86_400)))?,
        None => Time::from_ms(10),
    };
    Ok(Propagation::Trace { values: files.delays(&value, constant)?, step, offset })
}

fn random_offset(
    section: &Section<'_>,
    capacity: &Capacity,
    propagation: &Propagation,
    range: &mut Time,
) -> Result<(), ScenarioError> {
    let Some(value) = section.get("random-trace-offset") else { return Ok(()) };
    let length = match (capacity, propagation) {
        (Capacity::Trace(trace), _) => trace.period,
        (_, Propagation::Trace { values, step, .. }) => {
            Time::from_ns(step.ns().saturating_mul(values.len() as u64))
        }
        _ if !section.is_sound() => return Ok(()),
        _ => return Err(value.error("there is no trace", "`trace` or `delay-trace` beside it")),
    };
    let wanted = match value.is_flag() {
        true if value.flag()? => length,
        true => Time::ZERO,
        false => value.time()?,
    };
    *range = (*range).max(wanted);
    Ok(())
}

fn queue(value: &Value<'_>, limit: Limit, scale: &Scale<'_>) -> Result<QueueConfig, ScenarioError> {
    const KINDS: [&str; 4] = ["drop-tail", "red", "codel", "random-drop"];
    let kind = value.kind(&KINDS)?;
    let table = [&schema::DROP_TAIL, &schema::RED, &schema::CODEL, &schema::RANDOM_DROP][kind];
    let section = if value.is_table() { Some(value.section(table)?) } else { None };
    let section = section.as_ref();
    Ok(match kind {
        0 => QueueConfig::DropTail { limit },
        1 => {
            let number = |name, default, range| {
                section.map_or(default, |s: &Section<'_>| s.number(name, default, range))
            };
            let min = number("min", 20.0, (0.0, 1e9));
            let max = number("max", 80.0, (0.0, 1e9));
            if max <= min && section.is_none_or(Section::is_sound) {
                return Err(value.error(&format!("`max` is {max} and `min` is {min}"), "`max` above `min`"));
            }
            let weight = number("weight", 0.002, (1e-9, 1.0));
            let max_p = section.map_or(0.1, |s| s.probability("max-p", 0.1));
            let gentle = section.is_none_or(|s| s.flag("gentle", true));
            QueueConfig::Red { limit, min, max, weight, max_p, gentle }
        }
        2 => {
            let time = |name, default| section.map_or(default, |s: &Section<'_>| s.time(name, default));
            let target = time("target", Time::from_ms(5));
            let interval = time("interval", Time::from_ms(100));
            if interval == Time::ZERO {
                return Err(value.error("`interval` is zero", "an interval above zero"));
            }
            QueueConfig::CoDel { limit, target, interval }
        }
        _ => {
            let level = match section.and_then(|s| s.get("above")) {
                Some(above) => {
                    match scale.limit(above.buffer()?).map_err(|wrong| above.error(wrong.0, wrong.1))? {
                        Limit::Bytes(bytes) => bytes,
                        Limit::Packets(packets) => packets.saturating_mul(PACKET_BYTES),
                        Limit::Unlimited => {
                            return Err(above.error("found \"unlimited\"", "bytes, packets, bdp or time"));
                        }
                    }
                }
                None => match limit {
                    Limit::Bytes(bytes) => bytes / 2,
                    Limit::Packets(packets) => packets.saturating_mul(PACKET_BYTES) / 2,
                    Limit::Unlimited => {
                        return Err(value.error(
                            "`above` is missing and the buffer is unlimited",
                            "`above = \"18 MB\"` in the table",
                        ));
                    }
                },
            };
            let probability = section.map_or(0.25, |s| s.probability("probability", 0.25));
            QueueConfig::RandomDrop { limit, above_bytes: level, probability }
        }
    })
}

fn jitter(value: &Value<'_>) -> Result<Option<Jitter>, ScenarioError> {
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

fn one_jitter(value: &Value<'_>) -> Result<Option<Jitter>, ScenarioError> {
    const KINDS: [&str; 5] = ["uniform", "normal", "pareto", "sine", "grant"];
    if !value.is_table() {
        if value.is_list() {
            return Err(value.error("found a list", "a time or a table with `kind`"));
        }
        let max = value.time()?;
        return Ok((max > Time::ZERO).then_some(Jitter::Uniform { max, step: Time::ZERO }));
    }
    let above_zero = |section: &Section<'_>, name: &'static str| {
        let time = section.needed(name, |v| v.time_in((Time::from_us(1), Time::from_secs(86_400))));
        time.unwrap_or_default()
    };
    let needed =
        |section: &Section<'_>, name: &'static str| section.needed(name, Value::time).unwrap_or_default();
    Ok(Some(match value.kind(&KINDS)? {
        0 => {
            let s = value.section(&schema::JITTER_UNIFORM)?;
            Jitter::Uniform { max: needed(&s, "max"), step: s.time("step", Time::ZERO) }
        }
        1 => {
            let s = value.section(&schema::JITTER_NORMAL)?;
            let step = s.time("step", Time::ZERO);
            Jitter::Normal { mean: needed(&s, "mean"), sigma: needed(&s, "sigma"), step }
        }
        2 => {
            let s = value.section(&schema::JITTER_PARETO)?;
            let median = needed(&s, "median");
            let max = s.time("max", Time::from_ns(median.ns().saturating_mul(100)));
            let shape = s.number("shape", 1.5, (0.1, 100.0));
            Jitter::Pareto { median, shape, max, step: s.time("step", Time::ZERO) }
        }
        3 => {
            let s = value.section(&schema::JITTER_SINE)?;
            Jitter::Sine { amplitude: needed(&s, "amplitude"), period: above_zero(&s, "period") }
        }
        _ => {
            let s = value.section(&schema::JITTER_GRANT)?;
            let period = above_zero(&s, "period");
            let longest =
                if s.is_sound() { Time::from_ns(period.ns().saturating_mul(10_000)) } else { Time::NEVER };
            let delay = s.read("request-delay", |v| v.time_in((Time::ZERO, longest)));
            let delay = delay.unwrap_or(Time::from_ms(500));
            let demand = match s.get("assured") {
                Some(_) => s
                    .read("assured", |v| v.bytes((0, u64::MAX)))
                    .map(|assured_bytes| Demand { assured_bytes, delay }),
                None if s.get("request-delay").is_some() => {
                    return Err(s.error(
                        "assured",
                        "it is missing",
                        "bytes, where there is a `request-delay`",
                    ));
                }
                None => None,
            };
            Jitter::Grant { period, jitter: s.time("jitter", Time::ZERO), demand }
        }
    }))
}

fn reordering(value: &Value<'_>) -> Result<Reordering, ScenarioError> {
    let s = value.section(&schema::REORDERING)?;
    let probability = s.needed("probability", Value::probability).unwrap_or_default();
    Ok(Reordering { probability, delay: s.needed("delay", Value::time).unwrap_or_default() })
}

fn loss(value: &Value<'_>) -> Result<LossConfig, ScenarioError> {
    const KINDS: [&str; 3] = ["random", "gilbert-elliott", "listed"];
    let random = |probability: f64| {
        if probability > 0.0 { LossConfig::Random { probability } } else { LossConfig::None }
    };
    if !value.is_table() {
        return value.probability().map(random);
    }
    match value.kind(&KINDS)? {
        0 => value.section(&schema::LOSS_RANDOM)?.need("probability")?.probability().map(random),
        1 => {
            let s = value.section(&schema::LOSS_GILBERT)?;
            Ok(LossConfig::GilbertElliott {
                to_bad: s.needed("to-bad", Value::probability).unwrap_or_default(),
                to_good: s.needed("to-good", Value::probability).unwrap_or_default(),
                good: s.probability("good", 0.0),
                bad: s.probability("bad", 1.0),
            })
        }
        _ => {
            let list = value.section(&schema::LOSS_LISTED)?.need("packets")?;
            let mut packets = Vec::new();
            for element in list.elements() {
                packets.push(element.count((0, u64::from(u32::MAX)))?);
            }
            packets.sort_unstable();
            packets.dedup();
            Ok(LossConfig::Listed(Arc::from(packets)))
        }
    }
}

fn ack_filter(value: &Value<'_>) -> Result<Option<AckFilter>, ScenarioError> {
    const KINDS: [&str; 2] = ["aggregate", "thin"];
    if !value.is_table() {
        if value.is_list() || value.is_flag() {
            let allowed = format!("a time, or a table with `kind`: {}", listed(KINDS.into_iter()));
            return Err(value.error(&format!("found {}", value.found()), &allowed));
        }
        let hold = value.time()?;
        return Ok((hold > Time::ZERO).then_some(AckFilter::Aggregate { count: AGGREGATE_COUNT, hold }));
    }
    Ok(Some(if value.kind(&KINDS)? == 0 {
        let s = value.section(&schema::ACK_AGGREGATE)?;
        let count = s.count("count", u64::from(AGGREGATE_COUNT), (1, 1_000_000)) as u32;
        AckFilter::Aggregate { count, hold: s.need("hold")?.time()? }
    } else {
        let s = value.section(&schema::ACK_THIN)?;
        AckFilter::Thin { keep: s.need("keep")?.count((1, 1_000_000))? as u32 }
    }))
}
