//! Rules of a connection, as plain data.

use rampcc::{Algorithm, Environment, Hint, PARAMETERS_MAX, Time, Traits};
use rampcc_avoidance::{Avoidance, Rules, VegasConfig};

/// The window field of a SYN, which is not scaled.
pub(crate) const SYN_WINDOW: u64 = 65_535;

/// A set of rules that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// TCP of the papers' years by its RFCs: IW 2, packet counting, no PRR, no RACK-TLP, RTO minimum 200 ms with a
    /// 10 ms tick.
    Era,
    /// ns-2.35's end systems: `Agent/TCP/Sack1` and its sink, packets of 1000 + 40 bytes.
    Ns2,
    /// A Linux server of today. IW 10, byte counting, PRR, RACK-TLP, undo, F-RTO, Linux's RTO.
    Modern,
}

impl Profile {
    /// Environment of its algorithms, for the parameters that depend on it.
    pub fn environment(self) -> Environment {
        if self == Self::Modern { Environment::LinuxServer } else { Environment::Papers }
    }
}

/// Rules of a sender.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct SenderConfig {
    /// Payload bytes of a full segment.
    pub mss_bytes: u32,
    /// Bytes of headers on every data packet, down to what the link counts.
    pub header_bytes: u32,
    /// Start-up algorithm, with its parameters in table order.
    pub startup: &'static Algorithm,
    /// Values for `startup`, in the order of its table.
    pub parameters: [u64; PARAMETERS_MAX],
    /// Window before the first ACK, packets.
    pub initial_window_packets: u32,
    /// `None`: arbitrarily high.
    pub initial_ssthresh_packets: Option<u32>,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Growth per ACK in slow start, MSS (RFC 3465 L); 0: no limit; 1: packet counting.
    pub abc_limit_packets: u32,
    /// Congestion avoidance after start-up.
    pub avoidance: Avoidance,
    /// Unless the start-up belongs to a control with an avoidance of its own, which then follows.
    pub own_avoidance: bool,
    /// Detection and repair of losses.
    pub recovery: Recovery,
    /// Proportional rate reduction (RFC 9937) during SACK recovery.
    pub prr: bool,
    /// RACK-TLP (RFC 8985).
    pub rack_tlp: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Undo reductions that turn out to be spurious (Eifel by echoed time stamps, DSACK).
    pub undo: bool,
    /// Find spurious timeouts by the ACKs after them (F-RTO, RFC 5682 §3, as Linux), and undo their reductions.
    pub frto: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Pacing.
    pub pacing: Pacing,
    /// An algorithm's rate is kept as Linux keeps it: the first ten data packets follow each other at once, and after
    /// a pause half a gap is forgiven. Otherwise every gap is exact.
    pub linux_pacer: bool,
    /// At most this many new segments per ACK; 0: no limit (ns-2 `maxburst_`).
    pub max_burst_packets: u32,
    /// Bytes of send buffer; unacknowledged data never exceeds it.
    pub send_buffer_bytes: u64,
    /// Grow the send buffer with the window up to this size (Linux autotuning); 0: fixed.
    pub send_buffer_max_bytes: u64,
    /// Restart from the initial window after an idle RTO (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// SYN exchange before the first data packet; it gives the first RTT sample.
    pub handshake: bool,
    /// Lost SYNs that leave the initial window as it is: none (RFC 5681 §3.1), or Linux's one (`tcp_init_transfer`), since a timeout of 1 s
    /// may be spurious (RFC 6298).
    pub forgiven_syns: u32,
    /// Keep growing for this many further rounds after the algorithm wanted to leave without loss:
    /// the "one round later" of reports. 0 in real runs.
    pub extra_startup_rounds: u32,
    /// Advance knowledge of the path, for algorithms that may have it.
    pub hint: Hint,
    /// CUBIC's multiplicative decrease in 1/1024; 717 in Linux.
    pub cubic_beta_1024: u32,
    /// CUBIC grows as in Linux 2.6.23.
    pub cubic_of_2007: bool,
    /// Vegas' thresholds.
    pub vegas: VegasConfig,
    /// A flag for the start-up algorithm: the receiver may acknowledge every second packet.
    pub delayed_acks: bool,
    /// Record the state for an observer on every ACK.
    pub sampled: bool,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// Jacobson 1988 as ns-2's `Agent/TCP` does it: what a third duplicate ACK finds lost is repaired as after a timeout,
    /// by slow start from one packet, but the timer does not back off.
    Tahoe,
    /// RFC 6582 as ns-2's Newreno does it: the window stays as deflated as partial ACKs left it, and the timer
    /// restarts on the first partial ACK only.
    NewRenoImpatient,
    /// The same, but the timer restarts on every partial ACK.
    NewRenoSteady,
    /// Impatient, and as ns-2's Newreno with `newreno_changes_`, which Hoe's packet pair comes with: in fast recovery every
    /// second duplicate ACK sends one new segment whatever the window, and nothing else does.
    NewRenoFlywheel,
    /// RFC 6675.
    Sack,
    /// Linux 2.4 to 3.1: FACK, rate halving, and a window that is never far above what is in flight.
    Fack,
    /// The same of Linux 2.6.15 to 2.6.23, whose search for SACK blocks goes on from where the last one ended: a retransmission that
    /// is lost is found only if a search passes it by.
    FackHints,
    /// SACK as ns-2's Sack1 does it: `pipe` is a counter, and a partial ACK takes two off it.
    SackNs2,
}

impl Recovery {
    /// Whether it follows ns-2 where that departs from the RFCs.
    pub(crate) fn is_ns2(self) -> bool {
        !matches!(self, Self::Sack | Self::Fack | Self::FackHints)
    }

    /// Whether SACK is asked for and given.
    pub(crate) fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Fack | Self::FackHints | Self::SackNs2)
    }
}

/// Retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Before the first sample.
    pub initial: Time,
    /// Lower bound.
    pub min: Time,
    /// Upper bound.
    pub max: Time,
    /// Samples and the timer are rounded to this; zero: exact (ns-2 `tcpTick_`).
    pub tick: Time,
    /// ns-2 without time stamps: one segment at a time is timed, in ticks that begin between its departure and its
    /// ACK, and the estimates are whole ticks. The backed-off timer stays until there is a sample.
    pub count_ticks: bool,
    /// Phase of that clock within a tick at time zero (ns-2 `boot_time_`, drawn for every connection); `None`: for the
    /// host to draw.
    pub phase: Option<Time>,
    /// Linux: the bound holds for the variance term, so that the timer is never below SRTT + `min`.
    pub min_of_variance: bool,
}

/// Pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Only when the start-up algorithm sets a rate.
    Algorithm,
    /// Always, as Linux with fq or internal pacing: 2 x cwnd/srtt in slow start, 1.2 x after.
    Always,
}

/// Rules of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// Policy of acknowledging.
    pub ack_policy: AckPolicy,
    /// Most SACK blocks per ACK; 0: no SACK.
    pub sack_blocks: u8,
    /// Windows XP of the HyStart paper: from this many out-of-order segments on, send no SACK and discard what
    /// arrives out of order. 0: never.
    pub sack_suppression_segments: u32,
    /// `AckPolicy::Linux` gathers ACKs behind a gap, as Linux has since 4.18.
    pub gathers_sacks: bool,
    /// Window that it advertises.
    pub window: ReceiveWindow,
    /// ns-2's sinks do not know the end of the data, report no duplicates (RFC 2883), and let one of the newest segment
    /// in order wait like new data.
    pub ns2_sink: bool,
    /// Most that a SYN-ACK announces of it: 65 535 bytes, since the window field of a SYN is not scaled (RFC 7323
    /// §2.2); `u64::MAX`: all of it.
    pub syn_window_bytes: u64,
    /// Bytes of an ACK on the wire.
    pub ack_bytes: u32,
    /// How often the clock in its timestamps ticks (RFC 7323); 0: it has none.
    pub timestamp_tick: Time,
    /// And for every SACK block on it (ns-2: 8); 0: they are within `ack_bytes`.
    pub sack_block_bytes: u32,
}

/// Policy of acknowledging. Filled gaps and the end of the data are always acknowledged at once, and gaps too
/// except by Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment.
    Quick,
    /// Every `every`-th segment, or after `timer`.
    Delayed {
        /// Segments per ACK.
        every: u32,
        /// Longest wait.
        timer: Time,
    },
    /// Linux: as long as the window grows, and the first `quick` ACKs (again after duplicates), at once; then every
    /// second segment. Behind a gap, at once or, since 4.18, once three ACKs have asked for what is missing, one for a
    /// millisecond's segments.
    Linux {
        /// Number of segments to acknowledge at once; 0: none, whatever the window does.
        quick: u32,
        /// Longest wait.
        timer: Time,
    },
    /// FreeBSD 7: every second segment. When the application reads, which it does between two interrupts, an ACK is sent as
    /// well if that moves the window's edge by two segments (`tcp_output`): what is left of a burst does not wait for the
    /// timer.
    FreeBsd {
        /// Longest wait.
        timer: Time,
    },
}

/// The receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Never in the way after the handshake.
    Unlimited,
    /// Always this many bytes.
    Fixed(u64),
    /// Linux dynamic right-sizing: from `initial`, two segments more with every segment that arrives, as far as there is room: a quarter more at once, then for twice what was
    /// delivered per RTT, up to `max`.
    Autotuned {
        /// First window, bytes.
        initial: u64,
        /// Largest window, bytes.
        max: u64,
    },
}

impl SenderConfig {
    /// What follows start-up: with `own_avoidance`, what belongs to the start-up algorithm if something does.
    pub fn avoidance_in_use(&self) -> Avoidance {
        if self.own_avoidance && self.startup.traits.has(Traits::OF_BBR) {
            return Avoidance::Bbr;
        }
        if self.own_avoidance && self.startup.traits.has(Traits::OF_BBR3) {
            return Avoidance::Bbr3;
        }
        self.avoidance
    }

    /// The same with its constants, for the flow with this number.
    pub(crate) fn avoidance_rules(&self, flow: u32) -> Rules {
        Rules {
            avoidance: self.avoidance_in_use(),
            flow,
            cubic_beta_1024: self.cubic_beta_1024,
            cubic_of_2007: self.cubic_of_2007,
            vegas: self.vegas,
            ns2: self.recovery.is_ns2(),
        }
    }

    /// The rules of `profile` around a start-up algorithm with the parameters that it has there.
    pub fn new(profile: Profile, startup: &'static Algorithm) -> Self {
        let era = profile != Profile::Modern;
        let ns2 = profile == Profile::Ns2;
        Self {
            mss_bytes: if ns2 { 1000 } else { 1448 },
            header_bytes: if ns2 { 40 } else { 52 },
            startup,
            parameters: startup.parameters_in(profile.environment()),
            initial_window_packets: if era { 2 } else { 10 },
            initial_ssthresh_packets: None,
            ecn: false,
            abc_limit_packets: u32::from(era),
            avoidance: if era { Avoidance::Reno } else { Avoidance::Cubic },
            own_avoidance: true,
            recovery: if ns2 { Recovery::SackNs2 } else { Recovery::Sack },
            prr: !era,
            rack_tlp: !era,
            limited_transmit: true,
            undo: !era,
            frto: !era,
            rto: if era {
                RtoConfig {
                    initial: Time::from_secs(3),
                    min: Time::from_ms(200),
                    max: Time::from_secs(60),
                    tick: Time::from_ms(10),
                    count_ticks: profile == Profile::Ns2,
                    phase: None,
                    min_of_variance: false,
                }
            } else {
                RtoConfig {
                    initial: Time::from_secs(1),
                    min: Time::from_ms(200),
                    max: Time::from_secs(120),
                    tick: Time::ZERO,
                    count_ticks: false,
                    phase: None,
                    min_of_variance: true,
                }
            },
            pacing: Pacing::Algorithm,
            linux_pacer: !era,
            max_burst_packets: 0,
            send_buffer_bytes: u64::MAX,
            send_buffer_max_bytes: 0,
            idle_restart: !era,
            handshake: true,
            forgiven_syns: u32::from(!era),
            extra_startup_rounds: 0,
            hint: Hint::NONE,
            cubic_beta_1024: 717,
            cubic_of_2007: false,
            vegas: if era {
                VegasConfig { alpha_packets: 1, beta_packets: 3, mean_rtt: true }
            } else {
                VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt: false }
            },
            delayed_acks: !era,
            sampled: false,
        }
    }
}

impl ReceiverConfig {
    /// True if its ACKs have timestamps.
    pub fn stamps(&self) -> bool {
        self.timestamp_tick > Time::ZERO
    }

    /// The receiver of `profile`: every segment acknowledged (era), or Linux with four SACK blocks less one for
    /// time stamps (modern); the window is never in the way.
    pub fn new(profile: Profile) -> Self {
        match profile {
            Profile::Era | Profile::Ns2 => Self {
                ack_policy: AckPolicy::Quick,
                sack_blocks: 3,
                sack_suppression_segments: 0,
                gathers_sacks: true,
                window: ReceiveWindow::Unlimited,
                ns2_sink: profile == Profile::Ns2,
                syn_window_bytes: u64::MAX,
                ack_bytes: 40,
                timestamp_tick: Time::ZERO,
                sack_block_bytes: if profile == Profile::Ns2 { 8 } else { 0 },
            },
            Profile::Modern => Self {
                ack_policy: AckPolicy::Linux { quick: 16, timer: Time::from_ms(40) },
                sack_blocks: 3,
                sack_suppression_segments: 0,
                gathers_sacks: true,
                window: ReceiveWindow::Unlimited,
                ns2_sink: false,
                syn_window_bytes: SYN_WINDOW,
                ack_bytes: 52,
                timestamp_tick: Time::from_ms(1),
                sack_block_bytes: 0,
            },
        }
    }
}
