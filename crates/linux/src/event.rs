//! Mirror of `bpf/events.h`: events and counters as the programs write them.
#![expect(unsafe_code, reason = "records of plain integers are read from the ring buffer's bytes")]

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use rampcc::{Ack, Config, Decision, EventKind, ExitReason, Time};

/// Head of every event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    time_ns: u64,
    /// The connection: a number from 1 on, in order of opening.
    pub flow: u64,
    kind: u32,
    /// The event's place among the flow's, from 0; lost events count, so a gap shows them.
    pub index: u32,
}

impl Header {
    /// On the machine's monotonic clock.
    pub fn time(&self) -> Time {
        Time::from_ns(self.time_ns)
    }
}

/// The two ends of a connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple {
    local: [u8; 16],
    remote: [u8; 16],
    local_port: u16,
    remote_port: u16,
    reserved: u32,
}

impl Tuple {
    /// This host's end.
    pub fn local(&self) -> SocketAddr {
        address(self.local, self.local_port)
    }

    /// The other end.
    pub fn remote(&self) -> SocketAddr {
        address(self.remote, self.remote_port)
    }
}

fn address(bytes: [u8; 16], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(), port)
}

/// A connection begins its start-up.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenEvent {
    /// Time and connection.
    pub header: Header,
    /// Its ends.
    pub tuple: Tuple,
    /// Configuration that the algorithm got.
    pub config: Config,
    /// Its first decision.
    pub decision: Decision,
}

/// The algorithm was told of an ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckEvent {
    /// Time and connection.
    pub header: Header,
    /// ACK that it got.
    pub ack: Ack,
    /// The decision it found, with what the kernel had changed since the last event.
    pub before: Decision,
    /// The decision it left.
    pub after: Decision,
}

/// The algorithm was told of something besides ACKs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldEvent {
    /// Time and connection.
    pub header: Header,
    now_ns: u64,
    lost_bytes: u64,
    in_flight_bytes: u64,
    kind: u32,
    mss_bytes: u32,
    /// The decision it found.
    pub before: Decision,
    /// The decision it left.
    pub after: Decision,
}

impl ToldEvent {
    /// Event that it got; `None`: a kind that the core does not know.
    pub fn event(&self) -> Option<rampcc::Event> {
        Some(rampcc::Event {
            now_ns: self.now_ns,
            lost_bytes: self.lost_bytes,
            in_flight_bytes: self.in_flight_bytes,
            kind: EventKind::from_number(self.kind)?,
            mss_bytes: self.mss_bytes,
        })
    }
}

/// A connection's figures at the end of its start-up, or at its own end.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEvent {
    /// Time and connection.
    pub header: Header,
    /// Its ends.
    pub tuple: Tuple,
    /// The last decision: exit reason, evidence, limit.
    pub decision: Decision,
    opened_ns: u64,
    exited_ns: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload acknowledged; a FIN counts as one byte.
    pub acked_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Packets found lost.
    pub lost_packets: u32,
    /// The kernel's window.
    pub cwnd_packets: u32,
    /// The kernel's slow-start threshold; `0x7fff_ffff`: none.
    pub ssthresh_packets: u32,
    /// The kernel's smoothed RTT.
    pub smoothed_rtt_us: u32,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Start-ups that have ended: a timeout may begin another.
    pub exits: u32,
}

impl FlowEvent {
    /// Time when the connection was opened.
    pub fn opened(&self) -> Time {
        Time::from_ns(self.opened_ns)
    }

    /// End of its start-up, of the last one if there were several.
    pub fn exited(&self) -> Option<Time> {
        (self.exited_ns > 0).then(|| Time::from_ns(self.exited_ns))
    }
}

/// One record of the ring buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection begins its start-up.
    Open(OpenEvent),
    /// An ACK during start-up.
    Ack(AckEvent),
    /// Something besides ACKs.
    Told(ToldEvent),
    /// The end of a start-up.
    Exit(FlowEvent),
    /// The end of a connection.
    Close(FlowEvent),
}

impl Event {
    /// Time and connection.
    pub fn header(&self) -> &Header {
        match self {
            Self::Open(e) => &e.header,
            Self::Ack(e) => &e.header,
            Self::Told(e) => &e.header,
            Self::Exit(e) | Self::Close(e) => &e.header,
        }
    }

    /// From a record of the ring buffer as the programs write it; `None`: not one of ours.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = u32::from_ne_bytes(bytes.get(16..20)?.try_into().ok()?);
        Some(match kind {
            1 => Self::Open(read(bytes)?),
            2 => Self::Ack(read(bytes)?),
            3 => Self::Told(read(bytes)?),
            4 => Self::Exit(read(bytes)?),
            5 => Self::Close(read(bytes)?),
            _ => return None,
        })
    }
}

/// Counters of the programs over all connections.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that began a start-up.
    pub opened: u64,
    /// Of these, closed or given to another congestion control.
    pub closed: u64,
    /// Ran as plain CUBIC because the kernel had no memory for their state.
    pub without_storage: u64,
    /// Ran as plain CUBIC because their start-up was over when they came.
    pub late: u64,
    /// Of all these, begun by their first ACK because the kernel had not announced them (it left out `init`).
    pub left_out: u64,
    /// Events for which the ring buffer had no room.
    pub lost_events: u64,
    exits: [u64; EXIT_SLOTS],
    /// Ends of start-ups so far, as [`Onlooker::exits_since`](crate::Onlooker::exits_since) numbers them.
    pub logged: u64,
    startup_us: u64,
    durations: [u64; DURATIONS],
}

/// `RAMP_EXIT_SLOTS`.
const EXIT_SLOTS: usize = 32;
/// `RAMP_DURATIONS`.
const DURATIONS: usize = 18;

impl Counters {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        read(bytes)
    }

    /// Start-ups that ended for this reason.
    pub fn exits(&self, reason: ExitReason) -> u64 {
        self.exits[reason as usize]
    }

    /// Start-ups that ended.
    pub fn all_exits(&self) -> u64 {
        self.exits.iter().sum()
    }

    /// Total duration of start-ups.
    pub fn startup_time(&self) -> Time {
        Time::from_us(self.startup_us)
    }

    /// Start-ups that lasted no longer than 1 ms, 2 ms, 4 ms and so on, and as the last all of them (`None`).
    pub fn durations(&self) -> impl Iterator<Item = (Option<Time>, u64)> {
        let last = DURATIONS - 1;
        self.durations.iter().enumerate().scan(0, move |sum, (i, count)| {
            *sum += count;
            Some(((i < last).then(|| Time::from_ms(1 << i)), *sum))
        })
    }

    /// Connections that are open now, and those whose end the kernel has not announced (it left out `release`).
    pub fn open(&self) -> u64 {
        self.opened.saturating_sub(self.closed)
    }
}

/// A record of plain integers, every bit pattern of which is a value.
pub(crate) trait Plain: Copy {}
impl Plain for OpenEvent {}
impl Plain for AckEvent {}
impl Plain for ToldEvent {}
impl Plain for FlowEvent {}
impl Plain for Counters {}

pub(crate) fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: as many bytes as T has, and T is `repr(C)` of integers, so any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
