//! What a host remembers of its connections to one place: the rule of `include/ramp/history.h`.
#![expect(unsafe_code, reason = "three calls into C")]

use crate::{Hint, Time};

/// How a connection stands when it leaves start-up, or closes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Of the clock that [`Memory::recall`] is asked by too.
    pub now_ns: u64,
    /// Window before the first ACK, by the host's own rule.
    pub initial_window_bytes: u64,
    /// The last rate sample; 0: none.
    pub bytes_per_s: u64,
    /// Delivered in all.
    pub delivered_bytes: u64,
    /// Smallest round-trip time so far; 0: none.
    pub rtt_us: u32,
    /// Of the constants below.
    pub flags: u32,
}

impl Seen {
    /// [`AckFlags::RATE_APP_LIMITED`](crate::AckFlags::RATE_APP_LIMITED): of the rate, and at close always.
    pub const APP_LIMITED: u32 = 32;
    /// The connection began with what is remembered.
    pub const TOLD: u32 = 1 << 16;
    /// And met congestion before as much was delivered ([`Hint::is_unvalidated`]).
    pub const CONGESTED: u32 = 1 << 17;
    /// It has sent all it had.
    pub const CLOSING: u32 = 1 << 18;
}

impl Hint {
    /// Whether congestion of a connection that had this hint means that it was too much.
    pub fn is_unvalidated(&self, initial_window_bytes: u64, delivered_bytes: u64) -> bool {
        self.source() == crate::HintSource::History
            && self.window_bytes > 0
            && delivered_bytes <= self.window_bytes.saturating_add(initial_window_bytes)
    }
}

/// An entry of a host's history; [`Default`]: empty.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that the path carried in a round trip.
    pub window_bytes: u64,
    /// Rate that it delivered.
    pub bytes_per_s: u64,
    /// When; 0: nothing is remembered.
    pub seen_ns: u64,
    /// When a connection got it that has not closed; 0: none.
    pub taken_ns: u64,
    /// Smallest round-trip time then.
    pub rtt_us: u32,
    reserved: u32,
}

unsafe extern "C" {
    static ramp_memory_lifetime_ns: u64;
    fn ramp_history_remember(memory: *mut Memory, seen: *const Seen) -> u32;
    fn ramp_history_recall(memory: *mut Memory, now_ns: u64, hint: *mut Hint) -> u32;
}

impl Memory {
    /// What a hint says, as if it had been seen then.
    pub fn of(hint: &Hint, now_ns: u64) -> Self {
        let Hint { window_bytes, bytes_per_s, rtt_us, age_s, .. } = *hint;
        let age_ns = u64::from(age_s) * 1_000_000_000;
        Self {
            window_bytes,
            bytes_per_s,
            seen_ns: now_ns.saturating_sub(age_ns),
            taken_ns: 0,
            rtt_us,
            reserved: 0,
        }
    }

    /// Age after which an entry is forgotten.
    pub fn lifetime() -> Time {
        // SAFETY: a constant.
        Time::from_ns(unsafe { ramp_memory_lifetime_ns })
    }

    /// Takes in how a connection stands; whether anything has changed.
    pub fn remember(&mut self, seen: &Seen) -> bool {
        // SAFETY: both outlive the call.
        unsafe { ramp_history_remember(self, seen) != 0 }
    }

    /// The hint for a new connection; `None`: nothing, nothing recent, or another connection has it.
    pub fn recall(&mut self, now_ns: u64) -> Option<Hint> {
        let mut hint = Hint::NONE;
        // SAFETY: both outlive the call.
        (unsafe { ramp_history_recall(self, now_ns, &raw mut hint) } != 0).then_some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AckFlags, HintSource};

    const S: u64 = 1_000_000_000;

    /// 100 Mbit/s and 50 ms: a BDP of 625 kB.
    const SEEN: Seen = Seen {
        now_ns: 10 * S,
        initial_window_bytes: 14_480,
        bytes_per_s: 12_500_000,
        delivered_bytes: 0,
        rtt_us: 50_000,
        flags: 0,
    };

    fn after(all: &[Seen]) -> Memory {
        let mut memory = Memory::default();
        for seen in all {
            memory.remember(seen);
        }
        memory
    }

    #[test]
    fn what_the_path_delivered_in_a_round_trip_is_remembered() {
        let hint = after(&[SEEN]).recall(12 * S + 1).unwrap();
        let known = (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s);
        assert_eq!(known, (625_000, 12_500_000, 50_000, 2));
        assert_eq!(hint.source(), HintSource::History);
    }

    #[test]
    fn little_and_nothing_are_not_remembered() {
        for seen in [
            Seen { rtt_us: 0, ..SEEN },
            Seen { bytes_per_s: 0, ..SEEN },
            Seen { bytes_per_s: 1_158_399, ..SEEN },
        ] {
            let mut memory = Memory::default();
            assert!(!memory.remember(&seen), "{seen:?}");
            assert_eq!((memory.recall(seen.now_ns), memory), (None, Memory::default()));
        }
        assert_eq!(after(&[Seen { bytes_per_s: 1_158_400, ..SEEN }]).window_bytes, 4 * 14_480);
    }

    #[test]
    fn the_latest_counts_but_an_application_that_paused_only_raises() {
        let later = Seen { now_ns: 20 * S, bytes_per_s: 5_000_000, ..SEEN };
        assert_eq!(after(&[SEEN, later]).window_bytes, 250_000);
        let paused = Seen { flags: AckFlags::RATE_APP_LIMITED, ..later };
        assert_eq!(after(&[SEEN, paused]), after(&[SEEN]));
        assert_eq!(after(&[paused]).window_bytes, 250_000, "better than nothing");
        let raised = Seen { bytes_per_s: 15_000_000, ..paused };
        assert_eq!(after(&[SEEN, raised]).window_bytes, 750_000);
        let lifetime = Memory::lifetime().ns();
        let much_later = Seen { now_ns: SEEN.now_ns + lifetime, ..paused };
        assert_eq!(after(&[SEEN, much_later]).window_bytes, 250_000, "the older entry was forgotten");
    }

    #[test]
    fn a_path_that_has_become_small_is_forgotten() {
        let small = Seen { now_ns: 20 * S, bytes_per_s: 600_000, delivered_bytes: 625_000, ..SEEN };
        let mut memory = after(&[SEEN]);
        assert!(memory.remember(&small));
        assert_eq!(memory, Memory::default());
        // It takes a connection that could have shown more, and an application that held nothing back.
        for other in [Seen { delivered_bytes: 624_999, ..small }, Seen { flags: Seen::APP_LIMITED, ..small }]
        {
            let mut memory = after(&[SEEN]);
            assert!(!memory.remember(&other));
            assert_eq!(memory, after(&[SEEN]));
        }
    }

    #[test]
    fn congestion_before_as_much_was_delivered_is_a_new_beginning() {
        let told = Seen::TOLD | Seen::CONGESTED | Seen::CLOSING | Seen::APP_LIMITED;
        let small = Seen { now_ns: 20 * S, bytes_per_s: 600_000, flags: told, ..SEEN };
        let mut memory = after(&[SEEN]);
        assert!(memory.remember(&small));
        assert_eq!(memory, Memory::default());
        let large = Seen { bytes_per_s: 5_000_000, ..small };
        assert_eq!(after(&[SEEN, large]).window_bytes, 250_000, "less than remembered, at close");
        let none = Seen { bytes_per_s: 0, ..small };
        assert_eq!(after(&[SEEN, none]), Memory::default(), "without a sample too");
        let hint = after(&[SEEN]).recall(12 * S).unwrap();
        assert!(hint.is_unvalidated(14_480, 625_000 + 14_480));
        assert!(!hint.is_unvalidated(14_480, 625_000 + 14_481) && !Hint::NONE.is_unvalidated(14_480, 0));
    }

    #[test]
    fn no_more_is_remembered_than_a_first_flight_may_be() {
        let memory = after(&[Seen { bytes_per_s: 1_250_000_000, ..SEEN }]);
        assert_eq!((memory.window_bytes, memory.bytes_per_s), (16 << 20, (16 << 20) * 20));
    }

    #[test]
    fn one_connection_at_a_time_is_told() {
        let mut memory = after(&[SEEN]);
        assert!(memory.recall(12 * S).is_some());
        assert_eq!(memory.recall(12 * S), None);
        assert_eq!(memory.recall(22 * S - 1), None);
        assert!(memory.recall(22 * S).is_some(), "ten seconds later, whatever became of it");
        let closing = Seen { now_ns: 23 * S, flags: Seen::TOLD | Seen::CLOSING | Seen::APP_LIMITED, ..SEEN };
        assert!(memory.remember(&closing));
        assert!(memory.recall(23 * S).is_some());
    }

    #[test]
    fn an_hour_later_it_is_forgotten() {
        let memory = || after(&[SEEN]);
        let lifetime = Memory::lifetime().ns();
        assert_eq!(lifetime, 3600 * S);
        assert_eq!(memory().recall(SEEN.now_ns + lifetime - 1).unwrap().age_s, 3599);
        assert_eq!(memory().recall(SEEN.now_ns + lifetime), None);
        assert_eq!(memory().recall(SEEN.now_ns - S).unwrap().age_s, 0, "clocks of two processors");
    }

    #[test]
    fn a_hint_becomes_a_memory_and_that_hint_again() {
        let mut hint = Hint::of(HintSource::History);
        (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (5, 6, 7, 8);
        assert_eq!(Memory::of(&hint, 100 * S).recall(100 * S), Some(hint));
        hint.age_s = 4000;
        assert_eq!(Memory::of(&hint, 10_000 * S).recall(10_000 * S), None, "stale");
    }

    #[test]
    fn rust_mirrors_the_fields() {
        unsafe extern "C" {
            static ramp_seen_flags: [u32; 4];
            static ramp_history_layout: [usize; 14];
        }
        use std::mem::offset_of;
        let mirror = [
            size_of::<Seen>(),
            offset_of!(Seen, now_ns),
            offset_of!(Seen, initial_window_bytes),
            offset_of!(Seen, bytes_per_s),
            offset_of!(Seen, delivered_bytes),
            offset_of!(Seen, rtt_us),
            offset_of!(Seen, flags),
            size_of::<Memory>(),
            offset_of!(Memory, window_bytes),
            offset_of!(Memory, bytes_per_s),
            offset_of!(Memory, seen_ns),
            offset_of!(Memory, taken_ns),
            offset_of!(Memory, rtt_us),
            offset_of!(Memory, reserved),
        ];
        let flags = [Seen::APP_LIMITED, Seen::TOLD, Seen::CONGESTED, Seen::CLOSING];
        // SAFETY: a constant array of this length.
        assert_eq!(flags, unsafe { ramp_seen_flags });
        // SAFETY: as above.
        assert_eq!(mirror, unsafe { ramp_history_layout });
    }
}
