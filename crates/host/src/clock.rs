//! How long ago something was, on a host whose clock may have been set since: one without a battery starts years back,
//! and learns the time when its units have long been started.

use std::time::{Duration, SystemTime};

use nix::time::{ClockId, clock_gettime};

/// The time by two clocks, in whole seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Since 1970, as this host believes.
    pub(crate) unix_s: u64,
    /// Since the boot, which cannot be set.
    pub(crate) boot_s: Option<u64>,
}

/// Since when something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    /// Since 1970, by the clock as it is now.
    pub(crate) unix_s: u64,
    pub(crate) age_s: u64,
}

impl Clock {
    pub(crate) fn now() -> Self {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let boot = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from);
        Self { unix_s: unix.map_or(0, |time| time.as_secs()), boot_s: boot.ok().map(|time| time.as_secs()) }
    }

    /// Of what was there at this time by both clocks.
    pub(crate) fn since(self, then: Self) -> Since {
        let age_s = then.boot_s.zip(self.boot_s).and_then(|(then, now)| now.checked_sub(then));
        let Some(age_s) = age_s else {
            return Since { unix_s: then.unix_s, age_s: self.unix_s.saturating_sub(then.unix_s) };
        };
        let by_now = self.unix_s.saturating_sub(age_s);
        // Whole seconds are a second off, which must not show as a date that moves.
        let kept = by_now.abs_diff(then.unix_s) <= 1;
        Since { unix_s: if kept { then.unix_s } else { by_now }, age_s }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Since};

    const YEAR: u64 = 365 * 86_400;
    const THEN: Clock = Clock { unix_s: 50 * YEAR, boot_s: Some(10) };

    fn at(unix_s: u64, boot_s: u64) -> Clock {
        Clock { unix_s, boot_s: Some(boot_s) }
    }

    #[test]
    fn a_clock_that_was_set_changes_no_age() {
        for now in [50 * YEAR + 300, 51 * YEAR, 40 * YEAR] {
            assert_eq!(at(now, 310).since(THEN).age_s, 300);
        }
        assert_eq!(at(51 * YEAR, 310).since(THEN).unix_s, 51 * YEAR - 300);
        assert_eq!(at(40 * YEAR, 310).since(THEN).unix_s, 40 * YEAR - 300);
        assert_eq!(at(100, 310).since(THEN), Since { unix_s: 0, age_s: 300 });
    }

    #[test]
    fn a_date_stays_as_long_as_the_clock_only_goes() {
        for off in [299, 300, 301] {
            assert_eq!(at(50 * YEAR + off, 310).since(THEN), Since { unix_s: 50 * YEAR, age_s: 300 });
        }
    }

    #[test]
    fn of_another_boot_only_the_clock_says_something() {
        let then = Clock { boot_s: None, ..THEN };
        assert_eq!(at(50 * YEAR + 7, 3).since(then), Since { unix_s: 50 * YEAR, age_s: 7 });
        assert_eq!(at(40 * YEAR, 3).since(then), Since { unix_s: 50 * YEAR, age_s: 0 });
        // Nor does a time that this boot has not had.
        assert_eq!(at(50 * YEAR + 7, 3).since(THEN), Since { unix_s: 50 * YEAR, age_s: 7 });
    }
}
