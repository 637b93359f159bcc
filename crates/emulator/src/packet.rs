//! IP packets as links see them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rampcc::Time;
use rampcc_path::Packet;

use crate::report::Seen;

/// A real packet under way.
#[derive(Debug)]
pub(crate) struct IpPacket {
    /// From the IP header to the last payload byte.
    pub(crate) bytes: Vec<u8>,
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
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
    /// Reads the headers of a packet of IPv4 or IPv6; links count `overhead` bytes on top of it.
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
    pub(crate) fn ends(&self) -> [SocketAddr; 2] {
        [SocketAddr::new(self.from, self.ports[0]), SocketAddr::new(self.to, self.ports[1])]
    }

    /// Whether a link has marked it on the way.
    pub(crate) fn marked(&self) -> bool {
        self.ecn != CONGESTION && self.bytes_ecn() == CONGESTION
    }

    fn bytes_ecn(&self) -> u8 {
        ecn(&self.bytes)
    }

    /// Payload of a TCP segment; empty: it has none, or is none.
    pub(crate) fn segment(&self) -> &[u8] {
        let length = if self.tcp { self.payload_bytes as usize } else { 0 };
        &self.bytes[self.bytes.len() - length.min(self.bytes.len())..]
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
            marked: false,
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
    fn markable(&self) -> bool {
        self.bytes_ecn() != NOT_CAPABLE
    }
    fn mark(&mut self) {
        if self.from.is_ipv6() {
            self.bytes[1] |= CONGESTION << 4;
            return;
        }
        let before = u16::from_be_bytes([self.bytes[0], self.bytes[1]]);
        self.bytes[1] |= CONGESTION;
        let after = u16::from_be_bytes([self.bytes[0], self.bytes[1]]);
        let sum = u16::from_be_bytes([self.bytes[10], self.bytes[11]]);
        let sum = changed_checksum(sum, before, after).to_be_bytes();
        self.bytes[10..12].copy_from_slice(&sum);
    }
}

/// The header's checksum after one of its words has changed (RFC 1624, equation 3).
fn changed_checksum(sum: u16, before: u16, after: u16) -> u16 {
    let mut total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

/// The ECN field of an IP header (RFC 3168, section 5).
fn ecn(bytes: &[u8]) -> u8 {
    match bytes {
        // The traffic class lies across two bytes.
        [first, second, ..] if first >> 4 == 6 => second >> 4 & 3,
        [_, second, ..] => second & 3,
        _ => NOT_CAPABLE,
    }
}

struct Headers {
    from: IpAddr,
    to: IpAddr,
    ports: [u16; 2],
    flow: u32,
    pure_ack: bool,
    data: bool,
    tcp: bool,
    payload_bytes: u32,
    ecn: u8,
}

/// Not-ECT and CE of RFC 3168.
const NOT_CAPABLE: u8 = 0;
const CONGESTION: u8 = 3;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// SYN, FIN, RST and ACK: of these a pure ACK has the last alone.
const TCP_KINDS: u8 = 0x17;
const TCP_ACK: u8 = 0x10;

/// What of an IP packet is behind its header.
struct Body<'b> {
    protocol: u8,
    bytes: &'b [u8],
    /// False: the transport's header is in another packet.
    first_fragment: bool,
}

impl Headers {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (from, to, body): (IpAddr, IpAddr, Body<'_>) = match bytes.first()? >> 4 {
            4 => {
                let fixed = bytes.first_chunk::<20>()?;
                let address =
                    |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
                (address(12).into(), address(16).into(), body_v4(bytes)?)
            }
            6 => {
                let address = |at: usize| bytes[at..at + 16].first_chunk::<16>().copied().map(Ipv6Addr::from);
                let body = body_v6(bytes)?;
                (address(8)?.into(), address(24)?.into(), body)
            }
            _ => return None,
        };
        let Body { protocol, bytes: behind, first_fragment } = body;
        let known = if first_fragment { behind } else { &[] };
        let ports = match protocol {
            TCP | UDP => known.first_chunk::<4>().copied().unwrap_or_default(),
            _ => [0; 4],
        };
        let addresses = if from.is_ipv6() { &bytes[8..40] } else { &bytes[12..20] };
        Some(Self {
            from,
            to,
            ports: [u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])],
            flow: fnv1a([protocol].iter().chain(addresses).chain(&ports)),
            pure_ack: protocol == TCP && first_fragment && is_pure_ack(known),
            data: protocol != TCP || !first_fragment || has_payload(known),
            tcp: protocol == TCP,
            payload_bytes: if first_fragment { payload_bytes(protocol, known) } else { behind.len() as u32 },
            ecn: ecn(bytes),
        })
    }
}

/// `None`: it is no IPv4 packet.
fn body_v4(bytes: &[u8]) -> Option<Body<'_>> {
    let header_bytes = usize::from(bytes[0] & 0xf) * 4;
    if header_bytes < 20 {
        return None;
    }
    let offset = u16::from_be_bytes([bytes[6] & 0x1f, bytes[7]]);
    let behind = bytes.get(header_bytes..).unwrap_or_default();
    Some(Body { protocol: bytes[9], bytes: behind, first_fragment: offset == 0 })
}

/// Behind all extension headers (RFC 8200, section 4). `None`: it is no IPv6 packet.
fn body_v6(bytes: &[u8]) -> Option<Body<'_>> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let mut behind = bytes.get(40..)?;
    let (mut protocol, mut first_fragment) = (bytes[6], true);
    while let (HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION, Some(start)) =
        (protocol, behind.first_chunk::<8>())
    {
        let length = if protocol == FRAGMENT {
            first_fragment &= u16::from_be_bytes([start[2], start[3]]) >> 3 == 0;
            8
        } else {
            8 * (usize::from(start[1]) + 1)
        };
        protocol = start[0];
        behind = behind.get(length..).unwrap_or_default();
    }
    Some(Body { protocol, bytes: behind, first_fragment })
}

fn is_pure_ack(tcp: &[u8]) -> bool {
    let (Some(offset), Some(flags)) = (tcp.get(12), tcp.get(13)) else { return false };
    flags & TCP_KINDS == TCP_ACK && tcp.len() == usize::from(offset >> 4) * 4
}

fn has_payload(tcp: &[u8]) -> bool {
    tcp.get(12).is_some_and(|offset| tcp.len() > usize::from(offset >> 4) * 4)
}

/// Of the transport; of anything else all behind the IP header.
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
    pub(crate) fn tcp(from: [u8; 4], to: [u8; 4], ports: [u16; 2], flags: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, TCP, 0, 0];
        bytes.extend(from);
        bytes.extend(to);
        bytes.extend(ports.map(u16::to_be_bytes).concat());
        bytes.extend([0; 8]);
        bytes.extend([0x50, flags]);
        bytes.extend([0; 6]);
        bytes.resize(40 + payload, 0);
        bytes
    }

    const A: [u8; 4] = [10, 77, 0, 1];
    const B: [u8; 4] = [10, 77, 128, 1];

    fn parsed(bytes: Vec<u8>) -> IpPacket {
        IpPacket::parse(bytes, 0).expect("it is an IP packet")
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
            let packet = parsed(tcp(A, B, [1, 2], flags, payload));
            assert_eq!(packet.pure_ack(), pure, "{flags:#x} {payload}");
            assert_eq!(packet.data(), payload > 0, "{flags:#x} {payload}");
            assert_eq!(packet.ends().map(|end| end.port()), [1, 2]);
        }
    }

    #[test]
    fn flows_differ_by_any_part_of_the_five_tuple() {
        let flow = |bytes| parsed(bytes).flow();
        let base = flow(tcp(A, B, [1, 2], 0x10, 0));
        assert_eq!(base, flow(tcp(A, B, [1, 2], 0x18, 1000)));
        assert_ne!(base, flow(tcp(B, A, [1, 2], 0x10, 0)));
        assert_ne!(base, flow(tcp(A, B, [1, 3], 0x10, 0)));
        let mut udp = tcp(A, B, [1, 2], 0x10, 0);
        udp[9] = UDP;
        assert_ne!(base, flow(udp.clone()));
        assert!(!parsed(udp).pure_ack());
    }

    #[test]
    fn a_watcher_notes_transport_payload_and_ecn() {
        let noted = |bytes| parsed(bytes).seen(Time::from_us(7));
        let seen = noted(tcp(A, B, [1, 2], 0x10, 1000));
        assert_eq!((seen.tcp, seen.payload_bytes, seen.ecn, seen.taken), (true, 1000, 0, Time::from_us(7)));
        assert_eq!((seen.due, seen.written, seen.dropped), (Time::NEVER, Time::NEVER, Time::NEVER));
        let mut udp = tcp(A, B, [1, 2], 0x10, 1000);
        (udp[1], udp[9]) = (2, UDP);
        let seen = noted(udp);
        assert_eq!((seen.tcp, seen.payload_bytes, seen.ecn), (false, 1012, 2));
    }

    /// Of an IPv4 header: zero if its checksum is right.
    fn checked(header: &[u8]) -> u16 {
        let words =
            header[..20].chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn a_mark_is_written_into_the_header_of_those_who_can_read_it() {
        for capable in [0, 1, 2, 3] {
            let mut bytes = tcp(A, B, [1, 2], 0x10, 100);
            bytes[1] = 0xb8 | capable;
            let sum = checked(&bytes).to_be_bytes();
            bytes[10..12].copy_from_slice(&sum);
            let mut six = tcp_v6(0, 100);
            (six[0], six[1]) = (0x6b, 0x80 | capable << 4 | 0xf);
            for mut packet in [parsed(bytes), parsed(six)] {
                assert_eq!((packet.markable(), packet.seen(Time::ZERO).ecn), (capable != 0, capable));
                if capable != 0 {
                    packet.mark();
                    assert_eq!((packet.bytes_ecn(), packet.marked()), (3, capable != 3));
                }
                match packet.from {
                    IpAddr::V4(_) => {
                        assert_eq!((checked(&packet.bytes), packet.bytes[1] >> 2), (0, 0xb8 >> 2));
                    }
                    IpAddr::V6(_) => assert_eq!((packet.bytes[0], packet.bytes[1] & 0xcf), (0x6b, 0x8f)),
                }
            }
        }
    }

    /// From `fd77::1` to `fd77::8001`, behind so many bytes of destination options.
    fn tcp_v6(options: usize, payload: usize) -> Vec<u8> {
        let inner = tcp(A, B, [1, 2], 0x10, payload).split_off(20);
        let mut bytes = vec![0x60, 0, 0, 0, 0, 0, if options == 0 { TCP } else { 60 }, 64];
        bytes.extend(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1).octets());
        bytes.extend(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 0x8001).octets());
        if options > 0 {
            bytes.extend([TCP, (options / 8 - 1) as u8]);
            bytes.resize(40 + options, 0);
        }
        bytes.extend(inner);
        bytes
    }

    #[test]
    fn packets_of_ipv6_are_read_behind_their_extension_headers() {
        for options in [0, 8, 24] {
            let packet = parsed(tcp_v6(options, 1000));
            let [from, to] = packet.ends().map(|end| end.to_string());
            assert_eq!((from.as_str(), to.as_str()), ("[fd77::1]:1", "[fd77::8001]:2"));
            assert_eq!(
                (packet.seen(Time::ZERO).payload_bytes, packet.tcp, packet.data()),
                (1000, true, true)
            );
            assert_eq!(packet.wire_bytes() as usize, 1060 + options);
            assert!(parsed(tcp_v6(options, 0)).pure_ack());
            assert_eq!((packet.segment().len(), parsed(tcp_v6(options, 0)).segment().len()), (1000, 0));
        }
        assert_eq!(parsed(tcp_v6(0, 0)).flow(), parsed(tcp_v6(8, 9)).flow());
        // A fragment after the first has no header of its transport.
        let mut fragment = tcp_v6(8, 100);
        (fragment[6], fragment[42]) = (44, 1);
        let fragment = parsed(fragment);
        assert_eq!((fragment.ports, fragment.data(), fragment.pure_ack()), ([0, 0], true, false));
    }

    #[test]
    fn links_count_the_overhead() {
        let packet = IpPacket::parse(tcp(A, B, [1, 2], 0x10, 1000), 14).expect("it is an IP packet");
        assert_eq!(packet.wire_bytes(), 1054);
        assert_eq!((packet.from, packet.to), (IpAddr::from(A), IpAddr::from(B)));
    }

    #[test]
    fn what_is_no_ip_packet_comes_back() {
        for bytes in [vec![], vec![0x45; 19], vec![0x60; 39], vec![0x41; 40], vec![0x75; 40]] {
            assert_eq!(IpPacket::parse(bytes.clone(), 0).expect_err("it is none"), bytes);
        }
    }

    #[test]
    fn a_cut_tcp_header_is_no_pure_ack() {
        let mut bytes = tcp(A, B, [1, 2], 0x10, 0);
        bytes.truncate(30);
        assert!(!parsed(bytes).pure_ack());
    }
}
