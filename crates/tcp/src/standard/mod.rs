//! How losses are found and repaired by the RFCs, and by Linux: RFC 6675 with PRR, RACK-TLP and F-RTO as its rules have
//! them, FACK with rate halving, and NewReno where the receiver sends no SACK.

mod fack;
mod frto;
mod hints;
mod prr;
mod rack;
mod recovery;
mod sending;

use rampcc::{EventKind, Time};
use rampcc_trace::SenderState;

use crate::acknowledge::Taken;
use crate::connection::Connection;
use crate::record::{Delivery, Record};
use crate::segment::Segment;
use crate::steering::{AckView, Reduction};
use crate::{Recovery, SenderConfig};
use fack::RateHalving;
use frto::Frto;
use prr::Prr;
use rack::Rack;

/// An agent by the RFCs, or as Linux is.
#[derive(Clone, Debug)]
pub(crate) struct Standard {
    rules: Rules,
    prr: Prr,
    rack: Rack,
    halving: RateHalving,
    frto: Frto,
    /// Rule 4 of `NextSeg` has been used in this recovery.
    rescued: bool,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct Rules {
    fack: bool,
    /// FACK's search goes on from where the last one ended.
    hints: bool,
    prr: bool,
    rack: bool,
    frto: bool,
    limited_transmit: bool,
}

impl Standard {
    pub(crate) fn new(config: &SenderConfig) -> Self {
        let sack = config.recovery == Recovery::Sack;
        Self {
            rules: Rules {
                fack: matches!(config.recovery, Recovery::Fack | Recovery::FackHints),
                hints: config.recovery == Recovery::FackHints,
                prr: config.prr && sack,
                rack: config.rack_tlp && sack,
                frto: config.frto && sack,
                limited_transmit: config.limited_transmit,
            },
            prr: Prr::default(),
            rack: Rack::default(),
            halving: RateHalving::default(),
            frto: Frto::Off,
            rescued: false,
        }
    }

    /// RACK needs SACK.
    #[inline]
    fn rack_in_use(&self, c: &Connection) -> bool {
        self.rules.rack && c.sack_in_use()
    }

    #[inline]
    fn halves_rate(&self, c: &Connection) -> bool {
        self.rules.fack && c.sack_in_use()
    }

    /// An ACK arrived on an established connection.
    #[inline]
    pub(crate) fn handle_ack(&mut self, c: &mut Connection, now: Time, segment: &Segment) {
        let fack = c.board.una().max(c.board.highest_sacked_end());
        let blocks = c.believed_blocks(segment);
        if self.rules.hints && blocks > 0 && c.repair.state == SenderState::Recovery {
            self.halving.walk(c, segment);
        }
        let taken = c.take_in(now, segment, blocks);
        let Taken { view, delivery, .. } = &taken;
        if self.rules.rack && delivery.any {
            self.rack.on_delivery(now, delivery, fack, c.rtt.min());
        }
        if delivery.advanced_segments > 0 {
            self.after_advance(c, now);
        }
        if c.is_calm(segment, delivery) {
            c.repair.duplicates = 0;
            c.timers.reordering = Time::NEVER;
            grow(c, view, delivery);
        } else {
            self.grow_and_recover(c, segment, &taken);
        }
        if c.ecn.in_use && c.attend_marks(now, view.marked) {
            let reduction = reduction(c, EventKind::Mark, 0, delivery.newest.sent);
            c.answer_mark(now, &reduction);
        }
        if self.rules.rack && self.rack.probing() {
            self.judge_tail_probe(c, segment, &taken);
        }
        c.keep_rate();
    }

    #[inline]
    fn after_advance(&mut self, c: &mut Connection, now: Time) {
        // In NewReno's recovery partial ACKs have their own rule.
        let partial = c.repair.state == SenderState::Recovery && c.board.una() < c.repair.point;
        c.rtt.stop_timing(now, c.board.una(), !partial);
        if !partial || c.sack_in_use() {
            self.arm_after_ack(c, now);
        }
    }

    /// What follows an ACK while something is missing, or that says so.
    #[cold]
    fn grow_and_recover(&mut self, c: &mut Connection, segment: &Segment, taken: &Taken) {
        let Taken { view, delivery, .. } = taken;
        let now = view.now;
        let facts = c.facts(segment, taken);
        if facts.needless && self.rules.rack {
            self.rack.on_duplicate(c.board.una(), c.board.next());
        }
        let found = self.frto.original_arrived(c, delivery);
        if c.undone(now, &facts, delivery, found) {
            self.after_undoing(c);
            // What is given back grows with this ACK (Linux `tcp_cong_control`).
            if delivery.advanced_segments > 0 {
                self.arm_after_ack(c, now);
            }
        }
        if delivery.any {
            grow(c, view, delivery);
        }
        self.recover(c, now, &facts, delivery);
    }

    fn after_undoing(&mut self, c: &mut Connection) {
        if self.halves_rate(c) {
            fack::moderate_window(c);
        }
        self.rack.on_undone(c.board.una());
        self.frto = Frto::Off;
    }

    #[cold]
    pub(crate) fn on_retransmission_timer(&mut self, c: &mut Connection, now: Time) {
        if c.board.is_empty() {
            return;
        }
        let una = c.board.una();
        let again = c.expires_again();
        self.frto = Frto::asked(self.rules.frto && (c.repair.state == SenderState::Open || again));
        // One reduction per window: not again for what the last one was for. RFC 5681 has no such rule for a timeout
        // in fast recovery, Linux does.
        let reduced = match c.repair.state {
            SenderState::Open => false,
            SenderState::Recovery => c.rules.linux_timer && una < c.repair.point,
            // Linux counts an advance as the end of what the last one was for.
            SenderState::Loss if c.rules.linux_timer => again,
            SenderState::Loss => una < c.repair.point,
        };
        let reduction = (!reduced).then(|| reduction(c, EventKind::Timeout, c.missing_bytes(), Time::ZERO));
        c.on_expiry(now, reduction.as_ref(), again);
        let rack_rtt = self.rack.rtt();
        let spares = self.rack_in_use(c) && rack_rtt > Time::ZERO;
        c.go_back(now, |record: &Record| spares && record.sent + rack_rtt > now);
        self.rack.on_timeout(una);
    }
}

/// Lets the window grow by what one ACK delivered.
#[inline]
fn grow(c: &mut Connection, view: &AckView, delivery: &Delivery) {
    let limited = c.cwnd_limited();
    if c.grow_by_others(view, delivery, limited)
        && c.repair.state != SenderState::Recovery
        && delivery.advanced_segments > 0
        && !view.marked
        && limited
    {
        grow_after_startup(c, view, delivery.bytes);
    }
}

/// What a congestion event takes the window from.
fn reduction(c: &Connection, kind: EventKind, lost: u64, deciding: Time) -> Reduction {
    // In fast recovery the window is inflated or rationed; what it stands for is ssthresh.
    let recovering = c.repair.state == SenderState::Recovery;
    Reduction {
        kind,
        lost,
        deciding,
        window: if recovering { c.ssthresh() } else { c.cwnd() },
        used: c.board.out_bytes(),
        over: kind == EventKind::Timeout,
        // A reduction opens nothing.
        opens: false,
    }
}

#[inline]
fn grow_after_startup(c: &mut Connection, view: &AckView, acked: u64) {
    let mut cwnd = c.cwnd();
    let mut acked = c.counted(acked);
    let ssthresh = c.ssthresh();
    if cwnd < ssthresh {
        // What passes ssthresh counts for congestion avoidance.
        let step = acked.min(ssthresh - cwnd);
        cwnd += step;
        acked -= step;
        if acked == 0 {
            c.set_cwnd(cwnd);
            return;
        }
    }
    c.avoid_congestion(view, cwnd, acked);
}
