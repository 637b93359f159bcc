//! The emulator for a user without privileges. A program of its own: a user namespace is entered before any thread
//! starts, and never left.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod common;

#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout, reason = "it reports as the test harness does")]
fn main() {
    println!("\nrunning 1 test");
    linux::main();
    println!("test works_unprivileged ... ok\n");
    println!(
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    );
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::prctl;
    use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
    use ramp_emulator::{
        Download, Emulator, EmulatorError, Options, enter_user_namespace, missing_capabilities,
    };

    use super::common::{assert_conserved, scenario, skip};

    pub(super) fn main() {
        if std::env::args().any(|argument| argument == "--list") {
            return;
        }
        become_nobody();
        assert_eq!(missing_capabilities(), ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]);
        let path = scenario("size = '500 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n");
        let error = Emulator::start(&path, 1, &Options::default()).expect_err("it is not allowed");
        assert!(matches!(error, EmulatorError::Capability { capability: "CAP_NET_ADMIN", .. }), "{error}");
        match enter_user_namespace() {
            Ok(()) => assert!(missing_capabilities().is_empty()),
            Err(error) => return skip(&error.to_string()),
        }
        for name in ["reno", "cubic"] {
            let running = Emulator::start(&path, 1, &Options::default()).expect("it starts");
            let download = Download {
                size_bytes: 500_000,
                congestion_control: Some(name.to_owned()),
                ..Download::default()
            };
            let result = running.download(&download, &mut ()).expect("the transfer runs");
            let report = running.stop().expect("the emulator ran");
            assert_eq!((result.congestion_control.as_str(), result.received_bytes), (name, 500_000));
            assert!(!report.realtime, "real-time priority needs a capability outside");
            assert_conserved(&report);
        }
        let error = enter_user_namespace_from_a_thread();
        assert!(error.contains("several threads"), "{error}");
    }

    /// Gives root up for good. A process that was root keeps its files in /proc from others, itself included, until it
    /// says otherwise.
    fn become_nobody() {
        if !geteuid().is_root() {
            return;
        }
        let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
        setgroups(&[]).expect("root may");
        setresgid(group, group, group).expect("root may");
        setresuid(user, user, user).expect("root may");
        prctl::set_dumpable(true).expect("any process may");
    }

    fn enter_user_namespace_from_a_thread() -> String {
        std::thread::scope(|scope| {
            let entering =
                scope.spawn(|| enter_user_namespace().expect_err("there are two threads").to_string());
            entering.join().expect("it does not panic")
        })
    }
}
