//! The host's duties towards the start-up algorithm, and the window after it.

use rampcc::{Ack, AckFlags, Decision, Event, EventKind, ExitReason, Phase, Time, UNSET};
use rampcc_avoidance::{Delivered, Growth, Startup};
use rampcc_trace::{Call, FlowEventKind, Opening, SenderState, Told};

use crate::connection::{Connection, Exit, ExtraRounds, Window, microseconds};
use crate::record::{Delivery, Flags};

/// One ACK as the window's keepers see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckView {
    pub(crate) now: Time,
    /// Just before it.
    pub(crate) in_flight: u64,
    pub(crate) rtt: Option<Time>,
    /// Bytes per second; 0: no sample.
    pub(crate) rate: u64,
    /// It tells of a congestion mark.
    pub(crate) marked: bool,
    /// When the receiver sent it, by its own clock; 0: it does not say.
    pub(crate) tsval: u32,
}

/// A congestion event, and what its reduction begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    pub(crate) kind: EventKind,
    pub(crate) lost: u64,
    /// When the newest acknowledged packet was sent.
    pub(crate) deciding: Time,
    /// The window, without what recovery has added or rationed.
    pub(crate) window: u64,
    /// What of it counts as used.
    pub(crate) used: u64,
    /// Everything outstanding is sent again.
    pub(crate) over: bool,
    /// The algorithm's threshold may be above the window.
    pub(crate) opens: bool,
}

impl Connection {
    /// Whether start-up is under way: the algorithm has not left, or leaving has not taken effect.
    #[inline]
    pub(crate) fn starting(&self) -> bool {
        self.startup.decision().phase() != Phase::Done || self.extra.is_some()
    }

    /// Lets the window grow by what one ACK delivered, while start-up or a model has the say. `limited`: the window was in
    /// the way. Returns whether neither has.
    #[inline]
    pub(crate) fn grow_by_others(&mut self, view: &AckView, delivery: &Delivery, limited: bool) -> bool {
        if self.startup.decision().phase() != Phase::Done {
            self.consult(view, delivery, limited);
        } else if self.extra.is_some() {
            self.grow_further(view, delivery, limited);
        } else if self.avoid.by_rate() {
            self.obey_model(view, delivery);
        } else {
            return true;
        }
        false
    }

    /// Tells the algorithm of a congestion event; then the slow-start threshold is set, by it or by the rule of
    /// congestion avoidance.
    pub(crate) fn report_congestion(&mut self, now: Time, reduction: &Reduction) {
        let Reduction { kind, lost, window, .. } = *reduction;
        let mss = self.mss();
        let flight = reduction.used.min(window);
        let before = self.ssthresh();
        let starting = self.starting();
        self.ecn.note_reduction(self.board.next());
        self.tell_congestion(now, kind, lost, reduction.deciding);
        let own = self.avoid.on_loss(flight, self.cwnd(), mss, reduction.over);
        // A timeout may begin start-up again.
        let overrides = starting || kind == EventKind::Timeout && self.starting();
        if self.ssthresh() == before || self.ssthresh() == UNSET || !overrides {
            self.set_ssthresh(own);
        } else if self.ssthresh() > window && !reduction.opens {
            self.set_ssthresh(window);
        }
    }

    /// The same where the last reduction was for the same window: only the algorithm may set the threshold once more.
    pub(crate) fn report_further_congestion(&mut self, now: Time, kind: EventKind, lost: u64) {
        let before = self.ssthresh();
        self.tell_congestion(now, kind, lost, Time::ZERO);
        if self.ssthresh() == UNSET {
            self.set_ssthresh(before);
        }
    }

    fn tell_congestion(&mut self, now: Time, kind: EventKind, lost: u64, deciding: Time) {
        let was_starting = self.starting();
        self.remembered.doubt(self.rules.initial_window, self.rate.delivered());
        self.tell(now, kind, lost);
        if self.extra.take().is_some() {
            let reason = match kind {
                EventKind::Timeout => ExitReason::Timeout,
                EventKind::Mark => ExitReason::Ecn,
                _ => ExitReason::Loss,
            };
            self.report_exit(reason, lost, 0, deciding);
        } else if was_starting {
            self.notice_exit(deciding);
        }
    }

    /// Tells the algorithm of an event that takes nothing from the window.
    pub(crate) fn report(&mut self, now: Time, kind: EventKind) {
        let was_starting = self.starting();
        self.tell(now, kind, 0);
        if was_starting {
            self.notice_exit(Time::ZERO);
        }
    }

    fn tell(&mut self, now: Time, kind: EventKind, lost: u64) {
        let event = Event {
            now_ns: now.ns(),
            lost_bytes: lost,
            in_flight_bytes: self.board.out_bytes() - self.board.sacked_bytes(),
            kind,
            mss_bytes: self.rules.mss,
        };
        let found = self.found();
        let starting = self.starting();
        let wanted = self.lend(|startup| _ = startup.on_event(&event));
        // After start-up the window is the host's, or an algorithm could take back every reduction.
        if starting || self.starting() {
            self.congestion = wanted;
        }
        if let Some(found) = found {
            self.keep_call(now, Told::Event(event), found);
        }
    }

    /// The connection is established, and what the handshake has shown is known.
    pub(crate) fn begin_startup(&mut self, now: Time, opened: impl FnOnce(&mut Self)) {
        if let Some(mut config) = self.waiting.take() {
            config.size_bytes = self.offered;
            config.receive_window_bytes = self.window;
            config.handshake_rtt_us = microseconds(Some(self.last_rtt));
            config.now_ns = now.ns();
            let before = *self.startup.decision();
            self.startup.begin(&config);
            self.congestion = Window::of(self.startup.decision());
            opened(self);
            if self.calls.is_some() {
                let told = Opening::told(self.startup.algorithm(), *config);
                self.keep_call(now, told, before);
            }
            self.notice_exit(Time::ZERO);
        }
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start, half of the window used is enough to let it double.
    #[inline]
    pub(crate) fn cwnd_limited(&self) -> bool {
        self.usage.limited || {
            let cwnd = self.cwnd();
            (self.starting() || cwnd < self.ssthresh()) && cwnd < 2 * self.usage.max_out
        }
    }

    #[inline(never)]
    fn consult(&mut self, view: &AckView, delivery: &Delivery, limited: bool) {
        // Duplicate ACKs never enlarge the window (RFC 5681), nor do those that tell of a mark (RFC 3168 §6.1.2); the
        // algorithm still sees them.
        let limited = delivery.advanced_segments > 0 && !view.marked && limited;
        let app_limited = delivery.newest.flags & Flags::APP_LIMITED != 0;
        let pacing = self.pacing_bytes_per_s();
        let paces = pacing != 0;
        let recovering = self.repair.state == SenderState::Recovery;
        let ack = Ack {
            now_ns: view.now.ns(),
            newest_sent_ns: delivery.newest.sent.ns(),
            sent_bytes: self.sent_bytes,
            newest_acked_bytes: delivery.newest.sent_bytes,
            delivered_bytes: self.rate.delivered(),
            acked_bytes: delivery.bytes,
            in_flight_bytes: view.in_flight,
            lost_bytes: self.board.ever_lost_bytes(),
            receive_window_bytes: self.window,
            delivery_bytes_per_s: view.rate,
            pacing_bytes_per_s: if paces { pacing } else { self.host_rate },
            rtt_us: microseconds(view.rtt),
            mss_bytes: self.rules.mss,
            flags: u32::from(limited) * AckFlags::CWND_LIMITED
                + u32::from(app_limited) * AckFlags::APP_LIMITED
                + u32::from(view.marked) * AckFlags::ECE
                + u32::from(paces) * AckFlags::PACED
                + u32::from(recovering) * AckFlags::RECOVERING
                + u32::from(app_limited && view.rate != 0) * AckFlags::RATE_APP_LIMITED,
            tsval: view.tsval,
        };
        let before = self.found();
        let window = self.cwnd();
        let wanted = self.lend(|startup| _ = startup.on_ack(&ack));
        if let Some(before) = before {
            self.keep_call(view.now, Told::Ack(ack), before);
        }
        if recovering {
            self.keep_recovery(wanted);
        } else {
            self.congestion = wanted;
        }
        if self.startup.decision().phase() == Phase::Done {
            if self.avoid.by_rate() {
                // The model has the last word on what follows, and begins with the window before this ACK.
                if !recovering {
                    self.set_cwnd(window);
                }
                self.obey_model(view, delivery);
            }
            self.notice_exit(delivery.newest.sent);
        }
    }

    /// The window belongs to recovery, which an algorithm gives another goal by ssthresh. PRR and rate halving go there step
    /// by step; the others have reduced on entry, and do so again.
    #[cold]
    fn keep_recovery(&mut self, wanted: Window) {
        let ssthresh = wanted.ssthresh;
        if ssthresh == UNSET || ssthresh == self.ssthresh() {
            return;
        }
        self.set_ssthresh(ssthresh);
        if !self.repair.rationed || !self.sack_in_use() {
            self.set_cwnd(ssthresh.saturating_add(self.repair.inflation));
        }
    }

    /// Start-up may just have ended: report it, or go on for the extra rounds.
    #[cold]
    fn notice_exit(&mut self, deciding: Time) {
        let decision = *self.startup.decision();
        if decision.phase() != Phase::Done || self.extra.is_some() {
            return;
        }
        if self.exit != Exit::NotYet {
            self.exit = Exit::Followed;
        } else if self.rules.extra_rounds > 0 && !decision.exit_reason().is_congestion() {
            self.extra = Some(ExtraRounds { left: self.rules.extra_rounds, round_end: self.sent_bytes });
        } else {
            self.report_exit(decision.exit_reason(), decision.evidence, decision.limit, deciding);
        }
    }

    fn report_exit(&mut self, reason: ExitReason, evidence: u64, limit: u64, deciding: Time) {
        if self.exit == Exit::NotYet {
            self.exit = Exit::Told;
            self.events.push_back(FlowEventKind::StartupExit {
                reason,
                evidence,
                limit,
                cwnd_bytes: self.cwnd(),
                deciding_sent: self.startup.algorithm().decided_by(reason, evidence, deciding),
            });
        }
    }

    /// An undone reduction may have taken the exit back that it caused.
    pub(crate) fn notice_return(&mut self) {
        if self.exit == Exit::Told && self.startup.decision().phase() != Phase::Done {
            self.exit = Exit::NotYet;
            self.events.push_back(FlowEventKind::StartupResumed);
        }
    }

    /// Slow start goes on although the algorithm has left.
    fn grow_further(&mut self, view: &AckView, delivery: &Delivery, limited: bool) {
        if delivery.advanced_segments > 0 && !view.marked && limited {
            let counted = self.counted(delivery.bytes);
            self.set_cwnd(self.cwnd().saturating_add(counted));
        }
        let Some(extra) = &mut self.extra else { return };
        if delivery.newest.sent_bytes <= extra.round_end {
            return;
        }
        extra.left -= 1;
        extra.round_end = self.sent_bytes;
        if extra.left == 0 {
            self.extra = None;
            let decision = *self.startup.decision();
            self.set_ssthresh(self.cwnd());
            self.report_exit(decision.exit_reason(), decision.evidence, decision.limit, delivery.newest.sent);
        }
    }

    /// One ACK as a control by rate sees it.
    fn delivered(&self, view: &AckView, delivery: &Delivery) -> Delivered {
        let (sent_into, lost_since) = self.board.sent_into(delivery.newest_number, &delivery.newest);
        Delivered {
            now: view.now,
            mss: self.mss(),
            acked: delivery.bytes,
            delivered: self.rate.delivered(),
            prior_delivered: delivery.newest.delivered,
            rate: view.rate,
            paused: delivery.newest.flags & Flags::APP_LIMITED != 0,
            rtt: view.rtt,
            before: view.in_flight,
            in_flight: self.board.in_flight(),
            lost: self.board.ever_lost_bytes(),
            lost_since,
            sent_into,
            limited: self.usage.limited,
            startup: self.progress(),
            departure: self.pacer.next().max(view.now),
            open: self.repair.state == SenderState::Open,
        }
    }

    fn progress(&self) -> Startup {
        let decision = self.startup.decision();
        if self.starting() && decision.phase() != Phase::Leaving {
            Startup::Rising
        } else {
            Startup::Left { lossy: decision.exit_reason() == ExitReason::Loss }
        }
    }

    /// Shows the ACK to a control that has a model of the path.
    pub(crate) fn observe(&mut self, view: &AckView, delivery: &Delivery) {
        let (ack, cwnd) = (self.delivered(view, delivery), self.cwnd());
        let lost = self.board.take_found();
        self.avoid.observe(&ack, cwnd, &lost);
        if self.avoid.probes_rtt() {
            self.rate.on_app_limited(ack.in_flight);
        }
    }

    /// The window that the model wants; while a rationed repair goes on, what it is to end with.
    fn obey_model(&mut self, view: &AckView, delivery: &Delivery) {
        let (ack, cwnd) = (self.delivered(view, delivery), self.cwnd());
        let recovering = self.repair.state == SenderState::Recovery;
        let rationed = recovering && !self.avoid.repairs();
        let wanted = self.avoid.control(&ack, cwnd, rationed);
        if recovering {
            self.set_ssthresh(wanted);
        }
        if !rationed {
            self.set_cwnd(wanted);
        }
    }

    /// Congestion avoidance after start-up: `acked` bytes count.
    #[inline]
    pub(crate) fn avoid_congestion(&mut self, view: &AckView, cwnd: u64, acked: u64) {
        let growth = Growth {
            now: view.now,
            cwnd,
            acked,
            mss: self.mss(),
            min_rtt: self.rtt.min(),
            rtt: view.rtt,
            una: self.board.una(),
            next: self.board.next(),
        };
        let cwnd = self.avoid.on_ack(&growth);
        self.set_cwnd(cwnd);
    }

    /// Bytes that count for growth under the limit of RFC 3465.
    #[inline]
    pub(crate) fn counted(&self, acked: u64) -> u64 {
        if self.rules.abc_limit == 0 { acked } else { acked.min(self.rules.abc_limit) }
    }

    /// The decision that the next call will find, if calls are kept.
    #[inline]
    fn found(&self) -> Option<Decision> {
        self.calls.as_ref()?;
        let mut found = *self.startup.decision();
        (found.cwnd_bytes, found.ssthresh_bytes) = (self.cwnd(), self.ssthresh());
        Some(found)
    }

    /// A call has been made; `before` is the decision that the algorithm found.
    fn keep_call(&mut self, now: Time, told: Told, before: Decision) {
        if let Some(calls) = &mut self.calls {
            calls.keep(now, self.flow, Call { told, before, after: *self.startup.decision() });
        }
    }
}
