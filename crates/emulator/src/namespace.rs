//! A network namespace that lives as long as it is held.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::sys::stat::Mode;

use rampcc::Time;

use crate::netlink::{self, Network, RouteMetric};
use crate::plan::{Buffers, End, Family};
use crate::sys::{self, Setting};
use crate::{EmulatorError, Result};

/// Name of the device in both namespaces.
pub(crate) const DEVICE: &str = "ramp0";

/// A network namespace without a name: it is gone with its last descriptor, socket and process, however this
/// process ends.
#[derive(Debug)]
pub(crate) struct Namespace {
    handle: OwnedFd,
}

/// How the hosts of a namespace are set up.
#[derive(Debug)]
pub(crate) struct HostSettings {
    pub(crate) family: Family,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) mtu: u32,
    pub(crate) queue_packets: u32,
    pub(crate) time_stamps: bool,
    pub(crate) buffers: Buffers,
    pub(crate) tcp: HostTcp,
}

/// Settings of the hosts' TCP other than buffers. The default is the kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct HostTcp {
    /// Window before the first ACK, packets (route metric `initcwnd`); `None`: the kernel's, 10.
    pub initial_window_packets: Option<u32>,
    /// Every segment is acknowledged (route metric `quickack`).
    pub quick_acks: bool,
    /// Lower bound of the retransmission timer, whole milliseconds (route metric `rto_min`); `None`: the kernel's, 200 ms.
    pub rto_min: Option<Time>,
    /// `net.ipv4.tcp_sack`.
    pub sack: bool,
    /// `net.ipv4.tcp_slow_start_after_idle`.
    pub idle_restart: bool,
    /// Connections ask for ECN (`net.ipv4.tcp_ecn` 1); otherwise the kernel only agrees to it, as it does by default.
    pub ecn: bool,
}

impl Default for HostTcp {
    fn default() -> Self {
        Self {
            initial_window_packets: None,
            quick_acks: false,
            rto_min: None,
            sack: true,
            idle_restart: true,
            ecn: false,
        }
    }
}

impl HostTcp {
    /// What of it routes carry.
    fn metrics<'a>(&self) -> Vec<RouteMetric<'a>> {
        let metrics = [
            self.initial_window_packets.map(RouteMetric::InitialWindow),
            self.quick_acks.then_some(RouteMetric::QuickAck),
            self.rto_min.map(|least| RouteMetric::RtoMin((least.ns() / 1_000_000) as u32)),
        ];
        metrics.into_iter().flatten().collect()
    }
}

impl Namespace {
    pub(crate) fn new() -> Result<Self> {
        let make = || -> io::Result<OwnedFd> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
            Ok(open("/proc/thread-self/ns/net", flags, Mode::empty())?)
        };
        let handle = in_thread(make)
            .map_err(|cause| EmulatorError::denied("making a network namespace", "CAP_SYS_ADMIN", cause))?;
        Ok(Self { handle })
    }

    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| {
            setns(&self.handle, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        })
    }

    /// The route to a host at the other end names the congestion control of what is sent there.
    pub(crate) fn steer(&self, to: IpAddr, congestion_control: &str, tcp: &HostTcp) -> io::Result<()> {
        let metrics = [tcp.metrics(), vec![RouteMetric::CongestionControl(congestion_control)]].concat();
        let host = Network { address: to, prefix: if to.is_ipv6() { 128 } else { 32 } };
        self.run(|| netlink::set_route(DEVICE, host, &metrics))?
    }

    pub(crate) fn command(&self, program: &str) -> io::Result<Command> {
        let mut command = Command::new(program);
        sys::start_in(&mut command, self.handle.try_clone()?);
        Ok(command)
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Where other programs find it as long as this process lives.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.handle.as_raw_fd()))
    }

    /// Makes the TUN device and sets up addresses, routes and TCP.
    pub(crate) fn set_up(&self, settings: &HostSettings) -> Result<OwnedFd> {
        self.run(|| set_up(settings))
            .map_err(|cause| EmulatorError::io("entering a network namespace", cause))?
    }

    /// Packets that the device dropped: on the way out of the namespace, and on the way in.
    pub(crate) fn device_drops(&self) -> io::Result<[u64; 2]> {
        self.run(|| {
            let table = fs::read_to_string("/proc/thread-self/net/dev")?;
            device_drops(&table)
                .ok_or_else(|| io::Error::other(format!("/proc/net/dev has no row for {DEVICE}")))
        })?
    }
}

fn set_up(settings: &HostSettings) -> Result<OwnedFd> {
    write_sysctls(settings)?;
    let tun = sys::open_tun(DEVICE).map_err(|cause| match cause.kind() {
        io::ErrorKind::PermissionDenied if Path::new("/dev/net/tun").exists() && openable() => {
            EmulatorError::Capability { action: "making a TUN device", capability: "CAP_NET_ADMIN" }
        }
        _ => EmulatorError::Tun { cause },
    })?;
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(|cause| EmulatorError::io("making a socket", cause))?;
    let set = |name: &str, setting: Setting| {
        sys::set_interface(control.as_fd(), name, &setting)
            .map_err(|cause| EmulatorError::denied("setting up a network device", "CAP_NET_ADMIN", cause))
    };
    set("lo", Setting::Up)?;
    set(DEVICE, Setting::Mtu(settings.mtu))?;
    netlink::set_queue(DEVICE, settings.queue_packets)
        .map_err(|cause| EmulatorError::denied("setting up a network device", "CAP_NET_ADMIN", cause))?;
    set(DEVICE, Setting::Up)?;
    for address in &settings.addresses {
        // Both ends' addresses are of one network, so that the device's own route leads to the other end.
        let own = Network { address: *address, prefix: settings.family.prefix() };
        netlink::add_address(DEVICE, own)
            .map_err(|cause| EmulatorError::denied("giving a device its address", "CAP_NET_ADMIN", cause))?;
    }
    set_routes(settings)
        .map_err(|cause| EmulatorError::denied("setting up routes", "CAP_NET_ADMIN", cause))?;
    Ok(tun)
}

/// Routes that carry what TCP reads from routes; each is narrower than the device's own.
fn set_routes(settings: &HostSettings) -> io::Result<()> {
    let metrics = settings.tcp.metrics();
    if metrics.is_empty() {
        return Ok(());
    }
    for end in End::BOTH {
        let half = Network { address: settings.family.address(end, 0), prefix: settings.family.prefix() + 1 };
        netlink::set_route(DEVICE, half, &metrics)?;
    }
    Ok(())
}

fn openable() -> bool {
    fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok()
}

fn write_sysctls(settings: &HostSettings) -> Result {
    let Buffers { receive_initial, receive_max, send_max, .. } = settings.buffers;
    let send_initial = send_max.min(16 << 10);
    for (name, value) in [
        ("ipv4/tcp_rmem", format!("4096 {receive_initial} {receive_max}")),
        ("ipv4/tcp_wmem", format!("4096 {send_initial} {send_max}")),
        // A connection must not begin with what an earlier one has learnt.
        ("ipv4/tcp_no_metrics_save", "1".to_owned()),
        ("ipv4/tcp_timestamps", u8::from(settings.time_stamps).to_string()),
        ("ipv4/tcp_sack", u8::from(settings.tcp.sack).to_string()),
        ("ipv4/tcp_slow_start_after_idle", u8::from(settings.tcp.idle_restart).to_string()),
        ("ipv4/tcp_ecn", if settings.tcp.ecn { "1" } else { "2" }.to_owned()),
        // What the window allows leaves at once. Linux would wait up to a millisecond to fill a segmentation burst; no
        // window is below a share this small (`tcp_tso_should_defer`).
        ("ipv4/tcp_tso_win_divisor", "255".to_owned()),
        // A default that paces (bbr) would leave pacing on in sockets that are given another one later.
        ("ipv4/tcp_congestion_control", "reno".to_owned()),
    ] {
        write_sysctl(name, &value)?;
    }
    let ipv6 = settings.family == Family::V6;
    if !Path::new("/proc/sys/net/ipv6").exists() {
        // A kernel without it needs no word about it.
        return if ipv6 { Err(EmulatorError::NoIpv6) } else { Ok(()) };
    }
    for name in ["all", "default"] {
        // What a device says of its own accord would cross the links.
        write_sysctl(&format!("ipv6/conf/{name}/disable_ipv6"), if ipv6 { "0" } else { "1" })?;
        write_sysctl(&format!("ipv6/conf/{name}/router_solicitations"), "0")?;
    }
    // No address of the link.
    if ipv6 { write_sysctl("ipv6/conf/default/addr_gen_mode", "1") } else { Ok(()) }
}

fn write_sysctl(name: &str, value: &str) -> Result {
    let path = format!("/proc/sys/net/{name}");
    fs::write(&path, value).map_err(|cause| EmulatorError::io(format!("writing `{value}` to {path}"), cause))
}

/// Transmit and receive drops of [`DEVICE`] in the text of `/proc/net/dev`.
fn device_drops(table: &str) -> Option<[u64; 2]> {
    let row = table.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let columns: Vec<u64> = row.split_whitespace().filter_map(|column| column.parse().ok()).collect();
    Some([*columns.get(11)?, *columns.get(3)?])
}

/// Namespaces belong to threads: what changes its own does so in one that ends.
fn in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_device_table() {
        let table = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop ...\n    \
             lo:       1       2    3    4    0     0          0         0        5       6    7    8    0 0 0 0\n \
             ramp0: 100 2 0 11 0 0 0 0 200 3 0 22 0 0 0 0\n";
        assert_eq!(device_drops(table), Some([22, 11]));
        assert_eq!(device_drops("ramp0: 1 2\n"), None);
        assert_eq!(device_drops(""), None);
    }
}
