//! Quick-Start against ns-2's, over [LU]'s topology: what the routers approve, and what the grant is worth.

use std::sync::atomic::AtomicBool;

use rampcc::{Rate, Time};
use rampcc_path::QuickStartPolicy;
use rampcc_scenario::{Scenario, Source};
use rampcc_sim::simulate;
use rampcc_tcp::{Profile, ReceiverConfig, Recovery};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

use crate::bulk::Pair;
use crate::ns2::{PHASE, mbit, sender};
use crate::oracle::{Row, number, table};
use crate::topology::Bottleneck;

/// Relative difference of a row that agrees.
const CLOSE: f64 = 0.01;
/// And where what remains has a reason.
const ALIKE: f64 = 0.05;
/// ns-2 with the threshold that the RFC asks for.
const RFC_THRESHOLD: &str = "loss, RFC's ssthresh";
const START: Time = Time::from_secs(1);
/// Above every window: slow start is not limited.
const NO_LIMIT: u64 = 1_000_000;

/// A row of `oracles/ns2/quickstart.csv`, ours and ns-2's.
pub(crate) struct Granted {
    pub(crate) name: String,
    /// The window after the SYN's answer, in packets.
    pub(crate) window: Pair,
    /// From the SYN until the sender knows that all has arrived.
    pub(crate) download_s: Pair,
    pub(crate) drops: Pair,
    pub(crate) timeouts: Pair,
    /// ns-2's own download a second later, and its first.
    again: Pair,
}

pub(crate) fn all() -> Vec<Row> {
    table("ns2/quickstart.csv")
}

impl Granted {
    /// Plays a row and compares it with ns-2's result.
    pub(crate) fn compare(row: &Row) -> Self {
        let mut ours = Ours { size_bytes: size_bytes(row), ..Ours::default() };
        simulate(&scenario(row), 1, &mut ours, &AtomicBool::new(false)).expect("a valid scenario");
        let pair = |ours, column| Pair { ours, theirs: number(row, column) };
        Self {
            name: row["run"].clone(),
            window: pair(ours.window, "window_pkts"),
            download_s: pair(ours.done.map(|done| (done - START).secs_f64()), "download_s"),
            drops: pair(Some(ours.drops), "drops"),
            timeouts: pair(Some(ours.timeouts), "timeouts"),
            again: pair(number(row, "again_s"), "download_s"),
        }
    }

    /// Why more than a hundredth is between them: the heading in the document.
    pub(crate) fn reason(&self) -> &'static str {
        match self.name.as_str() {
            "beside 30 Mbit/s" => "Rows without a reason",
            "little loss" => "",
            name if name.contains("loss") => "After a loss in the granted window",
            _ if self.again.exceeds(CLOSE) => "What ns-2 does not do twice",
            _ => "",
        }
    }

    /// What exceeds its tolerance.
    pub(crate) fn faults(&self) -> Vec<String> {
        // The window is granted before anything can be lost.
        let whole_packet = self.window.ours.zip(self.window.theirs).is_some_and(|(a, b)| (a - b).abs() < 1.0);
        let mut faults = Vec::new();
        if !whole_packet {
            faults.push(format!("Quick-Start, {}: window {:?}", self.name, self.window));
        }
        let (download, exactly) = match self.reason() {
            "" => (CLOSE, true),
            "Rows without a reason" => (CLOSE, false),
            _ if self.name == RFC_THRESHOLD => (ALIKE, false),
            "After a loss in the granted window" => (f64::INFINITY, false),
            _ => (ALIKE, false),
        };
        let late = Pair { ours: self.download_s.ours, theirs: self.again.ours };
        if self.download_s.exceeds(download) && late.exceeds(download) {
            faults.push(format!("Quick-Start, {}: download {:?}", self.name, self.download_s));
        }
        for (what, pair) in [("drops", self.drops), ("timeouts", self.timeouts)] {
            if exactly && pair.exceeds(0.0) {
                faults.push(format!("Quick-Start, {}: {what} {pair:?}", self.name));
            }
        }
        faults
    }
}

fn whole(row: &Row, column: &str) -> u64 {
    number(row, column).expect("a number") as u64
}

fn path(row: &Row) -> Bottleneck {
    Bottleneck {
        rate: mbit(40),
        delay: Time::from_ms(50),
        side_rate: mbit(500),
        side_delay: Time::from_us(100),
        queue_packets: whole(row, "buf") - 1,
    }
}

fn size_bytes(row: &Row) -> u64 {
    1000 * whole(row, "npkts")
}

fn scenario(row: &Row) -> Scenario {
    let mut sender = sender("quickstart");
    sender.recovery = match row["cc"].as_str() {
        "Sack1" => Recovery::SackNs2,
        "Newreno" => Recovery::NewRenoImpatient,
        other => panic!("{other} is no agent"),
    };
    let limit = sender.startup.parameters.iter().position(|p| p.name == "max_ssthresh").expect("a parameter");
    sender.parameters[limit] = if row["maxss"] == "0" { NO_LIMIT } else { whole(row, "maxss") };
    sender.rto.phase = Some(PHASE);
    sender.sampled = true;
    let span = START..START + Time::from_secs(60);
    let cbr = Rate::from_bits_per_s(whole(row, "cbw_mbps") * 1_000_000);
    let mut scenario = path(row).scenario(sender, ReceiverConfig::new(Profile::Ns2), span, cbr);
    scenario.flows[0].source = Source::Sized(size_bytes(row));
    for traffic in &mut scenario.traffic {
        let at = |column: &str| number(row, column).map(Time::from_secs_f64);
        traffic.start = at("cbr_start_s").expect("a time");
        traffic.end = at("cbr_stop_s").unwrap_or(Time::NEVER);
    }
    for (link, policy) in scenario.topology.links.iter_mut().zip(row["qs"].split(',')) {
        link.config.quick_start = match policy {
            "grant" => QuickStartPolicy::Grant,
            "refuse" => QuickStartPolicy::Refuse,
            "unaware" => QuickStartPolicy::Unaware,
            other => panic!("{other} is nothing that a router does"),
        };
    }
    scenario
}

/// What one run of ours came to.
#[derive(Default)]
struct Ours {
    size_bytes: u64,
    /// When the sender learnt that everything has arrived.
    done: Option<Time>,
    window: Option<f64>,
    drops: f64,
    timeouts: f64,
}

impl Observer for Ours {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.window.get_or_insert(sample.cwnd_bytes as f64 / 1000.0);
        if sample.delivered_bytes >= self.size_bytes {
            self.done.get_or_insert(sample.now);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::Dropped { data: true, .. } if event.flow == 0 => self.drops += 1.0,
            FlowEventKind::Timeout { .. } if event.flow == 0 => self.timeouts += 1.0,
            _ => {}
        }
    }
}
