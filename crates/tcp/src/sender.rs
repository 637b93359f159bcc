//! The sending end: the public face of a connection and of the agent that finds and repairs its losses.

use rampcc::{Seen, Time};
use rampcc_trace::{FlowDecision, FlowEventKind, FlowSample};

use crate::SenderConfig;
use crate::connection::{Connection, Due, Purpose, Stage};
use crate::ns2::Ns2;
use crate::segment::{Segment, SegmentKind, hand_over};
use crate::standard::Standard;
use crate::transmit::{Blocked, Choice};

/// The sending end of a connection. It owns no clock and no path.
///
/// After every `handle_*`, `open`, `write` or `finish`, call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until they give nothing; then [`poll_timeout`](Self::poll_timeout) says when to
/// call [`handle_timeout`](Self::handle_timeout).
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) connection: Connection,
    agent: Agent,
}

/// Who takes in ACKs, chooses what leaves, and answers the retransmission timer.
#[derive(Clone, Debug)]
enum Agent {
    Standard(Standard),
    Ns2(Ns2),
}

impl Sender {
    /// A closed connection.
    pub fn new(flow: u32, config: &SenderConfig) -> Self {
        let mut connection = Connection::new(flow, config);
        let agent = if config.recovery.is_ns2() {
            Agent::Ns2(Ns2::new(config, &mut connection))
        } else {
            Agent::Standard(Standard::new(config))
        };
        Self { connection, agent }
    }

    /// Opens the connection: a SYN, or established at once without a handshake.
    pub fn open(&mut self, now: Time) {
        let c = &mut self.connection;
        if c.stage != Stage::Closed {
            return;
        }
        if c.rules.handshake {
            c.stage = Stage::Opening;
            c.syn.first_sent = now;
            c.due = Due::Syn;
        } else {
            c.ecn.in_use = c.rules.ecn;
            self.establish(now);
        }
    }

    /// The application offers `bytes`; `u64::MAX`: endless.
    pub fn write(&mut self, _now: Time, bytes: u64) {
        let c = &mut self.connection;
        if !c.finished {
            c.offered = c.offered.saturating_add(bytes);
        }
    }

    /// The application will offer no more.
    pub fn finish(&mut self, _now: Time) {
        self.connection.finished = true;
    }

    /// Whether all that the application has offered is acknowledged.
    pub fn is_idle(&self) -> bool {
        let c = &self.connection;
        c.stage == Stage::Established && c.una_offset >= c.offered
    }

    /// A segment from the receiver arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        let c = &mut self.connection;
        match segment.kind() {
            SegmentKind::Ack if c.stage == Stage::Established => {
                if segment.number() > c.board.next() {
                    return;
                }
                match &mut self.agent {
                    Agent::Standard(agent) => agent.handle_ack(c, now, segment),
                    Agent::Ns2(agent) => agent.handle_ack(c, now, segment),
                }
            }
            SegmentKind::SynAck if c.stage == Stage::Opening => self.handle_syn_ack(now, segment),
            _ => {}
        }
    }

    /// A deadline of `poll_timeout` has come.
    pub fn handle_timeout(&mut self, now: Time) {
        let Self { connection: c, agent } = self;
        c.burst_left = c.rules.max_burst;
        if now >= c.timers.pacing {
            c.timers.pacing = Time::NEVER;
        }
        if now >= c.timers.reordering {
            c.timers.reordering = Time::NEVER;
            if let Agent::Standard(agent) = agent {
                agent.on_reordering_timer(c, now);
            }
        }
        if now >= c.timers.retransmit {
            c.timers.retransmit = Time::NEVER;
            match c.timers.purpose {
                _ if c.stage == Stage::Opening => c.on_syn_timer(),
                Purpose::Timeout => match agent {
                    Agent::Standard(agent) => agent.on_retransmission_timer(c, now),
                    Agent::Ns2(agent) => agent.on_retransmission_timer(c, now),
                },
                Purpose::TailProbe => c.due = Due::TailProbe,
                Purpose::WindowProbe => c.on_window_timer(now),
            }
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
        if self.connection.due != Due::Nothing
            && let Some(segment) = self.send_due(now)
        {
            hand_over(&segment, wire);
            return true;
        }
        let Self { connection: c, agent } = self;
        if c.stage != Stage::Established {
            return false;
        }
        let choice = match agent {
            Agent::Standard(agent) => agent.choose(c),
            Agent::Ns2(agent) => agent.choose(c),
        };
        let blocked = match choice {
            Ok(choice) => {
                if c.held_by_pacer(now) {
                    Blocked::Pacer
                } else {
                    c.sent_since = true;
                    c.burst_left -= 1;
                    match choice {
                        Choice::New { bytes } => {
                            let segment = c.send_new(now, bytes);
                            match agent {
                                Agent::Standard(agent) => agent.on_sent_new(c, now, bytes),
                                Agent::Ns2(agent) => agent.on_sent(c),
                            }
                            if c.ecn.in_use || c.quick_start.is_some() {
                                hand_over(&c.with_options(segment), wire);
                            } else {
                                wire(&segment);
                            }
                        }
                        Choice::Again(number) => {
                            let segment = c.send_again(now, number);
                            match agent {
                                Agent::Standard(agent) => agent.on_sent_again(c, now, number),
                                Agent::Ns2(agent) => agent.on_sent(c),
                            }
                            hand_over(&segment, wire);
                        }
                    }
                    return true;
                }
            }
            Err(blocked) => {
                c.timers.pacing = Time::NEVER;
                c.pacer.end_burst();
                blocked
            }
        };
        if let Agent::Standard(agent) = agent {
            agent.on_blocked(c, blocked);
        }
        c.note_blocked(now, blocked);
        false
    }

    #[cold]
    fn send_due(&mut self, now: Time) -> Option<Segment> {
        let Self { connection: c, agent } = self;
        match std::mem::replace(&mut c.due, Due::Nothing) {
            Due::Nothing => None,
            Due::Syn => Some(c.send_syn(now)),
            Due::Head => {
                let number = c.missing_head()?;
                c.sent_since = true;
                let segment = c.send_again(now, number);
                // ns-2 does not count it.
                if let Agent::Standard(agent) = agent {
                    agent.on_sent_again(c, now, number);
                }
                Some(segment)
            }
            Due::TailProbe => match agent {
                Agent::Standard(agent) => agent.send_tail_probe(c, now),
                Agent::Ns2(_) => None,
            },
            Due::WindowProbe => Some(Segment::window_probe(c.flow, c.rules.header_bytes, now)),
        }
    }

    /// Time to call `handle_timeout`; `Time::NEVER`: no need.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        let timers = &self.connection.timers;
        timers.retransmit.min(timers.reordering).min(timers.pacing)
    }

    /// Next event, oldest first; until `None`.
    #[inline]
    pub fn poll_event(&mut self) -> Option<FlowEventKind> {
        self.connection.events.pop_front()
    }

    /// From now on, keeps every call of the algorithm for [`poll_decision`](Self::poll_decision). To be called before
    /// [`open`](Self::open).
    pub fn record_decisions(&mut self) {
        self.connection.calls = Some(Box::default());
    }

    /// The calls of the algorithm and their decisions, oldest first; until `None`.
    pub fn poll_decision(&mut self) -> Option<FlowDecision> {
        self.connection.calls.as_mut()?.poll()
    }

    /// True if everything offered has been acknowledged and no more will come.
    pub fn completed(&self) -> bool {
        self.connection.completed()
    }

    /// State of the sender now.
    pub fn sample(&self, now: Time) -> FlowSample {
        self.connection.sample(now)
    }

    /// How the connection stands; no rate where its algorithm needs no history. `closing`: it has sent all it had.
    pub fn seen(&self, now: Time, closing: bool) -> Seen {
        self.connection.seen(now, closing)
    }

    fn handle_syn_ack(&mut self, now: Time, segment: &Segment) {
        self.connection.take_syn_ack(now, segment);
        self.establish(now);
        let Self { connection: c, agent } = self;
        // A connection whose SYN was lost begins with one packet.
        for _ in 1 + c.rules.forgiven_syns..c.syn.transmissions {
            if let Agent::Ns2(agent) = agent {
                agent.answer_lost_syn(c, now);
            }
            c.set_cwnd(c.cwnd().min(c.mss()));
        }
        c.renew_share();
    }

    fn establish(&mut self, now: Time) {
        let Self { connection, agent } = self;
        connection.establish(now, |c| {
            if let Agent::Ns2(agent) = agent {
                agent.on_opened(c);
            }
        });
    }
}
