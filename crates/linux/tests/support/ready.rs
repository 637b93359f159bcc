//! Whether a test can run on this machine. What cannot says why in one line, which `scripts/count-tests` counts.
#![allow(dead_code, reason = "every test program uses a part")]

use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs, io, thread};

/// What tests call to make networks and to become another user.
const PROGRAMS: &[&str] = &["ip", "tc", "sysctl", "setpriv", "mount"];
const TUN: &str = "/dev/net/tun";

/// `Some` if BPF programs can be loaded here, and networks be made to test them in.
pub(crate) fn ready() -> Option<()> {
    unobstructed(obstacle().as_deref())
}

/// What keeps BPF programs, or networks to test them in, from this machine.
pub(crate) fn obstacle() -> Option<String> {
    let unheld = || {
        let status = fs::read_to_string("/proc/self/status").expect("procfs");
        let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let held = u64::from_str_radix(held.expect("Linux has capabilities").trim(), 16).expect("a mask");
        // Of capability.h. The second stands for CAP_BPF and CAP_PERFMON too.
        [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21)].into_iter().find(|(_, bit)| held >> bit & 1 == 0)
    };
    if !root() {
        Some("not root".to_owned())
    } else if !first_user_namespace() {
        Some("root only of a user namespace".to_owned())
    } else if let Some((missing, _)) = unheld() {
        Some(format!("root without {missing}"))
    } else if fs::metadata("/sys/kernel/btf/vmlinux").is_err() {
        Some("the kernel carries no BTF".to_owned())
    } else if let Some(missing) = PROGRAMS.iter().find(|program| program_path(program).is_none()) {
        Some(format!("{missing} is missing: run scripts/setup test"))
    } else {
        no_tun()
    }
}

/// What keeps the emulator from making its devices.
pub(crate) fn no_tun() -> Option<String> {
    let opened = fs::OpenOptions::new().read(true).write(true).open(TUN);
    opened.err().map(|error| format!("{TUN} cannot be opened: {error}"))
}

/// Whether the effective user is root.
pub(crate) fn root() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

/// Whether this is the first user namespace, which maps every number to itself.
fn first_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map");
    map.map_or(true, |map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

/// Where a program is, also outside a user's usual places.
#[allow(clippy::disallowed_methods, reason = "where programs are is said through the environment")]
pub(crate) fn program_path(name: &str) -> Option<PathBuf> {
    let places = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&places).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    places.map(|place| place.join(name)).find(|path| path.is_file())
}

/// `Some` if nothing is in the way. What is, is said, and the test returns.
pub(crate) fn unobstructed(obstacle: Option<&str>) -> Option<()> {
    let Some(obstacle) = obstacle else { return Some(()) };
    skip(obstacle);
    None
}

/// Says that the calling test is skipped and why; it must then return. Once for each test, since lines are counted.
pub(crate) fn skip(reason: &str) {
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main").map(|name| format!("{name}: "));
    let line = format!("skipped: {}{reason}\n", test.unwrap_or_default());
    // At once, so that it stays a line among others', and not by a macro, whose words the test harness keeps for itself.
    let _ = io::stderr().write_all(line.as_bytes());
}
