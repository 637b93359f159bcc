//! A plain controller for noq (classic slow start, then Reno) in which one known mistake can be made.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

const IW_PACKETS: u64 = 10;
const MIN_PACKETS: u64 = 2;

/// What it does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Nothing.
    None,
    /// Of all packets that an ACK acknowledges, the first alone lets the window grow.
    FirstOfABatch,
    /// A sender that its pacer holds back counts as one that has nothing to send.
    PacedIsIdle,
    /// Each report of congestion reduces the window, though several are of one event.
    EveryReport,
    /// The window grows though the application does not use it.
    GrowsUnused,
}

/// Makes them; each paces its window over a round trip if `paces`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) mistake: Mistake,
    pub(crate) paces: bool,
}

impl ControllerFactory for Plain {
    fn build(self: Arc<Self>, _: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mtu = current_mtu.into();
        Box::new(State {
            rules: *self,
            mtu,
            window: IW_PACKETS * mtu,
            ssthresh: u64::MAX,
            recovery: None,
            limited: false,
            batch: 0,
            in_flight: 0,
            most: 0,
            smoothed_ns: 0,
        })
    }
}

#[derive(Clone, Debug)]
struct State {
    rules: Plain,
    mtu: u64,
    window: u64,
    ssthresh: u64,
    /// When the recovery period began that lasts.
    recovery: Option<Instant>,
    /// The window alone held the sender back since the last ACK.
    limited: bool,
    /// Packets of the ACK that is taken in.
    batch: u32,
    in_flight: u64,
    /// Most that was in flight since the window last grew to twice as much.
    most: u64,
    smoothed_ns: u64,
}

impl State {
    fn grows(&self, sent: Instant) -> bool {
        let used = self.limited || self.window < 2 * self.most;
        let counts = match self.rules.mistake {
            Mistake::FirstOfABatch => used && self.batch == 1,
            Mistake::PacedIsIdle => self.limited,
            Mistake::GrowsUnused => true,
            Mistake::None | Mistake::EveryReport => used,
        };
        counts && self.recovery.is_none_or(|since| sent > since)
    }
}

impl Controller for State {
    fn on_packet_sent(&mut self, _: Instant, bytes: u16, _: u64) {
        self.in_flight += u64::from(bytes);
        self.most = self.most.max(self.in_flight);
    }

    fn on_cwnd_limited(&mut self) {
        self.limited = true;
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: u64, _: bool, rtt: &RttEstimator) {
        self.batch += 1;
        self.smoothed_ns = rtt.get().as_nanos() as u64;
        if self.grows(sent) {
            let slow_start = self.window < self.ssthresh;
            self.window += if slow_start { bytes } else { self.mtu * bytes / self.window };
        }
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.batch = 0;
        self.limited = false;
        self.in_flight = in_flight;
        if self.most * 4 < self.window {
            self.most = self.in_flight;
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        _: bool,
        lost: u64,
        _: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost);
        let known = self.recovery.is_some_and(|since| sent <= since);
        if known && self.rules.mistake != Mistake::EveryReport {
            return;
        }
        self.recovery = Some(now);
        self.window = (self.window / 2).max(MIN_PACKETS * self.mtu);
        self.ssthresh = self.window;
        if persistent {
            self.window = MIN_PACKETS * self.mtu;
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window;
        if self.rules.paces && self.smoothed_ns > 0 {
            let rate = u128::from(self.window) * 1_000_000_000 / u128::from(self.smoothed_ns);
            metrics.pacing_rate = Some(u64::try_from(rate).unwrap_or(u64::MAX));
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        IW_PACKETS * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
