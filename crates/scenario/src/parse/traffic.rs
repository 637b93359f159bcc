//! `[[traffic]]`, and `cross-traffic` of a `[path]`.

use std::collections::BTreeMap;

use rampcc::{Rate, Time, Traits};
use rampcc_path::Capacity;

use crate::document::{Section, Value};
use crate::error::{Result, shortened};
use crate::model::{NamedLink, RoundTrips, Scenario, Sessions, SizeDistribution, Traffic, TrafficKind};
use crate::names::{SizeKind, name};
use crate::parse::flows::{Ends, ends_of, steer};
use crate::parse::topology::{Built, nodes};
use crate::rates::typical_rate;
use crate::schema::{self, SESSIONS_MAX, TrafficTag};
use crate::traces::{Files, lines};
use crate::units;

/// Most pairs of nodes of one traffic generator.
const PAIRS_MAX: usize = 1_000_000;
/// Most `[[traffic]]` tables.
const TRAFFIC_MAX: usize = 1_000;
/// Most flows of a list in a file.
const LISTED_MAX: usize = 5_000_000;

/// The traffic generators of `root`.
pub(crate) fn traffic(
    root: &Section<'_>,
    built: &Built,
    ends: &Ends,
    files: &mut Files,
) -> Result<Vec<Traffic>> {
    let Some(list) = root.get("traffic") else { return Ok(Vec::new()) };
    let elements = list.elements();
    if elements.len() > TRAFFIC_MAX {
        return Err(list
            .error(&format!("the list has {} elements", elements.len()), &format!("at most {TRAFFIC_MAX}")));
    }
    Ok(elements.iter().filter_map(|value| root.file.keep(one_traffic(value, built, ends, files))).collect())
}

/// What `cross-traffic` of a `[path]` asks for.
pub(crate) fn cross_traffic(root: &Section<'_>, scenario: &Scenario) -> Result<Option<Traffic>> {
    let Some(path) = root.get("path") else { return Ok(None) };
    let Some(value) = path.section(&schema::PATH)?.get("cross-traffic") else { return Ok(None) };
    let bottleneck = &scenario.topology.links[scenario.bottleneck];
    let rate = cross_rate(&value, bottleneck)?;
    let nodes = &scenario.topology.nodes;
    let node = |name: &str| nodes.iter().position(|n| n == name);
    let pair = node("sender").zip(node("receiver"));
    Ok(pair.filter(|_| rate > Rate::default()).map(|pair| Traffic {
        name: "cross traffic".to_owned(),
        pairs: vec![pair],
        start: Time::ZERO,
        end: Time::NEVER,
        rtt: None,
        kind: TrafficKind::Cbr { rate, packet_bytes: 1500 },
    }))
}

/// A rate, or a share of the mean rate of `bottleneck`.
fn cross_rate(value: &Value<'_>, bottleneck: &NamedLink) -> Result<Rate> {
    const ALLOWED: &str = "a rate such as \"2 Mbit/s\", or a share of the mean rate such as \"20 %\"";
    let share = value.plain().is_some() || value.is_text() && value.text()?.trim_end().ends_with('%');
    if share {
        let probability = value.probability()?;
        if matches!(bottleneck.config.capacity, Capacity::Unlimited) {
            return Err(value.error("there is no rate to have a share of", "a rate such as \"2 Mbit/s\""));
        }
        let rate = typical_rate(bottleneck).bits_per_s() as f64 * probability;
        return Ok(Rate::from_bits_per_s(rate.round() as u64));
    }
    if !value.is_text() {
        return Err(value.error(&format!("found {}", value.found()), ALLOWED));
    }
    value.rate_or_outage()
}

/// Whether some generator draws flows under test, so that no further flow is assumed.
pub(super) fn tests_something(root: &Section<'_>) -> Result<bool> {
    let list = root.get("traffic");
    for value in list.iter().flat_map(Value::elements) {
        let (kind, s) = value.tagged::<TrafficTag>()?;
        if kind != TrafficTag::Cbr && share(&s) > 0.0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one_traffic(value: &Value<'_>, built: &Built, ends: &Ends, files: &mut Files) -> Result<Traffic> {
    if !value.is_table() {
        return Err(value.error(&format!("found {}", value.found()), "a `[[traffic]]` table with `kind`"));
    }
    let (kind, s) = value.tagged::<TrafficTag>()?;
    let pairs = if built.known { s.file.keep(pairs(&s, built)) } else { None };
    let start = s.of("start");
    let end = s.read("end", |value| {
        let end = value.time()?;
        if end <= start && s.is_sound() {
            let problem = format!("it ends at {end} and starts at {start}");
            Err(value.error(&problem, "a time after `start`"))
        } else {
            Ok(end)
        }
    });
    let rtt = if kind == TrafficTag::Cbr { None } else { s.read("rtt", round_trips) };
    let kind_of_traffic = match kind {
        TrafficTag::Cbr => TrafficKind::Cbr { rate: s.of("rate"), packet_bytes: s.of("packet") },
        _ => tcp_traffic(&s, kind, built, ends, files),
    };
    Ok(Traffic {
        name: shortened(s.maybe("name").unwrap_or(name(kind))),
        pairs: pairs.unwrap_or_default(),
        start,
        end: end.unwrap_or(Time::NEVER),
        rtt,
        kind: kind_of_traffic,
    })
}

fn tcp_traffic(
    s: &Section<'_>,
    kind: TrafficTag,
    built: &Built,
    ends: &Ends,
    files: &mut Files,
) -> TrafficKind {
    let (mut sender, receiver) = ends_of(s, ends);
    match s.get("algorithm") {
        Some(_) => {
            s.read("algorithm", |value| steer(&mut sender, ends, value));
        }
        None => {
            if let Some(plain) = ends.settings.iter().find(|s| s.algorithm.traits.has(Traits::STANDARD)) {
                sender.startup = plain.algorithm;
                sender.parameters = plain.parameters;
            }
        }
    }
    let mss = sender.mss_bytes;
    let under_test_share = share(s);
    let size = |value: &Value<'_>| distribution(value, mss);
    let unknown = SizeDistribution::Constant(1);
    sender.sampled = under_test_share > 0.0;
    let sender = Box::new(sender);
    match kind {
        TrafficTag::Poisson => TrafficKind::Poisson {
            flows_per_s: s.of("flows-per-second"),
            size: s.needed("size", size).unwrap_or(unknown),
            flows: s.of("flows"),
            sender,
            receiver,
            under_test_share,
        },
        TrafficTag::Web => {
            let by_load = s.get("load").is_some();
            let max_bytes = if by_load { 1e6 } else { f64::INFINITY };
            let usual = SizeDistribution::Pareto { mean_bytes: 12_000.0, shape: 1.2, max_bytes };
            let size = s.read("size", size).unwrap_or(usual);
            let (objects, think) = (s.of("objects"), s.of("think"));
            if !by_load {
                s.read("pages", |pages| -> Result<(), _> {
                    Err(pages.error("sessions without `load` never end", "`pages` only together with `load`"))
                });
            }
            let asked = s.read("load", |load| arriving(s, load, size, f64::from(objects), think));
            let sessions = asked.unwrap_or_else(|| Sessions::Constant(s.of("sessions")));
            TrafficKind::Web { sessions, size, objects, think, sender, receiver, under_test_share }
        }
        TrafficTag::Cbr | TrafficTag::Listed => TrafficKind::Listed {
            flows: s.needed("file", |v| listed_flows(v, built, files)).unwrap_or_default().into(),
            sender,
            receiver,
            under_test_share,
        },
    }
}

/// Web sessions that come and go, as `load` asks.
fn arriving(
    s: &Section<'_>,
    load: &Value<'_>,
    size: SizeDistribution,
    objects: f64,
    think: Time,
) -> Result<Sessions> {
    if let Some(sessions) = s.get("sessions") {
        return Err(sessions.error("`load` is given as well", "either `sessions` or `load`"));
    }
    if let (SizeDistribution::Pareto { max_bytes: f64::INFINITY, .. }, Some(size)) = (size, s.get("size")) {
        return Err(size.error("with `load`, the largest size is missing", "`max` in the table"));
    }
    let (rate, pages) = (load.rate()?, s.of::<u32>("pages"));
    let sessions = Sessions::Arriving { load: rate, pages };
    // Each thinks `pages` - 1 times; a second stands for what it transfers.
    let lasts_s = 1.0 + think.secs_f64() * f64::from(pages - 1);
    let at_once = sessions.per_s(objects * size.mean_bytes()) * lasts_s;
    if s.is_sound() && at_once > SESSIONS_MAX as f64 {
        let problem = format!("that takes {at_once:.0} sessions at the same time");
        return Err(load.error(&problem, &format!("a load of at most {SESSIONS_MAX} sessions")));
    }
    Ok(sessions)
}

fn round_trips(value: &Value<'_>) -> Result<RoundTrips> {
    let s = value.section(&schema::RTT)?;
    let max = s.maybe("max").unwrap_or(Time::NEVER);
    let (median, sigma, min) = (s.of("median"), s.of("sigma"), s.of("min"));
    if s.is_sound() && (median < min || median > max) {
        return Err(s.error("median", "it is not between `min` and `max`", "a time between them"));
    }
    Ok(RoundTrips { median, sigma, min, max })
}

fn pairs(s: &Section<'_>, built: &Built) -> Result<Vec<(usize, usize)>> {
    let names = &built.topology.nodes;
    let from = s.read("from", |v| nodes(v, names)).unwrap_or_else(|| built.senders.clone());
    let to = s.read("to", |v| nodes(v, names)).unwrap_or_else(|| built.receivers.clone());
    let both: bool = s.of("both-ways");
    if !s.is_sound() {
        return Ok(Vec::new());
    }
    let ways = 1 + usize::from(both);
    if from.len().saturating_mul(to.len()).saturating_mul(ways) > PAIRS_MAX {
        return Err(s.error("from", "there are too many pairs of nodes", &format!("at most {PAIRS_MAX}")));
    }
    let router = |node: usize| built.router.get(node).copied().unwrap_or(node);
    let mut pairs = Vec::new();
    for &a in &from {
        for &b in to.iter().filter(|&&b| a != b && router(a) != router(b)) {
            pairs.push((a, b));
            if both {
                pairs.push((b, a));
            }
        }
    }
    if pairs.is_empty() {
        return Err(s.error("to", "no pair of different places is left", "nodes other than those of `from`"));
    }
    Ok(pairs)
}

/// The share of its flows that is under test.
fn share(s: &Section<'_>) -> f64 {
    let share = s.read("under-test", |value| {
        if value.is_flag() {
            value.flag().map(|all| if all { 1.0 } else { 0.0 })
        } else {
            value.probability()
        }
    });
    share.unwrap_or(0.0)
}

fn distribution(value: &Value<'_>, mss: u32) -> Result<SizeDistribution> {
    let bytes = |value: &Value<'_>| {
        let text = value.text()?;
        match units::packets(text) {
            Ok(packets) if packets > 0 && packets < 1 << 40 && text.contains(char::is_alphabetic) => {
                Ok(packets * u64::from(mss))
            }
            _ => value.bytes(&(1..=u64::MAX)),
        }
    };
    if !value.is_table() {
        return Ok(SizeDistribution::Exponential { mean_bytes: bytes(value)? as f64 });
    }
    let s = value.section(&schema::SIZE)?;
    let mean = bytes(&s.need("mean")?)?;
    let kind = s.of("kind");
    for (name, problem, allowed) in [
        ("shape", "only pareto has a shape", "`shape` with `kind = \"pareto\"`"),
        ("max", "only pareto has a largest size", "`max` with `kind = \"pareto\"`"),
    ] {
        if let Some(value) = s.get(name)
            && kind != SizeKind::Pareto
            && s.is_sound()
        {
            return Err(value.error(problem, allowed));
        }
    }
    let mean_bytes = mean as f64;
    let max_bytes = match s.get("max") {
        None => f64::INFINITY,
        Some(value) => match bytes(&value)? {
            max if max > mean => max as f64,
            _ => return Err(value.error("it is not above `mean`", "a size above the mean")),
        },
    };
    Ok(match kind {
        SizeKind::Constant => SizeDistribution::Constant(mean),
        SizeKind::Exponential => SizeDistribution::Exponential { mean_bytes },
        SizeKind::Pareto => SizeDistribution::Pareto { mean_bytes, shape: s.of("shape"), max_bytes },
    })
}

/// Start, both ends, bytes.
type Listed = (Time, usize, usize, u64);

fn listed_flows(value: &Value<'_>, built: &Built, files: &mut Files) -> Result<Vec<Listed>> {
    const ALLOWED: &str = "lines `start_s,bytes` or `start_s,bytes,from,to`";
    let text = files.text(value)?;
    let index: BTreeMap<&str, usize> =
        built.topology.nodes.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let mut flows: Vec<Listed> = Vec::new();
    for (number, line) in lines(&text) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if number == 1 && cells[0].starts_with("start") {
            continue;
        }
        let wrong = |what: &str| value.error(&format!("line {number} of the file: {what}"), ALLOWED);
        let start: f64 = cells[0]
            .parse()
            .ok()
            .filter(|s| (0.0..=3.2e7).contains(s))
            .ok_or_else(|| wrong(&format!("`{}` is not a start in seconds", shortened(cells[0]))))?;
        let size: u64 = cells
            .get(1)
            .and_then(|c| c.parse().ok())
            .filter(|b| (1..=1_000_000_000_000_000_000).contains(b))
            .ok_or_else(|| wrong("there is no size in bytes"))?;
        let place = |cell: usize, default: usize| match cells.get(cell) {
            None => Ok(default),
            Some(name) => index
                .get(name)
                .copied()
                .ok_or_else(|| wrong(&format!("there is no node \"{}\"", shortened(name)))),
        };
        let (from, to) = if built.known {
            (place(2, built.senders[0])?, place(3, built.receivers[0])?)
        } else {
            (built.senders[0], built.receivers[0])
        };
        if cells.len() > 4 || from == to {
            return Err(wrong(if cells.len() > 4 {
                "it has more than four cells"
            } else {
                "it ends where it begins"
            }));
        }
        if flows.len() == LISTED_MAX {
            return Err(wrong("there are too many flows"));
        }
        flows.push((Time::from_secs_f64(start), from, to, size));
    }
    if flows.is_empty() {
        return Err(value.error("the file lists no flow", ALLOWED));
    }
    flows.sort_by_key(|f| f.0);
    Ok(flows)
}
