//! Rows of sixteen classes drawn by `oracles/ns2/classes.py`: what `draw.py` leaves out.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use rampcc::{Rate, Time};
use rampcc_path::{
    Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Propagation, QueueConfig, QuickStartPolicy, Ties,
};
use rampcc_scenario::{FlowConfig, NamedLink, Scenario, Source};
use rampcc_sim::simulate;
use rampcc_tcp::{AckPolicy, Profile, ReceiveWindow, ReceiverConfig, Recovery, SenderConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

use crate::bulk::Pair;
use crate::oracle::{Row, number, table};
use crate::rows::{Reason, agreements};
use crate::topology::{bulk_flow, first_planned, scenario};

/// All of them, in the order of the table.
pub(crate) const CLASSES: [(&str, &str); 16] = [
    ("asym", "two flows, RTTs 0.1 to 400 ms apart"),
    ("three", "three flows, different RTTs"),
    ("tiny", "buffer of 2 to 5 packets"),
    ("small", "buffer of 1 to 10 % of the BDP"),
    ("huge", "buffer of 3 to 20 BDP"),
    ("long", "100 to 600 s"),
    ("packet", "packets of 100 to 8960 bytes"),
    ("asymrate", "slow return link that drops ACKs"),
    ("loss", "listed loss of data, 0.1 to 5 %"),
    ("ackloss", "listed loss of ACKs, 1 to 50 %"),
    ("both", "listed loss of both"),
    ("delack", "delayed ACK of 20 to 500 ms"),
    ("single", "no limited transmit"),
    ("minrto", "other timers: 50 ms to 1 s, ticks of 10 to 500 ms"),
    ("window", "receiver's window"),
    ("sized", "1 to 60 packets"),
];

/// The link whose drops count.
const BOTTLENECK: usize = 0;
/// Of the routers; the ends of flow `i` are nodes 2 + 2 i and 3 + 2 i.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// A row, ours and ns-2's: throughput in Mbit/s, drops and timeouts of each flow.
pub(crate) struct Classed {
    pub(crate) row: Row,
    pub(crate) flows: Vec<[Pair; 3]>,
}

/// The rows that are published.
pub(crate) fn all() -> Vec<Row> {
    table("ns2/classes.csv.gz")
}

impl Classed {
    /// Plays a row and compares it with ns-2's result.
    pub(crate) fn compare(row: &Row) -> Self {
        let scenario = played(row);
        let sizes = scenario.flows.iter().map(|flow| match flow.source {
            Source::Sized(bytes) => Some(bytes),
            _ => None,
        });
        let mut ours = Ours { flows: sizes.map(|size| Flow { size, ..Flow::default() }).collect() };
        let outcome = simulate(&scenario, 1, &mut ours, &AtomicBool::new(false)).expect("a valid scenario");
        let theirs = results(row, |column| row[column].clone());
        let flows = ours.flows.iter().zip(&outcome.flows).zip(&theirs).enumerate();
        let flows = flows.map(|(index, ((flow, end), theirs))| {
            let ours = [
                throughput(row, index, end.received_bytes as f64, flow.done.map(Time::secs_f64)),
                flow.drops,
                flow.timeouts,
            ];
            std::array::from_fn(|i| Pair { ours: Some(ours[i]), theirs: Some(theirs[i]) })
        });
        Self { row: row.clone(), flows: flows.collect() }
    }

    /// True if all its flows agree.
    pub(crate) fn agrees(&self) -> bool {
        self.flows.iter().all(|pairs| agreements(*pairs) == [true; 3])
    }

    /// Why it does not agree; `None`: it does.
    pub(crate) fn reason(&self) -> Option<Reason> {
        (!self.agrees()).then(|| if self.repeats() { Reason::Unknown } else { Reason::Rounding })
    }

    /// True if ns-2 does the same some seconds later, and never what we do.
    pub(crate) fn repeats(&self) -> bool {
        self.row["again"].split('|').all(|again| {
            let again: Vec<&str> = again.split('/').collect();
            let place =
                |column: &str| ["received", "done", "drops", "timeouts"].iter().position(|c| *c == column);
            let later = results(&self.row, |column| again[place(column).expect("a column")].to_owned());
            let beside = |of: fn(&Pair) -> Option<f64>| {
                self.flows.iter().zip(&later).all(|(pairs, later)| {
                    let pair = |i: usize| Pair { ours: of(&pairs[i]), theirs: Some(later[i]) };
                    agreements([pair(0), pair(1), pair(2)]) == [true; 3]
                })
            };
            beside(|pair| pair.theirs) && !beside(|pair| pair.ours)
        })
    }
}

/// Payload in Mbit/s, until the last byte is known to be there or the row ends.
fn throughput(row: &Row, flow: usize, bytes: f64, done: Option<f64>) -> f64 {
    let start: f64 = list(&row["starts"])[flow].parse().expect("a start");
    bytes * 8e-6 / (done.unwrap_or(number(row, "duration").expect("an end")) - start)
}

/// What ns-2 did: throughput, drops and timeouts of each flow.
fn results(row: &Row, of: impl Fn(&str) -> String) -> Vec<[f64; 3]> {
    let packet = number(row, "packet").expect("a size");
    let [received, done, drops, timeouts] = ["received", "done", "drops", "timeouts"].map(|column| {
        let text = of(column);
        list(&text).into_iter().map(|value| value.parse::<f64>().ok()).collect::<Vec<_>>()
    });
    let flow = |i: usize| {
        let bytes = received[i].expect("a number") * packet;
        [throughput(row, i, bytes, done[i]), drops[i].expect("a number"), timeouts[i].expect("a number")]
    };
    (0..received.len()).map(flow).collect()
}

fn list(text: &str) -> Vec<&str> {
    text.split(';').collect()
}

/// What of a run is compared.
struct Ours {
    flows: Vec<Flow>,
}

#[derive(Default)]
struct Flow {
    size: Option<u64>,
    /// When the sender learnt that everything has arrived.
    done: Option<Time>,
    drops: f64,
    timeouts: f64,
}

impl Observer for Ours {
    fn on_flow(&mut self, sample: &FlowSample) {
        let flow = &mut self.flows[sample.flow as usize];
        if flow.size.is_some_and(|size| sample.delivered_bytes >= size) {
            flow.done.get_or_insert(sample.now);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        let Some(flow) = self.flows.get_mut(event.flow as usize) else { return };
        match event.kind {
            FlowEventKind::Dropped { link, .. } if link as usize == BOTTLENECK => flow.drops += 1.0,
            FlowEventKind::Timeout { .. } => flow.timeouts += 1.0,
            _ => {}
        }
    }
}

fn played(row: &Row) -> Scenario {
    let whole = |column: &str| number(row, column).expect("a number") as u64;
    let kbit = |column: &str| Rate::from_bits_per_s(1000 * whole(column));
    let lost = |column: &str| match row[column].as_str() {
        "" => LossConfig::None,
        numbers => LossConfig::Listed(
            numbers.split(';').map(|number| number.parse().expect("a packet's number")).collect(),
        ),
    };
    let delay = Time::from_us(whole("delay_us"));
    let mut links = vec![
        link([LEFT, RIGHT], kbit("rate_kbps"), delay, Limit::Packets(whole("buffer") - 1), lost("loss")),
        link(
            [RIGHT, LEFT],
            kbit("return_kbps"),
            delay,
            Limit::Packets(whole("return_buffer") - 1),
            lost("ackloss"),
        ),
    ];
    let times = |column: &str| -> Vec<Time> {
        list(&row[column]).iter().map(|ns| Time::from_ns(ns.parse().expect("nanoseconds"))).collect()
    };
    let (nears, fars) = (times("nears"), times("fars"));
    let bytes = whole("packet") + 40;
    let nearest = nears.iter().min().copied().unwrap_or_default();
    links[BOTTLENECK].config.ties =
        first_planned(kbit("side_kbps").time_of(bytes) + nearest, kbit("rate_kbps").time_of(bytes));
    let mut flows = Vec::new();
    for (index, agent) in list(&row["agents"]).into_iter().enumerate() {
        let (from, to) = (2 + 2 * index, 3 + 2 * index);
        for (a, b, delay) in [
            (from, LEFT, nears[index]),
            (LEFT, from, nears[index]),
            (RIGHT, to, fars[index]),
            (to, RIGHT, fars[index]),
        ] {
            links.push(link([a, b], kbit("side_kbps"), delay, Limit::Unlimited, LossConfig::None));
        }
        flows.push(flow(row, index, agent, [from, to]));
    }
    let nodes: BTreeSet<usize> = links.iter().flat_map(|link| [link.from, link.to]).collect();
    let end = Time::from_secs_f64(number(row, "duration").expect("a time"));
    let mut scenario = scenario(links, flows, Vec::new(), end);
    scenario.topology.nodes = nodes.iter().map(|node| format!("node-{node}")).collect();
    scenario.bottleneck = BOTTLENECK;
    scenario
}

fn link([from, to]: [usize; 2], rate: Rate, delay: Time, limit: Limit, loss: LossConfig) -> NamedLink {
    NamedLink {
        name: format!("{from}-{to}"),
        from,
        to,
        config: LinkConfig {
            capacity: Capacity::Constant(rate),
            queue: QueueConfig::DropTail { limit },
            delay: DelayConfig { propagation: Propagation::Constant(delay), jitter: None, reordering: None },
            loss,
            ack_filter: None,
            quick_start: QuickStartPolicy::Unaware,
            ties: Ties::default(),
        },
    }
}

fn flow(row: &Row, index: usize, agent: &str, pair: [usize; 2]) -> FlowConfig {
    let packets = |column: &str| number(row, column).map(|n| n as u32);
    let seconds = |column: &str| Time::from_secs_f64(number(row, column).expect("a time"));
    let of_flow = |column: &str| list(&row[column])[index].to_owned();
    let startup = rampcc::algorithm("slow_start").expect("a registered algorithm");
    let mut sender = SenderConfig::new(Profile::Ns2, startup);
    sender.mss_bytes = packets("packet").expect("a size");
    sender.initial_window_packets = packets("iw").expect("a window");
    sender.initial_ssthresh_packets = packets("ssthresh");
    sender.max_burst_packets = packets("maxburst").expect("a burst");
    sender.limited_transmit = row["singledup"] == "1";
    sender.recovery = match agent {
        "Sack1" => Recovery::SackNs2,
        "Newreno-steady" => Recovery::NewRenoSteady,
        "Tahoe" => Recovery::Tahoe,
        _ => Recovery::NewRenoImpatient,
    };
    sender.rto.min = seconds("minrto");
    sender.rto.tick = seconds("tick");
    sender.rto.phase = Some(Time::from_secs_f64(of_flow("phases").parse().expect("a phase")));
    let mut receiver = ReceiverConfig::new(Profile::Ns2);
    if row["delack"] == "1" {
        receiver.ack_policy = AckPolicy::Delayed { every: 2, timer: seconds("delack_s") };
    }
    receiver.window =
        ReceiveWindow::Fixed(u64::from(packets("window").expect("a window")) * u64::from(sender.mss_bytes));
    let start = Time::from_secs_f64(of_flow("starts").parse().expect("a time"));
    let mss = u64::from(sender.mss_bytes);
    let mut flow = bulk_flow(pair, start, sender, receiver);
    flow.sender.sampled = true;
    if let Ok(packets) = of_flow("sizes").parse::<u64>() {
        flow.source = Source::Sized(packets * mss);
    }
    flow
}
