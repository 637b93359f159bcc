//! The same tests in older kernels, each in a machine of its own: QEMU's software emulation, in virtual time, so that
//! nothing there depends on how busy this machine is.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, io};

use crate::loaders::NO_LINKS;
use crate::support::ready::{program_path, unobstructed};
use crate::support::{EMULATED, NO_COMPILER};

/// Left by `scripts/kernels`.
const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/kernels");
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
timeout 3600 tests --test-threads 1 --nocapture --skip other_kernels::boots 2>&1
echo "exit status $?"
poweroff -f
"#;

#[test]
fn boots_6_1() {
    boots("6.1", "registered without a link");
}

#[test]
fn boots_6_12() {
    boots("6.12", "registered with a link");
}

fn boots(series: &str, expected: &str) {
    let kernel = Path::new(KERNELS).join(series);
    let Some(release) = found(&kernel) else { return };
    let machine = Machine::new(series, &kernel);
    let output = machine.run(&kernel);
    let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    let result = said.lines().find(|line| line.starts_with("test result: "));
    assert!(
        output.status.success() && said.contains(&release) && said.contains("exit status 0"),
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
    // Not by a macro, whose words the test harness keeps for itself.
    let _ = writeln!(io::stderr(), "Linux {release}: {} algorithms {expected}; {result}", ways.len());
}

/// The kernel's release, if all that is needed is there.
fn found(kernel: &Path) -> Option<String> {
    for program in ["qemu-system-x86_64", "busybox", "ldd"].iter().chain(PROGRAMS) {
        if program_path(program).is_none() {
            unobstructed(Some(&format!("{program} is missing: run scripts/setup test")));
            return None;
        }
    }
    let Ok(release) = fs::read_to_string(kernel.join("release")) else {
        unobstructed(Some(&format!("{} is missing: run scripts/kernels", kernel.display())));
        return None;
    };
    Some(release.trim().to_owned())
}

/// The root file system of a machine, made anew.
struct Machine {
    root: PathBuf,
}

impl Machine {
    fn new(series: &str, kernel: &Path) -> Self {
        let root =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("linux-{series}-{}", std::process::id()));
        let machine = Self { root };
        machine.add(&program_path("busybox").expect("found"), "busybox");
        machine.add(&env::current_exe().expect("this program"), "bin/tests");
        // Debugging symbols are most of it; without strip(1) it only takes longer.
        let _ = Command::new("strip").arg(machine.root.join("bin/tests")).output();
        for program in PROGRAMS {
            let path = program_path(program).unwrap_or_else(|| panic!("{program} is missing"));
            machine.add(&path, &format!("bin/{program}"));
        }
        for module in MODULES {
            let file = format!("modules/{module}.ko");
            machine.add(&kernel.join(&file), &file);
        }
        for program in PROGRAMS.iter().chain(&["tests"]) {
            machine.add_libraries(program);
        }
        symlink("/busybox", machine.root.join("bin/sh")).expect("a link");
        let init = machine.root.join("init");
        fs::write(&init, INIT).expect("init");
        fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).expect("chmod");
        machine
    }

    fn add(&self, from: &Path, to: &str) {
        let to = self.root.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().expect("within the root")).expect("a directory");
        fs::copy(from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }

    fn add_libraries(&self, program: &str) {
        let output = Command::new("ldd").arg(self.root.join("bin").join(program)).output().expect("ldd");
        for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
            if word.starts_with('/') && !word.ends_with(':') {
                self.add(Path::new(word), word);
            }
        }
    }

    fn run(&self, kernel: &Path) -> Output {
        let mut archive = self.root.clone().into_os_string();
        archive.push(".cpio");
        let archive = PathBuf::from(archive);
        let pack = format!(
            "cd '{}' && find . | busybox cpio -o -H newc > '{}'",
            self.root.display(),
            archive.display()
        );
        let packed = Command::new("sh").args(["-c", &pack]).output().expect("sh");
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
        // One instruction takes 2 ns of the machine's time, and idle time passes at once. A minute here, half an hour
        // where everything else comes first. The machine bounds the tests itself; six hours, in seconds, are for a kernel
        // that never gets that far.
        let output = Command::new("timeout")
            .args(["21600", "nice", "qemu-system-x86_64", "-accel", "tcg", "-icount", "shift=1,sleep=off"])
            .args(["-cpu", "max", "-smp", "1", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none"])
            .args([OsStr::new("-kernel"), kernel.join("vmlinuz").as_os_str()])
            .args([OsStr::new("-initrd"), archive.as_os_str()])
            .args(["-append", "console=ttyS0 panic=-1 quiet"])
            .output()
            .expect("timeout");
        let _ = fs::remove_file(archive);
        output
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
