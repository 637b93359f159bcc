//! System calls that no safe wrapper covers.
#![expect(
    unsafe_code,
    reason = "ioctls, options and scheduling that nix does not wrap; each call is bounded here"
)]

use std::ffi::c_int;
use std::io;
use std::mem::{self, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::setsid;

/// Opens a TUN device of this name in the calling thread's network namespace, without blocking.
pub(crate) fn open_tun(name: &str) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(c"/dev/net/tun".as_ptr(), flags) };
    checked(fd)?;
    // SAFETY: the descriptor is new and has no other owner.
    let tun = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`.
    checked(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
    Ok(tun)
}

/// What can be set on an interface.
pub(crate) enum Setting {
    Mtu(u32),
    Up,
}

/// Changes an interface of the namespace that `socket` was made in.
pub(crate) fn set_interface(socket: BorrowedFd<'_>, name: &str, setting: &Setting) -> io::Result<()> {
    let mut request = interface(name);
    let code = match *setting {
        Setting::Mtu(bytes) => {
            request.ifr_ifru.ifru_mtu = bytes.cast_signed();
            libc::SIOCSIFMTU
        }
        Setting::Up => {
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
            libc::SIOCSIFFLAGS
        }
    };
    // SAFETY: these requests read one `ifreq`.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), code as _, &raw mut request) })
}

/// Puts the calling thread into the class `SCHED_FIFO`.
pub(crate) fn run_realtime(priority: c_int) -> io::Result<()> {
    // SAFETY: it is made of integers, of which musl has more than glibc.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = priority;
    // Of a thread, since musl refuses to do it for processes.
    // SAFETY: the parameters outlive the call, and the thread is this one.
    match unsafe {
        libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &raw const parameters)
    } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Bytes of `struct tcp_info` as far as this crate reads it, and room to grow.
pub(crate) const TCP_INFO_BYTES: usize = 320;

/// `TCP_INFO` of a socket, and how many bytes of it the kernel knows.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<([u8; TCP_INFO_BYTES], usize)> {
    let mut bytes = [0u8; TCP_INFO_BYTES];
    let mut length = TCP_INFO_BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok((bytes, length as usize))
}

/// `TCP_CC_INFO` of a socket: what its congestion control says of itself, and how many bytes that is.
pub(crate) fn tcp_cc_info(socket: BorrowedFd<'_>) -> io::Result<([u8; TCP_CC_INFO_BYTES], usize)> {
    let mut bytes = [0u8; TCP_CC_INFO_BYTES];
    let mut length = TCP_CC_INFO_BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CC_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok((bytes, length as usize))
}

/// `union tcp_cc_info`.
pub(crate) const TCP_CC_INFO_BYTES: usize = 20;

/// Never advertise more than this.
pub(crate) fn set_window_clamp(socket: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
    // SAFETY: the option is one integer, which outlives the call.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const value).cast(),
            size_of::<c_int>() as libc::socklen_t,
        )
    })
}

/// TCP's own pacing, at the rate that the kernel derives from window and round-trip time.
pub(crate) fn set_paced(socket: BorrowedFd<'_>) -> io::Result<()> {
    // All ones would mean "no limit", and leave pacing off.
    let value = u64::MAX - 1;
    // SAFETY: the option is one long integer, which outlives the call.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const value).cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    })
}

/// Has `command` start in a network namespace and a session of its own, and end with the thread that started it.
pub(crate) fn start_in(command: &mut Command, namespace: OwnedFd) {
    let enter = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        setsid()?;
        setns(namespace.as_fd(), CloneFlags::CLONE_NEWNET)?;
        Ok(())
    };
    // SAFETY: all are plain system calls, which a forked child may make.
    unsafe { command.pre_exec(enter) };
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: all zeros is an `ifreq`: a name and a union of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *to = from.cast_signed();
    }
    request
}

fn checked(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
