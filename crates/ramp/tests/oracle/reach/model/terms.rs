//! The page's numbers, which have 64 bits and never wrap: each is computed in 128 bits and then cut.

use rampcc::{Algorithm, Config};

const MOST: u128 = u64::MAX as u128;
pub(super) const LOW_32: u64 = u32::MAX as u64;

fn cut(value: u128) -> u64 {
    value.min(MOST) as u64
}

pub(super) fn minus(a: u64, b: u64) -> u64 {
    a.saturating_sub(b)
}

pub(super) fn plus(a: u64, b: u64) -> u64 {
    cut(u128::from(a) + u128::from(b))
}

pub(super) fn times(a: u64, b: u64) -> u64 {
    cut(u128::from(a) * u128::from(b))
}

/// `a b / c`; the callers see to it that `c` is not 0.
pub(super) fn share(a: u64, b: u64, c: u64) -> u64 {
    cut(u128::from(a) * u128::from(b) / u128::from(c))
}

/// *Apart*, for a tick in us.
pub(super) fn apart(tick: u64, time: u64, tsval: u32) -> u64 {
    minus(plus(time, 1 << 60), times(times(1000, tick), u64::from(tsval)))
}

/// By the names of the page's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) cap: u64,
    pub(super) trust: u64,
    pub(super) probe: u64,
    pub(super) clear: u64,
    pub(super) near: u64,
    pub(super) trial: u64,
    pub(super) quiet: u64,
    pub(super) fill: u64,
    pub(super) room: u64,
    pub(super) beta: u64,
    pub(super) tick: u64,
}

impl Parameters {
    pub(super) fn of(algorithm: &Algorithm, config: &Config) -> Self {
        let value = |name| {
            let place = algorithm.parameters.iter().position(|row| row.name == name);
            let place = place.unwrap_or_else(|| panic!("no parameter {name}"));
            let row = &algorithm.parameters[place];
            config.parameter[place].clamp(row.minimum, row.maximum)
        };
        Self {
            cap: value("cap"),
            trust: value("trust"),
            probe: value("probe"),
            clear: value("clear"),
            near: value("near"),
            trial: value("trial"),
            quiet: value("quiet"),
            fill: value("fill"),
            room: value("room"),
            beta: value("beta"),
            tick: value("tick"),
        }
    }
}
