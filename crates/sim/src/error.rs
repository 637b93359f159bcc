use ramp::Time;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The caller asked to stop.
    #[error("interrupted at {at} of simulated time")]
    Interrupted {
        /// How far the run had come.
        at: Time,
    },
    /// The topology does not connect two nodes that talk to each other.
    #[error("no route from node `{from}` to node `{to}`")]
    NoRoute {
        /// Where the route would begin.
        from: String,
        /// Where it would end.
        to: String,
    },
    /// More happens at one instant than any network does: an endpoint or a link asks to be woken again and again
    /// without moving on.
    #[error("time stands still at {at}: {what} is due again and again; this is a defect of ramp")]
    Stalled {
        /// Where time stopped.
        at: Time,
        /// Who is due.
        what: String,
    },
    /// Flow identifiers have 32 bits.
    #[error("more than {} flows in one run", u32::MAX)]
    TooManyFlows,
}
