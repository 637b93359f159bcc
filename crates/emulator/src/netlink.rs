//! What rtnetlink alone sets within a user namespace: a device's queue, and what TCP reads from routes.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWROUTE: u16 = 24;
const NLM_F_REQUEST_ACK: u16 = 1 | 4;
const NLM_F_REPLACE_CREATE: u16 = 0x100 | 0x400;
const NLMSG_ERROR: u16 = 2;
const IFLA_TXQLEN: u16 = 13;
/// Kernels' own default.
const LEAST_QUEUE: u32 = 1000;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;

/// What a route tells TCP; numbers of `linux/rtnetlink.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteMetric {
    /// `initcwnd`, packets.
    InitialWindow(u32),
    /// `quickack`.
    QuickAck,
    /// `rto_min`, milliseconds.
    RtoMin(u32),
}

impl RouteMetric {
    fn attribute(self) -> Vec<u8> {
        let (kind, value) = match self {
            Self::InitialWindow(packets) => (11, packets),
            Self::RtoMin(ms) => (13, ms),
            Self::QuickAck => (15, 1),
        };
        attribute(kind, &value.to_ne_bytes())
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
    body.extend(attribute(IFLA_TXQLEN, &packets.to_ne_bytes()));
    ask(RTM_NEWLINK, 0, &body)
}

/// Adds a route to a network through a device of the calling thread's namespace.
pub(crate) fn set_route(
    device: &str,
    network: Ipv4Addr,
    prefix: u8,
    metrics: &[RouteMetric],
) -> io::Result<()> {
    const AF_INET: u8 = 2;
    const TABLE_MAIN: u8 = 254;
    const PROTOCOL_STATIC: u8 = 4;
    const SCOPE_LINK: u8 = 253;
    const UNICAST: u8 = 1;
    // struct rtmsg
    let mut body = vec![AF_INET, prefix, 0, 0, TABLE_MAIN, PROTOCOL_STATIC, SCOPE_LINK, UNICAST, 0, 0, 0, 0];
    body.extend(attribute(RTA_DST, &network.octets()));
    body.extend(attribute(RTA_OIF, &if_nametoindex(device)?.to_ne_bytes()));
    let metrics: Vec<u8> = metrics.iter().flat_map(|metric| metric.attribute()).collect();
    body.extend(attribute(RTA_METRICS, &metrics));
    ask(RTM_NEWROUTE, NLM_F_REPLACE_CREATE, &body)
}

fn ask(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    let protocol = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    // struct nlmsghdr
    let mut message = Vec::with_capacity(16 + body.len());
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST_ACK | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    send(socket.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 256];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    acknowledged(&answer[..length])
}

/// `struct rtattr`; the lengths used here need no padding.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + value.len());
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes
}

/// An acknowledgement is an error message with the error 0.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).and_then(|kind| kind.first_chunk()).map(|kind| u16::from_ne_bytes(*kind));
    let error =
        answer.get(16..20).and_then(|error| error.first_chunk()).map(|error| i32::from_ne_bytes(*error));
    match (kind, error) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => Err(Errno::from_raw(error.wrapping_neg()).into()),
        _ => Err(io::Error::other("rtnetlink gave no acknowledgement")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_acknowledgements_or_errors() {
        let answer = |kind: u16, error: i32| {
            let mut bytes = [0; 36];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&error.to_ne_bytes());
            acknowledged(&bytes)
        };
        assert!(answer(NLMSG_ERROR, 0).is_ok());
        let denied = answer(NLMSG_ERROR, -(Errno::EPERM as i32)).expect_err("it is an error");
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        assert!(answer(RTM_NEWLINK, 0).is_err());
        assert!(acknowledged(&[0; 10]).is_err());
    }
}
