//! Metrics.

use std::collections::BTreeMap;
use std::ops::Range;

use rampcc::{ExitReason, Time};
use rampcc_scenario::{parse_bytes, parse_time};
use toml::Spanned;

use crate::error::{Result, Source, one_of};
use crate::experiment::{Experiment, FORMULA};
use crate::file::{self, File, Take, Whose};
use crate::quantity::{Metric, Quantity};
use rampcc_lab::flows::{FLOWS_MAX, ROUNDS_MAX};

pub(super) fn metrics(source: &Source<'_>, file: &File, played: bool) -> Result<BTreeMap<String, Metric>> {
    let mut metrics = BTreeMap::new();
    for (name, given) in &file.metric {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || name.is_empty() || name == "x" || name == "paper" || !played {
            let allowed = if played { "letters, digits and _" } else { "none: a formula's value is `y`" };
            return Err(source.wrong(
                given.of.span(),
                &format!("metric.{name}"),
                "it cannot have this name",
                allowed,
            ));
        }
        metrics.insert(name.clone(), metric(source, name, given)?);
    }
    Ok(metrics)
}

fn metric(source: &Source<'_>, name: &str, given: &file::Metric) -> Result<Metric> {
    let field = |field: &str| format!("metric.{name}.{field}");
    let of = given.of.get_ref();
    let Some(mut quantity) = Quantity::named(of) else {
        let problem = format!("there is no metric `{of}`");
        return Err(source.wrong(
            given.of.span(),
            &field("of"),
            problem,
            one_of(of, Quantity::names().collect::<Vec<_>>().into_iter()),
        ));
    };
    let window =
        given.window.as_ref().map(|window| pair(source, window, &field("window"), seconds)).transpose()?;
    if let Some(given) = given.window.as_ref().filter(|_| !quantity.takes_window()) {
        let problem = format!("`{of}` is of a whole run");
        let allowed = "no window; goodput, utilisation, throughput, cwnd, rtt, queue and zero_time have one";
        return Err(source.wrong(given.span(), &field("window"), problem, allowed));
    }
    if let (Quantity::Lab(definition), Some(_)) = (quantity, window) {
        quantity = Quantity::Windowed(definition);
    }
    // Of the others no bins are kept.
    let most = if quantity.is_of_flows() { usize::from(u16::MAX) } else { FLOWS_MAX };
    let flow = numbered(
        source,
        given.flow.as_ref(),
        &field("flow"),
        quantity.takes_flows(),
        &format!("`{of}` is of all flows"),
        most,
    )?;
    let of_ack = quantity.is_of_acks();
    let round = numbered(
        source,
        given.round.as_ref(),
        &field("round"),
        of_ack,
        "only ack_bandwidth has round trips",
        ROUNDS_MAX,
    )?;
    if of_ack && round.is_none() {
        return Err(source.wrong(
            given.of.span(),
            &field("round"),
            "it is not said of which round trip",
            format!("`round`, 1 to {ROUNDS_MAX}"),
        ));
    }
    let whose = match &given.whose {
        Some(whose) if !quantity.takes_flows() => {
            let problem = format!("`{of}` is of the flows under test or of the path");
            return Err(source.wrong(whose.span(), &field("whose"), problem, "no `whose`"));
        }
        whose => whose.as_ref().map(|whose| *whose.get_ref()).unwrap_or_default(),
    };
    for (name, place) in [("size", given.size.as_ref()), ("opened", given.opened.as_ref())] {
        if let Some(place) = place.filter(|_| !quantity.is_of_flows()) {
            let problem = format!("`{of}` is not of single flows");
            return Err(source.wrong(
                place.span(),
                &field(name),
                problem,
                format!("no `{name}`, or a metric whose name begins with flow_"),
            ));
        }
    }
    if let Some(reason) = given.left.first().filter(|_| !quantity.is_of_exits()) {
        return Err(source.wrong(
            reason.span(),
            &field("left"),
            format!("`{of}` is not about why a flow left"),
            "no `left`, or flow_left",
        ));
    }
    for reason in &given.left {
        if !ExitReason::ALL.iter().any(|known| known.word() == reason.get_ref()) {
            let known: Vec<&str> = ExitReason::ALL.iter().map(|known| known.word()).collect();
            let problem = format!("there is no reason `{}`", reason.get_ref());
            return Err(source.wrong(
                reason.span(),
                &field("left"),
                problem,
                one_of(reason.get_ref(), known.into_iter()),
            ));
        }
    }
    let below = below(source, given, &field("below"))?;
    let scale = given.scale.unwrap_or(1.0);
    Ok(Metric {
        quantity,
        window,
        below,
        flow,
        whose,
        window_place: given.window.as_ref().map_or(0..0, Spanned::span),
        round,
        size: given
            .size
            .as_ref()
            .map(|size| pair(source, size, &field("size"), bytes))
            .transpose()?
            .map(|(from, to)| from..to),
        opened: given
            .opened
            .as_ref()
            .map(|opened| pair(source, opened, &field("opened"), seconds))
            .transpose()?,
        left: given.left.iter().map(|reason| reason.get_ref().clone()).collect(),
        take: given.take.unwrap_or_default(),
        over: given.over,
        title: given.title.clone().unwrap_or_else(|| quantity.title().to_owned()),
        unit: given.unit.clone().unwrap_or_else(|| quantity.unit().to_owned()),
        scale,
    })
}

/// The share of the path's rate below which a second has no throughput.
fn below(source: &Source<'_>, given: &file::Metric, field: &str) -> Result<f64> {
    let Some(share) = &given.below else { return Ok(0.01) };
    if given.of.get_ref() != "zero_time" {
        let problem = format!("`{}` has no such bound", given.of.get_ref());
        return Err(source.wrong(share.span(), field, problem, "no `below`; zero_time has one"));
    }
    let value = *share.get_ref();
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    let allowed = "a share of the path's rate, above 0 and at most 1";
    Err(source.wrong(share.span(), field, format!("it is {value}"), allowed))
}

/// A number from 1 to `most`, as one from 0; `fits`: whether there may be one.
fn numbered(
    source: &Source<'_>,
    given: Option<&Spanned<u32>>,
    field: &str,
    fits: bool,
    unfit: &str,
    most: usize,
) -> Result<Option<usize>> {
    let Some(given) = given else { return Ok(None) };
    let number = usize::try_from(*given.get_ref()).unwrap_or(usize::MAX);
    let name = field.rsplit('.').next().unwrap_or_default();
    if !fits {
        return Err(source.wrong(given.span(), field, unfit, format!("no `{name}`")));
    }
    if number == 0 || number > most {
        return Err(source.wrong(
            given.span(),
            field,
            format!("there is no {name} {number}"),
            format!("1 to {most}"),
        ));
    }
    Ok(Some(number - 1))
}

fn seconds(text: &str) -> Result<f64, String> {
    // 0 needs no unit here.
    if text.trim() == "0" { Ok(0.0) } else { parse_time(text).map(Time::secs_f64) }
}

fn bytes(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { parse_bytes(text) }
}

fn pair<T: PartialOrd>(
    source: &Source<'_>,
    given: &Spanned<Vec<String>>,
    field: &str,
    read: fn(&str) -> Result<T, String>,
) -> Result<(T, T)> {
    let allowed = "two values with units, the smaller one first, such as [\"10 s\", \"70 s\"]";
    let [from, to] = given.get_ref().as_slice() else {
        let problem = format!("there are {} values", given.get_ref().len());
        return Err(source.wrong(given.span(), field, problem, allowed));
    };
    let read = |text: &str| read(text).map_err(|problem| source.wrong(given.span(), field, problem, allowed));
    let (from, to) = (read(from)?, read(to)?);
    if from < to {
        return Ok((from, to));
    }
    Err(source.wrong(given.span(), field, "the second value is not the larger one", allowed))
}

/// A metric by name, or one of the lab's as it is.
pub(super) fn named_metric(
    source: &Source<'_>,
    experiment: &Experiment,
    name: &str,
    place: Range<usize>,
    field: &str,
) -> Result<Metric> {
    if let Some(metric) = experiment.metrics.get(name) {
        return Ok(metric.clone());
    }
    if experiment.is_played()
        && let Some(quantity) = Quantity::named(name)
    {
        return Ok(plain(quantity));
    }
    if !experiment.is_played() && name == FORMULA {
        return Ok(plain(Quantity::named("goodput").expect("the lab has it")));
    }
    let own = experiment.metrics.keys().map(String::as_str);
    let known: Vec<&str> = if experiment.is_played() {
        own.chain(Quantity::names().collect::<Vec<&str>>()).collect()
    } else {
        vec![FORMULA]
    };
    Err(source.wrong(place, field, format!("there is no metric `{name}`"), one_of(name, known.into_iter())))
}

pub(crate) fn plain(quantity: Quantity) -> Metric {
    Metric {
        quantity,
        window: None,
        below: 0.01,
        flow: None,
        whose: Whose::Test,
        window_place: 0..0,
        round: None,
        size: None,
        opened: None,
        left: Vec::new(),
        take: Take::Mean,
        over: Take::Mean,
        title: quantity.title().to_owned(),
        unit: quantity.unit().to_owned(),
        scale: 1.0,
    }
}
