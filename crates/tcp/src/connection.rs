//! What every kind of sender has: data and windows, a start-up algorithm, a scoreboard, measurements, timers. Who finds
//! and repairs losses, and by which rules, is an agent's matter.

use std::collections::VecDeque;

use rampcc::{Config, ConfigFlags, Decision, Hint, HintSource, Phase, Seen, Startup, Time, Traits, UNSET};
use rampcc_avoidance::{Avoid, RateSampler};
use rampcc_trace::{FlowEventKind, FlowSample, SenderState};

use crate::calls::Calls;
use crate::ecn::Ecn;
use crate::pacing::{Pacer, UNPACED_SEGMENTS};
use crate::quick_start::QuickStart;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::seen::{LastRate, Remembered};
use crate::segment::Segment;
use crate::undo::Undo;
use crate::{Pacing, Recovery, SenderConfig};

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) flow: u32,
    pub(crate) rules: Rules,
    pub(crate) startup: Startup,
    /// What the algorithm will get when the connection is established.
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
    pub(crate) stage: Stage,
    pub(crate) repair: Repair,
    pub(crate) ecn: Ecn,
    pub(crate) due: Due,
    pub(crate) events: VecDeque<FlowEventKind>,
    /// Calls of the algorithm, if they are wanted.
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
    pub(crate) undo: bool,
    /// A reduction keeps what it takes: something may show it to be spurious.
    pub(crate) keeps_undo: bool,
    pub(crate) linux_timer: bool,
    pub(crate) pacing_always: bool,
    pub(crate) linux_pacer: bool,
    pub(crate) idle_restart: bool,
    pub(crate) handshake: bool,
    pub(crate) forgiven_syns: u32,
    /// Its algorithm needs history, so that its host remembers what it has seen.
    pub(crate) remembered: bool,
    /// After start-up, too, the rate of every ACK is wanted: an observer, its host, a control by rate.
    pub(crate) rated: bool,
    pub(crate) max_burst: u32,
    pub(crate) extra_rounds: u32,
    pub(crate) send_buffer_max: u64,
    pub(crate) rto_min: Time,
    pub(crate) rto_max: Time,
}

/// How far the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Closed,
    Opening,
    Established,
}

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

/// What all kinds of loss recovery have.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    pub(crate) state: SenderState,
    pub(crate) sack: SackUse,
    pub(crate) duplicates: u32,
    /// `RecoveryPoint`: what was SND.NXT when the last recovery began.
    pub(crate) point: u64,
    /// SND.UNA when the timer last expired.
    pub(crate) timed_out_at: u64,
    /// The window goes to ssthresh step by step, not at once.
    pub(crate) rationed: bool,
    /// NewReno: what duplicate ACKs have added to the window (ns-2 `dupwnd_`); part of the window while it recovers.
    pub(crate) inflation: u64,
    /// NewReno: a partial ACK has been seen in this recovery.
    pub(crate) partial: bool,
    pub(crate) undo: Undo,
}

/// What bounds the sender, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    /// [`rampcc::UNSET`]: there has been no reason for one yet.
    pub(crate) ssthresh: u64,
}

impl Window {
    /// As an algorithm wants it.
    #[inline]
    pub(crate) fn of(decision: &Decision) -> Self {
        Self { cwnd: decision.cwnd_bytes, ssthresh: decision.ssthresh_bytes }
    }
}

/// Rounds that a sender goes on growing after its algorithm wanted to leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraRounds {
    pub(crate) left: u32,
    /// The round ends when something sent after this many bytes is acknowledged.
    pub(crate) round_end: u64,
}

/// What has been reported of the algorithm's exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    NotYet,
    Told,
    /// Reported, and a timeout has begun start-up again since and another exit ended it.
    Followed,
}

/// Whether the window was the limit, as Linux's `tcp_cwnd_validate` remembers it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    pub(crate) limited: bool,
    pub(crate) max_out: u64,
    pub(crate) until: u64,
}

impl Connection {
    /// A closed connection.
    pub(crate) fn new(flow: u32, config: &SenderConfig) -> Self {
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
        Self {
            flow,
            rules: Rules {
                mss,
                header_bytes: config.header_bytes,
                syn_bytes: config.header_bytes,
                initial_window,
                abc_limit: u64::from(config.abc_limit_packets) * mss_u64,
                ecn: config.ecn,
                undo: config.undo,
                keeps_undo: config.undo || (config.frto && config.recovery == Recovery::Sack),
                linux_timer: config.rto.min_of_variance,
                pacing_always: always,
                linux_pacer: config.linux_pacer,
                idle_restart: config.idle_restart && !avoid.by_rate(),
                handshake: config.handshake,
                forgiven_syns: config.forgiven_syns,
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
            stage: Stage::Closed,
            repair: Repair {
                state: SenderState::Open,
                sack: if config.recovery.has_sack() { SackUse::Unknown } else { SackUse::No },
                duplicates: 0,
                point: 0,
                timed_out_at: u64::MAX,
                rationed: false,
                inflation: 0,
                partial: false,
                undo: Undo::default(),
            },
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

    /// State of the sender now.
    pub(crate) fn sample(&self, now: Time) -> FlowSample {
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

    /// True if everything offered has been acknowledged and no more will come.
    pub(crate) fn completed(&self) -> bool {
        self.finished && self.last_sent && self.board.is_empty()
    }

    /// The handshake is over, or there is none. `opened`: its first window is set.
    pub(crate) fn establish(&mut self, now: Time, opened: impl FnOnce(&mut Self)) {
        self.stage = Stage::Established;
        self.timers.retransmit = Time::NEVER;
        self.due = Due::Nothing;
        self.last_sent_at = now;
        self.events.push_back(FlowEventKind::Established);
        self.begin_startup(now, opened);
        if self.paces_by_share() {
            self.update_host_rate();
        }
    }

    /// The SYN is answered: what that shows, before the connection is established.
    pub(crate) fn take_syn_ack(&mut self, now: Time, segment: &Segment) {
        let sent = segment.timestamp();
        // The echo tells which SYN is answered, so the sample is valid after retransmission too; RFC 6298 without
        // time stamps has none then.
        if self.syn.transmissions == 1 || self.rules.undo {
            self.rtt.on_handshake(sent, now);
            self.last_rtt = now - sent;
        }
        if self.syn.transmissions > 1 {
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
    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        self.congestion.cwnd
    }

    #[inline]
    pub(crate) fn set_cwnd(&mut self, cwnd: u64) {
        self.congestion.cwnd = cwnd;
    }

    #[inline]
    pub(crate) fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh
    }

    #[inline]
    pub(crate) fn set_ssthresh(&mut self, ssthresh: u64) {
        self.congestion.ssthresh = ssthresh;
    }

    /// Lends the window to the algorithm for one call. Returns what the algorithm would make of it, which is for the
    /// caller to take or leave.
    #[inline]
    pub(crate) fn lend(&mut self, call: impl FnOnce(&mut Startup)) -> Window {
        let Window { cwnd, ssthresh } = self.congestion;
        let lent = self.startup.decision_mut();
        (lent.cwnd_bytes, lent.ssthresh_bytes) = (cwnd, ssthresh);
        call(&mut self.startup);
        Window::of(self.startup.decision())
    }

    /// How the connection stands; no rate where its algorithm needs no history. `closing`: it has sent all it had.
    pub(crate) fn seen(&self, now: Time, closing: bool) -> Seen {
        let LastRate { bytes_per_s, app_limited } = self.lasting_rate;
        let min_rtt = self.rtt.min();
        Seen {
            now_ns: now.ns(),
            initial_window_bytes: self.rules.initial_window,
            bytes_per_s,
            rtt_us: microseconds(Some(min_rtt).filter(|&rtt| rtt != Time::NEVER)),
            delivered_bytes: self.rate.delivered(),
            flags: self.remembered.flags()
                + u32::from(app_limited || closing) * Seen::APP_LIMITED
                + u32::from(closing) * Seen::CLOSING,
        }
    }
}

/// A round-trip time as the algorithm gets it; 0: there is none.
#[inline]
pub(crate) fn microseconds(rtt: Option<Time>) -> u32 {
    rtt.filter(|&rtt| rtt > Time::ZERO).map_or(0, |rtt| u32::try_from(rtt.us()).unwrap_or(u32::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use rampcc::{Time, algorithm};

    use super::*;
    use crate::{Profile, SenderConfig};

    #[test]
    fn what_the_algorithm_makes_of_the_window_is_for_the_sender_to_take_or_leave() {
        let startup = algorithm("slow_start").expect("the algorithm is registered");
        let mut config = SenderConfig::new(Profile::Modern, startup);
        config.handshake = false;
        let mut sender = Connection::new(0, &config);
        sender.establish(Time::ZERO, |_| {});
        let before = sender.congestion;
        let wanted = sender.lend(|startup| startup.decision_mut().cwnd_bytes += 1);
        assert_eq!(wanted, Window { cwnd: before.cwnd + 1, ..before });
        assert_eq!(sender.congestion, before);
        sender.set_cwnd(5_000);
        sender.set_ssthresh(6_000);
        let seen = sender.lend(|_| {});
        assert_eq!(
            seen,
            Window { cwnd: 5_000, ssthresh: 6_000 },
            "the next call sees what the sender has done"
        );
    }
}
