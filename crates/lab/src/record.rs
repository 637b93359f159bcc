//! One finished run.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use rampcc::ExitReason;
use rampcc_trace::{Provenance, RunSeries};
use serde::{Deserialize, Serialize};

use crate::flows::{Flows, FlowsWanted};
use crate::metric::Definition;
use crate::{CapacityStep, Context, Emulation};

/// Identity of a run, by which results are stored and found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// Digest of the scenario.
    pub scenario_hash: String,
    /// Full description of the algorithm of the flows under test; rows of different labels may share it.
    pub steering: String,
    /// Seed.
    pub seed: u64,
    /// Version of ramp.
    pub version: String,
    /// Backend that played it.
    pub backend: String,
    /// Rounds that the flows under test stayed in start-up after their algorithm wanted to leave; 0 in
    /// real runs.
    pub extra_startup_rounds: u32,
    /// What is kept of its flows; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsWanted>,
}

/// One finished run: what a results directory keeps and what is judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Recipe for making it again; `arm` is the label of the row that it was played for.
    pub provenance: Provenance,
    /// As in [`RunKey`].
    pub steering: String,
    /// As in [`RunKey`].
    #[serde(default)]
    pub extra_startup_rounds: u32,
    /// Value of each metric by its id; a metric without a value is absent.
    pub metrics: Measures,
    /// Exit of the first flow under test, in order of opening, that left start-up; `None`: none did.
    pub exit: Option<ExitRecord>,
    /// How the first flow under test stood at the end, where none left start-up; `None`: one left, or nothing was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stay: Option<StayRecord>,
    /// Time to the first so many bytes, ascending by size.
    pub downloads: Vec<Download>,
    /// Lower bound of the download time, where the end of the run cut a download off: the mean over the flows under test
    /// of their time until then; `None`: all finished, or their number is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_at_least_s: Option<f64>,
    /// The path that this run met; `None`: every run of the scenario meets the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RunPath>,
    /// Report of a run in real time about itself; `None`: it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<Emulation>,
    /// Curves for charts; `None`: not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<RunSeries>,
    /// What was wanted of its flows, and that; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Box<(FlowsWanted, Flows)>>,
    /// Seconds that it took to play, by a clock of the caller's; `None`: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_s: Option<f64>,
}

impl RunRecord {
    /// Key by which it is stored.
    pub fn key(&self) -> RunKey {
        RunKey {
            scenario_hash: self.provenance.scenario_hash.clone(),
            steering: self.steering.clone(),
            seed: self.provenance.seed,
            version: self.provenance.version.clone(),
            backend: self.provenance.backend.clone(),
            extra_startup_rounds: self.extra_startup_rounds,
            flows: self.flows.as_ref().map(|flows| flows.0),
        }
    }

    /// The value of a metric, by its id.
    pub fn metric(&self, id: &str) -> Option<f64> {
        self.metrics.get(id).copied()
    }

    /// The value of this metric.
    pub fn value(&self, metric: Definition) -> Option<f64> {
        self.metrics.value(metric)
    }

    /// Seconds to the first so many bytes of a download; `None`: the run ended before, or it does not count that size.
    pub fn seconds_to(&self, bytes: u64) -> Option<f64> {
        self.downloads.iter().find(|download| download.bytes == bytes)?.seconds
    }
}

/// A row of the table of runs: what each metric measured, by its id. A metric without a value is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Measures(BTreeMap<String, f64>);

impl Measures {
    /// The value of this metric.
    pub fn value(&self, metric: Definition) -> Option<f64> {
        self.get(metric.id).copied()
    }
}

impl Deref for Measures {
    type Target = BTreeMap<String, f64>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Measures {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<(String, f64)> for Measures {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// Conditions met by one run, where runs start anywhere in a measured link. Bytes and rates are payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunPath {
    /// As in [`Context::base_rtt_s`].
    pub base_rtt_s: f64,
    /// As in [`Context::bdp_bytes`].
    pub bdp_bytes: u64,
    /// As in [`Context::buffer_bytes`].
    pub buffer_bytes: Option<u64>,
    /// Mean rate of the bottleneck while the run lasted.
    pub mean_bytes_per_s: f64,
    /// As in [`Context::capacity`], until the run ended; empty: not kept, as the curves are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<CapacityStep>,
}

impl RunPath {
    /// The path of a run that ended at `end_s`, from the context of its own stretch of the trace.
    pub fn new(context: &Context, end_s: f64, with_capacity: bool) -> Self {
        let carried = context.capacity_bytes(0.0, end_s);
        let met = |step: &&CapacityStep| with_capacity && step.from_s < end_s;
        Self {
            base_rtt_s: context.base_rtt_s,
            bdp_bytes: context.bdp_bytes,
            buffer_bytes: context.buffer_bytes,
            mean_bytes_per_s: if end_s > 0.0 { carried / end_s } else { context.bytes_per_s_at(0.0) },
            capacity: context.capacity.iter().filter(met).copied().collect(),
        }
    }
}

/// Exit of one flow from start-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// Flow.
    pub flow: u32,
    /// Reason.
    pub reason: ExitReason,
    /// Left side of the deciding comparison, in the reason's unit; with a limit of 0 as well: unknown.
    pub evidence: u64,
    /// Right side of the deciding comparison, in the reason's unit.
    pub limit: u64,
    /// Seconds since the flow was opened.
    pub time_s: f64,
    /// Seconds since the start of the run.
    pub at_s: f64,
    /// Window before the decision, payload bytes.
    pub cwnd_before_bytes: u64,
    /// Window after the decision, payload bytes.
    pub cwnd_bytes: u64,
    /// Departure of the packet whose ACK decided, seconds since the start of the run; `None`: unknown.
    pub deciding_sent_s: Option<f64>,
    /// Window when that packet was sent; `None`: unknown.
    pub deciding_cwnd_bytes: Option<u64>,
    /// Smallest round-trip time the sender had seen, seconds; `None`: no sample.
    pub min_rtt_s: Option<f64>,
    /// Longest wait in the bottleneck's queue, seconds, when the packet arrived there whose round-trip time was judged; where it was not
    /// that of one packet, while the deciding one was under way; `None`: unknown.
    pub queueing_s: Option<f64>,
}

/// One flow that stayed in start-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StayRecord {
    /// Flow.
    pub flow: u32,
    /// Window at its end or the run's, payload bytes.
    pub cwnd_bytes: u64,
    /// When it last began to grow more slowly than start-up does; `None`: it did not, or grew as before in the end.
    pub slowing: Option<Slowing>,
}

/// The ACK with which growth became slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slowing {
    /// Seconds since the flow was opened.
    pub time_s: f64,
    /// Window, payload bytes.
    pub cwnd_bytes: u64,
    /// Its round-trip time, seconds.
    pub rtt_s: f64,
    /// Smallest round-trip time the sender had seen, seconds.
    pub min_rtt_s: f64,
    /// Longest wait in the bottleneck's queue within the last two round trips, seconds; `None`: unknown.
    pub queueing_s: Option<f64>,
}

/// Time to the first so many bytes of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Download {
    /// Payload bytes.
    pub bytes: u64,
    /// Seconds since the flow was opened, mean over the flows under test of at least that size; `None`: one of
    /// them did not get there.
    pub seconds: Option<f64>,
}
