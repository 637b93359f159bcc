//! Attaching to a live kernel and back again. Needs root and a kernel with BTF.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a child tells its parent what it found")]

mod crash;
mod refusals;
mod rollback;
mod routes;
mod scopes;
mod support;
mod units;
mod unprivileged;

use std::env;

/// What a child process of a test does; without being asked to, nothing.
#[test]
fn child() {
    let Ok(words) = env::var("RAMP_CHILD") else { return };
    let words: Vec<&str> = words.split(' ').collect();
    match words[0] {
        "die" => crash::die(&words[1..]),
        "use" => scopes::use_in_cgroup(&words[1..]),
        "attach" => unprivileged::attach(),
        "detach" => unprivileged::detach(),
        other => panic!("{other:?} is nothing to do"),
    }
}
