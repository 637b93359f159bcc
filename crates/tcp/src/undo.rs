//! What a reduction took, to give it back if it turns out to be needless.

use rampcc::Time;
use rampcc_avoidance::Avoid;

/// What the last reduction took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// Whether there is something to undo.
    pub(crate) armed: bool,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) avoid: Option<Box<Avoid>>,
    pub(crate) first_retransmission: Time,
    /// Retransmissions not yet reported as duplicates.
    pub(crate) unexplained: u64,
}
