//! Accuracy of a path that was played in real time, and its hosts.

use serde::{Deserialize, Serialize};

/// Report of a run in real time about itself. A run whose error would have changed the answer has no record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Whose TCP it was: `Linux 6.12.9`.
    pub kernel: String,
    /// Reasons for which the emulator's error may have changed the answer; empty: it has not.
    pub marked: Vec<String>,
    /// Number of attempts; all but the last were refused.
    pub attempts: u32,
    /// Packets handed to their hosts.
    pub packets: u64,
    /// Median lateness of packets, microseconds.
    pub lateness_median_us: f64,
    /// Lateness that 99 % of packets did not exceed, microseconds.
    pub lateness_p99_us: f64,
    /// Lateness of the latest packet, microseconds.
    pub lateness_max_us: f64,
    /// Lateness that the path tolerates for 99 %, microseconds.
    pub tolerated_us: f64,
    /// True if the emulator ran with real-time priority.
    pub realtime: bool,
    /// Share of one processor that it took.
    pub cpu_share: f64,
    /// Samples and events that the hosts gave.
    pub samples: u64,
    /// Those that were lost.
    pub samples_lost: u64,
    /// Setup of the sockets.
    pub sockets: String,
    /// How late hosts that are threads of ramp were; `None`: they were the kernel, or programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostLateness>,
    /// What the path saw of a program that sent; `None`: it was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// From the arrival of a packet at its host, or the time for which it had set a timer, to when its thread attended to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostLateness {
    /// Packets and timers of both hosts.
    pub count: u64,
    /// Median, microseconds.
    pub median_us: f64,
    /// What 99 % did not exceed, microseconds.
    pub p99_us: f64,
    /// The latest, microseconds.
    pub max_us: f64,
}

/// What the path saw of a program that sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    /// Seconds from the client's first packet to its request.
    pub request_s: Option<f64>,
    /// Seconds from the request to the last byte; `None`: it did not arrive.
    pub response_s: Option<f64>,
    /// Packets of the answer that left before news of the first could be back.
    pub first_flight_packets: u64,
    /// Mean seconds between them; `None`: there was one.
    pub first_flight_gap_s: Option<f64>,
    /// Most packets back to back in start-up.
    pub burst_packets: u64,
    /// Of these, dropped.
    pub burst_lost: u64,
    /// Median seconds from the arrival of a packet at the server that had sent since the last to its next packet, until
    /// start-up ended.
    pub turn_around_median_s: Option<f64>,
    /// Seconds that 90 % of these did not exceed.
    pub turn_around_p90_s: Option<f64>,
    /// Connections that the client opened.
    pub connections: u64,
    /// Packets of the server that ECN would let a link mark.
    pub ecn_packets: u64,
    /// Of these, marked by a link and delivered.
    #[serde(default)]
    pub marked_packets: u64,
    /// Share of the run for which the server's threads, taken together, waited for a processor.
    pub starved_share: f64,
    /// Processors that others than the two programs and ramp kept busy meanwhile.
    pub others_busy: f64,
}
