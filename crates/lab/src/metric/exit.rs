//! Time and window at the exit from start-up.

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// The decision to leave start-up.
#[derive(Debug)]
pub(super) struct Exit;

/// When start-up ended.
pub const EXIT_TIME: Definition = Definition {
    id: "exit_time",
    name: "time at exit",
    unit: "s",
    meaning: "from the opening of a flow to its algorithm's decision to leave start-up",
    better: Better::Neither,
};

/// The window with which it ended, over the path.
pub const EXIT_WINDOW_BDP: Definition = Definition {
    id: "exit_window_bdp",
    name: "window at exit / BDP",
    unit: "BDP",
    meaning: "window at exit over the path's bandwidth-delay product: 1 fills the path, 1 plus the buffer fills path and queue",
    better: Better::Neither,
};

/// The same window in bytes.
pub(crate) const EXIT_WINDOW: Definition = Definition {
    id: "exit_window",
    name: "window at exit",
    unit: "bytes",
    meaning: "congestion window just after the decision to leave start-up",
    better: Better::Neither,
};

const DEFINITIONS: [Definition; 3] = [EXIT_TIME, EXIT_WINDOW, EXIT_WINDOW_BDP];

/// The same of programs, of which packets alone are seen: nothing else shows their window.
const ON_WIRE: [Definition; 2] = [
    Definition {
        name: "in flight at exit",
        meaning: "payload in flight on the wire when start-up seems to end; the window itself cannot be seen there",
        ..EXIT_WINDOW
    },
    Definition {
        name: "in flight at exit / BDP",
        meaning: "payload in flight on the wire when start-up seems to end, over the path's bandwidth-delay product; the window itself cannot be seen there",
        ..EXIT_WINDOW_BDP
    },
];

/// What a metric is of programs.
pub(crate) fn on_wire(definition: Definition) -> Definition {
    ON_WIRE.into_iter().find(|known| known.id == definition.id).unwrap_or(definition)
}

impl Metric for Exit {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let window = ledger.mean_of(|_, test| Some(test.exit.as_ref()?.cwnd_bytes as f64));
        vec![
            ledger.mean_of(|_, test| Some(test.exit.as_ref()?.time_s)),
            window,
            window.and_then(|bytes| ledger.context.over_bdp(bytes)),
        ]
    }
}
