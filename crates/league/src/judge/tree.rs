//! Where an algorithm fails: a regression tree over the properties of paths, by exhaustive search.

use serde::Serialize;

use crate::features::{FEATURES, Features};

/// Splits from the whole population to a group of paths.
const DEPTH: usize = 3;
/// Paths of a group at least: fewer are anecdotes.
const SMALLEST: usize = 6;
/// A split that explains less of the whole population's variation is none.
const WORTH: f64 = 0.02;

/// A path with what is to be explained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    pub(crate) path: usize,
    pub(crate) features: &'a Features,
    /// Logarithm of its download time over the yardstick's.
    pub(crate) value: f64,
    pub(crate) weight: f64,
}

/// Paths with common properties.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common: all of these.
    pub conditions: Vec<Condition>,
    /// Download time over the yardstick's, geometric mean.
    pub ratio: f64,
    /// Number of paths.
    pub paths: usize,
    /// The path with the largest ratio, by its place in the population.
    pub worst: usize,
}

/// A bound of a property.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// Place in [`FEATURES`].
    pub feature: usize,
    /// True: above the bound; otherwise up to it.
    pub above: bool,
    /// The bound.
    pub bound: f64,
}

impl Condition {
    /// Whether a path meets it.
    pub(crate) fn holds(&self, features: &Features) -> bool {
        (features.0[self.feature] > self.bound) == self.above
    }

    /// In words: `RTT above 120 ms`.
    pub fn words(&self) -> String {
        let feature = FEATURES[self.feature];
        if feature.whether {
            return format!("{}{}", if self.above { "with " } else { "without " }, feature.name);
        }
        if !self.above && self.bound <= 0.0 {
            return format!("no {}", feature.name);
        }
        let way = if self.above { "above" } else { "up to" };
        let unit = if feature.unit.is_empty() { String::new() } else { format!(" {}", feature.unit) };
        let unlimited = if self.above && feature.id == "window" { " or unlimited" } else { "" };
        format!("{} {way} {}{unit}{unlimited}", feature.name, self.bound)
    }
}

/// The groups of the tree, from the worst to the best.
pub(crate) fn groups(points: &[Point<'_>]) -> Vec<Group> {
    let mut groups = Vec::new();
    let worth = WORTH * Sums::of(points).squares();
    grow(points.to_vec(), worth, &mut Vec::new(), &mut groups);
    groups.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    groups
}

fn grow(points: Vec<Point<'_>>, worth: f64, conditions: &mut Vec<Condition>, groups: &mut Vec<Group>) {
    let split = if conditions.len() < DEPTH { best_split(&points, worth) } else { None };
    let Some((feature, bound)) = split else {
        let total: f64 = points.iter().map(|p| p.weight).sum();
        let sum: f64 = points.iter().map(|p| p.value * p.weight).sum();
        if let Some(worst) = points.iter().max_by(|a, b| a.value.total_cmp(&b.value)) {
            groups.push(Group {
                conditions: merged(conditions),
                ratio: libm::exp(sum / total),
                paths: points.len(),
                worst: worst.path,
            });
        }
        return;
    };
    let (above, below): (Vec<_>, Vec<_>) = points.into_iter().partition(|p| p.features.0[feature] > bound);
    for (above, points) in [(true, above), (false, below)] {
        conditions.push(Condition { feature, above, bound });
        grow(points, worth, conditions, groups);
        conditions.pop();
    }
}

/// Two bounds of one property on the same side are the tighter one.
fn merged(conditions: &[Condition]) -> Vec<Condition> {
    let mut all: Vec<Condition> = Vec::new();
    for condition in conditions {
        match all.iter_mut().find(|c| c.feature == condition.feature && c.above == condition.above) {
            Some(known) if condition.above => known.bound = known.bound.max(condition.bound),
            Some(known) => known.bound = known.bound.min(condition.bound),
            None => all.push(*condition),
        }
    }
    all
}

/// The property and bound that leave the smallest sum of squares; `None`: none takes as much off as is `worth` it.
fn best_split(points: &[Point<'_>], worth: f64) -> Option<(usize, f64)> {
    let whole = Sums::of(points);
    let mut best = None;
    let mut least = whole.squares() - worth.max(1e-12);
    let mut order: Vec<&Point<'_>> = points.iter().collect();
    for feature in 0..FEATURES.len() {
        order.sort_by(|a, b| a.features.0[feature].total_cmp(&b.features.0[feature]));
        let mut left = Sums::default();
        for (index, pair) in order.windows(2).enumerate() {
            left.add(pair[0]);
            let [low, high] = [pair[0], pair[1]].map(|p| p.features.0[feature]);
            let enough = index + 1 >= SMALLEST && order.len() - index > SMALLEST;
            if !enough || high <= low {
                continue;
            }
            let squares = left.squares() + whole.without(&left).squares();
            if squares < least {
                least = squares;
                best = Some((feature, between(low, high)));
            }
        }
    }
    best
}

#[derive(Clone, Copy, Default)]
struct Sums {
    weight: f64,
    first: f64,
    second: f64,
}

impl Sums {
    fn of(points: &[Point<'_>]) -> Self {
        let mut sums = Self::default();
        for point in points {
            sums.add(point);
        }
        sums
    }

    fn add(&mut self, p: &Point<'_>) {
        self.weight += p.weight;
        self.first += p.weight * p.value;
        self.second += p.weight * p.value * p.value;
    }

    fn without(&self, part: &Self) -> Self {
        Self {
            weight: self.weight - part.weight,
            first: self.first - part.first,
            second: self.second - part.second,
        }
    }

    /// Sum of squared distances from the mean.
    fn squares(&self) -> f64 {
        if self.weight <= 0.0 { 0.0 } else { (self.second - self.first * self.first / self.weight).max(0.0) }
    }
}

/// The number with the fewest digits from `low` on and below `high`; 0 where `low` is.
fn between(low: f64, high: f64) -> f64 {
    if low <= 0.0 {
        return 0.0;
    }
    let middle = (low * high).sqrt();
    for digits in 0..12 {
        let place = libm::floor(libm::log10(middle)) as i32 - digits;
        // A power of ten that is whole, so that decimal fractions are the nearest ones.
        let scale = libm::pow(10.0, f64::from(place.abs()));
        let shown =
            if place < 0 { (middle * scale).round() / scale } else { (middle / scale).round() * scale };
        if low <= shown && shown < high {
            return shown;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(rtt: f64, noise: f64) -> Features {
        let mut all = [0.0; FEATURES.len()];
        all[1] = rtt;
        all[4] = noise;
        Features(all)
    }

    #[test]
    fn it_finds_two_properties_and_says_them_in_words() {
        let paths: Vec<Features> =
            (0..64).map(|i| features(10.0 * f64::from(i % 8 + 1), f64::from(i / 8) * 0.1)).collect();
        let slow = |f: &Features| f.0[1] > 40.0 && f.0[4] > 0.35;
        let point = |(path, features)| Point {
            path,
            features,
            value: if slow(features) { libm::log(3.0) } else { libm::log(1.1) } + path as f64 * 1e-6,
            weight: 1.0,
        };
        let points: Vec<Point<'_>> = paths.iter().enumerate().map(point).collect();
        let groups = groups(&points);
        assert_eq!(groups[0].paths, 16);
        assert!((groups[0].ratio - 3.0).abs() < 1e-3);
        assert_eq!(groups[0].worst, 63);
        let words: Vec<String> = groups[0].conditions.iter().map(Condition::words).collect();
        assert!(words.iter().any(|w| w.starts_with("RTT above 4")), "{words:?}");
        assert!(words.iter().any(|w| w.starts_with("delay noise above 0.3")), "{words:?}");
        assert_eq!(groups.iter().map(|g| g.paths).sum::<usize>(), 64);
    }

    #[test]
    fn bounds_are_short_and_separate() {
        for (low, high, bound) in
            [(40.0, 50.0, 40.0), (0.0, 0.5, 0.0), (0.33, 0.41, 0.4), (1.0, 7.0, 3.0), (149.0, 151.0, 150.0)]
        {
            let found = between(low, high);
            assert!(low <= found && found < high, "{low} {high} {found}");
            assert!((found - bound).abs() < 1e-9, "{low} {high} {found}");
        }
    }

    #[test]
    fn what_is_alike_is_one_group() {
        let paths = vec![features(10.0, 0.0); 20];
        let points: Vec<Point<'_>> = paths
            .iter()
            .enumerate()
            .map(|(path, features)| Point { path, features, value: 0.1, weight: 1.0 })
            .collect();
        assert_eq!(groups(&points).len(), 1);
        assert!(groups(&points)[0].conditions.is_empty());
    }
}
