//! What may leave and when, and what leaving changes.

use rampcc::{BACK_TO_BACK, EventKind, Time};

use crate::connection::{Connection, Purpose};
use crate::pacing::{UNPACED_SEGMENTS, linux_rate, share};
use crate::record::{Flags, Record};
use crate::segment::Segment;

/// What to send, before the pacer is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Again(u64),
    New { bytes: u32 },
}

/// Why nothing leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    Window,
    Application,
    Receiver,
    Pacer,
    Other,
}

impl Connection {
    /// Whether packets are spaced over the round trip where the algorithm sets no rate.
    #[inline]
    pub(crate) fn paces_by_share(&self) -> bool {
        self.rules.pacing_always || self.startup.decision().pacing_percent != 0
    }

    /// Bytes per second at which packets are spaced; 0: not at all.
    #[inline]
    pub(crate) fn pacing_bytes_per_s(&self) -> u64 {
        let decision = self.startup.decision();
        match decision.pacing_bytes_per_s {
            0 if self.avoid.by_rate() && !self.starting() => self.avoid.pacing(),
            0 if self.paces_by_share() => self.host_rate,
            BACK_TO_BACK => 0,
            rate => rate,
        }
    }

    /// The rate where the algorithm has set none: the share of the window that it wants, or Linux's.
    pub(crate) fn update_host_rate(&mut self) {
        let smoothed = self.rtt.smoothed();
        self.host_rate = match self.startup.decision().pacing_percent {
            0 => linux_rate(self.cwnd(), self.ssthresh(), smoothed),
            percent => share(self.cwnd(), u64::from(percent), smoothed),
        };
    }

    /// Between ACKs Linux's own rate stays as it is; the algorithm's share follows the window.
    #[cold]
    pub(crate) fn renew_share(&mut self) {
        if self.startup.decision().pacing_percent != 0 {
            self.update_host_rate();
        }
    }

    /// Whether a further segment may leave while `used` bytes of a window of `cwnd` are.
    #[inline]
    pub(crate) fn permits(&self, used: u64, cwnd: u64) -> Result<(), Blocked> {
        if used > 0 && used + self.mss() > cwnd && !self.within_chirp() {
            return Err(Blocked::Window);
        }
        if self.burst_left == 0 { Err(Blocked::Other) } else { Ok(()) }
    }

    /// How many new bytes may leave in one segment.
    #[inline]
    pub(crate) fn next_new(&self) -> Result<u32, Blocked> {
        let unsent = self.offered - self.next_offset;
        if unsent == 0 {
            return if self.finished && !self.last_sent { Ok(0) } else { Err(Blocked::Application) };
        }
        let bytes = unsent.min(self.mss());
        let room = self.window_edge.saturating_sub(self.next_offset);
        if bytes > room {
            // Less than a full segment only if nothing else is under way (silly window syndrome).
            return if self.board.is_empty() && room > 0 { Ok(room as u32) } else { Err(Blocked::Receiver) };
        }
        if bytes > self.send_buffer.saturating_sub(self.board.out_bytes()) && !self.board.is_empty() {
            return Err(Blocked::Application);
        }
        Ok(bytes as u32)
    }

    #[inline]
    pub(crate) fn held_by_pacer(&mut self, now: Time) -> bool {
        if self.pacing_bytes_per_s() == 0 || self.bursting() || self.pacer.ready(now) {
            return false;
        }
        self.timers.pacing = self.pacer.next();
        true
    }

    /// Whether the next packet belongs to a burst before a paced rest.
    #[inline]
    fn bursting(&self) -> bool {
        let decision = self.startup.decision();
        decision.pacing_bytes_per_s != 0 && self.sent_bytes < decision.burst_until_bytes
    }

    /// Whether the next packet belongs to a chirp that has begun, which the window does not interrupt.
    #[inline]
    fn within_chirp(&self) -> bool {
        self.pacer.in_chirp() && self.startup.decision().chirp_packets > 0
    }

    #[inline]
    fn note_sent(&mut self, now: Time, bytes: u32) {
        self.sent_bytes += u64::from(bytes);
        self.sent_segments += 1;
        self.last_sent_at = now;
        let rate = self.pacing_bytes_per_s();
        if rate != 0 {
            self.space(now, bytes, rate);
        }
    }

    /// Says when the next packet may leave.
    fn space(&mut self, now: Time, bytes: u32, rate: u64) {
        let decision = self.startup.decision();
        let own = decision.pacing_bytes_per_s != 0;
        let packets = decision.pacing_burst_bytes / self.rules.mss;
        let linux = self.rules.linux_pacer || (self.rules.pacing_always && !own);
        let exempt = linux && self.sent_segments < u64::from(UNPACED_SEGMENTS);
        if decision.chirp_packets > 0 {
            self.pacer.on_sent_in_chirp(now, decision);
        } else if self.bursting() || exempt {
            self.pacer.on_sent_unspaced(now);
        } else if own && packets > 1 {
            self.pacer.on_sent_of_several(now, bytes, rate, packets);
        } else if own && linux {
            self.pacer.on_sent_singly(now, bytes, rate);
        } else if linux {
            self.pacer.on_sent_in_burst(now, bytes, rate);
        } else {
            self.pacer.on_sent_exactly(now, bytes, rate);
        }
    }

    #[inline]
    pub(crate) fn send_new(&mut self, now: Time, bytes: u32) -> Segment {
        let idle = self.board.is_empty();
        if idle {
            self.restart_after_idle(now);
        }
        let number = self.board.next();
        self.next_offset += u64::from(bytes);
        let last = self.finished && self.next_offset == self.offered;
        self.last_sent = last;
        self.note_sent(now, bytes);
        self.board.push(Record {
            sent_bytes: self.sent_bytes,
            bytes,
            flags: u8::from(self.rate.app_limited()) * Flags::APP_LIMITED + u8::from(last) * Flags::LAST,
            ..Record::of(self.rate.stamp(now, idle))
        });
        self.rtt.start_timing(now, number);
        self.arm_after_new(now);
        Segment::data(self.flow, self.rules.header_bytes, now, number, bytes)
            .with_last(last)
            .with_rtt_us(self.rtt_us())
    }

    /// A new segment with what ECN and Quick-Start add to it.
    #[cold]
    pub(crate) fn with_options(&mut self, segment: Segment) -> Segment {
        let segment = if self.ecn.in_use { self.ecn.markable(segment) } else { segment };
        match self.quick_start.take() {
            Some(report) => segment.with_quick_start(report),
            None => segment,
        }
    }

    #[cold]
    pub(crate) fn send_again(&mut self, now: Time, number: u64) -> Segment {
        let Record { bytes, flags, .. } = *self.board.record(number);
        self.note_sent(now, bytes);
        self.retransmitted_bytes += u64::from(bytes);
        let idle = self.board.in_flight() == 0;
        let update = Record { sent_bytes: self.sent_bytes, ..Record::of(self.rate.stamp(now, idle)) };
        self.board.on_retransmitted(number, update);
        let undo = &mut self.repair.undo;
        undo.first_retransmission = undo.first_retransmission.min(now);
        undo.unexplained += 1;
        if self.timers.retransmit == Time::NEVER {
            self.arm_timeout(now);
        }
        Segment::data(self.flow, self.rules.header_bytes, now, number, bytes)
            .with_last(flags & Flags::LAST != 0)
            .with_rtt_us(self.rtt_us())
            .with_retransmission()
    }

    fn rtt_us(&self) -> u32 {
        u32::try_from(self.rtt.smoothed().us()).unwrap_or(u32::MAX)
    }

    pub(crate) fn send_syn(&mut self, now: Time) -> Segment {
        self.syn.transmissions += 1;
        self.timers.retransmit = now + self.rtt.timeout();
        // Sent again, it asks for no marks either (RFC 3168 §6.1.1.1).
        let asks = self.rules.ecn && self.syn.transmissions == 1;
        let syn = Segment::syn(self.flow, self.rules.syn_bytes, now).with_ecn(asks);
        // Sent again, it asks for nothing: the option may be why it was lost (RFC 4782 §4.7.2).
        let asks = self.quick_start.filter(|_| self.syn.transmissions == 1);
        asks.map_or(syn, |option| syn.with_quick_start(option))
    }

    /// The segment at SND.UNA, if it is to be sent again: a cumulative acknowledgement may have passed since that was
    /// decided, and what is SACKed is not missing.
    pub(crate) fn missing_head(&self) -> Option<u64> {
        let una = self.board.una();
        let missing = !self.board.is_empty()
            && self.board.record(una).flags & (Flags::SACKED | Flags::RETRANSMITTED) == 0;
        missing.then_some(una)
    }

    /// RFC 5681 §4.1: what was learnt before a long pause is stale.
    fn restart_after_idle(&mut self, now: Time) {
        let idle = now - self.last_sent_at;
        if self.sent_segments == 0 || idle == Time::ZERO {
            return;
        }
        self.avoid.on_idle(now, idle);
        if self.rules.idle_restart && idle > self.rtt.timeout() {
            let cwnd = self.cwnd();
            if cwnd > self.rules.initial_window {
                self.report(now, EventKind::IdleRestart);
                self.set_ssthresh(self.ssthresh().max(cwnd / 4 * 3));
                self.set_cwnd(self.rules.initial_window);
                self.renew_share();
            }
        }
    }

    #[inline]
    pub(crate) fn note_blocked(&mut self, now: Time, blocked: Blocked) {
        let limited = blocked == Blocked::Window;
        if limited || self.sent_since {
            self.sent_since = false;
            let usage = &mut self.usage;
            let out = self.board.out_bytes();
            if self.board.una() >= usage.until || limited || (!usage.limited && out > usage.max_out) {
                usage.limited = limited;
                usage.max_out = out;
                usage.until = self.board.next();
            }
        }
        match blocked {
            Blocked::Application => self.rate.on_app_limited(self.board.in_flight()),
            Blocked::Receiver if self.board.is_empty() && self.timers.retransmit == Time::NEVER => {
                self.timers.purpose = Purpose::WindowProbe;
                self.timers.retransmit = now + self.rtt.timeout();
            }
            _ => {}
        }
    }
}
