//! The emulator for a user without privileges. A program of its own: a user namespace is entered before any thread
//! starts, and never left.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod common;

#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout, reason = "it reports as the test harness does")]
fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!("\nrunning 1 test");
    let skipped = linux::main().err();
    match &skipped {
        None => println!("test works_unprivileged ... ok\n"),
        Some(reason) => println!("test works_unprivileged ... ignored, {reason}\n"),
    }
    let (passed, ignored) = if skipped.is_none() { (1, 0) } else { (0, 1) };
    println!(
        "test result: ok. {passed} passed; 0 failed; {ignored} ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    );
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::prctl;
    use nix::sys::stat::{Mode, SFlag, makedev, mknod};
    use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
    use rampcc_emulator::{
        Download, Emulator, EmulatorError, Options, enter_user_namespace, missing_capabilities,
    };

    use super::common::{assert_conserved, ready, scenario};

    /// Fails with what this machine lacks.
    pub(super) fn main() -> Result<(), String> {
        become_nobody();
        assert_eq!(missing_capabilities(), ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]);
        let path = scenario("size = '500 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n");
        let error = Emulator::start(&path, 1, &Options::default()).expect_err("it is not allowed");
        assert!(matches!(error, EmulatorError::Capability { capability: "CAP_NET_ADMIN", .. }), "{error}");
        ready::no_tun().map_or(Ok(()), Err)?;
        enter_user_namespace().map_err(|error| error.to_string())?;
        assert!(missing_capabilities().is_empty());
        for name in ["reno", "cubic"] {
            let running = Emulator::start(&path, 1, &Options::default()).expect("it starts");
            let download = Download {
                size_bytes: 500_000,
                congestion_control: Some(name.to_owned()),
                ..Download::default()
            };
            let result = running.download(&download, |_| {}).expect("the transfer runs");
            let report = running.stop().expect("the emulator ran");
            assert_eq!((result.congestion_control.as_str(), result.received_bytes), (name, 500_000));
            assert!(!report.realtime, "real-time priority needs a capability outside");
            assert_conserved(&report);
        }
        let error = enter_user_namespace_from_a_thread();
        assert!(error.contains("several threads"), "{error}");
        Ok(())
    }

    /// Lets everybody open TUN devices, as udev does, for this process and its children alone.
    fn open_tun_to_all() -> nix::Result<()> {
        let nothing = None::<&str>;
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
        mount(nothing, "/dev/net", Some("tmpfs"), MsFlags::empty(), nothing)?;
        let anybody = Mode::from_bits_truncate(0o666);
        // Its numbers in the kernel's list of devices.
        mknod("/dev/net/tun", SFlag::S_IFCHR, anybody, makedev(10, 200))?;
        nix::sys::stat::fchmodat(
            nix::fcntl::AT_FDCWD,
            "/dev/net/tun",
            anybody,
            nix::sys::stat::FchmodatFlags::FollowSymlink,
        )
    }

    /// Gives root up for good. A process that was root keeps its files in /proc from others, itself included, until it
    /// says otherwise.
    fn become_nobody() {
        if !geteuid().is_root() {
            return;
        }
        // Where root may not, what is there will do, or is missed below.
        let _ = open_tun_to_all();
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
