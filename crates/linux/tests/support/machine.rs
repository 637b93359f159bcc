//! Machines of older kernels: QEMU's software emulation, in virtual time, so that nothing there depends on how busy this
//! machine is. A test that includes this file has `ready`, too.
#![allow(dead_code, reason = "every test program uses a part")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use super::ready::{program_path, unobstructed};

/// Left by `scripts/kernels`.
const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/kernels");
/// What every machine takes, here or in there.
const NEEDED: &[&str] = &["qemu-system-x86_64", "busybox", "ldd", "timeout"];

/// What an idle machine's clock does.
#[derive(Clone, Copy)]
pub(crate) enum Idle {
    /// It goes on to the next event at once.
    Skips,
    /// It waits. A machine that waits for its disk, which is this machine's, would otherwise believe that it took minutes.
    Waits,
}

pub(crate) struct Kernel {
    directory: PathBuf,
    pub(crate) release: String,
}

impl Kernel {
    /// Of this series, if it and all that is needed is there. What is not, is said.
    pub(crate) fn found(series: &str, programs: &[&str]) -> Option<Self> {
        if let Some(missing) = NEEDED.iter().chain(programs).find(|program| program_path(program).is_none()) {
            unobstructed(Some(&format!("{missing} is missing: run scripts/setup test")));
            return None;
        }
        let directory = Path::new(KERNELS).join(series);
        let Ok(release) = fs::read_to_string(directory.join("release")) else {
            unobstructed(Some(&format!("{} is missing: run scripts/kernels", directory.display())));
            return None;
        };
        Some(Self { directory, release: release.trim().to_owned() })
    }

    pub(crate) fn module(&self, name: &str) -> PathBuf {
        self.directory.join(format!("modules/{name}.ko"))
    }

    /// From boot to power-off, with these further words for QEMU.
    pub(crate) fn emulate(&self, idle: Idle, words: &[&str], command_line: &str) -> Output {
        let clock = match idle {
            Idle::Skips => "shift=1,sleep=off",
            Idle::Waits => "shift=1,sleep=on",
        };
        // One instruction takes 2 ns of the machine's time. A minute here, half an hour where everything else comes first.
        // The machine bounds the tests itself; six hours, in seconds, are for a kernel that never gets that far.
        Command::new("timeout")
            .args(["21600", "nice", "qemu-system-x86_64", "-accel", "tcg", "-icount", clock])
            .args(["-cpu", "max", "-smp", "1", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none"])
            .arg("-kernel")
            .arg(self.directory.join("vmlinuz"))
            .args(words)
            .args(["-append", &format!("console=ttyS0 panic=-1 quiet {command_line}")])
            .output()
            .expect("timeout")
    }

    /// From boot to power-off with these files as its only disk, in memory; and what it wrote to its console.
    pub(crate) fn boot(&self, idle: Idle, files: &Tree) -> (Output, String) {
        let from = files.root().display();
        let to = format!("{from}.cpio");
        let pack = format!("cd '{from}' && find . | busybox cpio -o -H newc > '{to}'");
        let packed = Command::new("sh").args(["-c", &pack]).output().expect("sh");
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
        let output = self.emulate(idle, &["-initrd", &to], "");
        let _ = fs::remove_file(to);
        let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        (output, said)
    }
}

/// The files of a machine, made anew.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// With busybox in it, and `sh`.
    pub(crate) fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let tree = Self { root };
        tree.add(&program_path("busybox").expect("found"), "busybox");
        tree.link("/busybox", "bin/sh");
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn add(&self, from: &Path, to: &str) {
        let to = self.place(to);
        fs::copy(from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }

    /// With its libraries.
    pub(crate) fn add_program(&self, from: &Path, to: &str) {
        self.add(from, to);
        let output = Command::new("ldd").arg(from).output().expect("ldd");
        for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
            if word.starts_with('/') && !word.ends_with(':') {
                self.add(Path::new(word), word);
            }
        }
    }

    /// The same of one that cargo has built: debugging symbols are most of it. Without strip(1) it only takes longer.
    pub(crate) fn add_built(&self, from: &Path, to: &str) {
        self.add_program(from, to);
        let _ = Command::new("strip").arg(self.place(to)).output();
    }

    pub(crate) fn write(&self, text: &str, to: &str) {
        fs::write(self.place(to), text).expect("a file");
    }

    pub(crate) fn add_script(&self, text: &str, to: &str) {
        self.write(text, to);
        fs::set_permissions(self.place(to), fs::Permissions::from_mode(0o755)).expect("chmod");
    }

    pub(crate) fn link(&self, target: &str, to: &str) {
        symlink(target, self.place(to)).expect("a link");
    }

    pub(crate) fn make(&self, directory: &str) {
        fs::create_dir_all(self.root.join(directory)).expect("a directory");
    }

    fn place(&self, to: &str) -> PathBuf {
        let to = self.root.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().expect("within the root")).expect("a directory");
        to
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
