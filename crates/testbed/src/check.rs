//! Settings that a scenario may ask of a kernel's hosts.

use rampcc::{LINUX_LACKS, Time};
use rampcc_scenario::{FlowConfig, Scenario, Traffic, TrafficKind};
use rampcc_tcp::{AckPolicy, Avoidance, Pacing, ReceiverConfig, Recovery, SenderConfig};

use crate::controls::{Steered, steered};
use crate::kinds::{kinds, of_sessions};
use crate::row::Row;
use crate::web::nginx;

/// Most flows: each has two threads.
const FLOWS_MAX: usize = 64;
/// What the kernel's TCP does, and a scenario may ask otherwise.
const QUICK_ACKS: u32 = 16;
const CUBIC_BETA: u32 = 717;
const RTO_INITIAL: Time = Time::from_secs(1);
pub(crate) const RTO_MIN: Time = Time::from_ms(200);
const RTO_MAX: Time = Time::from_secs(120);
const ACK_TIMER: Time = Time::from_ms(40);
/// TCP's clock for timestamps (`TCP_TS_HZ`).
const TICK: Time = Time::from_ms(1);

/// One thing that a scenario asks and a kernel run cannot do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Unsupported {
    /// Error of the emulator about the path.
    #[error(transparent)]
    Path(#[from] rampcc_emulator::Unsupported),
    #[error("{flows} flows; there are threads for {FLOWS_MAX}")]
    Flows { flows: usize },
    #[error("flow `{flow}`: `{field}` is {asked}; {kernel}")]
    Sender { flow: String, field: &'static str, asked: String, kernel: &'static str },
    #[error("flow `{flow}`, its receiver: `{field}` is {asked}; {kernel}")]
    Receiver { flow: String, field: &'static str, asked: String, kernel: &'static str },
    #[error("flow `{flow}` has another `{field}` than `{first}`; it is set for a whole network namespace")]
    Mixed { flow: String, first: String, field: &'static str },
    #[error("flow `{flow}`: `{algorithm}` needs `{need}`: {reason}")]
    Needs { flow: String, algorithm: &'static str, need: &'static str, reason: &'static str },
    #[error("`[cpu]`: real hosts have their own processors; it is for the simulator")]
    Cpu,
    #[error("traffic `{traffic}`: `{field}` is {asked}; {reason}")]
    Web { traffic: String, field: &'static str, asked: String, reason: &'static str },
    #[error(
        "traffic `{traffic}` and `{other}` have a client in common, `{client}`, but are not steered alike; the route to a \
         client names its server's congestion control"
    )]
    Client { traffic: String, other: String, client: String },
    #[error(
        "traffic {}: nginx serves its pages, and is not installed (Debian: `apt-get install nginx-light`)",
        .traffic.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    Nginx { traffic: Vec<String> },
    #[error("one round more in start-up is a question for the simulator")]
    ExtraRounds,
}

/// Checks that [`crate::play`] can play `scenario` with this row; the error names everything that it cannot.
pub fn check(scenario: &Scenario, row: Row) -> Result<(), Vec<Unsupported>> {
    let mut all = Vec::new();
    if let Err(path) = rampcc_emulator::check(scenario, rampcc_emulator::Family::V4) {
        all.push(path.into());
    }
    if scenario.cpu.is_some() {
        all.push(Unsupported::Cpu);
    }
    if scenario.flows.len() > FLOWS_MAX {
        all.push(Unsupported::Flows { flows: scenario.flows.len() });
    }
    let kinds = kinds(scenario);
    all.extend(scenario.traffic.iter().flat_map(|traffic| web(scenario, traffic)));
    all.extend(without_nginx(scenario));
    all.extend(scenario.traffic.iter().filter_map(|traffic| listed_at_a_client(scenario, traffic, row)));
    for flow in &kinds {
        all.extend(sender(flow, row));
        all.extend(receiver(flow));
        all.extend(needs(flow, row));
        if flow.sender.extra_startup_rounds > 0 && !all.contains(&Unsupported::ExtraRounds) {
            all.push(Unsupported::ExtraRounds);
        }
    }
    if let Some((first, others)) = kinds.split_first() {
        all.extend(others.iter().flat_map(|flow| mixed(first, flow)));
    }
    if all.is_empty() { Ok(()) } else { Err(all) }
}

/// What the senders' rules ask, field by field as scenario files call them.
fn sender(flow: &FlowConfig, row: Row) -> Vec<Unsupported> {
    let SenderConfig { recovery, rto, .. } = &flow.sender;
    let s = &flow.sender;
    let own_row = flow.under_test && row != Row::Core;
    let ms = |time: Time| format!("{:.3} ms", time.secs_f64() * 1e3);
    let whole_ms = |time: Time| time.ns().is_multiple_of(1_000_000) && time > Time::ZERO;
    let off = |on: bool| if on { "on" } else { "off" }.to_owned();
    let refusals = [
        (
            s.recovery != Recovery::Sack,
            "recovery",
            format!("{recovery:?}"),
            "Linux repairs as RFC 6675 and RACK say",
        ),
        (!s.prr, "prr", off(s.prr), "Linux reduces proportionally in every recovery"),
        (!s.rack_tlp, "rack-tlp", off(s.rack_tlp), "Linux finds losses by RACK-TLP"),
        (!s.limited_transmit, "limited-transmit", off(false), "Linux always has it"),
        (!s.undo, "undo", off(s.undo), "Linux undoes spurious reductions"),
        (!s.frto, "frto", off(s.frto), "Linux undoes spurious timeouts"),
        (
            match s.avoidance {
                Avoidance::Cubic | Avoidance::Reno => false,
                Avoidance::Bbr => steered(flow, row) != Steered::Own(Row::Bbr),
                Avoidance::Vegas | Avoidance::Westwood | Avoidance::Bbr3 => true,
            },
            "congestion-control",
            format!("{:?}", s.avoidance).to_lowercase(),
            "the algorithms continue with CUBIC or Reno",
        ),
        (
            s.initial_ssthresh_packets.is_some(),
            "initial-ssthresh",
            format!("{} packets", s.initial_ssthresh_packets.unwrap_or(0)),
            "a connection without metrics of earlier ones begins without one",
        ),
        (
            s.abc_limit_packets != 0 && own_row,
            "abc-limit",
            s.abc_limit_packets.to_string(),
            "the kernel's own congestion controls grow by all that an ACK acknowledges",
        ),
        (s.max_burst_packets != 0, "max-burst", s.max_burst_packets.to_string(), "Linux has no such limit"),
        (!s.handshake, "handshake", off(false), "a kernel's connection begins with one"),
        (
            s.cubic_beta_1024 != CUBIC_BETA,
            "cubic-beta",
            format!("{}/1024", s.cubic_beta_1024),
            "Linux's is 717/1024, for the whole machine",
        ),
        (s.cubic_of_2007, "cubic-of-2007", "on".into(), "the kernel's CUBIC is its own"),
        (rto.initial != RTO_INITIAL, "rto-initial", ms(rto.initial), "Linux's is 1 s"),
        (rto.min != RTO_MIN && !whole_ms(rto.min), "rto-min", ms(rto.min), "routes know whole milliseconds"),
        (rto.max != RTO_MAX, "rto-max", ms(rto.max), "Linux's is 120 s"),
        (rto.tick != Time::ZERO, "rto-tick", ms(rto.tick), "Linux counts microseconds"),
        (rto.count_ticks, "rto-count-ticks", "on".into(), "Linux has time stamps"),
        (
            !rto.min_of_variance,
            "rto-min-of-variance",
            off(false),
            "Linux's bound holds for the variance term",
        ),
    ];
    let name =
        |(_, field, asked, kernel)| Unsupported::Sender { flow: flow.name.clone(), field, asked, kernel };
    refusals.into_iter().filter(|refusal| refusal.0).map(name).collect()
}

/// What web sessions between real hosts cannot have.
fn web(scenario: &Scenario, traffic: &Traffic) -> Vec<Unsupported> {
    let TrafficKind::Web { sender, under_test_share, .. } = &traffic.kind else { return Vec::new() };
    let name = || traffic.name.clone();
    let (share, drawn) = (*under_test_share, traffic.rtt.is_some());
    let fields = [
        (
            share > 0.0 && share < 1.0,
            "under-test",
            share.to_string(),
            "a server's connections to a client have one congestion control: 0 or 1",
        ),
        (drawn, "rtt", "drawn".to_owned(), "real connections have the path's"),
        (sender.pacing == Pacing::Always, "pacing", "always".to_owned(), "nginx does not ask for it"),
    ];
    let field = |(_, field, asked, reason)| Unsupported::Web { traffic: name(), field, asked, reason };
    let mut all: Vec<Unsupported> = fields.into_iter().filter(|field| field.0).map(field).collect();
    let mut before = scenario.traffic.iter().take_while(|other| !std::ptr::eq(*other, traffic));
    let shared = before.find_map(|other| {
        let client = traffic.pairs.iter().find(|pair| other.pairs.iter().any(|known| known.1 == pair.1));
        client.filter(|_| !steered_alike(&other.kind, &traffic.kind)).map(|pair| (other, pair.1))
    });
    if let Some((other, node)) = shared {
        let client = scenario.topology.nodes[node].clone();
        all.push(Unsupported::Client { traffic: name(), other: other.name.clone(), client });
    }
    all
}

/// All web sessions together, where their server is not installed.
fn without_nginx(scenario: &Scenario) -> Option<Unsupported> {
    let web = |traffic: &&Traffic| matches!(traffic.kind, TrafficKind::Web { .. });
    let traffic: Vec<String> =
        scenario.traffic.iter().filter(web).map(|traffic| traffic.name.clone()).collect();
    (!traffic.is_empty() && nginx().is_none()).then_some(Unsupported::Nginx { traffic })
}

/// A listed flow to a client of web sessions: the route to that client steers it as well.
fn listed_at_a_client(scenario: &Scenario, traffic: &Traffic, row: Row) -> Option<Unsupported> {
    let sessions = of_sessions(scenario, traffic)?;
    let alike = |flow: &FlowConfig| {
        let (a, b) = (&flow.sender, &sessions.sender);
        let settings_alike = a.startup.id == b.startup.id
            && a.parameters == b.parameters
            && a.avoidance == b.avoidance
            && a.abc_limit_packets == b.abc_limit_packets;
        let steering = steered(flow, row);
        steering == steered(&sessions, row) && (steering != Steered::Core || settings_alike)
    };
    let at_a_client = |flow: &&FlowConfig| traffic.pairs.iter().any(|pair| pair.1 == flow.to);
    let flow = scenario.flows.iter().filter(at_a_client).find(|flow| !alike(flow))?;
    let client = scenario.topology.nodes[flow.to].clone();
    Some(Unsupported::Client { traffic: traffic.name.clone(), other: flow.name.clone(), client })
}

fn steered_alike(a: &TrafficKind, b: &TrafficKind) -> bool {
    let steering = |kind: &TrafficKind| match kind {
        TrafficKind::Web { sender, under_test_share, .. } => {
            let sender = &**sender;
            Some((
                *under_test_share > 0.0,
                sender.startup.id,
                sender.parameters,
                sender.avoidance,
                sender.abc_limit_packets,
            ))
        }
        _ => None,
    };
    steering(a) == steering(b)
}

/// The first need of the flow's algorithm that the kernel does not meet.
fn needs(flow: &FlowConfig, row: Row) -> Option<Unsupported> {
    let algorithm = flow.sender.startup;
    let lacking = algorithm.unmet(LINUX_LACKS).next().filter(|_| steered(flow, row) == Steered::Core)?;
    Some(Unsupported::Needs {
        flow: flow.name.clone(),
        algorithm: algorithm.id,
        need: lacking.need.words().next().unwrap_or_default(),
        reason: lacking.reason,
    })
}

fn receiver(flow: &FlowConfig) -> Vec<Unsupported> {
    let ReceiverConfig { ack_policy, sack_blocks, sack_suppression_segments, ack_bytes, .. } = flow.receiver;
    let header = flow.sender.header_bytes;
    let stamped = header >= 52 && flow.receiver.stamps();
    // A pure ACK has the headers of a data packet.
    let kernel_ack = header;
    let delayed =
        "the kernel acknowledges every segment, or as Linux does: the first 16 at once, then every second";
    let acks = match ack_policy {
        AckPolicy::Quick => None,
        AckPolicy::Linux { quick, timer } => match (quick == QUICK_ACKS, timer == ACK_TIMER) {
            (true, true) => None,
            (false, _) => Some(("quick-acks", quick.to_string(), "Linux begins with 16")),
            (true, false) => {
                Some(("ack-timer", format!("{:.3} ms", timer.secs_f64() * 1e3), "Linux waits 40 ms at least"))
            }
        },
        AckPolicy::FreeBsd { .. } => Some(("acks", "freebsd".to_owned(), delayed)),
        AckPolicy::Delayed { every, .. } => {
            Some(("acks", format!("delayed, one for {every} segments"), delayed))
        }
    };
    let tick = flow.receiver.timestamp_tick;
    let stamps = (flow.receiver.stamps() && !(stamped && tick == TICK)).then(|| {
        let kernel = "Linux's clock ticks every 1 ms, and only headers of 52 bytes and more hold it";
        ("timestamps", format!("{:.3} ms", tick.secs_f64() * 1e3), kernel)
    });
    let kernel_blocks = if stamped { 3 } else { 4 };
    let blocks = (sack_blocks != 0 && sack_blocks < kernel_blocks).then(|| {
        ("sack-blocks", sack_blocks.to_string(), "Linux sends as many as fit: 3 with time stamps, 4 without")
    });
    let suppression = (sack_suppression_segments != 0).then(|| {
        ("sack-suppression", sack_suppression_segments.to_string(), "no Linux receiver suppresses SACK")
    });
    let size = (ack_bytes != kernel_ack).then(|| {
        ("ack-size", format!("{ack_bytes} bytes"), "the kernel's ACKs have the headers of its data packets")
    });
    let block = (flow.receiver.sack_block_bytes != 0).then(|| {
        let asked = format!("{} bytes", flow.receiver.sack_block_bytes);
        ("sack-block-size", asked, "the kernel's own options have their own sizes, within its headers")
    });
    let sink = (flow.receiver.ns2_sink)
        .then(|| ("ns2-sink", "on".to_owned(), "Linux knows the end of the data and reports duplicates"));
    let each = (!flow.receiver.gathers_sacks && matches!(ack_policy, AckPolicy::Linux { .. }))
        .then(|| ("gathers-sacks", "off".to_owned(), "Linux gathers what it acknowledges behind a gap"));
    let name =
        |(field, asked, kernel)| Unsupported::Receiver { flow: flow.name.clone(), field, asked, kernel };
    [acks, blocks, suppression, each, size, block, sink, stamps].into_iter().flatten().map(name).collect()
}

/// What a network namespace has once.
fn mixed(first: &FlowConfig, flow: &FlowConfig) -> Vec<Unsupported> {
    let quick = |flow: &FlowConfig| flow.receiver.ack_policy == AckPolicy::Quick;
    let differing = [
        (flow.sender.initial_window_packets != first.sender.initial_window_packets, "initial-window"),
        (flow.sender.idle_restart != first.sender.idle_restart, "idle-restart"),
        (flow.sender.ecn != first.sender.ecn, "ecn"),
        (flow.sender.rto.min != first.sender.rto.min, "rto-min"),
        (quick(flow) != quick(first), "acks"),
        ((flow.receiver.sack_blocks == 0) != (first.receiver.sack_blocks == 0), "sack-blocks"),
        (flow.receiver.stamps() != first.receiver.stamps(), "timestamps"),
        (flow.receiver.window != first.receiver.window, "window"),
    ];
    let name = |(_, field)| Unsupported::Mixed { flow: flow.name.clone(), first: first.name.clone(), field };
    differing.into_iter().filter(|(differs, _)| *differs).map(name).collect()
}
