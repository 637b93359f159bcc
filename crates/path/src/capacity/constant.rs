//! One rate for ever.

use rampcc::{Rate, Time};

use super::{Serve, WORK_PER_BYTE};

/// Serves at one rate, exactly: what a departure time lacks of a whole nanosecond is carried to the next.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    rate: u64,
    busy_until: Time,
    /// By how much service really ends after `busy_until`, in nanoseconds over `rate`.
    remainder: u64,
    /// Service times of the sizes seen last, to avoid a division per packet.
    known: [Service; SLOTS],
}

/// How long a packet of `bytes` takes: whole nanoseconds and the rest over `rate`.
#[derive(Clone, Copy, Debug)]
struct Service {
    bytes: u32,
    ns: u64,
    remainder: u64,
}

/// Data and ACKs with and without options: few sizes matter.
const SLOTS: usize = 4;

impl Constant {
    pub(super) fn new(rate: Rate) -> Self {
        let rate = rate.bits_per_s();
        let nothing = Service { bytes: 0, ns: 0, remainder: 0 };
        Self { rate, busy_until: Time::ZERO, remainder: 0, known: [nothing; SLOTS] }
    }
}

impl Serve for Constant {
    #[inline]
    fn start(&mut self, now: Time) -> Time {
        now.max(self.busy_until)
    }

    #[inline]
    fn last_departure(&self) -> Time {
        self.busy_until
    }

    #[inline]
    fn serve(&mut self, start: Time, bytes: u32) -> Time {
        if start > self.busy_until {
            self.remainder = 0;
        }
        let service = self.service(bytes);
        let (mut remainder, wrapped) = self.remainder.overflowing_add(service.remainder);
        let mut ns = service.ns;
        if wrapped || remainder >= self.rate {
            remainder = remainder.wrapping_sub(self.rate);
            ns = ns.saturating_add(1);
        }
        self.remainder = remainder;
        self.busy_until = start + Time::from_ns(ns);
        self.busy_until
    }
}

impl Constant {
    #[inline]
    fn service(&mut self, bytes: u32) -> Service {
        // 1500 and 40, 52, 60 and 66 fall into different slots.
        let slot = ((bytes ^ bytes >> 3) as usize) % SLOTS;
        let known = self.known[slot];
        if known.bytes == bytes { known } else { self.learn(slot, bytes) }
    }

    #[inline(never)]
    fn learn(&mut self, slot: usize, bytes: u32) -> Service {
        let work = u128::from(bytes) * u128::from(WORK_PER_BYTE);
        let service = if self.rate == 0 {
            Service { bytes, ns: u64::MAX, remainder: 0 }
        } else if let Ok(work) = u64::try_from(work) {
            Service { bytes, ns: work / self.rate, remainder: work % self.rate }
        } else {
            let rate = u128::from(self.rate);
            Service {
                bytes,
                ns: u64::try_from(work / rate).unwrap_or(u64::MAX),
                remainder: (work % rate) as u64,
            }
        };
        self.known[slot] = service;
        service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(bits_per_s: u64) -> Constant {
        Constant::new(Rate::from_bits_per_s(bits_per_s))
    }

    #[test]
    fn odd_rates_lose_nothing_over_a_million_packets() {
        for rate in [1, 3, 7_777_777, 399_999_999, 1_000_000_000_000, u64::MAX] {
            let mut server = server(rate);
            let (mut departure, mut bytes) = (Time::ZERO, 0u128);
            for i in 0..1_000_000u32 {
                let size = 40 + i % 7 * 243;
                let start = server.start(Time::ZERO);
                departure = server.serve(start, size);
                bytes += u128::from(size);
            }
            let exact = bytes * u128::from(WORK_PER_BYTE) / u128::from(rate);
            assert_eq!(u128::from(departure.ns()), exact, "at {rate} bit/s");
        }
    }

    #[test]
    fn a_pause_clears_the_remainder() {
        let mut server = server(7_000_000_000);
        assert_eq!(server.serve(Time::ZERO, 1), Time::from_ns(1));
        let start = server.start(Time::from_ns(10));
        assert_eq!(server.serve(start, 1), Time::from_ns(11));
    }

    #[test]
    fn nothing_leaves_at_rate_zero() {
        let mut server = server(0);
        assert_eq!(server.serve(Time::ZERO, 1500), Time::NEVER);
        let start = server.start(Time::from_secs(1));
        assert_eq!(server.serve(start, 40), Time::NEVER);
    }

    #[test]
    fn the_largest_packet_at_the_smallest_rate_saturates() {
        assert_eq!(server(1).serve(Time::ZERO, u32::MAX), Time::NEVER);
        assert_eq!(server(2).serve(Time::ZERO, u32::MAX).ns(), u64::from(u32::MAX) * 4_000_000_000);
    }
}
