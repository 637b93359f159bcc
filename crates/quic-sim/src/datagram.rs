//! What travels: a datagram's size and place. Its bytes wait in an arena.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::BytesMut;
use rampcc::Time;
use rampcc_path::Packet;
use rampcc_sim::Datagram;

/// IPv4 and UDP.
pub(crate) const HEADER_BYTES: u32 = 28;
/// No host reads it.
const NOWHERE: u32 = u32::MAX;
/// Bits of ECN in the IP header (RFC 3168).
const CONGESTION: u8 = 0b11;

/// A UDP datagram under way.
#[derive(Clone, Copy, Debug)]
pub struct UdpDatagram {
    pub(crate) place: u32,
    flow: u32,
    bytes: u32,
    stream_bytes: u32,
    pub(crate) ecn: u8,
}

impl UdpDatagram {
    pub(crate) fn new(flow: u32, place: u32, bytes: u32) -> Self {
        Self { place, flow, bytes, stream_bytes: 0, ecn: 0 }
    }

    /// The same, which carries so many bytes of streams.
    pub(crate) fn carrying(self, stream_bytes: u32) -> Self {
        Self { stream_bytes, ..self }
    }

    /// Whether it carries bytes of streams.
    pub(crate) fn carries(&self) -> bool {
        self.stream_bytes > 0
    }

    /// The same with these bits of ECN.
    pub(crate) fn with_ecn(self, ecn: u8) -> Self {
        Self { ecn, ..self }
    }
}

impl Default for UdpDatagram {
    fn default() -> Self {
        Self::new(0, NOWHERE, 0)
    }
}

impl Packet for UdpDatagram {
    fn wire_bytes(&self) -> u32 {
        self.bytes + HEADER_BYTES
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn pure_ack(&self) -> bool {
        self.stream_bytes == 0
    }

    fn markable(&self) -> bool {
        self.ecn != 0
    }

    fn mark(&mut self) {
        self.ecn = CONGESTION;
    }
}

impl Datagram for UdpDatagram {
    fn payload_bytes(&self) -> u32 {
        self.stream_bytes
    }

    fn unanswered(flow: u32, _: Time, wire_bytes: u32) -> Self {
        Self::new(flow, NOWHERE, wire_bytes.saturating_sub(HEADER_BYTES))
    }
}

/// The bytes of all datagrams of a run that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena(Rc<RefCell<Places>>);

#[derive(Debug, Default)]
struct Places {
    contents: Vec<BytesMut>,
    free: Vec<u32>,
}

impl Arena {
    pub(crate) fn put(&self, contents: BytesMut) -> u32 {
        let mut places = self.0.borrow_mut();
        let Some(place) = places.free.pop() else {
            places.contents.push(contents);
            return places.contents.len() as u32 - 1;
        };
        places.contents[place as usize] = contents;
        place
    }

    /// Takes a datagram out; nothing is there where none was put.
    pub(crate) fn take(&self, place: u32) -> BytesMut {
        let mut places = self.0.borrow_mut();
        let Some(contents) = places.contents.get_mut(place as usize) else { return BytesMut::new() };
        let contents = std::mem::take(contents);
        places.free.push(place);
        contents
    }

    #[cfg(test)]
    pub(crate) fn under_way(&self) -> usize {
        let places = self.0.borrow();
        places.contents.len() - places.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_used_again_and_bytes_come_out_once() {
        let arena = Arena::default();
        let place = arena.put(BytesMut::from(&b"one"[..]));
        assert_eq!((arena.under_way(), &arena.take(place)[..]), (1, &b"one"[..]));
        assert_eq!((arena.put(BytesMut::from(&b"two"[..])), arena.under_way()), (place, 1));
        assert!(arena.take(NOWHERE).is_empty());
        assert_eq!(UdpDatagram::unanswered(3, Time::ZERO, 500).wire_bytes(), 500);
    }
}
