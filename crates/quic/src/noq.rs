//! The face for noq-proto, whose pacer obeys the rate that a controller reports.
//!
//! ```no_run
//! use std::sync::Arc;
//! use rampcc_quic::{Rules, noq::Factory};
//!
//! let rules = Rules::new("hystartpp").expect("a row of the registry");
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(Factory::new(rules).expect("noq meets its needs")));
//! ```

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{self, ControllerFactory, ControllerMetrics};
use rampcc::Time;

use crate::face::{self, Stack, Watched};
use crate::{Congestion, Connection, PacketId};

/// The stack.
#[derive(Clone, Copy, Debug)]
pub struct Noq;

impl Stack for Noq {
    const PACES: bool = true;
}

/// For [`noq_proto::TransportConfig::congestion_controller_factory`].
pub type Factory = face::Factory<Noq>;

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let inner = self.watched(now, current_mtu);
        Box::new(Controller { inner, last: Time::ZERO })
    }
}

/// A start-up algorithm and what follows it, on one path.
#[derive(Debug)]
pub struct Controller {
    inner: Watched,
    /// noq does not say when a loss has turned out to be none; the ACK that showed it has just come.
    last: Time,
}

impl Controller {
    /// The state of the connection: window, exit, counts.
    pub fn connection(&self) -> &Connection {
        &self.inner.connection
    }
}

impl congestion::Controller for Controller {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        let now = self.inner.clock.time(now);
        self.last = now;
        self.inner.connection.on_packet_sent(now, PacketId { sent: now, number }, bytes.into());
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.connection.on_window_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, _: bool, _: &RttEstimator) {
        self.last = self.inner.clock.time(now);
        self.inner.connection.on_packet_acked(PacketId { sent: self.inner.clock.time(sent), number }, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        let now = self.inner.clock.time(now);
        self.last = now;
        if app_limited {
            self.inner.connection.on_app_limited();
        }
        self.inner.connection.on_ack_end(now, in_flight);
        self.inner.show(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _: u64,
    ) {
        let kind = match (is_persistent_congestion, is_ecn) {
            (true, _) => Congestion::Persistent,
            (false, true) => Congestion::Mark,
            (false, false) => Congestion::Loss,
        };
        let now = self.inner.clock.time(now);
        self.last = now;
        self.inner.connection.on_congestion(now, kind, self.inner.clock.time(sent), lost_bytes);
        self.inner.show(now);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, _: Instant) {
        self.inner.connection.on_packet_lost(number, lost_bytes.into());
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.connection.on_spurious_congestion(self.last);
        self.inner.show(self.last);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.connection.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.connection.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.inner.connection.window_bytes();
        metrics.ssthresh = self.inner.connection.ssthresh_bytes();
        metrics.pacing_rate = self.inner.connection.pacing_bytes_per_s();
        metrics
    }

    /// For the same peer at another port.
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Self { inner: self.inner.rebound(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.inner.connection.initial_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
