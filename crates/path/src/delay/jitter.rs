//! Delay that varies with time.
//!
//! Every value is a function of the seed and of time alone, except where a new one is drawn for every packet.

use std::f64::consts::TAU;

use rampcc::Time;

use crate::config::Jitter;
use crate::random::{self, Numbered, Purpose};

/// Delay to add to propagation.
#[derive(Clone, Debug)]
pub(crate) enum JitterSource {
    Drawn(Drawn),
    Sine { amplitude: f64, period: Time, phase: f64 },
    Sum(Vec<Self>),
}

impl JitterSource {
    pub(crate) fn new(config: &Jitter, seed: u64) -> Self {
        let mut parts = 0;
        Self::part(config, seed, &mut parts)
    }

    /// Every leaf has its own stream: `parts` counts them.
    fn part(config: &Jitter, seed: u64, parts: &mut u32) -> Self {
        if let Jitter::Sum(sum) = config {
            return Self::Sum(sum.iter().map(|jitter| Self::part(jitter, seed, parts)).collect());
        }
        let draws = Numbered::new(seed, Purpose::Jitter(*parts));
        *parts += 1;
        match *config {
            Jitter::Uniform { max, step } => Self::Drawn(Drawn::new(Law::Uniform { max }, step, draws)),
            Jitter::Normal { mean, sigma, step } => {
                Self::Drawn(Drawn::new(Law::normal(mean, sigma), step, draws))
            }
            Jitter::Pareto { median, shape, max, step } => {
                Self::Drawn(Drawn::new(Law::pareto(median, shape, max), step, draws))
            }
            Jitter::Sine { amplitude, period } => {
                Self::Sine { amplitude: amplitude.secs_f64(), period, phase: random::unit(draws.pair(0).0) }
            }
            Jitter::Grant { .. } => Self::Sum(Vec::new()),
            Jitter::Sum(_) => unreachable!("handled above"),
        }
    }

    /// `now` must not go back.
    pub(crate) fn delay(&mut self, now: Time) -> Time {
        match self {
            Self::Drawn(drawn) => drawn.delay(now),
            Self::Sine { period: Time::ZERO, .. } => Time::ZERO,
            Self::Sine { amplitude, period, phase } => {
                let turn = (now.ns() % period.ns()) as f64 / period.ns() as f64 + *phase;
                Time::from_secs_f64(*amplitude * 0.5 * (1.0 + libm::sin(TAU * turn)))
            }
            Self::Sum(sum) => sum.iter_mut().fold(Time::ZERO, |total, part| total + part.delay(now)),
        }
    }
}

/// A value drawn for every step of time, or for every packet.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    law: Law,
    step: Time,
    draws: Numbered,
    value: Time,
    until: Time,
}

impl Drawn {
    fn new(law: Law, step: Time, draws: Numbered) -> Self {
        Self { law, step, draws, value: Time::ZERO, until: Time::ZERO }
    }

    fn delay(&mut self, now: Time) -> Time {
        if self.step == Time::ZERO {
            let (first, second) = self.draws.next_pair();
            return self.law.value(first, second);
        }
        if now >= self.until {
            let number = now.ns() / self.step.ns();
            let (first, second) = self.draws.pair(number);
            self.value = self.law.value(first, second);
            self.until = Time::from_ns((number + 1).saturating_mul(self.step.ns()));
        }
        self.value
    }
}

#[derive(Clone, Debug)]
enum Law {
    Uniform { max: Time },
    Normal { mean: f64, sigma: f64 },
    Pareto { median: f64, exponent: f64, max: Time },
}

impl Law {
    fn normal(mean: Time, sigma: Time) -> Self {
        Self::Normal { mean: mean.secs_f64(), sigma: sigma.secs_f64() }
    }

    /// A shape that is not positive has no distribution: the median is all there is.
    fn pareto(median: Time, shape: f64, max: Time) -> Self {
        let exponent = if shape > 0.0 { -1.0 / shape } else { 0.0 };
        Self::Pareto { median: median.secs_f64(), exponent, max }
    }

    fn value(&self, first: u64, second: u64) -> Time {
        match *self {
            Self::Uniform { max } => Time::from_ns(random::up_to(first, max.ns())),
            Self::Normal { mean, sigma } => {
                // Box and Muller (1958); rand_distr would take its logarithm from std in some builds.
                let radius = (-2.0 * libm::log(1.0 - random::unit(first))).sqrt();
                Time::from_secs_f64(mean + sigma * radius * libm::cos(TAU * random::unit(second)))
            }
            Self::Pareto { median, exponent, max } => {
                // By inversion: at 1/2, the median.
                let tail = 2.0 * (1.0 - random::unit(first));
                Time::from_secs_f64(median * libm::pow(tail, exponent)).min(max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(jitter: &Jitter) -> JitterSource {
        JitterSource::new(jitter, 42)
    }

    /// Milliseconds, one draw per step.
    fn values(jitter: &Jitter, count: u64) -> Vec<f64> {
        let mut source = source(jitter);
        (0..count).map(|i| source.delay(Time::from_ms(i)).secs_f64() * 1e3).collect()
    }

    const STEP: Time = Time::from_ms(1);
    const MAX: Time = Time::from_ms(8);

    #[test]
    fn uniform_has_its_mean_and_bounds() {
        let values = values(&Jitter::Uniform { max: MAX, step: STEP }, 40_000);
        let mean = values.iter().sum::<f64>() / 40_000.0;
        assert!((mean - 4.0).abs() < 0.05, "{mean}");
        assert!(values.iter().all(|&value| value <= 8.0));
    }

    #[test]
    fn normal_has_its_moments_and_is_cut_at_zero() {
        let jitter = |mean| Jitter::Normal { mean: Time::from_ms(mean), sigma: Time::from_ms(2), step: STEP };
        let uncut = values(&jitter(20), 40_000);
        let mean = uncut.iter().sum::<f64>() / 40_000.0;
        let variance = uncut.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 40_000.0;
        assert!((mean - 20.0).abs() < 0.04, "{mean}");
        assert!((variance - 4.0).abs() < 0.12, "{variance}");
        let zeros = values(&jitter(0), 40_000).iter().filter(|&&value| value < 1e-9).count();
        assert!((19_600..20_400).contains(&zeros), "{zeros}");
    }

    #[test]
    fn pareto_has_its_median_tail_and_bound() {
        let jitter = Jitter::Pareto { median: Time::from_ms(2), shape: 1.5, max: MAX, step: STEP };
        let values = values(&jitter, 40_000);
        let above = |limit: f64| values.iter().filter(|&&value| value > limit).count() as f64 / 40_000.0;
        assert!((above(2.0) - 0.5).abs() < 0.01);
        // P(X > 2 median) = 1/2 * 2^-shape.
        assert!((above(4.0) - 0.176_8).abs() < 0.01);
        assert!((above(7.999) - 0.0625).abs() < 0.01, "the rest is cut at the largest value");
        assert!(values.iter().all(|&value| value <= 8.0));
    }

    #[test]
    fn sine_swings_between_zero_and_its_amplitude() {
        let values = values(&Jitter::Sine { amplitude: MAX, period: Time::from_ms(100) }, 1_000);
        let (least, most) =
            values.iter().fold((f64::MAX, 0f64), |(a, b), &value| (a.min(value), b.max(value)));
        assert!(least < 0.02 && (7.98..=8.0).contains(&most), "{least}..{most}");
        assert!((values[0] - values[500]).abs() < 1e-5);
    }

    #[test]
    fn values_depend_on_time_and_not_on_the_packets() {
        let jitter = Jitter::Sum(vec![
            Jitter::Uniform { max: MAX, step: STEP },
            Jitter::Normal { mean: MAX, sigma: STEP, step: MAX },
            Jitter::Sine { amplitude: MAX, period: Time::from_secs(1) },
        ]);
        let (mut often, mut seldom) = (source(&jitter), source(&jitter));
        for i in 0..100_000u64 {
            let now = Time::from_us(i * 13);
            let delay = often.delay(now);
            if i % 997 == 0 {
                assert_eq!(seldom.delay(now), delay, "at {now}");
            }
        }
    }

    #[test]
    fn parts_of_a_sum_are_independent() {
        let one = Jitter::Uniform { max: MAX, step: STEP };
        let sum = values(&Jitter::Sum(vec![one.clone(), one]), 10_000);
        let mean = sum.iter().sum::<f64>() / 1e4;
        let variance = sum.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 1e4;
        // 2 * 8^2 / 12; twice that if both parts were the same.
        assert!((variance - 10.67).abs() < 0.5, "{variance}");
    }

    #[test]
    fn every_packet_draws_anew_without_a_step() {
        let mut source = source(&Jitter::Uniform { max: MAX, step: Time::ZERO });
        let first = source.delay(Time::ZERO);
        assert!((0..10).any(|_| source.delay(Time::ZERO) != first));
    }

    #[test]
    fn extreme_settings_are_harmless() {
        let hour = Time::from_secs(3600);
        for jitter in [
            Jitter::Sine { amplitude: hour, period: Time::ZERO },
            Jitter::Pareto { median: hour, shape: 0.0, max: hour, step: STEP },
            Jitter::Pareto { median: hour, shape: 1e-9, max: hour, step: STEP },
            Jitter::Normal { mean: Time::ZERO, sigma: hour, step: Time::from_ns(1) },
            Jitter::Sum(Vec::new()),
        ] {
            let mut source = source(&jitter);
            for now in [Time::ZERO, STEP, hour, Time::from_secs(1 << 33)] {
                assert!(source.delay(now) <= Time::from_secs(40_000), "{jitter:?}");
            }
        }
    }
}
