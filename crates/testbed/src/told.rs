//! Facts about one flow from the programs in the kernel, besides those from its socket.

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowSample};

/// What the programs in the kernel reported of one flow.
#[derive(Debug, Default)]
pub(crate) struct FlowTold {
    /// Whether a program steers it, so that the exit is the program's to tell.
    pub(crate) steers: bool,
    /// Events of the ring buffer.
    pub(crate) count: u64,
    pub(crate) samples: Vec<FlowSample>,
    pub(crate) events: Vec<FlowEvent>,
    /// When start-up ended.
    pub(crate) exited: Option<Time>,
}

impl FlowTold {
    /// What `TCP_INFO` shows, with what the program decided in place of what it wrote into the socket: pacing holds the
    /// socket's window down to one packet at a time.
    pub(crate) fn adjusted(&self, sample: &FlowSample) -> FlowSample {
        let mut sample = *sample;
        if !self.steers || self.exited.is_some_and(|at| sample.now >= at) {
            return sample;
        }
        let after = self.samples.partition_point(|told| told.now <= sample.now);
        if let Some(told) = after.checked_sub(1).and_then(|last| self.samples.get(last)) {
            sample.cwnd_bytes = told.cwnd_bytes;
            sample.ssthresh_bytes = told.ssthresh_bytes;
            sample.pacing_bytes_per_s = told.pacing_bytes_per_s;
            sample.phase = told.phase;
        }
        sample
    }
}
