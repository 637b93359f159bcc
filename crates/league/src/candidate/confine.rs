//! The rights that a candidate's process gives away.
//!
//! Before its code is loaded: a limit of address space, no new files or core dumps, no new privileges, no file of any
//! directory (Landlock, where the kernel has it), and of the kernel's calls only those that loading and computing take
//! (seccomp): none that makes a socket, a process or a thread, writes a file, or sends a signal to another process. Before it plays,
//! reading files and making code executable go too.

pub(super) use here::{Object, before_loading, before_playing};

#[cfg(target_os = "linux")]
mod here {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use nix::sys::prctl;
    use nix::sys::resource::{Resource, setrlimit};
    use nix::sys::signal::{SigHandler, Signal, signal};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition,
        SeccompFilter, SeccompRule,
    };

    /// Address space, bytes.
    const MEMORY: u64 = 4 << 30;

    /// A shared object in memory: no directory has it.
    pub(in super::super) struct Object {
        path: PathBuf,
        _file: File,
    }

    impl Object {
        pub(in super::super) fn new(bytes: &[u8]) -> io::Result<Self> {
            let name = c"candidate.so";
            // Since Linux 6.3 a host may want to be asked; before that it is an unknown flag.
            let file = memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::from_bits_retain(libc::MFD_EXEC))
                .or_else(|_| memfd_create(name, MFdFlags::MFD_CLOEXEC))?;
            let mut file = File::from(file);
            file.write_all(bytes)?;
            Ok(Self { path: PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())), _file: file })
        }

        pub(in super::super) fn path(&self) -> &Path {
            &self.path
        }
    }

    pub(in super::super) fn before_loading() -> io::Result<()> {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        for (resource, most) in [
            (Resource::RLIMIT_AS, MEMORY),
            (Resource::RLIMIT_FSIZE, 0),
            (Resource::RLIMIT_CORE, 0),
            (Resource::RLIMIT_NOFILE, 64),
        ] {
            setrlimit(resource, most, most)?;
        }
        for fatal in [Signal::SIGSEGV, Signal::SIGBUS] {
            default_action(fatal)?;
        }
        prctl::set_no_new_privs()?;
        let kernel = ABI::V6;
        Ruleset::default()
            .handle_access(AccessFs::from_all(kernel))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(kernel)))
            .and_then(|rules| rules.scope(Scope::from_all(kernel)))
            .and_then(Ruleset::create)
            .and_then(landlock::RulesetCreated::restrict_self)
            .map_err(io::Error::other)?;
        let mut calls = computing()?;
        calls.extend(loading()?);
        allow_only(calls)
    }

    pub(in super::super) fn before_playing() -> io::Result<()> {
        // An allocator looks into /proc, and does without if it may not.
        let opening = Calls::from([(libc::SYS_openat, Vec::new())]);
        let denied = SeccompAction::Errno(libc::EACCES as u32);
        filter(opening, [SeccompAction::Allow, denied])?;
        allow_only(computing()?)
    }

    /// Rust's own handlers tell a full stack from other faults, which takes a call of the kernel that is not left.
    #[expect(unsafe_code, reason = "signal handlers are the process's")]
    fn default_action(fatal: Signal) -> io::Result<()> {
        // SAFETY: the default action runs no code of this process.
        unsafe { signal(fatal, SigHandler::SigDfl) }?;
        Ok(())
    }

    type Calls = BTreeMap<i64, Vec<SeccompRule>>;

    fn argument(index: u8, mask: u64, value: u64) -> io::Result<SeccompRule> {
        SeccompCondition::new(index, Length::Dword, Op::MaskedEq(mask), value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map_err(io::Error::other)
    }

    /// What computing takes, and ending.
    fn computing() -> io::Result<Calls> {
        let plain = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_close,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_madvise,
            libc::SYS_brk,
            libc::SYS_futex,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_getrandom,
            libc::SYS_clock_gettime,
            libc::SYS_getpid,
            libc::SYS_gettid,
            libc::SYS_sigaltstack,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigreturn,
            libc::SYS_exit,
            libc::SYS_exit_group,
        ];
        let mut calls: Calls = plain.into_iter().map(|call| (call, Vec::new())).collect();
        let executable = libc::PROT_EXEC as u64;
        calls.insert(libc::SYS_mmap, vec![argument(2, executable, 0)?]);
        calls.insert(libc::SYS_mprotect, vec![argument(2, executable, 0)?]);
        // A library that prints asks first where to; all that is there is a sink.
        calls.insert(libc::SYS_fstat, Vec::new());
        calls.insert(
            libc::SYS_newfstatat,
            vec![argument(3, libc::AT_EMPTY_PATH as u64, libc::AT_EMPTY_PATH as u64)?],
        );
        // And what is closed is looked at in builds with assertions.
        calls.insert(libc::SYS_fcntl, vec![argument(1, u64::from(u32::MAX), libc::F_GETFD as u64)?]);
        calls.insert(libc::SYS_ioctl, vec![argument(1, u64::from(u32::MAX), libc::TCGETS as _)?]);
        let writing = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
        calls.insert(libc::SYS_openat, vec![argument(2, writing as u64, 0)?]);
        // As `abort` does it: a signal to itself.
        calls
            .insert(libc::SYS_tgkill, vec![argument(0, u64::from(u32::MAX), u64::from(std::process::id()))?]);
        Ok(calls)
    }

    /// What loading takes besides.
    fn loading() -> io::Result<Calls> {
        let plain = [
            libc::SYS_mmap,
            libc::SYS_mprotect,
            libc::SYS_newfstatat,
            libc::SYS_pread64,
            libc::SYS_lseek,
            libc::SYS_seccomp,
        ];
        let mut calls: Calls = plain.into_iter().map(|call| (call, Vec::new())).collect();
        let narrowing = [libc::PR_SET_NO_NEW_PRIVS, libc::PR_SET_SECCOMP];
        let narrowing = narrowing.map(|option| argument(0, u64::from(u32::MAX), option as u64));
        calls.insert(libc::SYS_prctl, narrowing.into_iter().collect::<io::Result<_>>()?);
        Ok(calls)
    }

    /// From now on any other call ends the process.
    fn allow_only(calls: Calls) -> io::Result<()> {
        filter(calls, [SeccompAction::KillProcess, SeccompAction::Allow])
    }

    /// What the kernel does with other calls, and with these.
    fn filter(calls: Calls, [others, these]: [SeccompAction; 2]) -> io::Result<()> {
        let Ok(machine) = std::env::consts::ARCH.try_into() else { return Ok(()) };
        let filter = SeccompFilter::new(calls, others, these, machine);
        let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
        match seccompiler::apply_filter(&program) {
            // A kernel without seccomp.
            Err(seccompiler::Error::Prctl(error)) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            other => other.map_err(io::Error::other),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod here {
    use std::io::{self, Write};
    use std::path::Path;

    use tempfile::NamedTempFile;

    /// A shared object in a file that goes away.
    pub(in super::super) struct Object(NamedTempFile);

    impl Object {
        pub(in super::super) fn new(bytes: &[u8]) -> io::Result<Self> {
            let mut file = NamedTempFile::new()?;
            file.write_all(bytes)?;
            Ok(Self(file))
        }

        pub(in super::super) fn path(&self) -> &Path {
            self.0.path()
        }
    }

    pub(in super::super) fn before_loading() -> io::Result<()> {
        Ok(())
    }

    pub(in super::super) fn before_playing() -> io::Result<()> {
        Ok(())
    }
}
