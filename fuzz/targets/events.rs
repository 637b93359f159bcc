//! ACKs and events for an algorithm of the registry: it keeps the contract (`interface.h`, `window.h`).
//!
//! The first byte draws the row, the second the host: a limited one, which counts right and never has more to send than it draws, or
//! a hostile one, whose ACKs may say anything. The facts of the connection follow, then one step after the other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rampcc::{
    Ack, AckFlags, Algorithm, Config, Decision, Event, EventKind, ExitReason, Hint, HintSource, Phase,
    Startup, Traits, UNSET, algorithms,
};

#[path = "../../crates/ramp/tests/support/used.rs"]
mod used;

use used::{Bound, bound};

/// 1 TiB: `RAMP_CWND_MAX_BYTES`.
const CWND_MAX_BYTES: u64 = 1 << 40;
const MSS: u32 = 1448;
const PACKET: u64 = MSS as u64;
const RTT_US: u64 = 50_000;
const START_NS: u64 = 1_000_000_000;
/// Longer sequences only take longer.
const STEPS: usize = 2_000;

fuzz_target!(|bytes: &[u8]| {
    let mut drawn = Drawn(bytes);
    let _ = played(&mut drawn);
});

/// `None`: the bytes are used up.
fn played(drawn: &mut Drawn<'_>) -> Option<()> {
    let rows = algorithms();
    let algorithm = &rows[usize::from(drawn.byte()?) % rows.len()];
    if drawn.byte()? & 1 == 0 { limited(algorithm, drawn) } else { hostile(algorithm, drawn) }
}

/// What is left of the bytes.
struct Drawn<'a>(&'a [u8]);

impl Drawn<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn below(&mut self, end: u64) -> Option<u64> {
        let bytes = [self.byte()?, self.byte()?];
        Some(u64::from(u16::from_le_bytes(bytes)) % end)
    }

    /// Any number: so many bytes of it as the first byte says, with the ends of the range at hand.
    fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            0 => Some(0),
            255 => Some(u64::MAX),
            254 => Some(u64::from(u32::MAX)),
            length => {
                let mut number = 0;
                for _ in 0..=length % 8 {
                    number = number << 8 | u64::from(self.byte()?);
                }
                Some(number)
            }
        }
    }

    fn small(&mut self) -> Option<u32> {
        self.number().map(|number| number as u32)
    }

    fn kind(&mut self) -> Option<EventKind> {
        Some(EventKind::ALL[usize::from(self.byte()?) % EventKind::ALL.len()])
    }

    fn hint(&mut self) -> Option<Hint> {
        let mut hint = Hint::of(HintSource::ALL[usize::from(self.byte()?) % HintSource::ALL.len()]);
        (hint.window_bytes, hint.bytes_per_s) = (self.number()?, self.number()?);
        (hint.rtt_us, hint.age_s) = (self.small()?, self.small()?);
        Some(hint)
    }
}

/// The algorithm, and the same with rate samples left out.
struct Judged {
    startup: Startup,
    without_rates: Startup,
}

#[derive(Clone, Copy, Debug)]
enum Told {
    Ack(Ack),
    Event(Event),
}

impl Told {
    fn kind(&self) -> Option<EventKind> {
        if let Self::Event(event) = self { Some(event.kind) } else { None }
    }

    fn mss_bytes(&self) -> u64 {
        let (Self::Ack(Ack { mss_bytes, .. }) | Self::Event(Event { mss_bytes, .. })) = self;
        u64::from(*mss_bytes)
    }

    fn to(&self, startup: &mut Startup) -> Decision {
        match self {
            Self::Ack(ack) => *startup.on_ack(ack),
            Self::Event(event) => *startup.on_event(event),
        }
    }

    fn without_rates(mut self) -> Self {
        if let Self::Ack(ack) = &mut self {
            ack.delivery_bytes_per_s = 0;
            ack.flags &= !AckFlags::RATE_APP_LIMITED;
        }
        self
    }
}

impl Judged {
    fn new(algorithm: &'static Algorithm, config: &Config) -> Self {
        let startup = Startup::new(algorithm, config);
        let first = startup.decision();
        assert!(first.cwnd_bytes >= u64::from(config.mss_bytes.max(1)), "{}: {first:?}", algorithm.id);
        assert!(first.cwnd_bytes <= CWND_MAX_BYTES, "{}: {first:?}", algorithm.id);
        Self { without_rates: startup.clone(), startup }
    }

    /// Both windows as the host has them.
    fn windows(&mut self, cwnd_bytes: u64, ssthresh_bytes: u64) {
        for startup in [&mut self.startup, &mut self.without_rates] {
            let decision = startup.decision_mut();
            (decision.cwnd_bytes, decision.ssthresh_bytes) = (cwnd_bytes, ssthresh_bytes);
        }
    }

    fn tell(&mut self, told: &Told) -> (Decision, Decision) {
        let algorithm = self.startup.algorithm();
        let before = *self.startup.decision();
        let again = told.to(&mut self.startup.clone());
        let after = told.to(&mut self.startup);
        let what = || format!("{}: {told:?}\n{before:?}\n{after:?}", algorithm.id);
        assert_eq!(after, again, "the same gives the same: {}", what());
        if !algorithm.traits.has(Traits::READS_RATE) {
            assert_eq!(told.without_rates().to(&mut self.without_rates), after, "a rate counts: {}", what());
        }
        let held = told.mss_bytes().max(1)..=CWND_MAX_BYTES;
        if matches!(told, Told::Ack(_)) && after.phase() < Phase::Leaving {
            assert!(held.contains(&after.cwnd_bytes), "the window: {}", what());
        }
        let decided = after.phase() >= Phase::Leaving;
        assert_eq!(decided, after.exit_reason() != ExitReason::None, "a reason: {}", what());
        if after.phase() == Phase::Done {
            let own = [after.pacing_bytes_per_s, after.burst_until_bytes, after.pacing_burst_bytes.into()];
            assert_eq!(own, [0; 3], "spacing ends with start-up: {}", what());
        }
        if after.phase() == Phase::Done || !algorithm.traits.has(Traits::NEEDS_GAPS) {
            assert_eq!(after.chirp_packets, 0, "chirps: {}", what());
        }
        let rearms = told.kind() == Some(EventKind::Timeout) && algorithm.traits.has(Traits::REARMS);
        let ends = |decision: &Decision| decision.phase() >= Phase::Leaving;
        if rearms {
            assert_eq!(after.phase(), Phase::Startup, "{}", what());
        } else if ends(&before) && !ends(&after) {
            assert_eq!(told.kind(), Some(EventKind::Undone), "begun again: {}", what());
        } else if before.phase() == Phase::Done {
            assert_eq!(before, after, "over is over: {}", what());
        } else if ends(&before) {
            assert_eq!(before.exit_reason(), after.exit_reason(), "left twice: {}", what());
        }
        match told.kind() {
            Some(EventKind::Undone) if before.phase() == after.phase() => {
                // A rate may follow a window that the host has changed since the last call.
                let rest =
                    |d: &Decision| (d.cwnd_bytes, d.ssthresh_bytes, d.exit_reason(), d.evidence, d.limit);
                assert_eq!(rest(&before), rest(&after), "undone: {}", what());
            }
            Some(EventKind::Undone) => {
                assert!(before.exit_reason().is_congestion() && !ends(&after), "{}", what());
                assert_eq!(after.exit_reason(), ExitReason::None);
                let windows = (before.cwnd_bytes.clamp(*held.start(), *held.end()), before.ssthresh_bytes);
                assert_eq!((after.cwnd_bytes, after.ssthresh_bytes), windows, "the host's: {}", what());
            }
            Some(EventKind::Loss | EventKind::Mark | EventKind::Timeout) => {
                // Between ACKs the window of `paced` is what is in flight and the rest of its train, and the host reduces from
                // the train's length (docs/algorithms/paced.md).
                let most = before.cwnd_bytes.max(*held.start());
                // Where a request failed, the window is the initial one, whatever the host's is meanwhile (RFC 4782 §4.6).
                let anew = algorithm.id == "quickstart" && before.phase() == Phase::Leaving;
                assert!(after.cwnd_bytes <= most || algorithm.id == "paced" || anew, "it grew: {}", what());
                if told.kind() == Some(EventKind::Loss) && !ends(&before) {
                    let outlasts = algorithm.traits.has(Traits::OUTLASTS_LOSS);
                    assert_eq!(!ends(&after), outlasts, "a loss: {}", what());
                }
            }
            _ => {}
        }
        (before, after)
    }
}

/// Anything may be said, in any order, and the host may have any window.
fn hostile(algorithm: &'static Algorithm, drawn: &mut Drawn<'_>) -> Option<()> {
    let mut config = Config::new(algorithm, drawn.small()?, 0);
    (config.initial_window_bytes, config.initial_ssthresh_bytes) = (drawn.number()?, drawn.number()?);
    (config.size_bytes, config.receive_window_bytes) = (drawn.number()?, drawn.number()?);
    (config.now_ns, config.abc_limit_packets) = (drawn.number()?, drawn.small()?);
    (config.handshake_rtt_us, config.unpaced_packets) = (drawn.small()?, drawn.small()?);
    (config.flags, config.tsval, config.hint) = (drawn.small()?, drawn.small()?, drawn.hint()?);
    for _ in 0..drawn.byte()? % 4 {
        let place = drawn.below(config.parameter.len() as u64)? as usize;
        config.parameter[place] = drawn.number()?;
    }
    // No connection has segments without payload.
    config.mss_bytes = config.mss_bytes.max(1);
    let mut judged = Judged::new(algorithm, &config);
    let mut host = Counts { now_ns: config.now_ns, ..Counts::default() };
    for _ in 0..STEPS {
        match drawn.byte()? % 16 {
            0 => {
                judged.windows(drawn.number()?, drawn.number()?);
            }
            1..=3 => {
                let told = Event {
                    now_ns: host.now_ns,
                    lost_bytes: drawn.number()?,
                    in_flight_bytes: drawn.number()?,
                    kind: drawn.kind()?,
                    mss_bytes: config.mss_bytes,
                };
                judged.tell(&Told::Event(told));
            }
            4..=7 => {
                let mut told = Ack::default();
                for field in Ack::FIELDS {
                    (field.set)(&mut told, drawn.number()? & field.max);
                }
                judged.tell(&Told::Ack(told));
            }
            _ => {
                let most = judged.startup.decision().cwnd_bytes.min(5_000 * PACKET);
                let ack = host.ack(drawn, most, &config, judged.startup.decision())?;
                judged.tell(&Told::Ack(ack));
            }
        }
    }
    Some(())
}

/// The sender's side of a connection on which nothing arrives that has not been sent.
#[derive(Default)]
struct Counts {
    now_ns: u64,
    sent: u64,
    arrived: u64,
}

impl Counts {
    /// Of up to 16 packets of those under way, up to 2^24 ns later, over any round trip.
    fn ack(&mut self, drawn: &mut Drawn<'_>, most: u64, config: &Config, decision: &Decision) -> Option<Ack> {
        self.sent = self.sent.max(self.arrived.saturating_add(most));
        let in_flight_bytes = self.sent - self.arrived;
        let packets = u64::from(drawn.byte()? % 16 + 1);
        let acked_bytes = in_flight_bytes.min(packets * u64::from(config.mss_bytes));
        self.arrived += acked_bytes;
        self.now_ns = self.now_ns.saturating_add(drawn.below(1 << 16)? << 8);
        let rtt_us = drawn.below(1 << 16)? as u32;
        Some(Ack {
            now_ns: self.now_ns,
            newest_sent_ns: self.now_ns.saturating_sub(u64::from(rtt_us) * 1000),
            sent_bytes: self.sent,
            newest_acked_bytes: self.arrived,
            delivered_bytes: self.arrived,
            acked_bytes,
            in_flight_bytes,
            delivery_bytes_per_s: in_flight_bytes.saturating_mul(1_000_000) / u64::from(rtt_us.max(1)),
            pacing_bytes_per_s: decision.pacing_bytes_per_s,
            rtt_us,
            mss_bytes: config.mss_bytes,
            flags: u32::from(drawn.byte()?) & 63,
            tsval: ((self.now_ns / 1_000_000) as u32).wrapping_sub(drawn.byte()?.into()),
            ..Ack::default()
        })
    }
}

/// A sender with at most so many packets to send in a round trip of 50 ms: its window keeps to the row's bound.
fn limited(algorithm: &'static Algorithm, drawn: &mut Drawn<'_>) -> Option<()> {
    let most = drawn.below(200)? + 1;
    let window = drawn.below(100)? * PACKET;
    let mut config = Config::new(algorithm, MSS, 10);
    (config.handshake_rtt_us, config.now_ns) = (RTT_US as u32, START_NS);
    config.receive_window_bytes = 300 * PACKET;
    let knows = algorithm.traits.has(Traits::KNOWS_PATH);
    if knows || window > 0 {
        let mut hint = Hint::of(if knows { HintSource::Path } else { HintSource::History });
        (hint.window_bytes, hint.rtt_us) = (window, RTT_US as u32);
        hint.bytes_per_s = window * 1_000_000 / RTT_US;
        config.hint = hint;
    }
    let mut judged = Judged::new(algorithm, &config);
    let first = judged.startup.decision().cwnd_bytes.max(10 * PACKET).max(window);
    let (bound, reason) = bound(algorithm.id);
    let (mut now_us, mut sent, mut arrived, mut most_in_flight) = (2 * START_NS / 1000, 0_u64, 0_u64, 0_u64);
    const KINDS: [EventKind; 4] =
        [EventKind::IdleRestart, EventKind::Timeout, EventKind::Undone, EventKind::Recovered];
    for _ in 0..STEPS {
        let step = drawn.byte()?;
        if step >= 250 {
            judged.tell(&Told::Event(Event {
                now_ns: now_us * 1000,
                lost_bytes: 0,
                in_flight_bytes: sent - arrived,
                kind: KINDS[usize::from(step) % KINDS.len()],
                mss_bytes: MSS,
            }));
        } else {
            let decision = *judged.startup.decision();
            let room = (decision.cwnd_bytes / PACKET).clamp(1, most) * PACKET;
            sent = sent.max(arrived + room);
            let in_flight = sent - arrived;
            let acked = in_flight.min(u64::from(step % 4 + 1) * PACKET);
            now_us += RTT_US * acked / in_flight;
            arrived += acked;
            most_in_flight = most_in_flight.max(in_flight);
            let late_us = drawn.below(5_000)?;
            let flags = [
                AckFlags::CWND_LIMITED,
                0,
                AckFlags::CWND_LIMITED | AckFlags::APP_LIMITED,
                AckFlags::CWND_LIMITED | AckFlags::PACED,
            ];
            judged.tell(&Told::Ack(Ack {
                now_ns: (now_us + late_us) * 1000,
                newest_sent_ns: (now_us - RTT_US) * 1000,
                sent_bytes: sent,
                newest_acked_bytes: arrived,
                delivered_bytes: arrived,
                acked_bytes: acked,
                in_flight_bytes: in_flight,
                receive_window_bytes: UNSET,
                delivery_bytes_per_s: in_flight * 1_000_000 / RTT_US,
                pacing_bytes_per_s: decision.pacing_bytes_per_s,
                rtt_us: (RTT_US + late_us) as u32,
                mss_bytes: MSS,
                flags: flags[usize::from(step / 4 % 4)],
                ..Ack::default()
            }));
        }
        let decision = judged.startup.decision();
        if decision.phase() == Phase::Done {
            return Some(());
        }
        let allowed = match bound {
            Bound::Flights(tenths) => first.max(tenths * most_in_flight / 10 + PACKET),
            Bound::Acknowledged(times) => first + times * arrived,
        };
        assert!(
            decision.cwnd_bytes <= allowed,
            "{}: {} of {allowed} ({reason})",
            algorithm.id,
            decision.cwnd_bytes
        );
    }
    Some(())
}
