//! Waiting awake for what is due within microseconds.

use rampcc::Time;

/// Spinning is limited to half of each window: a real-time thread that never sleeps starves others.
#[derive(Debug, Default)]
pub struct Spinning {
    window: Time,
    spun: Time,
    last: Option<Time>,
}

impl Spinning {
    const WINDOW: Time = Time::from_ms(10);

    /// Whether to spin now.
    pub fn allowed(&mut self, now: Time) -> bool {
        if now - self.window >= Self::WINDOW {
            *self = Self { window: now, spun: Time::ZERO, last: self.last };
        }
        self.spun.ns() * 2 < Self::WINDOW.ns()
    }

    /// Spins once more.
    pub fn spin(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            self.spun += now - last;
        }
    }

    /// Sleeps now.
    pub fn rest(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinning_stops_after_half_a_window_and_resumes_in_the_next() {
        let mut spinning = Spinning::default();
        let mut now = Time::from_secs(1);
        let mut allowed = 0;
        for _ in 0..100 {
            if spinning.allowed(now) {
                spinning.spin(now);
                allowed += 1;
            }
            now += Time::from_us(100);
        }
        assert_eq!(allowed, 51);
        assert!(spinning.allowed(now));
    }

    #[test]
    fn sleep_is_not_counted_as_spinning() {
        let mut spinning = Spinning::default();
        spinning.spin(Time::from_ms(1));
        spinning.rest();
        spinning.spin(Time::from_ms(9));
        assert_eq!(spinning.spun, Time::ZERO);
    }
}
