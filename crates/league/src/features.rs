//! What tells one path from another: the properties in whose words the league says where an algorithm fails.

use rampcc::{Rate, Time};
use rampcc_experiment::context;
use rampcc_path::{AckFilter, Capacity, Jitter, LossConfig, Propagation, QueueConfig};
use rampcc_scenario::{Scenario, Source, TrafficKind};
use rampcc_tcp::{AckPolicy, ReceiveWindow};
use serde::{Deserialize, Serialize};

/// A property of paths.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// In data files.
    pub id: &'static str,
    /// In sentences, before a value.
    pub name: &'static str,
    /// After a value.
    pub unit: &'static str,
    /// True if a path has it or not.
    pub whether: bool,
}

const fn amount(id: &'static str, name: &'static str, unit: &'static str) -> Feature {
    Feature { id, name, unit, whether: false }
}

const fn whether(id: &'static str, name: &'static str) -> Feature {
    Feature { id, name, unit: "", whether: true }
}

/// All of them, in the order of [`Features`].
pub const FEATURES: [Feature; 20] = [
    amount("rate", "rate", "Mbit/s"),
    amount("rtt", "RTT", "ms"),
    amount("bdp", "BDP", "packets"),
    amount("buffer", "buffer", "BDP"),
    amount("noise", "delay noise", "of the RTT"),
    amount("bunching", "ACKs held back", "of the RTT"),
    amount("thinning", "packets per ACK kept", ""),
    amount("return", "return rate", "of the rate"),
    amount("loss", "loss of the medium", "%"),
    amount("cbr", "CBR cross traffic", "of the rate"),
    amount("window", "receive window", "BDP"),
    whether("long", "a running flow"),
    whether("web", "web traffic"),
    whether("varies", "a rate that changes"),
    whether("aqm", "RED or CoDel"),
    whether("delayed", "delayed ACKs from the start"),
    amount("stretch", "packets per ACK sent", ""),
    whether("handshake", "a handshake slower than the data"),
    whether("flight", "a first flight before the rest"),
    whether("policer", "a policer"),
];

/// Values of [`FEATURES`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features(pub [f64; 20]);

impl Features {
    /// Of a path, as the first flow under test meets it.
    pub fn of(scenario: &Scenario) -> Self {
        let context = context(scenario);
        let link = |way: usize| scenario.topology.links.get(way).map(|link| &link.config);
        let forward = link(scenario.bottleneck);
        let flow = scenario.flows.iter().find(|flow| flow.under_test);
        // The way of the ACKs: its slowest link.
        let back = flow
            .and_then(|flow| scenario.route(flow.to, flow.from))
            .and_then(|route| route.into_iter().filter_map(link).min_by(|a, b| rate(a).total_cmp(&rate(b))));
        let rtt_s = context.base_rtt_s.max(1e-9);
        let bdp = context.bdp_bytes.max(1) as f64;
        let payload = bdp / rtt_s;
        let wire_bits = payload * context.wire_factor() * 8.0;
        let noise_s: f64 =
            [forward, back].into_iter().flatten().filter_map(|c| c.delay.jitter.as_ref()).map(noise).sum();
        let (hold, keep) = match back.and_then(|config| config.ack_filter) {
            Some(AckFilter::Aggregate { hold, .. }) => (hold.secs_f64(), 1.0),
            Some(AckFilter::Thin { keep, .. }) => (0.0, f64::from(keep)),
            None => (0.0, 1.0),
        };
        let cbr: f64 =
            scenario.traffic.iter().filter_map(|t| cbr(&t.kind)).map(|r| r.bits_per_s() as f64).sum();
        let window = flow.map_or(f64::INFINITY, |flow| match flow.receiver.window {
            ReceiveWindow::Fixed(bytes) => bytes as f64,
            ReceiveWindow::Autotuned { max, .. } => max as f64,
            ReceiveWindow::Unlimited => f64::INFINITY,
        });
        let web = |kind: &TrafficKind| !matches!(kind, TrafficKind::Cbr { .. });
        let yes = |is: bool| f64::from(u8::from(is));
        let values = [
            wire_bits / 1e6,
            rtt_s * 1e3,
            bdp / f64::from(context.mss_bytes.max(1)),
            context.buffer_bytes.map_or(1000.0, |bytes| bytes as f64 / bdp),
            noise_s / rtt_s,
            hold / rtt_s,
            keep,
            (back.map_or(f64::INFINITY, rate) / wire_bits).min(1000.0),
            100.0 * forward.map_or(0.0, |config| loss(&config.loss)),
            cbr / wire_bits,
            (window / bdp).min(1000.0),
            yes(scenario.flows.iter().any(|flow| !flow.under_test)),
            yes(scenario.traffic.iter().any(|t| web(&t.kind))),
            yes(context.varies()),
            yes(forward
                .is_some_and(|c| matches!(c.queue, QueueConfig::Red { .. } | QueueConfig::CoDel { .. }))),
            yes(flow.is_some_and(|flow| matches!(flow.receiver.ack_policy, AckPolicy::Delayed { .. }))),
            flow.map_or(2.0, |flow| match flow.receiver.ack_policy {
                AckPolicy::Delayed { every, .. } => f64::from(every),
                _ => 2.0,
            }),
            yes([forward, back].into_iter().flatten().any(|c| slower_at_first(&c.delay.propagation))),
            yes(flow.is_some_and(|flow| matches!(flow.source, Source::Responses { first_bytes: 1.., .. }))),
            yes(forward.is_some_and(|c| matches!(c.queue, QueueConfig::Policer { .. }))),
        ];
        // The sum of nothing is -0.
        Self(values.map(|value| value + 0.0))
    }

    /// By its id.
    ///
    /// # Panics
    ///
    /// Where none of [`FEATURES`] has this id.
    pub fn get(&self, id: &str) -> f64 {
        let place = FEATURES.iter().position(|feature| feature.id == id);
        self.0[place.expect("an id of FEATURES")]
    }

    /// True if nothing moves but the queue: constant rate and delay, no loss, no other flow, every ACK on time, windows that are
    /// never in the way.
    pub fn is_clean(&self) -> bool {
        let none = [
            "noise",
            "bunching",
            "loss",
            "cbr",
            "long",
            "web",
            "varies",
            "aqm",
            "handshake",
            "flight",
            "policer",
        ];
        none.iter().all(|id| self.get(id) <= 0.0)
            && self.get("thinning") <= 1.0
            && self.get("stretch") <= 2.0
            && self.get("window") >= 1000.0
    }
}

/// Wire rate of cross traffic at a constant rate.
pub(crate) fn cbr(kind: &TrafficKind) -> Option<Rate> {
    if let TrafficKind::Cbr { rate, .. } = kind { Some(*rate) } else { None }
}

fn rate(config: &rampcc_path::LinkConfig) -> f64 {
    match &config.capacity {
        Capacity::Unlimited => f64::INFINITY,
        Capacity::Constant(rate) => rate.bits_per_s() as f64,
        Capacity::Steps { steps, .. } => {
            steps.iter().map(|(_, rate)| rate.bits_per_s() as f64).sum::<f64>() / steps.len().max(1) as f64
        }
        Capacity::Trace(trace) => {
            trace.at.len() as f64 * f64::from(trace.bytes) * 8.0 / trace.period.secs_f64().max(1e-9)
        }
    }
}

/// True of a delay that changes once, to a smaller one.
fn slower_at_first(propagation: &Propagation) -> bool {
    let Propagation::Steps { steps, period: None } = propagation else { return false };
    matches!(steps[..], [(_, first), (_, then)] if first > then)
}

/// By how much it moves a delay, in seconds: nearly all of its range.
fn noise(jitter: &Jitter) -> f64 {
    let seconds = |time: &Time| time.secs_f64();
    match jitter {
        Jitter::Uniform { max, .. } => seconds(max),
        Jitter::Normal { mean, sigma, .. } => seconds(mean) + 2.0 * seconds(sigma),
        Jitter::Pareto { max, .. } => seconds(max),
        Jitter::Sine { amplitude, .. } => seconds(amplitude),
        Jitter::Grant { period, jitter, .. } => seconds(period) + seconds(jitter),
        Jitter::Sum(all) => all.iter().map(noise).sum(),
    }
}

fn loss(config: &LossConfig) -> f64 {
    match config {
        LossConfig::None | LossConfig::Listed(_) => 0.0,
        LossConfig::Random { probability } => *probability,
        LossConfig::GilbertElliott { to_bad, to_good, good, bad } => {
            let share = to_bad / (to_bad + to_good).max(1e-12);
            good + (bad - good) * share
        }
    }
}
