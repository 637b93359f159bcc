//! The one thing that only rtnetlink sets within a user namespace.

use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 1 | 4;
const NLMSG_ERROR: u16 = 2;
const IFLA_TXQLEN: u16 = 13;

/// Sets `txqueuelen` of a device of the calling thread's namespace (the ioctl asks for privileges outside).
pub(crate) fn set_queue(device: &str, packets: u32) -> io::Result<()> {
    let index = if_nametoindex(device)?;
    let kind = SockType::Raw;
    let socket = socket(AddressFamily::Netlink, kind, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    send(socket.as_raw_fd(), &request(index, packets), MsgFlags::empty())?;
    let mut answer = [0; 256];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    acknowledged(&answer[..length])
}

/// `struct nlmsghdr`, `struct ifinfomsg` and one attribute.
fn request(index: u32, packets: u32) -> Vec<u8> {
    let mut message = Vec::with_capacity(40);
    message.extend(40u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(8u16.to_ne_bytes());
    message.extend(IFLA_TXQLEN.to_ne_bytes());
    message.extend(packets.to_ne_bytes());
    message
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
