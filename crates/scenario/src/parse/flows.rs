//! `[[flow]]`.

use rampcc::Time;
use rampcc_tcp::{Avoidance, ReceiverConfig, SenderConfig};

use crate::document::{Section, Value};
use crate::error::{Result, shortened};
use crate::model::{FlowConfig, Source, Steering};
use crate::parse::ends;
use crate::parse::topology::{Built, nodes};
use crate::parse::traffic::tests_something;
use crate::schema::{self, FLOWS_MAX};
use crate::units;

/// How ends behave unless a flow says otherwise.
pub(crate) struct Ends {
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    pub(crate) settings: Vec<Steering>,
}

/// The flows of `root`; one flow under test if it lists none and draws none.
pub(crate) fn flows(root: &Section<'_>, built: &Built, ends: &Ends) -> Result<Vec<FlowConfig>> {
    let size = root.get("size");
    let Some(list) = root.get("flow") else {
        if root.get("traffic").is_some() && size.is_none() && tests_something(root)? {
            return Ok(Vec::new());
        }
        let source = root.read("size", source).unwrap_or(Source::Bulk);
        if built.senders[0] == built.receivers[0] {
            let problem = "the first link begins where the last one ends, so no flow is assumed";
            return Err(root.error("flow", problem, "a `[[flow]]` with `from` and `to`"));
        }
        return Ok(vec![FlowConfig {
            name: "flow-1".to_owned(),
            from: built.senders[0],
            to: built.receivers[0],
            start: Time::ZERO,
            start_jitter: Time::ZERO,
            source,
            sender: SenderConfig { sampled: true, ..ends.sender.clone() },
            receiver: ends.receiver,
            under_test: true,
        }]);
    };
    if let Some(size) = size {
        return Err(size.error("flows are listed as well", "`size`, or `responses.size`, in each `[[flow]]`"));
    }
    let mut flows = Vec::new();
    for value in list.elements() {
        root.file.keep(flow(&value, built, ends, &mut flows));
    }
    if flows.is_empty() && root.get("traffic").is_none() && root.is_sound() {
        return Err(list.error("the list is empty", "at least one flow"));
    }
    Ok(flows)
}

fn flow(value: &Value<'_>, built: &Built, ends: &Ends, flows: &mut Vec<FlowConfig>) -> Result {
    let s = value.section(&schema::FLOW)?;
    let names = &built.topology.nodes;
    let place = |name, default: &[usize]| {
        let given = if built.known { s.read(name, |v| nodes(v, names)) } else { None };
        given.unwrap_or_else(|| default.to_vec())
    };
    let from = place("from", &built.senders[..1]);
    let to = place("to", &built.receivers[..1]);
    let kinds = ["size", "chunks", "responses"];
    let mut given = kinds.into_iter().filter_map(|name| Some((name, s.get(name)?)));
    if let (Some((one, _)), Some((_, other))) = (given.next(), given.next()) {
        return Err(
            other.error(&format!("`{one}` is given as well"), "one of `size`, `chunks` and `responses`")
        );
    }
    let sized = s.read("size", source);
    let written = s.read("chunks", chunks).or(s.read("responses", responses));
    let source = written.or(sized).unwrap_or(Source::Bulk);
    let (mut sender, receiver) = ends_of(&s, ends);
    sender.sampled = s.of("sampled");
    let under_test = s.get("algorithm").is_none();
    s.read("algorithm", |value| steer(&mut sender, ends, value));
    let count = s.of::<u32>("count") as usize;
    if flows.len() + count > FLOWS_MAX as usize {
        return Err(value.error("there are too many flows", &format!("at most {FLOWS_MAX}")));
    }
    let name = s.maybe("name").map(shortened);
    let (start, start_jitter) = (s.of("start"), s.of("start-jitter"));
    if !s.is_sound() {
        return Ok(());
    }
    for i in 0..count {
        let (from, to) = (from[i % from.len()], to[i % to.len()]);
        if from == to {
            let problem = format!("the flow ends where it begins, at \"{}\"", names[from]);
            return Err(value.error(&problem, "different nodes `from` and `to`"));
        }
        let name = match &name {
            Some(name) if count == 1 => name.clone(),
            Some(name) => format!("{name}-{}", i + 1),
            None => format!("flow-{}", flows.len() + 1),
        };
        let (sender, source) = (sender.clone(), source);
        flows.push(FlowConfig { name, from, to, start, start_jitter, source, sender, receiver, under_test });
    }
    Ok(())
}

fn chunks(value: &Value<'_>) -> Result<Source> {
    let c = value.section(&schema::CHUNKS)?;
    Ok(Source::Chunks { chunk_bytes: c.of("size"), interval: c.of("interval"), chunks: c.of("count") })
}

/// Responses over one connection.
fn responses(value: &Value<'_>) -> Result<Source> {
    let r = value.section(&schema::RESPONSES)?;
    Ok(Source::Responses {
        first_bytes: r.of("first-flight"),
        response_bytes: r.of("size"),
        think: r.of("think"),
        responses: r.of("count"),
    })
}

pub(super) fn ends_of(s: &Section<'_>, ends: &Ends) -> (SenderConfig, ReceiverConfig) {
    let (mut sender, mut receiver) = (ends.sender.clone(), ends.receiver);
    ends::sender(s.inner("sender", &schema::SENDER).as_ref(), &mut sender);
    ends::receiver(s.inner("receiver", &schema::RECEIVER).as_ref(), &mut receiver);
    if let Some(avoidance) = s.maybe::<Avoidance>("congestion-control") {
        (sender.avoidance, sender.own_avoidance) = (avoidance, false);
    }
    ends::acquaint(&mut sender, &receiver);
    (sender, receiver)
}

pub(super) fn steer(sender: &mut SenderConfig, ends: &Ends, value: &Value<'_>) -> Result {
    let algorithm = ends::algorithm(value)?;
    sender.startup = algorithm;
    sender.parameters = ends
        .settings
        .iter()
        .find(|s| s.algorithm.id == algorithm.id)
        .map_or_else(|| algorithm.default_parameters(), |s| s.parameters);
    Ok(())
}

fn source(value: &Value<'_>) -> Result<Source> {
    if value.is("bulk") {
        return Ok(Source::Bulk);
    }
    if !value.is_text() {
        return Err(
            value.error(&format!("found {}", value.found()), &format!("{}; or \"bulk\"", units::BYTES))
        );
    }
    value.bytes(&(1..=u64::MAX)).map(Source::Sized)
}
