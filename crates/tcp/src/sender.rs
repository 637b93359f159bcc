//! The sending end: its state and its public face. What it does with it is in the files beside this one.

use std::collections::VecDeque;

use rampcc::{Config, ConfigFlags, Hint, HintSource, Phase, Startup, Time, Traits, UNSET};
use rampcc_avoidance::{Avoid, RateSampler};
use rampcc_trace::{FlowDecision, FlowEventKind, FlowSample, SenderState};

use crate::calls::Calls;
use crate::congestion_window::Window;
use crate::ecn::Ecn;
use crate::fack::RateHalving;
use crate::pacing::{Pacer, UNPACED_SEGMENTS};
use crate::prr::Prr;
use crate::quick_start::QuickStart;
use crate::rack::Rack;
use crate::ranges::RangeSet;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::seen::{LastRate, Remembered};
use crate::segment::{Segment, SegmentKind};
use crate::spurious::{Frto, Undo};
use crate::steering::{Exit, ExtraRounds};
use crate::{Pacing, Recovery, SenderConfig};

/// The sending end of a connection. It owns no clock and no path.
///
/// After every `handle_*`, `open`, `write` or `finish`, call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until they give nothing; then [`poll_timeout`](Self::poll_timeout) says when to
/// call [`handle_timeout`](Self::handle_timeout).
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) flow: u32,
    pub(crate) rules: Rules,
    pub(crate) startup: Startup,
    /// What the algorithm will be told when the connection is established.
    pub(crate) waiting: Option<Box<Config>>,
    pub(crate) congestion: Window,
    pub(crate) extra: Option<ExtraRounds>,
    pub(crate) exit: Exit,
    pub(crate) avoid: Avoid,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) rate: RateSampler,
    pub(crate) pacer: Pacer,
    pub(crate) timers: Timers,
    pub(crate) connection: Connection,
    pub(crate) repair: Repair,
    pub(crate) rack: Rack,
    pub(crate) ecn: Ecn,
    pub(crate) due: Due,
    pub(crate) events: VecDeque<FlowEventKind>,
    /// Calls of the algorithm, if somebody wants them.
    pub(crate) calls: Option<Box<Calls>>,
    pub(crate) syn: Syn,
    /// What the next SYN or data packet asks of routers, or tells them.
    pub(crate) quick_start: Option<QuickStart>,
    /// Bytes the application has offered, and whether it will offer more.
    pub(crate) offered: u64,
    pub(crate) finished: bool,
    pub(crate) last_sent: bool,
    /// Payload bytes below SND.UNA and below SND.NXT.
    pub(crate) una_offset: u64,
    pub(crate) next_offset: u64,
    /// Right edge of the receive window as a byte offset.
    pub(crate) window_edge: u64,
    pub(crate) window: u64,
    pub(crate) send_buffer: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) sent_segments: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) last_sent_at: Time,
    pub(crate) usage: WindowUsage,
    pub(crate) burst_left: u32,
    /// Whether anything left since `poll_transmit` last gave nothing.
    pub(crate) sent_since: bool,
    /// Linux's pacing rate as of the last ACK.
    pub(crate) host_rate: u64,
    pub(crate) last_rtt: Time,
    pub(crate) last_rate: u64,
    pub(crate) lasting_rate: LastRate,
    pub(crate) remembered: Remembered,
}

/// What of a [`SenderConfig`] is needed while a connection lives.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule or a fact of its own")]
pub(crate) struct Rules {
    pub(crate) mss: u32,
    pub(crate) header_bytes: u32,
    pub(crate) syn_bytes: u32,
    pub(crate) initial_window: u64,
    pub(crate) abc_limit: u64,
    pub(crate) ecn: bool,
    pub(crate) recovery: Recovery,
    /// ns-2's Vegas: one data packet first, then the initial window.
    pub(crate) begins_with_one: bool,
    pub(crate) prr: bool,
    pub(crate) rack: bool,
    pub(crate) limited_transmit: bool,
    pub(crate) undo: bool,
    pub(crate) frto: bool,
    pub(crate) linux_timer: bool,
    pub(crate) counts_ticks: bool,
    pub(crate) pacing_always: bool,
    pub(crate) linux_pacer: bool,
    pub(crate) idle_restart: bool,
    pub(crate) handshake: bool,
    /// Its algorithm needs history, so that its host remembers what it has seen.
    pub(crate) remembered: bool,
    /// After start-up, too, somebody wants the rate of every ACK: an observer, its host, a control by rate.
    pub(crate) rated: bool,
    pub(crate) max_burst: u32,
    pub(crate) extra_rounds: u32,
    pub(crate) send_buffer_max: u64,
    pub(crate) rto_min: Time,
    pub(crate) rto_max: Time,
}

/// How far the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Closed,
    Opening,
    Established,
}

/// The SYN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Syn {
    pub(crate) first_sent: Time,
    pub(crate) transmissions: u32,
}

/// Deadlines; `Time::NEVER`: off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// RTO, TLP, SYN or window probe: never two of them.
    pub(crate) retransmit: Time,
    pub(crate) purpose: Purpose,
    /// RACK waits for reordering to settle.
    pub(crate) reordering: Time,
    /// The pacer lets the next packet go.
    pub(crate) pacing: Time,
}

/// What the retransmission timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Timeout,
    TailProbe,
    WindowProbe,
}

/// Something that leaves whatever the window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Syn,
    /// The segment at SND.UNA: entry into recovery, partial ACKs without SACK, timeouts.
    Head,
    TailProbe,
    WindowProbe,
}

/// Whether the receiver sends SACK blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SackUse {
    Unknown,
    Yes,
    No,
}

/// Loss recovery.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    pub(crate) state: SenderState,
    pub(crate) sack: SackUse,
    pub(crate) duplicates: u32,
    /// `RecoveryPoint`: what was SND.NXT when the last recovery began.
    pub(crate) point: u64,
    pub(crate) prr: Prr,
    /// ns-2's `pipe` as a counter, bytes; partial ACKs can take it below zero.
    pub(crate) pipe: i64,
    /// ns-2's Sack1 outside recovery: what duplicate ACKs have SACKed.
    pub(crate) aside: RangeSet,
    /// ns-2's Sack1 from a timeout to the next new ACK: duplicates do not count.
    pub(crate) deaf: bool,
    /// What ns-2 measures the round trip with.
    pub(crate) timed: Option<TimedSegment>,
    /// What duplicate ACKs have added to the window (ns-2 `dupwnd_`); part of the window while NewReno recovers.
    pub(crate) inflation: u64,
    pub(crate) rescued: bool,
    /// The window that the first acknowledged packet opens (ns-2's Vegas); 0: open already.
    pub(crate) late_window: u64,
    /// NewReno: a partial ACK has been seen in this recovery.
    pub(crate) partial: bool,
    pub(crate) undo: Undo,
    pub(crate) frto: Frto,
    pub(crate) halving: RateHalving,
    /// SND.UNA when the timer last expired.
    pub(crate) timed_out_at: u64,
}

/// The one segment that is being timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedSegment {
    pub(crate) number: u64,
    pub(crate) sent: Time,
}

/// Whether the window was the limit, as Linux's `tcp_cwnd_validate` remembers it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    pub(crate) limited: bool,
    pub(crate) max_out: u64,
    pub(crate) until: u64,
}

impl Sender {
    /// A closed connection.
    pub fn new(flow: u32, config: &SenderConfig) -> Self {
        let mss = config.mss_bytes.max(1);
        let mss_u64 = u64::from(mss);
        let initial_window = u64::from(config.initial_window_packets.max(1)) * mss_u64;
        let always = config.pacing == Pacing::Always;
        let waiting = Config {
            flags: u32::from(config.delayed_acks) * ConfigFlags::DELAYED_ACKS,
            initial_window_bytes: initial_window,
            initial_ssthresh_bytes: config.initial_ssthresh_packets.map_or(UNSET, |n| u64::from(n) * mss_u64),
            abc_limit_packets: config.abc_limit_packets,
            unpaced_packets: if config.linux_pacer { UNPACED_SEGMENTS } else { 0 },
            hint: config.hint,
            parameter: config.parameters,
            ..Config::new(config.startup, mss, u64::from(config.initial_window_packets))
        };
        let startup = Startup::waiting(config.startup);
        let avoid = Avoid::new(&config.avoidance_rules(flow));
        let remembered = config.startup.traits.has(Traits::NEEDS_HISTORY);
        let sack = config.recovery.has_sack();
        Self {
            flow,
            rules: Rules {
                mss,
                header_bytes: config.header_bytes,
                syn_bytes: crate::ns2::syn_bytes(config),
                initial_window,
                abc_limit: u64::from(config.abc_limit_packets) * mss_u64,
                ecn: config.ecn,
                recovery: config.recovery,
                begins_with_one: crate::ns2::is_vegas(config),
                prr: config.prr && config.recovery == Recovery::Sack,
                rack: config.rack_tlp && config.recovery == Recovery::Sack,
                limited_transmit: config.limited_transmit,
                undo: config.undo,
                frto: config.frto && config.recovery == Recovery::Sack,
                linux_timer: config.rto.min_of_variance,
                counts_ticks: config.rto.count_ticks,
                pacing_always: always,
                linux_pacer: config.linux_pacer,
                idle_restart: config.idle_restart && !avoid.by_rate(),
                handshake: config.handshake,
                remembered,
                rated: config.sampled || remembered || avoid.by_rate(),
                max_burst: if config.max_burst_packets == 0 { u32::MAX } else { config.max_burst_packets },
                extra_rounds: config.extra_startup_rounds,
                send_buffer_max: config.send_buffer_max_bytes,
                rto_min: config.rto.min,
                rto_max: config.rto.max,
            },
            congestion: Window::of(startup.decision()),
            startup,
            waiting: Some(Box::new(waiting)),
            extra: None,
            exit: Exit::NotYet,
            board: Scoreboard::new(avoid.counts_losses()),
            avoid,
            rtt: RttEstimator::new(config.rto),
            rate: RateSampler::default(),
            pacer: Pacer::default(),
            timers: Timers {
                retransmit: Time::NEVER,
                purpose: Purpose::Timeout,
                reordering: Time::NEVER,
                pacing: Time::NEVER,
            },
            connection: Connection::Closed,
            repair: Repair {
                state: SenderState::Open,
                sack: if sack { SackUse::Unknown } else { SackUse::No },
                duplicates: 0,
                point: 0,
                prr: Prr::default(),
                pipe: 0,
                aside: RangeSet::default(),
                deaf: false,
                timed: None,
                inflation: 0,
                rescued: false,
                late_window: 0,
                partial: false,
                undo: Undo::default(),
                frto: Frto::Off,
                halving: RateHalving::default(),
                timed_out_at: u64::MAX,
            },
            rack: Rack::default(),
            ecn: Ecn::default(),
            due: Due::Nothing,
            events: VecDeque::new(),
            calls: None,
            syn: Syn::default(),
            quick_start: (config.handshake && config.startup.traits.has(Traits::NEEDS_ROUTER))
                .then(QuickStart::request),
            offered: 0,
            finished: false,
            last_sent: false,
            una_offset: 0,
            next_offset: 0,
            window_edge: u64::MAX,
            window: u64::MAX,
            send_buffer: config.send_buffer_bytes,
            sent_bytes: 0,
            sent_segments: 0,
            retransmitted_bytes: 0,
            last_sent_at: Time::ZERO,
            usage: WindowUsage::default(),
            burst_left: if config.max_burst_packets == 0 { u32::MAX } else { config.max_burst_packets },
            sent_since: false,
            host_rate: 0,
            last_rtt: Time::ZERO,
            last_rate: 0,
            lasting_rate: LastRate::default(),
            remembered: Remembered::of(config.hint),
        }
    }

    /// Opens the connection: a SYN, or established at once without a handshake.
    pub fn open(&mut self, now: Time) {
        if self.connection != Connection::Closed {
            return;
        }
        if self.rules.handshake {
            self.connection = Connection::Opening;
            self.syn.first_sent = now;
            self.due = Due::Syn;
        } else {
            self.ecn.in_use = self.rules.ecn;
            self.establish(now);
        }
    }

    /// The application offers `bytes`; `u64::MAX`: endless.
    pub fn write(&mut self, _now: Time, bytes: u64) {
        if !self.finished {
            self.offered = self.offered.saturating_add(bytes);
        }
    }

    /// The application will offer no more.
    pub fn finish(&mut self, _now: Time) {
        self.finished = true;
    }

    /// Whether all that the application has offered is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.connection == Connection::Established && self.una_offset >= self.offered
    }

    /// A segment from the receiver arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        match segment.kind() {
            SegmentKind::Ack if self.connection == Connection::Established => self.handle_ack(now, segment),
            SegmentKind::SynAck if self.connection == Connection::Opening => {
                self.handle_syn_ack(now, segment);
            }
            _ => {}
        }
    }

    /// Time to call `handle_timeout`; `Time::NEVER`: no need.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.timers.retransmit.min(self.timers.reordering).min(self.timers.pacing)
    }

    /// Next event, oldest first; until `None`.
    #[inline]
    pub fn poll_event(&mut self) -> Option<FlowEventKind> {
        self.events.pop_front()
    }

    /// From now on, keeps every call of the algorithm for [`poll_decision`](Self::poll_decision). To be called before
    /// [`open`](Self::open).
    pub fn record_decisions(&mut self) {
        self.calls = Some(Box::default());
    }

    /// What the algorithm was told and decided, oldest first; until `None`.
    pub fn poll_decision(&mut self) -> Option<FlowDecision> {
        self.calls.as_mut()?.poll()
    }

    /// True if everything offered has been acknowledged and no more will come.
    pub fn completed(&self) -> bool {
        self.finished && self.last_sent && self.board.is_empty()
    }

    /// State of the sender now.
    pub fn sample(&self, now: Time) -> FlowSample {
        let decision = self.startup.decision();
        let min_rtt = self.rtt.min();
        FlowSample {
            now,
            flow: self.flow,
            cwnd_bytes: self.cwnd(),
            ssthresh_bytes: self.ssthresh(),
            in_flight_bytes: self.board.in_flight(),
            sent_bytes: self.sent_bytes,
            delivered_bytes: self.rate.delivered(),
            retransmitted_bytes: self.retransmitted_bytes,
            lost_bytes: self.board.ever_lost_bytes(),
            rtt: self.last_rtt,
            min_rtt: if min_rtt == Time::NEVER { Time::ZERO } else { min_rtt },
            smoothed_rtt: self.rtt.smoothed(),
            pacing_bytes_per_s: self.pacing_bytes_per_s(),
            delivery_bytes_per_s: self.last_rate,
            receive_window_bytes: self.window,
            phase: if self.extra.is_some() { Phase::Startup } else { decision.phase() },
            state: self.repair.state,
        }
    }

    #[inline]
    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.rules.mss)
    }

    #[inline]
    pub(crate) fn sack_in_use(&self) -> bool {
        self.repair.sack != SackUse::No
    }

    /// RACK needs SACK.
    #[inline]
    pub(crate) fn rack_in_use(&self) -> bool {
        self.rules.rack && self.repair.sack != SackUse::No
    }

    pub(crate) fn establish(&mut self, now: Time) {
        self.connection = Connection::Established;
        self.timers.retransmit = Time::NEVER;
        self.due = Due::Nothing;
        self.last_sent_at = now;
        self.events.push_back(FlowEventKind::Established);
        self.begin_startup(now);
        if self.paces_by_share() {
            self.update_host_rate();
        }
    }

    fn handle_syn_ack(&mut self, now: Time, segment: &Segment) {
        let sent = segment.timestamp();
        // The echo tells which SYN is answered, so the sample is valid after retransmission too; RFC 6298 without
        // time stamps has none then.
        if self.syn.transmissions == 1 || self.rules.undo {
            let rtt = now - sent;
            self.rtt.observe_min(rtt);
            if self.rules.counts_ticks {
                self.rtt.forget_backoff();
                self.rtt.on_counted_sample(sent, now);
            } else {
                self.rtt.on_sample(rtt, 0, 0);
            }
            self.last_rtt = rtt;
        }
        if self.syn.transmissions > 1 && !self.rules.counts_ticks {
            self.rtt.distrust_initial();
        }
        if !segment.sack_permitted() {
            self.repair.sack = SackUse::No;
        } else if self.repair.sack == SackUse::Unknown {
            self.repair.sack = SackUse::Yes;
        }
        self.ecn.in_use = self.rules.ecn && segment.ecn();
        self.update_window(segment.window_bytes());
        self.take_grant(segment);
        if let Some(config) = &mut self.waiting {
            config.tsval = segment.tsval();
        }
        self.establish(now);
        self.answer_lost_syns(now);
        self.renew_share();
    }

    /// RFC 4782 §4.4: a valid answer to the one request tells the start-up algorithm a rate, and the first packet of data
    /// reports it to the routers.
    fn take_grant(&mut self, segment: &Segment) {
        let asked = self.quick_start.take().filter(|_| self.syn.transmissions == 1);
        let granted = asked.and_then(|_| segment.quick_start()).and_then(QuickStart::granted);
        if let (Some(code), Some(config)) = (granted, &mut self.waiting) {
            config.hint = Hint::of(HintSource::Router);
            config.hint.bytes_per_s = QuickStart::rate(code).bytes_per_s();
            config.hint.rtt_us = u32::try_from(self.last_rtt.us()).unwrap_or(u32::MAX);
            self.quick_start = Some(QuickStart::report(code));
        }
    }

    pub(crate) fn update_window(&mut self, window: u64) {
        self.window = window;
        self.window_edge = self.una_offset.saturating_add(window);
    }
}
