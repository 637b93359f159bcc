//! Taking in an ACK.

use rampcc::Time;
use rampcc_trace::SenderState;

use crate::Recovery;
use crate::record::{Delivery, Flags};
use crate::recovery::AckFacts;
use crate::segment::Segment;
use crate::sender::{Purpose, SackUse, Sender};
use crate::steering::AckView;

/// An ACK that tells of more, or of less, than progress.
struct Uncalm {
    view: AckView,
    delivery: Delivery,
    /// The receive window is another than before.
    window_changed: bool,
    /// The sender's state before it.
    prior_state: SenderState,
}

impl Sender {
    /// An ACK arrived on an established connection.
    #[inline]
    pub(crate) fn handle_ack(&mut self, now: Time, segment: &Segment) {
        let ack = segment.number();
        if ack > self.board.next() {
            return;
        }
        let in_flight = self.board.in_flight();
        let prior_una = self.board.una();
        let fack = prior_una.max(self.board.highest_sacked_end());
        let prior_state = self.repair.state;
        self.burst_left = self.rules.max_burst;
        let mut delivery = Delivery::new();
        let set_aside = self.take_in(segment, &mut delivery);
        let window_changed = ack >= prior_una && self.note_window(now, segment);
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
            if self.rules.rack {
                self.rack.on_delivery(now, &delivery, fack, self.rtt.min());
            }
        }
        self.last_rtt = view.rtt.unwrap_or(Time::ZERO);
        if self.avoid.by_rate() && delivery.any {
            self.observe(&view, &delivery);
        }
        if delivery.advanced_segments > 0 {
            if self.rules.counts_ticks {
                self.stop_timing(now);
            }
            self.after_advance(now);
        }
        let calm = self.repair.state == SenderState::Open
            && self.board.sacked_segments() == 0
            && delivery.advanced_segments > 0
            && segment.block_count() == 0;
        if calm {
            self.repair.duplicates = 0;
            self.timers.reordering = Time::NEVER;
            self.grow(&view, &delivery);
        } else {
            delivery.sacked |= set_aside;
            self.grow_and_recover(segment, &Uncalm { view, delivery, window_changed, prior_state });
        }
        if self.ecn.in_use {
            self.attend_marks(now, marked, delivery.newest.sent);
        }
        if self.rules.rack && self.rack.probing() {
            self.judge_tail_probe(now, segment, &delivery);
        }
        // Linux keeps it always; in congestion avoidance nobody but the pacer asks.
        if self.paces_by_share() || self.starting() {
            self.update_host_rate();
        }
    }

    /// What follows an ACK while something is missing, or that says so.
    #[cold]
    fn grow_and_recover(&mut self, segment: &Segment, uncalm: &Uncalm) {
        let Uncalm { view, delivery, window_changed, prior_state } = uncalm;
        let now = view.now;
        let duplicates = self.repair.duplicates;
        let facts = self.facts(segment, delivery, *window_changed);
        // What is given back grows with this ACK (Linux `tcp_cong_control`).
        if self.undone(now, &facts, delivery) && delivery.advanced_segments > 0 {
            self.arm_after_ack(now);
        }
        if delivery.any {
            self.grow(view, delivery);
        }
        self.recover(now, &facts, delivery);
        if self.rules.recovery.is_ns2() {
            let recovering = self.repair.state == SenderState::Recovery;
            self.limit_burst(
                self.repair.duplicates > duplicates,
                recovering && *prior_state != SenderState::Recovery,
            );
            let left = *prior_state == SenderState::Recovery && !recovering;
            if left && self.rules.recovery.is_newreno() && !self.starting() {
                // The ACK that ends recovery opens the window too.
                self.grow(view, delivery);
            }
        }
    }

    #[inline]
    fn take_in(&mut self, segment: &Segment, delivery: &mut Delivery) -> bool {
        let mut blocks = 0;
        let mut set_aside = false;
        if segment.block_count() > 0 && self.sack_in_use() {
            self.repair.sack = SackUse::Yes;
            blocks = segment.block_count();
        }
        if self.rules.recovery == Recovery::SackNs2 && self.repair.state != SenderState::Recovery {
            set_aside = self.set_sacks_aside(segment);
            blocks = 0;
        }
        self.board.on_ack(segment.number(), segment.sack_blocks().take(blocks), delivery);
        self.una_offset += delivery.advanced_bytes;
        set_aside
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
        if !self.rules.counts_ticks {
            let timed = if self.rules.linux_timer { now - delivery.first_clean_sent } else { newest };
            self.rtt.on_sample(timed, una, next);
        }
        Some(newest)
    }

    #[inline]
    fn after_advance(&mut self, now: Time) {
        let newreno = matches!(self.rules.recovery, Recovery::NewRenoImpatient | Recovery::NewRenoSteady)
            || self.repair.sack == SackUse::No;
        // In NewReno's recovery partial ACKs have their own rule.
        let partial =
            newreno && self.repair.state == SenderState::Recovery && self.board.una() < self.repair.point;
        if !partial {
            self.arm_after_ack(now);
        }
    }

    fn facts(&mut self, segment: &Segment, delivery: &Delivery, window_changed: bool) -> AckFacts {
        let duplicate = self.is_duplicate(segment, delivery, window_changed);
        let needless = segment.duplicate().is_some();
        if needless && self.rules.rack {
            self.rack.on_duplicate(self.board.una(), self.board.next());
        }
        AckFacts { duplicate, needless, echo: segment.timestamp() }
    }

    #[cold]
    fn judge_tail_probe(&mut self, now: Time, segment: &Segment, delivery: &Delivery) {
        let duplicate = segment.duplicate().is_some();
        if self.settle_tail_probe(duplicate, delivery.any) && self.repair.state == SenderState::Open {
            self.reduce_for_probe(now, delivery.newest.sent);
        }
    }
}
