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
    /// Smallest round-trip time so far; 0: none.
    pub rtt_us: u32,
    /// [`AckFlags::RATE_APP_LIMITED`](crate::AckFlags::RATE_APP_LIMITED), or 0.
    pub flags: u32,
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
    /// Smallest round-trip time then.
    pub rtt_us: u32,
    reserved: u32,
}

unsafe extern "C" {
    static ramp_memory_lifetime_ns: u64;
    fn ramp_history_remember(memory: *mut Memory, seen: *const Seen) -> u32;
    fn ramp_history_recall(memory: *const Memory, now_ns: u64, hint: *mut Hint) -> u32;
}

impl Memory {
    /// What a hint says, as if it had been seen then.
    pub fn of(hint: &Hint, now_ns: u64) -> Self {
        let Hint { window_bytes, bytes_per_s, rtt_us, age_s, .. } = *hint;
        let age_ns = u64::from(age_s) * 1_000_000_000;
        Self { window_bytes, bytes_per_s, seen_ns: now_ns.saturating_sub(age_ns), rtt_us, reserved: 0 }
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

    /// What a new connection is told; `None`: nothing, or nothing recent.
    pub fn recall(&self, now_ns: u64) -> Option<Hint> {
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
            assert_eq!((memory, memory.recall(seen.now_ns)), (Memory::default(), None));
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
    fn an_hour_later_it_is_forgotten() {
        let memory = after(&[SEEN]);
        let lifetime = Memory::lifetime().ns();
        assert_eq!(lifetime, 3600 * S);
        assert_eq!(memory.recall(SEEN.now_ns + lifetime - 1).unwrap().age_s, 3599);
        assert_eq!(memory.recall(SEEN.now_ns + lifetime), None);
        assert_eq!(memory.recall(SEEN.now_ns - S).unwrap().age_s, 0, "clocks of two processors");
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
            static ramp_history_layout: [usize; 12];
        }
        use std::mem::offset_of;
        let mirror = [
            size_of::<Seen>(),
            offset_of!(Seen, now_ns),
            offset_of!(Seen, initial_window_bytes),
            offset_of!(Seen, bytes_per_s),
            offset_of!(Seen, rtt_us),
            offset_of!(Seen, flags),
            size_of::<Memory>(),
            offset_of!(Memory, window_bytes),
            offset_of!(Memory, bytes_per_s),
            offset_of!(Memory, seen_ns),
            offset_of!(Memory, rtt_us),
            offset_of!(Memory, reserved),
        ];
        // SAFETY: a constant array of this length.
        assert_eq!(mirror, unsafe { ramp_history_layout });
    }
}
