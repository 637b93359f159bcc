//! A checked scenario: every name resolved, every unit applied, every range held.

use std::path::PathBuf;

use rampcc::{Algorithm, PARAMETERS_MAX, Rate, Time};
use rampcc_path::LinkConfig;
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};

use crate::cpu::Cpu;
use crate::history::History;
use crate::of_sender::OfSender;
use crate::traces::{TraceFile, Traces};
use crate::uncertain::Uncertain;

/// Scenario to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Identifier: the file's stem, or `ad-hoc`.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// The TOML text it came from, complete: what makes it again.
    pub text: String,
    /// Rules of the hosts where the file sets none.
    pub profile: Profile,
    /// Nodes and directed links.
    pub topology: Topology,
    /// Index of the link that metrics call the bottleneck.
    pub bottleneck: usize,
    /// Explicit flows; a flow's index is its id.
    pub flows: Vec<FlowConfig>,
    /// Generated traffic; its flows get the ids that follow, in order of arrival.
    pub traffic: Vec<Traffic>,
    /// End of a run.
    pub stop: Stop,
    /// Runs per algorithm unless the command line says otherwise.
    pub runs: u32,
    /// First seed.
    pub seed: u64,
    /// Algorithm of the flows under test, drawn ones (`under_test_share`) included; [`Scenario::with_arm`] sets it.
    /// The `sender` of generated traffic keeps what steers the rest.
    pub steering: Steering,
    /// Parameters of every algorithm as the file sets them, in registry order.
    pub settings: Vec<Steering>,
    /// The processor that every host has; `None`: nothing costs time.
    pub cpu: Option<Cpu>,
    /// What senders remember from before the run.
    pub history: Option<History>,
    /// The start within trace files moves by up to this much, uniformly, by the seed; capacity and delay
    /// traces together. [`Scenario::at_seed`] draws it.
    pub trace_offset_range: Time,
    /// Trace files that were read.
    pub files: Vec<TraceFile>,
    /// Directory for files next to it.
    pub directory: Option<PathBuf>,
    /// Uncertain fields: those that its text lists, or for a `[path]` that lists none, those that it leaves open.
    pub uncertain: Vec<Uncertain>,
    /// Text that its user has written, for messages about it and for the paths around it.
    pub original: Original,
}

/// A scenario as its user knows it, with the traces that it names.
#[derive(Clone, Debug, Default)]
pub struct Original {
    /// The file as it was named, or the scenario's name.
    pub(crate) label: String,
    /// The text before anything was set on top; `None`: that of the scenario.
    pub(crate) text: Option<String>,
    /// What was read of its trace files, which the paths around it share.
    pub(crate) traces: Traces,
}

/// A start-up algorithm with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Steering {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Values in the order of its table.
    pub parameters: [u64; PARAMETERS_MAX],
    /// Fields of the sender that the row sets.
    pub sender: OfSender,
}

impl Steering {
    /// Has a sender steered.
    pub fn apply(&self, sender: &mut SenderConfig) {
        sender.startup = self.algorithm;
        sender.parameters = self.parameters;
        self.sender.apply(sender);
    }
}

/// Nodes and directed links.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Node names.
    pub nodes: Vec<String>,
    /// Directed links.
    pub links: Vec<NamedLink>,
}

/// A directed link between two nodes.
#[derive(Clone, Debug)]
pub struct NamedLink {
    /// Unique name.
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it reaches.
    pub to: usize,
    /// Configuration.
    pub config: LinkConfig,
}

/// One TCP flow.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// For tables and charts.
    pub name: String,
    /// Index of the sending node.
    pub from: usize,
    /// Index of the receiving node.
    pub to: usize,
    /// Time when the application opens it.
    pub start: Time,
    /// The start is moved by up to this much, uniformly, by the seed.
    pub start_jitter: Time,
    /// Source of its data.
    pub source: Source,
    /// Configuration of its sender.
    pub sender: SenderConfig,
    /// Configuration of its receiver.
    pub receiver: ReceiverConfig,
    /// True if the compared algorithm steers it; if not, `sender.startup` stays.
    pub under_test: bool,
}

/// Data that an application sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Until the run ends.
    Bulk,
    /// So many payload bytes.
    Sized(u64),
    /// `chunk` bytes every `interval`, `chunks` times (0: until the run ends).
    Chunks {
        /// Bytes written at once.
        chunk_bytes: u64,
        /// Time between writes.
        interval: Time,
        /// Number of chunks; 0: until the run ends.
        chunks: u64,
    },
    /// Responses over one connection: each is written `think` after all before it has been acknowledged, when the peer's next
    /// request has come.
    Responses {
        /// Bytes before the first of them, as a TLS server's first flight; 0: none.
        first_bytes: u64,
        /// Bytes of a response.
        response_bytes: u64,
        /// From the last acknowledgement, which brings the next request, to the write.
        think: Time,
        /// Number of responses; 0: until the run ends.
        responses: u64,
    },
}

impl Source {
    /// Payload bytes that it comes to; `u64::MAX`: endless.
    pub fn size_bytes(&self) -> u64 {
        match *self {
            Self::Bulk | Self::Chunks { chunks: 0, .. } | Self::Responses { responses: 0, .. } => u64::MAX,
            Self::Sized(bytes) => bytes,
            Self::Chunks { chunk_bytes, chunks, .. } => chunk_bytes.saturating_mul(chunks),
            Self::Responses { first_bytes, response_bytes, responses, .. } => {
                response_bytes.saturating_mul(responses).saturating_add(first_bytes)
            }
        }
    }

    /// Where the write ends that the byte after so many is of; `u64::MAX`: at no place that anybody waits for.
    pub fn write_end(&self, bytes: u64) -> u64 {
        let (first, each) = match *self {
            Self::Chunks { chunk_bytes, .. } => (0, chunk_bytes),
            Self::Responses { first_bytes, response_bytes, .. } => (first_bytes, response_bytes),
            Self::Bulk | Self::Sized(_) => return u64::MAX,
        };
        match bytes.checked_sub(first) {
            None => first,
            Some(bytes) => (bytes / each.max(1) + 1).saturating_mul(each).saturating_add(first),
        }
    }
}

/// Traffic that is drawn rather than listed.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// For tables.
    pub name: String,
    /// Pairs of node indices (sender, receiver); each flow takes one, uniformly.
    pub pairs: Vec<(usize, usize)>,
    /// From when.
    pub start: Time,
    /// Until when; `Time::NEVER`: the end of the run.
    pub end: Time,
    /// Round-trip times of its flows; `None`: the path's.
    pub rtt: Option<RoundTrips>,
    /// Kind of traffic.
    pub kind: TrafficKind,
}

/// Lognormal round-trip times. A flow's packets wait at its sender for what the links of its route lack to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// Median.
    pub median: Time,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
    /// Smallest; what is drawn below counts as this.
    pub min: Time,
    /// Largest; what is drawn above counts as this.
    pub max: Time,
}

/// Kind of traffic.
#[derive(Clone, Debug)]
pub enum TrafficKind {
    /// Packets at a constant rate, without feedback.
    Cbr {
        /// Wire rate.
        rate: Rate,
        /// Wire bytes of each packet.
        packet_bytes: u32,
    },
    /// TCP flows with exponential times between arrivals.
    Poisson {
        /// Arrivals per second over all pairs.
        flows_per_s: f64,
        /// Sizes.
        size: SizeDistribution,
        /// At most this many flows; 0: no limit.
        flows: u64,
        /// Configuration of their senders.
        sender: Box<SenderConfig>,
        /// Configuration of their receivers.
        receiver: ReceiverConfig,
        /// Share of flows, drawn at random, that the compared algorithm steers; the rest keeps
        /// `sender.startup`.
        under_test_share: f64,
    },
    /// Web sessions: pages of several objects one after the other, then think time.
    Web {
        /// How many there are.
        sessions: Sessions,
        /// Size of an object.
        size: SizeDistribution,
        /// Objects per page.
        objects: u32,
        /// Mean of the exponential think time.
        think: Time,
        /// Configuration of their senders.
        sender: Box<SenderConfig>,
        /// Configuration of their receivers.
        receiver: ReceiverConfig,
        /// As for `Poisson`.
        under_test_share: f64,
    },
    /// Flows as listed.
    Listed {
        /// Start, sender, receiver, payload bytes.
        flows: std::sync::Arc<[(Time, usize, usize, u64)]>,
        /// Configuration of their senders.
        sender: Box<SenderConfig>,
        /// Configuration of their receivers.
        receiver: ReceiverConfig,
        /// As for `Poisson`.
        under_test_share: f64,
    },
}

/// How many web sessions there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sessions {
    /// So many at the same time, which never end.
    Constant(u32),
    /// They begin at random, one independently of the other, and end.
    Arriving {
        /// Payload that they ask for on average, whatever the network does with it.
        load: Rate,
        /// Pages of a session.
        pages: u32,
    },
}

impl Sessions {
    /// Beginnings per second if a page has `page_bytes` on average; 0 for a constant number.
    pub fn per_s(self, page_bytes: f64) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Arriving { load, pages } => load.bytes_per_s() as f64 / (f64::from(pages) * page_bytes),
        }
    }
}

/// Sizes of transfers, payload bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeDistribution {
    /// Always the same.
    Constant(u64),
    /// Exponential with this mean, at least one byte.
    Exponential {
        /// Mean.
        mean_bytes: f64,
    },
    /// Pareto with this mean and shape > 1.
    Pareto {
        /// Mean.
        mean_bytes: f64,
        /// Tail index.
        shape: f64,
        /// Largest size, above the mean; infinity: there is none.
        max_bytes: f64,
    },
}

impl SizeDistribution {
    /// Mean size.
    pub fn mean_bytes(self) -> f64 {
        match self {
            Self::Constant(bytes) => bytes as f64,
            Self::Exponential { mean_bytes } | Self::Pareto { mean_bytes, .. } => mean_bytes,
        }
    }
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// At the latest.
    pub after: Time,
    /// Earlier, as soon as every flow under test has completed.
    pub when_complete: bool,
}

/// One row of a comparison: an algorithm with its settings.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Row label: the algorithm's id, with the settings that differ from the scenario's.
    pub label: String,
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Parameters set on top of the scenario's, by name.
    pub set: Vec<(String, u64)>,
    /// Fields of its sender.
    pub sender: OfSender,
}

/// Facts about a flow's path, independent of the backend. Bytes are payload bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    /// Round-trip time of a full segment and its ACK over empty queues, serialisation included; the
    /// smallest over time where it varies.
    pub base_rtt: Time,
    /// Bottleneck payload rate from each time on.
    pub capacity: Vec<(Time, Rate)>,
    /// At what payload rate the bottleneck's queue drains, if not at that: the link's own where a policer lets less through.
    pub drain: Option<Vec<(Time, Rate)>>,
    /// From a full packet's departure to its arrival at the bottleneck over empty queues; `None`: it varies.
    pub before_bottleneck: Option<Time>,
    /// Mean payload rate over the first `base_rtt x 32` or 10 s, whichever is longer, times `base_rtt`.
    pub bdp_bytes: u64,
    /// Payload bytes that fit into the bottleneck's queue; `u64::MAX`: unlimited.
    pub buffer_bytes: u64,
    /// What its queue drops or marks before it is full, in words.
    pub early_drops: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_know_their_size() {
        let chunks = |chunks| Source::Chunks { chunk_bytes: 10, interval: Time::from_ms(1), chunks };
        assert_eq!(
            [Source::Bulk, Source::Sized(7), chunks(3), chunks(0)].map(|source| source.size_bytes()),
            [u64::MAX, 7, 30, u64::MAX]
        );
        let responses = |responses| Source::Responses {
            first_bytes: 4,
            response_bytes: 10,
            think: Time::from_ms(1),
            responses,
        };
        assert_eq!([responses(3), responses(0)].map(|source| source.size_bytes()), [34, u64::MAX]);
    }
}
