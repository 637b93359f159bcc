//! `[uncertain]`, and what a `[path]` without it leaves open.

use rampcc::{Rate, Time};
use rampcc_path::Capacity;

use crate::document::{Section, Value};
use crate::error::Result;
use crate::model::Scenario;
use crate::names::Scale;
use crate::rates::typical_rate;
use crate::schema;
use crate::settings;
use crate::uncertain::{RANGE, Range, Uncertain, Values, twice};

/// Most fields that may be uncertain.
const FIELDS_MAX: usize = 32;
/// Most values of a choice.
const VALUES_MAX: usize = 64;

/// What the table may look like.
const TABLE: &str = "fields in quotes: `\"path.buffer\" = \"0.25 to 4 bdp\"`";

/// Top-level fields that are not part of the path.
pub(crate) const PATHLESS: [&str; 9] =
    ["name", "description", "runs", "seed", "duration", "stop", "bottleneck", "algorithm", "uncertain"];

/// What the file says that it does not know; `None`: it says nothing.
pub(crate) fn uncertain(root: &Section<'_>) -> Result<Option<Vec<Uncertain>>> {
    let Some(table) = root.get("uncertain") else { return Ok(None) };
    let entries = table.entries(TABLE)?;
    if entries.len() > FIELDS_MAX {
        let problem = format!("there are {} fields", entries.len());
        return Err(table.error(&problem, &format!("at most {FIELDS_MAX} fields")));
    }
    let mut found: Vec<Uncertain> = Vec::new();
    for (name, _, value) in entries {
        if let Some(one) = root.file.keep(checked(name, &value, &found)) {
            found.push(one);
        }
    }
    Ok(Some(found))
}

/// One entry checked against those before it.
fn checked(name: &str, value: &Value<'_>, before: &[Uncertain]) -> Result<Uncertain> {
    let first = name.split('.').next().unwrap_or_default();
    if schema::ROOT.entry(first).is_none() || !settings::is_field(name) {
        return Err(value.error("there is no such field", TABLE));
    }
    let pathless = !value.is_text() && !value.is_table();
    if pathless || PATHLESS.contains(&first) {
        let problem = if pathless {
            format!("found {}", value.found())
        } else {
            "it is not part of the path".to_owned()
        };
        return Err(value.error(&problem, RANGE));
    }
    if let Some(other) = before.iter().find(|known| known.overlaps(name)) {
        let problem = format!("`{}` is uncertain as well, and one holds the other", other.field);
        return Err(value.error(&problem, "one of the two"));
    }
    one(name, value)
}

fn one(name: &str, value: &Value<'_>) -> Result<Uncertain> {
    let field = name.to_owned();
    if value.is_text() {
        let values = Values::Range(range(value, None)?);
        return Ok(Uncertain { field, values, reason: String::new(), assumed: false, option: None });
    }
    let says = |key: &&str| ["range", "values"].contains(key);
    if !name.contains('.') && !value.entries(TABLE)?.iter().any(|(key, ..)| says(key)) {
        let problem = "there is neither `range` nor `values`; a field with dots stands in quotes";
        return Err(value.error(problem, "`\"path.buffer\" = \"0.25 to 4 bdp\"`"));
    }
    let s = value.section(&schema::UNCERTAIN)?;
    let scale = s.get("scale");
    let logarithmic =
        scale.as_ref().map(Value::one_of::<Scale>).transpose()?.map(|found| found == Scale::Log);
    let values = match (s.get("range"), s.get("values")) {
        (Some(given), None) => Values::Range(range(&given, logarithmic)?),
        (None, Some(given)) => {
            if let Some(scale) = scale {
                return Err(scale.error("a list of values has no scale", "`scale` together with `range`"));
            }
            Values::Choice(choice(&given)?)
        }
        (Some(_), Some(given)) => {
            return Err(given.error("there is a `range` as well", "either `range` or `values`"));
        }
        (None, None) => return Err(s.error("range", "it is missing", RANGE)),
    };
    let reason = s.of::<&str>("reason").split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Uncertain { field, values, reason, assumed: s.of("assumed"), option: None })
}

fn range(value: &Value<'_>, logarithmic: Option<bool>) -> Result<Range> {
    let text = value.text()?;
    Range::parse(text, logarithmic)
        .map_err(|wrong| value.error(&format!("found {}: {wrong}", value.found()), RANGE))
}

fn choice(value: &Value<'_>) -> Result<Vec<String>> {
    let elements = if value.is_list() { value.elements() } else { Vec::new() };
    if !(2..=VALUES_MAX).contains(&elements.len()) {
        return Err(value.error(
            &format!(
                "found {}",
                if value.is_list() { format!("{} values", elements.len()) } else { value.found() }
            ),
            &format!("a list of 2 to {VALUES_MAX} values"),
        ));
    }
    let text = |v: &Value<'_>| v.file.text.get(v.span.clone()).unwrap_or_default().trim().to_owned();
    let texts: Vec<String> = elements.iter().map(text).collect();
    match twice(&texts) {
        Some(index) => Err(elements[index]
            .error(&format!("found {}: it is there twice", elements[index].found()), "each value once")),
        None => Ok(texts),
    }
}

/// What a `[path]` that says nothing of what it does not know leaves open: fields that it does not set.
pub(crate) fn left_open(root: &Section<'_>, scenario: &Scenario) -> Result<Vec<Uncertain>> {
    let Some(path) = root.get("path") else { return Ok(Vec::new()) };
    let path = path.section(&schema::PATH)?;
    let reverse = path.get("reverse").map(|v| v.section(&schema::REVERSE)).transpose()?;
    let back = |name| reverse.as_ref().is_some_and(|r| r.get(name).is_some());
    let rtt = scenario.facts(0).base_rtt;
    let capacity = &scenario.topology.links[scenario.bottleneck].config.capacity;
    let rate = typical_rate(&scenario.topology.links[scenario.bottleneck]);
    let mut found = Vec::new();
    let mut open = |field: &str, range: String, reason: &str| {
        let values = Range::parse(&range, None).map(Values::Range);
        found.extend(values.map(|values| Uncertain {
            field: field.to_owned(),
            values,
            reason: format!("Not stated. {reason}"),
            assumed: true,
            option: None,
        }));
    };
    let limited = !matches!(capacity, Capacity::Unlimited);
    if path.get("buffer").is_none() && limited {
        open(
            "path.buffer",
            "0.25 to 4 bdp".to_owned(),
            "Policers and backbone routers hold a fraction, access links several BDP.",
        );
    }
    if !back("rate") && !back("trace") && limited {
        let range = format!("{} to {}", short_rate(rate.bits_per_s() / 50), short_rate(rate.bits_per_s()));
        open(
            "path.reverse.rate",
            range,
            "Return links of DSL, cable and satellites are up to 50 times slower.",
        );
    }
    let tenth = Time::from_ns(rtt.ns() / 10);
    if tenth >= Time::from_us(1) {
        let range = format!("0 to {}", short_time(tenth));
        if path.get("jitter").is_none() {
            open(
                "path.jitter",
                range.clone(),
                "Radio schedulers, shared media and busy hosts delay packets.",
            );
        }
        if !back("jitter") {
            open("path.reverse.jitter", range, "The same for ACKs, which wait for grants, too.");
        }
        if !back("ack-filter") {
            let range = format!("0 to {}", short_time(tenth.min(Time::from_ms(5))));
            open("path.reverse.ack-filter", range, "Wi-Fi and cable modems send ACKs in aggregates.");
        }
    }
    if path.get("cross-traffic").is_none() && limited && root.get("traffic").is_none() {
        open("path.cross-traffic", "0 to 30 %".to_owned(), "Few bottlenecks are idle.");
    }
    if path.get("loss").is_none() {
        open("path.loss", "0 to 0.01 %".to_owned(), "Few media are free of errors.");
    }
    // As a table of a file has them.
    found.sort_by(|a, b| a.field.cmp(&b.field));
    Ok(found)
}

/// Two digits and the unit that keeps them short.
fn short_rate(bits_per_s: u64) -> String {
    let units = [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
    short(Rate::from_bits_per_s(bits_per_s.max(1)).bits_per_s(), &units)
}

fn short_time(time: Time) -> String {
    short(time.ns(), &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
}

fn short(value: u64, units: &[(u64, &str)]) -> String {
    let (scale, unit) =
        units.iter().find(|(scale, _)| value >= *scale).or(units.last()).copied().unwrap_or((1, ""));
    let rounded: f64 = format!("{:.1e}", value as f64 / scale as f64).parse().unwrap_or_default();
    format!("{rounded} {unit}")
}
