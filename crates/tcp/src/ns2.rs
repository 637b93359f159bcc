//! Rules by which ns-2's agents depart from the RFCs (ns-2.35, `tcp/tcp.cc`, `tcp-newreno.cc`, `tcp-sack1.cc`).

use rampcc::{EventKind, Time};
use rampcc_trace::SenderState;

use crate::record::Delivery;
use crate::recovery::DUPLICATE_ACKS;
use crate::segment::Segment;
use crate::sender::{Sender, TimedSegment};
use crate::{Avoidance, Recovery, SenderConfig};

/// Newreno sends at most so many segments for a duplicate ACK from the third on, and for a partial one.
const BURST_AFTER_DUPLICATES: u32 = 2;

/// Bytes of a SYN on the wire. Vegas' agent does not know that its first packet carries no data.
pub(crate) fn syn_bytes(config: &SenderConfig) -> u32 {
    config.header_bytes + if is_vegas(config) { config.mss_bytes } else { 0 }
}

/// Whether it is ns-2's Vegas.
pub(crate) fn is_vegas(config: &SenderConfig) -> bool {
    config.recovery.is_ns2() && config.avoidance == Avoidance::Vegas && config.vegas.mean_rtt
}

impl Sender {
    /// Sack1 looks at SACK blocks in duplicate ACKs only, outside recovery; whatever else arrives makes it forget them.
    /// Returns whether they told of anything new: otherwise an ACK is no duplicate.
    pub(crate) fn set_sacks_aside(&mut self, segment: &Segment) -> bool {
        let repair = &mut self.repair;
        if segment.number() != self.board.una() {
            repair.aside.clear();
            repair.deaf = false;
            return false;
        }
        if repair.deaf {
            return false;
        }
        let (una, next) = (self.board.una(), self.board.next());
        let mut fresh = false;
        for (start, end) in segment.sack_blocks() {
            fresh |= repair.aside.insert(start.max(una), end.min(next), &mut |from, to| to - from);
        }
        fresh
    }

    /// Recovery begins with what was set aside.
    pub(crate) fn take_sacks_up(&mut self, now: Time) {
        let aside = std::mem::take(&mut self.repair.aside);
        let mut late = Delivery::new();
        for range in aside.descending() {
            self.board.on_ack(self.board.una(), std::iter::once((range.start, range.end)), &mut late);
        }
        if late.bytes > 0 {
            self.rate.on_delivered(now, late.bytes, late.newest.sent);
        }
    }

    /// How much may leave after an ACK: the first two duplicates send one segment each, those from the third on none
    /// (Sack1) or two (Newreno), in recovery or not. Tahoe sends what the window allows after every ACK, and one more for
    /// the first two duplicates.
    pub(crate) fn limit_burst(&mut self, counted: bool, entered: bool) {
        let newreno = self.rules.recovery.is_newreno();
        let duplicates = self.repair.duplicates;
        self.burst_left = match self.repair.state {
            SenderState::Recovery if newreno => BURST_AFTER_DUPLICATES,
            SenderState::Recovery if entered => 0,
            SenderState::Recovery => self.rules.max_burst,
            _ if duplicates == 0 => self.rules.max_burst,
            _ if self.rules.recovery == Recovery::Tahoe => {
                let one_more = counted && duplicates < DUPLICATE_ACKS && self.rules.limited_transmit;
                self.rules.max_burst.saturating_add(u32::from(one_more))
            }
            _ if duplicates < DUPLICATE_ACKS => u32::from(counted && self.rules.limited_transmit),
            _ if newreno => BURST_AFTER_DUPLICATES,
            _ => 0,
        };
    }

    /// The window after fast retransmit: half, of which ssthresh keeps whole packets, two at least. An algorithm's own
    /// threshold stands.
    pub(crate) fn halve(&mut self, window: u64) {
        let mss = self.mss();
        let half = window / 2;
        if self.ssthresh() == half.max(2 * mss) {
            self.set_cwnd(half);
            self.keep_whole_packets();
        } else {
            self.set_cwnd(self.ssthresh());
        }
    }

    /// ssthresh is a whole number of packets.
    pub(crate) fn keep_whole_packets(&mut self) {
        let mss = self.mss();
        let whole = (self.ssthresh() / mss).max(2) * mss;
        self.set_ssthresh(whole);
    }

    /// A SYN is a packet like others: its loss, told when the connection is established, ends start-up, and the window
    /// stays at one packet.
    pub(crate) fn give_up_startup(&mut self, now: Time) {
        self.report_congestion(now, EventKind::Timeout, 0, Time::ZERO);
        self.avoid.on_timeout();
        self.keep_whole_packets();
        let mss = self.mss();
        self.set_cwnd(mss);
        self.repair.timed = None;
    }

    /// Vegas' agent sends one data packet first, and opens the initial window when that is acknowledged.
    pub(crate) fn begin_with_one(&mut self) {
        if self.rules.begins_with_one {
            self.repair.late_window = self.cwnd();
            let mss = self.mss();
            self.set_cwnd(self.cwnd().min(mss));
        }
    }

    /// The first data packet is acknowledged.
    #[inline]
    pub(crate) fn open_late(&mut self) {
        if self.repair.late_window > 0 {
            let window = self.cwnd().max(std::mem::take(&mut self.repair.late_window));
            self.set_cwnd(window);
        }
    }

    /// One new segment at a time is timed.
    #[inline]
    pub(crate) fn start_timing(&mut self, now: Time, number: u64) {
        if self.rules.counts_ticks && self.repair.timed.is_none() {
            self.repair.timed = Some(TimedSegment { number, sent: now });
        }
    }

    /// The timed segment may have been acknowledged. In Newreno's recovery that says only that the peer is alive, and in
    /// Sack1's nothing.
    pub(crate) fn stop_timing(&mut self, now: Time) {
        let Some(timed) = self.repair.timed.filter(|timed| timed.number < self.board.una()) else { return };
        let partial = self.repair.state == SenderState::Recovery && self.board.una() < self.repair.point;
        if partial && self.rules.recovery == Recovery::SackNs2 {
            return;
        }
        self.repair.timed = None;
        self.rtt.forget_backoff();
        if !partial {
            self.rtt.on_counted_sample(timed.sent, now);
        }
    }
}
