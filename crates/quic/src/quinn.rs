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

use crate::face::Clock;
use crate::{Congestion, Connection, Observer, PacketId, RefusedRow, Rules, Spacing};

/// Makes a controller for each path; for [`quinn_proto::TransportConfig::congestion_controller_factory`].
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
    /// If the algorithm needs what quinn does not have, such as a rate of its own.
    pub fn new(mut rules: Rules) -> Result<Self, RefusedRow> {
        rules.spacing = Spacing::Stack;
        match Rules::unmet(rules.algorithm, false) {
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
        Box::new(Controller {
            connection: Connection::new(&self.rules, current_mtu),
            clock: Clock::new(self.epoch, now),
            mtu: current_mtu.into(),
            observer: self.observer.clone(),
        })
    }
}

/// A start-up algorithm and what follows it, on one path.
#[derive(Clone, Debug)]
pub struct Controller {
    connection: Connection,
    clock: Clock,
    mtu: u64,
    observer: Option<Arc<dyn Observer>>,
}

impl Controller {
    /// The state of the connection: window, exit, counts.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    fn show(&self, now: Instant) {
        if let Some(observer) = &self.observer {
            observer.on_change(self.clock.time(now), &self.connection);
        }
    }
}

impl congestion::Controller for Controller {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let sent = self.clock.time(now);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.connection.on_packet_sent(sent, PacketId { sent, number: last_packet_number }, bytes);
        // quinn does not say what kept it from sending; a window without room for a packet does.
        if self.connection.in_flight_bytes() + self.mtu > self.connection.window_bytes() {
            self.connection.on_window_limited();
        }
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.connection.on_part_acked(self.clock.time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        if app_limited {
            self.connection.on_app_limited();
        }
        self.connection.on_ack_end(self.clock.time(now), in_flight);
        self.show(now);
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
        self.connection.on_unnamed_loss(lost_bytes);
        self.connection.on_congestion(self.clock.time(now), kind, self.clock.time(sent), lost_bytes);
        self.show(now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        self.connection.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        // quinn stops at a window that would be exactly full.
        self.connection.window_bytes() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.connection.window_bytes();
        metrics.ssthresh = self.connection.ssthresh_bytes();
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
