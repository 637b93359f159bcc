//! Choice of the next segment, and permission to send it.

use rampcc::{BACK_TO_BACK, EventKind, Time};
use rampcc_trace::SenderState;

use crate::Recovery;
use crate::pacing::{UNPACED_SEGMENTS, linux_rate, share};
use crate::record::{Flags, Record};
use crate::recovery::DUPLICATE_ACKS;
use crate::segment::{Segment, hand_over};
use crate::sender::{Connection, Due, Purpose, SackUse, Sender};
use crate::spurious::Frto;

/// What to send, before the pacer is asked.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Again(u64),
    New { bytes: u32 },
}

/// Why nothing leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    Window,
    Application,
    Receiver,
    Pacer,
    Other,
}

impl Sender {
    /// The next segment to send now; until `None`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = None;
        self.transmit(now, |next| segment = Some(*next));
        segment
    }

    /// The same for whoever sends millions: the segment goes to `wire` without being copied. Returns whether there was one.
    #[inline]
    pub fn transmit(&mut self, now: Time, wire: impl FnOnce(&Segment)) -> bool {
        if self.due != Due::Nothing
            && let Some(segment) = self.send_due(now)
        {
            hand_over(&segment, wire);
            return true;
        }
        if self.connection != Connection::Established {
            return false;
        }
        let blocked = match self.choose() {
            Ok(choice) => {
                if self.held_by_pacer(now) {
                    Blocked::Pacer
                } else {
                    self.sent_since = true;
                    self.burst_left -= 1;
                    match choice {
                        Choice::New { bytes } => {
                            let segment = self.send_new(now, bytes);
                            if self.ecn.in_use || self.quick_start.is_some() {
                                hand_over(&self.with_options(segment), wire);
                            } else {
                                wire(&segment);
                            }
                        }
                        Choice::Again(number) => hand_over(&self.send_again(now, number), wire),
                    }
                    return true;
                }
            }
            Err(blocked) => {
                self.timers.pacing = Time::NEVER;
                self.pacer.end_burst();
                blocked
            }
        };
        self.note_blocked(now, blocked);
        false
    }

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

    /// What the window is compared with.
    #[inline]
    pub(crate) fn used_window(&self) -> u64 {
        if self.repair.state == SenderState::Recovery && self.recovery_in_use() == Recovery::SackNs2 {
            self.repair.pipe.max(0) as u64
        } else {
            self.board.in_flight()
        }
    }

    #[inline]
    fn choose(&mut self) -> Result<Choice, Blocked> {
        let used = self.used_window();
        let mss = self.mss();
        let mut cwnd = self.cwnd();
        let duplicates = self.repair.duplicates;
        if duplicates > 0 && self.repair.state != SenderState::Recovery {
            let open = self.repair.state == SenderState::Open;
            if open && !self.rules.limited_transmit && !self.rules.recovery.is_ns2() {
                return Err(Blocked::Other);
            }
            if self.rules.recovery.is_ns2() {
                // It also helps what a timeout sends again; `limit_burst` holds back more than one.
                let extra =
                    if duplicates < DUPLICATE_ACKS && self.rules.limited_transmit { duplicates } else { 0 };
                cwnd = cwnd.saturating_add(mss * u64::from(extra));
            } else if open && self.board.sacked_segments() == 0 {
                // RFC 3042; with SACK the pipe shrinks by itself.
                cwnd = cwnd.saturating_add(mss * u64::from(duplicates.min(2)));
            }
        }
        if used > 0 && used + mss > cwnd && !self.within_chirp() {
            return Err(Blocked::Window);
        }
        if self.burst_left == 0 {
            return Err(Blocked::Other);
        }
        if self.repair.frto == Frto::NewDataFirst {
            match self.next_new() {
                Ok(bytes) => return Ok(Choice::New { bytes }),
                // Segments wait to be sent again: neither application nor receiver holds the sender back.
                Err(_) if self.board.next() > self.repair.point => return Err(Blocked::Other),
                Err(_) => self.repair.frto = Frto::Off,
            }
        }
        if self.repair.state != SenderState::Open
            && let Some(number) = self.next_retransmission()
        {
            return Ok(Choice::Again(number));
        }
        match self.next_new() {
            Ok(bytes) => Ok(Choice::New { bytes }),
            Err(blocked) => self.last_resort().map(Choice::Again).ok_or(blocked),
        }
    }

    /// Rule 1 of `NextSeg` (RFC 6675 §4); ns-2 takes every hole.
    fn next_retransmission(&mut self) -> Option<u64> {
        match self.rules.recovery {
            Recovery::SackNs2 if self.repair.state == SenderState::Recovery => self.board.next_hole(),
            _ => self.board.next_lost(),
        }
    }

    /// Rules 3 and 4 of `NextSeg`; RACK-TLP has better means.
    fn last_resort(&mut self) -> Option<u64> {
        if self.repair.state != SenderState::Recovery
            || !matches!(self.rules.recovery, Recovery::Sack | Recovery::Fack)
            || self.repair.sack == SackUse::No
            || self.rules.rack
        {
            return None;
        }
        if let Some(number) = self.board.next_hole() {
            return Some(number);
        }
        // Linux sends again only what is below the highest SACK.
        if self.repair.rescued || self.rules.recovery == Recovery::Fack {
            return None;
        }
        let number = self.board.highest_unsacked()?;
        if self.board.record(number).flags & Flags::RETRANSMITTED != 0 {
            return None;
        }
        self.repair.rescued = true;
        Some(number)
    }

    /// How many new bytes may leave in one segment.
    #[inline]
    fn next_new(&self) -> Result<u32, Blocked> {
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
    fn held_by_pacer(&mut self, now: Time) -> bool {
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
        if self.repair.state == SenderState::Recovery {
            self.repair.prr.on_sent(u64::from(bytes));
            self.repair.pipe += i64::from(self.rules.mss);
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
    fn send_new(&mut self, now: Time, bytes: u32) -> Segment {
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
        self.start_timing(now, number);
        self.arm_after_new(now);
        Segment::data(self.flow, self.rules.header_bytes, now, number, bytes)
            .with_last(last)
            .with_rtt_us(self.rtt_us())
    }

    /// A new segment with what ECN and Quick-Start add to it.
    #[cold]
    fn with_options(&mut self, segment: Segment) -> Segment {
        let segment = if self.ecn.in_use { self.markable(segment) } else { segment };
        match self.quick_start.take() {
            Some(report) => segment.with_quick_start(report),
            None => segment,
        }
    }

    #[cold]
    fn send_again(&mut self, now: Time, number: u64) -> Segment {
        let Record { bytes, flags, .. } = *self.board.record(number);
        self.note_sent(now, bytes);
        self.retransmitted_bytes += u64::from(bytes);
        let idle = self.board.in_flight() == 0;
        let update = Record { sent_bytes: self.sent_bytes, ..Record::of(self.rate.stamp(now, idle)) };
        self.board.on_retransmitted(number, update);
        if self.rack_in_use() {
            self.rack.on_retransmitted(number, now);
        }
        if self.rules.recovery == Recovery::Fack {
            self.note_sent_again(now, number);
        }
        let undo = &mut self.repair.undo;
        undo.first_retransmission = undo.first_retransmission.min(now);
        undo.unexplained += 1;
        // Linux also restarts the timer when the head leaves again; before, only ACKs did (RFC 6298 §5).
        if (self.rules.rack && number == self.board.una()) || self.timers.retransmit == Time::NEVER {
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

    #[cold]
    fn send_due(&mut self, now: Time) -> Option<Segment> {
        let due = std::mem::replace(&mut self.due, Due::Nothing);
        match due {
            Due::Nothing => None,
            Due::Syn => {
                self.syn.transmissions += 1;
                self.timers.retransmit = now + self.rtt.timeout();
                // Sent again, it asks for no marks either (RFC 3168 §6.1.1.1).
                let asks = self.rules.ecn && self.syn.transmissions == 1;
                let syn = Segment::syn(self.flow, self.rules.syn_bytes, now).with_ecn(asks);
                // Sent again, it asks for nothing: the option may be why it was lost (RFC 4782 §4.7.2).
                let asks = self.quick_start.filter(|_| self.syn.transmissions == 1);
                Some(asks.map_or(syn, |option| syn.with_quick_start(option)))
            }
            Due::Head => {
                if self.board.is_empty() {
                    return None;
                }
                let una = self.board.una();
                // A cumulative acknowledgement may have passed since, and what is SACKed is not missing.
                let needed = self.board.record(una).flags & (Flags::SACKED | Flags::RETRANSMITTED) == 0;
                needed.then(|| {
                    self.sent_since = true;
                    // ns-2 does not count it: `note_sent` will.
                    self.repair.pipe -= i64::from(self.rules.mss);
                    self.send_again(now, una)
                })
            }
            Due::TailProbe => self.send_tail_probe(now),
            Due::WindowProbe => Some(Segment::window_probe(self.flow, self.rules.header_bytes, now)),
        }
    }

    fn send_tail_probe(&mut self, now: Time) -> Option<Segment> {
        if self.board.is_empty() {
            return None;
        }
        self.sent_since = true;
        let segment = if let Ok(bytes) = self.next_new() {
            self.rack.on_tail_probe(self.board.next() + 1, false);
            let segment = self.send_new(now, bytes);
            Some(self.with_options(segment))
        } else {
            let number = self.board.highest_unsacked();
            self.rack.on_tail_probe(self.board.next(), true);
            number.map(|number| self.send_again(now, number))
        };
        self.arm_timeout(now);
        segment
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
    fn note_blocked(&mut self, now: Time, blocked: Blocked) {
        if self.repair.frto == Frto::NewDataFirst {
            self.no_new_data(blocked == Blocked::Pacer);
        }
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
