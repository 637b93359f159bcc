//! Rows drawn at random by `oracles/ns2/draw.py`: any path, any agent, any cross traffic.

use std::sync::atomic::AtomicBool;

use rampcc::{Rate, Time};
use rampcc_path::Limit;
use rampcc_scenario::{Scenario, Source};
use rampcc_sim::simulate;
use rampcc_tcp::{AckPolicy, Avoidance, Profile, ReceiverConfig, Recovery, SenderConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

use crate::bulk::Pair;
use crate::oracle::{Row, number, table};
use crate::topology::{
    BOTTLENECK, Bottleneck, CROSS_RECEIVER, CROSS_SENDER, RECEIVER, SENDER, bulk_flow, constant_rate,
    scenario,
};

/// Largest relative differences of a row that agrees; its timer expires as often. Fixed before any row was drawn.
pub(crate) const THROUGHPUT: f64 = 0.01;
pub(crate) const DROPS: f64 = 0.02;

/// A row, ours and ns-2's.
pub(crate) struct Drawn {
    pub(crate) row: Row,
    pub(crate) throughput_mbps: Pair,
    pub(crate) drops: Pair,
    pub(crate) first_drop_s: Pair,
    pub(crate) timeouts: Pair,
}

/// The rows that are published; those that rules were mended with had other seeds.
pub(crate) fn all() -> Vec<Row> {
    table("ns2/random.csv")
}

/// Why a row does not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// ns-2's Vegas has another recovery.
    Vegas,
    /// ns-2 itself does something else, or what we do, when everything happens some seconds later.
    Rounding,
    /// Not known.
    Unknown,
}

impl Reason {
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Vegas => "Vegas' own recovery",
            Self::Rounding => "What ns-2 does not do twice",
            Self::Unknown => "Rows without a reason",
        }
    }
}

impl Drawn {
    /// Plays a row and compares it with ns-2's result.
    pub(crate) fn compare(row: &Row) -> Self {
        let of = |column: &str| number(row, column);
        let start = of("start").expect("a start");
        let end = of("duration").expect("an end");
        let packet = of("packet").expect("a size");
        let mut ours = Ours { size_bytes: of("packets").map(|n| (n * packet) as u64), ..Ours::default() };
        let scenario = played(row);
        let outcome = simulate(&scenario, 1, &mut ours, &AtomicBool::new(false)).expect("a valid scenario");
        let rate = |bytes: f64, done: Option<f64>| bytes * 8e-6 / (done.unwrap_or(end) - start);
        let pair = |ours, theirs| Pair { ours, theirs };
        Self {
            row: row.clone(),
            throughput_mbps: pair(
                Some(rate(outcome.flows[0].received_bytes as f64, ours.done.map(Time::secs_f64))),
                of("received").map(|n| rate(n * packet, of("done"))),
            ),
            drops: pair(Some(ours.drops), of("drops")),
            first_drop_s: pair(ours.first_drop.map(|at| at.secs_f64() - start), of("first_drop")),
            timeouts: pair(Some(ours.timeouts), of("timeouts")),
        }
    }

    /// Whether throughput, drops and timeouts are within tolerance.
    pub(crate) fn agreements(&self) -> [bool; 3] {
        agreements([self.throughput_mbps, self.drops, self.timeouts])
    }

    /// Why it does not agree; `None`: it does.
    pub(crate) fn reason(&self) -> Option<Reason> {
        if self.agreements() == [true; 3] {
            return None;
        }
        let pairs = [self.throughput_mbps, self.drops, self.timeouts];
        let rounded = self.row["again"].split(';').any(|again| {
            let again: Vec<f64> = again.split(':').map(|n| n.parse().expect("a number")).collect();
            let beside = |ours: fn(Pair) -> Option<f64>| {
                let pair = |i: usize| Pair { ours: ours(pairs[i]), theirs: Some(again[i]) };
                agreements([pair(0), pair(1), pair(2)]) == [true; 3]
            };
            beside(|pair| pair.ours) || !beside(|pair| pair.theirs)
        });
        Some(match () {
            () if self.row["agent"] == "Vegas" => Reason::Vegas,
            () if rounded => Reason::Rounding,
            () => Reason::Unknown,
        })
    }
}

pub(crate) fn agreements([throughput, drops, timeouts]: [Pair; 3]) -> [bool; 3] {
    [!throughput.exceeds(THROUGHPUT), !drops.exceeds(DROPS), !timeouts.exceeds(0.0)]
}

/// What of a run is compared.
#[derive(Default)]
struct Ours {
    size_bytes: Option<u64>,
    /// When the sender learnt that everything has arrived.
    done: Option<Time>,
    drops: f64,
    first_drop: Option<Time>,
    timeouts: f64,
}

impl Observer for Ours {
    fn on_flow(&mut self, sample: &FlowSample) {
        if sample.flow == 0 && self.size_bytes.is_some_and(|size| sample.delivered_bytes >= size) {
            self.done.get_or_insert(sample.now);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        if event.flow != 0 {
            return;
        }
        match event.kind {
            // A SYN counts as well.
            FlowEventKind::Dropped { link, .. } if link as usize == BOTTLENECK => {
                self.drops += 1.0;
                self.first_drop.get_or_insert(event.now);
            }
            FlowEventKind::Timeout { .. } => self.timeouts += 1.0,
            _ => {}
        }
    }
}

fn played(row: &Row) -> Scenario {
    let whole = |column: &str| number(row, column).expect("a number") as u64;
    let ns = |column: &str| Time::from_ns(whole(column));
    let kbit = |column: &str| Rate::from_bits_per_s(1000 * whole(column));
    let at = |column: &str| Time::from_secs_f64(number(row, column).expect("a time"));
    let path = Bottleneck {
        rate: kbit("rate_kbps"),
        delay: Time::from_us(whole("delay_us")),
        side_rate: kbit("side_kbps"),
        side_delay: ns("near_ns"),
        queue_packets: whole("buffer") - 1,
    };
    let kind = row["cross"].as_str();
    let mut cross = [ns("cross_near_ns"), ns("cross_far_ns")];
    if kind.ends_with("reverse") {
        // Its sender is on the right.
        cross.reverse();
    }
    let sides = [ns("near_ns"), ns("far_ns"), cross[0], cross[1]];
    let links = path.links(Limit::Packets(whole("return_buffer") - 1), sides);
    let (sender, receiver) = ends(row);
    let phase = |index: usize| {
        let phase = row["phases"].split(';').nth(index).expect("a phase for each connection");
        Some(Time::from_secs_f64(phase.parse().expect("a number")))
    };
    let mut flow = bulk_flow([SENDER, RECEIVER], at("start"), sender.clone(), receiver);
    flow.sender.sampled = true;
    flow.sender.rto.phase = phase(0);
    if let Some(packets) = number(row, "packets") {
        flow.source = Source::Sized(packets as u64 * u64::from(sender.mss_bytes));
    }
    let mut flows = vec![flow];
    let mut traffic = Vec::new();
    let (forth, back) = ([CROSS_SENDER, CROSS_RECEIVER], [CROSS_RECEIVER, CROSS_SENDER]);
    match kind {
        "none" => {}
        "flow" | "reverse" => {
            let mut other = sender;
            other.rto.phase = phase(1);
            let pair = if kind == "flow" { forth } else { back };
            flows.push(bulk_flow(pair, at("cross_start"), other, receiver));
        }
        "cbr" | "cbr-reverse" | "onoff" => {
            let times: Vec<_> = row["cross_times"]
                .split(';')
                .map(|time| Time::from_secs_f64(time.parse().expect("a time")))
                .collect();
            let pair = if kind == "cbr-reverse" { back } else { forth };
            traffic.extend(times.chunks(2).map(|span| {
                let end = span.get(1).copied().unwrap_or(Time::NEVER);
                constant_rate(pair, kbit("cross_kbps"), span[0]..end)
            }));
        }
        other => panic!("no such traffic: {other}"),
    }
    scenario(links, flows, traffic, at("duration"))
}

/// The ends of a row, both connections' alike.
fn ends(row: &Row) -> (SenderConfig, ReceiverConfig) {
    let packets = |column: &str| number(row, column).map(|n| n as u32);
    let startup = if row["agent"] == "Vegas" { "vegas" } else { "slow_start" };
    let startup = rampcc::algorithm(startup).expect("a registered algorithm");
    let mut sender = SenderConfig::new(Profile::Ns2, startup);
    sender.mss_bytes = packets("packet").expect("a size");
    sender.initial_window_packets = packets("iw").expect("a window");
    sender.initial_ssthresh_packets = packets("ssthresh");
    sender.max_burst_packets = packets("maxburst").expect("a burst");
    sender.recovery = match row["agent"].as_str() {
        "Sack1" => Recovery::SackNs2,
        "Newreno-steady" => Recovery::NewRenoSteady,
        _ => Recovery::NewRenoImpatient,
    };
    if row["agent"] == "Vegas" {
        sender.avoidance = Avoidance::Vegas;
        // Its agent forgets to add them.
        sender.header_bytes = 0;
    }
    let mut receiver = ReceiverConfig::new(Profile::Ns2);
    if row["delack"] == "1" {
        receiver.ack_policy = AckPolicy::Delayed { every: 2, timer: Time::from_ms(100) };
    }
    (sender, receiver)
}
