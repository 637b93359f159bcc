//! Settings that only rtnetlink can make within a user namespace: a device's queue, its addresses, and what TCP reads from
//! routes.

use std::io;
use std::net::IpAddr;

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;
use rampcc_system::netlink::{Attribute, Netlink, encode};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_REPLACE_CREATE: u16 = 0x100 | NLM_F_CREATE;
const IFLA_TXQLEN: u16 = 13;
/// Kernels' own default.
const LEAST_QUEUE: u32 = 1000;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;

/// What a route tells TCP; numbers of `linux/rtnetlink.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteMetric<'a> {
    /// `initcwnd`, packets.
    InitialWindow(u32),
    /// `quickack`.
    QuickAck,
    /// `rto_min`, milliseconds.
    RtoMin(u32),
    /// `congctl`.
    CongestionControl(&'a str),
}

impl RouteMetric<'_> {
    fn attribute(self) -> Attribute {
        let number = |value: u32| value.to_ne_bytes().to_vec();
        match self {
            Self::InitialWindow(packets) => (11, number(packets)),
            Self::RtoMin(ms) => (13, number(ms)),
            Self::QuickAck => (15, number(1)),
            Self::CongestionControl(name) => (16, name.as_bytes().to_vec()),
        }
    }
}

/// Sets `txqueuelen` of a device of the calling thread's namespace (the ioctl asks for privileges outside), or
/// the half of it, or a quarter: some kernels (Debian's 6.1) take no large number.
pub(crate) fn set_queue(device: &str, packets: u32) -> io::Result<()> {
    match try_queue(device, packets) {
        Err(error) if error.raw_os_error() == Some(Errno::ERANGE as i32) && packets > LEAST_QUEUE => {
            set_queue(device, packets / 2)
        }
        result => result,
    }
}

fn try_queue(device: &str, packets: u32) -> io::Result<()> {
    // struct ifinfomsg
    let mut body = vec![0; 4];
    body.extend(if_nametoindex(device)?.to_ne_bytes());
    body.extend([0; 8]);
    body.extend(encode(&[(IFLA_TXQLEN, packets.to_ne_bytes().to_vec())]));
    ask(RTM_NEWLINK, 0, &body)
}

/// An address and the length of its network's prefix, bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) address: IpAddr,
    pub(crate) prefix: u8,
}

impl Network {
    /// `AF_INET` or `AF_INET6`.
    fn family(self) -> u8 {
        if self.address.is_ipv6() { 10 } else { 2 }
    }

    fn octets(self) -> Vec<u8> {
        match self.address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        }
    }
}

/// Gives a device of the calling thread's namespace an address, usable at once, and a route to its network.
pub(crate) fn add_address(device: &str, own: Network) -> io::Result<()> {
    // No one else has it: the kernel does not ask the network first.
    const IFA_F_NODAD: u8 = 0x02;
    let flags = if own.address.is_ipv6() { IFA_F_NODAD } else { 0 };
    // struct ifaddrmsg
    let mut body = vec![own.family(), own.prefix, flags, 0];
    body.extend(if_nametoindex(device)?.to_ne_bytes());
    body.extend(encode(&[(IFA_LOCAL, own.octets()), (IFA_ADDRESS, own.octets())]));
    ask(RTM_NEWADDR, NLM_F_CREATE, &body)
}

/// Adds a route to a network through a device of the calling thread's namespace.
pub(crate) fn set_route(device: &str, to: Network, metrics: &[RouteMetric<'_>]) -> io::Result<()> {
    const TABLE_MAIN: u8 = 254;
    const PROTOCOL_STATIC: u8 = 4;
    const SCOPE_LINK: u8 = 253;
    const UNICAST: u8 = 1;
    // struct rtmsg
    let mut body =
        vec![to.family(), to.prefix, 0, 0, TABLE_MAIN, PROTOCOL_STATIC, SCOPE_LINK, UNICAST, 0, 0, 0, 0];
    let metrics: Vec<Attribute> = metrics.iter().map(|metric| metric.attribute()).collect();
    body.extend(encode(&[
        (RTA_DST, to.octets()),
        (RTA_OIF, if_nametoindex(device)?.to_ne_bytes().to_vec()),
        (RTA_METRICS, encode(&metrics)),
    ]));
    ask(RTM_NEWROUTE, NLM_F_REPLACE_CREATE, &body)
}

fn ask(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    Netlink::open(SockProtocol::NetlinkRoute)?.change(kind, flags, body)
}
