//! noq's own congestion controllers as rows, watched from outside.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use rampcc::{ExitReason, Time, Traits, UNSET};
use rampcc_backend::Control;
use rampcc_quic::Exit;

use crate::backend::NAME;
use crate::seen::{Watch, phase, state};

/// The rows.
pub(crate) static CONTROLS: &[Control] = &[
    Control {
        name: "noq_cubic",
        owner: "noq",
        backend: NAME,
        meaning: "noq-proto's CUBIC: classic slow start until the first loss, paced at 5/4 of the window in a round trip",
        simulated_by: Some(Traits::STANDARD),
        like: None,
        definition: "",
    },
    Control {
        name: "noq_newreno",
        owner: "noq",
        backend: NAME,
        meaning: "noq-proto's NewReno: as noq_cubic, with Reno after the first loss",
        simulated_by: Some(Traits::STANDARD),
        like: None,
        definition: "",
    },
];

/// Makes one of noq's own controllers, watched.
pub(crate) struct Own {
    pub(crate) name: &'static str,
    pub(crate) watch: Watch,
    pub(crate) base: Instant,
    pub(crate) initial_window_bytes: u64,
}

impl ControllerFactory for Own {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = if self.name == "noq_newreno" {
            let mut config = NewRenoConfig::default();
            config.initial_window(self.initial_window_bytes);
            Arc::new(config).build(now, current_mtu)
        } else {
            let mut config = CubicConfig::default();
            config.initial_window(self.initial_window_bytes);
            Arc::new(config).build(now, current_mtu)
        };
        Box::new(Watched {
            inner,
            watch: self.watch.clone(),
            base: self.base,
            newest_sent: None,
            recovery: None,
        })
    }
}

/// A controller that somebody watches.
#[derive(Debug)]
struct Watched {
    inner: Box<dyn Controller>,
    watch: Watch,
    base: Instant,
    /// Of the ACK that is being taken in: when its newest packet had left.
    newest_sent: Option<Instant>,
    /// When the recovery period began that lasts.
    recovery: Option<Instant>,
}

impl Watched {
    fn time(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.base).as_nanos();
        Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
    }

    fn show_window(&self) {
        let metrics = self.inner.metrics();
        self.watch.update(|seen| {
            seen.sample.cwnd_bytes = self.inner.window();
            seen.sample.ssthresh_bytes = metrics.ssthresh.unwrap_or(UNSET);
            seen.sample.phase = phase(seen.exit.is_some());
            seen.sample.state = state(self.recovery.is_some());
        });
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, newest: u64) {
        self.inner.on_sent(now, bytes, newest);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.watch.update(|seen| {
            seen.sample.sent_bytes += u64::from(bytes);
            seen.sample.in_flight_bytes += u64::from(bytes);
        });
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.newest_sent = self.newest_sent.max(Some(sent));
        let (smoothed, min) = (rtt.get(), rtt.min());
        let time = |duration: std::time::Duration| Time::from_ns(duration.as_nanos() as u64);
        self.watch.update(|seen| {
            seen.sample.delivered_bytes += bytes;
            seen.sample.smoothed_rtt = time(smoothed);
            seen.sample.min_rtt = time(min);
        });
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let at = self.time(now);
        let rtt = self.newest_sent.take().map_or(Time::ZERO, |sent| at - self.time(sent));
        let over = self.recovery.is_some_and(|began| at - rtt > self.time(began));
        if over {
            self.recovery = None;
        }
        self.watch.update(|seen| {
            seen.sample.now = at;
            seen.sample.rtt = rtt;
            seen.sample.in_flight_bytes = in_flight;
            seen.counts.acks += 1;
            seen.counts.recovered += u64::from(over);
        });
        self.show_window();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        newest_lost: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, is_ecn, lost_bytes, newest_lost);
        let window = self.inner.window();
        let reduced = window < before;
        if reduced {
            self.recovery = Some(now);
        }
        let reason = match (is_persistent_congestion, is_ecn) {
            (true, _) => ExitReason::Timeout,
            (false, true) => ExitReason::Ecn,
            (false, false) => ExitReason::Loss,
        };
        let (at, deciding_sent) = (self.time(now), self.time(sent));
        self.watch.update(|seen| {
            seen.sample.now = at;
            seen.sample.lost_bytes += lost_bytes;
            seen.sample.retransmitted_bytes += lost_bytes;
            seen.counts.reductions += u64::from(reduced);
            seen.counts.persistent += u64::from(reduced && is_persistent_congestion);
            seen.counts.repeated += u64::from(!reduced);
            // Classic slow start ends with its first reduction, at the window that met it.
            seen.exit.get_or_insert(Exit {
                at,
                reason,
                evidence: lost_bytes,
                limit: 0,
                window_bytes: before,
                deciding_sent,
            });
        });
        self.show_window();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
        self.watch.update(|seen| seen.counts.undone += 1);
        self.show_window();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let Self { watch, base, newest_sent, recovery, .. } = self;
        Box::new(Self {
            inner: self.inner.clone_box(),
            watch: watch.clone(),
            base: *base,
            newest_sent: *newest_sent,
            recovery: *recovery,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
