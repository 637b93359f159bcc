//! The face for quinn-proto, which asks a controller for a window alone.
//!
//! quinn spaces packets by a rule of its own, 5/4 of the window in a round trip, and reports what is sent by transmit, which with
//! segmentation offload is several packets: they are taken to be acknowledged in order. It does not report marks as
//! such, nor losses that turned out to be none.
//!
//! ```no_run
//! use std::sync::Arc;
//! use rampcc_quic::{Rules, quinn::Factory};
//!
//! let rules = Rules::new("hystartpp").expect("a row of the registry");
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(Factory::new(rules).expect("quinn meets its needs")));
//! ```

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerFactory, ControllerMetrics};

use crate::face::{self, Stack, Watched};
use crate::{Congestion, Connection, PacketId};

/// The stack.
#[derive(Clone, Copy, Debug)]
pub struct Quinn;

impl Stack for Quinn {
    const PACES: bool = false;
}

/// For [`quinn_proto::TransportConfig::congestion_controller_factory`].
pub type Factory = face::Factory<Quinn>;

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let inner = self.watched(now, current_mtu);
        Box::new(Controller { inner, mtu: current_mtu.into() })
    }
}

/// A start-up algorithm and what follows it, on one path.
#[derive(Debug)]
pub struct Controller {
    inner: Watched,
    mtu: u64,
}

impl Controller {
    /// The state of the connection: window, exit, counts.
    pub fn connection(&self) -> &Connection {
        &self.inner.connection
    }
}

impl congestion::Controller for Controller {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let sent = self.inner.clock.time(now);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.inner.connection.on_packet_sent(sent, PacketId { sent, number: last_packet_number }, bytes);
        // quinn does not say what kept it from sending; a window without room for a packet does.
        if self.inner.connection.in_flight_bytes() + self.mtu > self.inner.connection.window_bytes() {
            self.inner.connection.on_window_limited();
        }
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.inner.connection.on_part_acked(self.inner.clock.time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        if app_limited {
            self.inner.connection.on_app_limited();
        }
        self.inner.connection.on_ack_end(self.inner.clock.time(now), in_flight);
        self.inner.show(self.inner.clock.time(now));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let kind = match (is_persistent_congestion, lost_bytes) {
            (true, _) => Congestion::Persistent,
            (false, 0) => Congestion::Mark,
            (false, _) => Congestion::Loss,
        };
        self.inner.connection.on_unnamed_loss(lost_bytes);
        self.inner.connection.on_congestion(
            self.inner.clock.time(now),
            kind,
            self.inner.clock.time(sent),
            lost_bytes,
        );
        self.inner.show(self.inner.clock.time(now));
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        self.inner.connection.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        // quinn stops at a window that would be exactly full.
        self.inner.connection.window_bytes() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.inner.connection.window_bytes();
        metrics.ssthresh = self.inner.connection.ssthresh_bytes();
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
