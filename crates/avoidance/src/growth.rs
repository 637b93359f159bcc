//! What congestion avoidance is given with an ACK.

use rampcc::Time;

/// One ACK that the window may grow by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// Its arrival.
    pub now: Time,
    /// Congestion window before it, bytes.
    pub cwnd: u64,
    /// Bytes that count towards growth.
    pub acked: u64,
    /// Payload bytes of a full packet.
    pub mss: u64,
    /// Smallest RTT so far; `Time::NEVER`: none.
    pub min_rtt: Time,
    /// Sample of this ACK.
    pub rtt: Option<Time>,
    /// SND.UNA after the ACK, for round trips.
    pub una: u64,
    /// SND.NXT after the ACK.
    pub next: u64,
}
