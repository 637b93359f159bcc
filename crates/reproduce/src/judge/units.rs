//! Units of what formulae give.

use super::Measures;
use crate::experiment::FORMULA;
use crate::expression::{Aggregate, Function, Node};
use crate::quantity::Quantity;

impl Measures<'_> {
    /// The unit of a term's value; empty: it has none, or numbers in the formula may have one of their own.
    pub(super) fn unit(&self, node: &Node) -> &str {
        self.unit_of(node).unwrap_or("")
    }

    /// `None`: a number, which takes the unit of the other operand.
    fn unit_of(&self, node: &Node) -> Option<&str> {
        let alike = |left: Option<&'_ str>, right: Option<&'_ str>| {
            left.is_none() || right.is_none() || left == right
        };
        match node {
            Node::Number(_) | Node::X | Node::Paper => None,
            Node::Value(reference) if reference.metric != FORMULA => {
                let own = self.experiment.metrics.get(&reference.metric).map(|metric| metric.unit.as_str());
                own.or_else(|| Quantity::named(&reference.metric).map(|q| q.unit())).or(Some(""))
            }
            Node::Value(_) => Some(""),
            Node::Negative(inner)
            | Node::Over(Aggregate::Lowest | Aggregate::Highest | Aggregate::Average, inner) => {
                self.unit_of(inner)
            }
            Node::Binary(left, '+' | '-', right) => {
                let (left, right) = (self.unit_of(left), self.unit_of(right));
                if alike(left, right) { left.or(right) } else { Some("") }
            }
            Node::Binary(left, '*', right) => match (self.unit_of(left), self.unit_of(right)) {
                (None, unit) | (unit, None) => unit,
                _ => Some(""),
            },
            Node::Call(Function::Least | Function::Most | Function::Absolute, inner) => {
                let mut units = inner.iter().map(|node| self.unit_of(node));
                units
                    .try_fold(None, |one: Option<&str>, next| alike(one, next).then(|| one.or(next)))
                    .unwrap_or(Some(""))
            }
            // A number below a line may be a time or a rate.
            Node::Binary(..) | Node::Call(..) | Node::Over(..) => Some(""),
        }
    }
}
