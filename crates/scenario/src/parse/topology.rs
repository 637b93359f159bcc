//! `[path]`, `[dumbbell]`, `[parking-lot]`, and graphs of `[[node]]` and `[[link]]`.

use rampcc::{Rate, Time};
use rampcc_path::{
    Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Propagation, QueueConfig, QuickStartPolicy, Ties,
};

use crate::document::{Section, Value};
use crate::error::{Result, ScenarioError, nearest, shortened};
use crate::model::{NamedLink, Topology};
use crate::parse::links::{Surroundings, delays, link};
use crate::schema;
use crate::traces::Files;
use crate::units::Buffer;

/// Most nodes of a graph.
const NODES_MAX: usize = 5_000;
/// Most links of a graph.
const LINKS_MAX: usize = 20_000;

/// Nodes and links, with what flows assume when they do not say where they go.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) topology: Topology,
    /// Nodes where flows begin by default.
    pub(crate) senders: Vec<usize>,
    /// Nodes where flows end by default.
    pub(crate) receivers: Vec<usize>,
    /// For hosts of a parking lot, their router: traffic within one router is not drawn.
    pub(crate) router: Vec<usize>,
    /// The bottleneck, where the shape tells.
    pub(crate) bottleneck: Option<usize>,
    /// Largest range of a random trace offset.
    pub(crate) trace_offset_range: Time,
    /// Whether nodes are those of the file.
    pub(crate) known: bool,
}

impl Built {
    /// In the place of a topology with mistakes: somewhere to begin, and somewhere to end.
    pub(crate) fn unknown() -> Self {
        let nodes = vec!["sender".to_owned(), "receiver".to_owned()];
        Self {
            topology: Topology { nodes, links: Vec::new() },
            senders: vec![0],
            receivers: vec![1],
            router: Vec::new(),
            bottleneck: None,
            trace_offset_range: Time::ZERO,
            known: false,
        }
    }
}

/// The topology that `root` describes in one of four ways.
pub(crate) fn topology(root: &Section<'_>, files: &mut Files) -> Result<Built> {
    const ALLOWED: &str = "exactly one of `[path]`, `[dumbbell]`, `[parking-lot]` and `[[link]]`";
    let found: Vec<_> =
        ["path", "dumbbell", "parking-lot", "link"].into_iter().filter_map(|name| root.get(name)).collect();
    match found.as_slice() {
        [] => return Err(root.error("path", "there is no topology", ALLOWED)),
        [_] => {}
        [first, second, ..] => {
            let problem = format!("there is `{}` as well", shortened(&first.field));
            return Err(second.error(&problem, ALLOWED));
        }
    }
    if let Some(node) = root.get("node")
        && root.get("link").is_none()
    {
        return Err(node.error("there is no `[[link]]`", "`[[node]]` only with `[[link]]`"));
    }
    let mut build = Build { nodes: Vec::new(), links: Vec::new(), trace_offset_range: Time::ZERO, files };
    let (senders, receivers, router, bottleneck) = if let Some(value) = root.get("path") {
        build.path(&value.section(&schema::PATH)?)?
    } else if let Some(value) = root.get("dumbbell") {
        build.dumbbell(&value.section(&schema::DUMBBELL)?)?
    } else if let Some(value) = root.get("parking-lot") {
        build.parking_lot(&value.section(&schema::PARKING_LOT)?)
    } else {
        build.graph(root)?
    };
    let Build { nodes, links, trace_offset_range, .. } = build;
    Ok(Built {
        topology: Topology { nodes, links },
        senders,
        receivers,
        router,
        bottleneck,
        trace_offset_range,
        known: true,
    })
}

type Shape = (Vec<usize>, Vec<usize>, Vec<usize>, Option<usize>);

struct Build<'f> {
    nodes: Vec<String>,
    links: Vec<NamedLink>,
    trace_offset_range: Time,
    files: &'f mut Files,
}

/// A pair of side links between a host and its router.
#[derive(Clone, Debug)]
struct Access {
    config: LinkConfig,
    delay: Time,
}

/// The two directions of a bottleneck in a shape with a round-trip time.
struct Middle {
    forward: LinkConfig,
    reverse: LinkConfig,
}

impl Build<'_> {
    fn path(&mut self, s: &Section<'_>) -> Result<Shape> {
        let common = s.get("access");
        let side = |name| s.get(name).or(common.clone()).and_then(|v| s.file.keep(access(&v)));
        let (near, far) = (side("sender-access"), side("receiver-access"));
        let middle = self.middle(s, [&near, &far], false)?;
        let sender = self.node("sender");
        let left = if near.is_some() { self.node("left") } else { sender };
        let right = if far.is_some() { self.node("right") } else { self.nodes.len() };
        if far.is_some() {
            let receiver = self.node("receiver");
            self.attach(receiver, right, far.as_ref());
        } else {
            self.node("receiver");
        }
        let receiver = self.nodes.len() - 1;
        if near.is_some() {
            self.attach(sender, left, near.as_ref());
        }
        let bottleneck = self.links.len();
        self.add("bottleneck", left, right, middle.forward);
        self.add("return", right, left, middle.reverse);
        Ok((vec![sender], vec![receiver], Vec::new(), Some(bottleneck)))
    }

    fn dumbbell(&mut self, s: &Section<'_>) -> Result<Shape> {
        let pairs = s.of::<u32>("pairs") as usize;
        let side = s.read("access", access);
        let middle = self.middle(s, [&side, &side], true)?;
        let (left, right) = (self.node("left"), self.node("right"));
        self.add("bottleneck", left, right, middle.forward);
        self.add("return", right, left, middle.reverse);
        let hosts = |build: &mut Self, kind: &str, router: usize| -> Vec<usize> {
            (1..=pairs)
                .map(|i| {
                    let host = build.node(&format!("{kind}-{i}"));
                    build.attach(host, router, side.as_ref());
                    host
                })
                .collect()
        };
        let senders = hosts(self, "sender", left);
        let receivers = hosts(self, "receiver", right);
        Ok((senders, receivers, Vec::new(), Some(0)))
    }

    fn parking_lot(&mut self, s: &Section<'_>) -> Shape {
        let hops = s.of::<u32>("hops") as usize;
        let hosts = s.of::<u32>("hosts") as usize;
        let side = s.read("access", access);
        s.file.keep(s.need("delay"));
        let delay = s.file.keep(delays(s, "delay", "delay-period")).flatten();
        let delay = delay.unwrap_or(Propagation::Constant(Time::ZERO));
        let side_delay = side.as_ref().map_or(Time::ZERO, |a| a.delay);
        let around = 2 * hops as u64 - 1;
        let rest =
            Time::from_ns(delay.smallest().ns().saturating_mul(around) + side_delay.ns().saturating_mul(4));
        let config = link(s, self.around(delay, Some(rest)));
        let routers: Vec<usize> = (0..=hops).map(|r| self.node(&format!("router-{r}"))).collect();
        for pair in routers.windows(2) {
            self.add(&format!("backbone-{}", pair[1]), pair[0], pair[1], config.clone());
            self.add(&format!("backbone-{}-reverse", pair[1]), pair[1], pair[0], config.clone());
        }
        let mut all = Vec::new();
        let mut router = routers.clone();
        for &r in &routers {
            for h in 1..=hosts {
                let host = self.node(&format!("host-{r}-{h}"));
                self.attach(host, r, side.as_ref());
                all.push(host);
                router.push(r);
            }
        }
        // By default flows go all the way: from the first router's hosts to the last one's.
        let (first, last) = (all[..hosts].to_vec(), all[all.len() - hosts..].to_vec());
        (first, last, router, Some(0))
    }

    fn graph(&mut self, root: &Section<'_>) -> Result<Shape> {
        let declared = root.get("node");
        for value in declared.iter().flat_map(Value::elements) {
            let name = value.section(&schema::NODE)?.need("name")?;
            let text = node_name(&name)?;
            if self.nodes.iter().any(|n| n == text) {
                return Err(name.error(&format!("there is a node \"{text}\" already"), "a unique name"));
            }
            if self.nodes.len() == NODES_MAX {
                return Err(name.error("there are too many nodes", &format!("at most {NODES_MAX}")));
            }
            self.nodes.push(text.to_owned());
        }
        let closed = declared.is_some();
        let mut names = std::collections::BTreeSet::new();
        let mut index: std::collections::BTreeMap<String, usize> =
            self.nodes.iter().cloned().enumerate().map(|(i, n)| (n, i)).collect();
        let Some(list) = root.get("link") else { return Ok((vec![], vec![], vec![], None)) };
        let mut last = 0;
        for value in list.elements() {
            let s = value.section(&schema::LINK)?;
            let (from, to) = (s.need("from")?, s.need("to")?);
            let (a, b) = (self.end(&from, closed, &mut index)?, self.end(&to, closed, &mut index)?);
            if a == b {
                return Err(to.error("the link ends where it begins", "another node"));
            }
            if self.links.len() + 2 > LINKS_MAX {
                return Err(value.error("there are too many links", &format!("at most {LINKS_MAX}")));
            }
            let delay = s.file.keep(delays(&s, "delay", "delay-period")).flatten();
            let delay = delay.unwrap_or(Propagation::Constant(Time::ZERO));
            let config = link(&s, self.around(delay, None));
            let given = s.get("name").map(|v| v.text()).transpose()?;
            let name = given.map_or_else(|| format!("{}->{}", self.nodes[a], self.nodes[b]), str::to_owned);
            let back = given.map_or_else(
                || format!("{}->{}", self.nodes[b], self.nodes[a]),
                |name| format!("{name}-reverse"),
            );
            let both: bool = s.of("both-ways");
            last = b;
            for (name, a, b) in [(name, a, b), (back, b, a)].into_iter().take(1 + usize::from(both)) {
                if !names.insert(name.clone()) {
                    let problem = format!("there is a link \"{}\" already", shortened(&name));
                    return Err(value.error(&problem, "a unique `name`; or `both-ways = false`"));
                }
                self.add(&name, a, b, config.clone());
            }
        }
        if self.links.is_empty() {
            return Err(list.error("the list is empty", "at least one link"));
        }
        Ok((vec![self.links[0].from], vec![last], Vec::new(), None))
    }

    fn end(
        &mut self,
        value: &Value<'_>,
        closed: bool,
        index: &mut std::collections::BTreeMap<String, usize>,
    ) -> Result<usize> {
        let name = node_name(value)?;
        if let Some(found) = index.get(name) {
            return Ok(*found);
        }
        if closed {
            return Err(unknown_node(value, name, &self.nodes));
        }
        if self.nodes.len() == NODES_MAX {
            return Err(value.error("there are too many nodes", &format!("at most {NODES_MAX}")));
        }
        let node = self.node(name);
        index.insert(name.to_owned(), node);
        Ok(node)
    }

    /// Both directions of the bottleneck; `mirrored`: the way back has the same queue unless it says otherwise.
    fn middle(&mut self, s: &Section<'_>, sides: [&Option<Access>; 2], mirrored: bool) -> Result<Middle> {
        if s.get("delay-trace").is_none() {
            s.file.keep(s.need("rtt"));
        }
        let rtt = s.file.keep(delays(s, "rtt", "rtt-period")).flatten();
        let rtt = rtt.unwrap_or(Propagation::Constant(Time::ZERO));
        let back = s.inner("reverse", &schema::REVERSE);
        let back_delay = back.as_ref().and_then(|b| b.maybe::<Time>("delay"));
        let around =
            sides.iter().filter_map(|a| a.as_ref()).map(|a| a.delay).fold(Time::ZERO, |sum, d| sum + d);
        let backward = |rtt: Time| back_delay.unwrap_or(Time::from_ns(rtt.ns() / 2));
        let least = rtt.smallest();
        if backward(least) < around || least < backward(least) + around {
            // Where the round-trip time is wrong, the fields of the link are read all the same.
            if !s.is_sound() {
                let rtt = Propagation::Constant(Time::ZERO);
                let forward = link(s, self.around(rtt.clone(), Some(Time::ZERO)));
                if let Some(back) = &back {
                    let mut around = self.around(rtt, Some(Time::ZERO));
                    around.capacity = Some(forward.capacity.clone());
                    link(back, around);
                }
                return Ok(Middle { reverse: forward.clone(), forward });
            }
            let problem = format!("{least} leaves nothing for the bottleneck");
            let allowed = format!(
                "at least {}: the delays of `access` and `reverse` are counted in it",
                Time::from_ns(around.ns() * 2).max(backward(least) + around)
            );
            return Err(s.error("rtt", &problem, &allowed));
        }
        let forward = rtt.map(|rtt| rtt - backward(rtt) - around);
        let reverse = rtt.map(|rtt| backward(rtt) - around);
        let rest = least - forward.smallest();
        let reverse_rest = least - reverse.smallest();
        let forward = link(s, self.around(forward, Some(rest)));
        let capacity = match &forward.capacity {
            constant @ Capacity::Constant(_) => constant.clone(),
            other if mirrored => other.clone(),
            _ => Capacity::Unlimited,
        };
        let reverse = match &back {
            Some(back) => {
                let mut around = self.around(reverse, Some(reverse_rest));
                around.capacity = Some(capacity);
                let mut config = link(back, around);
                if mirrored && back.get("buffer").is_none() && back.get("queue").is_none() {
                    config.queue = forward.queue.clone();
                }
                config
            }
            None => LinkConfig {
                capacity,
                queue: if mirrored {
                    forward.queue.clone()
                } else {
                    QueueConfig::DropTail { limit: Limit::Unlimited }
                },
                delay: DelayConfig { propagation: reverse, jitter: None, reordering: None },
                loss: LossConfig::None,
                ack_filter: None,
                quick_start: QuickStartPolicy::Unaware,
                ties: Ties::default(),
            },
        };
        Ok(Middle { forward, reverse })
    }

    fn around(&mut self, delay: Propagation, rest: Option<Time>) -> Surroundings<'_> {
        Surroundings {
            delay,
            rest,
            capacity: None,
            files: self.files,
            trace_offset_range: &mut self.trace_offset_range,
        }
    }

    fn node(&mut self, name: &str) -> usize {
        self.nodes.push(name.to_owned());
        self.nodes.len() - 1
    }

    fn add(&mut self, name: &str, from: usize, to: usize, config: LinkConfig) {
        self.links.push(NamedLink { name: name.to_owned(), from, to, config });
    }

    fn attach(&mut self, host: usize, router: usize, access: Option<&Access>) {
        let config = access
            .map_or_else(|| plain(Capacity::Unlimited, Time::ZERO, Limit::Unlimited), |a| a.config.clone());
        let (host_name, router_name) = (self.nodes[host].clone(), self.nodes[router].clone());
        self.add(&format!("{host_name}->{router_name}"), host, router, config.clone());
        self.add(&format!("{router_name}->{host_name}"), router, host, config);
    }
}

/// The nodes that `value` stands for: a name, a pattern with `*`, or a list of these.
pub(crate) fn nodes(value: &Value<'_>, names: &[String]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for element in value.elements() {
        let pattern = element.text()?;
        let before = found.len();
        if pattern.contains('*') {
            found.extend((0..names.len()).filter(|&i| matches(pattern, &names[i])));
        } else {
            found.extend(names.iter().position(|n| n == pattern));
        }
        if found.len() == before {
            return Err(unknown_node(&element, pattern, names));
        }
        if found.len() > NODES_MAX {
            return Err(element.error("the list is too long", &format!("at most {NODES_MAX} nodes")));
        }
    }
    if found.is_empty() {
        return Err(value.error("the list is empty", "at least one node"));
    }
    Ok(found)
}

fn matches(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn unknown_node(value: &Value<'_>, name: &str, names: &[String]) -> ScenarioError {
    let found = shortened(name);
    let near = nearest(name, names.iter().map(String::as_str)).map(|n| format!("; did you mean \"{n}\"?"));
    let listed: Vec<String> = names.iter().take(12).map(|n| format!("\"{}\"", shortened(n))).collect();
    let more = if names.len() > 12 { format!(" and {} more", names.len() - 12) } else { String::new() };
    value.error(
        &format!("there is no node \"{found}\"{}", near.unwrap_or_default()),
        &format!("{}{more}", listed.join(", ")),
    )
}

fn node_name<'a>(value: &Value<'a>) -> Result<&'a str> {
    const ALLOWED: &str = "1 to 64 characters without `*`";
    let name = value.text()?;
    if name.is_empty() || name.len() > 64 || name.contains('*') || name.chars().any(char::is_control) {
        return Err(value.error(&format!("found {}", value.found()), ALLOWED));
    }
    Ok(name)
}

fn access(value: &Value<'_>) -> Result<Access> {
    if !value.is_table() {
        let config = plain(Capacity::Constant(value.rate()?), Time::ZERO, Limit::Unlimited);
        return Ok(Access { config, delay: Time::ZERO });
    }
    let s = value.section(&schema::ACCESS)?;
    let (rate, delay): (Rate, Time) = (s.of("rate"), s.of("delay"));
    let limit = match s.get("buffer") {
        None => Limit::Unlimited,
        Some(value) => match value.buffer()? {
            Buffer::Unlimited => Limit::Unlimited,
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Time(span) => Limit::Bytes(rate.bytes_in(span).max(1500)),
            Buffer::Bdp(_) => {
                return Err(
                    value.error("a side link has no bdp of its own", "bytes, packets, time or \"unlimited\"")
                );
            }
        },
    };
    Ok(Access { config: plain(Capacity::Constant(rate), delay, limit), delay })
}

fn plain(capacity: Capacity, delay: Time, limit: Limit) -> LinkConfig {
    LinkConfig {
        capacity,
        queue: QueueConfig::DropTail { limit },
        delay: DelayConfig { propagation: Propagation::Constant(delay), jitter: None, reordering: None },
        loss: LossConfig::None,
        ack_filter: None,
        quick_start: QuickStartPolicy::Unaware,
        ties: Ties::default(),
    }
}
