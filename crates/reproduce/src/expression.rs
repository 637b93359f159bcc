//! Formulae over metrics, arms and points: `utilisation[HyStart] >= 3 * utilisation[SS]`.

mod parse;

use rampcc_lab::spearman;

pub(crate) use parse::{Wrong, parse, parse_term};

/// A comparison, or a chain of them: `a < b < c`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) first: Term,
    pub(crate) rest: Vec<(Relation, Term)>,
}

/// How two terms stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Relation {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "≤",
            Self::Greater => ">",
            Self::AtLeast => "≥",
        }
    }

    /// The same seen from the other side.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
        }
    }

    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// A term, with the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) node: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    /// The sweep's value, or x of a formula.
    X,
    /// The paper's value at the point.
    Paper,
    Value(Reference),
    Negative(Box<Self>),
    Binary(Box<Self>, char, Box<Self>),
    /// Of numbers.
    Call(Function, Vec<Self>),
    /// Of one term over all points.
    Over(Aggregate, Box<Self>),
}

/// `metric[arm]` at the current point, or `metric[arm@point]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) metric: String,
    pub(crate) arm: String,
    /// Labels of the point, one for each swept field that is fixed.
    pub(crate) at: Vec<String>,
    /// Where it stands in the text.
    pub(crate) place: std::ops::Range<usize>,
}

macro_rules! functions {
    ($name:ident: $($variant:ident $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),+ }
        impl $name {
            pub(crate) const ALL: &[(&'static str, Self)] = &[$(($word, Self::$variant)),+];
            pub(crate) fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, function)| *function)
            }
        }
    };
}

functions!(Function: Least "min", Most "max", Absolute "abs", Log2 "log2", Log10 "log10", Ln "ln", Exp "exp", Sqrt "sqrt", Floor "floor", Ceil "ceil", Power "pow");
functions!(Aggregate: Lowest "lowest", Highest "highest", Average "average", Spread "spread", Trend "trend", LowestAt "lowest_at", HighestAt "highest_at");

/// Where the values of a check come from.
pub(crate) trait Values {
    fn value(&self, reference: &Reference, point: usize) -> Option<f64>;
    fn x(&self, point: usize) -> f64;
    fn paper(&self, _point: usize) -> Option<f64> {
        None
    }
}

/// What a check gives at one point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Of each term.
    pub(crate) values: Vec<Option<f64>>,
    /// `None`: a value is missing.
    pub(crate) holds: Option<bool>,
}

impl Check {
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, term)| term))
    }

    /// Every value that it names.
    pub(crate) fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.terms().for_each(|term| term.node.references(&mut found));
        found
    }

    /// Whether it says something different at each point of `dimensions` swept fields.
    pub(crate) fn varies(&self, dimensions: usize) -> bool {
        self.terms().any(|term| term.node.varies(dimensions))
    }

    /// Whether it asks for the paper's values.
    pub(crate) fn names_paper(&self) -> bool {
        self.terms().any(|term| term.node.names_paper())
    }

    /// Whether a term with a measured value stands between two that are known beforehand.
    pub(crate) fn is_range(&self) -> bool {
        let known = |term: &Term| {
            let mut references = Vec::new();
            term.node.references(&mut references);
            references.is_empty()
        };
        let terms: Vec<&Term> = self.terms().collect();
        let rising = self.rest.iter().all(|(r, _)| matches!(r, Relation::Less | Relation::AtMost));
        matches!(terms.as_slice(), [low, middle @ .., high] if rising && known(low) && known(high) && middle.iter().any(|term| !known(term)))
    }

    pub(crate) fn at(&self, point: usize, points: &[usize], values: &dyn Values) -> Outcome {
        let found: Vec<Option<f64>> =
            self.terms().map(|term| term.node.evaluate(point, points, values)).collect();
        let mut holds = Some(true);
        for (i, (relation, _)) in self.rest.iter().enumerate() {
            holds = match (holds, found[i], found[i + 1]) {
                (Some(so_far), Some(left), Some(right)) => Some(so_far && relation.holds(left, right)),
                _ => None,
            };
        }
        Outcome { values: found, holds }
    }

    /// What was measured: the terms that name a value, with the relations between them; a factor of a term stands before the
    /// value that it multiplies.
    pub(crate) fn words(&self, outcome: &Outcome, show: impl Fn(&Term, f64) -> String) -> String {
        let relations = std::iter::once(None).chain(self.rest.iter().map(|(relation, _)| Some(*relation)));
        let mut words = String::new();
        let mut before = None;
        for ((term, relation), value) in self.terms().zip(relations).zip(&outcome.values) {
            if !term.is_measured() {
                continue;
            }
            if !words.is_empty() {
                words += &match relation.zip(before.zip(*value)) {
                    Some((relation, (left, right))) if relation.holds(left, right) => {
                        format!(" {} ", relation.sign())
                    }
                    Some((relation, _)) => format!(", not {} ", relation.sign()),
                    None => ", ".to_owned(),
                };
            }
            words += &match (value, term.factor()) {
                (None, _) => "no value".to_owned(),
                (Some(value), None) => show(term, *value),
                (Some(value), Some((factor, inner))) => {
                    format!("{factor} × {} = {}", show(&inner, value / factor), show(term, *value))
                }
            };
            before = *value;
        }
        words
    }

    /// What it asks of the measured terms, where that is known beforehand: "≥ 0.85, ≤ 1.25"; `show` has the unit of a term.
    pub(crate) fn bounds(&self, outcome: &Outcome, show: impl Fn(&Term, f64) -> String) -> Vec<String> {
        let terms: Vec<&Term> = self.terms().collect();
        let bound = |(number, (relation, _)): (usize, &(Relation, Term))| {
            let (left, right) = (terms[number], terms[number + 1]);
            let (from, to) = (outcome.values[number], outcome.values[number + 1]);
            match (left.is_measured(), right.is_measured()) {
                (true, false) => Some(format!("{} {}", relation.sign(), show(left, to?))),
                (false, true) => Some(format!("{} {}", relation.turned().sign(), show(right, from?))),
                _ => None,
            }
        };
        self.rest.iter().enumerate().filter_map(bound).collect()
    }
}

impl Term {
    /// Whether it names what is played, or stands for the place where it is played.
    fn is_measured(&self) -> bool {
        let mut references = Vec::new();
        self.node.references(&mut references);
        !references.is_empty() || matches!(self.node, Node::X)
    }

    /// A number and the term that it multiplies.
    fn factor(&self) -> Option<(f64, Self)> {
        let Node::Binary(left, '*', right) = &self.node else { return None };
        let (factor, inner) = match (&**left, &**right) {
            (Node::Number(factor), inner) | (inner, Node::Number(factor)) => (*factor, inner),
            _ => return None,
        };
        (factor != 0.0).then(|| (factor, Self { text: String::new(), node: inner.clone() }))
    }
}

impl Node {
    pub(crate) fn references<'a>(&'a self, found: &mut Vec<&'a Reference>) {
        match self {
            Self::Number(_) | Self::X | Self::Paper => {}
            Self::Value(reference) => found.push(reference),
            Self::Negative(inner) | Self::Over(_, inner) => inner.references(found),
            Self::Binary(left, _, right) => {
                left.references(found);
                right.references(found);
            }
            Self::Call(_, inner) => inner.iter().for_each(|node| node.references(found)),
        }
    }

    fn names_paper(&self) -> bool {
        match self {
            Self::Paper => true,
            Self::Number(_) | Self::X | Self::Value(_) => false,
            Self::Negative(inner) | Self::Over(_, inner) => inner.names_paper(),
            Self::Binary(left, _, right) => left.names_paper() || right.names_paper(),
            Self::Call(_, inner) => inner.iter().any(Self::names_paper),
        }
    }

    /// Whether all points decide on it together.
    pub(crate) fn aggregates(&self) -> bool {
        match self {
            Self::Over(..) => true,
            Self::Number(_) | Self::X | Self::Paper | Self::Value(_) => false,
            Self::Negative(inner) => inner.aggregates(),
            Self::Binary(left, _, right) => left.aggregates() || right.aggregates(),
            Self::Call(_, inner) => inner.iter().any(Self::aggregates),
        }
    }

    fn varies(&self, dimensions: usize) -> bool {
        match self {
            Self::Number(_) | Self::Over(..) => false,
            Self::X | Self::Paper => true,
            Self::Value(reference) => reference.at.len() < dimensions,
            Self::Negative(inner) => inner.varies(dimensions),
            Self::Binary(left, _, right) => left.varies(dimensions) || right.varies(dimensions),
            Self::Call(_, inner) => inner.iter().any(|node| node.varies(dimensions)),
        }
    }

    pub(crate) fn evaluate(&self, point: usize, points: &[usize], values: &dyn Values) -> Option<f64> {
        let inner = |node: &Self| node.evaluate(point, points, values);
        let found = match self {
            Self::Number(number) => *number,
            Self::X => values.x(point),
            Self::Paper => values.paper(point)?,
            Self::Value(reference) => values.value(reference, point)?,
            Self::Negative(node) => -inner(node)?,
            Self::Binary(left, operator, right) => {
                let (left, right) = (inner(left)?, inner(right)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
            Self::Call(function, nodes) => {
                function.of(&nodes.iter().map(inner).collect::<Option<Vec<f64>>>()?)?
            }
            Self::Over(aggregate, node) => {
                let all = points.iter().map(|&at| Some((values.x(at), node.evaluate(at, points, values)?)));
                aggregate.of(&all.collect::<Option<Vec<_>>>()?)?
            }
        };
        found.is_finite().then_some(found)
    }
}

impl Function {
    /// How many arguments it takes.
    pub(crate) fn takes(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Least | Self::Most => 1..=usize::MAX,
            Self::Power => 2..=2,
            _ => 1..=1,
        }
    }

    fn of(self, numbers: &[f64]) -> Option<f64> {
        let first = *numbers.first()?;
        Some(match self {
            Self::Least => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Most => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Absolute => first.abs(),
            Self::Log2 => libm::log2(first),
            Self::Log10 => libm::log10(first),
            Self::Ln => libm::log(first),
            Self::Exp => libm::exp(first),
            Self::Sqrt => libm::sqrt(first),
            Self::Floor => first.floor(),
            Self::Ceil => first.ceil(),
            Self::Power => libm::pow(first, *numbers.get(1)?),
        })
    }
}

impl Aggregate {
    /// Of the points' numbers and values.
    fn of(self, all: &[(f64, f64)]) -> Option<f64> {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let lowest = all.iter().min_by(by_value)?;
        let highest = all.iter().max_by(by_value)?;
        Some(match self {
            Self::Lowest => lowest.1,
            Self::Highest => highest.1,
            Self::LowestAt => lowest.0,
            Self::HighestAt => highest.0,
            Self::Average => all.iter().map(|(_, value)| value).sum::<f64>() / all.len() as f64,
            Self::Spread => highest.1 / lowest.1,
            Self::Trend => trend(all),
        })
    }
}

/// Spearman's rank correlation: 1 where every larger x has the larger value, -1 where it has the smaller one.
pub(crate) fn trend(all: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
    // Values that are all alike neither rise nor fall.
    spearman(&x, &y).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `time[A]` is 1, 2, 4 over x = 10, 20, 40; `time[B]` the reverse; `time[C]` has no value at the second point.
    struct Sample;

    impl Values for Sample {
        fn value(&self, reference: &Reference, point: usize) -> Option<f64> {
            let point = reference.at.first().map_or(point, |at| at.parse().unwrap());
            let values = match reference.arm.as_str() {
                "A" => [Some(1.0), Some(2.0), Some(4.0)],
                "B" => [Some(4.0), Some(2.0), Some(1.0)],
                _ => [Some(1.0), None, Some(1.0)],
            };
            values[point]
        }
        fn x(&self, point: usize) -> f64 {
            [10.0, 20.0, 40.0][point]
        }
    }

    fn at(text: &str, point: usize) -> Outcome {
        parse(text).unwrap().at(point, &[0, 1, 2], &Sample)
    }

    fn value(text: &str) -> f64 {
        at(&format!("{text} > 0"), 1).values[0].unwrap()
    }

    #[test]
    fn terms_have_the_usual_precedence() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 / 2 / 2", 2.0),
            ("-2 + 5", 3.0),
            ("25 %", 0.25),
            ("2 * x", 40.0),
            ("max(1, time[B], 3)", 3.0),
            ("log2(8) + pow(2, 3)", 11.0),
            ("time[A@0] + time[A]", 3.0),
            ("highest(time[A] / time[B])", 4.0),
            ("lowest_at(time[B])", 40.0),
            ("spread(time[A])", 4.0),
            ("average(time[A])", 7.0 / 3.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text}: {}", value(text));
        }
    }

    #[test]
    fn a_chain_holds_if_every_link_does() {
        assert_eq!(at("1 < time[A] <= 2 < 3", 1).holds, Some(true));
        assert_eq!(at("1 < time[A] < 2", 1).holds, Some(false));
        assert_eq!(at("time[C] < 2", 1).holds, None, "a missing value decides nothing");
        assert_eq!(at("time[C] < 2", 0).holds, Some(true));
    }

    #[test]
    fn a_trend_is_that_of_ranks() {
        assert!((value("trend(time[A])") - 1.0).abs() < 1e-12);
        assert!((at("trend(time[B]) < 0", 0).values[0].unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(at("trend(time[C]) > 0", 0).holds, None);
        assert!(trend(&[(1.0, 5.0), (2.0, 5.0)]).abs() < 1e-12);
    }

    #[test]
    fn what_is_shown_is_what_was_measured() {
        let check = parse("time[A] < time[B] < 9").unwrap();
        let words = |point| check.words(&check.at(point, &[0], &Sample), |_, value| value.to_string());
        assert_eq!(words(0), "1 < 4");
        assert_eq!(words(2), "4, not < 1");
        // A factor is not measured, and neither is a bound.
        let said = |text: &str, point| {
            let check = parse(text).unwrap();
            let outcome = check.at(point, &[0, 1, 2], &Sample);
            let show = |_: &Term, value: f64| value.to_string();
            (check.words(&outcome, show), check.bounds(&outcome, show).join(", "))
        };
        for (text, point, words, bounds) in [
            ("time[A] <= 0.5 * time[B]", 0, "1 ≤ 0.5 × 4 = 2", ""),
            ("time[A] * 2 > time[B]", 0, "2 × 1 = 2, not > 4", ""),
            ("0.85 <= time[A] / time[B] <= 1.25", 1, "1", "≥ 0.85, ≤ 1.25"),
            ("3 * x < time[A] < time[B]", 0, "1 < 4", "> 30"),
            ("0 <= time[A] < 2 * 3", 2, "4", "≥ 0, < 6"),
            ("time[C] < time[A]", 1, "no value, 2", ""),
        ] {
            assert_eq!(said(text, point), (words.to_owned(), bounds.to_owned()), "{text}");
        }
    }

    #[test]
    fn aggregates_and_fixed_points_do_not_vary() {
        assert!(parse("time[A] > 1").unwrap().varies(1));
        assert!(!parse("time[A@0] > lowest(time[B])").unwrap().varies(1));
        assert!(parse("time[A@0] > 1").unwrap().varies(2));
    }
}
