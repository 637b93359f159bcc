//! What is reported to a connection of congestion, and what it reports of itself.

use rampcc::{ExitReason, Time};

/// What a stack found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Packets were lost.
    Loss,
    /// The peer reports congestion marks.
    Mark,
    /// Persistent congestion (RFC 9002 §7.6).
    Persistent,
}

/// The end of start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When it was decided.
    pub at: Time,
    /// Why.
    pub reason: ExitReason,
    /// Left side of the deciding comparison, in the reason's unit.
    pub evidence: u64,
    /// Right side.
    pub limit: u64,
    /// Window after the decision, bytes.
    pub window_bytes: u64,
    /// When the packet had left whose ACK decided; zero: unknown.
    pub deciding_sent: Time,
}

/// What has happened so far, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// ACKs that the algorithm or its avoidance has seen.
    pub acks: u64,
    /// Packets that were acknowledged or lost, and had not been sent.
    pub unmatched: u64,
    /// Reductions: one for each recovery period.
    pub reductions: u64,
    /// Of them, for persistent congestion.
    pub persistent: u64,
    /// Reports of congestion within a recovery period, which take nothing more.
    pub repeated: u64,
    /// Recovery periods that are over.
    pub recovered: u64,
    /// Reductions that were taken back.
    pub undone: u64,
    /// Exits that were taken back with them.
    pub resumed: u64,
    /// Most packets that were outstanding at once.
    pub outstanding_max: usize,
}

/// What an ACK has measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Round-trip time; zero: none.
    pub rtt: Time,
    /// Delivery rate, bytes per second; 0: none.
    pub rate: u64,
}
