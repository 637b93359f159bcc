//! Commands for a live host, in a build that has none of the algorithms for the kernel.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Subcommand};

use serde_json::json;

use crate::error::{CliError, Result};
use crate::terminal::{Terminal, broken};

/// What could be done to a live host.
#[derive(Subcommand, Debug)]
pub(crate) enum HostCommand {
    /// Attach a start-up algorithm to this host (not in this build)
    Attach(AnyArgs),
    /// Show the attached algorithms and their counters (not in this build)
    Status(AnyArgs),
    /// Detach, and restore exactly what was there before (not in this build)
    Detach(AnyArgs),
    /// Check what a build with the algorithms for the kernel would find on this host
    Doctor(DoctorArgs),
    /// Watch connections start up, live (not in this build)
    Watch(AnyArgs),
    /// Try an algorithm on live traffic: A/B, with a guard (not in this build)
    Trial(AnyArgs),
    /// Export the counters of attached algorithms to Prometheus (not in this build)
    Export(AnyArgs),
}

/// Whatever is said.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct AnyArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<String>,
}

/// Check what a build with the algorithms for the kernel would find on this host
///
/// Checks the kernel, BTF, control groups, capabilities, and what such a build needs. Changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Exit code: 1, since this build cannot attach.")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl HostCommand {
    /// Says what would make it run.
    pub(crate) fn run(self, terminal: Terminal, out: &mut impl Write) -> Result {
        if let Self::Doctor(args) = self {
            doctor(&args, terminal, out)?;
        }
        Err(CliError::Kernel {
            message: "this ramp was built without the algorithms for the kernel".to_owned(),
            help: Some(INSTALL.to_owned()),
        })
    }
}

/// What makes a build that has them.
const INSTALL: &str = "on Linux, with clang, libbpf-dev, libelf-dev and zlib1g-dev: cargo install --path crates/cli \
                       --features linux --locked (docs/install.md has packages that are built so)";

/// Bits of `CapEff` (capabilities(7)).
const CAPABILITIES: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

fn doctor(args: &DoctorArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let checks = [build(), kernel(), btf(), control_groups(), capabilities(), tools()];
    if args.json {
        let rows: Vec<_> = checks
            .iter()
            .map(|check| {
                json!({
                    "check": check.name,
                    "state": check.word(),
                    "found": check.found,
                    "meaning": check.meaning,
                    "mend": check.mend,
                })
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &json!({"can_attach": false, "checks": rows}))
            .map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let indent = " ".repeat(28);
        let options = broken(terminal.width.max(60)).initial_indent(&indent).subsequent_indent(&indent);
        for check in &checks {
            writeln!(out, "{:<10}{:<18}{}", check.word(), check.name, check.found)?;
            if !check.meaning.is_empty() {
                writeln!(out, "{}", textwrap::fill(check.meaning, &options))?;
            }
            if !check.mend.is_empty() {
                // Whole, so that it can be copied.
                writeln!(out, "{indent}-> {}", check.mend)?;
            }
        }
        let more = "Such a build's `ramp doctor` checks more: the kernel's configuration, lockdown, limits, sysctls, and \
                    whether the verifier takes an algorithm.";
        writeln!(out, "\n{}\n", textwrap::fill(more, broken(terminal.width)))?;
    }
    out.flush()?;
    Ok(())
}

struct Check {
    name: &'static str,
    ok: bool,
    found: String,
    /// What does not work; empty: nothing.
    meaning: &'static str,
    /// What helps; empty: nothing needs to be done.
    mend: &'static str,
}

impl Check {
    fn new(name: &'static str, ok: bool, found: impl Into<String>) -> Self {
        Self { name, ok, found: found.into(), meaning: "", mend: "" }
    }

    fn word(&self) -> &'static str {
        if self.ok { "ok" } else { "missing" }
    }
}

/// What everything else here is for, and what this build does all the same.
fn build() -> Check {
    Check {
        meaning: "this build cannot attach, detach, show status, watch, try or export, and with --on linux it plays the \
                  kernel's own congestion controls alone; simulation, QUIC and --on program are complete",
        mend: "cargo install --path crates/cli --features linux --locked",
        ..Check::new(
            "this build",
            false,
            "without the feature `linux`, which has the algorithms for the kernel",
        )
    }
}

fn kernel() -> Check {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let found = match release.trim() {
        "" => "not Linux".to_owned(),
        release => format!("Linux {release} (6.1 or later is needed)"),
    };
    Check::new("kernel", version >= (6, 1), found)
}

fn btf() -> Check {
    let there = Path::new("/sys/kernel/btf/vmlinux").exists();
    let found = if there { "/sys/kernel/btf/vmlinux" } else { "no /sys/kernel/btf/vmlinux" };
    Check::new("BTF", there, found)
}

fn control_groups() -> Check {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let there = mounts.lines().any(|line| line.split(' ').nth(2) == Some("cgroup2"));
    let found = if there { "version 2 is mounted" } else { "version 2 is not mounted" };
    Check::new("control groups", there, found)
}

fn capabilities() -> Check {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok())
        .unwrap_or(0);
    let missing: Vec<_> =
        CAPABILITIES.iter().filter(|(_, bit)| held >> bit & 1 == 0).map(|(name, _)| *name).collect();
    let found = if missing.is_empty() { "held".to_owned() } else { format!("no {}", missing.join(", ")) };
    Check::new("capabilities", missing.is_empty(), found)
}

fn tools() -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let clang = std::env::split_paths(&path).any(|directory| directory.join("clang").is_file());
    let header = Path::new("/usr/include/bpf/libbpf.h").is_file();
    let missing: Vec<_> = [("clang", clang), ("libbpf-dev", header)]
        .into_iter()
        .filter(|(_, there)| !there)
        .map(|(name, _)| name)
        .collect();
    let found = if missing.is_empty() {
        "clang, libbpf-dev".to_owned()
    } else {
        format!("no {}", missing.join(", "))
    };
    Check {
        mend: if missing.is_empty() { "" } else { "apt-get install clang libbpf-dev libelf-dev zlib1g-dev" },
        ..Check::new("build tools", missing.is_empty(), found)
    }
}
