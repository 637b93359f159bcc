//! Privileges of this process, and giving them up.

use caps::{CapSet, Capability, CapsHashSet};

pub use rampcc_system::capabilities::has;

use crate::error::{HostError, Result};

/// Capabilities that loading and attaching need.
pub const NEEDED: [Capability; 3] = [Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_PERFMON];

/// The capabilities of [`NEEDED`] that the calling thread does not hold.
pub fn missing() -> Vec<Capability> {
    NEEDED.into_iter().filter(|capability| !has(*capability)).collect()
}

/// Gives up every capability but these, for good: of the calling thread and those it starts.
///
/// A command that goes on after loading calls this before it starts threads. Maps and links that are open stay usable.
pub fn keep_only(kept: &[Capability]) -> Result {
    let kept: CapsHashSet = kept.iter().copied().filter(|capability| has_own(*capability)).collect();
    caps::clear(None, CapSet::Ambient)
        .and_then(|()| caps::set(None, CapSet::Effective, &kept))
        .and_then(|()| caps::set(None, CapSet::Permitted, &kept))
        .and_then(|()| caps::set(None, CapSet::Inheritable, &CapsHashSet::new()))
        .map_err(|error| HostError::system("give up capabilities")(std::io::Error::other(error)))
}

fn has_own(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Permitted, capability).unwrap_or(false)
}
