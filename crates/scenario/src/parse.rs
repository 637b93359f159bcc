//! From TOML to a checked scenario.

pub(crate) mod ends;
mod flows;
mod impairments;
mod links;
mod topology;
mod traffic;
pub(crate) mod uncertain;

use std::path::Path;

use rampcc::{Time, Traits, algorithms};
use rampcc_tcp::{ReceiverConfig, SenderConfig};
use toml::de::DeTable;

use crate::cpu;
use crate::document::Section;
use crate::error::{File, Result};
use crate::history;
use crate::model::{FlowConfig, Original, Scenario, Source, Stop, Traffic, TrafficKind};
use crate::names::Stopping;
use crate::parse::flows::Ends;
use crate::parse::topology::Built;
use crate::rates::typical_rate;
use crate::schema;
use crate::traces::{Files, SCENARIO_MAX, Traces};

/// What a scenario is made from.
pub(crate) struct Given<'a> {
    /// See [`Scenario::parse`].
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// What a user wrote, where `text` is that with changes: messages name its lines.
    pub(crate) written: Option<&'a str>,
    pub(crate) directory: Option<&'a Path>,
    /// What these hold is not read again.
    pub(crate) traces: Traces,
}

impl Scenario {
    /// A scenario from TOML text. Files it names are looked for in `directory`.
    ///
    /// `name` stands in messages, and for the scenario's name if the text gives none; a path is cut to its stem.
    pub fn parse(name: &str, text: &str, directory: Option<&Path>) -> Result<Self> {
        Self::parse_text(&Given { name, text, written: None, directory, traces: Traces::default() })
    }

    pub(crate) fn parse_text(given: &Given<'_>) -> Result<Self> {
        let Given { name, text, written, directory, traces } = given;
        let mut file = File::new(name, text);
        if let Some(written) = written {
            file = file.changed_from(written);
        }
        if text.len() as u64 > SCENARIO_MAX {
            let allowed = format!("at most {} MiB", SCENARIO_MAX >> 20);
            return Err(file.error(0..0, "syntax", "the file is too large", &allowed));
        }
        let table = DeTable::parse(text).map_err(|e| {
            file.error(
                e.span().unwrap_or(0..0),
                "syntax",
                e.message(),
                "TOML: `field = value` lines and `[table]` headers",
            )
        })?;
        let mut files = Files::new(*directory, traces);
        let scenario = file.keep(scenario(&Section::root(&file, &table, &schema::ROOT), name, &mut files));
        match (file.mistakes(), scenario.flatten()) {
            (None, Some(scenario)) => Ok(scenario),
            (Some(mistakes), _) => Err(mistakes),
            (None, None) => unreachable!("a scenario is left out for a mistake only"),
        }
    }
}

/// `None`: there are mistakes, and the file keeps them.
fn scenario(root: &Section<'_>, name: &str, files: &mut Files) -> Result<Option<Scenario>> {
    let profile = root.of("profile");
    let settings = ends::settings(profile, root.get("algorithm").as_ref());
    let steering = *settings
        .iter()
        .find(|s| s.algorithm.traits.has(Traits::OF_CUBIC))
        .or(settings.first())
        .expect("the registry is not empty");
    let mut sender = SenderConfig::new(profile, &algorithms()[0]);
    sender.startup = steering.algorithm;
    sender.parameters = steering.parameters;
    let mut receiver = ReceiverConfig::new(profile);
    ends::sender(root.inner("sender", &schema::SENDER).as_ref(), &mut sender);
    ends::receiver(root.inner("receiver", &schema::RECEIVER).as_ref(), &mut receiver);
    ends::acquaint(&mut sender, &receiver);
    // Where there is no topology, flows are read all the same, for their own mistakes.
    let built = root.file.keep(topology::topology(root, files)).unwrap_or_else(Built::unknown);
    let ends = Ends { sender, receiver, settings };
    let flows = root.file.keep(flows::flows(root, &built, &ends)).unwrap_or_default();
    let traffic = root.file.keep(traffic::traffic(root, &built, &ends, files)).unwrap_or_default();
    let stop = stop(root, &flows, &traffic);
    let uncertain = root.file.keep(uncertain::uncertain(root)).flatten();
    let stem = Path::new(name).file_stem().and_then(|s| s.to_str()).unwrap_or(name);
    let mut scenario = Scenario {
        name: crate::error::shortened(root.maybe("name").unwrap_or(stem)),
        description: root.of::<&str>("description").split_whitespace().collect::<Vec<_>>().join(" "),
        text: root.file.text.to_owned(),
        profile,
        bottleneck: built.bottleneck.unwrap_or(0),
        topology: built.topology,
        flows,
        traffic,
        stop,
        runs: root.of("runs"),
        seed: root.of("seed"),
        steering,
        settings: ends.settings,
        cpu: cpu::cpu(root),
        history: history::history(root),
        trace_offset_range: built.trace_offset_range,
        files: std::mem::take(&mut files.read),
        directory: files.directory.clone(),
        uncertain: Vec::new(),
        original: Original { label: name.to_owned(), text: None, traces: files.traces.clone() },
    };
    if !root.is_sound() {
        return Ok(None);
    }
    check_routes(root, &scenario)?;
    scenario.bottleneck = bottleneck(root, &scenario, built.bottleneck)?;
    history::check(root, &scenario)?;
    scenario.traffic.extend(traffic::cross_traffic(root, &scenario)?);
    scenario.uncertain = match uncertain {
        Some(stated) => stated,
        None => uncertain::left_open(root, &scenario)?,
    };
    Ok(Some(scenario))
}

fn stop(root: &Section<'_>, flows: &[FlowConfig], traffic: &[Traffic]) -> Stop {
    let endless = |source: &Source| match source {
        Source::Bulk => true,
        Source::Sized(_) => false,
        Source::Chunks { chunks, .. } => *chunks == 0,
        Source::Responses { responses, .. } => *responses == 0,
    };
    let mut sources = flows.iter().filter(|f| f.under_test).map(|f| &f.source).peekable();
    let drawn = traffic.iter().any(|t| match t.kind {
        TrafficKind::Cbr { .. } => false,
        TrafficKind::Poisson { under_test_share, flows, .. } => under_test_share > 0.0 && flows > 0,
        TrafficKind::Web { .. } => false,
        TrafficKind::Listed { under_test_share, .. } => under_test_share > 0.0,
    });
    let ends = (sources.peek().is_some() || drawn) && !sources.any(endless);
    let stop = root.read("stop", |value| {
        let complete = value.one_of::<Stopping>()? == Stopping::Complete;
        if complete && !ends && root.is_sound() {
            return Err(
                value.error("no flow under test ends by itself", "\"duration\", or flows with a size")
            );
        }
        Ok(complete)
    });
    let when_complete = stop.unwrap_or(ends);
    let default = Time::from_secs(if when_complete { 600 } else { 60 });
    Stop { after: root.maybe("duration").unwrap_or(default), when_complete }
}

/// Every flow and every pair must have a way there and a way back.
fn check_routes(root: &Section<'_>, scenario: &Scenario) -> Result {
    let name = |node: usize| crate::error::shortened(&scenario.topology.nodes[node]);
    let mut reached: Vec<Option<Vec<bool>>> = vec![None; scenario.topology.nodes.len()];
    let explicit = scenario.flows.iter().map(|f| ("flow", f.from, f.to));
    let drawn = scenario.traffic.iter().flat_map(|t| t.pairs.iter().map(|p| ("traffic", p.0, p.1)));
    let listed = scenario.traffic.iter().flat_map(|t| match &t.kind {
        TrafficKind::Listed { flows, .. } => &flows[..],
        _ => &[],
    });
    let listed = listed.map(|f| ("traffic", f.1, f.2));
    for (table, from, to) in explicit.chain(drawn).chain(listed) {
        for (a, b) in [(from, to), (to, from)] {
            let way = reached[a]
                .get_or_insert_with(|| scenario.shortest_paths(a).iter().map(Option::is_some).collect());
            if !way[b] {
                let problem = format!("there is no way from \"{}\" to \"{}\"", name(a), name(b));
                return Err(match root.get(table) {
                    Some(value) => value.error(&problem, "nodes joined by links, there and back"),
                    None => root.error("link", &problem, "links that join them, there and back"),
                });
            }
        }
    }
    Ok(())
}

fn bottleneck(root: &Section<'_>, scenario: &Scenario, built: Option<usize>) -> Result<usize> {
    let links = &scenario.topology.links;
    if let Some(value) = root.get("bottleneck") {
        let text = value.text()?;
        return links.iter().position(|l| l.name == text).ok_or_else(|| {
            let near = crate::error::nearest(text, links.iter().map(|l| l.name.as_str()));
            let near = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            let allowed = crate::error::listed(links.iter().take(20).map(|l| l.name.as_str()));
            value.error(&format!("there is no link {}{near}", value.found()), &allowed)
        });
    }
    if let Some(built) = built {
        return Ok(built);
    }
    let tested =
        scenario.flows.iter().find(|f| f.under_test).or(scenario.flows.first()).map(|f| (f.from, f.to));
    let pair = tested.or_else(|| scenario.traffic.iter().find_map(|t| t.pairs.first().copied()));
    let route = pair.and_then(|(from, to)| scenario.route(from, to)).unwrap_or_default();
    Ok(route.into_iter().min_by_key(|&l| typical_rate(&links[l])).unwrap_or(0))
}
