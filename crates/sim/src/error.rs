use rampcc::Time;

/// Half a gigabyte; 100 Gbit/s over 500 ms.
pub(crate) const PACKETS_PER_LINK_MAX: usize = 1 << 22;

/// Error that leaves a run without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The caller asked to stop.
    #[error("interrupted at {at} of simulated time")]
    Interrupted {
        /// Time that the run had reached.
        at: Time,
    },
    /// The topology does not connect two nodes that talk to each other.
    #[error("no route from node `{from}` to node `{to}`")]
    NoRoute {
        /// Beginning of the route.
        from: String,
        /// End of the route.
        to: String,
    },
    /// More happens at one instant than in any network.
    #[error(
        "time stands still at {at}: {what} is due again and again; is there a path without delay and limit?"
    )]
    Stalled {
        /// Time that did not advance.
        at: Time,
        /// Source that is due.
        what: String,
    },
    /// So much is under way on a link that memory would run out.
    #[error(
        "more than {} packets on link `{link}` at {at}; limit its rate or its delay, or the window",
        PACKETS_PER_LINK_MAX
    )]
    Overfull {
        /// Link.
        link: String,
        /// Time.
        at: Time,
    },
    /// Flow identifiers have 32 bits.
    #[error("more than {} flows in one run", u32::MAX)]
    TooManyFlows,
}
