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

use crate::face::Clock;
use crate::{Congestion, Connection, Observer, PacketId, RefusedRow, Rules};

/// Makes a controller for each path; for [`noq_proto::TransportConfig::congestion_controller_factory`].
#[derive(Clone, Debug)]
pub struct Factory {
    rules: Rules,
    observer: Option<Arc<dyn Observer>>,
    epoch: Option<Instant>,
}

impl Factory {
    /// For connections by these rules.
    ///
    /// # Errors
    ///
    /// If the algorithm needs what noq does not have.
    pub fn new(rules: Rules) -> Result<Self, RefusedRow> {
        match Rules::unmet(rules.algorithm, true) {
            Some(unmet) => Err(RefusedRow { algorithm: rules.algorithm.id, unmet }),
            None => Ok(Self { rules, observer: None, epoch: None }),
        }
    }

    /// The same with somebody who watches.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The same with times counted from here; otherwise each connection's begin a second before it.
    #[must_use]
    pub fn since(self, epoch: Instant) -> Self {
        Self { epoch: Some(epoch), ..self }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let clock = Clock::new(self.epoch, now);
        let connection = Connection::new(&self.rules, current_mtu);
        Box::new(Controller { connection, clock, last: Time::ZERO, observer: self.observer.clone() })
    }
}

/// A start-up algorithm and what follows it, on one path.
#[derive(Clone, Debug)]
pub struct Controller {
    connection: Connection,
    clock: Clock,
    /// noq does not say when a loss has turned out to be none; the ACK that showed it has just come.
    last: Time,
    observer: Option<Arc<dyn Observer>>,
}

impl Controller {
    /// The state of the connection: window, exit, counts.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    fn show(&self, now: Time) {
        if let Some(observer) = &self.observer {
            observer.on_change(now, &self.connection);
        }
    }
}

impl congestion::Controller for Controller {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        let now = self.clock.time(now);
        self.last = now;
        self.connection.on_packet_sent(now, PacketId { sent: now, number }, bytes.into());
    }

    fn on_cwnd_limited(&mut self) {
        self.connection.on_window_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, _: bool, _: &RttEstimator) {
        self.last = self.clock.time(now);
        self.connection.on_packet_acked(PacketId { sent: self.clock.time(sent), number }, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        let now = self.clock.time(now);
        self.last = now;
        if app_limited {
            self.connection.on_app_limited();
        }
        self.connection.on_ack_end(now, in_flight);
        self.show(now);
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
        let now = self.clock.time(now);
        self.last = now;
        self.connection.on_congestion(now, kind, self.clock.time(sent), lost_bytes);
        self.show(now);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, _: Instant) {
        self.connection.on_packet_lost(number, lost_bytes.into());
    }

    fn on_spurious_congestion_event(&mut self) {
        self.connection.on_spurious_congestion(self.last);
        self.show(self.last);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.connection.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.connection.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.connection.window_bytes();
        metrics.ssthresh = self.connection.ssthresh_bytes();
        metrics.pacing_rate = self.connection.pacing_bytes_per_s();
        metrics
    }

    /// For the same peer at another port.
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        let mut clone = self.clone();
        clone.connection.on_rebinding();
        Box::new(clone)
    }

    fn initial_window(&self) -> u64 {
        self.connection.initial_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
