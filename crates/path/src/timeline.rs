//! Values that hold for a while, read in order of time.

use std::sync::Arc;

use rampcc::Time;

/// A cursor over steps that may repeat.
///
/// Steps that begin at the period or later are never reached. Before the first step its value holds already.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<T> {
    steps: Arc<[(Time, T)]>,
    /// How many of `steps` are reached.
    len: usize,
    period: Option<Time>,
    index: usize,
    /// When the current repetition began.
    base: Time,
}

impl<T: Copy> Timeline<T> {
    /// `None` if there are no steps.
    pub(crate) fn new(steps: &Arc<[(Time, T)]>, period: Option<Time>) -> Option<Self> {
        if steps.is_empty() {
            return None;
        }
        let period = period.filter(|&period| period > Time::ZERO);
        let len = period.map_or(steps.len(), |period| steps.partition_point(|step| step.0 < period).max(1));
        Some(Self { steps: steps.clone(), len, period, index: 0, base: Time::ZERO })
    }

    /// The value at `now` and when it ends. `now` must not be earlier than in the call before.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> (T, Time) {
        let end = self.end();
        if now < end {
            return (self.steps[self.index].1, end);
        }
        self.seek(now);
        (self.steps[self.index].1, self.end())
    }

    /// One repetition: its length, and its steps as spans. `None` if nothing repeats.
    pub(crate) fn repetition(&self) -> Option<(Time, impl Iterator<Item = (Time, T)> + '_)> {
        let period = self.period?;
        let spans = (0..self.len).map(move |i| {
            let start = if i == 0 { Time::ZERO } else { self.steps[i].0 };
            let end = if i + 1 < self.len { self.steps[i + 1].0 } else { period };
            (end - start, self.steps[i].1)
        });
        Some((period, spans))
    }

    /// When the current repetition began.
    pub(crate) fn base(&self) -> Time {
        self.base
    }

    #[inline]
    fn end(&self) -> Time {
        if self.index + 1 < self.len {
            return self.base + self.steps[self.index + 1].0;
        }
        self.period.map_or(Time::NEVER, |period| self.base + period)
    }

    #[cold]
    fn seek(&mut self, now: Time) {
        if let Some(period) = self.period {
            let repetitions = (now - self.base).ns() / period.ns();
            if repetitions > 0 {
                self.base += Time::from_ns(repetitions.saturating_mul(period.ns()));
                self.index = 0;
            }
        }
        while self.index + 1 < self.len && self.base + self.steps[self.index + 1].0 <= now {
            self.index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(steps: &[(u64, u32)], period: Option<u64>) -> Timeline<u32> {
        let steps = steps.iter().map(|&(at, value)| (Time::from_ms(at), value)).collect();
        Timeline::new(&steps, period.map(Time::from_ms)).expect("has steps")
    }

    #[test]
    fn the_last_step_lasts() {
        let mut line = timeline(&[(0, 1), (10, 2), (20, 3)], None);
        assert_eq!(line.at(Time::ZERO), (1, Time::from_ms(10)));
        assert_eq!(line.at(Time::from_ms(10)), (2, Time::from_ms(20)));
        assert_eq!(line.at(Time::from_secs(99)), (3, Time::NEVER));
    }

    #[test]
    fn steps_repeat_after_the_period() {
        let mut line = timeline(&[(0, 1), (10, 2), (20, 3)], Some(15));
        assert_eq!(line.at(Time::from_ms(14)), (2, Time::from_ms(15)));
        assert_eq!(line.at(Time::from_ms(15)), (1, Time::from_ms(25)));
        assert_eq!(line.at(Time::from_ms(15_000_011)), (2, Time::from_ms(15_000_015)));
    }

    #[test]
    fn there_is_no_timeline_without_steps() {
        assert!(Timeline::<u32>::new(&Arc::from([]), None).is_none());
    }
}
