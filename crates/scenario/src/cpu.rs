//! `[cpu]`: what the hosts' processors have to do.

use rampcc::Time;
use rampcc_tcp::Search;

use crate::document::Section;
use crate::field::Default::{At, Count, Name, Number};
use crate::field::{count, number, one_of, table, time};

/// A host has something left for its connections.
const BASE_LOAD_MAX: f64 = 0.95;

table! { CPU: "[cpu]", "Gives every host one processor, which serves arriving packets one after another; without it, hosts cost no time. See [processors](cpu.md).";
    "search": one_of::<Search>() => Name("hint"), "How a host finds what a SACK block or an out-of-order segment means: a walk through a list for each block, as Linux before 2.6.15; one walk for all blocks, from where the last one ended if it can (Linux 2.6.15 to 2.6.23, the HyStart paper's); the same, but without a walk for what fills a receiver's first gap; a tree, as Linux since 4.15.";
    "visit": time(Time::ZERO, Time::from_us(100)) => At(Time::from_ns(5)), "Time to look at one entry of a queue.";
    "cache": count(0, 100_000_000) => Count(0), "Entries of a queue that the processor's cache holds; 0: any number. A Xeon of 2.8 GHz has 1 MB, and a walk touches three lines of 64 bytes of an entry: 5461.";
    "miss": time(Time::ZERO, Time::from_us(100)) => At(Time::from_ns(100)), "Further time for an entry that is not in the cache, which comes from memory.";
    "packet": time(Time::ZERO, Time::from_ms(100)) => At(Time::from_us(1)), "Time for a packet that arrives, whatever it says.";
    "ring": count(0, 1_000_000) => Count(0), "Packets that wait for the processor; further ones are dropped. 0: any number. The network card of 2008 has room for 256.";
    "interrupt-gap": time(Time::ZERO, Time::from_ms(100)) => At(Time::ZERO), "Shortest time between two interrupts of a host's network card. A packet that arrives in between waits for the next one, which hands over all that wait. Linux's driver e1000 has 20000 interrupts a second at most, 50 us.";
    "base-load": number(0.0, BASE_LOAD_MAX) => Number(0.3), "Share of the processor that everything else takes, sending included.";
}

/// The processor that every host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// How queues of segments are searched.
    pub search: Search,
    /// Time to look at one entry of a queue.
    pub visit: Time,
    /// Entries that the cache holds; 0: any number.
    pub cache: u32,
    /// Further time for an entry that it does not hold.
    pub miss: Time,
    /// Time for a packet, whatever it says.
    pub packet: Time,
    /// Packets that may wait; 0: any number.
    pub ring: u32,
    /// Shortest time between two interrupts of the network card, for packets that arrive; zero: each may have its own.
    pub interrupt_gap: Time,
    /// Share of the processor that is always taken, in thousandths, below 1000.
    pub base_load_permille: u32,
}

/// `[cpu]` of `root`.
pub(crate) fn cpu(root: &Section<'_>) -> Option<Cpu> {
    let s = root.inner("cpu", &CPU)?;
    let base_load: f64 = s.of("base-load");
    Some(Cpu {
        search: s.of("search"),
        visit: s.of("visit"),
        cache: s.of("cache"),
        miss: s.of("miss"),
        packet: s.of("packet"),
        ring: s.of("ring"),
        interrupt_gap: s.of("interrupt-gap"),
        base_load_permille: (base_load * 1000.0).round() as u32,
    })
}
