//! Randomness of a scenario: can its runs differ at all?

use rampcc::Time;
use rampcc_path::{Jitter, LinkConfig, LossConfig};
use rampcc_tcp::SenderConfig;

use crate::model::{Scenario, Traffic, TrafficKind};

impl Scenario {
    /// True if anything is drawn from the seed. Without it, every run of an algorithm is the same run.
    pub fn has_chance(&self) -> bool {
        self.trace_offset_range > Time::ZERO
            || self.topology.links.iter().any(|link| link_has_chance(&link.config))
            || self.flows.iter().any(|flow| flow.start_jitter > Time::ZERO || sender_has_chance(&flow.sender))
            || self.traffic.iter().any(traffic_has_chance)
    }
}

/// Where a clock is within its tick is drawn.
fn sender_has_chance(sender: &SenderConfig) -> bool {
    sender.rto.count_ticks && sender.rto.phase.is_none()
}

fn link_has_chance(link: &LinkConfig) -> bool {
    let loss = match &link.loss {
        LossConfig::None | LossConfig::Listed(_) => false,
        LossConfig::Random { probability } => uncertain(*probability),
        LossConfig::GilbertElliott { to_bad, to_good, good, bad } => {
            [to_bad, to_good, good, bad].into_iter().any(|p| uncertain(*p))
        }
    };
    link.queue.has_chance()
        || loss
        || link.delay.jitter.as_ref().is_some_and(jitter_has_chance)
        || link.delay.reordering.is_some_and(|reordering| uncertain(reordering.probability))
}

fn jitter_has_chance(jitter: &Jitter) -> bool {
    match jitter {
        Jitter::Uniform { max, .. } | Jitter::Pareto { max, .. } => *max > Time::ZERO,
        Jitter::Normal { sigma, .. } => *sigma > Time::ZERO,
        Jitter::Sine { amplitude, .. } => *amplitude > Time::ZERO,
        // The first grant is drawn.
        Jitter::Grant { .. } => true,
        Jitter::Sum(parts) => parts.iter().any(jitter_has_chance),
    }
}

fn traffic_has_chance(traffic: &Traffic) -> bool {
    match &traffic.kind {
        TrafficKind::Cbr { .. } => traffic.pairs.len() > 1,
        TrafficKind::Listed { under_test_share, sender, .. } => {
            uncertain(*under_test_share) || sender_has_chance(sender)
        }
        // Arrivals are drawn, even where sizes are not.
        TrafficKind::Poisson { .. } | TrafficKind::Web { .. } => true,
    }
}

/// Neither never nor always.
fn uncertain(probability: f64) -> bool {
    probability > 0.0 && probability < 1.0
}
