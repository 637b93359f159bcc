//! Privileges of this process.

use std::fs;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use rampcc_system::capabilities::missing;

use crate::{EmulatorError, Result};

/// The capabilities that the emulator needs and this process does not have.
///
/// Empty as root, and within a user namespace that [`enter_user_namespace`] made. `CAP_SYS_NICE` is not among
/// them: without it the emulator runs, and its [`crate::ErrorReport`] says how well.
pub fn missing_capabilities() -> Vec<&'static str> {
    missing(&["CAP_NET_ADMIN", "CAP_SYS_ADMIN"])
}

/// Makes this process root of a new user namespace, where it may emulate paths without privileges outside.
///
/// The kernel's own congestion controls work there; loading BPF and real-time priority do not. Call it at the very
/// beginning of `main`: the kernel refuses it to a process with several threads.
pub fn enter_user_namespace() -> Result {
    let (user, group) = (geteuid(), getegid());
    let refused = |reason: String| EmulatorError::UserNamespace { reason };
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| {
        refused(match error {
            Errno::EINVAL => {
                "this process has several threads; it must be entered before the first starts".into()
            }
            Errno::EPERM => "this system does not let this user make one".into(),
            Errno::ENOSPC => "the limit user.max_user_namespaces is reached".into(),
            other => other.to_string(),
        })
    })?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| refused(format!("writing /proc/self/{file}: {error}")))?;
    }
    Ok(())
}
