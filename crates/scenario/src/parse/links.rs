//! The fields that every link has.

use rampcc::{Rate, Time};
use rampcc_path::{
    Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Opportunities, Propagation, QueueConfig,
};

use crate::document::{Section, Value};
use crate::error::Result;
use crate::parse::impairments::{ack_filter, jitter, loss, reordering};
use crate::queue::{PACKET_BYTES, queue};
use crate::rates::mean_rate;
use crate::schema;
use crate::traces::Files;
use crate::units::{self, Buffer};

/// Most entries of a list of steps.
const STEPS_MAX: usize = 100_000;
/// What a link's own fields do not say.
pub(crate) struct Surroundings<'f> {
    pub(crate) delay: Propagation,
    /// Smallest round-trip delay apart from this link's own, for `bdp`; `None`: not known for a single link.
    pub(crate) rest: Option<Time>,
    /// Without a rate field.
    pub(crate) capacity: Option<Capacity>,
    /// Where traces are read from.
    pub(crate) files: &'f mut Files,
    /// Receives the range of a random trace offset.
    pub(crate) trace_offset_range: &'f mut Time,
}

pub(crate) fn link(section: &Section<'_>, around: Surroundings<'_>) -> LinkConfig {
    let offset = section.of("trace-offset");
    let Surroundings { delay, rest, capacity: default_capacity, files, trace_offset_range } = around;
    // What is left out for a mistake is nothing that the others could contradict.
    let capacity = section.file.keep(capacity(section, default_capacity, offset, files));
    let capacity = capacity.unwrap_or(Capacity::Constant(Rate::from_bits_per_s(1_000_000)));
    let propagation = section.file.keep(delay_trace(section, delay, offset, files));
    let propagation = propagation.unwrap_or(Propagation::Constant(Time::ZERO));
    section.file.keep(random_offset(section, &capacity, &propagation, trace_offset_range));
    section.file.keep(offset_of_a_trace(section, &capacity, &propagation));
    let rtt = rest.map(|rest| rest + propagation.smallest());
    let scale = Scale { capacity: &capacity, rtt };
    let limit = match section.get("buffer") {
        Some(value) => value
            .buffer()
            .and_then(|buffer| scale.limit(buffer).map_err(|wrong| value.error(wrong.0, wrong.1))),
        None => {
            scale.limit(section.schema().buffer()).map_err(|wrong| section.error("buffer", wrong.0, wrong.1))
        }
    };
    let limit = section.file.keep(limit).unwrap_or(Limit::Packets(1));
    let queue = section
        .read("queue", |v| queue(v, limit, |b| scale.limit(b)))
        .unwrap_or(QueueConfig::DropTail { limit });
    let jitter = section.read("jitter", jitter).flatten();
    let reordering = section.read("reordering", reordering);
    let loss = section.read("loss", loss).unwrap_or(LossConfig::None);
    let ack_filter = section.read("ack-filter", ack_filter).flatten();
    let quick_start = section.read("quick-start", Value::one_of).unwrap_or_default();
    let ties = section.read("ties", Value::one_of).unwrap_or_default();
    let delay = DelayConfig { propagation, jitter, reordering };
    LinkConfig { capacity, queue, delay, loss, ack_filter, quick_start, ties }
}

/// A delay or round-trip time: constant, or steps with an optional period. `share` divides each value.
pub(crate) fn delays(
    section: &Section<'_>,
    name: &'static str,
    period: &'static str,
) -> Result<Option<Propagation>> {
    let Some(value) = section.get(name) else {
        if let Some(period) = section.get(period) {
            return Err(period.error(&format!("there is no list `{name}` to repeat"), "a list with it"));
        }
        return Ok(None);
    };
    if !value.is_list() {
        if let Some(period) = section.get(period) {
            return Err(
                period.error(&format!("`{name}` is not a list, so nothing repeats"), "a list with it")
            );
        }
        return value.time().map(|t| Some(Propagation::Constant(t)));
    }
    let (table, of) = if name == "rtt" { (&schema::RTT_STEP, "rtt") } else { (&schema::DELAY_STEP, "delay") };
    let steps = steps(&value, table, |step| step.need(of)?.time())?;
    let period =
        section.get(period).map(|p| repetition(&p, steps.last().map_or(Time::ZERO, |s| s.0))).transpose()?;
    Ok(Some(Propagation::Steps { steps: steps.into(), period }))
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
) -> Result<Capacity> {
    let rate = section.get("rate");
    let period = section.get("rate-period");
    let only_lists =
        |value: &Value<'_>| value.error("`rate` is not a list, so nothing repeats", "a list with it");
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
    value: impl Fn(&Section<'_>) -> Result<T>,
) -> Result<Vec<(Time, T)>> {
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

fn repetition(value: &Value<'_>, last: Time) -> Result<Time> {
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
) -> Result<Propagation> {
    let Some(value) = section.get("delay-trace") else {
        if let Some(step) = section.get("delay-trace-step") {
            return Err(step.error("there is no `delay-trace`", "`delay-trace` with it"));
        }
        return Ok(constant);
    };
    let Propagation::Constant(constant) = constant else {
        return Err(value.error("delays are given as a list as well", "a constant delay with `delay-trace`"));
    };
    let step = section.of("delay-trace-step");
    Ok(Propagation::Trace { values: files.delays(&value, constant)?, step, offset })
}

fn offset_of_a_trace(section: &Section<'_>, capacity: &Capacity, propagation: &Propagation) -> Result {
    let traced = matches!(capacity, Capacity::Trace(_)) || matches!(propagation, Propagation::Trace { .. });
    match section.get("trace-offset") {
        Some(value) if !traced && section.is_sound() => {
            Err(value.error("there is no trace", "`trace` or `delay-trace` with it"))
        }
        _ => Ok(()),
    }
}

fn random_offset(
    section: &Section<'_>,
    capacity: &Capacity,
    propagation: &Propagation,
    range: &mut Time,
) -> Result {
    let Some(value) = section.get("random-trace-offset") else { return Ok(()) };
    let length = match (capacity, propagation) {
        (Capacity::Trace(trace), _) => trace.period,
        (_, Propagation::Trace { values, step, .. }) => {
            Time::from_ns(step.ns().saturating_mul(values.len() as u64))
        }
        _ if !section.is_sound() => return Ok(()),
        _ => return Err(value.error("there is no trace", "`trace` or `delay-trace` with it")),
    };
    let wanted = match value.is_flag() {
        true if value.flag()? => length,
        true => Time::ZERO,
        false => value.time()?,
    };
    *range = (*range).max(wanted);
    Ok(())
}
