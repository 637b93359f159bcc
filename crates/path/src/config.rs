//! Description of a link, as plain data. `scenario` fills it in, [`crate::Link`] plays it.

use std::sync::Arc;

use rampcc::{Rate, Time};

/// One direction of one hop.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Rate of service.
    pub capacity: Capacity,
    /// Queue in front of it.
    pub queue: QueueConfig,
    /// Travel time of a packet after service.
    pub delay: DelayConfig,
    /// Losses of the medium, before the queue.
    pub loss: LossConfig,
    /// Filter for pure ACKs, before the queue.
    pub ack_filter: Option<AckFilter>,
    /// What the router before it does with Quick-Start requests. A link only stores it.
    pub quick_start: QuickStartPolicy,
    /// What comes first at one instant.
    pub ties: Ties,
}

/// What comes first when a packet arrives at the very instant at which another leaves a full queue.
///
/// CoDel, which decides when a packet leaves, always lets the departure come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The departure: there is room for the packet.
    #[default]
    Departure,
    /// The arrival: there is none. So it is in ns-2 where a packet takes longer over the link before this one than over
    /// this one, since ns-2 handles what it planned first.
    Arrival,
}

/// What a router does with Quick-Start requests (RFC 4782).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuickStartPolicy {
    /// It does not know the option, and passes it on untouched: hosts notice, and the request fails.
    #[default]
    Unaware,
    /// It knows the option and grants nothing.
    Refuse,
    /// It grants what its link has left.
    Grant,
}

impl LinkConfig {
    /// A link of one rate and delay with a drop-tail queue, that loses nothing else.
    pub fn constant(rate: Rate, delay: Time, limit: Limit) -> Self {
        Self {
            capacity: Capacity::Constant(rate),
            queue: QueueConfig::DropTail { limit },
            delay: DelayConfig { propagation: Propagation::Constant(delay), jitter: None, reordering: None },
            loss: LossConfig::None,
            ack_filter: None,
            quick_start: QuickStartPolicy::Unaware,
            ties: Ties::default(),
        }
    }
}

/// Rate at which a link serves.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Serves at once; the queue is never used.
    Unlimited,
    /// Always the same.
    Constant(Rate),
    /// From each time on, that rate; times ascend and the first is zero. Rate 0 is an outage.
    Steps {
        /// Beginning of each rate.
        steps: Arc<[(Time, Rate)]>,
        /// Start again after this long.
        period: Option<Time>,
    },
    /// Delivery opportunities of a measured link (mahimahi format).
    Trace(Opportunities),
}

/// A measured link: instants at which up to `bytes` may leave.
///
/// Unused room of an opportunity is lost, as in mahimahi: a packet may use several, and several packets may
/// share one, but nothing is carried over an idle instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Opportunities {
    /// Ascending instants, never empty.
    pub at: Arc<[Time]>,
    /// The trace starts again after this long (mahimahi: the last instant).
    pub period: Time,
    /// Bytes per opportunity; 1500 in mahimahi.
    pub bytes: u32,
    /// Start of a run within the trace.
    pub offset: Time,
}

/// Capacity of a queue. The packet in service is not counted, as in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Wire bytes.
    Bytes(u64),
    /// Packets.
    Packets(u64),
    /// Everything.
    Unlimited,
}

/// Queue in front of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// Drops what does not fit.
    DropTail {
        /// Capacity.
        limit: Limit,
    },
    /// Random early detection (Floyd & Jacobson 1993), thresholds in packets.
    Red {
        /// Capacity.
        limit: Limit,
        /// Lower threshold of the average queue, packets.
        min: f64,
        /// Upper threshold of the average queue, packets.
        max: f64,
        /// Weight of a new sample in the average.
        weight: f64,
        /// Drop probability at `max`.
        max_p: f64,
        /// From `max_p` to 1 over `[max, 2 max]` instead of at once.
        gentle: bool,
        /// No drop sooner than 1/p packets after the one before; otherwise, any of the next 1/p.
        wait: bool,
        /// Up to `max`, marks markable packets instead of dropping them.
        ecn: bool,
    },
    /// CoDel (RFC 8289).
    CoDel {
        /// Capacity.
        limit: Limit,
        /// Acceptable standing delay.
        target: Time,
        /// Sliding window of the minimum.
        interval: Time,
        /// Marks markable packets instead of dropping them.
        ecn: bool,
    },
    /// Drops at random above a level, as the GEO operator of the BEST paper does.
    RandomDrop {
        /// Capacity.
        limit: Limit,
        /// Random drops begin above this many wire bytes waiting.
        above_bytes: u64,
        /// With this probability for each arriving packet, independently.
        probability: f64,
    },
    /// A token bucket before the queue: what finds no tokens is dropped.
    Policer {
        /// Capacity of the queue behind it.
        limit: Limit,
        /// Tokens come at this rate, for wire bytes.
        rate: Rate,
        /// The bucket holds so many wire bytes of them, and is full at first.
        burst_bytes: u64,
    },
}

impl QueueConfig {
    /// Room for waiting packets.
    pub const fn limit(&self) -> Limit {
        match *self {
            Self::DropTail { limit }
            | Self::Red { limit, .. }
            | Self::CoDel { limit, .. }
            | Self::RandomDrop { limit, .. }
            | Self::Policer { limit, .. } => limit,
        }
    }

    /// True if it draws drops from the seed.
    pub fn has_chance(&self) -> bool {
        match *self {
            Self::DropTail { .. } | Self::CoDel { .. } | Self::Policer { .. } => false,
            Self::Red { .. } => true,
            Self::RandomDrop { probability, .. } => probability > 0.0 && probability < 1.0,
        }
    }
}

/// Travel time of a packet after service.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayConfig {
    /// The part that is the same for everybody.
    pub propagation: Propagation,
    /// Jitter added on top.
    pub jitter: Option<Jitter>,
    /// Later packets may overtake earlier ones. Without it, order is kept.
    pub reordering: Option<Reordering>,
}

/// One-way propagation delay over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Propagation {
    /// Always the same.
    Constant(Time),
    /// From each time on, that delay (LEO handovers); times ascend and the first is zero.
    Steps {
        /// Beginning of each delay.
        steps: Arc<[(Time, Time)]>,
        /// Start again after this long.
        period: Option<Time>,
    },
    /// One measured value per step, repeated from the start after the last.
    Trace {
        /// One-way delays, never empty.
        values: Arc<[Time]>,
        /// Duration of each value.
        step: Time,
        /// Start of a run within the trace; the same as the capacity trace's, for pairs on one clock.
        offset: Time,
    },
}

impl Propagation {
    /// The smallest of its delays.
    pub fn smallest(&self) -> Time {
        match self {
            Self::Constant(delay) => *delay,
            Self::Steps { steps, .. } => steps.iter().map(|s| s.1).min().unwrap_or_default(),
            Self::Trace { values, .. } => values.iter().copied().min().unwrap_or_default(),
        }
    }

    /// The same with every delay changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(Time) -> Time) -> Self {
        match self {
            Self::Constant(delay) => Self::Constant(change(*delay)),
            Self::Steps { steps, period } => Self::Steps {
                steps: steps.iter().map(|(at, delay)| (*at, change(*delay))).collect(),
                period: *period,
            },
            Self::Trace { values, step, offset } => Self::Trace {
                values: values.iter().map(|delay| change(*delay)).collect(),
                step: *step,
                offset: *offset,
            },
        }
    }
}

/// Delay that varies. Draws depend on the seed and on time, not on who sends what, so that two
/// algorithms meet the same path.
#[derive(Clone, Debug, PartialEq)]
pub enum Jitter {
    /// Uniform in `[0, max]`, a new value every `step` (0: every packet).
    Uniform {
        /// Largest value.
        max: Time,
        /// Duration of a value.
        step: Time,
    },
    /// Normal, cut at zero, a new value every `step` (0: every packet).
    Normal {
        /// Mean.
        mean: Time,
        /// Standard deviation.
        sigma: Time,
        /// Duration of a value.
        step: Time,
    },
    /// Pareto with this median, a new value every `step` (0: every packet).
    Pareto {
        /// Median of the added delay.
        median: Time,
        /// Tail index.
        shape: f64,
        /// Largest value.
        max: Time,
        /// Duration of a value.
        step: Time,
    },
    /// A slow swing: `amplitude (1 + sin)/2`, random phase.
    Sine {
        /// Peak to peak.
        amplitude: Time,
        /// Period.
        period: Time,
    },
    /// A scheduled return link: packets wait for the next grant before they join the queue, and then leave back
    /// to back at the link's rate. Grants come every `period`, each moved by up to `jitter`, with a random
    /// first one.
    Grant {
        /// Time between grants.
        period: Time,
        /// Uniform displacement of each grant.
        jitter: Time,
        /// Capacity of a grant; `None`: everything that waits.
        demand: Option<Demand>,
    },
    /// The sum of several.
    Sum(Vec<Self>),
}

/// Capacity assigned on demand, as a satellite's return link has it (ETSI EN 301 542-2, CRA, VBDC and FCA): a grant carries an
/// assured volume, and what arrived before the grant that lies `delay` back, which was asked for then, `free` times over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Wire bytes of every grant.
    pub assured_bytes: u64,
    /// From a request to the grant that answers it: a round trip to the satellite's gateway.
    pub delay: Time,
    /// While the link has free capacity, an answer is for so many times what was asked for; at least 1.
    pub free: u32,
}

/// Overtaking on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Probability that a packet is held back.
    pub probability: f64,
    /// By how much.
    pub delay: Time,
}

/// Losses of the medium.
#[derive(Clone, Debug, PartialEq)]
pub enum LossConfig {
    /// Nothing.
    None,
    /// Each packet with this probability, independently.
    Random {
        /// Loss probability.
        probability: f64,
    },
    /// Two-state Markov chain (Gilbert 1960, Elliott 1963), one step per packet.
    GilbertElliott {
        /// Probability of going from good to bad.
        to_bad: f64,
        /// Probability of going from bad to good.
        to_good: f64,
        /// Loss probability in the good state.
        good: f64,
        /// Loss probability in the bad state.
        bad: f64,
    },
    /// Exactly these packets of the link, counted from 0; for tests and what-if runs.
    Listed(Arc<[u64]>),
}

/// Filter that some links apply to pure ACKs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckFilter {
    /// Hold ACKs and release them together (Wi-Fi, DOCSIS): when `count` wait or the oldest is `hold` old.
    Aggregate {
        /// ACKs released at once at the latest.
        count: u32,
        /// Longest wait.
        hold: Time,
    },
    /// The newest ACK of a flight waits in place of those before it (RFC 3449 §5.2.1, ACK filtering).
    Thin {
        /// It goes on when so many of its flow have come ...
        keep: u32,
        /// ... or so long after the first of them.
        hold: Time,
    },
}
