//! One flow, one link, at one instant.

use rampcc::{ExitReason, Phase, Time};
use serde::{Deserialize, Serialize};

/// State of a flow's sender after one ACK. All bytes are payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSample {
    /// Time.
    pub now: Time,
    /// Flow.
    pub flow: u32,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `rampcc::UNSET`: none.
    pub ssthresh_bytes: u64,
    /// Sent, and neither acknowledged (by SACK or in order) nor believed lost.
    pub in_flight_bytes: u64,
    /// Ever sent, retransmissions included.
    pub sent_bytes: u64,
    /// Ever acknowledged, by SACK or in order.
    pub delivered_bytes: u64,
    /// Ever retransmitted.
    pub retransmitted_bytes: u64,
    /// Ever believed lost.
    pub lost_bytes: u64,
    /// The sample of this ACK; zero: none.
    pub rtt: Time,
    /// Smallest sample so far; zero: none.
    pub min_rtt: Time,
    /// Smoothed round-trip time; zero: none.
    pub smoothed_rtt: Time,
    /// Rate at which the sender paces; 0: it does not.
    pub pacing_bytes_per_s: u64,
    /// Rate sample of this ACK; 0: none.
    pub delivery_bytes_per_s: u64,
    /// Receive window as advertised; `u64::MAX`: never in the way.
    pub receive_window_bytes: u64,
    /// Phase of start-up.
    pub phase: Phase,
    /// State of the transport.
    pub state: SenderState,
}

/// State of the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SenderState {
    /// No loss outstanding.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was outstanding then is acknowledged.
    Loss,
}

impl SenderState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Recovery, Self::Loss];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// A link's queue after one arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkSample {
    /// Time.
    pub now: Time,
    /// Link.
    pub link: u32,
    /// Wire bytes waiting, the packet in service not counted.
    pub queue_bytes: u64,
    /// Packets waiting.
    pub queue_packets: u64,
}

/// How busy a host's processor was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSample {
    /// End of the time it tells of.
    pub now: Time,
    /// Node of the host.
    pub node: u32,
    /// How long that time was.
    pub over: Time,
    /// Share of it in which the processor was busy, in thousandths.
    pub load_permille: u32,
    /// The host is the source of a flow.
    pub sends: bool,
    /// What it looked through, as a sender, in its queue of what is outstanding, in thousandths of that time. A search counts
    /// where it begins.
    pub search_permille: u32,
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowEvent {
    /// Time.
    pub now: Time,
    /// Flow.
    pub flow: u32,
    /// Kind of the event.
    pub kind: FlowEventKind,
}

/// Event of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowEventKind {
    /// The application opened the connection. `under_test`: the compared algorithm steers it.
    Opened {
        /// Bytes to send; `u64::MAX`: until the end.
        size_bytes: u64,
        /// True if the compared algorithm steers it.
        under_test: bool,
    },
    /// The handshake is over and data may flow.
    Established,
    /// The start-up algorithm decided to leave. Emitted once, with the window after the decision; and once more after
    /// each [`StartupResumed`](Self::StartupResumed).
    StartupExit {
        /// Reason of the exit.
        reason: ExitReason,
        /// Left side of the deciding comparison, in the unit that `interface.h` gives for the reason.
        evidence: u64,
        /// Right side of the deciding comparison.
        limit: u64,
        /// Window after the decision.
        cwnd_bytes: u64,
        /// Departure of the packet whose ACK decided; zero: unknown.
        deciding_sent: Time,
    },
    /// Fast recovery began, or a congestion mark was answered by a reduction.
    RecoveryStart {
        /// Window before the reduction.
        cwnd_bytes: u64,
        /// Outstanding bytes.
        in_flight_bytes: u64,
    },
    /// Recovery, the repair after a timeout, or the round trip of a mark's answer is over.
    RecoveryEnd,
    /// The retransmission timer expired.
    Timeout {
        /// Number of timeouts in a row.
        backoff: u32,
    },
    /// The last reduction was undone.
    Undone,
    /// With it the exit that it caused: start-up goes on, and there has been no exit.
    StartupResumed,
    /// An end has given the connection up, before all of its data had arrived.
    ConnectionLost,
    /// A link dropped one of the flow's packets.
    Dropped {
        /// Link.
        link: u32,
        /// Wire bytes.
        wire_bytes: u32,
        /// True if it was a data packet.
        data: bool,
    },
    /// The receiver has more data in order: its total so far, payload bytes.
    Received {
        /// In-order bytes at the receiver.
        bytes: u64,
    },
    /// The last byte arrived at the receiver.
    Completed {
        /// Payload bytes.
        bytes: u64,
    },
    /// The run ended before the flow did.
    Unfinished {
        /// In-order bytes at the receiver.
        bytes: u64,
    },
}

impl FlowEventKind {
    /// Its word in files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "opened",
            Self::Established => "established",
            Self::StartupExit { .. } => "startup_exit",
            Self::RecoveryStart { .. } => "recovery_start",
            Self::RecoveryEnd => "recovery_end",
            Self::Timeout { .. } => "timeout",
            Self::Undone => "undone",
            Self::StartupResumed => "startup_resumed",
            Self::ConnectionLost => "connection_lost",
            Self::Dropped { .. } => "dropped",
            Self::Received { .. } => "received",
            Self::Completed { .. } => "completed",
            Self::Unfinished { .. } => "unfinished",
        }
    }
}
