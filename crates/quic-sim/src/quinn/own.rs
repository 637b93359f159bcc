//! quinn's own congestion controllers, and those that a caller brings, watched from outside.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use rampcc::Traits;
use rampcc_backend::Control;
use rampcc_quic::Congestion;

use super::{Controllers, NAME};
use crate::onlooker::{Onlooker, Report, Windows};
use crate::seen::Watch;
use crate::wishes::Wishes;

pub(crate) const CUBIC: Control = Control {
    name: "quinn_cubic",
    owner: "quinn",
    backend: NAME,
    meaning: "quinn-proto's CUBIC: classic slow start until the first loss, paced at 5/4 of the window in a round trip",
    simulated_by: Some(Traits::STANDARD),
    like: None,
    definition: "",
};

pub(crate) const NEWRENO: Control = Control {
    name: "quinn_newreno",
    meaning: "quinn-proto's NewReno: as quinn_cubic, with Reno after the first loss",
    ..CUBIC
};

/// Makes watched controllers.
pub(crate) struct Watched {
    inner: Controllers,
    onlooker: Onlooker,
}

impl Watched {
    pub(crate) fn cubic(wishes: &Wishes, watch: &Watch) -> Controllers {
        let mut config = CubicConfig::default();
        config.initial_window(wishes.initial_window_bytes);
        Self::of(Arc::new(config), wishes, watch)
    }

    pub(crate) fn newreno(wishes: &Wishes, watch: &Watch) -> Controllers {
        let mut config = NewRenoConfig::default();
        config.initial_window(wishes.initial_window_bytes);
        Self::of(Arc::new(config), wishes, watch)
    }

    pub(crate) fn of(inner: Controllers, wishes: &Wishes, watch: &Watch) -> Controllers {
        Arc::new(Self { inner, onlooker: Onlooker::new(watch.clone(), wishes.base) })
    }
}

impl ControllerFactory for Watched {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Seen { inner, onlooker: self.onlooker.clone() })
    }
}

/// A controller with an observer.
struct Seen {
    inner: Box<dyn Controller>,
    onlooker: Onlooker,
}

impl Seen {
    fn windows(&self) -> Windows {
        // quinn takes no rate from a controller.
        let (window, ssthresh) = (self.inner.window(), self.inner.metrics().ssthresh);
        Windows { window, ssthresh, pacing_bytes_per_s: None }
    }
}

impl Controller for Seen {
    fn on_sent(&mut self, now: Instant, bytes: u64, newest: u64) {
        self.onlooker.on_sent(bytes);
        self.inner.on_sent(now, bytes, newest);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.onlooker.on_acked(sent, bytes, rtt.get(), rtt.min());
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let windows = self.windows();
        self.onlooker.on_ack_end(now, in_flight, windows);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, is_persistent, lost_bytes);
        let kind = match (is_persistent, lost_bytes) {
            (true, _) => Congestion::Persistent,
            (false, 0) => Congestion::Mark,
            (false, _) => Congestion::Loss,
        };
        let windows = self.windows();
        self.onlooker.on_congestion(&Report { now, sent, kind, lost_bytes, before }, windows);
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
        Box::new(Self { inner: self.inner.clone_box(), onlooker: self.onlooker.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
