//! Requests to the kernel over netlink: routes and sockets.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

/// `struct nlmsghdr`.
const HEADER: usize = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP_INTR: u16 = 0x10;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// The upper bits of an attribute's type say how it is coded.
const TYPE: u16 = 0x3fff;
/// A table that changes all the time is asked for this often.
const ATTEMPTS: u32 = 10;

/// A socket to one of netlink's families, in the network namespace of the thread that opened it.
pub struct Netlink(OwnedFd);

/// An attribute: its type, and its value without padding.
pub type Attribute = (u16, Vec<u8>);

impl Netlink {
    /// A socket of this family.
    pub fn open(family: SockProtocol) -> io::Result<Self> {
        Ok(Self(socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, family)?))
    }

    /// Asks for a table, and tells the body of each of its messages; a table may be larger than memory.
    ///
    /// What `each` gathers begins anew if the table changes while it is read.
    pub fn dump<T: Default>(&self, kind: u16, body: &[u8], each: impl Fn(&mut T, &[u8])) -> io::Result<T> {
        for _ in 0..ATTEMPTS {
            self.send(kind, NLM_F_REQUEST | NLM_F_DUMP, body)?;
            let mut gathered = T::default();
            if self.answers(|body| each(&mut gathered, body))? {
                return Ok(gathered);
            }
        }
        Err(io::Error::other("the kernel's table changes faster than it can be read"))
    }

    /// Asks for a change and waits for its acknowledgement.
    pub fn change(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        self.send(kind, NLM_F_REQUEST | NLM_F_ACK | flags, body)?;
        self.answers(|_| ()).map(|_| ())
    }

    fn send(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        send(self.0.as_raw_fd(), &message, MsgFlags::empty())?;
        Ok(())
    }

    /// Until the end of the table or the acknowledgement; false: the table changed while it was read.
    fn answers(&self, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut torn = false;
        let mut buffer = vec![0; 256 << 10];
        loop {
            let length = recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            if let Some(whole) = datagram(&buffer[..length], &mut torn, &mut each)? {
                return Ok(whole);
            }
        }
    }
}

/// The messages of one datagram; `None`: more are to come. `torn`: one of them said that the table has changed.
#[doc(hidden)]
pub fn datagram(mut bytes: &[u8], torn: &mut bool, mut each: impl FnMut(&[u8])) -> io::Result<Option<bool>> {
    while let Some((size, kind, flags)) = header(bytes) {
        *torn |= flags & NLM_F_DUMP_INTR != 0;
        let body = &bytes[HEADER..size];
        match kind {
            NLMSG_DONE => return Ok(Some(!*torn)),
            NLMSG_ERROR => {
                let error = body.first_chunk().map_or(0, |error| i32::from_ne_bytes(*error));
                return match error {
                    0 => Ok(Some(true)),
                    error => Err(Errno::from_raw(error.wrapping_neg()).into()),
                };
            }
            _ => each(body),
        }
        bytes = &bytes[aligned(size).min(bytes.len())..];
    }
    Ok(None)
}

/// Length, type and flags of the first message.
fn header(bytes: &[u8]) -> Option<(usize, u16, u16)> {
    let size = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let flags = u16::from_ne_bytes(*bytes.get(6..)?.first_chunk()?);
    (HEADER..=bytes.len()).contains(&size).then_some((size, kind, flags))
}

/// The attributes that follow each other in these bytes.
pub fn attributes(mut bytes: &[u8]) -> Vec<Attribute> {
    let mut found = Vec::new();
    while bytes.len() >= 4 {
        let size = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        if size < 4 || size > bytes.len() {
            break;
        }
        found.push((u16::from_ne_bytes([bytes[2], bytes[3]]) & TYPE, bytes[4..size].to_vec()));
        bytes = &bytes[aligned(size).min(bytes.len())..];
    }
    found
}

/// As the kernel wants them, each padded to four bytes.
pub fn encode(attributes: &[Attribute]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, value) in attributes {
        let size = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        bytes.extend(size.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(aligned(bytes.len()), 0);
    }
    bytes
}

fn aligned(size: usize) -> usize {
    size.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_survive_the_way_there_and_back() {
        let all = vec![(1, vec![10, 0, 0, 0]), (16, b"cubic\0".to_vec()), (8, Vec::new())];
        let bytes = encode(&all);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(attributes(&bytes), all);
    }

    #[test]
    fn what_is_cut_short_is_left_out() {
        let bytes = encode(&[(1, vec![1, 2, 3, 4]), (2, vec![5, 6])]);
        assert_eq!(attributes(&bytes[..bytes.len() - 3]), [(1, vec![1, 2, 3, 4])]);
        assert_eq!(attributes(&[3, 0, 1, 0, 9, 9, 9, 9]), []);
        assert_eq!(header(&[0; 8]), None);
    }
}
