//! Whether a test can run on this machine. In CI it must.
#![allow(dead_code, reason = "every test program uses a part")]

use std::{env, fs};

/// Whether BPF programs can be loaded here at all.
pub(crate) fn ready() -> bool {
    unobstructed(obstacle())
}

/// What keeps BPF programs from this machine.
pub(crate) fn obstacle() -> Option<&'static str> {
    if !root() {
        Some("not root")
    } else if fs::metadata("/sys/kernel/btf/vmlinux").is_err() {
        Some("the kernel carries no BTF")
    } else {
        None
    }
}

/// Whether the effective user is root.
pub(crate) fn root() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

/// Whether nothing is in the way. What is, is said; in CI it is a failure.
#[allow(clippy::disallowed_methods, reason = "whether this is CI is said through the environment")]
pub(crate) fn unobstructed(obstacle: Option<&str>) -> bool {
    let Some(obstacle) = obstacle else { return true };
    assert!(env::var("CI").as_deref() != Ok("true"), "in CI nothing is skipped: {obstacle}");
    eprintln!("skipped: {obstacle}");
    false
}
