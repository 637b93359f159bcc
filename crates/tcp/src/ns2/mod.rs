//! ns-2's agents, as far as they depart from the RFCs (ns-2.35, `tcp/tcp.cc`, `tcp-newreno.cc`, `tcp-sack1.cc`,
//! `tcp-vegas.cc`): Tahoe, Newreno, Sack1, and Vegas' first window.

mod recovery;
mod sacks;

use rampcc::{EventKind, Phase, Time};
use rampcc_trace::SenderState;

use crate::acknowledge::{DUPLICATE_ACKS, Taken};
use crate::connection::Connection;
use crate::record::Delivery;
use crate::segment::Segment;
use crate::steering::{AckView, Reduction};
use crate::transmit::{Blocked, Choice};
use crate::{Avoidance, Recovery, SenderConfig};
use sacks::Sacks;

/// Newreno sends at most so many segments for a duplicate ACK from the third on, and for a partial one.
const BURST_AFTER_DUPLICATES: u32 = 2;

/// What keeps data flowing in fast recovery with `newreno_changes_`.
#[derive(Clone, Copy, Debug, Default)]
struct Flywheel {
    /// Duplicate ACKs since the repair began, the three before it counted. Partial ACKs do not end the count.
    duplicates: u32,
    /// One new segment may leave, whatever the window.
    released: bool,
}

/// One of ns-2's agents.
#[derive(Clone, Debug)]
pub(crate) struct Ns2 {
    recovery: Recovery,
    limited_transmit: bool,
    /// Vegas: one data packet first, then the initial window.
    begins_with_one: bool,
    /// The window that the first acknowledged packet opens; 0: open already.
    late_window: u64,
    /// Sack1's `pipe` as a counter, bytes; partial ACKs can take it below zero.
    pipe: i64,
    /// Sack1 outside recovery.
    sacks: Sacks,
    flywheel: Flywheel,
}

impl Ns2 {
    /// The agent that `config` asks for, which may say of the SYN how large it is.
    pub(crate) fn new(config: &SenderConfig, c: &mut Connection) -> Self {
        let vegas = config.avoidance == Avoidance::Vegas && config.vegas.mean_rtt;
        if vegas {
            // The agent does not know that its first packet carries no data.
            c.rules.syn_bytes += config.mss_bytes;
        }
        Self {
            recovery: config.recovery,
            limited_transmit: config.limited_transmit,
            begins_with_one: vegas,
            late_window: 0,
            pipe: 0,
            sacks: Sacks::default(),
            flywheel: Flywheel::default(),
        }
    }

    fn is_newreno(&self) -> bool {
        matches!(
            self.recovery,
            Recovery::NewRenoImpatient | Recovery::NewRenoSteady | Recovery::NewRenoFlywheel
        )
    }

    fn has_flywheel(&self) -> bool {
        self.recovery == Recovery::NewRenoFlywheel
    }

    /// What it does while it recovers: without SACK, Sack1 is Newreno but in its window.
    #[inline]
    fn recovery_in_use(&self, c: &Connection) -> Recovery {
        match self.recovery {
            Recovery::SackNs2 if !c.sack_in_use() => Recovery::NewRenoImpatient,
            other => other,
        }
    }

    /// Vegas sends one data packet first, and opens the initial window when that is acknowledged.
    pub(crate) fn on_opened(&mut self, c: &mut Connection) {
        if self.begins_with_one {
            self.late_window = c.cwnd();
            c.set_cwnd(c.cwnd().min(c.mss()));
        }
    }

    /// A SYN is a packet like others: its loss, reported when the connection is established, ends start-up, and the window
    /// stays at one packet.
    pub(crate) fn answer_lost_syn(&self, c: &mut Connection, now: Time) {
        let reduction = self.reduction(c, EventKind::Timeout, 0, Time::ZERO);
        c.report_congestion(now, &reduction);
        c.avoid.on_timeout();
        c.keep_whole_packets();
        c.set_cwnd(c.mss());
        c.rtt.give_timing_up();
    }

    /// An ACK arrived on an established connection.
    #[inline(never)]
    pub(crate) fn handle_ack(&mut self, c: &mut Connection, now: Time, segment: &Segment) {
        let prior_state = c.repair.state;
        let mut blocks = c.believed_blocks(segment);
        let mut set_aside = false;
        if self.recovery == Recovery::SackNs2 && prior_state != SenderState::Recovery {
            set_aside = self.sacks.set_aside(c, segment);
            blocks = 0;
        }
        let mut taken = c.take_in(now, segment, blocks);
        if taken.delivery.advanced_segments > 0 {
            self.after_advance(c, now);
        }
        if c.is_calm(segment, &taken.delivery) {
            c.repair.duplicates = 0;
            self.grow(c, &taken.view, &taken.delivery);
        } else {
            taken.delivery.sacked |= set_aside;
            self.grow_and_recover(c, segment, &taken, prior_state);
        }
        if c.ecn.in_use && c.attend_marks(now, taken.view.marked) {
            let reduction = self.reduction(c, EventKind::Mark, 0, taken.delivery.newest.sent);
            c.answer_mark(now, &reduction);
        }
        c.keep_rate();
    }

    #[inline]
    fn after_advance(&self, c: &mut Connection, now: Time) {
        let partial = c.repair.state == SenderState::Recovery && c.board.una() < c.repair.point;
        // A partial ACK says in Newreno's recovery only that the peer is alive, and in Sack1's nothing.
        if !partial || self.recovery != Recovery::SackNs2 {
            c.rtt.stop_timing(now, c.board.una(), !partial);
        }
        // In Newreno's recovery partial ACKs have their own rule.
        let newreno = self.is_newreno() || !c.sack_in_use();
        if !partial || !newreno {
            c.arm_after_ack(now);
        }
    }

    /// What follows an ACK while something is missing, or that says so.
    #[cold]
    fn grow_and_recover(&mut self, c: &mut Connection, segment: &Segment, taken: &Taken, prior: SenderState) {
        let Taken { view, delivery, .. } = taken;
        let now = view.now;
        let duplicates = c.repair.duplicates;
        let facts = c.facts(segment, taken);
        if c.undone(now, &facts, delivery, false) && delivery.advanced_segments > 0 {
            c.arm_after_ack(now);
        }
        if delivery.any {
            self.grow(c, view, delivery);
        }
        self.recover(c, now, &facts, delivery);
        let recovering = c.repair.state == SenderState::Recovery;
        let began = recovering && prior != SenderState::Recovery;
        c.burst_left = self.burst(c, c.repair.duplicates > duplicates, began);
        let left = prior == SenderState::Recovery && !recovering;
        if left && self.is_newreno() && !c.starting() {
            // The ACK that ends recovery opens the window too.
            self.grow(c, view, delivery);
        }
    }

    /// How much may leave after an ACK: the first two duplicates send one segment each, those from the third on none
    /// (Sack1) or two (Newreno), in recovery or not. Tahoe sends what the window allows after every ACK, and one more for
    /// the first two duplicates.
    fn burst(&self, c: &Connection, counted: bool, entered: bool) -> u32 {
        let newreno = self.is_newreno();
        let duplicates = c.repair.duplicates;
        let most = c.rules.max_burst;
        match c.repair.state {
            SenderState::Recovery if self.has_flywheel() => u32::from(self.flywheel.released),
            SenderState::Recovery if newreno => BURST_AFTER_DUPLICATES,
            SenderState::Recovery if entered => 0,
            SenderState::Recovery => most,
            _ if duplicates == 0 => most,
            _ if self.recovery == Recovery::Tahoe => {
                let one_more = counted && duplicates < DUPLICATE_ACKS && self.limited_transmit;
                most.saturating_add(u32::from(one_more))
            }
            _ if duplicates < DUPLICATE_ACKS => u32::from(counted && self.limited_transmit),
            _ if newreno && !self.has_flywheel() => BURST_AFTER_DUPLICATES,
            _ => 0,
        }
    }

    /// Lets the window grow by one ACK, whatever it delivered and whether the window was used or not.
    #[inline]
    fn grow(&mut self, c: &mut Connection, view: &AckView, delivery: &Delivery) {
        if self.late_window > 0 {
            c.set_cwnd(c.cwnd().max(std::mem::take(&mut self.late_window)));
        }
        let before = c.cwnd();
        let consulted = c.startup.decision().phase() != Phase::Done;
        let advanced = delivery.advanced_segments > 0;
        if c.grow_by_others(view, delivery, true) {
            if c.repair.state != SenderState::Recovery && advanced && !view.marked {
                grow_after_startup(c, view);
            }
        } else if consulted && advanced && c.repair.state == SenderState::Open && !c.starting() {
            // The first ACK grows a window that begins above ssthresh like all others.
            if before >= c.ssthresh() && before == c.cwnd() {
                grow_after_startup(c, view);
            }
        }
    }

    /// What a congestion event takes the window from: it halves what the receiver allows, used or not (`tcp.cc`).
    fn reduction(&self, c: &Connection, kind: EventKind, lost: u64, deciding: Time) -> Reduction {
        // In fast recovery the window is inflated or rationed; what it stands for is ssthresh.
        let window = if c.repair.state != SenderState::Recovery {
            c.cwnd()
        } else if self.is_newreno() {
            c.cwnd().saturating_sub(c.repair.inflation)
        } else if self.recovery_in_use(c) == Recovery::SackNs2 {
            c.cwnd()
        } else {
            c.ssthresh()
        };
        let over = kind == EventKind::Timeout || self.recovery == Recovery::Tahoe;
        Reduction { kind, lost, deciding, window, used: c.window, over, opens: true }
    }

    #[inline]
    pub(crate) fn choose(&self, c: &mut Connection) -> Result<Choice, Blocked> {
        let recovers = c.repair.state == SenderState::Recovery;
        let pipe = recovers && self.recovery_in_use(c) == Recovery::SackNs2;
        let used = if pipe { self.pipe.max(0).unsigned_abs() } else { c.board.in_flight() };
        let mut cwnd = c.cwnd();
        let duplicates = c.repair.duplicates;
        if !recovers && duplicates < DUPLICATE_ACKS && self.limited_transmit {
            // It also helps what a timeout sends again; the burst holds back more than one.
            cwnd = cwnd.saturating_add(c.mss() * u64::from(duplicates));
        }
        if self.flywheel.released {
            return c.next_new().map(|bytes| Choice::New { bytes });
        }
        c.permits(used, cwnd)?;
        // In recovery Sack1 takes every hole.
        let again = match c.repair.state {
            SenderState::Open => None,
            SenderState::Recovery if self.recovery == Recovery::SackNs2 => c.board.next_hole(),
            _ => c.board.next_lost(),
        };
        match again {
            Some(number) => Ok(Choice::Again(number)),
            None => c.next_new().map(|bytes| Choice::New { bytes }),
        }
    }

    /// Something left that the window let go.
    #[inline]
    pub(crate) fn on_sent(&mut self, c: &Connection) {
        self.flywheel.released = false;
        if c.repair.state == SenderState::Recovery {
            self.pipe += i64::from(c.rules.mss);
        }
    }
}

/// In slow start what passes ssthresh does not count for congestion avoidance.
#[inline]
fn grow_after_startup(c: &mut Connection, view: &AckView) {
    let acked = c.counted(c.mss());
    if c.cwnd() < c.ssthresh() {
        c.set_cwnd(c.cwnd() + acked);
    } else {
        c.avoid_congestion(view, c.cwnd(), acked);
    }
}
