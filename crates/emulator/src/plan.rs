//! Placement of a scenario: hosts at the two ends, routes between addresses, and the parts that cannot be played.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rampcc::{Rate, Time};
use rampcc_path::Capacity;
use rampcc_scenario::{PathFacts, Scenario, TrafficKind};
use rampcc_tcp::{ReceiveWindow, ReceiverConfig, SenderConfig};

use crate::options::Options;

/// Fastest path that the emulator is rated to: measured on two cores of 2026, with real-time priority.
pub const RATED: Rate = Rate::from_bits_per_s(400_000_000);
/// A shorter round trip than this leaves no room for the lateness of a sleeping thread.
pub const SHORTEST_RTT: Time = Time::from_ms(2);
/// Hosts at each end.
const HOSTS_MAX: usize = 64;
/// Headers of IPv4 and TCP without options.
const PLAIN_HEADERS: u32 = 40;
/// The same with time stamps, as Linux sends them.
const STAMPED_HEADERS: u32 = 52;
/// Packets of a TUN device.
const MTU: (u32, u32) = (128, 65_521);
/// Smallest packet that every link has to carry (RFC 8200, section 5).
const MTU_V6: u32 = 1280;

/// One of the two network namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// End of the first flow's sender.
    Sender,
    /// End of its receiver.
    Receiver,
}

impl End {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// IPv4: senders in 10.77.0.0/17, receivers in 10.77.128.0/17.
    #[default]
    V4,
    /// IPv6: senders in `fd77::/113`, receivers in `fd77::8000/113`. Packets are as large as those of IPv4: each has 20 bytes less of payload.
    V6,
}

impl Family {
    pub(crate) fn address(self, end: End, number: u16) -> IpAddr {
        let host = number | if end == End::Receiver { 0x8000 } else { 0 };
        let [high, low] = host.to_be_bytes();
        match self {
            Self::V4 => Ipv4Addr::new(10, 77, high, low).into(),
            Self::V6 => Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, host).into(),
        }
    }

    /// Of the network of both ends, bits.
    pub(crate) const fn prefix(self) -> u8 {
        match self {
            Self::V4 => 16,
            Self::V6 => 112,
        }
    }
}

/// A node of the scenario that sends or receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Index into the scenario's nodes.
    pub node: usize,
    /// In which namespace.
    pub end: End,
    /// Its address there.
    pub address: IpAddr,
}

/// Socket buffers of both namespaces, bytes as `tcp_rmem` and `tcp_wmem` count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Receive buffer of a new socket.
    pub receive_initial: u64,
    /// Largest size that it may grow to.
    pub receive_max: u64,
    /// Largest size of a send buffer.
    pub send_max: u64,
    /// The receive window that the first flow asks for; sockets of [`crate::Download`] are held to it.
    pub window: Option<u64>,
}

/// Part of a scenario that the emulator cannot play.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Unsupported {
    #[error("the scenario has no flow; real hosts need to know who sends to whom")]
    NoFlow,
    #[error("generated traffic `{name}`: real hosts can have listed flows and web sessions alone")]
    Traffic { name: String },
    #[error("node `{node}` would have to be at both ends: the flows between its neighbours form an odd ring")]
    BothEnds { node: String },
    #[error("{hosts} hosts at one end; the emulator has room for {HOSTS_MAX}")]
    Hosts { hosts: usize },
    #[error("there is no way from `{from}` to `{to}`")]
    NoRoute { from: String, to: String },
    #[error(
        "flow `{flow}`: its slowest link, `{link}`, serves {rate}; the emulator is rated to {RATED}, \
         and the simulator (sim) to no rate"
    )]
    Fast { flow: String, link: String, rate: Rate },
    #[error(
        "flow `{flow}`: a round trip of {rtt} is too short; below {SHORTEST_RTT} the emulator's lateness would count"
    )]
    Short { flow: String, rtt: Time },
    #[error(
        "flow `{flow}`: `headers` of {header_bytes} bytes; the kernel sends {PLAIN_HEADERS} at least \
         ({STAMPED_HEADERS} with time stamps)"
    )]
    Headers { flow: String, header_bytes: u32 },
    #[error("flow `{flow}`: packets of {bytes} bytes; a TUN device takes {} to {}", MTU.0, MTU.1)]
    PacketSize { flow: String, bytes: u32 },
    #[error("flow `{flow}`: packets of {bytes} bytes; IPv6 needs {MTU_V6} at least")]
    SmallForIpv6 { flow: String, bytes: u32 },
    #[error("flow `{flow}` has another `mss` or `headers` than `{first}`; both share one device")]
    MixedSizes { flow: String, first: String },
}

/// Checks that the emulator can play `scenario`; the error names what it cannot play.
///
/// What the hosts do (windows, timers, acknowledgements) is not asked here: that belongs to the code that runs them.
pub fn check(scenario: &Scenario, family: Family) -> Result<(), Unsupported> {
    Plan::new(scenario, &Options { family, ..Options::default() }).map(|_| ())
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) hosts: Vec<Host>,
    /// Links of the route between each pair of hosts that a flow joins, both directions.
    pub(crate) routes: BTreeMap<(IpAddr, IpAddr), Vec<usize>>,
    /// Largest IP packet.
    pub(crate) mtu: u32,
    /// What links count on top of the IP packet.
    pub(crate) overhead: u32,
    pub(crate) time_stamps: bool,
    pub(crate) buffers: Buffers,
    /// Shortest round trip of all flows, queues empty.
    pub(crate) base_rtt: Time,
}

impl Plan {
    pub(crate) fn new(scenario: &Scenario, options: &Options) -> Result<Self, Unsupported> {
        let exchanges = exchanges(scenario)?;
        let first = exchanges.first().ok_or(Unsupported::NoFlow)?;
        let (overhead, time_stamps) = headers(first)?;
        let mtu = first.sender.mss_bytes + first.sender.header_bytes - overhead;
        if mtu < MTU.0 || mtu > MTU.1 {
            return Err(Unsupported::PacketSize { flow: first.name.to_owned(), bytes: mtu });
        }
        if options.family == Family::V6 && mtu < MTU_V6 {
            return Err(Unsupported::SmallForIpv6 { flow: first.name.to_owned(), bytes: mtu });
        }
        let sizes = |sender: &SenderConfig| (sender.mss_bytes, sender.header_bytes);
        if let Some(other) = exchanges.iter().find(|other| sizes(other.sender) != sizes(first.sender)) {
            let (flow, first) = (other.name.to_owned(), first.name.to_owned());
            return Err(Unsupported::MixedSizes { flow, first });
        }
        let hosts = hosts(scenario, &exchanges, options.family)?;
        let routes = routes(scenario, &exchanges, &hosts)?;
        let mut base_rtt = Time::NEVER;
        for exchange in &exchanges {
            let rtt = exchange.facts(scenario).base_rtt;
            if rtt < SHORTEST_RTT {
                return Err(Unsupported::Short { flow: exchange.name.to_owned(), rtt });
            }
            base_rtt = base_rtt.min(rtt);
            if !options.beyond_rating {
                check_rate(scenario, exchange)?;
            }
        }
        let buffers = buffers(scenario, &exchanges);
        Ok(Self { hosts, routes, mtu, overhead, time_stamps, buffers, base_rtt })
    }

    pub(crate) fn addresses(&self, end: End) -> impl Iterator<Item = IpAddr> {
        self.hosts.iter().filter(move |host| host.end == end).map(|host| host.address)
    }

    pub(crate) fn host(&self, node: usize) -> Option<&Host> {
        self.hosts.iter().find(|host| host.node == node)
    }
}

/// Two hosts of which one sends to the other: a listed flow, or a pair of web sessions.
struct Exchange<'s> {
    name: &'s str,
    from: usize,
    to: usize,
    sender: &'s SenderConfig,
    receiver: &'s ReceiverConfig,
}

impl Exchange<'_> {
    fn facts(&self, scenario: &Scenario) -> PathFacts {
        scenario.facts_between(self.from, self.to, self.sender, self.receiver.ack_bytes)
    }
}

/// Those of the listed flows first.
fn exchanges(scenario: &Scenario) -> Result<Vec<Exchange<'_>>, Unsupported> {
    let listed = scenario.flows.iter().map(|flow| {
        let (sender, receiver) = (&flow.sender, &flow.receiver);
        Exchange { name: &flow.name, from: flow.from, to: flow.to, sender, receiver }
    });
    let mut all: Vec<Exchange<'_>> = listed.collect();
    for traffic in &scenario.traffic {
        let name = &traffic.name;
        let TrafficKind::Web { sender, receiver, .. } = &traffic.kind else {
            return Err(Unsupported::Traffic { name: name.clone() });
        };
        let pairs = traffic.pairs.iter();
        all.extend(pairs.map(|&(from, to)| Exchange { name, from, to, sender, receiver }));
    }
    Ok(all)
}

/// What links count on top of IP packets, and whether those carry time stamps: where they have room for them, unless the
/// receiver has none.
fn headers(exchange: &Exchange<'_>) -> Result<(u32, bool), Unsupported> {
    let header_bytes = exchange.sender.header_bytes;
    let stamped = header_bytes.checked_sub(STAMPED_HEADERS);
    match (stamped.filter(|_| exchange.receiver.stamps()), header_bytes.checked_sub(PLAIN_HEADERS)) {
        (Some(overhead), _) => Ok((overhead, true)),
        (None, Some(overhead)) => Ok((overhead, false)),
        (None, None) => Err(Unsupported::Headers { flow: exchange.name.to_owned(), header_bytes }),
    }
}

/// Every node that sends or receives, such that each flow goes from one end to the other.
fn hosts(scenario: &Scenario, exchanges: &[Exchange<'_>], family: Family) -> Result<Vec<Host>, Unsupported> {
    let mut peers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for flow in exchanges {
        peers.entry(flow.from).or_default().push(flow.to);
        peers.entry(flow.to).or_default().push(flow.from);
    }
    let mut ends: BTreeMap<usize, End> = BTreeMap::new();
    let mut order = Vec::new();
    for flow in exchanges {
        let mut waiting = if ends.contains_key(&flow.from) { vec![] } else { vec![(flow.from, End::Sender)] };
        while let Some((node, end)) = waiting.pop() {
            match ends.insert(node, end) {
                None => order.push(node),
                Some(before) if before == end => continue,
                Some(_) => {
                    return Err(Unsupported::BothEnds { node: scenario.topology.nodes[node].clone() });
                }
            }
            waiting.extend(peers[&node].iter().map(|&peer| (peer, end.other())));
        }
    }
    order.sort_unstable();
    let mut counts = [0_u16; 2];
    let hosts: Vec<Host> = order
        .into_iter()
        .map(|node| {
            let end = ends[&node];
            counts[end as usize] += 1;
            Host { node, end, address: family.address(end, counts[end as usize]) }
        })
        .collect();
    match counts.into_iter().max() {
        Some(hosts) if usize::from(hosts) > HOSTS_MAX => Err(Unsupported::Hosts { hosts: hosts.into() }),
        _ => Ok(hosts),
    }
}

fn routes(
    scenario: &Scenario,
    exchanges: &[Exchange<'_>],
    hosts: &[Host],
) -> Result<BTreeMap<(IpAddr, IpAddr), Vec<usize>>, Unsupported> {
    let address = |node: usize| hosts.iter().find(|host| host.node == node).map(|host| host.address);
    let mut routes = BTreeMap::new();
    for flow in exchanges {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            let name = |node: usize| scenario.topology.nodes[node].clone();
            let route = scenario.route(from, to).filter(|route| !route.is_empty());
            let route = route.ok_or_else(|| Unsupported::NoRoute { from: name(from), to: name(to) })?;
            if let (Some(from), Some(to)) = (address(from), address(to)) {
                routes.insert((from, to), route);
            }
        }
    }
    Ok(routes)
}

/// Refuses a flow whose data could pass faster than [`RATED`].
fn check_rate(scenario: &Scenario, flow: &Exchange<'_>) -> Result<(), Unsupported> {
    let route = scenario.route(flow.from, flow.to).unwrap_or_default();
    let links = route.iter().map(|&link| &scenario.topology.links[link]);
    let Some(slowest) = links.min_by_key(|link| peak_rate(&link.config.capacity)) else { return Ok(()) };
    let rate = peak_rate(&slowest.config.capacity);
    if rate > RATED {
        return Err(Unsupported::Fast { flow: flow.name.to_owned(), link: slowest.name.clone(), rate });
    }
    Ok(())
}

/// The fastest that a link serves for long; of a trace its mean.
fn peak_rate(capacity: &Capacity) -> Rate {
    match capacity {
        Capacity::Unlimited => Rate::from_bits_per_s(u64::MAX),
        Capacity::Constant(rate) => *rate,
        Capacity::Steps { steps, .. } => steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default(),
        Capacity::Trace(trace) => {
            let bytes = trace.at.len() as u64 * u64::from(trace.bytes);
            let per_s = u128::from(bytes) * 1_000_000_000 / u128::from(trace.period.ns().max(1));
            Rate::from_bytes_per_s(u64::try_from(per_s).unwrap_or(u64::MAX))
        }
    }
}

/// Bounds of buffers that are not set: Linux's own default at least, and half of what `tcp_rmem` can say.
const BUFFER: (u64, u64) = (6 << 20, 1 << 30);

/// What the kernel counts for a socket per payload byte in flight, at worst: a 2304-byte allocation per segment of
/// 1448 bytes, twice over in send buffers (`tcp_sndbuf_expand`) and for windows (`tcp_adv_win_scale` 1).
const RECEIVE_COST: u64 = 2;
/// What the kernel counts for a received segment of Ethernet's size.
const SEGMENT_COST: u64 = 2304;
const SEND_COST: u64 = 4;
/// A Linux receiver acknowledges every segment for as long as its window grows. With its usual `tcp_rmem` that is from
/// 64 kB to 3.9 MB, two segments with each; a window that is wide from the start grows from half of its buffer to 5/8.
/// With this one it grows as far.
const RECEIVE_LEAST: u64 = 8 * ((6 << 20) / 8 * 5 - 65_535);
/// Slow start meets a full queue with a window of twice what path and queue hold, and sends new data while it repairs.
const OVERSHOOT: u64 = 3;

/// What share of a receive buffer, in 1/256, Linux announces for segments of this size (`scaling_ratio`).
fn window_share(mss_bytes: u32) -> u64 {
    (u64::from(mss_bytes) * 256 / SEGMENT_COST).clamp(1, 255)
}

fn buffers(scenario: &Scenario, exchanges: &[Exchange<'_>]) -> Buffers {
    let in_flight = exchanges
        .iter()
        .map(|exchange| {
            let facts = exchange.facts(scenario);
            let queue = facts.buffer_bytes.min(facts.bdp_bytes.saturating_mul(4));
            facts.bdp_bytes.saturating_add(queue).saturating_mul(OVERSHOOT)
        })
        .max()
        .unwrap_or(0);
    let sized = |cost: u64| in_flight.saturating_mul(cost).clamp(BUFFER.0, BUFFER.1);
    let receiver = exchanges.first().map(|first| first.receiver.window);
    let (receive_initial, receive_max, window) = match receiver {
        Some(ReceiveWindow::Fixed(window)) => {
            let buffer = window.saturating_mul(RECEIVE_COST).min(BUFFER.1);
            (buffer, buffer, Some(window))
        }
        Some(ReceiveWindow::Autotuned { initial, max }) => {
            // Linux announces half of a buffer before it has seen what segments cost.
            let first = initial.saturating_mul(2).min(BUFFER.1);
            let share = exchanges.first().map_or(128, |first| window_share(first.sender.mss_bytes));
            (first, (max.saturating_mul(256) / share).clamp(first, BUFFER.1), None)
        }
        // Never in the way: not even while it grows.
        Some(ReceiveWindow::Unlimited) | None => {
            let buffer = sized(RECEIVE_COST).max(RECEIVE_LEAST);
            (buffer, buffer, None)
        }
    };
    let asked = |sender: &SenderConfig| match (sender.send_buffer_bytes, sender.send_buffer_max_bytes) {
        (u64::MAX, _) => None,
        (fixed, grown) => Some(fixed.max(grown)),
    };
    let asked = exchanges.iter().map(|exchange| asked(exchange.sender)).max().flatten();
    let send_max =
        asked.map_or_else(|| sized(SEND_COST), |bytes| bytes.saturating_mul(2).clamp(16 << 10, BUFFER.1));
    Buffers { receive_initial, receive_max, send_max, window }
}

#[cfg(test)]
mod tests {
    use rampcc_tcp::{Profile, Receiver, ReceiverConfig, Segment};

    use super::*;

    /// How many of 3000 segments a simulated receiver answers one by one.
    fn answered_at_once(window: ReceiveWindow) -> u64 {
        let slow_start = rampcc::algorithm("slow_start").expect("the registry has it");
        let rules = ReceiverConfig { window, ..ReceiverConfig::new(Profile::Modern) };
        let mut receiver = Receiver::new(0, &rules, &SenderConfig::new(Profile::Modern, slow_start));
        let now = Time::from_ms(1);
        (0..3000)
            .take_while(|&number| {
                receiver.handle_segment(now, &Segment::data(0, 52, now, number, 1448));
                receiver.poll_transmit(now).is_some()
            })
            .count() as u64
    }

    #[test]
    fn a_window_that_is_never_in_the_way_grows_for_as_long_as_the_simulators() {
        let text = "size = '10 MB'\n[path]\nrate = '100 Mbit/s'\nrtt = '40 ms'\n";
        let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
        let buffers = Plan::new(&scenario, &Options::default()).expect("the emulator plays it").buffers;
        assert_eq!((buffers.receive_initial, buffers.window), (buffers.receive_max, None));
        let (initial, max) = (buffers.receive_max / 2, buffers.receive_max * window_share(1448) / 256);
        let kernels = answered_at_once(ReceiveWindow::Autotuned { initial, max });
        let simulators = answered_at_once(ReceiveWindow::Unlimited);
        assert!(kernels.abs_diff(simulators) <= 1 && kernels > 1300, "{kernels}, {simulators}");
    }
}
