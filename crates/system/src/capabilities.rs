//! Capabilities of the calling thread.

pub use caps::Capability;
use caps::{CapSet, CapsHashSet};

/// Capabilities that loading BPF congestion controls needs, by the names of capabilities(7).
pub const BPF: [&str; 3] = ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"];

/// Those of `needed` that the calling thread does not hold.
pub fn missing(needed: &[&'static str]) -> Vec<&'static str> {
    missing_from(needed, &effective())
}

/// True if the calling thread holds a capability.
///
/// `CAP_SYS_ADMIN` holds `CAP_BPF` and `CAP_PERFMON`, as the kernel sees it.
pub fn has(capability: Capability) -> bool {
    holds(&effective(), capability)
}

fn effective() -> CapsHashSet {
    caps::read(None, CapSet::Effective).unwrap_or_default()
}

fn missing_from(needed: &[&'static str], effective: &CapsHashSet) -> Vec<&'static str> {
    let lacks = |name: &&str| !name.parse().is_ok_and(|capability| holds(effective, capability));
    needed.iter().copied().filter(lacks).collect()
}

fn holds(effective: &CapsHashSet, capability: Capability) -> bool {
    let implied = [Capability::CAP_BPF, Capability::CAP_PERFMON].contains(&capability);
    effective.contains(&capability) || (implied && effective.contains(&Capability::CAP_SYS_ADMIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_administers_the_system_may_load_programs() {
        let missing = |held: &[Capability]| missing_from(&BPF, &held.iter().copied().collect());
        assert_eq!(missing(&[]), BPF);
        assert_eq!(missing(&[Capability::CAP_BPF, Capability::CAP_NET_ADMIN]), ["CAP_PERFMON"]);
        assert_eq!(missing(&[Capability::CAP_SYS_ADMIN]), ["CAP_NET_ADMIN"]);
        assert!(missing(&[Capability::CAP_SYS_ADMIN, Capability::CAP_NET_ADMIN]).is_empty());
        assert_eq!(missing_from(&["CAP_NO_SUCH"], &CapsHashSet::new()), ["CAP_NO_SUCH"]);
    }
}
