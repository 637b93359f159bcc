//! What is measured of a run: a metric of every comparison, or a quantity of its flows and bins.

use std::ops::Range;

use rampcc_lab::flows::{FlowRow, Flows};
use rampcc_lab::{Context, Definition, definitions, metric};

use crate::file::{Take, Whose};
use crate::measure::{Measured, convergence, rtt_correlation, until_end, zero_time};

/// A quantity of flows or bins, besides the metrics of the lab. It needs a run whose flows are kept.
#[derive(Debug)]
pub struct Own {
    /// Identifier in files.
    pub id: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// For people.
    pub name: &'static str,
    /// One line.
    pub meaning: &'static str,
    pub(crate) of: Of,
}

/// What a quantity has values of.
#[derive(Debug)]
pub(crate) enum Of {
    /// Each flow.
    Flow(fn(&FlowRow, &Flows) -> Option<f64>),
    /// Each flow: whether it left start-up for one of the reasons that the metric names.
    Left,
    /// Each bin.
    Bin(Column),
    /// The run, from its bins.
    Run {
        value: fn(&Metric, &Measured, &Context) -> Option<f64>,
        /// Whether a window of time makes sense of it.
        window: bool,
        /// Whether it can be of other flows than those that it is of.
        flows: bool,
    },
    /// Each ACK of a round trip.
    Ack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Throughput,
    Sequence,
    Window,
    Threshold,
    Rtt,
    Queue,
}

/// All of them, in the order of lists.
pub static OWN: [Own; 19] = [
    Own {
        id: "flow_goodput",
        unit: "Mbit/s",
        name: "throughput of a flow",
        meaning: "payload in order at the receiver over the flow's time",
        of: Of::Flow(|flow, flows| {
            let until = until_end(flow, flows).filter(|until| *until > 0.0)?;
            Some(flow.received_bytes as f64 * 8e-6 / until)
        }),
    },
    Own {
        id: "flow_time",
        unit: "s",
        name: "time of a flow",
        meaning: "from the opening to the last byte; flows without end have none",
        of: Of::Flow(|flow, _| Some(flow.completed_s? - flow.opened_s)),
    },
    Own {
        id: "flow_size",
        unit: "bytes",
        name: "size of a flow",
        meaning: "payload to send",
        of: Of::Flow(|flow, _| Some(flow.size_bytes? as f64)),
    },
    Own {
        id: "flow_lost",
        unit: "packets",
        name: "packets lost by a flow",
        meaning: "data packets that links dropped",
        of: Of::Flow(|flow, _| Some(f64::from(flow.lost_packets))),
    },
    Own {
        id: "flow_startup_lost",
        unit: "packets",
        name: "packets lost by a flow in start-up",
        meaning: "data packets dropped before it left",
        of: Of::Flow(|flow, _| Some(f64::from(flow.lost_in_startup))),
    },
    Own {
        id: "flow_timeouts",
        unit: "count",
        name: "timeouts of a flow",
        meaning: "expiries of the retransmission timer",
        of: Of::Flow(|flow, _| Some(f64::from(flow.timeouts))),
    },
    Own {
        id: "flow_exit_time",
        unit: "s",
        name: "a flow's time at exit",
        meaning: "from the opening to the decision to leave start-up",
        of: Of::Flow(|flow, _| Some(flow.exit.as_ref()?.time_s)),
    },
    Own {
        id: "flow_exit_window",
        unit: "packets",
        name: "a flow's window at exit",
        meaning: "in full segments, just after the decision",
        of: Of::Flow(|flow, flows| {
            Some(flow.exit.as_ref()?.window_bytes as f64 / f64::from(flows.mss_bytes.max(1)))
        }),
    },
    Own {
        id: "flow_left",
        unit: "share",
        name: "flows that left start-up",
        meaning: "1 for a flow that has left start-up for one of the reasons in `left`, 0 for another",
        of: Of::Left,
    },
    Own {
        id: "throughput",
        unit: "Mbit/s",
        name: "throughput",
        meaning: "payload in order at the receiver in a bin over its width",
        of: Of::Bin(Column::Throughput),
    },
    Own {
        id: "sequence",
        unit: "packets",
        name: "sequence number",
        meaning: "full segments in order at the receiver at the end of a bin",
        of: Of::Bin(Column::Sequence),
    },
    Own {
        id: "cwnd",
        unit: "packets",
        name: "window",
        meaning: "congestion window in full segments at the end of a bin",
        of: Of::Bin(Column::Window),
    },
    Own {
        id: "ssthresh",
        unit: "packets",
        name: "threshold",
        meaning: "slow-start threshold in full segments at the end of a bin; none while it is infinite",
        of: Of::Bin(Column::Threshold),
    },
    Own {
        id: "rtt",
        unit: "ms",
        name: "round-trip time",
        meaning: "mean of the ACKs of a bin",
        of: Of::Bin(Column::Rtt),
    },
    Own {
        id: "queue",
        unit: "bytes",
        name: "queue",
        meaning: "most that waited at the bottleneck in a bin",
        of: Of::Bin(Column::Queue),
    },
    Own {
        id: "zero_time",
        unit: "s",
        name: "time without throughput",
        meaning: "bins of one second with less than 1 % of the path's rate, or the share `below`, after the first that had more",
        of: Of::Run { value: zero_time, window: true, flows: true },
    },
    Own {
        id: "convergence_time",
        unit: "s",
        name: "time to converge",
        meaning: "from the opening of the second flow until it has 80 % of the first one's throughput in three seconds in a row; the rest of the run if it never does",
        of: Of::Run { value: convergence, window: false, flows: false },
    },
    Own {
        id: "rtt_correlation",
        unit: "",
        name: "correlation of round-trip time and throughput",
        meaning: "Spearman's, of the first flow's bins with ACKs",
        of: Of::Run { value: rtt_correlation, window: true, flows: false },
    },
    Own {
        id: "ack_bandwidth",
        unit: "Mbit/s",
        name: "bandwidth of an ACK",
        meaning: "what an ACK of the first flow delivers over the time since the one before it, in one `round` trip",
        of: Of::Ack,
    },
];

/// Where the numbers of a metric come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantity {
    /// One number a run.
    Lab(Definition),
    /// Goodput or utilisation of flows together in a window of time.
    Windowed(Definition),
    Own(&'static Own),
}

/// A metric of an experiment, checked.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) quantity: Quantity,
    pub(crate) window: Option<(f64, f64)>,
    /// Share of the path's rate below which a second counts as one without throughput.
    pub(crate) below: f64,
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
        lab.into_iter().chain(OWN.iter().map(|own| own.id))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let own = OWN.iter().find(|own| own.id == name).map(Self::Own);
        own.or_else(|| definitions().into_iter().find(|known| known.id == name).map(Self::Lab))
    }

    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => definition.name,
            Self::Own(own) => own.name,
        }
    }

    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => definition.unit,
            Self::Own(own) => own.unit,
        }
    }

    fn own(&self) -> Option<&'static Of> {
        if let Self::Own(own) = self { Some(&own.of) } else { None }
    }

    pub(crate) fn column(&self) -> Option<Column> {
        if let Some(Of::Bin(column)) = self.own() { Some(*column) } else { None }
    }

    pub(crate) fn is_of_acks(&self) -> bool {
        matches!(self.own(), Some(Of::Ack))
    }

    /// Whether it is about why a flow left.
    pub(crate) fn is_of_exits(&self) -> bool {
        matches!(self.own(), Some(Of::Left))
    }

    /// Whether a window of time makes sense of it.
    pub(crate) fn takes_window(&self) -> bool {
        match self {
            Self::Lab(definition) | Self::Windowed(definition) => {
                [metric::GOODPUT, metric::UTILISATION].contains(definition)
            }
            Self::Own(own) => matches!(own.of, Of::Bin(_) | Of::Run { window: true, .. }),
        }
    }

    /// Whether it is of flows, and some of them may be chosen by their size and the time of their opening.
    pub(crate) fn is_of_flows(&self) -> bool {
        matches!(self.own(), Some(Of::Flow(_) | Of::Left))
    }

    /// Whether it can be of a single flow, and of flows other than those under test.
    pub(crate) fn takes_flows(&self) -> bool {
        match self {
            Self::Lab(_) => false,
            Self::Windowed(_) => true,
            Self::Own(own) => match own.of {
                Of::Flow(_) | Of::Left => true,
                Of::Bin(column) => column != Column::Queue,
                Of::Run { flows, .. } => flows,
                Of::Ack => false,
            },
        }
    }
}
