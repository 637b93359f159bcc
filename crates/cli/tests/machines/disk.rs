//! A machine whose disk outlives its boots, with systemd and the command on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::guide::install_and_remove;
use crate::machine::{Idle, Kernel, Tree};
use crate::ready::program_path;

/// Besides what every machine takes.
pub(crate) const PROGRAMS: &[&str] =
    &["mkfs.ext4", "ip", "tc", "install", "systemctl", "systemd-sysusers", "systemd-tmpfiles"];
const SYSTEMD: &str = "/lib/systemd/systemd";
/// Of systemd's own, those without which nothing starts, and the one that makes the directory of pins.
const UNITS: &[&str] = &[
    "basic.target",
    "local-fs.target",
    "multi-user.target",
    "network-online.target",
    "network.target",
    "shutdown.target",
    "sysinit.target",
    "systemd-tmpfiles-setup.service",
];
/// For a path on which start-ups end, and for the list of connections.
const MODULES: &[&str] = &["sch_netem", "inet_diag", "tcp_diag"];
const STEPS: &[[&str; 2]] = &[
    ["say.sh", include_str!("steps/say.sh")],
    ["first.sh", include_str!("steps/first.sh")],
    ["second.sh", include_str!("steps/second.sh")],
    ["units.sh", include_str!("steps/units.sh")],
    ["third.sh", include_str!("steps/third.sh")],
    ["fourth.sh", include_str!("steps/fourth.sh")],
];
/// After the units under test, where these are enabled.
const STEPS_UNIT: &str = "\
[Unit]
After=ramp-attach@best.service ramp-export.service
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/steps/units.sh
";
const SERVED_BYTES: usize = 512 << 10;
const DISK_BYTES: u64 = 256 << 20;

/// Why systemd cannot be put on it.
pub(crate) fn no_systemd() -> Option<String> {
    (!Path::new(SYSTEMD).exists()).then(|| format!("{SYSTEMD} is missing: run scripts/setup test"))
}

pub(crate) struct Disk {
    image: PathBuf,
}

impl Disk {
    pub(crate) fn new(series: &str, kernel: &Kernel) -> Self {
        let files = files(series, kernel);
        let image = PathBuf::from(format!("{}.disk", files.root().display()));
        let disk = Self { image };
        let file = fs::File::create(&disk.image).expect("a disk");
        file.set_len(DISK_BYTES).expect("a disk");
        let made = Command::new(program_path("mkfs.ext4").expect("found"))
            .args(["-q", "-E", "root_owner=0:0", "-d"])
            .args([files.root(), &disk.image])
            .output()
            .expect("mkfs.ext4");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        disk
    }

    /// What a boot says, from this first process on.
    pub(crate) fn boot(&self, kernel: &Kernel, init: &str) -> Transcript {
        let drive = format!("file={},if=none,id=disk,format=raw,cache=unsafe", self.image.display());
        let words = ["-drive", &drive, "-device", "nvme,drive=disk,serial=ramp"];
        let clock = ["-rtc", "base=2026-06-01T00:00:00,clock=vm"];
        let output = kernel.emulate(
            Idle::Waits,
            &[&words[..], &clock].concat(),
            &format!("root=/dev/nvme0n1 rootwait rw init={init}"),
        );
        let console = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{init}: {}\n{console}\n{told}", output.status);
        Transcript::read(console)
    }

    /// The same of systemd, with these steps after the units.
    pub(crate) fn boot_units(&self, kernel: &Kernel, steps: &str) -> Transcript {
        self.boot(
            kernel,
            &format!("{SYSTEMD} systemd.unit=steps.target systemd.show_status=false steps={steps}"),
        )
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.image);
    }
}

fn files(series: &str, kernel: &Kernel) -> Tree {
    let files = Tree::new(&format!("host-{series}"));
    files.add_built(Path::new(env!("CARGO_BIN_EXE_ramp")), "usr/bin/ramp");
    files.add_program(Path::new(SYSTEMD), SYSTEMD);
    for program in PROGRAMS.iter().filter(|program| **program != "mkfs.ext4") {
        files.add_program(&program_path(program).expect("found"), &format!("usr/bin/{program}"));
    }
    let applets = Command::new("busybox").arg("--list").output().expect("busybox");
    for applet in String::from_utf8_lossy(&applets.stdout).lines() {
        files.link("/busybox", &format!("applets/{applet}"));
    }
    for module in MODULES {
        files.add(&kernel.module(module), &format!("modules/{module}.ko"));
    }
    for [name, text] in STEPS {
        files.add_script(text, &format!("steps/{name}"));
    }
    let [install, remove] = install_and_remove();
    files.add_script(&install, "steps/install.sh");
    files.add_script(&remove, "steps/remove.sh");
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    for entry in fs::read_dir(packaging).expect("the units") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        files.add(&path, &format!("usr/src/ramp/packaging/systemd/{name}"));
    }
    for unit in UNITS {
        files.add(&Path::new("/lib/systemd/system").join(unit), &format!("lib/systemd/system/{unit}"));
    }
    let own = "etc/systemd/system";
    files.link(
        "/lib/systemd/system/systemd-tmpfiles-setup.service",
        &format!("{own}/sysinit.target.wants/systemd-tmpfiles-setup.service"),
    );
    for (text, to) in [
        (
            "[Unit]\nRequires=multi-user.target\nAfter=multi-user.target\nWants=steps.service\n",
            "steps.target",
        ),
        (STEPS_UNIT, "steps.service"),
    ] {
        files.write(text, &format!("{own}/{to}"));
    }
    for (text, to) in [
        ("root:x:0:0:root:/:/bin/sh\n", "etc/passwd"),
        ("root:x:0:\n", "etc/group"),
        ("0123456789abcdef0123456789abcdef\n", "etc/machine-id"),
        ("ID=test\n", "etc/os-release"),
    ] {
        files.write(text, to);
    }
    files.write(&"x".repeat(SERVED_BYTES), "served/file");
    for directory in
        ["dev", "proc", "run", "sys", "tmp", "usr/lib/sysusers.d", "usr/lib/tmpfiles.d", "var/tmp"]
    {
        files.make(directory);
    }
    files.make("var/lib/ramp");
    files
}

/// What the steps of a boot have said, by their names.
pub(crate) struct Transcript {
    console: String,
    said: BTreeMap<String, (String, i32)>,
}

impl Transcript {
    fn read(console: String) -> Self {
        let mut said = BTreeMap::new();
        let mut open: Option<(String, String)> = None;
        for line in console.lines() {
            if let Some(name) = line.strip_prefix("<<< ") {
                assert!(open.is_none(), "{name} within another step\n{console}");
                open = Some((name.to_owned(), String::new()));
            } else if let Some(code) = line.strip_prefix(">>> ") {
                let (name, text) = open.take().unwrap_or_else(|| panic!("an end without a step\n{console}"));
                let code = code.parse().unwrap_or_else(|_| panic!("{name}: {line}\n{console}"));
                let before = said.insert(name, (text, code));
                assert!(before.is_none(), "said twice\n{console}");
            } else if let Some((_, text)) = &mut open {
                *text += line;
                text.push('\n');
            }
        }
        assert!(open.is_none(), "a step without an end\n{console}");
        Self { console, said }
    }

    /// What a step said, and its exit code.
    pub(crate) fn of(&self, name: &str) -> (&str, i32) {
        let (text, code) = self.said.get(name).unwrap_or_else(|| panic!("no {name}\n{}", self.console));
        (text.trim_end(), *code)
    }

    /// The same of one that must succeed.
    pub(crate) fn ok(&self, name: &str) -> &str {
        let (text, code) = self.of(name);
        assert_eq!(code, 0, "{name}: {text}\n{}", self.console);
        text
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(self.ok(name))
            .unwrap_or_else(|error| panic!("{name}: {error}\n{}", self.console))
    }

    /// The one attachment of a status.
    pub(crate) fn one(&self, name: &str) -> Value {
        match self.json(name).as_array_mut().map(std::mem::take).as_deref_mut() {
            Some([one]) => one.take(),
            other => panic!("{name}: {other:?}\n{}", self.console),
        }
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.ok(name).parse().unwrap_or_else(|_| panic!("{name}\n{}", self.console))
    }
}
