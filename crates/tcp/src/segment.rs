//! Segments between a sender and a receiver.

use rampcc::Time;
use rampcc_path::Packet;

use crate::quick_start::QuickStart;

/// The most SACK blocks a segment can carry.
pub const SACK_BLOCKS_MAX: usize = 4;

/// Where in the body of SYN, SYN-ACK and data a Quick-Start option is.
const QUICK_START: usize = 2;
/// Where in the body of SYN-ACK and ACK is `TSval`, in the place of a fourth SACK block (RFC 7323 leaves no room for both).
const TSVAL: usize = 7;
/// Where in the body of data is what it has to do with congestion marks: a sum of the following.
const MARKS: usize = 3;
/// It may be marked (RFC 3168: ECT).
const MARKABLE: u32 = 1;
/// It is marked (CE).
const MARKED: u32 = 2;
/// Its sender has answered a mark (CWR).
const ANSWERS: u32 = 4;

/// One TCP segment, 64 bytes.
///
/// Segments, not bytes, are numbered: the first data segment is 0, and a retransmission keeps the number and the
/// payload of the original. An ACK carries the number it expects next. Payload is counted, not carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    number: u64,
    window_bytes: u64,
    timestamp: Time,
    /// Data: payload bytes, smoothed RTT in µs, Quick-Start option, congestion marks. ACK: SACK blocks, relative to `number` (signed), or three and `TSval`.
    body: [u32; 2 * SACK_BLOCKS_MAX],
    flow: u32,
    header_bytes: u16,
    kind: SegmentKind,
    flags: u8,
}

/// Purpose of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SegmentKind {
    /// Opens a connection.
    #[default]
    Syn,
    /// Answers a SYN.
    SynAck,
    /// Carries payload, the end of the data, or both.
    Data,
    /// Carries nothing but an acknowledgement.
    Ack,
    /// Asks for an ACK while the receive window is closed.
    WindowProbe,
}

/// Sends an uncommon segment, out of the way of the common ones.
#[cold]
#[inline(never)]
pub(crate) fn hand_over(segment: &Segment, wire: impl FnOnce(&Segment)) {
    wire(segment);
}

const BLOCK_COUNT: u8 = 0b111;
const LAST: u8 = 1 << 3;
const SACK_PERMITTED: u8 = 1 << 4;
const DUPLICATE: u8 = 1 << 5;
const RETRANSMISSION: u8 = 1 << 6;
/// RFC 3168: SYN and SYN-ACK: its end understands congestion marks. ACK: there was one.
const ECN: u8 = 1 << 7;

impl Segment {
    /// A segment without payload, flags or blocks.
    fn bare(kind: SegmentKind, flow: u32, header_bytes: u32, timestamp: Time) -> Self {
        Self {
            number: 0,
            window_bytes: u64::MAX,
            timestamp,
            body: [0; 2 * SACK_BLOCKS_MAX],
            flow,
            header_bytes: u16::try_from(header_bytes).unwrap_or(u16::MAX),
            kind,
            flags: 0,
        }
    }

    /// Opens a connection; `timestamp` is when it leaves.
    pub fn syn(flow: u32, header_bytes: u32, timestamp: Time) -> Self {
        Self::bare(SegmentKind::Syn, flow, header_bytes, timestamp)
    }

    /// Answers `syn`, with an echo of its Quick-Start request; it understands congestion marks if `syn` does.
    pub fn syn_ack(syn: &Self, header_bytes: u32, window_bytes: u64, sack_permitted: bool) -> Self {
        let mut segment = Self::bare(SegmentKind::SynAck, syn.flow, header_bytes, syn.timestamp);
        segment.body[QUICK_START] = syn.body[QUICK_START];
        segment.window_bytes = window_bytes;
        segment.flags = if sack_permitted { SACK_PERMITTED } else { 0 } | (syn.flags & ECN);
        segment
    }

    /// Data segment `number` with `payload_bytes`.
    #[inline]
    pub fn data(flow: u32, header_bytes: u32, timestamp: Time, number: u64, payload_bytes: u32) -> Self {
        let mut segment = Self::bare(SegmentKind::Data, flow, header_bytes, timestamp);
        segment.number = number;
        segment.body[0] = payload_bytes;
        segment
    }

    /// Asks for an ACK although the window is closed.
    pub fn window_probe(flow: u32, header_bytes: u32, timestamp: Time) -> Self {
        Self::bare(SegmentKind::WindowProbe, flow, header_bytes, timestamp)
    }

    /// Acknowledges everything below `number`; `echo` is the time stamp of the segment it answers (RFC 7323).
    #[inline]
    pub fn ack(flow: u32, wire_bytes: u32, echo: Time, number: u64, window_bytes: u64) -> Self {
        let mut segment = Self::bare(SegmentKind::Ack, flow, wire_bytes, echo);
        segment.number = number;
        segment.window_bytes = window_bytes;
        segment
    }

    /// A SYN-ACK or ACK that tells the clock of its end (RFC 7323).
    #[inline]
    #[must_use]
    pub fn with_tsval(mut self, tsval: u32) -> Self {
        self.body[TSVAL] = tsval;
        self
    }

    /// The clock of its end when a SYN-ACK or ACK left, in ticks; 0: it does not tell.
    #[inline]
    pub fn tsval(&self) -> u32 {
        if !self.to_receiver() && self.block_count() < SACK_BLOCKS_MAX { self.body[TSVAL] } else { 0 }
    }

    /// With this Quick-Start option.
    #[must_use]
    pub fn with_quick_start(mut self, option: QuickStart) -> Self {
        self.set_quick_start(option);
        self
    }

    /// Its Quick-Start option; the echo in a SYN-ACK is no longer for routers.
    pub fn quick_start(&self) -> Option<QuickStart> {
        let carries = matches!(self.kind, SegmentKind::Syn | SegmentKind::SynAck | SegmentKind::Data);
        if carries { QuickStart::unpacked(self.body[QUICK_START]) } else { None }
    }

    /// Puts a router's answer in the option's place.
    pub fn set_quick_start(&mut self, option: QuickStart) {
        self.body[QUICK_START] = option.packed();
    }

    /// A SYN that says that its end understands congestion marks; an ACK that says that there was one.
    #[inline]
    #[must_use]
    pub fn with_ecn(mut self, ecn: bool) -> Self {
        self.flags = if ecn { self.flags | ECN } else { self.flags & !ECN };
        self
    }

    /// Data that may be marked; `answers`: the sender has answered a mark.
    #[must_use]
    pub fn with_markable(mut self, answers: bool) -> Self {
        self.body[MARKS] = MARKABLE | if answers { ANSWERS } else { 0 };
        self
    }

    /// SYN and SYN-ACK: its end understands congestion marks. ACK: there was one.
    #[inline]
    pub fn ecn(&self) -> bool {
        self.flags & ECN != 0
    }

    /// Data: whether it has something to tell of marks, and then whether it is marked, and whether its sender has answered
    /// one.
    #[inline]
    pub fn marks(&self) -> Option<(bool, bool)> {
        let marks = if self.kind == SegmentKind::Data { self.body[MARKS] } else { 0 };
        (marks > MARKABLE).then_some((marks & MARKED != 0, marks & ANSWERS != 0))
    }

    /// Marks the last data segment of the connection.
    #[must_use]
    pub fn with_last(mut self, last: bool) -> Self {
        self.flags = if last { self.flags | LAST } else { self.flags & !LAST };
        self
    }

    /// Marks a retransmission, for observers; a receiver does not look.
    #[must_use]
    pub fn with_retransmission(mut self) -> Self {
        self.flags |= RETRANSMISSION;
        self
    }

    /// Tells the receiver the sender's smoothed RTT, which real receivers learn from time stamps.
    #[inline]
    #[must_use]
    pub fn with_rtt_us(mut self, rtt_us: u32) -> Self {
        self.body[1] = rtt_us;
        self
    }

    /// Adds the block of segments `start..end`. Blocks beyond the fourth are left out.
    #[must_use]
    pub fn with_sack_block(mut self, start: u64, end: u64) -> Self {
        let count = usize::from(self.flags & BLOCK_COUNT);
        if count < SACK_BLOCKS_MAX {
            self.body[2 * count] = start.wrapping_sub(self.number) as u32;
            self.body[2 * count + 1] = end.wrapping_sub(self.number) as u32;
            self.flags += 1;
        }
        self
    }

    /// Says how large its headers are, once it is known what they hold.
    #[must_use]
    pub(crate) fn with_header_bytes(mut self, bytes: u32) -> Self {
        self.header_bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
        self
    }

    /// Adds, as the first block, a report of segments that arrived twice (RFC 2883).
    #[must_use]
    pub fn with_duplicate(mut self, start: u64, end: u64) -> Self {
        debug_assert_eq!(self.flags & BLOCK_COUNT, 0, "a duplicate is reported first");
        self.flags |= DUPLICATE;
        self.with_sack_block(start, end)
    }

    /// Purpose of the segment.
    #[inline]
    pub fn kind(&self) -> SegmentKind {
        self.kind
    }

    /// Data: its number. ACK: the number expected next.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Payload bytes; 0 unless data.
    #[inline]
    pub fn payload_bytes(&self) -> u32 {
        if self.kind == SegmentKind::Data { self.body[0] } else { 0 }
    }

    /// The sender's smoothed RTT in µs as a data segment has it; 0: none.
    #[inline]
    pub fn rtt_us(&self) -> u32 {
        if self.kind == SegmentKind::Data { self.body[1] } else { 0 }
    }

    /// Receive window beyond what is acknowledged; `u64::MAX`: never in the way.
    #[inline]
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// From the sender: when it left. From the receiver: the time stamp it answers.
    #[inline]
    pub fn timestamp(&self) -> Time {
        self.timestamp
    }

    /// True if the data end here.
    #[inline]
    pub fn last(&self) -> bool {
        self.flags & LAST != 0
    }

    /// True if this is a retransmission.
    pub fn retransmission(&self) -> bool {
        self.flags & RETRANSMISSION != 0
    }

    /// True if the receiver may send SACK blocks.
    pub fn sack_permitted(&self) -> bool {
        self.flags & SACK_PERMITTED != 0
    }

    /// True if it travels from the sender to the receiver.
    #[inline]
    pub fn to_receiver(&self) -> bool {
        !matches!(self.kind, SegmentKind::Ack | SegmentKind::SynAck)
    }

    /// Number of blocks that it carries, a report of a duplicate included.
    #[inline]
    pub fn block_count(&self) -> usize {
        usize::from(self.flags & BLOCK_COUNT)
    }

    /// SACK blocks `start..end`, most recent first, without a report of a duplicate.
    #[inline]
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = usize::from(self.flags & DUPLICATE != 0);
        (first..self.block_count()).map(|i| self.block(i))
    }

    /// Segments that arrived twice (RFC 2883).
    #[inline]
    pub fn duplicate(&self) -> Option<(u64, u64)> {
        (self.flags & DUPLICATE != 0).then(|| self.block(0))
    }

    fn block(&self, index: usize) -> (u64, u64) {
        let absolute = |relative: u32| self.number.wrapping_add_signed(i64::from(relative.cast_signed()));
        (absolute(self.body[2 * index]), absolute(self.body[2 * index + 1]))
    }
}

impl Packet for Segment {
    #[inline]
    fn wire_bytes(&self) -> u32 {
        self.payload_bytes().saturating_add(u32::from(self.header_bytes))
    }

    #[inline]
    fn flow(&self) -> u32 {
        self.flow
    }

    #[inline]
    fn pure_ack(&self) -> bool {
        self.kind == SegmentKind::Ack
    }

    #[inline]
    fn markable(&self) -> bool {
        self.kind == SegmentKind::Data && self.body[MARKS] & MARKABLE != 0
    }

    fn mark(&mut self) {
        self.body[MARKS] |= MARKED;
    }
}

const _: () = assert!(size_of::<Segment>() == 64);
