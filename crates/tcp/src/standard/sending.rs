//! Choice of the next segment, and when a lost tail is probed for.

use rampcc::Time;
use rampcc_trace::SenderState;

use super::Standard;
use super::frto::Frto;
use crate::connection::{Connection, Purpose, SackUse};
use crate::record::Flags;
use crate::segment::Segment;
use crate::transmit::{Blocked, Choice};

/// Linux's `TCP_TIMEOUT_MIN`: two jiffies of 1 ms.
const PROBE_SLACK: Time = Time::from_ms(2);
/// RFC 8985 §7.2: without an RTT.
const PROBE_WITHOUT_RTT: Time = Time::from_secs(1);

impl Standard {
    #[inline]
    pub(crate) fn choose(&mut self, c: &mut Connection) -> Result<Choice, Blocked> {
        let mut cwnd = c.cwnd();
        let duplicates = c.repair.duplicates;
        if duplicates > 0 && c.repair.state == SenderState::Open {
            if !self.rules.limited_transmit {
                return Err(Blocked::Other);
            }
            if c.board.sacked_segments() == 0 {
                // RFC 3042; with SACK the pipe shrinks by itself.
                cwnd = cwnd.saturating_add(c.mss() * u64::from(duplicates.min(2)));
            }
        }
        c.permits(c.board.in_flight(), cwnd)?;
        if self.frto == Frto::NewDataFirst {
            match c.next_new() {
                Ok(bytes) => return Ok(Choice::New { bytes }),
                // Segments wait to be sent again: neither application nor receiver holds the sender back.
                Err(_) if c.board.next() > c.repair.point => return Err(Blocked::Other),
                Err(_) => self.frto = Frto::Off,
            }
        }
        // Rule 1 of `NextSeg` (RFC 6675 §4).
        if c.repair.state != SenderState::Open
            && let Some(number) = c.board.next_lost()
        {
            return Ok(Choice::Again(number));
        }
        match c.next_new() {
            Ok(bytes) => Ok(Choice::New { bytes }),
            Err(blocked) => self.last_resort(c).map(Choice::Again).ok_or(blocked),
        }
    }

    /// Rules 3 and 4 of `NextSeg`; RACK-TLP has better means.
    fn last_resort(&mut self, c: &mut Connection) -> Option<u64> {
        if c.repair.state != SenderState::Recovery || c.repair.sack == SackUse::No || self.rules.rack {
            return None;
        }
        if let Some(number) = c.board.next_hole() {
            return Some(number);
        }
        // Linux sends again only what is below the highest SACK.
        if self.rescued || self.rules.fack {
            return None;
        }
        let number = c.board.highest_unsacked()?;
        if c.board.record(number).flags & Flags::RETRANSMITTED != 0 {
            return None;
        }
        self.rescued = true;
        Some(number)
    }

    /// Nothing may leave now.
    #[inline]
    pub(crate) fn on_blocked(&mut self, c: &Connection, blocked: Blocked) {
        if self.frto == Frto::NewDataFirst {
            self.frto.no_new_data(c, blocked == Blocked::Pacer);
        }
    }

    /// New data left.
    #[inline]
    pub(crate) fn on_sent_new(&mut self, c: &mut Connection, now: Time, bytes: u32) {
        self.count_sent(c, bytes);
        if self.may_probe(c) {
            let head = c.board.record(c.board.una()).sent;
            arm_probe(c, now, (head + c.rtt.timeout()) - now);
        }
    }

    #[cold]
    pub(crate) fn on_sent_again(&mut self, c: &mut Connection, now: Time, number: u64) {
        self.count_sent(c, c.board.record(number).bytes);
        if self.rack_in_use(c) {
            self.rack.on_retransmitted(number, now);
        }
        if self.rules.fack && c.repair.state == SenderState::Recovery {
            self.halving.note_sent_again(c, now, number);
        }
        // Linux also restarts the timer when the head leaves again; before, only ACKs did (RFC 6298 §5).
        if self.rules.rack && number == c.board.una() {
            c.arm_timeout(now);
        }
    }

    #[inline]
    fn count_sent(&mut self, c: &Connection, bytes: u32) {
        if c.repair.state == SenderState::Recovery {
            self.prr.on_sent(u64::from(bytes));
        }
    }

    pub(crate) fn send_tail_probe(&mut self, c: &mut Connection, now: Time) -> Option<Segment> {
        if c.board.is_empty() {
            return None;
        }
        c.sent_since = true;
        let segment = if let Ok(bytes) = c.next_new() {
            self.rack.on_tail_probe(c.board.next() + 1, false);
            let segment = c.send_new(now, bytes);
            self.count_sent(c, bytes);
            Some(c.with_options(segment))
        } else {
            let number = c.board.highest_unsacked();
            self.rack.on_tail_probe(c.board.next(), true);
            number.map(|number| {
                let segment = c.send_again(now, number);
                self.on_sent_again(c, now, number);
                segment
            })
        };
        c.arm_timeout(now);
        segment
    }

    /// An ACK advanced SND.UNA.
    #[inline]
    pub(super) fn arm_after_ack(&mut self, c: &mut Connection, now: Time) {
        c.arm_after_ack(now);
        if !c.board.is_empty() && self.may_probe(c) {
            arm_probe(c, now, c.rtt.timeout());
        }
    }

    #[inline]
    fn may_probe(&self, c: &Connection) -> bool {
        self.rules.rack
            && c.repair.state == SenderState::Open
            && c.board.sacked_segments() == 0
            && !self.rack.probing()
            && c.sack_in_use()
    }
}

/// A probe goes out after two round trips of silence, or when the timeout is due if that is sooner.
#[inline]
fn arm_probe(c: &mut Connection, now: Time, timeout_in: Time) {
    let wait = if c.rtt.measured() {
        let smoothed = c.rtt.smoothed();
        // A lone segment's ACK may be delayed; Linux allows for its RTO minimum.
        let slack = if c.board.out_segments() == 1 { c.rules.rto_min } else { PROBE_SLACK };
        smoothed + smoothed + slack
    } else {
        PROBE_WITHOUT_RTT
    };
    let wait = if timeout_in == Time::ZERO { wait } else { wait.min(timeout_in) };
    c.timers.purpose = Purpose::TailProbe;
    c.timers.retransmit = now + wait;
}
