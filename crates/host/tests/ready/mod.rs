//! Whether there is a kernel to test on.

use std::{env, fs};

/// Whether this machine can run the tests at all. In CI it must.
pub(crate) fn ready() -> bool {
    let obstacle = if !nix::unistd::geteuid().is_root() {
        "not root"
    } else if fs::metadata("/sys/kernel/btf/vmlinux").is_err() {
        "the kernel carries no BTF"
    } else {
        return true;
    };
    assert!(env::var("CI").as_deref() != Ok("true"), "kernel tests must run in CI: {obstacle}");
    eprintln!("skipped: {obstacle}");
    false
}
