//! The same tests in older kernels, each in a machine of its own.

#[path = "../support/machine.rs"]
mod machine;

use std::io::Write;
use std::{env, io};

use machine::{Idle, Kernel, Tree};

use crate::loaders::NO_LINKS;
use crate::support::ready::{self, program_path};
use crate::support::{EMULATED, NO_COMPILER};
use crate::{queueing, stamps};

const MODULES: &[&str] = &["veth", "tun", "sch_tbf", "sch_netem", "sch_red", "sch_fq"];
/// What the tests call; the rest of what a machine needs is `busybox`.
const PROGRAMS: &[&str] = &["ip", "tc", "sysctl", "setpriv"];

/// The tests have an hour of the machine's own time, which stands still where its host does.
const INIT: &str = r#"#!/busybox sh
/busybox mkdir -p /applets /proc /sys /dev /run /tmp
/busybox --install -s /applets
export PATH=/bin:/applets RAMP_SMALL=1 RUST_BACKTRACE=0
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /run/netns
for module in /modules/*.ko; do insmod $module; done
ip link set lo up
uname -r
timeout 3600 tests --test-threads 1 --nocapture --skip other_kernels::boots PARTS 2>&1
echo "exit status $?"
poweroff -f
"#;

/// Words for the tests of what has differed between kernels: what their verifiers take, what their programs decide, how these
/// are registered, how packets are spaced and stamped.
const PARTS: &str = "the_kernel_decides verifier loaders queueing stamps";

#[test]
fn boots_6_1() {
    boots("6.1", "registered without a link", PARTS);
}

#[test]
fn boots_6_12() {
    boots("6.12", "registered with a link", PARTS);
}

#[test]
#[ignore = "long: make test-long"]
fn boots_at_length_6_1() {
    boots("6.1", "registered without a link", "");
}

#[test]
#[ignore = "long: make test-long"]
fn boots_at_length_6_12() {
    boots("6.12", "registered with a link", "");
}

fn boots(series: &str, expected: &str, parts: &str) {
    let Some(kernel) = Kernel::found(series, PROGRAMS) else { return };
    let release = &kernel.release;
    let files = files(series, &kernel, parts);
    let (output, said) = kernel.boot(Idle::Skips, &files);
    let result = said.lines().find(|line| line.starts_with("test result: "));
    assert!(
        output.status.success() && said.contains(release) && said.contains("exit status 0"),
        "{series}: {}\n{said}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let result = result.unwrap_or_else(|| panic!("{series}: no result\n{said}"));
    assert!(result.contains(" 0 failed; "), "{series}: {result}\n{said}");
    let skipped: Vec<_> = said.lines().filter_map(|line| line.split("skipped: ").nth(1)).collect();
    let allowed = |reason: &&str| {
        [EMULATED, NO_COMPILER].iter().any(|allowed| reason.ends_with(allowed))
            || (series == "6.1" && reason.ends_with(NO_LINKS))
    };
    assert!(skipped.iter().all(allowed), "{series}: {skipped:#?}");
    let ways: Vec<_> = said.lines().filter_map(|line| line.split("kernel: ").nth(1)).collect();
    let carried = rampcc::algorithms().iter().filter(|row| row.runs_without(rampcc::LINUX_LACKS));
    assert_eq!(ways.len(), carried.count(), "{series}: {said}");
    assert!(ways.iter().all(|way| way.contains(expected)), "{series}: {ways:?}");
    assert!(said.contains(queueing::PLAYED), "{series}: without fq\n{said}");
    assert_eq!(said.contains(stamps::MICROSECONDS), series != "6.1", "{series}\n{said}");
    // Not by a macro, whose words the test harness keeps for itself.
    let _ = writeln!(io::stderr(), "Linux {release}: {} algorithms {expected}; {result}", ways.len());
}

/// The root file system.
fn files(series: &str, kernel: &Kernel, parts: &str) -> Tree {
    let files = Tree::new(&format!("linux-{series}"));
    files.add_built(&env::current_exe().expect("this program"), "bin/tests");
    for program in PROGRAMS {
        let path = program_path(program).unwrap_or_else(|| panic!("{program} is missing"));
        files.add_program(&path, &format!("bin/{program}"));
    }
    for module in MODULES {
        files.add(&kernel.module(module), &format!("modules/{module}.ko"));
    }
    files.add_script(&INIT.replace("PARTS", parts), "init");
    files
}
