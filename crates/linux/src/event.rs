//! Mirror of `bpf/events.h`: events and counters as the programs write them.
#![expect(unsafe_code, reason = "records of plain integers are read from the ring buffer's bytes")]

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use rampcc::{Ack, Algorithm, Config, Decision, EventKind, ExitReason, Time};
use rampcc_trace::{Call, FlowDecision, Opening, Told};

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

/// `struct ramp_record_open`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawOpen {
    header: Header,
    tuple: Tuple,
    config: Config,
    decision: Decision,
}

/// `struct ramp_record_ack`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawAck {
    header: Header,
    ack: Ack,
    before: Decision,
    after: Decision,
}

/// `struct ramp_record_event`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawTold {
    header: Header,
    now_ns: u64,
    lost_bytes: u64,
    in_flight_bytes: u64,
    kind: u32,
    mss_bytes: u32,
    before: Decision,
    after: Decision,
}

/// The algorithm was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEvent {
    /// When and which.
    pub header: Header,
    /// The connection's ends; with the first call alone.
    pub tuple: Option<Tuple>,
    /// What it got and what it answered.
    pub call: Call,
}

impl CallEvent {
    /// The ACK that it got.
    pub fn ack(&self) -> Option<&Ack> {
        if let Told::Ack(ack) = &self.call.told { Some(ack) } else { None }
    }
}

impl From<RawAck> for CallEvent {
    fn from(RawAck { header, ack, before, after }: RawAck) -> Self {
        Self { header, tuple: None, call: Call { told: Told::Ack(ack), before, after } }
    }
}

impl RawOpen {
    fn of(self, algorithm: &'static Algorithm) -> CallEvent {
        let Self { header, tuple, config, decision } = self;
        let told = Opening::told(algorithm, config);
        CallEvent {
            header,
            tuple: Some(tuple),
            call: Call { told, before: Decision::new(), after: decision },
        }
    }
}

impl RawTold {
    /// `None`: a kind that the core does not know.
    fn known(self) -> Option<CallEvent> {
        let Self { header, now_ns, lost_bytes, in_flight_bytes, mss_bytes, before, after, .. } = self;
        let kind = EventKind::from_number(self.kind)?;
        let told = Told::Event(rampcc::Event { now_ns, lost_bytes, in_flight_bytes, kind, mss_bytes });
        Some(CallEvent { header, tuple: None, call: Call { told, before, after } })
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The algorithm was called.
    Call(CallEvent),
    /// The end of a start-up.
    Exit(FlowEvent),
    /// The end of a connection.
    Close(FlowEvent),
}

impl Event {
    /// Time and connection.
    pub fn header(&self) -> &Header {
        match self {
            Self::Call(e) => &e.header,
            Self::Exit(e) | Self::Close(e) => &e.header,
        }
    }

    /// From a record of the ring buffer as the programs of this algorithm write it; `None`: not one of ours.
    pub fn parse(bytes: &[u8], algorithm: &'static Algorithm) -> Option<Self> {
        let kind = u32::from_ne_bytes(bytes.get(16..20)?.try_into().ok()?);
        Some(match kind {
            1 => Self::Call(read::<RawOpen>(bytes)?.of(algorithm)),
            2 => Self::Call(read::<RawAck>(bytes)?.into()),
            3 => Self::Call(read::<RawTold>(bytes)?.known()?),
            4 => Self::Exit(read(bytes)?),
            5 => Self::Close(read(bytes)?),
            _ => return None,
        })
    }
}

/// Numbers the calls of each connection, as [`FlowDecision`] has them: events that are no calls leave no gap, and lost ones do.
#[derive(Debug, Default)]
pub struct Calls {
    others: BTreeMap<u64, u32>,
}

impl Calls {
    /// The call of the next event, on the kernel's clock and under the kernel's number of the connection; `None`: it is none.
    pub fn handle_event(&mut self, event: &Event) -> Option<FlowDecision> {
        let header = event.header();
        let others = self.others.entry(header.flow).or_default();
        let Event::Call(CallEvent { call, .. }) = event else {
            *others = others.saturating_add(1);
            return None;
        };
        Some(FlowDecision {
            now: header.time(),
            flow: u32::try_from(header.flow).unwrap_or(u32::MAX),
            index: header.index.saturating_sub(*others),
            call: call.clone(),
        })
    }
}

/// What the programs count over all connections.
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
    /// Left to CUBIC because their handshake took less than [`Guard::least_rtt_us`](crate::Guard).
    pub short_rtt: u64,
    /// Of those opened, the ones whose window [`Guard::window_bound`](crate::Guard) has held.
    pub bounded: u64,
    /// Start-ups that the algorithm ended too late: it chose the end, and yet something was lost that left before the
    /// next round trip was over.
    pub too_late: u64,
    /// Start-ups that the algorithm ended too early: without such losses, the window had more than doubled since by the
    /// first loss, or by the connection's end.
    pub too_early: u64,
}

/// `RAMP_EXIT_SLOTS`.
const EXIT_SLOTS: usize = 32;
/// `RAMP_DURATIONS`.
const DURATIONS: usize = 18;
/// Bytes of the counters up to `durations`, with which they were first released.
const FIRST_VERSION: usize = (6 + EXIT_SLOTS + 2 + DURATIONS) * size_of::<u64>();

impl Counters {
    /// Pins may be of an older version, whose programs count less: what they lack is zero.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut whole = [0; size_of::<Self>()];
        whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
        (bytes.len() >= FIRST_VERSION).then(|| read(&whole)).flatten()
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
impl Plain for RawOpen {}
impl Plain for RawAck {}
impl Plain for RawTold {}
impl Plain for FlowEvent {}
impl Plain for Counters {}

pub(crate) fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: as many bytes as T has, and T is `repr(C)` of integers, so any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
