//! Taking in an ACK.

use rampcc::Time;
use rampcc_trace::SenderState;

use crate::connection::{Connection, Purpose, SackUse};
use crate::record::{Delivery, Flags};
use crate::segment::Segment;
use crate::steering::AckView;

/// RFC 5681: this many duplicate ACKs mean a loss.
pub(crate) const DUPLICATE_ACKS: u32 = 3;

/// An ACK that has been taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) view: AckView,
    pub(crate) delivery: Delivery,
    /// The receive window is another than before.
    pub(crate) window_changed: bool,
}

/// What recovery must know of an ACK besides what it delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckFacts {
    /// It tells of nothing new below SND.UNA but that a segment arrived (RFC 5681 §2, RFC 6675 §2).
    pub(crate) duplicate: bool,
    /// It reports a segment that arrived twice.
    pub(crate) needless: bool,
    /// The time stamp it echoes.
    pub(crate) echo: Time,
}

impl Connection {
    /// How many of its SACK blocks are to be believed.
    #[inline]
    pub(crate) fn believed_blocks(&mut self, segment: &Segment) -> usize {
        if segment.block_count() == 0 || !self.sack_in_use() {
            return 0;
        }
        self.repair.sack = SackUse::Yes;
        segment.block_count()
    }

    /// Takes an ACK in: what it and the first of its `blocks` deliver, and what can be measured by that.
    #[expect(
        clippy::inline_always,
        reason = "otherwise what it delivers is made, then copied, for every ACK"
    )]
    #[inline(always)]
    pub(crate) fn take_in(&mut self, now: Time, segment: &Segment, blocks: usize) -> Taken {
        let in_flight = self.board.in_flight();
        let prior_una = self.board.una();
        self.burst_left = self.rules.max_burst;
        let mut delivery = Delivery::new();
        self.board.on_ack(segment.number(), segment.sack_blocks().take(blocks), &mut delivery);
        self.una_offset += delivery.advanced_bytes;
        let window_changed = segment.number() >= prior_una && self.note_window(now, segment);
        let marked = self.ecn.in_use && segment.ecn();
        let mut view = AckView { now, in_flight, rtt: None, rate: 0, marked, tsval: segment.tsval() };
        if delivery.any {
            view.rtt = self.measure(now, segment.timestamp(), &delivery);
            if delivery.bytes > 0 {
                self.rate.on_delivered(now, delivery.bytes, delivery.newest.sent);
            }
            if self.rules.rated || self.starting() {
                view.rate = self.rate.sample(&delivery.newest.stamp(), self.rtt.min());
                self.last_rate = view.rate;
            }
            if self.rules.remembered {
                self.lasting_rate.take(view.rate, delivery.newest.flags & Flags::APP_LIMITED != 0);
            }
            self.avoid.on_delivered(now, delivery.bytes, view.rtt);
        }
        self.last_rtt = view.rtt.unwrap_or(Time::ZERO);
        if self.avoid.by_rate() && delivery.any {
            self.observe(&view, &delivery);
        }
        Taken { view, delivery, window_changed }
    }

    /// Nothing is missing, and the ACK says nothing but that it goes on.
    #[inline]
    pub(crate) fn is_calm(&self, segment: &Segment, delivery: &Delivery) -> bool {
        self.repair.state == SenderState::Open
            && self.board.sacked_segments() == 0
            && delivery.advanced_segments > 0
            && segment.block_count() == 0
    }

    /// Linux keeps its rate always; in congestion avoidance only the pacer asks.
    #[inline]
    pub(crate) fn keep_rate(&mut self) {
        if self.paces_by_share() || self.starting() {
            self.update_host_rate();
        }
    }

    /// The receive window and, with it, the send buffer. Returns whether the window's size changed.
    #[inline]
    fn note_window(&mut self, now: Time, segment: &Segment) -> bool {
        let changed = segment.window_bytes() != self.window;
        if changed || self.window != u64::MAX {
            self.update_window(segment.window_bytes());
            if self.timers.purpose == Purpose::WindowProbe && self.window_edge > self.next_offset {
                self.timers.purpose = Purpose::Timeout;
                self.timers.retransmit = Time::NEVER;
                self.rtt.forget_backoff();
                if !self.board.is_empty() {
                    self.arm_timeout(now);
                }
            }
        }
        if self.rules.send_buffer_max > 0 {
            // Linux `tcp_sndbuf_expand`: room for two windows, for BBR three.
            let windows = if self.avoid.by_rate() { 3 } else { 2 };
            self.send_buffer = self.send_buffer.max((windows * self.cwnd()).min(self.rules.send_buffer_max));
        }
        changed
    }

    /// RTT samples. Returns the one for congestion control: of the newest segment that this ACK delivers (Linux
    /// `pkts_acked`), never of one that was retransmitted (Karn).
    #[inline]
    fn measure(&mut self, now: Time, echo: Time, delivery: &Delivery) -> Option<Time> {
        let (una, next) = (self.board.una(), self.board.next());
        if delivery.ambiguous {
            // A time stamp still tells whose round trip it was, if the left edge moved (RFC 7323 §4).
            if self.rules.undo && delivery.advanced_segments > 0 {
                self.rtt.on_sample(now - echo, una, next);
            }
            return None;
        }
        if delivery.last_clean_sent == Time::NEVER {
            return None;
        }
        let newest = now - delivery.last_clean_sent;
        self.rtt.observe_min(newest);
        if !self.rtt.counts_ticks() {
            let timed = if self.rules.linux_timer { now - delivery.first_clean_sent } else { newest };
            self.rtt.on_sample(timed, una, next);
        }
        Some(newest)
    }

    /// What recovery must know of it.
    pub(crate) fn facts(&mut self, segment: &Segment, taken: &Taken) -> AckFacts {
        AckFacts {
            duplicate: self.is_duplicate(segment, &taken.delivery, taken.window_changed),
            needless: segment.duplicate().is_some(),
            echo: segment.timestamp(),
        }
    }

    /// Whether an ACK counts as a duplicate.
    fn is_duplicate(&mut self, segment: &Segment, delivery: &Delivery, window_changed: bool) -> bool {
        if delivery.advanced_segments > 0 || segment.number() != self.board.una() || self.board.is_empty() {
            return false;
        }
        let plain = segment.block_count() == 0 && !window_changed;
        match self.repair.sack {
            SackUse::Yes => delivery.sacked,
            SackUse::No => plain || segment.block_count() > 0,
            SackUse::Unknown => {
                if plain && self.repair.duplicates + 1 == DUPLICATE_ACKS {
                    // Three times nothing: this receiver has no SACK.
                    self.repair.sack = SackUse::No;
                }
                plain
            }
        }
    }
}
