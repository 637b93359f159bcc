//! Algorithms written a second time, from their sources, in packets and floating point, and compared with
//! the core ACK by ACK.
//!
//! Nothing here is taken from the C: a rule misread there would have to be misread here in the same way.

#[path = "../support/mod.rs"]
mod support;

mod astart;
mod bbr;
mod careful;
mod enhanced;
mod hoe;
mod hystartpp;
mod rapid;
mod search;
mod slow_start;
mod suss;
mod vegas;
mod vegas_lin;

use proptest::prelude::*;
use rampcc::{AckFlags, Phase, Startup};
use support::events::{Host, Input, plausible_acks, runner};
use support::{MSS, config, row};

/// An ACK as an RFC speaks of it.
pub(crate) struct Seen {
    /// When its newest packet left: a whole number.
    pub(crate) sent_ns: f64,
    /// Packets newly acknowledged.
    pub(crate) acked: f64,
    /// Packets sent so far, before what this ACK releases: SND.NXT.
    pub(crate) next: f64,
    /// Packets sent when the newest acknowledged one had left: SND.UNA.
    pub(crate) una: f64,
    /// Whole microseconds.
    pub(crate) rtt_us: Option<f64>,
    pub(crate) window_full: bool,
    /// A whole number.
    pub(crate) now_ns: f64,
    /// The newest packet left when there was nothing more to send.
    pub(crate) app_limited: bool,
    /// The rate sample holds a pause of the application.
    pub(crate) rate_app_limited: bool,
    /// Packets in flight before it.
    pub(crate) in_flight: f64,
}

/// What both say.
pub(crate) struct Says {
    pub(crate) cwnd: f64,
    pub(crate) phase: Phase,
    /// The decision hung on less than a byte or a thousandth of a packet: what follows may differ.
    pub(crate) undecided: bool,
}

pub(crate) trait Oracle {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self;
    /// The round trip of the SYN, if it was measured.
    fn on_handshake(&mut self, _rtt_us: f64) {}
    fn on_ack(&mut self, seen: &Seen) -> Says;
}

/// Compare them over random connections; returns how many ACKs were compared in each phase.
pub(crate) fn compare<O: Oracle>(id: &str) -> [u32; 3] {
    let algorithm = row(id);
    let compared = std::cell::RefCell::new([0_u32; 3]);
    let start = (1..20_u32, prop_oneof![2 => Just(None), 1 => (20..200_u32).prop_map(Some)], 0..3_u32);
    let handshake = prop_oneof![1 => Just(0), 3 => 20_000..22_000_u32];
    runner(300)
        .run(&(start, handshake, plausible_acks()), |((window, ssthresh, limit), handshake, steps)| {
            let mut config = config(algorithm, u64::from(window));
            config.abc_limit_packets = limit;
            config.handshake_rtt_us = handshake;
            if let Some(ssthresh) = ssthresh {
                config.initial_ssthresh_bytes = u64::from(ssthresh * MSS);
            }
            let limit = if limit == 0 { f64::INFINITY } else { f64::from(limit) };
            let mut oracle = O::new(f64::from(window), ssthresh.map_or(f64::INFINITY, f64::from), limit);
            if handshake > 0 {
                oracle.on_handshake(f64::from(handshake));
            }
            let mut startup = Startup::new(algorithm, &config);
            let mut host = Host::default();
            for step in &steps {
                let Input::Ack(ack) = host.event(step, startup.decision()) else { continue };
                let mss = f64::from(MSS);
                let says = oracle.on_ack(&Seen {
                    sent_ns: ack.newest_sent_ns as f64,
                    acked: ack.acked_bytes as f64 / mss,
                    next: ack.sent_bytes as f64 / mss,
                    una: ack.newest_acked_bytes as f64 / mss,
                    rtt_us: (ack.rtt_us > 0).then_some(f64::from(ack.rtt_us)),
                    window_full: ack.flags & AckFlags::CWND_LIMITED != 0,
                    now_ns: ack.now_ns as f64,
                    app_limited: ack.flags & AckFlags::APP_LIMITED != 0,
                    rate_app_limited: ack.flags & AckFlags::RATE_APP_LIMITED != 0,
                    in_flight: ack.in_flight_bytes as f64 / mss,
                });
                if says.undecided {
                    break;
                }
                let decision = *startup.on_ack(&ack);
                let cwnd = decision.cwnd_bytes as f64 / mss;
                // The core carries fractions of a byte; the decision shows whole ones.
                prop_assert!((cwnd - says.cwnd).abs() < 1.1 / mss, "core {cwnd}, oracle {}", says.cwnd);
                prop_assert_eq!(decision.phase(), says.phase);
                compared.borrow_mut()[match says.phase {
                    Phase::Startup => 0,
                    Phase::Conservative => 1,
                    _ => 2,
                }] += 1;
                if says.phase == Phase::Done {
                    break;
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{id}: {error}"));
    compared.into_inner()
}
