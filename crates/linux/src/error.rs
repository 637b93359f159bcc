//! Errors of loading an algorithm, in words that say what to do.

use std::path::{Path, PathBuf};
use std::{fs, io};

use libbpf_rs::ErrorKind;
use rampcc_system::capabilities::{BPF, missing};
use thiserror::Error;

/// Error that keeps an algorithm out of the kernel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The name does not fit the kernel.
    #[error(
        "{name:?} cannot name a congestion control: it takes 1 to 15 letters, digits, dots and underscores"
    )]
    Name {
        /// As asked for.
        name: String,
    },
    /// The algorithm needs what Linux does not do.
    #[error("{algorithm} needs `{need}`, which the kernel does not give: {reason}")]
    Unmet {
        /// Its identifier.
        algorithm: &'static str,
        /// Word of the need.
        need: &'static str,
        /// Reason.
        reason: &'static str,
    },
    /// The name is taken.
    #[error(
        "a congestion control named {name:?} is already registered; detach it first, or load under another name"
    )]
    NameTaken {
        /// As asked for.
        name: String,
    },
    /// The kernel does not describe its types.
    #[error(
        "this kernel carries no BTF (/sys/kernel/btf/vmlinux is missing), without which programs cannot be fitted to it; \
         it needs CONFIG_DEBUG_INFO_BTF=y"
    )]
    NoBtf,
    /// Privileges.
    #[error("missing {}: run as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON", .0.join(" and "))]
    Capability(Vec<&'static str>),
    /// Privileges are there, and still the kernel refuses.
    #[error("the kernel refuses BPF programs although all capabilities are there: {0}")]
    Refused(String),
    /// No memory.
    #[error(
        "no memory for programs or maps; on kernels before 5.11 raise the limit on locked memory (ulimit -l unlimited), \
         in a container its memory limit"
    )]
    Memory,
    /// The kernel lacks something.
    #[error("this kernel has no {what}{}", if .advice.is_empty() { String::new() } else { format!("; {}", .advice) })]
    Missing {
        /// Function or facility.
        what: String,
        /// Remedy.
        advice: &'static str,
    },
    /// The verifier would not have it.
    #[error("the kernel's verifier rejected the program: {reason}")]
    Rejected {
        /// Its last words.
        reason: String,
        /// All of them.
        log: String,
    },
    /// It would not outlive its process.
    #[error("cannot pin it in {}: {cause}", directory.display())]
    Pin {
        /// A directory of a BPF file system.
        directory: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// Anything else.
    #[error("{what}: {source}")]
    Other {
        /// Action that failed.
        what: &'static str,
        /// Error of libbpf.
        source: libbpf_rs::Error,
        /// All that libbpf said on the way.
        log: String,
    },
}

impl LoadError {
    /// All that verifier and libbpf said; empty where it adds nothing.
    pub fn log(&self) -> &str {
        match self {
            Self::Rejected { log, .. } | Self::Other { log, .. } => log,
            _ => "",
        }
    }

    /// Finds the cause behind what libbpf reports.
    pub(crate) fn explain(what: &'static str, source: libbpf_rs::Error, log: String) -> Self {
        match cause(source.kind(), &log, &Surroundings::look()) {
            Some(Cause::Rejected(reason)) => Self::Rejected { reason, log },
            Some(Cause::Known(error)) => error,
            None => Self::Other { what, source, log },
        }
    }
}

/// What the kernel and the process are like where loading failed.
struct Surroundings {
    btf: bool,
    /// `net.core.bpf_jit_enable`, if it is shown.
    jit: Option<String>,
    /// Of `/sys/kernel/security`, if it is shown.
    lockdown: String,
    /// What loading takes and this process may not.
    missing: Vec<&'static str>,
}

impl Surroundings {
    fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).ok();
        Self {
            btf: Path::new("/sys/kernel/btf/vmlinux").exists(),
            jit: read("/proc/sys/net/core/bpf_jit_enable"),
            lockdown: read("/sys/kernel/security/lockdown").unwrap_or_default(),
            missing: missing(&BPF),
        }
    }
}

/// What stands behind an error.
enum Cause {
    Known(LoadError),
    /// The verifier's last words.
    Rejected(String),
}

/// Causes before their effects: without BTF, say, a function cannot be found either.
fn cause(kind: ErrorKind, log: &str, around: &Surroundings) -> Option<Cause> {
    let lacking = |what: &str, advice| Some(Cause::Known(LoadError::Missing { what: what.into(), advice }));
    let locked = around.lockdown.contains("[confidentiality]");
    if !around.btf {
        return Some(Cause::Known(LoadError::NoBtf));
    }
    if kind == ErrorKind::Unsupported
        && verifier_words(log).is_none()
        && log.contains("Function not implemented")
    {
        return lacking("BPF system call", "it needs CONFIG_BPF_SYSCALL=y");
    }
    if around.jit.as_deref().is_some_and(|value| value.trim() == "0") {
        return lacking(
            "machine code for BPF programs (net.core.bpf_jit_enable is 0)",
            "switch it on: sysctl -w net.core.bpf_jit_enable=1",
        );
    }
    if let Some(function) = unresolved(log) {
        let advice = if function.starts_with("cubictcp") {
            "load its CUBIC (modprobe tcp_cubic, CONFIG_TCP_CONG_CUBIC), or continue with Reno"
        } else {
            "programs need Linux 6.1 or later"
        };
        return lacking(&format!("function {function} for BPF programs"), advice);
    }
    if log.contains("tcp_congestion_ops is not found in kernel BTF") {
        return lacking(
            "congestion controls in BPF",
            "it needs CONFIG_BPF_JIT and CONFIG_BPF_SYSCALL, and Linux 6.1 or later",
        );
    }
    match (kind, verifier_words(log)) {
        // Reading the kernel's memory is what this lockdown forbids, and the verifier speaks of a helper.
        (_, Some(_)) if locked && log.contains("bpf_probe_read_kernel") => {
            Some(Cause::Known(LoadError::Refused(LOCKED.into())))
        }
        (ErrorKind::PermissionDenied, None) => Some(Cause::Known(match around.missing.as_slice() {
            [] if locked => LoadError::Refused(LOCKED.into()),
            [] => LoadError::Refused(CONTAINED.into()),
            missing => LoadError::Capability(missing.to_vec()),
        })),
        (ErrorKind::OutOfMemory, _) => Some(Cause::Known(LoadError::Memory)),
        (_, words) => words.map(Cause::Rejected),
    }
}

const LOCKED: &str = "the kernel is locked down for confidentiality, so that programs may not read its memory (boot with \
                      lockdown=integrity or none)";
const CONTAINED: &str = "inside a user namespace or container only the host's own privileges count";

/// The line before the verifier's statistics; `None`: the verifier said nothing.
fn verifier_words(log: &str) -> Option<String> {
    let (_, log) = log.split_once("-- BEGIN PROG LOAD LOG --")?;
    let (log, _) = log.split_once("-- END PROG LOAD LOG --").unwrap_or((log, ""));
    let line =
        log.lines().rev().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("processed "))?;
    Some(line.to_owned())
}

fn unresolved(log: &str) -> Option<&str> {
    let line = log.lines().find(|line| {
        line.contains("extern (func ksym)") && line.contains("not found") && !line.contains("resolved")
    })?;
    line.split('\'').nth(1)
}

#[cfg(test)]
mod tests {
    use libbpf_rs::ErrorKind;

    use super::{Cause, Surroundings, cause, unresolved, verifier_words};

    fn sound() -> Surroundings {
        Surroundings {
            btf: true,
            jit: Some("1\n".into()),
            lockdown: "[none] integrity confidentiality".into(),
            missing: Vec::new(),
        }
    }

    fn in_words(kind: ErrorKind, log: &str, around: &Surroundings) -> String {
        match cause(kind, log, around) {
            Some(Cause::Known(error)) => error.to_string(),
            Some(Cause::Rejected(words)) => words,
            None => String::new(),
        }
    }

    #[test]
    fn every_cause_is_told_in_words_with_its_remedy() {
        let verifier =
            "-- BEGIN PROG LOAD LOG --\nunknown func bpf_probe_read_kernel#113\n-- END PROG LOAD LOG --";
        let cases: [(ErrorKind, &str, Surroundings, &str); 9] = [
            (ErrorKind::Other, "", Surroundings { btf: false, ..sound() }, "CONFIG_DEBUG_INFO_BTF=y"),
            (ErrorKind::Unsupported, "Function not implemented", sound(), "CONFIG_BPF_SYSCALL=y"),
            (ErrorKind::Other, "", Surroundings { jit: Some("0\n".into()), ..sound() }, "bpf_jit_enable=1"),
            (
                ErrorKind::NotFound,
                "extern (func ksym) 'cubictcp_init': not found in kernel or module BTFs",
                sound(),
                "modprobe tcp_cubic",
            ),
            (
                ErrorKind::Other,
                "struct tcp_congestion_ops is not found in kernel BTF",
                sound(),
                "CONFIG_BPF_JIT",
            ),
            (
                ErrorKind::PermissionDenied,
                verifier,
                Surroundings { lockdown: "none integrity [confidentiality]".into(), ..sound() },
                "lockdown=integrity",
            ),
            (
                ErrorKind::PermissionDenied,
                "",
                Surroundings { missing: vec!["CAP_PERFMON"], ..sound() },
                "missing CAP_PERFMON",
            ),
            (ErrorKind::PermissionDenied, "", sound(), "user namespace"),
            (ErrorKind::OutOfMemory, "", sound(), "no memory"),
        ];
        for (kind, log, around, expected) in cases {
            let said = in_words(kind, log, &around);
            assert!(said.contains(expected), "{expected}: {said}");
        }
        assert_eq!(
            in_words(ErrorKind::PermissionDenied, verifier, &sound()),
            "unknown func bpf_probe_read_kernel#113"
        );
        assert_eq!(in_words(ErrorKind::Other, "something else", &sound()), "");
    }

    #[test]
    fn quotes_the_verifiers_last_words() {
        let log = "libbpf: -- BEGIN PROG LOAD LOG --\n0: r1 = 0\nR1 invalid mem access 'scalar'\n\
                   processed 9 insns (limit 1000000)\n-- END PROG LOAD LOG --\n";
        assert_eq!(verifier_words(log).as_deref(), Some("R1 invalid mem access 'scalar'"));
        assert_eq!(verifier_words("libbpf: something else"), None);
    }

    #[test]
    fn finds_the_function_that_the_kernel_lacks() {
        let log = "libbpf: extern (func ksym) 'cubictcp_init': not found in kernel or module BTFs\n";
        assert_eq!(unresolved(log), Some("cubictcp_init"));
    }
}
