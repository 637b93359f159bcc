//! What has been sent and is neither acknowledged nor lost.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_avoidance::Stamp;

/// A packet as its stack names it. Packet numbers alone do not tell packets apart: each number space begins at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketId {
    /// When it was sent.
    pub sent: Time,
    /// Its packet number.
    pub number: u64,
}

/// One outstanding packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) id: PacketId,
    pub(crate) bytes: u32,
    /// Bytes sent by the connection just after it.
    pub(crate) sent_bytes: u64,
    pub(crate) stamp: Stamp,
    /// Sent with nothing more to send.
    pub(crate) app_limited: bool,
    /// In flight just after it.
    pub(crate) sent_into: u64,
    /// Ever found lost when it left.
    pub(crate) lost_bytes: u64,
    pub(crate) live: bool,
}

/// Outstanding packets in the order in which they left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
}

impl Ledger {
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push_back(Entry { live: true, ..entry });
    }

    /// Takes a packet out by its name; `None`: it is not here.
    pub(crate) fn take(&mut self, id: PacketId) -> Option<Entry> {
        // Most packets are acknowledged in the order in which they left.
        if self.entries.front().is_some_and(|oldest| oldest.live && oldest.id == id) {
            return self.remove(0);
        }
        let from = self.entries.partition_point(|entry| entry.id.sent < id.sent);
        let at = self.entries.iter().skip(from).take_while(|entry| entry.id.sent == id.sent);
        let at = from + at.into_iter().position(|entry| entry.live && entry.id.number == id.number)?;
        self.remove(at)
    }

    /// Takes out the newest packet with this number: those of the handshake, whose numbers may be the same, are older.
    pub(crate) fn take_number(&mut self, number: u64) -> Option<Entry> {
        // Numbers rise in each space, and one space has nearly all packets.
        let at = self.entries.partition_point(|entry| entry.id.number < number);
        let found = |entry: &Entry| entry.live && entry.id.number == number;
        if self.entries.get(at).is_some_and(found) {
            return self.remove(at);
        }
        let at = self.entries.iter().rposition(found)?;
        self.remove(at)
    }

    /// Takes out the oldest `bytes` of what left at this instant: of a batch that the stack names by its time alone.
    #[cfg(any(feature = "quinn", test))]
    pub(crate) fn take_part(&mut self, sent: Time, bytes: u64) -> Option<Entry> {
        let from = self.entries.partition_point(|entry| entry.id.sent < sent);
        let at = self.entries.iter().skip(from).take_while(|entry| entry.id.sent == sent);
        let at = from + at.into_iter().position(|entry| entry.live && u64::from(entry.bytes) >= bytes)?;
        let whole = &mut self.entries[at];
        if u64::from(whole.bytes) == bytes {
            return self.remove(at);
        }
        let mut part = *whole;
        part.bytes = bytes as u32;
        whole.bytes -= part.bytes;
        part.sent_bytes -= u64::from(whole.bytes);
        Some(part)
    }

    /// Forgets what left before `time`: of stacks that do not say which packets they have given up.
    pub(crate) fn forget_before(&mut self, time: Time) {
        while self.entries.front().is_some_and(|entry| !entry.live || entry.id.sent < time) {
            self.entries.pop_front();
        }
    }

    /// Bytes outstanding of what left at this instant.
    pub(crate) fn bytes_sent_at(&self, sent: Time) -> u64 {
        let newest = self.entries.iter().rev().take_while(|entry| entry.id.sent == sent);
        newest.filter(|entry| entry.live).map(|entry| u64::from(entry.bytes)).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn remove(&mut self, at: usize) -> Option<Entry> {
        let entry = self.entries.get_mut(at)?;
        entry.live = false;
        let entry = *entry;
        while self.entries.front().is_some_and(|entry| !entry.live) {
            self.entries.pop_front();
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ms: u64, number: u64, bytes: u32, sent_bytes: u64) -> Entry {
        Entry { id: PacketId { sent: Time::from_ms(ms), number }, bytes, sent_bytes, ..Entry::default() }
    }

    #[test]
    fn packets_of_one_instant_and_one_number_are_told_apart() {
        let mut ledger = Ledger::default();
        for (ms, number) in [(1, 0), (1, 0), (1, 1), (2, 0)] {
            ledger.push(entry(ms, number, 100, 0));
        }
        let id = |ms, number| PacketId { sent: Time::from_ms(ms), number };
        assert!(ledger.take(id(1, 0)).is_some() && ledger.take(id(1, 0)).is_some());
        assert!(ledger.take(id(1, 0)).is_none() && ledger.take(id(3, 0)).is_none());
        assert!(ledger.take_number(0).is_some_and(|entry| entry.id.sent == Time::from_ms(2)));
        assert!(ledger.take_number(1).is_some() && ledger.take_number(1).is_none());
        assert_eq!(ledger.len(), 0);
    }

    #[test]
    fn a_batch_is_acknowledged_in_parts_and_in_order() {
        let mut ledger = Ledger::default();
        ledger.push(entry(1, 9, 3000, 3000));
        let parts: Vec<_> = [1200, 1200, 600, 1]
            .map(|bytes| ledger.take_part(Time::from_ms(1), bytes).map(|part| (part.bytes, part.sent_bytes)))
            .into();
        assert_eq!(parts, [Some((1200, 1200)), Some((1200, 2400)), Some((600, 3000)), None]);
    }

    #[test]
    fn what_left_long_ago_is_forgotten() {
        let mut ledger = Ledger::default();
        for ms in 0..10 {
            ledger.push(entry(ms, ms, 100, 0));
        }
        ledger.forget_before(Time::from_ms(7));
        assert_eq!(ledger.len(), 3);
    }
}
