//! How a path is emulated.

use rampcc::Time;

use crate::namespace::HostTcp;
use crate::plan::Family;

/// Options of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    /// Ask for real-time priority (`CAP_SYS_NICE`). If it is not to be had, the report says so.
    pub realtime: bool,
    /// Sleep until this long before a packet is due, then spin; at most half of the time is spent spinning.
    pub spin: Time,
    /// An answer that a host gives at once is taken to have been sent when the packet that caused it was due, but
    /// at most this much earlier than it was seen.
    pub back_dating: Time,
    /// Packets that a device holds for the emulator (`txqueuelen`): room for the largest burst while the thread does
    /// not run.
    pub device_queue_packets: u32,
    /// Keep the length of the bottleneck's queue after each arrival.
    pub sample_queue: bool,
    /// Keep every packet that a link drops.
    pub record_drops: bool,
    /// Keep every packet that a host sends.
    pub record_packets: bool,
    /// Settings of the hosts' TCP.
    pub tcp: HostTcp,
    /// Of all addresses.
    pub family: Family,
    /// Play what is faster than [`crate::RATED`].
    pub beyond_rating: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            realtime: true,
            spin: Time::from_us(50),
            back_dating: Time::from_us(100),
            device_queue_packets: 40_000,
            sample_queue: false,
            record_drops: false,
            record_packets: false,
            tcp: HostTcp::default(),
            family: Family::default(),
            beyond_rating: false,
        }
    }
}
