//! The receiving end: puts segments in order and decides what to acknowledge when.

use rampcc::Time;

use crate::ack_policy::AckClock;
use crate::ranges::RangeSet;
use crate::segment::{SACK_BLOCKS_MAX, Segment, SegmentKind, hand_over};
use crate::timestamps::Timestamps;
use crate::window::Advertised;
use crate::{ReceiverConfig, SenderConfig};

/// `TCP_SACK_BLOCKS_EXPECTED`: an ACK tells of so many ranges at least.
const BLOCKS_EXPECTED: usize = 2;

/// The receiving end of a connection. It owns no clock and no path.
///
/// After every `handle_*`, call [`poll_transmit`](Self::poll_transmit) until it gives nothing; then
/// [`poll_timeout`](Self::poll_timeout) says when to call [`handle_timeout`](Self::handle_timeout). Its application
/// reads at once whatever is in order.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: u32,
    ack_bytes: u32,
    sack_block_bytes: u32,
    ns2_sink: bool,
    mss: u32,
    sack_blocks: u8,
    sack_suppression: u64,
    next: u64,
    received: u64,
    clock: AckClock,
    window: Advertised,
    out_of_order: RangeSet,
    out_of_order_segments: u64,
    /// Numbers in the ranges that changed last, latest first; the first `recent_count` count.
    recent: [u64; SACK_BLOCKS_MAX],
    recent_count: u8,
    due: Reply,
    /// An ACK of what was there before the last segment.
    early: Option<Segment>,
    duplicate: Option<(u64, u64)>,
    /// ACKs tell of a congestion mark until the sender says that it has answered.
    marked: bool,
    /// What the next ACK echoes (RFC 7323 `TS.Recent`), and below what number it may be replaced.
    echo: Time,
    last_ack: u64,
    /// One past the last segment, once known.
    end: Option<u64>,
    syn: Option<Segment>,
    rtt: Time,
    timestamps: Timestamps,
}

/// What is to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Nothing,
    SynAck,
    Ack,
}

impl Receiver {
    /// A receiver for the sender that `sender` describes.
    pub fn new(flow: u32, config: &ReceiverConfig, sender: &SenderConfig) -> Self {
        let sack = sender.recovery.has_sack();
        let window = Advertised::new(config.window, config.syn_window_bytes);
        let mut clock = AckClock::new(config.ack_policy, config.gathers_sacks);
        clock.limit_quick(window.bytes() / u64::from(sender.mss_bytes.max(1)));
        Self {
            flow,
            ack_bytes: config.ack_bytes,
            sack_block_bytes: config.sack_block_bytes,
            ns2_sink: config.ns2_sink,
            mss: sender.mss_bytes.max(1),
            sack_blocks: if sack { config.sack_blocks.min(SACK_BLOCKS_MAX as u8) } else { 0 },
            sack_suppression: u64::from(config.sack_suppression_segments),
            next: 0,
            received: 0,
            clock,
            window,
            out_of_order: RangeSet::default(),
            out_of_order_segments: 0,
            recent: [0; SACK_BLOCKS_MAX],
            recent_count: 0,
            due: Reply::Nothing,
            early: None,
            duplicate: None,
            marked: false,
            echo: Time::ZERO,
            last_ack: 0,
            end: None,
            syn: None,
            rtt: Time::ZERO,
            timestamps: Timestamps::new(flow, config.timestamp_tick),
        }
    }

    /// A segment from the sender arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        match segment.kind() {
            SegmentKind::Data => self.handle_data(now, segment),
            SegmentKind::Syn => {
                self.syn = Some(*segment);
                self.due = Reply::SynAck;
            }
            SegmentKind::WindowProbe => self.acknowledge(),
            SegmentKind::Ack | SegmentKind::SynAck => {}
        }
    }

    /// The deadline of `poll_timeout` has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.clock.deadline() {
            self.clock.on_timer();
            self.acknowledge();
        }
    }

    /// The next segment to send now; until `None`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = None;
        self.transmit(now, |next| segment = Some(*next));
        segment
    }

    /// The same for senders of millions: the segment goes to `wire` without being copied. Returns whether there was one.
    #[inline]
    pub fn transmit(&mut self, now: Time, wire: impl FnOnce(&Segment)) -> bool {
        if self.due == Reply::Nothing && self.early.is_none() {
            return false;
        }
        if self.due == Reply::Ack && self.calm() {
            self.due = Reply::Nothing;
            wire(&self.bare_ack(now));
            return true;
        }
        let rare = self.next_rare(now);
        if let Some(segment) = &rare {
            hand_over(segment, wire);
        }
        rare.is_some()
    }

    /// Time to call `handle_timeout`; `Time::NEVER`: no need.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.clock.deadline()
    }

    /// Payload bytes received in order.
    #[inline]
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// True if the last byte has arrived.
    #[inline]
    pub fn completed(&self) -> bool {
        self.end == Some(self.next)
    }

    #[inline]
    fn handle_data(&mut self, now: Time, segment: &Segment) {
        let number = segment.number();
        if segment.rtt_us() != 0 {
            self.rtt = Time::from_us(u64::from(segment.rtt_us()));
        }
        if number <= self.last_ack && segment.timestamp() >= self.echo {
            self.echo = segment.timestamp();
        }
        if segment.last() {
            self.end = Some(number + 1);
        }
        if let Some((marked, answers)) = segment.marks() {
            self.note_marks(marked, answers);
        }
        if number == self.next && self.out_of_order.is_empty() {
            self.next += 1;
            self.received += u64::from(segment.payload_bytes());
            self.window.on_received(now, self.received, self.rtt);
            if self.window.on_segment(u64::from(self.mss)) {
                self.clock.on_growth();
            }
            if self.clock.on_segment(now) || (segment.last() && !self.ns2_sink) {
                self.acknowledge();
            }
        } else {
            self.handle_disorder(now, segment);
        }
    }

    /// RFC 3168 §6.1.3: ACKs tell of a mark until the sender has answered, which may itself have met another one. The first
    /// ACK of a mark is sent at once, and so is that of the answer, whose sender may have a very small window (Linux).
    #[cold]
    fn note_marks(&mut self, marked: bool, answers: bool) {
        let told = self.marked && !answers;
        self.marked = marked || told;
        if answers || (marked && !told) {
            self.acknowledge();
        }
    }

    /// A segment that does not simply continue what is there.
    #[cold]
    fn handle_disorder(&mut self, now: Time, segment: &Segment) {
        let number = segment.number();
        if self.window.on_segment(u64::from(self.mss)) {
            self.clock.on_growth();
        }
        if number < self.next {
            let waits = self.ns2_sink && number + 1 == self.next && self.out_of_order.is_empty();
            if waits && !self.clock.on_segment(now) {
                return;
            }
            self.acknowledge();
            self.clock.on_duplicate();
            self.duplicate = Some((number, number + 1));
            return;
        }
        if number == self.next {
            self.next += 1;
            self.received += u64::from(segment.payload_bytes());
            while let Some(range) = self.out_of_order.pop_reached(self.next) {
                self.next = range.end;
                self.received += range.bytes;
                self.out_of_order_segments -= range.end - range.start;
            }
            self.window.on_received(now, self.received, self.rtt);
            self.acknowledge();
            return;
        }
        if self.suppresses() {
            self.acknowledge();
            return;
        }
        if self.clock.gathers() && self.scatters(number) {
            self.early = Some(self.reply(now));
        }
        let payload = u64::from(segment.payload_bytes());
        if self.out_of_order.insert(number, number + 1, &mut |_, _| payload) {
            self.out_of_order_segments += 1;
        } else {
            self.clock.on_duplicate();
            self.duplicate = Some((number, number + 1));
        }
        self.note_recent(number);
        if self.clock.on_gap(now, self.next, self.rtt) || (segment.last() && !self.ns2_sink) {
            self.acknowledge();
        }
    }

    #[cold]
    fn next_rare(&mut self, now: Time) -> Option<Segment> {
        if let Some(early) = self.early.take() {
            return Some(early);
        }
        match std::mem::replace(&mut self.due, Reply::Nothing) {
            Reply::Nothing => None,
            Reply::Ack => Some(self.reply(now)),
            Reply::SynAck => {
                let window = self.window.first_bytes();
                let tsval = self.timestamps.at(now);
                self.syn.map(|syn| {
                    Segment::syn_ack(&syn, self.ack_bytes, window, self.sack_blocks > 0).with_tsval(tsval)
                })
            }
        }
    }

    /// Whether an ACK has nothing to tell but how far the data have come.
    #[inline]
    fn calm(&self) -> bool {
        self.out_of_order.is_empty() && self.duplicate.is_none() && self.early.is_none()
    }

    #[cold]
    fn reply(&mut self, now: Time) -> Segment {
        let mut ack = self.bare_ack(now);
        if !self.out_of_order.is_empty() || self.duplicate.is_some() {
            self.add_blocks(&mut ack);
        }
        ack
    }

    #[inline]
    fn bare_ack(&mut self, now: Time) -> Segment {
        self.clock.on_ack_sent();
        self.last_ack = self.next;
        Segment::ack(self.flow, self.ack_bytes, self.echo, self.next, self.window.bytes())
            .with_ecn(self.marked)
            .with_tsval(self.timestamps.at(now))
    }

    #[inline]
    fn acknowledge(&mut self) {
        self.due = Reply::Ack;
    }

    /// The next number in order.
    pub(crate) fn expected(&self) -> u64 {
        self.next
    }

    /// Whether anything waits out of order.
    pub(crate) fn disordered(&self) -> bool {
        !self.out_of_order.is_empty()
    }

    /// Segments that wait out of order: above `number`, and all.
    pub(crate) fn queued_above(&self, number: u64) -> (u64, u64) {
        let below = self.out_of_order.count_below(number);
        (self.out_of_order_segments - below, self.out_of_order_segments)
    }

    /// Waiting segments that `number` puts in order.
    pub(crate) fn released_by(&self, number: u64) -> u64 {
        let follows = self.out_of_order.containing(number + 1).filter(|_| number == self.next);
        follows.map_or(0, |range| range.end - range.start)
    }

    /// Windows XP of the HyStart paper: with so much out of order, neither SACK nor more of it.
    fn suppresses(&self) -> bool {
        self.sack_suppression > 0 && self.out_of_order_segments >= self.sack_suppression
    }

    /// Whether `number` belongs to none of the ranges that the next ACK surely tells of, so that one must leave first
    /// (`tcp_sack_new_ofo_skb`).
    fn scatters(&self, number: u64) -> bool {
        let recent = &self.recent[..usize::from(self.recent_count)];
        let joins = |&other: &u64| {
            let range = self.out_of_order.containing(other);
            range.is_some_and(|range| range.start <= number + 1 && number <= range.end)
        };
        recent.len() >= BLOCKS_EXPECTED && !recent[..BLOCKS_EXPECTED].iter().any(joins)
    }

    /// `number`'s range is now the most recent one (RFC 2018 §4).
    fn note_recent(&mut self, number: u64) {
        let Some(range) = self.out_of_order.containing(number) else { return };
        let mut kept = [number; SACK_BLOCKS_MAX];
        let mut count = 1;
        for &other in &self.recent[..usize::from(self.recent_count)] {
            let same = range.start <= other && other < range.end;
            if !same && other >= self.next && count < SACK_BLOCKS_MAX {
                kept[count] = other;
                count += 1;
            }
        }
        self.recent = kept;
        self.recent_count = count as u8;
    }

    fn add_blocks(&mut self, ack: &mut Segment) {
        let duplicate = self.duplicate.take();
        if self.sack_blocks == 0 || self.suppresses() {
            return;
        }
        if let Some((start, end)) = duplicate.filter(|_| !self.ns2_sink) {
            *ack = ack.with_duplicate(start, end);
        }
        for &number in &self.recent[..usize::from(self.recent_count)] {
            if ack.block_count() >= usize::from(self.sack_blocks) {
                break;
            }
            if let Some(range) = self.out_of_order.containing(number) {
                *ack = ack.with_sack_block(range.start, range.end);
            }
        }
        *ack = ack.with_header_bytes(self.ack_bytes + self.sack_block_bytes * ack.block_count() as u32);
    }
}
