//! Mirror of `bpf/assign.h`.
#![expect(unsafe_code, reason = "records of plain integers are read from the ring buffer's bytes")]

use std::time::Duration;

use rampcc_linux::Tuple;

use super::ARMS_MAX;

/// Assignments by arm, in the order given.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssignCounters {
    /// Connections that got this arm's congestion control.
    pub assigned: [u64; ARMS_MAX],
    /// Connections for which the kernel would not have it: a route locks another.
    pub refused: [u64; ARMS_MAX],
    /// Left alone: their application had chosen.
    pub chosen: u64,
    /// Assigned, but not followed for want of memory.
    pub without_storage: u64,
    /// Events for which the ring buffer had no room.
    pub lost_events: u64,
    /// Left alone: an attachment or a trial of a control group further inside had given them a control.
    pub nested: u64,
}

/// A connection got its congestion control.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    time_ns: u64,
    /// The socket's cookie.
    pub id: u64,
    kind: u32,
    /// Arm.
    pub arm: u32,
}

impl Opened {
    /// On the machine's monotonic clock.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.time_ns)
    }
}

/// A connection that was given an arm is done: this end has closed and all is acknowledged, or it is gone.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Time, connection and arm.
    pub event: Opened,
    /// Its ends.
    pub tuple: Tuple,
    opened_ns: u64,
    delivered_ns: u64,
    startup_ns: u64,
    /// Payload acknowledged when slow start was seen to be over.
    pub startup_bytes: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload acknowledged; a FIN counts as one byte.
    pub acked_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// The window when slow start was seen to be over.
    pub startup_cwnd_packets: u32,
    busy_jiffies: u32,
    rwnd_jiffies: u32,
    sndbuf_jiffies: u32,
    /// Packets found lost.
    pub lost_packets: u32,
    /// The kernel's smoothed RTT.
    pub smoothed_rtt_us: u32,
    /// The kernel's windowed minimum.
    pub min_rtt_us: u32,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    flags: u32,
    reserved: u32,
}

impl Done {
    /// The end of the handshake, on the machine's monotonic clock.
    pub fn opened(&self) -> Duration {
        Duration::from_nanos(self.opened_ns)
    }

    /// From the end of the handshake to the last ACK of anything new; `None`: nothing was acknowledged.
    pub fn delivered_after(&self) -> Option<Duration> {
        self.delivered_ns.checked_sub(self.opened_ns).map(Duration::from_nanos)
    }

    /// From the end of the handshake to the end of slow start; `None`: it was not over.
    pub fn startup(&self) -> Option<Duration> {
        (self.startup_ns > 0).then(|| Duration::from_nanos(self.startup_ns.saturating_sub(self.opened_ns)))
    }

    /// For how long data was under way or waiting to be sent, in whole ticks of this length.
    pub fn busy(&self, tick: Duration) -> Duration {
        tick.saturating_mul(self.busy_jiffies)
    }

    /// The part of it in which the receiver's window held the sender back.
    pub fn receiver_limited(&self, tick: Duration) -> Duration {
        tick.saturating_mul(self.rwnd_jiffies)
    }

    /// True if the other end opened it.
    pub fn passive(&self) -> bool {
        self.flags & 1 != 0
    }

    /// True if everything written has been acknowledged; otherwise the connection was cut off.
    pub fn delivered(&self) -> bool {
        self.flags & 2 != 0
    }
}

/// One record of the ring buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignEvent {
    /// A connection got its congestion control.
    Opened(Opened),
    /// It is done.
    Done(Done),
}

impl AssignEvent {
    /// `None`: not one of ours.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        match u32::from_ne_bytes(bytes.get(16..20)?.try_into().ok()?) {
            1 => read(bytes).map(Self::Opened),
            2 => read(bytes).map(Self::Done),
            _ => None,
        }
    }
}

impl AssignCounters {
    /// Another version's pins may have counters that this one does not know, or lack the last of these.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        const FIRST_VERSION: usize = size_of::<AssignCounters>() - size_of::<u64>();
        let known = bytes.get(..bytes.len().min(size_of::<Self>()))?;
        let mut all = [0; size_of::<Self>()];
        all[..known.len()].copy_from_slice(known);
        (known.len() >= FIRST_VERSION).then(|| read(&all)).flatten()
    }
}

/// A record of plain integers, every bit pattern of which is a value.
trait Plain: Copy {}
impl Plain for Opened {}
impl Plain for Done {}
impl Plain for AssignCounters {}

fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: as many bytes as T has, and T is `repr(C)` of integers, so any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
