//! What Reach may never do, over any sequence of ACKs and events: bounds from the page, in what has been sent.

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, AckFlags, Config, Decision, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::events::runner;
use super::support::{MSS, row, set};

const PACKET: u64 = MSS as u64;

/// Of the page's table: flights that a proof may open the window to.
const FAR: u64 = 64;

#[derive(Clone, Copy, Debug)]
enum Told {
    /// As many of the packets under way as there are, in an ACK that comes when it likes and names any round trip.
    Ack {
        packets: u64,
        gap_ns: u64,
        rtt_us: u32,
        flags: u32,
        /// By how many ticks the receiver's clock is off.
        off: u32,
    },
    Event(EventKind),
}

fn told(flags: impl Strategy<Value = u32>, kinds: Vec<EventKind>) -> impl Strategy<Value = Vec<Told>> {
    let packets = prop_oneof![3 => 1..5_u64, 1 => 1..500_u64, 1 => Just(u64::MAX)];
    let gap = prop_oneof![1 => 0..2_000_u64, 2 => 1_000..1_000_000_u64, 1 => 0..300_000_000_u64];
    let rtt = prop_oneof![4 => 50_000..51_000_u32, 1 => Just(0), 1 => 1..100_u32, 1 => 1..2_000_000_u32];
    let off = prop_oneof![4 => Just(0), 2 => 0..100_u32, 1 => any::<u32>()];
    let ack = (packets, gap, rtt, flags, off).prop_map(|(packets, gap_ns, rtt_us, flags, off)| Told::Ack {
        packets,
        gap_ns,
        rtt_us,
        flags,
        off,
    });
    let event = prop::sample::select(kinds).prop_map(Told::Event);
    vec(prop_oneof![30 => ack, 1 => event], 1..120)
}

fn any_kind() -> Vec<EventKind> {
    EventKind::ALL.to_vec()
}

fn mostly_limited() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(AckFlags::CWND_LIMITED), 1 => 0..64_u32]
}

/// A host that counts right, whatever arrives: nothing arrives that has not been sent.
struct Host {
    startup: Startup,
    now_ns: u64,
    sent: u64,
    arrived: u64,
    /// When packets left.
    knows_when: bool,
}

impl Host {
    fn new(handshake_rtt_us: u32) -> Self {
        Self::with(handshake_rtt_us, UNSET, &[])
    }

    fn with(handshake_rtt_us: u32, ssthresh_bytes: u64, change: &[(&str, u64)]) -> Self {
        let mut config = Config::new(row("reach"), MSS, 10);
        config.handshake_rtt_us = handshake_rtt_us;
        config.initial_ssthresh_bytes = ssthresh_bytes;
        (config.now_ns, config.tsval) = (1_000_000_000, 975);
        for (name, value) in change {
            set(&mut config, row("reach"), name, *value);
        }
        let startup = Startup::new(row("reach"), &config);
        Self { startup, now_ns: config.now_ns, sent: 0, arrived: 0, knows_when: true }
    }

    fn tell(&mut self, told: &Told) -> (Decision, Decision) {
        let before = *self.startup.decision();
        let after = match *told {
            Told::Event(kind) => *self.startup.on_event(&Event {
                now_ns: self.now_ns,
                lost_bytes: PACKET,
                in_flight_bytes: self.sent - self.arrived,
                kind,
                mss_bytes: MSS,
            }),
            Told::Ack { packets, gap_ns, rtt_us, flags, off } => {
                // No more than a GB under way.
                let room = before.cwnd_bytes.min(1 << 30) / PACKET * PACKET;
                self.sent = self.sent.max(self.arrived + room);
                let in_flight = self.sent - self.arrived;
                let acked = packets.saturating_mul(PACKET).min(in_flight);
                self.arrived += acked;
                self.now_ns += gap_ns;
                let left_ns = self.now_ns.saturating_sub(u64::from(rtt_us) * 1000);
                *self.startup.on_ack(&Ack {
                    now_ns: self.now_ns,
                    newest_sent_ns: if self.knows_when { left_ns } else { 0 },
                    sent_bytes: self.sent,
                    newest_acked_bytes: self.arrived,
                    delivered_bytes: self.arrived,
                    acked_bytes: acked,
                    in_flight_bytes: in_flight,
                    rtt_us,
                    mss_bytes: MSS,
                    flags,
                    tsval: ((self.now_ns / 1_000_000) as u32).wrapping_sub(25).wrapping_sub(off),
                    ..Ack::default()
                })
            }
        };
        (before, after)
    }
}

fn bounded(flags: impl Strategy<Value = u32>, flights: u64) {
    let handshake = prop_oneof![Just(0), 49_000..52_000_u32];
    runner(1500)
        .run(&(handshake, told(flags, any_kind())), |(handshake, all)| {
            let mut host = Host::new(handshake);
            for told in &all {
                let (before, after) = host.tell(told);
                // A window lets at least what is in it out before its ACKs come.
                let sent = host.sent.max(10 * PACKET);
                let bound = (2 * before.cwnd_bytes).max((flights + 1) * sent);
                prop_assert!(after.cwnd_bytes <= bound, "{} beyond {bound}, {sent} sent", after.cwnd_bytes);
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A rate times the noise is no more than the bytes that proved it: hence a flight more. A fill is half as large again as a trial.
#[test]
fn whatever_acks_say_the_window_is_within_growth_times_what_was_sent() {
    bounded(mostly_limited(), FAR * 3 / 2);
}

#[test]
fn where_nothing_is_clear_neither() {
    bounded(mostly_limited().prop_map(|flags| flags | AckFlags::APP_LIMITED), FAR);
}

/// A flight that the application has stopped in proves no more than a bound.
#[test]
fn an_application_that_pauses_in_every_flight_sees_no_clear_proof() {
    let flags = mostly_limited().prop_map(|flags| flags | AckFlags::APP_LIMITED);
    runner(500)
        .run(&told(flags, any_kind()), |all| {
            let mut host = Host::new(50_000);
            for told in &all {
                let (_, after) = host.tell(told);
                prop_assert!(!after.exit_reason().is_estimate(), "{after:?}");
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Between two pauses there is one ACK, and it takes two to prove something.
#[test]
fn where_every_ack_is_followed_by_a_pause_nothing_is_proved() {
    runner(500)
        .run(&told(mostly_limited(), vec![EventKind::Loss, EventKind::Mark]), |all| {
            let mut host = Host::new(50_000);
            for told in &all {
                let arrived = host.arrived;
                let (before, after) = host.tell(told);
                prop_assert!(after.cwnd_bytes <= before.cwnd_bytes + (host.arrived - arrived));
                prop_assert_eq!(after.ssthresh_bytes, UNSET);
                prop_assert!(!after.exit_reason().is_estimate());
                prop_assert!(!after.exit_reason().is_congestion() || after.limit == 0, "{after:?}");
                host.tell(&Told::Event(EventKind::IdleRestart));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// The host's slow start: neither window is the core's, nothing is paced, and no ACK is asked for any more.
#[test]
fn after_a_timeout_both_windows_are_the_hosts() {
    let timeouts = std::cell::Cell::new(0_u32);
    runner(1000)
        .run(&told(mostly_limited(), any_kind()), |all| {
            let mut host = Host::new(50_000);
            for told in &all {
                let (before, after) = host.tell(told);
                if before.phase() == Phase::Done || !matches!(told, Told::Event(EventKind::Timeout)) {
                    continue;
                }
                timeouts.set(timeouts.get() + 1);
                prop_assert_eq!((after.phase(), after.exit_reason()), (Phase::Done, ExitReason::Timeout));
                prop_assert_eq!(after.pacing_bytes_per_s, 0);
                let windows = |d: Decision| (d.cwnd_bytes, d.ssthresh_bytes);
                prop_assert_eq!(windows(after), windows(before));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(timeouts.get() > 100, "too few cases: {}", timeouts.get());
}

/// What the `beta` leaves of it, and where something is proved it is the end of slow start.
#[test]
fn no_loss_and_no_mark_leaves_more_than_a_part_of_the_window() {
    for beta in [100, 70, 1] {
        let landed = std::cell::Cell::new(0_u32);
        runner(1000)
            .run(&told(mostly_limited(), any_kind()), |all| {
                let mut host = Host::with(50_000, UNSET, &[("beta", beta), ("ce_beta", beta)]);
                for told in &all {
                    let (before, after) = host.tell(told);
                    if !matches!(told, Told::Event(EventKind::Loss | EventKind::Mark)) {
                        continue;
                    }
                    prop_assert!(after.cwnd_bytes <= before.cwnd_bytes, "{before:?} {after:?}");
                    if before.phase() != Phase::Done && after.limit > 0 {
                        let most = (before.cwnd_bytes * beta / 100).max(PACKET);
                        prop_assert!(after.cwnd_bytes <= most, "{before:?} {after:?}");
                        prop_assert_eq!(after.ssthresh_bytes, after.cwnd_bytes);
                        landed.set(landed.get() + 1);
                    }
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(landed.get() > 100, "too few cases: {}", landed.get());
    }
}

#[test]
fn nothing_opens_the_window_beyond_a_configured_ssthresh_or_raises_that() {
    let landed = std::cell::Cell::new(0_u32);
    let handshake = prop_oneof![Just(0), 49_000..52_000_u32];
    runner(1500)
        .run(&(handshake, 0..400 * PACKET, told(mostly_limited(), any_kind())), |(handshake, limit, all)| {
            let mut host = Host::with(handshake, limit, &[]);
            for told in &all {
                let (before, after) = host.tell(told);
                let most = before.cwnd_bytes.max(before.ssthresh_bytes).max(PACKET);
                prop_assert!(after.cwnd_bytes <= most, "{before:?} {after:?}");
                prop_assert!(after.ssthresh_bytes <= before.ssthresh_bytes.max(PACKET));
                let proved = after.exit_reason().is_estimate() || after.exit_reason().is_congestion();
                if before.phase() != Phase::Done && proved && after.limit > 0 {
                    landed.set(landed.get() + 1);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(landed.get() > 100, "too few cases: {}", landed.get());
}

/// It proves nothing, and neither stops growth nor hastens it.
#[test]
fn while_each_flight_comes_back_in_one_ack_it_is_slow_start() {
    for rtt_us in [0, 50_000] {
        let mut host = Host::new(50_000);
        for flight in 1..12 {
            let (flags, off) = (AckFlags::CWND_LIMITED, 0);
            let all = Told::Ack { packets: u64::MAX, gap_ns: 50_000_000, rtt_us, flags, off };
            let (_, after) = host.tell(&all);
            assert_eq!((after.cwnd_bytes, after.ssthresh_bytes), ((10 * PACKET) << flight, UNSET));
            assert_eq!(after.phase(), Phase::Startup);
        }
    }
}

#[test]
fn where_nobody_knows_when_packets_left_it_is_slow_start() {
    runner(500)
        .run(&told(mostly_limited(), vec![EventKind::Loss, EventKind::Mark, EventKind::IdleRestart]), |all| {
            let mut host = Host { knows_when: false, ..Host::new(50_000) };
            for told in &all {
                let (arrived, lasts) = (host.arrived, host.startup.decision().phase() != Phase::Done);
                let (before, after) = host.tell(told);
                let grows = lasts
                    && matches!(told, Told::Ack { flags, .. }
                    if flags & AckFlags::CWND_LIMITED != 0 && flags & AckFlags::RECOVERING == 0);
                let used = host.sent - arrived >= before.cwnd_bytes - before.cwnd_bytes / 3;
                let growth = if grows && used { host.arrived - arrived } else { 0 };
                prop_assert_eq!(after.cwnd_bytes, before.cwnd_bytes + growth);
                prop_assert_eq!((after.ssthresh_bytes, after.pacing_bytes_per_s), (UNSET, 0));
                prop_assert!(!after.exit_reason().is_congestion() || after.limit == 0, "{after:?}");
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
