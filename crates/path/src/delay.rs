//! Travel time of packets after service.

mod grant;
mod jitter;

use rampcc::Time;

pub use self::grant::Grant;
pub(crate) use self::grant::grants;
use self::jitter::JitterSource;
use crate::config::{DelayConfig, Propagation};
use crate::random::{Chance, Purpose, Stream};
use crate::timeline::Timeline;

/// When a packet arrives, given when it left.
#[derive(Clone, Debug)]
pub(crate) enum Delay {
    Constant(Time),
    Varying(Box<Varying>),
}

#[derive(Clone, Debug)]
pub(crate) struct Varying {
    propagation: Travel,
    jitter: Option<JitterSource>,
    reordering: Option<HoldBack>,
}

/// When a packet arrives, and whether others may overtake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) at: Time,
    pub(crate) late: bool,
}

impl Delay {
    pub(crate) fn new(config: &DelayConfig, seed: u64) -> Self {
        let propagation = Travel::new(&config.propagation);
        if let (Travel::Constant(delay), None, None) = (&propagation, &config.jitter, &config.reordering) {
            return Self::Constant(*delay);
        }
        let jitter = config.jitter.as_ref().map(|jitter| JitterSource::new(jitter, seed));
        let reordering = config.reordering.map(|reordering| HoldBack {
            chance: Chance::new(reordering.probability),
            delay: reordering.delay,
            stream: Stream::new(seed, Purpose::Reordering),
        });
        Self::Varying(Box::new(Varying { propagation, jitter, reordering }))
    }

    /// `departure` must not go back.
    #[inline]
    pub(crate) fn delivery(&mut self, departure: Time) -> Delivery {
        match self {
            Self::Constant(delay) => Delivery { at: departure + *delay, late: false },
            Self::Varying(varying) => varying.delivery(departure),
        }
    }

    /// Whether packets may catch up with those before them.
    #[inline]
    pub(crate) fn varies(&self) -> bool {
        matches!(self, Self::Varying(_))
    }

    /// Whether packets stay in order.
    pub(crate) fn in_order(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Varying(varying) => varying.reordering.is_none(),
        }
    }
}

impl Varying {
    fn delivery(&mut self, departure: Time) -> Delivery {
        let mut delivery = Delivery { at: departure, late: false };
        if departure == Time::NEVER {
            return delivery;
        }
        delivery.at += self.propagation.delay(departure);
        if let Some(jitter) = &mut self.jitter {
            delivery.at += jitter.delay(departure);
        }
        if let Some(reordering) = &mut self.reordering
            && reordering.stream.happens(reordering.chance)
        {
            delivery.at += reordering.delay;
            delivery.late = true;
        }
        delivery
    }
}

#[derive(Clone, Debug)]
struct HoldBack {
    chance: Chance,
    delay: Time,
    stream: Stream,
}

/// Propagation delay over time.
#[derive(Clone, Debug)]
enum Travel {
    Constant(Time),
    Stepped(Timeline<Time>),
    Traced { values: std::sync::Arc<[Time]>, step: Time, offset: Time, value: Time, until: Time },
}

impl Travel {
    fn new(config: &Propagation) -> Self {
        match config {
            Propagation::Constant(delay) => Self::Constant(*delay),
            Propagation::Steps { steps, period } => {
                Timeline::new(steps, *period).map_or(Self::Constant(Time::ZERO), Self::Stepped)
            }
            Propagation::Trace { values, step, offset } => match values.first() {
                None => Self::Constant(Time::ZERO),
                Some(&first) if *step == Time::ZERO => Self::Constant(first),
                Some(&first) => Self::Traced {
                    values: values.clone(),
                    step: *step,
                    offset: *offset,
                    value: first,
                    until: Time::ZERO,
                },
            },
        }
    }

    fn delay(&mut self, now: Time) -> Time {
        match self {
            Self::Constant(delay) => *delay,
            Self::Stepped(delays) => delays.at(now).0,
            Self::Traced { values, step, offset, value, until } => {
                if now >= *until {
                    let since = u128::from(now.ns()) + u128::from(offset.ns());
                    let number = since / u128::from(step.ns());
                    *value = values[(number % values.len() as u128) as usize];
                    let end = (number + 1) * u128::from(step.ns()) - u128::from(offset.ns());
                    *until = Time::from_ns(u64::try_from(end).unwrap_or(u64::MAX));
                }
                *value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Reordering;

    fn travel(propagation: &Propagation) -> impl FnMut(u64) -> u64 + use<> {
        let mut travel = Travel::new(propagation);
        move |ms| travel.delay(Time::from_ms(ms)).ns() / 1_000_000
    }

    #[test]
    fn a_trace_repeats_from_its_offset() {
        let values = [10, 20, 30].map(Time::from_ms).into();
        let mut delay =
            travel(&Propagation::Trace { values, step: Time::from_ms(10), offset: Time::from_ms(15) });
        let seen: Vec<u64> = [0, 4, 5, 14, 15, 25, 35, 3_000_000_035].map(&mut delay).into();
        assert_eq!(seen, [20, 20, 30, 30, 10, 20, 30, 30]);
    }

    #[test]
    fn handovers_step() {
        let steps = [(0, 20), (15, 35)].map(|(at, delay)| (Time::from_ms(at), Time::from_ms(delay))).into();
        let mut delay = travel(&Propagation::Steps { steps, period: Some(Time::from_ms(30)) });
        assert_eq!([0, 14, 15, 29, 30, 45].map(&mut delay), [20, 20, 35, 35, 20, 35]);
    }

    #[test]
    fn degenerate_traces_do_not_divide_by_zero() {
        let trace = |values: &[u64], step| Propagation::Trace {
            values: values.iter().map(|&ms| Time::from_ms(ms)).collect(),
            step: Time::from_ms(step),
            offset: Time::ZERO,
        };
        assert_eq!(travel(&trace(&[], 10))(7), 0);
        assert_eq!(travel(&trace(&[9, 8], 0))(7), 9);
    }

    #[test]
    fn the_share_held_back_is_the_probability() {
        let reordering = Some(Reordering { probability: 0.25, delay: Time::from_ms(1) });
        let propagation = Propagation::Constant(Time::from_ms(5));
        let mut delay = Delay::new(&DelayConfig { propagation, jitter: None, reordering }, 3);
        let mut late = 0;
        for i in 0..10_000 {
            let delivery = delay.delivery(Time::from_us(i));
            let extra = u64::from(delivery.late);
            assert_eq!(delivery.at, Time::from_us(i) + Time::from_ms(5 + extra));
            late += extra;
        }
        assert!((2_370..2_630).contains(&late), "{late}: three standard deviations are 130");
        assert!(!delay.in_order());
    }
}
