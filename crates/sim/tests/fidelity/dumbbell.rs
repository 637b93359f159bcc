//! Many short flows over [HS03]'s dumbbell of 204 nodes on each side against ns-2's Sack1: distributions, since two
//! simulators part ways at the first packet that one of them drops and the other does not.

use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_path::{Limit, LinkConfig};
use rampcc_scenario::{NamedLink, OfSender, Scenario, Steering, Stop, Topology, Traffic, TrafficKind};
use rampcc_sim::simulate;
use rampcc_tcp::{Profile, ReceiverConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

use crate::bulk::Pair;
use crate::common::empty;
use crate::ns2::{mbit, sender};
use crate::oracle::{Row, find, number, table};

/// A workload, ns-2's name of the variant, and its initial ssthresh in packets.
pub(crate) const CASES: [(&str, &str, u32); 4] = [
    ("db50_bidir_s1", "sack", 20_000),
    ("db50_bidir_s1", "sack_ss20", 20),
    ("db200_bidir_s1", "sack", 20_000),
    ("db200_bidir_s1", "sack_ss20", 20),
];

const HOSTS: usize = 102;
/// The first flows warm up, the last ones see the load fade.
const MONITORED: std::ops::Range<usize> = 300..2300;
/// ns-2 waited this long for the last flow.
const TAIL: Time = Time::from_secs(120);

/// One row of the table.
pub(crate) struct Load {
    pub(crate) name: String,
    pub(crate) median_mbps: Pair,
    pub(crate) mean_mbps: Pair,
    pub(crate) loss: Pair,
    pub(crate) lossy_flows: Pair,
    pub(crate) flows_with_rto: Pair,
    /// Least and most of each of these in ns-2, over the seeds of its agents' clocks.
    pub(crate) spread: [[f64; 2]; 5],
    pub(crate) unfinished: u64,
}

impl Load {
    /// What exceeds its tolerance. Which packets meet in a queue is chaos; how many do is not: rates within 5 %,
    /// counts within 10 % or three flows.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (what, pair, relative, absolute) in [
            ("median rate", self.median_mbps, 0.05, 0.0),
            ("mean rate", self.mean_mbps, 0.05, 0.0),
            ("loss", self.loss, 0.10, 0.0),
            ("lossy flows", self.lossy_flows, 0.10, 3.0),
            ("flows with a timeout", self.flows_with_rto, 0.10, 3.0),
        ] {
            let (ours, theirs) = (pair.ours.unwrap_or(f64::NAN), pair.theirs.unwrap_or(f64::NAN));
            let within = (ours - theirs).abs() <= f64::max(relative * theirs, absolute);
            if !within {
                faults.push(format!("{}: {what} {ours}, {theirs} expected", self.name));
            }
        }
        if self.unfinished > 0 {
            faults.push(format!("{}: {} flows have not finished", self.name, self.unfinished));
        }
        faults
    }
}

/// Plays one workload and compares it with ns-2's summary.
pub(crate) fn compare(workload: &str, variant: &str, ssthresh: u32) -> Load {
    let listed = table(&format!("ns2/{workload}.csv.gz"));
    let scenario = scenario(&listed, ssthresh);
    let forward = listed.iter().map(|row| number(row, "src_router").expect("a router") as u32).collect();
    let mut fates = Fates { forward, ..Fates::default() };
    simulate(&scenario, 1, &mut fates, &AtomicBool::new(false)).expect("a valid scenario");
    let flows = &fates.flows[MONITORED];

    let mut rates: Vec<f64> = flows.iter().filter_map(Fate::mbps).collect();
    rates.sort_by(f64::total_cmp);
    let count = |holds: fn(&Fate) -> bool| flows.iter().filter(|f| holds(f)).count() as f64;
    let total = |of: fn(&Fate) -> u64| flows.iter().map(of).sum::<u64>() as f64;

    let summary = table("ns2/dumbbell.csv");
    let row = find(&summary, &[("workload", workload), ("variant", variant)]);
    let pair = |ours, column| Pair { ours: Some(ours), theirs: number(row, column) };
    let seeds = table("ns2/dumbbell_seeds.csv");
    let spread = ["thr_p50", "thr_mean", "total_loss", "lossy_flows", "flows_with_rto"].map(|column| {
        let of = |row: &Row| number(row, column).expect("a number in every field");
        let seeds = seeds.iter().filter(|row| row["workload"] == workload && row["variant"] == variant);
        let all = seeds.chain([row]).map(of);
        [all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max)]
    });
    Load {
        name: format!("{workload}, {variant}"),
        median_mbps: pair(rates[rates.len() / 2], "thr_p50"),
        mean_mbps: pair(rates.iter().sum::<f64>() / rates.len() as f64, "thr_mean"),
        loss: pair(total(|f| f.drops) / total(|f| f.sent_packets), "total_loss"),
        lossy_flows: pair(count(|f| f.drops > 0), "lossy_flows"),
        flows_with_rto: pair(count(|f| f.timeouts > 0), "flows_with_rto"),
        spread,
        unfinished: (flows.len() - rates.len()) as u64,
    }
}

/// What became of a flow.
#[derive(Clone, Default)]
struct Fate {
    size_bytes: u64,
    opened: Time,
    done: Option<Time>,
    drops: u64,
    timeouts: u64,
    sent_packets: u64,
}

impl Fate {
    fn mbps(&self) -> Option<f64> {
        Some(self.size_bytes as f64 * 8e-6 / (self.done? - self.opened).secs_f64())
    }
}

/// Every flow by its number; what the sender knows counts, as in ns-2.
#[derive(Default)]
struct Fates {
    flows: Vec<Fate>,
    /// By flow, the link between the routers that its data cross.
    forward: Vec<u32>,
}

impl Observer for Fates {
    fn on_flow(&mut self, sample: &FlowSample) {
        let fate = &mut self.flows[sample.flow as usize];
        // ns-2 counts the SYN.
        fate.sent_packets = 1 + sample.sent_bytes / 1000;
        if sample.delivered_bytes >= fate.size_bytes {
            fate.done.get_or_insert(sample.now);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        let index = event.flow as usize;
        match event.kind {
            FlowEventKind::Opened { size_bytes, .. } => {
                assert_eq!(index, self.flows.len(), "flows open in order");
                self.flows.push(Fate { size_bytes, opened: event.now, ..Fate::default() });
            }
            // Its SYN counts, its ACKs do not: they cross the other way.
            FlowEventKind::Dropped { link, .. } if link == self.forward[index] => {
                self.flows[index].drops += 1;
            }
            FlowEventKind::Timeout { .. } => self.flows[index].timeouts += 1,
            _ => {}
        }
    }
}

/// Two routers, 20 Mbit/s, 20 ms and 100 packets between them, hosts on links of 50 Mbit/s without delay.
fn scenario(listed: &[Row], ssthresh: u32) -> Scenario {
    let mut nodes = vec!["router0".to_owned(), "router1".to_owned()];
    let mut links = vec![];
    let mut link = |from: usize, to: usize, config| {
        links.push(NamedLink { name: format!("{from}-{to}"), from, to, config });
    };
    for (from, to) in [(0, 1), (1, 0)] {
        link(from, to, LinkConfig::constant(mbit(20), Time::from_ms(20), Limit::Packets(100 - 1)));
    }
    for router in 0..2 {
        for _ in 0..2 * HOSTS {
            let host = nodes.len();
            nodes.push(format!("host{host}"));
            for (from, to) in [(host, router), (router, host)] {
                link(from, to, LinkConfig::constant(mbit(50), Time::ZERO, Limit::Unlimited));
            }
        }
    }
    let field = |row: &Row, column| number(row, column).expect("a number in every field");
    let host =
        |router: f64, index: f64, sink: usize| 2 + (2 * router as usize + sink) * HOSTS + index as usize;
    let flows: Vec<_> = listed
        .iter()
        .map(|row| {
            (
                Time::from_secs_f64(field(row, "start_s")),
                host(field(row, "src_router"), field(row, "src_idx"), 0),
                host(field(row, "dst_router"), field(row, "dst_idx"), 1),
                1000 * field(row, "size_pkts") as u64,
            )
        })
        .collect();
    let last = flows.iter().map(|flow| flow.0).max().unwrap_or_default();
    let mut sender = sender("slow_start");
    sender.initial_ssthresh_packets = Some(ssthresh);
    sender.sampled = true;
    let steering =
        Steering { algorithm: sender.startup, parameters: sender.parameters, sender: OfSender::default() };
    let kind = TrafficKind::Listed {
        flows: flows.into(),
        sender: Box::new(sender),
        receiver: ReceiverConfig::new(Profile::Ns2),
        under_test_share: 0.0,
    };
    Scenario {
        name: "dumbbell".to_owned(),
        profile: Profile::Ns2,
        topology: Topology { nodes, links },
        bottleneck: 0,
        flows: Vec::new(),
        traffic: vec![Traffic {
            name: "listed".to_owned(),
            pairs: Vec::new(),
            start: Time::ZERO,
            end: Time::NEVER,
            rtt: None,
            kind,
        }],
        stop: Stop { after: last + TAIL, when_complete: false },
        steering,
        ..empty(0, 0.0)
    }
}
