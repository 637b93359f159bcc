//! Axes: from values to places, and the values that are named.

use rampcc::figures::decimals;

/// A scale from values to places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over these values, with room to the next named one.
    pub(super) fn new(
        values: impl Iterator<Item = f64>,
        log: bool,
        zero: bool,
        [from, to]: [f64; 2],
    ) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (mut low, mut high) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        // An axis that nearly begins at 0 does so.
        if zero && !log && low > 0.0 {
            low = 0.0;
        }
        if zero && !log && high <= 0.0 && low >= 0.0 {
            high = 1.0;
        }
        if low >= high {
            (low, high) = if log { (low / 2.0, high * 2.0) } else { (low - 0.5, high + 0.5) };
        }
        Self { low, high, log, from, to }
    }

    /// The same up to a named value.
    pub(super) fn rounded(self, count: usize) -> Self {
        if self.log {
            return self;
        }
        let step = step(self.high - self.low, count);
        Self {
            low: (self.low / step + 1e-9).floor() * step,
            high: (self.high / step - 1e-9).ceil() * step,
            ..self
        }
    }

    /// Where a value is, within the axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            let value = value.max(self.low * 1e-6).max(f64::MIN_POSITIVE);
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share.clamp(-0.05, 1.05) * (self.to - self.from)
    }

    /// Values to name, about `count`.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if self.log { self.log_ticks(count) } else { self.even_ticks(count) }
    }

    fn even_ticks(&self, count: usize) -> Vec<f64> {
        let step = step(self.high - self.low, count);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }

    fn log_ticks(&self, count: usize) -> Vec<f64> {
        let decades = libm::floor(libm::log10(self.low)) as i32..=libm::ceil(libm::log10(self.high)) as i32;
        let with = |factors: &[f64]| -> Vec<f64> {
            let all =
                decades.clone().flat_map(|d| factors.iter().map(move |f| f * libm::pow(10.0, f64::from(d))));
            all.filter(|v| *v >= self.low * 0.999 && *v <= self.high * 1.001).collect()
        };
        let (all, powers) = (with(&[1.0, 2.0, 5.0]), with(&[1.0]));
        match all.len() {
            0 | 1 => self.even_ticks(count),
            few if few <= count + 2 => all,
            _ => powers.iter().copied().step_by(powers.len().div_ceil(count + 2)).collect(),
        }
    }
}

fn step(span: f64, count: usize) -> f64 {
    let rough = span / count.max(1) as f64;
    let decade = libm::pow(10.0, libm::floor(libm::log10(rough)));
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * decade >= rough * 0.999).unwrap_or(10.0);
    factor * decade
}

/// A named value, short.
pub(super) fn name(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        return format!("{}M", trimmed(value / 1e6));
    }
    if size >= 1e4 {
        return format!("{}k", trimmed(value / 1e3));
    }
    trimmed(value)
}

fn trimmed(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 1,
        size if size >= 1.0 || size == 0.0 => 4,
        size => 3 + libm::ceil(-libm::log10(size)) as usize,
    };
    let text = decimals(value, digits);
    if text == "-0" { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new([3.0, 97.0].into_iter(), false, true, [0.0, 100.0]).rounded(5);
        assert_eq!(scale.ticks(5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert!((scale.place(50.0) - 50.0).abs() < 1e-9);
        let log = Scale::new([1.0, 1000.0].into_iter(), true, false, [0.0, 90.0]);
        assert_eq!(log.ticks(4), [1.0, 10.0, 100.0, 1000.0]);
        assert!((log.place(10.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn a_logarithmic_axis_is_named_however_short_or_long_it_is() {
        let named = |low: f64, high: f64, count| -> Vec<String> {
            let scale = Scale::new([low, high].into_iter(), true, false, [0.0, 100.0]);
            let ticks = scale.ticks(count);
            assert!(ticks.iter().all(|tick| (-0.1..=100.1).contains(&scale.place(*tick))), "{ticks:?}");
            ticks.into_iter().map(name).collect()
        };
        assert_eq!(named(0.02361, 0.02437, 4), ["0.0238", "0.024", "0.0242"]);
        assert_eq!(named(11.0, 19.0, 4), ["12", "14", "16", "18"]);
        assert_eq!(named(0.3, 30.0, 8), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(named(1e-6, 1e6, 4), ["0.000001", "0.001", "1", "1000", "1M"]);
    }

    #[test]
    fn nothing_and_one_value_have_an_axis() {
        for values in [vec![], vec![f64::NAN], vec![5.0], vec![0.0]] {
            for log in [false, true] {
                let scale = Scale::new(values.iter().copied(), log, true, [0.0, 1.0]).rounded(4);
                assert!(scale.place(5.0).is_finite() && scale.place(0.0).is_finite(), "{values:?}");
                assert!(scale.ticks(4).len() < 20);
            }
        }
    }

    #[test]
    fn bars_of_nothing_have_no_height() {
        let scale = Scale::new([0.0, 0.0].into_iter(), false, true, [100.0, 0.0]).rounded(4);
        assert!((scale.place(0.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn names_are_short() {
        let all: Vec<String> = [0.0, -0.0, 0.05, 1.5, 250.0, 20_000.0, 2.5e6].into_iter().map(name).collect();
        assert_eq!(all, ["0", "0", "0.05", "1.5", "250", "20k", "2.5M"]);
    }
}
