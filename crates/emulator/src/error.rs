//! Errors of the emulator.

use std::io;

use crate::plan::Unsupported;

/// Result of what may fail with [`EmulatorError`].
pub type Result<T = (), E = EmulatorError> = std::result::Result<T, E>;

/// Error of starting the emulator or of a download.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// The scenario asks for something that the emulator cannot play.
    #[error("the emulator cannot play this scenario: {0}")]
    Unsupported(Unsupported),
    /// A capability is missing.
    #[error(
        "{action} needs {capability}, which this process does not have; run as root, or call \
         `enter_user_namespace` before the first thread starts"
    )]
    Capability {
        /// Action that failed.
        action: &'static str,
        /// Its name, e.g. `CAP_NET_ADMIN`.
        capability: &'static str,
    },
    /// There is no TUN device to open.
    #[error(
        "cannot open /dev/net/tun: {cause}; load the kernel's module `tun`, or let this user open the device"
    )]
    Tun {
        /// Error of the kernel.
        cause: io::Error,
    },
    /// IPv6 was asked for.
    #[error("this kernel has no IPv6")]
    NoIpv6,
    /// A user namespace cannot be entered.
    #[error("cannot enter a user namespace: {reason}")]
    UserNamespace {
        /// Cause and remedy.
        reason: String,
    },
    /// The kernel has no such congestion control, or does not let this user have it.
    #[error("congestion control `{name}`: {reason}")]
    CongestionControl {
        /// As asked for.
        name: String,
        /// Cause.
        reason: String,
    },
    /// There is no such flow.
    #[error("the scenario has no flow {index}")]
    Flow {
        /// As asked for.
        index: usize,
    },
    /// No flow begins or ends there.
    #[error("node {node} of the scenario is no host")]
    Host {
        /// As asked for.
        node: usize,
    },
    /// The connection was not there by the time limit.
    #[error("{action} took longer than {limit}")]
    Late {
        /// Action that did not happen.
        action: &'static str,
        /// Time limit.
        limit: rampcc::Time,
    },
    /// The kernel refused.
    #[error("{action}: {cause}")]
    Io {
        /// Action that failed.
        action: String,
        /// Error of the kernel.
        cause: io::Error,
    },
}

impl EmulatorError {
    /// A missing capability if the kernel says so.
    pub(crate) fn denied(action: &'static str, capability: &'static str, cause: io::Error) -> Self {
        if cause.kind() == io::ErrorKind::PermissionDenied {
            return Self::Capability { action, capability };
        }
        Self::io(action, cause)
    }

    pub(crate) fn io(action: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self::Io { action: action.into(), cause: cause.into() }
    }
}

impl From<Unsupported> for EmulatorError {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}
