//! What a gate looks at in a pair of runs.

use crate::outcome::Outcome;

/// A download that takes so many times as long is much slower, and one that takes so many times less is much faster. The mean of the
/// download times counts it as that and no more: the narrower the bounds of a value, the more a bet wins of a small difference.
pub(super) const MUCH: f64 = 1.25;
/// The logarithm of [`MUCH`].
const LN_MUCH: f64 = 0.223_143_551_314_209_76;

/// One question to a pair of runs over one path with one seed.
pub(crate) struct Measure {
    /// Key of the JSON.
    pub(crate) id: &'static str,
    /// As tables call it.
    pub(crate) name: &'static str,
    /// Bounds of a pair's value.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// By how much the mean may rise, by default.
    pub(crate) margin: f64,
    /// A value of the margin's kind as people read it, with its sign.
    pub(crate) words: fn(f64) -> String,
    pub(crate) of: fn(&Pair<'_>) -> f64,
}

/// The same path and seed under both.
pub(crate) struct Pair<'a> {
    pub(crate) old: &'a Outcome,
    pub(crate) new: &'a Outcome,
    /// Bytes that pipe and buffer hold together; `None`: the buffer has no end.
    pub(crate) holds_bytes: Option<f64>,
    pub(crate) bytes: u64,
}

pub(crate) const MEASURES: [Measure; 4] = [
    Measure {
        id: "time",
        name: "download time, 1.25 times at most",
        low: -LN_MUCH,
        high: LN_MUCH,
        margin: 0.019_802_627_296_179_713, // ln 1.02
        words: |value| format!("{:+.1} %", 100.0 * libm::expm1(value)),
        of: |pair| pair.time(),
    },
    Measure {
        id: "startup_lost",
        name: "lost in start-up, of what pipe and buffer hold",
        low: -1.0,
        high: 1.0,
        margin: 0.05,
        words: |value| format!("{value:+.3}"),
        of: |pair| pair.startup_lost(),
    },
    Measure {
        id: "sent_again",
        name: "sent again, of the download",
        low: -0.25,
        high: 0.25,
        margin: 0.01,
        words: |value| format!("{:+.2} %", 100.0 * value),
        of: |pair| pair.sent_again(),
    },
    Measure {
        id: "much_slower",
        name: "paths over 25 % slower, less those over 25 % faster",
        low: -1.0,
        high: 1.0,
        margin: 0.03,
        words: |value| format!("{:+.1} %", 100.0 * value),
        of: |pair| pair.much_slower(),
    },
];

impl Pair<'_> {
    /// Logarithms of the ratios of the times to each size, new over old. A download that did not finish had at least its whole time.
    pub(crate) fn ratios(&self) -> impl Iterator<Item = f64> {
        let times = self.old.seconds.iter().zip(&self.new.seconds);
        times.map(|(old, new)| match (old, new) {
            (None, None) => 0.0,
            (old, new) => libm::log(new.unwrap_or(self.new.had_s) / old.unwrap_or(self.old.had_s)),
        })
    }

    fn time(&self) -> f64 {
        let ratios: Vec<f64> = self.ratios().map(|ratio| ratio.clamp(-LN_MUCH, LN_MUCH)).collect();
        ratios.iter().sum::<f64>() / ratios.len().max(1) as f64
    }

    fn startup_lost(&self) -> f64 {
        let Some(holds) = self.holds_bytes else { return 0.0 };
        // A row that never left has lost all of it in start-up.
        let lost = |of: &Outcome| of.startup_lost.unwrap_or(of.lost_bytes / holds.max(1.0));
        lost(self.new) - lost(self.old)
    }

    fn sent_again(&self) -> f64 {
        (self.new.again_bytes - self.old.again_bytes) / self.bytes.max(1) as f64
    }

    fn much_slower(&self) -> f64 {
        let (slowest, fastest) = self
            .ratios()
            .fold((0.0_f64, 0.0_f64), |(slowest, fastest), ratio| (slowest.max(ratio), fastest.min(ratio)));
        f64::from(slowest > LN_MUCH) - f64::from(fastest < -LN_MUCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(seconds: &[Option<f64>], startup_lost: Option<f64>) -> Outcome {
        Outcome {
            seconds: seconds.to_vec(),
            had_s: 10.0,
            lost_bytes: 50_000.0,
            again_bytes: 60_000.0,
            startup_lost,
            ..Outcome::default()
        }
    }

    #[test]
    fn values_are_of_the_new_over_the_old() {
        let old = Outcome { again_bytes: 50_000.0, ..outcome(&[Some(1.0), Some(4.0)], Some(0.1)) };
        let new = outcome(&[Some(1.0), Some(5.2)], Some(0.3));
        let pair = Pair { old: &old, new: &new, holds_bytes: Some(100_000.0), bytes: 1_000_000 };
        let [time, lost, again, slower] = MEASURES.map(|measure| (measure.of)(&pair));
        assert!((time - LN_MUCH / 2.0).abs() < 1e-12 && (lost - 0.2).abs() < 1e-12, "{time} {lost}");
        assert!((again - 0.01).abs() < 1e-12 && (slower - 1.0).abs() < 1e-12, "{again}");
        let back = Pair { old: &new, new: &old, ..pair };
        assert!(((MEASURES[3].of)(&back) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_did_not_finish_or_never_left_counts_as_that() {
        let (old, new) = (outcome(&[Some(4.0)], Some(0.1)), outcome(&[None], None));
        let pair = Pair { old: &old, new: &new, holds_bytes: Some(100_000.0), bytes: 1_000_000 };
        let [time, lost, _, slower] = MEASURES.map(|measure| (measure.of)(&pair));
        assert!((time - libm::log(MUCH)).abs() < 1e-12, "10 s over 4 s, and a quarter more at most: {time}");
        assert!((lost - 0.4).abs() < 1e-12 && (slower - 1.0).abs() < 1e-12, "{lost} {slower}");
        let endless = Pair { holds_bytes: None, ..pair };
        assert!((MEASURES[1].of)(&endless).abs() < 1e-12);
    }
}
