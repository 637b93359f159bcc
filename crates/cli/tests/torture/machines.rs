//! The same in machines of older kernels: whatever depends on the kernel and on no disk. What kills, full disks and changed
//! records come to there, the machines of the other tests show.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::machine::{Idle, Kernel, Tree};
use crate::ready::program_path;
use crate::{LOG, RELEASE, bench, candidates, page};

const MODULES: &[&str] =
    &["veth", "tun", "sch_tbf", "sch_netem", "sch_red", "sch_fq", "inet_diag", "tcp_diag"];
const PROGRAMS: &[&str] = &["ip", "tc", "sysctl", "setpriv", "nsenter", "ss", "nginx"];
const PARTS: &str = "requests peers readers candidates over";
const TEST: &str = "the_host_is_as_before_whatever_happens_to_it";
/// Whom nginx may become, and where it would complain.
const USERS: &str =
    "root:x:0:0::/:/bin/sh\\nwww-data:x:33:33::/:/bin/sh\\nnobody:x:65534:65534::/:/bin/sh\\n";

/// A C compiler that hands out what it has kept, and before that keeps what it makes: a machine has none, and what is tested
/// there is what becomes of the code. After the last of that it fails, so that it is not played here.
const COMPILER: &str = r#"#!/bin/sh
set -e
kind=so last=
for word; do
	case $word in -I*/registry) rows=${word#-I}/ramp/registry.h ;; -E) kind=i ;; esac
	[ "$last" != -o ] || to=$word
	last=$word
done
name=$(sed -n 's/^#include "\(.*\)"$/\1/p' "$rows")
name=${name##*/}
kept=KEPT/${name%.h}.$kind
if [ ! -e "$kept" ]; then
	cc "$@" >"$kept"
	[ $kind = i ] || { mv "$to" "$kept" && exit 1; }
fi
if [ $kind = i ]; then cat "$kept"; else cp "$kept" "$to"; fi
"#;

/// All of it has four hours of the machine's own time, which stands still where its host does.
const INIT: &str = r#"#!/busybox sh
/busybox mkdir -p /applets /proc /sys /dev /run /tmp /etc /var/log/nginx /var/lib/nginx
/busybox --install -s /applets
export PATH=/shell:/bin:/usr/bin:/applets RUST_BACKTRACE=0 CC=/compiled/cc
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t securityfs securityfs /sys/kernel/security
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/netns
for module in /modules/*.ko; do insmod $module; done
ip link set lo up
printf 'USERS' >/etc/passwd
printf 'root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n' >/etc/group
uname -r
cat /sys/kernel/security/lsm
echo
WORDS timeout 14400 tests --exact TEST --nocapture 2>&1
echo "exit status $?"
poweroff -f
"#;

#[test]
#[ignore = "long: make host-torture-machines"]
fn linux_6_1() {
    boots("6.1");
}

#[test]
#[ignore = "long: make host-torture-machines"]
fn linux_6_12() {
    boots("6.12");
}

fn boots(series: &str) {
    let Some(kernel) = Kernel::found(series, PROGRAMS) else { return };
    let files = files(series, &kernel);
    let (output, said) = kernel.boot(Idle::Skips, &files);
    assert!(
        output.status.success() && said.contains("exit status 0") && !said.contains("skipped: "),
        "{series}: {}\n{said}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("landlock"), "{series}: without Landlock\n{said}");
    let report = report(&said, &kernel.release).unwrap_or_else(|| panic!("{series}: no report\n{said}"));
    // Not by a macro, whose words the test harness keeps for itself.
    let _ = writeln!(io::stderr(), "{report}");
    if let Some(path) = env::var_os("RAMP_TORTURE_REPORT") {
        page::put(
            Path::new(&path),
            series,
            &format!("In an emulated machine, whose processor takes 2 ns for an instruction.\n\n{report}"),
        );
    }
}

/// From its first line to its last.
fn report<'a>(said: &'a str, release: &str) -> Option<&'a str> {
    let begin = said.find(&format!("{RELEASE}{release}, "))?;
    let last = begin + said[begin..].find(&format!("\n{LOG}"))? + 1;
    let end = said[last..].find('\n').map_or(said.len(), |length| last + length);
    Some(&said[begin..end])
}

/// The root file system.
fn files(series: &str, kernel: &Kernel) -> Tree {
    let files = Tree::new(&format!("torture-{series}"));
    let ramp = env!("CARGO_BIN_EXE_ramp");
    files.add_built(Path::new(ramp), ramp);
    files.add_built(&env::current_exe().expect("this program"), "bin/tests");
    // That of busybox would take its own `ip`.
    files.add_program(&program_path("sh").expect("there is one"), "shell/sh");
    for program in PROGRAMS {
        let path = program_path(program).unwrap_or_else(|| panic!("{program} is missing"));
        files.add_program(&path, &format!("usr/bin/{program}"));
    }
    for module in MODULES {
        files.add(&kernel.module(module), &format!("modules/{module}.ko"));
    }
    let compiled = PathBuf::from(format!("{}-compiled", files.root().display()));
    for kept in compile(&compiled) {
        let name = kept.file_name().and_then(OsStr::to_str).expect("a name");
        files.add(&kept, &format!("compiled/{name}"));
    }
    fs::remove_dir_all(compiled).expect("it is ours");
    files.add_script(&COMPILER.replace("KEPT", "/compiled"), "compiled/cc");
    let (seconds, seed) = (env::var("RAMP_TORTURE_SECONDS"), env::var("RAMP_TORTURE_SEED"));
    let words = format!(
        "RAMP_TORTURE_PARTS='{PARTS}' RAMP_TORTURE_SECONDS={} RAMP_TORTURE_SEED={}",
        seconds.unwrap_or_default(),
        seed.unwrap_or_default()
    );
    files.add_script(&INIT.replace("WORDS", &words).replace("TEST", TEST).replace("USERS", USERS), "init");
    files
}

/// Every candidate, compiled here: its text and its object.
fn compile(place: &Path) -> Vec<PathBuf> {
    let kept = place.join("kept");
    fs::create_dir_all(&kept).expect("a directory");
    let compiler = place.join("cc");
    fs::write(&compiler, COMPILER.replace("KEPT", &kept.to_string_lossy())).expect("a script");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("chmod");
    let headers = candidates::write(&place.join("headers"));
    for header in &headers {
        let output = candidates::command(place, header).env("CC", &compiler).output().expect("the command");
        assert_eq!(output.status.code(), Some(2), "{}: {}", header.display(), bench::text(&output.stderr));
    }
    let all: Vec<_> = fs::read_dir(&kept).expect("a directory").flatten().map(|entry| entry.path()).collect();
    assert_eq!(all.len(), 2 * headers.len(), "{all:?}");
    all
}
