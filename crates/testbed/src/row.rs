//! Algorithm or congestion control of the flows under test.

use std::fs;

use rampcc::Traits;

/// Algorithm or congestion control of the flows under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Row {
    /// The algorithm of the registry that the scenario's flows have, with its parameters, as `ramp_<id>`.
    Core,
    /// The kernel's own CUBIC as it comes, HyStart on.
    Cubic,
    /// The kernel's own CUBIC with its HyStart off, for these connections only: a BPF program that marks HyStart as
    /// done and hands every call on. The module parameter would change every connection of the machine.
    CubicWithoutHystart,
    /// The kernel's own BBR.
    Bbr,
    /// The kernel's own Reno.
    Reno,
}

impl Row {
    /// The rows that are the kernel's own.
    pub const KERNEL: [Self; 4] = [Self::Cubic, Self::CubicWithoutHystart, Self::Bbr, Self::Reno];

    /// As tables and command lines call it; [`Self::Core`] is called as its algorithm.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Cubic => "cubic",
            Self::CubicWithoutHystart => "cubic_no_hystart",
            Self::Bbr => "bbr",
            Self::Reno => "reno",
        }
    }

    /// One line about it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Core => "an algorithm of the registry, in the kernel",
            Self::Cubic => "the kernel's own CUBIC, HyStart on",
            Self::CubicWithoutHystart => "the kernel's own CUBIC, HyStart off",
            Self::Bbr => "the kernel's own BBR",
            Self::Reno => "the kernel's own Reno",
        }
    }

    /// One of [`Self::KERNEL`] by its name.
    pub fn of_kernel(name: &str) -> Option<Self> {
        Self::KERNEL.into_iter().find(|row| row.name() == name)
    }

    /// The trait of the algorithm that leaves start-up in the simulator as it does in the kernel; `None`: there is none.
    pub const fn simulated_by(self) -> Option<Traits> {
        match self {
            Self::Cubic => Some(Traits::OF_CUBIC),
            Self::CubicWithoutHystart => Some(Traits::STANDARD),
            Self::Bbr => Some(Traits::OF_BBR),
            Self::Core | Self::Reno => None,
        }
    }

    /// True if it needs BPF programs.
    pub fn needs_bpf(self) -> bool {
        matches!(self, Self::Core | Self::CubicWithoutHystart)
    }

    /// True if the kernel has it; rows that need BPF depend on more, see [`crate::obstacle`].
    pub fn offered(self) -> bool {
        let name = match self {
            Self::Core | Self::CubicWithoutHystart => return true,
            own => own.name(),
        };
        let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        fs::read_to_string(path).is_ok_and(|list| list.split_whitespace().any(|known| known == name))
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn rows_are_found_by_their_names() {
        for row in Row::KERNEL {
            assert_eq!(Row::of_kernel(row.name()), Some(row));
            let simulated = row.simulated_by().map(|traits| rampcc::having(traits).collect::<Vec<_>>());
            assert!(simulated.as_ref().is_none_or(|all| all.len() == 1));
            // One name has one meaning: where the simulator has a row of that name, it is the same control.
            let of_that_name = rampcc::algorithm(row.name());
            assert!(of_that_name.is_none_or(|other| simulated.is_some_and(|all| all[0].id == other.id)));
        }
        assert_eq!(Row::of_kernel("core"), None);
    }

    #[test]
    fn every_kernel_has_reno() {
        assert!(Row::Reno.offered());
    }
}
