//! What is measured of a run: a metric of every comparison, or a quantity of its flows and bins.

use std::ops::Range;

use rampcc_lab::{Definition, definitions, metric};

use crate::file::{Take, Whose};

/// A quantity of flows or bins, beside the metrics of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    FlowGoodput,
    FlowTime,
    FlowSize,
    FlowLost,
    FlowStartupLost,
    FlowTimeouts,
    FlowExitTime,
    FlowExitWindow,
    FlowLeft,
    Throughput,
    Window,
    Rtt,
    Queue,
    ZeroTime,
    Convergence,
    RttCorrelation,
    AckBandwidth,
}

/// Identifier, unit, title and meaning of each.
pub(crate) const OWN: [(Own, &str, &str, &str, &str); 17] = [
    (
        Own::FlowGoodput,
        "flow_goodput",
        "Mbit/s",
        "throughput of a flow",
        "payload in order at the receiver over the flow's time",
    ),
    (
        Own::FlowTime,
        "flow_time",
        "s",
        "time of a flow",
        "from the opening to the last byte; flows without end have none",
    ),
    (Own::FlowSize, "flow_size", "bytes", "size of a flow", "payload to send"),
    (Own::FlowLost, "flow_lost", "packets", "packets lost by a flow", "data packets that links dropped"),
    (
        Own::FlowStartupLost,
        "flow_startup_lost",
        "packets",
        "packets lost by a flow in start-up",
        "data packets dropped before it left",
    ),
    (
        Own::FlowTimeouts,
        "flow_timeouts",
        "count",
        "timeouts of a flow",
        "expiries of the retransmission timer",
    ),
    (
        Own::FlowExitTime,
        "flow_exit_time",
        "s",
        "a flow's time at exit",
        "from the opening to the decision to leave start-up",
    ),
    (
        Own::FlowExitWindow,
        "flow_exit_window",
        "packets",
        "a flow's window at exit",
        "in full segments, just after the decision",
    ),
    (
        Own::FlowLeft,
        "flow_left",
        "share",
        "flows that left start-up",
        "1 for a flow that has left start-up for one of the reasons in `left`, 0 for another",
    ),
    (
        Own::Throughput,
        "throughput",
        "Mbit/s",
        "throughput",
        "payload in order at the receiver in a bin over its width",
    ),
    (Own::Window, "cwnd", "packets", "window", "congestion window in full segments at the end of a bin"),
    (Own::Rtt, "rtt", "ms", "round-trip time", "mean of the ACKs of a bin"),
    (Own::Queue, "queue", "bytes", "queue", "most that waited at the bottleneck in a bin"),
    (
        Own::ZeroTime,
        "zero_time",
        "s",
        "time without throughput",
        "bins of one second with less than 1 % of the path's rate, after the first that had more",
    ),
    (
        Own::Convergence,
        "convergence_time",
        "s",
        "time to converge",
        "from the opening of the second flow until it has 80 % of the first one's throughput in three seconds in a row; the rest of the run if it never does",
    ),
    (
        Own::RttCorrelation,
        "rtt_correlation",
        "",
        "correlation of round-trip time and throughput",
        "Spearman's, of the first flow's bins with ACKs",
    ),
    (
        Own::AckBandwidth,
        "ack_bandwidth",
        "Mbit/s",
        "bandwidth of an ACK",
        "what an ACK of the first flow delivers over the time since the one before it, in one `round` trip",
    ),
];

/// Where the numbers of a metric come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// One number a run.
    Lab(Definition),
    /// Goodput or utilisation of the flows under test together in a window of time.
    Windowed(Definition),
    Own(Own),
}

/// A metric of an experiment, checked.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) quantity: Quantity,
    pub(crate) window: Option<(f64, f64)>,
    /// Where the window stands in the file.
    pub(crate) window_place: Range<usize>,
    /// Round trip, from 0: of single ACKs.
    pub(crate) round: Option<usize>,
    /// From 0.
    pub(crate) flow: Option<usize>,
    pub(crate) whose: Whose,
    pub(crate) size: Option<Range<u64>>,
    pub(crate) opened: Option<(f64, f64)>,
    pub(crate) left: Vec<String>,
    pub(crate) take: Take,
    pub(crate) over: Take,
    pub(crate) title: String,
    pub(crate) unit: String,
    pub(crate) scale: f64,
}

impl Quantity {
    /// Names of all, in the order of reports.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        let lab: Vec<&'static str> = definitions().iter().map(|definition| definition.id).collect();
        lab.into_iter().chain(OWN.iter().map(|(_, name, ..)| *name))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let own = OWN.iter().find(|(_, known, ..)| *known == name).map(|(own, ..)| Self::Own(*own));
        own.or_else(|| definitions().into_iter().find(|known| known.id == name).map(Self::Lab))
    }

    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => definition.name,
            Self::Own(own) => OWN.iter().find(|(known, ..)| known == own).map_or("", |row| row.3),
        }
    }

    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => definition.unit,
            Self::Own(own) => OWN.iter().find(|(known, ..)| known == own).map_or("", |row| row.2),
        }
    }

    /// Whether a window of time makes sense of it.
    pub(crate) fn takes_window(&self) -> bool {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => {
                [metric::GOODPUT, metric::UTILISATION].contains(definition)
            }
            Self::Own(own) => {
                matches!(
                    own,
                    Own::Throughput
                        | Own::Window
                        | Own::Rtt
                        | Own::Queue
                        | Own::ZeroTime
                        | Own::RttCorrelation
                )
            }
        }
    }

    /// Whether it is of flows, and some of them may be chosen by their size and the time of their opening.
    pub(crate) fn is_of_flows(&self) -> bool {
        use Own::{
            FlowExitTime, FlowExitWindow, FlowGoodput, FlowLeft, FlowLost, FlowSize, FlowStartupLost,
            FlowTime, FlowTimeouts,
        };
        matches!(
            self,
            Self::Own(
                FlowGoodput
                    | FlowTime
                    | FlowSize
                    | FlowLost
                    | FlowStartupLost
                    | FlowTimeouts
                    | FlowExitTime
                    | FlowExitWindow
                    | FlowLeft
            )
        )
    }

    /// Whether it can be of flows other than those under test.
    pub(crate) fn takes_whose(&self) -> bool {
        self.is_of_flows()
            || matches!(
                self,
                Self::Windowed(_) | Self::Own(Own::Throughput | Own::Window | Own::Rtt | Own::ZeroTime)
            )
    }

    /// Whether it is of a single flow.
    pub(crate) fn takes_flow(&self) -> bool {
        !matches!(
            self,
            Self::Lab(_) | Self::Own(Own::Queue | Own::Convergence | Own::RttCorrelation | Own::AckBandwidth)
        )
    }
}
