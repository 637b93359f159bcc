//! IP packets as links see them.

use std::net::{Ipv4Addr, SocketAddrV4};

use rampcc::Time;
use rampcc_path::Packet;

use crate::report::Seen;

/// A real packet under way.
#[derive(Debug)]
pub(crate) struct IpPacket {
    /// From the IP header to the last payload byte.
    pub(crate) bytes: Vec<u8>,
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
    /// Source and destination; 0: the protocol has none.
    ports: [u16; 2],
    wire_bytes: u32,
    flow: u32,
    pure_ack: bool,
    data: bool,
    tcp: bool,
    payload_bytes: u32,
    ecn: u8,
}

impl IpPacket {
    /// Reads the headers of an IPv4 packet; links count `overhead` bytes on top of it.
    ///
    /// Anything else comes back.
    pub(crate) fn parse(bytes: Vec<u8>, overhead: u32) -> Result<Self, Vec<u8>> {
        let Some(headers) = Headers::parse(&bytes) else { return Err(bytes) };
        Ok(Self {
            wire_bytes: bytes.len() as u32 + overhead,
            from: headers.from,
            to: headers.to,
            ports: headers.ports,
            flow: headers.flow,
            pure_ack: headers.pure_ack,
            data: headers.data,
            tcp: headers.tcp,
            payload_bytes: headers.payload_bytes,
            ecn: headers.ecn,
            bytes,
        })
    }

    /// Where it comes from and where it goes.
    pub(crate) fn ends(&self) -> [SocketAddrV4; 2] {
        [SocketAddrV4::new(self.from, self.ports[0]), SocketAddrV4::new(self.to, self.ports[1])]
    }

    /// Whether it carries payload.
    pub(crate) fn data(&self) -> bool {
        self.data
    }

    /// What a watcher at the entry of the path notes of it.
    pub(crate) fn seen(&self, taken: Time) -> Seen {
        let [from, to] = self.ends();
        Seen {
            taken,
            from,
            to,
            tcp: self.tcp,
            payload_bytes: self.payload_bytes,
            ecn: self.ecn,
            due: Time::NEVER,
            written: Time::NEVER,
            dropped: Time::NEVER,
        }
    }
}

impl Packet for IpPacket {
    fn wire_bytes(&self) -> u32 {
        self.wire_bytes
    }
    fn flow(&self) -> u32 {
        self.flow
    }
    fn pure_ack(&self) -> bool {
        self.pure_ack
    }
}

struct Headers {
    from: Ipv4Addr,
    to: Ipv4Addr,
    ports: [u16; 2],
    flow: u32,
    pure_ack: bool,
    data: bool,
    tcp: bool,
    payload_bytes: u32,
    ecn: u8,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
/// SYN, FIN, RST and ACK: of these a pure ACK has the last alone.
const TCP_KINDS: u8 = 0x17;
const TCP_ACK: u8 = 0x10;

impl Headers {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (fixed, _) = bytes.split_first_chunk::<20>()?;
        let header_bytes = usize::from(fixed[0] & 0xf) * 4;
        if fixed[0] >> 4 != 4 || header_bytes < 20 {
            return None;
        }
        let protocol = fixed[9];
        let offset = u16::from_be_bytes([fixed[6] & 0x1f, fixed[7]]);
        let first_fragment = offset == 0;
        let body = bytes.get(header_bytes..).filter(|_| first_fragment).unwrap_or_default();
        let ports = match protocol {
            TCP | UDP => body.first_chunk::<4>().copied().unwrap_or_default(),
            _ => [0; 4],
        };
        let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
        Some(Self {
            from: address(12),
            to: address(16),
            ports: [u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])],
            flow: fnv1a([protocol].iter().chain(&fixed[12..20]).chain(&ports)),
            pure_ack: protocol == TCP && first_fragment && is_pure_ack(body),
            data: protocol != TCP || !first_fragment || has_payload(body),
            tcp: protocol == TCP,
            payload_bytes: payload_bytes(protocol, body),
            ecn: fixed[1] & 3,
        })
    }
}

fn is_pure_ack(tcp: &[u8]) -> bool {
    let (Some(offset), Some(flags)) = (tcp.get(12), tcp.get(13)) else { return false };
    flags & TCP_KINDS == TCP_ACK && tcp.len() == usize::from(offset >> 4) * 4
}

fn has_payload(tcp: &[u8]) -> bool {
    tcp.get(12).is_some_and(|offset| tcp.len() > usize::from(offset >> 4) * 4)
}

/// Of the transport; of anything else, and of fragments after the first, all behind the IP header.
fn payload_bytes(protocol: u8, body: &[u8]) -> u32 {
    let header = match protocol {
        TCP => body.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4),
        UDP => 8,
        _ => 0,
    };
    body.len().saturating_sub(header) as u32
}

/// FNV-1a, 32 bits (Fowler, Noll, Vo).
fn fnv1a<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A TCP packet without options.
    pub(crate) fn tcp(from: [u8; 4], to: [u8; 4], ports: (u16, u16), flags: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, TCP, 0, 0];
        bytes.extend(from);
        bytes.extend(to);
        bytes.extend(ports.0.to_be_bytes());
        bytes.extend(ports.1.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend([0x50, flags]);
        bytes.extend([0; 6]);
        bytes.resize(40 + payload, 0);
        bytes
    }

    const A: [u8; 4] = [10, 77, 0, 1];
    const B: [u8; 4] = [10, 77, 128, 1];

    fn parsed(bytes: Vec<u8>) -> IpPacket {
        IpPacket::parse(bytes, 0).expect("it is an IPv4 packet")
    }

    #[test]
    fn pure_acks_carry_nothing_and_open_or_close_nothing() {
        for (flags, payload, pure) in [
            (0x10, 0, true),
            (0x18, 0, true),
            (0x10, 1, false),
            (0x12, 0, false),
            (0x11, 0, false),
            (0x14, 0, false),
            (0x02, 0, false),
        ] {
            let packet = parsed(tcp(A, B, (1, 2), flags, payload));
            assert_eq!(packet.pure_ack(), pure, "{flags:#x} {payload}");
            assert_eq!(packet.data(), payload > 0, "{flags:#x} {payload}");
            assert_eq!(packet.ends().map(|end| end.port()), [1, 2]);
        }
    }

    #[test]
    fn flows_differ_by_any_part_of_the_five_tuple() {
        let flow = |bytes| parsed(bytes).flow();
        let base = flow(tcp(A, B, (1, 2), 0x10, 0));
        assert_eq!(base, flow(tcp(A, B, (1, 2), 0x18, 1000)));
        assert_ne!(base, flow(tcp(B, A, (1, 2), 0x10, 0)));
        assert_ne!(base, flow(tcp(A, B, (1, 3), 0x10, 0)));
        let mut udp = tcp(A, B, (1, 2), 0x10, 0);
        udp[9] = UDP;
        assert_ne!(base, flow(udp.clone()));
        assert!(!parsed(udp).pure_ack());
    }

    #[test]
    fn a_watcher_notes_transport_payload_and_ecn() {
        let noted = |bytes| parsed(bytes).seen(Time::from_us(7));
        let seen = noted(tcp(A, B, (1, 2), 0x10, 1000));
        assert_eq!((seen.tcp, seen.payload_bytes, seen.ecn, seen.taken), (true, 1000, 0, Time::from_us(7)));
        assert_eq!((seen.due, seen.written, seen.dropped), (Time::NEVER, Time::NEVER, Time::NEVER));
        let mut udp = tcp(A, B, (1, 2), 0x10, 1000);
        (udp[1], udp[9]) = (2, UDP);
        let seen = noted(udp);
        assert_eq!((seen.tcp, seen.payload_bytes, seen.ecn), (false, 1012, 2));
    }

    #[test]
    fn links_count_the_overhead() {
        let packet = IpPacket::parse(tcp(A, B, (1, 2), 0x10, 1000), 14).expect("it is an IPv4 packet");
        assert_eq!(packet.wire_bytes(), 1054);
        assert_eq!((packet.from, packet.to), (A.into(), B.into()));
    }

    #[test]
    fn what_is_no_ipv4_packet_comes_back() {
        for bytes in [vec![], vec![0x45; 19], vec![0x60; 40], vec![0x41; 40]] {
            assert_eq!(IpPacket::parse(bytes.clone(), 0).expect_err("it is none"), bytes);
        }
    }

    #[test]
    fn a_cut_tcp_header_is_no_pure_ack() {
        let mut bytes = tcp(A, B, (1, 2), 0x10, 0);
        bytes.truncate(30);
        assert!(!parsed(bytes).pure_ack());
    }
}
